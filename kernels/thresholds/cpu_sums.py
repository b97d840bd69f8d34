"""Hits of thresholds on sums and means: prefix sums, and the starts that no later one is better than.

The sum from a start to an event is a difference of prefix sums. A start is of no use once a later one has a
prefix sum that is not greater. So those of use have ascending ones, and the latest start whose sum exceeds
the bound is found by binary search (the shortest subarray with a sum of at least k, by a monotone deque).
Where any choice of events is a match, the best one adds the values above 0 between the start and the end:
prefix sums are of these. A mean exceeds its bound where the sum of the values less the bound is above 0.

The sum of floats depends on their order: what counts is the sum from the first to the last event, one by one.
It differs from the exact sum of n floats by no more than (n - 1) u times the sum of their sizes, u = 2^-53
(N. J. Higham, Accuracy and Stability of Numerical Algorithms, 4.2). Where the bound is that near, the sums
are taken one by one; some units more allow for the errors of this comparison.
"""

from typing import NamedTuple

import numpy as np

from ..jit import SELDOM, inline, jit
from ..loop.contract import room_for_ends
from ..windows.contract import comparable
from .contract import FIT, MEAN, TOO_LARGE
from .pairs import is_above, minus, plus

UNIT = 2.0**-53
"""The greatest relative error of one operation of floats."""

FINER = 2.0**-100
"""More than the relative error of one operation of pairs."""

LEAST_FLOAT = 5e-324


@inline
def added(events, total, rest, event):
    """A sum with one more value: of floats rounded as floats are, of whole numbers exact."""
    if events.rests.shape[0] > 0:
        return plus(total, rest, events.values[event], events.rests[event])
    return total + events.values[event], 0.0


@inline
def exceeds(threshold, total, count):
    """Whether the sum of `count` values, or their mean, exceeds the bound."""
    if threshold.kind == MEAN:
        total /= count
    return total > threshold.bound or (total == threshold.bound and not threshold.strict)


@jit
def run_exceeds(threshold, events, event, first, last):
    """Whether the events first .. last of a run exceed the bound, added one by one.

    ===========  ====================  ============================================
    `threshold`  AggregateThreshold    in
    `events`     AggregatedEvents      in
    `event`      int64 [valued]        in: the events that have a value, in order
    ===========  ====================  ============================================
    """
    total = rest = -0.0
    for k in range(first, last + 1):
        total, rest = added(events, total, rest, event[k])
    return exceeds(threshold, total, last - first + 1)


@jit
def choice_exceeds(threshold, events, event, first, last, best):
    """Whether a choice among the events first .. last, with both, exceeds the bound, added one by one.

    Sums of floats are monotone in each of their parts, so of the choices of equally many events that end
    before an event only the greatest sum matters, and for a sum that of any number.

    ===========  ====================  ============================================
    `threshold`  AggregateThreshold    in
    `events`     AggregatedEvents      in
    `event`      int64 [valued]        in: the events that have a value, in order
    `best`       float64 [2, valued]   scratch: the greatest sums, as pairs
    ===========  ====================  ============================================
    """
    total, rest = added(events, -0.0, -0.0, event[first])
    if first == last:
        return exceeds(threshold, total, 1)
    most = 0
    best[0, 0], best[1, 0] = total, rest
    for k in range(first + 1, last):
        if threshold.kind == MEAN:
            most += 1
            best[0, most] = np.nan
        for n in range(most, -1, -1):
            if threshold.kind == MEAN and n == 0:
                break
            before = n - 1 if threshold.kind == MEAN else n
            total, rest = added(events, best[0, before], best[1, before], event[k])
            known = best[0, n]
            if known != known or total > known or (total == known and rest > best[1, n]):
                best[0, n], best[1, n] = total, rest
    for n in range(most + 1):
        total, rest = added(events, best[0, n], best[1, n], event[last])
        if exceeds(threshold, total, n + 2):
            return True
    return False


class PrefixRoom(NamedTuple):
    """Scratch of the kernel, for the events that have a value, in their order: k is such an event.

    =========  =================  ========================================================================
    `event`    int64 [valued]     its number
    `before`   float64 [2, k]     the prefix sum before it, as a pair
    `size`     float64 [valued]   the sum of the sizes before it
    `queue`    int64 [valued]     the starts of use, with ascending prefix sums
    `best`     float64 [2, k]     see `choice_exceeds`
    =========  =================  ========================================================================
    """

    event: np.ndarray
    before: np.ndarray
    size: np.ndarray
    queue: np.ndarray
    best: np.ndarray


@inline
def latest_above(threshold, room, head, tail, total, rest, slack, surely):
    """One past the last of the starts head .. tail - 1 whose sum exceeds the bound, surely or possibly."""
    low = head
    high = tail
    while low < high:
        middle = (low + high) >> 1
        k = room.queue[middle]
        apart = minus(total, rest, room.before[0, k], room.before[1, k])
        if threshold.exact:
            above = is_above(apart, threshold.strict)
        elif surely:
            above = apart > slack
        else:
            above = not apart < -slack
        if above:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def tried_start(threshold, events, room, first, last, total, rest, slack):
    """The latest of the starts first .. last whose sum exceeds the bound if added one by one, or -1.

    `total` and `rest` are the prefix sum with the event `last`, less the bound; -1 stands for no start. The
    others as for `_hits`.
    """
    for k in range(last, first - 1, -1):
        apart = minus(total, rest, room.before[0, k], room.before[1, k])
        if not threshold.contiguous and k < last:
            value = events.values[room.event[k]]
            apart += min(value - threshold.bound if threshold.kind == MEAN else value, 0.0)
        if apart < -slack:
            continue
        if threshold.contiguous:
            if run_exceeds(threshold, events, room.event, k, last):
                return k
        elif choice_exceeds(threshold, events, room.event, k, last, room.best):
            return k
    return -1


@jit
def _hits(threshold, events, window, segments, room, out, halt):
    """Write the hits of all segments; gives how many there are, and the status.

    ============  =====================  ================================================================
    `threshold`   AggregateThreshold     in: of kind `SUM` or `MEAN`
    `events`      AggregatedEvents       in
    `window`      MeasuredWindow         in
    `segments`    LoopSegments           in
    `room`        PrefixRoom             scratch
    `out`         FoundEnds              out: the latest starts
    `halt`        uint8 [1]              in: see `jit`
    ============  =====================  ================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    contiguous = threshold.contiguous != 0
    exact = threshold.exact != 0
    paired = events.rests.shape[0] > 0
    mean = threshold.kind == MEAN
    n = 0
    for g in range(segments.begin.shape[0]):
        count = left = head = tail = 0
        prefix = prefix_rest = size = 0.0
        found = latest = before = infinite = -1
        for i in range(segments.begin[g], segments.stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return n, FIT
            taking = threshold.takes[events.symbols[i]] != 0
            if contiguous and before >= 0 and (not taking or events.places[i] != events.places[before] + 1):
                left = count
                tail = head
                prefix = prefix_rest = size = 0.0
                found = latest = before = infinite = -1
            if not taking:
                continue
            before = i
            value = events.values[i]
            if value == value:
                rest = events.rests[i] if paired else 0.0
                k = count
                count += 1
                room.event[k] = i
                room.before[0, k] = prefix
                room.before[1, k] = prefix_rest
                room.size[k] = size
                while windowed and keys[i] - keys[room.event[left]] > window.size:
                    left += 1
                while head < tail and room.queue[head] < left:
                    head += 1
                if value - value != 0.0:  # infinite: no prefix sum has it
                    infinite = k
                    value = 0.0
                size += abs(value)
                spread = (size - room.size[left]) + 4.0 * count * UNIT * size
                if spread > threshold.limit:
                    return n, TOO_LARGE
                while contiguous and tail > head:
                    last = room.queue[tail - 1]
                    if minus(room.before[0, last], room.before[1, last], prefix, prefix_rest) < 0:
                        break
                    tail -= 1
                room.queue[tail] = k
                tail += 1
                gain, gain_rest = value, rest
                if mean:
                    gain, gain_rest = plus(value, rest, -threshold.bound, -threshold.rest)
                after, after_rest = plus(prefix, prefix_rest, gain, gain_rest)
                total, total_rest = after, after_rest
                if not mean:
                    total, total_rest = plus(after, after_rest, -threshold.bound, -threshold.rest)
                slack = 0.0
                if infinite >= left:
                    slack = np.inf
                elif not exact:
                    slack = 1.01 * (count - left + 8) * UNIT * spread + count * FINER * size
                    if mean:
                        slack += count * FINER * abs(threshold.bound) * count
                        slack += (count - left) * LEAST_FLOAT if spread > 0 else 0.0
                at = latest_above(threshold, room, head, tail, total, total_rest, slack, True)
                found = room.queue[at - 1] if at > head else -1
                if (
                    not exact
                    and latest_above(threshold, room, head, tail, total, total_rest, slack, False) > at
                ):
                    if halt[0]:
                        return n, FIT
                    first = max(left, found + 1)
                    tried = tried_start(threshold, events, room, first, k, total, total_rest, slack)
                    found = max(found, tried)
                latest = found if contiguous else max(latest, found)
                if contiguous or gain > 0 or (gain == 0 and gain_rest > 0):
                    prefix, prefix_rest = after, after_rest
                else:
                    tail -= 1
            else:
                found = latest
            if i < segments.report[g] or found < 0:
                continue
            start = room.event[found]
            if not windowed or keys[i] - keys[start] <= window.size:
                out.event[n] = i
                out.start[n] = start
                n += 1
    return n, FIT


def hits(threshold, events, keys, size, segments):
    """The hits of many segments, in their order.

    Parameters
    ----------
    threshold : AggregateThreshold
        Of kind `SUM` or `MEAN`.
    events : AggregatedEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
        The size of the window.
    segments : LoopSegments

    Returns
    -------
    event : ndarray, shape (hits,), int64
    start : ndarray, shape (hits,), int64
        The event of the latest start.
    status : int
        `FIT` or `TOO_LARGE`.
    """
    count = len(events.symbols)
    numbers, sizes = np.empty((2, count), np.int64), np.empty((5, count))
    room = PrefixRoom(numbers[0], sizes[:2], sizes[2], numbers[1], sizes[3:])
    out = room_for_ends(segments)
    n, status = _hits(threshold, events, comparable(keys, size), segments, room, out)
    return out.event[:n], out.start[:n], status
