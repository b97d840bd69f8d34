"""Lanes: ordinals of events in their partition, order inside a lane, and the sort that groups them.

A lane is the number of a partition; -1 is an event that belongs to none.
"""

import numba


def ordinals_body(lanes, counters, out):
    """Number the events of every lane.

    `lanes` int32 [n] in; `counters` int64 [lanes] in/out: how many events each lane has had; `out` int64
    [n]: the ordinal of each event in its lane, -1 where it has none.
    """
    for i in range(lanes.shape[0]):
        lane = lanes[i]
        if lane < 0:
            out[i] = -1
        else:
            out[i] = counters[lane]
            counters[lane] += 1


def lane_decrease_body(lanes, values, last, seen):
    """The first event whose value is less than the one before it in its lane, or -1.

    `lanes` int32 [n] and `values` any number [n] in; `last` dtype of values [lanes] and `seen` uint8
    [lanes] in/out: the last value of each lane, and whether there is one.
    """
    for i in range(lanes.shape[0]):
        lane = lanes[i]
        if lane >= 0:
            if seen[lane] and values[i] < last[lane]:
                return i
            last[lane] = values[i]
            seen[lane] = 1
    return -1


def group_body(lanes, starts, order):
    """Stable counting sort by lane.

    `lanes` int32 [n] in, all >= 0; `starts` int64 [lanes + 1] in: zeros, out: where each lane begins in
    the sorted order, and n; `order` int64 [n] out: the events in that order.
    """
    count = starts.shape[0] - 1
    for i in range(lanes.shape[0]):
        starts[lanes[i] + 1] += 1
    for lane in range(count):
        starts[lane + 1] += starts[lane]
    for i in range(lanes.shape[0]):
        order[starts[lanes[i]]] = i
        starts[lanes[i]] += 1
    for lane in range(count, 0, -1):
        starts[lane] = starts[lane - 1]
    starts[0] = 0


_jit = numba.njit(nogil=True, cache=True)
ordinals = _jit(ordinals_body)
lane_decrease = _jit(lane_decrease_body)
group = _jit(group_body)
