"""Listing the complex events of a sequence of single events, `A ; B ; C`, from the events of each step.

The events that may be a step are the **entries** of it, ascending, of all lanes one after another. Before the
end of a complex event, entries combine to all ascending rows that begin in the window; so nothing has to be
known of runs, and no structure is built: all complex events of an end are found in canonical order from the
first entry that its window admits, and each entry that is met is part of one.

Listing `A ; B` and `A ; B ; C` by key takes 0.6 of the time that it takes by the structure (time of the whole
query, 5 million events, 1.6 and 1.1 million complex events).
"""

from typing import NamedTuple

import numpy as np

from ..jit import AHEAD, SELDOM, ahead, jit, prefetch

ZERO, ONE, STRIP = np.uint64(0), np.uint64(1), np.uint64(SELDOM)


class SequenceEntries(NamedTuple):
    """The entries of all steps but the last, those of the first step first.

    =============  =================  ==================================================================
    `event`        int32 [entries]
    `first`        int64 [steps]      the entries of step k are first[k] .. first[k + 1] - 1
    `following`    int32 [entries]    the first entry of the next step that comes later; not of the last of
                                      these steps
    `preceding`    int32 [entries]    one past the last entry of the step before that comes earlier; not of
                                      the first step
    =============  =================  ==================================================================
    """

    event: np.ndarray
    first: np.ndarray
    following: np.ndarray
    preceding: np.ndarray


@jit
def _entries(symbols, may, begin, out, halt):
    """Write the events of a stretch that may be a step: how many there are.

    ==========  ========================  ====================================
    `symbols`   uint8 or uint16 [events]  in
    `may`       uint8 [symbols]           in
    `begin`     int                       in: the number of the first event
    `out`       int32 [events + 1]        out
    `halt`      uint8 [1]                 in: see `jit`
    ==========  ========================  ====================================
    """
    n = 0
    for k in range(symbols.shape[0]):
        if k % SELDOM == 0 and halt[0]:
            break
        # written always, kept sometimes: a branch on the data would be mispredicted
        out[n] = begin + k
        n += may[symbols[k]]
    return n


@jit
def _places(events, at, later, offset, out, halt):
    """How many of ascending events lie before each of other ascending ones; with `later`, or are these.

    ==========  ==============  ==================================
    `events`    int32 [m]       in
    `at`        int [n]         in
    `later`     int             in: 1 or 0
    `offset`    int             in: is added to each number
    `out`       int [n]         out
    `halt`      uint8 [1]       in: see `jit`
    ==========  ==============  ==================================
    """
    # Either is moved on by one: a branch that asks for more of one would be mispredicted.
    k = place = ZERO
    stop, count = np.uint64(at.shape[0]), np.uint64(events.shape[0])
    while k < stop and place < count:
        if (k + place) % STRIP == ZERO and halt[0]:
            return
        lies_before = np.uint64(events[place] < at[k] + later)
        out[k] = offset + np.int64(place)
        place += lies_before
        k += ONE - lies_before
    for rest in range(np.int64(k), at.shape[0]):
        out[rest] = offset + np.int64(place)


@jit
def fill(entries, low, high, end, order, limit, progress, hit, column, halt):
    """Write complex events of some ends, as many as there is room for: how many.

    ==========  =====================  ====================================================================
    `entries`   SequenceEntries        in
    `low`       int64 [ends]           in: the first entry of the first step that the window of an end admits
    `high`      int64 [ends]           in: one past the last entry of the step before the end
    `end`       int64 [ends]           in: the event
    `order`     int64 [m]              in: the ends to list
    `limit`     int                    in: at most so many of each end
    `progress`  int64 [2 + 2 * steps]  in/out: how many ends are done, how many complex events of the next one
                                       are; then the entries of the next complex event, and where those of
                                       each step end; zeros at first
    `hit`       int64 [rows]           out
    `column`    int64 [steps, rows]    out: the events of each step
    `halt`      uint8 [1]              in: see `jit`
    ==========  =====================  ====================================================================
    """
    top = column.shape[0] - 2
    at = progress[2 : 3 + top]
    stop = progress[3 + top : 4 + 2 * top]
    n, rows = 0, hit.shape[0]
    while progress[0] < order.shape[0] and n < rows and not halt[0]:
        own = order[progress[0]]
        if progress[1] == 0:
            coming = np.uint64(order[ahead(progress[0] + AHEAD, order.shape[0])])
            prefetch(low, coming)
            prefetch(high, coming)
            prefetch(end, coming)
            near = np.uint64(order[ahead(progress[0], order.shape[0])])
            prefetch(entries.event, np.uint64(low[near]))
            stop[top] = high[own]
            for step in range(top, 0, -1):
                stop[step - 1] = entries.preceding[stop[step] - 1]
            at[0] = low[own]
            for step in range(top):
                at[step + 1] = entries.following[at[step]]
        over = False
        while n < rows and not over:
            # The entries of the last of these steps are written together.
            taken = max(min(stop[top] - at[top], rows - n, limit - progress[1]), 0)
            for step in range(top):
                event = entries.event[at[step]]
                for k in range(taken):
                    column[step, n + k] = event
            for k in range(taken):
                column[top, n + k] = entries.event[at[top] + k]
                column[top + 1, n + k] = end[own]
                hit[n + k] = own
            n += taken
            at[top] += taken
            progress[1] += taken
            over = progress[1] == limit
            if at[top] >= stop[top] and not over:
                depth = top - 1
                while depth >= 0 and at[depth] + 1 == stop[depth]:
                    depth -= 1
                over = depth < 0
                if not over:
                    at[depth] += 1
                    for step in range(depth, top):
                        at[step + 1] = entries.following[at[step]]
        if over:
            progress[0] += 1
            progress[1] = 0
    return n


def step_entries(symbols, may, begin, stop):
    """The events begin .. stop - 1 that may be a step, int32, ascending."""
    out = np.empty(stop - begin + 1, np.int32)
    n = _entries(symbols[begin:stop], may, begin, out)
    return out[:n].copy()


def sequence_entries(event, first):
    """What lies beside the entries of each step: `SequenceEntries`, parameters as there."""
    # Of two steps nothing is written, and what is not written takes no memory.
    following, preceding = np.zeros((2, len(event)), np.int32)
    for low, middle, high in zip(first[:-2].tolist(), first[1:-1].tolist(), first[2:].tolist()):
        one, other = event[low:middle], event[middle:high]
        _places(other, one, 1, middle, following[low:middle])
        _places(one, other, 0, low, preceding[middle:high])
    return SequenceEntries(event, first, following, preceding)


def bounds_of(entries, lowest, event):
    """Where the entries of the first step begin for ends, and where those of the last one stop: int64 [ends].

    `lowest` int64 [ends], non-decreasing: the least admissible start. `event` int64 [ends], ascending.
    """
    low, high = np.empty((2, len(event)), np.int64)
    first = entries.first.tolist()
    _places(entries.event[: first[1]], lowest, 0, 0, low)
    _places(entries.event[first[-2] :], event, 0, first[-2], high)
    return low, high
