"""CONSUME BY: which hits are reported when a report drops every partial match.

A hit is reported iff its latest admissible start lies after the last position that was reported (its
**floor**): in the whole stream (ANY), or in its partition (PARTITION).
Each function here is both the body of a kernel and its definition.
"""


def consume_any_body(position, latest_start, floor, keep, before):
    """Decide which hits of the whole stream are reported; gives the new floor.

    ==============  =============  ===================================================================
    `position`      int64 [hits]   in: stream positions of the hits, ascending
    `latest_start`  int64 [hits]   in: stream positions of their latest admissible starts
    `floor`         int64          in: the last position reported, -1 at first
    `keep`          uint8 [hits]   out: 1 for the hits that are reported
    `before`        int64 [hits]   out: the floor with which each was compared
    ==============  =============  ===================================================================
    """
    for h in range(position.shape[0]):
        before[h] = floor
        keep[h] = latest_start[h] > floor
        if keep[h]:
            floor = position[h]
    return floor


def consume_partition_body(position, latest_start, lane, floors, keep, before):
    """`consume_any_body` for every partition on its own.

    `lane` int64 [hits] in: the partition of each hit (`position` ascends inside each); `floors` int64
    [partitions] in/out: the last position reported in each, -1 at first.
    """
    for h in range(position.shape[0]):
        floor = floors[lane[h]]
        before[h] = floor
        keep[h] = latest_start[h] > floor
        if keep[h]:
            floors[lane[h]] = position[h]
