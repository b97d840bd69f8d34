"""Counts of chains of steps in a window: near-linear, whatever the window and the gaps are.

Let g_m(e, S) be the number of runs of m events that end at entry e and start at S or later, and let e read
the entries low(e) .. high(e) - 1 of the step before. Then g_m(e, S) is G(high(e)) - G(low(e)), where G(x) is
the sum of g_(m-1) over the entries before x, at this S. By induction there are 2^(m-1) bounds such that
between two neighbouring bounds g_m is one linear function of the 2^m - 1 numbers of e that do not depend on
S: 1, and the sums of the numbers of the step before up to low(e) and up to high(e). Each bound T of g_(m-1)
gives two: the first e with high(e) > T, and the first with low(e) >= T. As `low`, `high` and S only move
forward, so do the bounds.

So k steps cost O(2^k) for an event, amortised, and O(4^k) for a hit. All is computed modulo 2^64, which is
exact where the number fits; a number in float64 that is never less than it tells where it may not fit. There
it is computed modulo primes, one pass for each, and put together from what is left.
"""

from typing import NamedTuple

import numpy as np

from ..jit import SELDOM, inline, jit
from ..loop.views import all_shown, begin_segment
from .contract import DOUBTFUL, MOST_STEPS, room_for

ROUNDED = 2.0**-52
"""A sum of n numbers in float64 is at most n times this share of itself too small."""

PRIMES = (2147483647, 2147483629, 2147483587, 2147483579, 2147483563, 2147483549, 2147483543, 2147483497)
"""The greatest below 2^31: what is left of two numbers has a product that fits 64 bits. The product of all is
more than the number of chains of `MOST_STEPS` events that end at one of 2^32."""

MOST_BOUNDS = 1 << (MOST_STEPS - 2)
"""The most bounds that part the entries of a state."""

MOST_SUMS = (1 << (MOST_STEPS - 1)) - 1
"""The most sums that are kept of an entry."""


class ChainSums(NamedTuple):
    """What is known of entries, by their numbers, and the ranges of entries that one linear function counts.

    An entry of level m has 2^m - 1 numbers: 1, and the sums of the numbers of the level before up to `low`
    and up to `high`.

    ============  ================================  ========================================================
    `low`         int64 [entries]                   an entry reads the entries low .. high - 1
    `high`        int64 [entries]
    `total`       int64 [all numbers]               the sums of the numbers before an entry,
    `row`         int64 [states]                    where the numbers of a state begin
    `near`        float64 [entries + states]        at e + q: at least the runs before entry e of state q
    `since`       int64 [states]                    the first entry of a state that is in the window
    `ahead`       int64 [states, bounds / 2]        the first entry whose `high` is past a bound of the state
                                                    before,
    `past`        int64 [states, bounds / 2]        and the first whose `low` has reached it
    `path`        int64 [levels]                    scratch: the states that lead to one
    `bound`       int64 [levels, bounds]            scratch: where the pieces of a level end, ascending
    `constant`    int64 [levels, bounds + 1]        scratch: the runs before an entry of a piece: `constant`
    `factor`      int64 [levels, bounds + 1, sums]  plus the sum of `factor` times `total`
    ============  ================================  ========================================================
    """

    low: np.ndarray
    high: np.ndarray
    total: np.ndarray
    row: np.ndarray
    near: np.ndarray
    since: np.ndarray
    ahead: np.ndarray
    past: np.ndarray
    path: np.ndarray
    bound: np.ndarray
    constant: np.ndarray
    factor: np.ndarray


@inline
def _left(number, modulus):
    """What is left of a number modulo a prime; modulo 2^64, for 0."""
    return number % modulus if modulus > 0 else number


@jit
def cut_pieces(chain, room, sums, source, modulus):
    """Compute the bounds of a state, and of the states that lead to it.

    =========  ===========  ==========================
    `chain`    ChainTables  in
    `room`     EntryRoom    in
    `sums`     ChainSums    in/out
    `source`   int          in
    `modulus`  int          in: a prime, or 0 for 2^64
    =========  ===========  ==========================
    """
    depth = chain.level[source]
    state = source
    for m in range(depth):
        sums.path[depth - 1 - m] = state
        state = chain.before[state]
    root = sums.path[0]
    sums.bound[0, 0] = sums.since[root]
    sums.constant[0, 0] = 0
    sums.factor[0, 0, 0] = 0
    sums.constant[0, 1] = _left(room.first[root] - sums.since[root], modulus)
    sums.factor[0, 1, 0] = 1
    for m in range(1, depth):
        state = sums.path[m]
        first = room.first[state]
        used = room.used[state]
        number = 1 << (m - 1)
        below = (1 << m) - 1
        size = 2 * below + 1
        for z in range(number):
            bound = sums.bound[m - 1, z]
            at = sums.ahead[state, z]
            while at < used and sums.high[at] <= bound:
                at += 1
            sums.ahead[state, z] = at
            at = sums.past[state, z]
            while at < used and sums.low[at] < bound:
                at += 1
            sums.past[state, z] = at
        sums.constant[m, 0] = 0
        for j in range(size):
            sums.factor[m, 0, j] = 0
        # Both lists ascend: x bounds of one and y of the other are behind.
        x = 0
        y = 0
        for u in range(1, 2 * number + 1):
            if x < number and sums.ahead[state, x] <= sums.past[state, y]:
                bound = sums.ahead[state, x]
                x += 1
            else:
                bound = sums.past[state, y]
                y += 1
            sums.bound[m, u - 1] = bound
            sums.factor[m, u, 0] = _left(sums.constant[m - 1, x] - sums.constant[m - 1, y], modulus)
            for j in range(below):
                sums.factor[m, u, 1 + j] = _left(-sums.factor[m - 1, y, j], modulus)
                sums.factor[m, u, 1 + below + j] = sums.factor[m - 1, x, j]
            # At the bound both pieces give the same.
            constant = sums.constant[m, u - 1]
            row = sums.row[state] + (bound - first) * size
            for j in range(size):
                step = _left(sums.factor[m, u - 1, j] - sums.factor[m, u, j], modulus)
                constant = _left(constant + step * sums.total[row + j], modulus)
            sums.constant[m, u] = constant


@jit
def runs_before(chain, room, sums, source, entry, modulus):
    """How many runs in the window have entered a state before an entry.

    The parameters are those of `cut_pieces`, which has been called for the state.
    """
    m = chain.level[source] - 1
    size = (1 << (m + 1)) - 1
    u = 0
    while u < 1 << m and sums.bound[m, u] <= entry:
        u += 1
    number = sums.constant[m, u]
    row = sums.row[source] + (entry - room.first[source]) * size
    for j in range(size):
        number = _left(number + sums.factor[m, u, j] * sums.total[row + j], modulus)
    return number


@jit
def chain_body(tables, chain, events, segments, first, event, lowest, room, sums, modulus, out, halt):
    """Write the number of complex events in the window of each hit, -1 where it may not fit; or what is left
    of it modulo a prime.

    ==========  ====================  =================================================================
    `tables`    StepTables            in
    `chain`     ChainTables           in
    `events`    StepEvents            in
    `segments`  LoopSegments          in
    `first`     int64 [segments + 1]  in: the hits of segment g are first[g] .. first[g + 1] - 1
    `event`     int64 [hits]          in: ascending in a segment
    `lowest`    int64 [hits]          in: the least admissible start, which does not fall in a segment
    `room`      EntryRoom             scratch
    `sums`      ChainSums             scratch
    `modulus`   int                   in: a prime, or 0 for the number itself
    `out`       int64 [hits]          out
    `halt`      uint8 [1] or [0]      in: see `jit`
    ==========  ====================  =================================================================
    """
    for g in range(segments.begin.shape[0]):
        h = first[g]
        if h == first[g + 1]:
            continue
        begin_segment(tables, room, True)
        for state in range(room.used.shape[0]):
            begin = room.first[state]
            sums.since[state] = begin
            sums.near[begin + state] = 0.0
            if room.kept[state]:
                for j in range((1 << chain.level[state]) - 1):
                    sums.total[sums.row[state] + j] = 0
                for z in range(sums.ahead.shape[1]):
                    sums.ahead[state, z] = begin
                    sums.past[state, z] = begin
        # No run that counts has events before the first window.
        begin = max(segments.begin[g], lowest[h])
        part = (segments.stop[g] - begin) * ROUNDED
        for i in range(begin, segments.stop[g]):
            if h == first[g + 1] or (i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]):
                break
            symbol = events.symbols[i]
            hit = event[h] == i
            if hit:
                for state in range(room.used.shape[0]):
                    while sums.since[state] < room.used[state] and room.event[sums.since[state]] < lowest[h]:
                        sums.since[state] += 1
            number = 0
            about = 0.0
            for group in range(tables.first[symbol], tables.first[symbol + 1]):
                state = tables.group_state[group]
                view = chain.read[state]
                ends = hit and tables.accepting[state]
                if view < 0:
                    number += ends
                    continue
                low, high = all_shown(tables, events, room, view, i)
                if not ends or low >= high:
                    continue
                source = chain.before[state]
                most = sums.near[high + source] * (1.0 + part) - sums.near[low + source]
                inside = 1.0
                deep = source
                while deep >= 0:
                    inside *= room.used[deep] - sums.since[deep]
                    deep = chain.before[deep]
                about += min(most, inside)
                if inside > 0.0:
                    cut_pieces(chain, room, sums, source, modulus)
                    number += runs_before(chain, room, sums, source, high, modulus)
                    number -= runs_before(chain, room, sums, source, low, modulus)
            for group in range(tables.first[symbol], tables.first[symbol + 1]):
                state = tables.group_state[group]
                if not room.kept[state]:
                    continue
                view = chain.read[state]
                source = chain.before[state]
                at = room.used[state]
                low = room.gone[view] if view >= 0 else 0
                high = room.shown[view] if view >= 0 else 0
                if view >= 0 and low >= high:
                    continue
                below = (1 << (chain.level[state] - 1)) - 1
                size = 2 * below + 1
                row = sums.row[state] + (at - room.first[state]) * size
                sums.total[row + size] = _left(sums.total[row] + 1, modulus)
                most = 1.0
                if view >= 0:
                    most = sums.near[high + source] * (1.0 + part) - sums.near[low + source]
                    lower = sums.row[source] + (low - room.first[source]) * below
                    upper = sums.row[source] + (high - room.first[source]) * below
                    for j in range(below):
                        own = row + 1 + j
                        sums.total[own + size] = _left(sums.total[own] + sums.total[lower + j], modulus)
                        own += below
                        sums.total[own + size] = _left(sums.total[own] + sums.total[upper + j], modulus)
                sums.near[at + 1 + state] = sums.near[at + state] + most
                sums.low[at] = low
                sums.high[at] = high
                room.event[at] = i
                room.used[state] = at + 1
            if hit:
                if modulus > 0:
                    out[h] = _left(number, modulus)
                else:
                    out[h] = number if about < DOUBTFUL else -1
                h += 1


def chain_counts(tables, chain, events, segments, first, event, lowest):
    """How many complex events in their window end at each hit, -1 where the number may not fit: int64 [hits].

    The parameters are those of `cpu_counts.counts`, and `chain`, from `chain_tables`.
    """
    out = np.empty(len(event), np.int64)
    room, sums = _rooms(tables, chain, events, segments)
    chain_body(tables, chain, events, segments, first, event, lowest, room, sums, 0, out)
    return out


def exact_chain_counts(tables, chain, events, segments, first, event, lowest):
    """The same as Python's integers, however large: a list."""
    room, sums = _rooms(tables, chain, events, segments)
    longest = int((segments.stop - segments.begin).max(initial=0))
    groups = int(np.diff(tables.first).max(initial=0))
    most = groups * longest ** (int(chain.level.max()) - 1)
    found, product = [0] * len(event), 1
    out = np.empty(len(event), np.int64)
    for prime in PRIMES:
        if product > most:
            break
        chain_body(tables, chain, events, segments, first, event, lowest, room, sums, prime, out)
        inverse = pow(product, -1, prime)
        found = [
            known + product * ((left - known) * inverse % prime) for known, left in zip(found, out.tolist())
        ]
        product *= prime
    return found


def _rooms(tables, chain, events, segments):
    """Scratch for a pass over a chain."""
    longest = int((segments.stop - segments.begin).max(initial=0))
    room = room_for(tables, events.symbols, False, longest)
    n_states, entries = len(room.used), len(room.event)
    rows = (np.diff(room.first) + 1) * ((1 << chain.level.astype(np.int64)) - 1) * room.kept
    row = np.append(0, np.cumsum(rows))
    sums = ChainSums(
        *np.empty((2, entries), np.int64),
        np.empty(row[-1], np.int64),
        row[:-1].copy(),
        np.empty(entries + n_states, np.float64),
        np.empty(n_states, np.int64),
        *np.empty((2, n_states, MOST_BOUNDS // 2), np.int64),
        np.empty(MOST_STEPS - 1, np.int64),
        np.empty((MOST_STEPS - 1, MOST_BOUNDS), np.int64),
        np.empty((MOST_STEPS - 1, MOST_BOUNDS + 1), np.int64),
        np.empty((MOST_STEPS - 1, MOST_BOUNDS + 1, MOST_SUMS), np.int64),
    )
    return room, sums
