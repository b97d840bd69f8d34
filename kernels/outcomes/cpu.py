"""Outcomes: what happens after each event, within a time or a number of events.

Events are grouped by lane, in the order of the stream inside each. The events within a given time after an
event are an interval, whose end moves forward with the event: two pointers find all intervals, and a queue of
the values that may still become the greatest finds all maxima, in a few steps for each event.
"""

import numpy as np

from ..jit import SELDOM, jit


def reach_body(times, begin, stop, size, reach, halt):
    """For each event the last one of its lane that is at most `size` later.

    ========  ==========================  ======================================
    `times`   int64 or float64 [events]   in: ascending inside a lane
    `begin`   int64 [lanes]               in: lane g has begin .. stop - 1
    `stop`    int64 [lanes]               in
    `size`    dtype of times              in
    `reach`   int64 [events]              out
    `halt`    uint8 [1]                   in: see `jit`
    ========  ==========================  ======================================
    """
    for g in range(begin.shape[0]):
        last = begin[g]
        for i in range(begin[g], stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return
            last = max(last, i)
            while last + 1 < stop[g] and times[last + 1] - times[i] <= size:
                last += 1
            reach[i] = last


def greatest_body(values, reach, queue, found, halt):
    """For each event the greatest value of the events after it, up to `reach`; NaN where none has a value.

    ========  ==================  ========================================================
    `values`  float64 [events]    in: NaN is no value
    `reach`   int64 [events]      in: ascending; at least the event itself
    `queue`   int64 [events]      scratch
    `found`   float64 [events]    out
    `halt`    uint8 [1]           in: see `jit`
    ========  ==================  ========================================================
    """
    head, tail, taken = 0, 0, 0
    for i in range(values.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        taken = max(taken, i + 1)
        while taken <= reach[i]:
            value = values[taken]
            if value == value:
                while tail > head and values[queue[tail - 1]] <= value:
                    tail -= 1
                queue[tail] = taken
                tail += 1
            taken += 1
        while head < tail and queue[head] <= i:
            head += 1
        found[i] = values[queue[head]] if head < tail else np.nan


_reach, _greatest = jit(reach_body), jit(greatest_body)


def reach(times, begin, stop, size):
    """`reach_body`: for each event the last one of its lane that is at most `size` later, int64."""
    found = np.empty(len(times), np.int64)
    _reach(times, begin, stop, times.dtype.type(size), found)
    return found


def greatest(values, reached):
    """`greatest_body`: the greatest value after each event, float64."""
    found = np.empty(len(values), np.float64)
    _greatest(values, reached, np.empty(len(values), np.int64), found)
    return found
