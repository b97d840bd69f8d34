"""Bulk enumeration: the complex events of many hits, found hit by hit, sorted, and written into a block.

How they are found depends on the structure, so `composed` puts in four pieces:

==========================================  =================================================================
`find(nodes, hits, hit, found)`             find all complex events of a hit, and put them in
                                            canonical order; gives `DONE` or a status
`too_many(found, count)`                    whether `found` has no room for so many
`length(found, item)`                       the number of marks of one
`write(nodes, hits, hit, found, item, block, n, m)`  one as complex event n, with its marks from mark m on;
                                            gives the number of the next mark
==========================================  =================================================================
"""

from .contract import BLOCK_FULL, DONE, HIT_TOO_LARGE


def list_hits(nodes, hits, hit_order, limit, found, block, progress, halt):
    """Write the complex events of hits into a block: `DONE`, or why hit_order[progress[0]] is not in it.

    ============  ===========  ========================================================================
    `nodes`       NamedTuple   in: the structure
    `hits`        CountedHits  in
    `hit_order`   int64 [m]    in: the hits to list, in this order
    `limit`       int64        in: the most complex events of a hit, the first in canonical order
    `found`       NamedTuple   scratch: with `sorting`, a SortScratch, and what the pieces use
    `block`       Block        out: `hit`, `start`, `first`, `event`, `label`
    `progress`    int64 [3]    in/out: the next index into `hit_order`; complex events and marks written
    `halt`        uint8 [1]    in: see `jit`
    ============  ===========  ========================================================================
    """
    n = progress[1]
    m = progress[2]
    block.first[n] = m
    status = DONE
    while status == DONE and progress[0] < hit_order.shape[0] and not halt[0]:
        hit = hit_order[progress[0]]
        wanted = min(hits.counts[hit], limit)
        if too_many(found, hits.counts[hit]):  # noqa: F821
            status = HIT_TOO_LARGE
        elif n + wanted > block.start.shape[0]:
            status = BLOCK_FULL
        else:
            status = find(nodes, hits, hit, found)  # noqa: F821
        if status == DONE:
            total = 0
            for k in range(wanted):
                total += length(found, found.sorting.order[k])  # noqa: F821
            if m + total > block.event.shape[0]:
                status = BLOCK_FULL
        if status == DONE:
            for k in range(wanted):
                block.hit[n] = hit
                m = write(nodes, hits, hit, found, found.sorting.order[k], block, n, m)  # noqa: F821
                n += 1
                block.first[n] = m
            progress[0] += 1
    progress[1] = n
    progress[2] = m
    return status
