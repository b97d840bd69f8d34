"""The check of a CUDA device: every family of kernels computes small fixed inputs, compared with the CPU.

============  =====================================================================================
`inputs`      what all families read: an automaton, a join, and the events of some hundred segments
`columns`     classification, compaction, prefix sums
`runs`        hits, windows, counts, long segments without a window
`joins`       hits and counts of joins
`steps`       hits and counts of timed steps
`comparisons` hits and counts of ordered look-ups
`configurations`  hits and counts of configurations
`teams`       hits and counts of several sequences at once
`row_patterns`  the matches of a row pattern
`families`    the families in order, and the check: it finds the first family that is wrong, or none
============  =====================================================================================
"""
