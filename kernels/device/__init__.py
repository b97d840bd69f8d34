"""Modules that the kernels of CUDA devices share. The kernels are the modules `cuda...` of their families.

The kernels fulfil the contracts of their families with arrays in the memory of the device. Neither they nor
these modules are imported before a device is chosen; `usable` says whether one can be.

Contract of every array that a kernel reads in words of eight bytes (the symbols): its size is a multiple of
eight, and the padding behind its last event is not looked at. `words` has the functions that make such
arrays.

Kernels do not raise. They give the right result for every launch geometry: loops go in steps of the grid, or,
where the threads of a block meet at a barrier, in steps of the blocks of the grid.

There are kernels for: classification; hits, counts and the lowest starts of windows; long lanes without a
window in units (`cuda_long_segments` of hits and counts); hits and counts of joins, whose look-up tables are
hash tables, and the nodes from which these counts are made (`joins`); hits and counts of timed steps
(`steps`), of compared steps (`comparisons`) and of configurations in many lanes (`configurations`).

The following stays on the host, with the reason and, where it was measured, the share of the time of a query
on one core:

- Listing complex events, and choosing among them: record batches are made by the host, which is most of the
  time. A structure that a device built and enumerated was 1.03 times as fast as 16 cores beside an H100,
  timed steps 1.1 times, the choice of NEXT 1.28 times.
- Sessions (`steps.cpu_sessions`): one comparison for each event, less than copying the times there.
- Following automata with one clock (`clock`): each event builds on the persistent nodes of
  the event before it, and how many nodes a lane makes is known only once it has run; so a lane is a chain
  that one thread follows in memory that grows.
- Joins under updates (`views`): most batches have few rows, and a launch takes longer than to put them in.
- Working out what an event does to configurations (`configurations`): the host does that when the stream
  first leads there, and the tables grow while they are read.
- Sorting compared values (`comparisons`): the sort is most of the work.
- Numbering partitions and joined values, and grouping by them (`lanes`, `joins.cpu_slots`): 10 to 30 % of a
  partitioned query, 3 to 11 % of a join. Keys are numbered in the order of first sight, over all batches, and
  are mostly strings.
- List columns of answers (`lists`): 9 % of an enumeration, from blocks that have come back for Arrow anyway.
- Monitors (`monitor`): 6 % of a strategy that has them. Every event needs the state after the event before.
- CONSUME BY (`consume`): a few nanoseconds for each hit, less than to copy it there. Whether a hit is kept
  depends on the last one that was kept: a chain of a few steps for each hit.
- SUPPRESS (`suppress`): one pass over the hits, 2 to 3 ns for each.
- Lanes in which the attribute of WITHIN falls (`attribute_windows`, `forest.cpu_ranks`): the longest of the
  ranges that are halved are passed over event by event, and there are too few of them for a thousand threads.
  One core takes a second for the hits or counts of a million events.
"""
