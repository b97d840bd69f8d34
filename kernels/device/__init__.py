"""What the kernels of CUDA devices share. The kernels are the modules `cuda...` of their families.

They fulfil the contracts of their families with arrays that lie on the device. Neither they nor what is here
is imported before a device is chosen; `usable` says whether one can be.

Contract of every array that a kernel reads in words of eight bytes (the index of a stage, the symbols): its
size is a multiple of eight, and what stands behind its last row or event is not looked at. The functions
here that make such arrays see to it (`words`).

Kernels do not raise. They run right for every launch geometry: loops go in steps of the grid, or of the
blocks of it where the threads of a block meet at a barrier.

What has a form here: classification and compaction; hits, counts and the lowest starts of windows; long lanes
without a window in units (`cuda_long` of hits and counts); the persistent structure and its bulk enumeration
(`forest`); the choice of NEXT and LAST (`best`); hits and counts of joins, whose look-up tables are hash
tables, and the nodes that these counts are made from (`joins`); CONSUME BY PARTITION (`consume`).

What stays on the host, with its share of a query that the CPU runs alone on one core, and why:

- The structure of joins and its enumeration (`joins`): half of a join that is listed. The nodes that are
  built for counts would do, but go when these are made; the walk of a product asks for a stack of choices for
  each thread, as deep as the query.
- Telling partitions and joined values apart, and grouping by them (`lanes`, `joins.cpu_slots`): 10 to 30 %
  of a partitioned query, 3 to 11 % of a join. Keys are numbered in the order of first sight, over all
  batches, and are mostly strings.
- List columns of answers (`lists`): 9 % of an enumeration, from blocks that have come back for Arrow anyway.
- Monitors (`monitor`): 6 % of a strategy that has them; every event needs the state that the one before left.
- CONSUME BY ANY (`consume`): 3 %. A hit is kept according to the last one of the stream that was: one chain
  of few steps for each hit, in which no second thread has anything to do.
- Lanes in which the attribute of WITHIN falls (`falling`, `forest.cpu_ranked`): of the ranges that are halved
  the longest are passed over event by event, and they are too few for a thousand threads. One core takes a
  second for the hits or counts of a million events.
- Ordered enumeration (`ordered`), one complex event at a time, for hits with too many to be held.
"""
