"""The check of a CUDA device: kernels compute small fixed inputs, and are compared with the CPU.

============  =====================================================================================
`inputs`      what all families read: an automaton, a join, and the events of some hundred segments
`cpu_answers` the CPU's answers, stored in `cpu_answers.npz.xz`
`columns`     prefix sums, classification
`runs`        hits, windows, counts, long segments without a window
`joins`       hits and counts of joins
`steps`       hits and counts of timed steps
`comparisons` hits and counts of ordered look-ups
`configurations`  hits and counts of configurations
`teams`       hits and counts of several sequences at once
`row_patterns`  the matches of a row pattern
`families`    the families in order, and the engines that launch their kernels
`comparison`  the check: it finds the first family that is wrong, or none
`speed`       how fast a device is
`checker`     the check in a process of its own
`findings`    its results, in memory and on disk
============  =====================================================================================
"""
