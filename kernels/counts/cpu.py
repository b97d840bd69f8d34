"""Counts: how many complex events end at each hit, exactly.

The transitions of an event are a matrix over the states; the number of runs that start in [low, j] and
accept at j is `e_0 A_low ... A_(j-1) f_j`, where state 0 keeps itself, so that a run may start anywhere.
Inside a window the product is cut in two at a middle event: **suffixes** `e_0 A_low ... A_(middle-1)`, made
once, backwards, and one **prefix** `A_middle ... A_(j-1)`, which grows with j. When low passes the middle,
new suffixes are made up to j (van Herk; two stacks). Every event is multiplied at most twice, whatever the
window, and only the rows that a hit needs are kept.

Sums are int64 and every one is checked: where one reaches 2**62 the segment is counted again by remainders
(`cpu_shifts`). Nothing wraps.
"""

from typing import Any, NamedTuple

import numpy as np

from ..jit import OFTEN, jit
from ..runs.contract import INTO, LEFT, RIGHT, SegmentHits


class WindowCountRoom(NamedTuple):
    """Scratch for the hits of a segment.

    ========  ==================================  =====================================================
    `prefix`  int64 [forward registers, n_live]   columns of the prefix
    `suffix`  int64 [backward registers, n_live]  rows of the suffix
    `front`   int64 [>= hits, n_live]             the suffix that each hit needs
    ========  ==================================  =====================================================
    """

    prefix: Any
    suffix: Any
    front: Any


def counts_segment_body(tables, forward, backward, symbols, base, hits, h0, h1, room, out, halt):
    """Count the hits h0 .. h1 - 1 of one segment: 0, or 1 where a sum has reached 2**62.

    ===========  ==================================  =======================================================
    `tables`     TransitionTables                    in
    `forward`    Program                             in: `forward_program(tables)`
    `backward`   Program                             in: `backward_program(tables)`
    `symbols`    uint8 or uint16 [events]            in: those of the events from number `base` on
    `base`       int64                               in
    `hits`       SegmentHits                         in
    `h0`, `h1`   int64                               in: the hits of the segment
    `room`       WindowCountRoom                     scratch
    `out`        int64 [hits]                        out: number of complex events that end at each hit
    `halt`       uint8 [1] or [0]                    in: see `jit`
    ===========  ==================================  =======================================================
    """
    event = hits.event
    lowest = hits.lowest
    prefix = room.prefix
    suffix = room.suffix
    front = room.front
    n = prefix.shape[1]
    over = 0
    middle = -1
    at = -1
    known = h0
    for h in range(h0, h1):
        j = event[h]
        low = lowest[h]
        if h % OFTEN == 0 and halt.shape[0] > 0 and halt[0]:
            return 0
        if low > middle:
            for r in range(suffix.shape[0]):
                for c in range(n):
                    suffix[r, c] = 1 if r == c else 0
            for r in range(prefix.shape[0]):
                for c in range(n):
                    prefix[r, c] = 1 if r == c else 0
            while known < h1 and lowest[known] < j:
                known += 1
            g = known - 1
            for high in range(j, low, -OFTEN):
                if halt.shape[0] > 0 and halt[0]:
                    return 0
                for i in range(high - 1, max(high - OFTEN, low) - 1, -1):
                    symbol = symbols[i - base]
                    for k in range(backward.first[symbol], backward.first[symbol + 1]):
                        into = backward.moves[k, INTO]
                        left = backward.moves[k, LEFT]
                        right = backward.moves[k, RIGHT]
                        for c in range(n):
                            value = suffix[left, c] + suffix[right, c]
                            suffix[into, c] = value
                            over |= value
                    while g >= h and lowest[g] == i:
                        for c in range(n):
                            front[g - h0, c] = suffix[0, c]
                        g -= 1
            middle = j
            at = j
        while at < j:
            until = min(at + OFTEN, j)
            for i in range(at, until):
                symbol = symbols[i - base]
                for k in range(forward.first[symbol], forward.first[symbol + 1]):
                    into = forward.moves[k, INTO]
                    left = forward.moves[k, LEFT]
                    right = forward.moves[k, RIGHT]
                    for c in range(n):
                        value = prefix[left, c] + prefix[right, c]
                        prefix[into, c] = value
                        over |= value
            at = until
            if at < j and halt.shape[0] > 0 and halt[0]:
                return 0
        total = 0
        symbol = symbols[j - base]
        for t in range(tables.first[symbol], tables.first[symbol + 1]):
            if tables.accepting[t]:
                source = tables.source[t]
                if low == middle:
                    total += prefix[source, 0]
                else:
                    for r in range(n):
                        one = front[h - h0, r]
                        other = prefix[source, r]
                        if (one | other) >> 31 and other > 0 and one > 4611686018427387903 // other:
                            over |= 4611686018427387904
                        total += one * other
                        over |= total
                over |= total
        out[h] = total
    return 1 if over >> 62 else 0


_counts_segment = jit(counts_segment_body)


@jit
def _counts(tables, forward, backward, symbols, hits, room, out, status, halt):
    for g in range(hits.first.shape[0] - 1):
        status[g] = _counts_segment(
            tables, forward, backward, symbols, 0, hits, hits.first[g], hits.first[g + 1], room, out, halt
        )  # fmt: skip


def counts(tables, forward, backward, symbols, hit_first, hit_event, hit_lowest, exact=True, most_steps=None):
    """How many complex events end at each hit and start inside its window.

    Parameters
    ----------
    tables, forward, backward, symbols
        As in `counts_segment_body`.
    hit_first : ndarray, shape (segments + 1,), int64
        The hits of segment g are hit_first[g] .. hit_first[g + 1] - 1.
    hit_event : ndarray, shape (hits,), int64
        Ascending inside a segment.
    hit_lowest : ndarray, shape (hits,), int64
        The least event of the segment at which a run may start; <= hit_event, non-decreasing inside a
        segment.
    exact : bool
        If false, all hits of a segment where some value may exceed 2**62 get 2**62. Enumeration passes False:
        it only needs to know whether there are too many to hold.
    most_steps : int, optional
        The most sums that large numbers may take.

    Returns
    -------
    ndarray, shape (hits,), int64, or object (Python integers) where some value may exceed 2**62

    Raises
    ------
    OverflowError
        If large numbers take more than `most_steps` sums.
    """
    n = forward.zero
    longest = int(np.diff(hit_first).max(initial=0))
    shapes = ((forward.n_registers, n), (backward.n_registers, n), (longest, n))
    out = np.zeros(hit_event.size, dtype=np.int64)
    status = np.zeros(hit_first.size - 1, dtype=np.uint8)
    room = WindowCountRoom(*(np.empty(shape, dtype=np.int64) for shape in shapes))
    hits = SegmentHits(hit_first, hit_event, hit_lowest)
    _counts(tables, forward, backward, symbols, hits, room, out, status)
    if not status.any():
        return out
    if not exact:
        return np.where(np.repeat(status, np.diff(hit_first)) != 0, np.int64(2**62), out)
    # Few queries need it, and what is not imported takes no time.
    from .cpu_shifts import ShiftedCounter

    whole, large = out.astype(object), np.flatnonzero(status)
    of = np.concatenate([np.arange(hit_first[g], hit_first[g + 1]) for g in large])
    first = np.append(0, np.cumsum(np.diff(hit_first)[large]))
    again = SegmentHits(first, hit_event[of], hit_lowest[of])
    whole[of] = ShiftedCounter(tables, forward, backward).counts(symbols, again, True, most_steps)
    return whole
