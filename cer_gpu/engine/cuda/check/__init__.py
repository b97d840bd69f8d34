"""The check of a CUDA device: every family of kernels computes small fixed inputs, compared with the CPU.

============  =====================================================================================
`inputs`      what all families read: an automaton, a join, and the events of some hundred segments
`columns`     classification, compaction, prefix sums
`runs`        hits, windows, counts, long segments without a window, CONSUME
`listing`     the persistent structure, its bulk enumeration, the choice of NEXT and LAST
`joined`      hits and counts of joins
`stepped`     hits, counts and complex events of timed steps
`clocked`     hits and counts of automata with one clock
`looked`      hits and counts of ordered look-ups
`configured`  hits and counts of configurations
`abreast`     hits and counts of several sequences at once
`viewed`      the sorted rows of views
`families`    the families in order, and the check: it finds the first family that is wrong, or none
============  =====================================================================================
"""
