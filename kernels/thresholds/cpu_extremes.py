"""Hits of thresholds on the greatest and the least values of the events of an iteration.

More events never make the greatest value less, nor the least one greater. So the latest start whose values
are far enough apart never goes back, and the extremes from it on are at the heads of two queues, of which one
descends and the other ascends (the longest subarray with a bounded spread, by monotone deques).
"""

from typing import NamedTuple

import numpy as np

from ..jit import SELDOM, inline, jit
from ..loop.contract import room_for_ends
from ..windows.contract import comparable
from .contract import EVERY, FIT, SPREAD, TOO_LARGE
from .pairs import is_above, minus, plus


class ExtremeRoom(NamedTuple):
    """Scratch of the kernel, for the events that have a value, in their order.

    =============  ==================  =======================================
    `event`        int64 [valued]      its number
    `descending`   int64 [valued]      those that no later one is greater than
    `ascending`    int64 [valued]      those that no later one is less than
    =============  ==================  =======================================
    """

    event: np.ndarray
    descending: np.ndarray
    ascending: np.ndarray


@inline
def _apart(events, one, other):
    """The value of an event less that of another, as a pair."""
    if events.rests.shape[0] > 0:
        return plus(events.values[one], events.rests[one], -events.values[other], -events.rests[other])
    return events.values[one] - events.values[other], 0.0


@inline
def _exceeds(threshold, number, rest):
    """Whether a pair exceeds the bound."""
    if number - number != 0.0:  # infinite, or of infinite values: their difference may be nothing
        return number > threshold.bound
    return is_above(minus(number, rest, threshold.bound, threshold.rest), threshold.strict)


@jit
def _hits(threshold, events, window, segments, room, out, halt):
    """Write the hits of all segments; gives how many there are, and the status.

    ============  =====================  ================================================================
    `threshold`   AggregateThreshold     in: of kind `SPREAD`, `SOME` or `EVERY`
    `events`      AggregatedEvents       in
    `window`      MeasuredWindow         in
    `segments`    LoopSegments           in
    `room`        ExtremeRoom            scratch
    `out`         FoundEnds              out: the latest starts
    `halt`        uint8 [1]              in: see `jit`
    ============  =====================  ================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    contiguous = threshold.contiguous != 0
    paired = events.rests.shape[0] > 0
    event = room.event
    n = 0
    for g in range(segments.begin.shape[0]):
        count = first = left = high = high_end = low = low_end = 0
        latest = before = -1
        for i in range(segments.begin[g], segments.stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return n, FIT
            taking = threshold.takes[events.symbols[i]] != 0
            if contiguous and before >= 0 and (not taking or events.places[i] != events.places[before] + 1):
                first = left = count
                high_end = high
                low_end = low
                latest = before = -1
            if not taking:
                continue
            before = i
            start = latest
            if events.values[i] != events.values[i]:
                pass
            elif threshold.kind != SPREAD:
                if _exceeds(threshold, events.values[i], events.rests[i] if paired else 0.0):
                    start = latest = i
                elif threshold.kind == EVERY:
                    start = -1
                    latest = -1 if contiguous else latest
            else:
                event[count] = i
                while high_end > high and _apart(events, event[room.descending[high_end - 1]], i)[0] <= 0:
                    high_end -= 1
                while low_end > low and _apart(events, event[room.ascending[low_end - 1]], i)[0] >= 0:
                    low_end -= 1
                room.descending[high_end] = room.ascending[low_end] = count
                high_end += 1
                low_end += 1
                count += 1
                while windowed and keys[i] - keys[event[left]] > window.size:
                    left += 1
                while left < count:  # what is left lies too close together
                    while high < high_end and room.descending[high] < left:
                        high += 1
                    while low < low_end and room.ascending[low] < left:
                        low += 1
                    most, least = event[room.descending[high]], event[room.ascending[low]]
                    number, rest = _apart(events, most, least)
                    if number > threshold.limit:
                        return n, TOO_LARGE
                    if not _exceeds(threshold, number, rest):
                        break
                    left += 1
                start = latest = event[left - 1] if left > first else -1
            if i < segments.report[g] or start < 0:
                continue
            if not windowed or keys[i] - keys[start] <= window.size:
                out.event[n] = i
                out.start[n] = start
                n += 1
    return n, FIT


def hits(threshold, events, keys, size, segments):
    """The hits of many segments, in their order; parameters and results as for `cpu_sums.hits`.

    `threshold` is of kind `SPREAD`, `SOME` or `EVERY`.
    """
    count = len(events.symbols) if threshold.kind == SPREAD else 0
    out = room_for_ends(segments)
    n, status = _hits(
        threshold, events, comparable(keys, size), segments, ExtremeRoom(*np.empty((3, count), np.int64)), out
    )
    return out.event[:n], out.start[:n], status
