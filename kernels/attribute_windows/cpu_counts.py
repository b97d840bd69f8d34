"""Counts: how many complex events end at each event and start where it admits, by divide and conquer.

Numbers stop growing at `LARGEST`: sums and products of a number that has stopped are never smaller, so a
count below `LARGEST` is exact. A segment with a count that is not is done again by the same body in Python
integers.
"""

from typing import NamedTuple

import numpy as np

from ..jit import jit
from ..runs.contract import INTO, LEFT, RIGHT
from .cpu_lists import begin_lists, empty_lists, halve, meeting, merge_lists

LARGEST = (1 << 62) - 1
"""Numbers stop growing here: the sum of two fits an int64."""

WHOLE_STEPS = 200
"""How many sums of int64 take as long as one sum of Python integers."""

MANY_STATES = 16
"""From this many states on, the number of sums is estimated in advance."""

LOOK = 32
"""Events between two checks of whether any run that passes the middle is left."""


class Numbers(NamedTuple):
    """The arrays that a thread works with. Numbers are int64, or Python integers in arrays of objects.

    =========  ==========================  ================================================================
    `cells`    number [events, states]     shared: how many runs of a start pass the middle in each state,
                                           or lead from each to an end
    `states`   number [registers, states]  scratch of a pass: a vector for each state
    `sums`     number [states]             scratch: how many runs of the admitted starts are in each state
    `bounded`  bool                        whether numbers stop at `LARGEST`
    =========  ==========================  ================================================================
    """

    cells: np.ndarray
    states: np.ndarray
    sums: np.ndarray
    bounded: bool


def meet_body(machine, symbols, ranks, low, middle, lists, numbers, count, halt):
    """Count the runs that begin in the range from `low` on and end in the one from `middle` on.

    =================  ==========================  ========================================================
    `machine`          AutomatonPrograms           in
    `symbols`          uint8 or uint16 [events]    in
    `ranks`            Ranks                       in
    `low`, `middle`    int64                       in: the first events of two neighbouring ranges
    `lists`            RangeLists                  in: of both ranges
    `numbers`          Numbers                     scratch
    `count`            number [events]             in/out: what is found is added
    `halt`             uint8 [1]                   in: see `jit`
    =================  ==========================  ========================================================
    """
    tables, forward, backward = machine
    rank, least = ranks.rank, ranks.least
    cells, states, sums, bounded = numbers
    starts, ends = lists.starts, lists.ends
    some, others, first, last = meeting(rank, least, low, middle, lists)
    if some == 0 or others == 0:
        return
    n = sums.shape[0]
    stop = middle + lists.n_ends[middle]
    bound, most = least[ends[stop - 1]], rank[starts[low]]
    for r in range(states.shape[0]):
        for c in range(n):
            states[r, c] = 1 if 0 < r == c else 0
    alive = True
    for event in range(middle - 1, first - 1, -1):
        symbol = symbols[event]
        if rank[event] >= bound:
            for c in range(n):
                cells[event, c] = 0
            t = tables.first[symbol]
            while alive and t < tables.first[symbol + 1] and tables.source[t] == 0:
                if tables.target[t] >= 0:
                    for c in range(n):
                        value = cells[event, c] + states[tables.target[t], c]
                        cells[event, c] = LARGEST if bounded and value > LARGEST else value
                t += 1
        if alive:
            for k in range(backward.first[symbol], backward.first[symbol + 1]):
                into, left, right = backward.moves[k, INTO], backward.moves[k, LEFT], backward.moves[k, RIGHT]
                for c in range(n):
                    value = states[left, c] + states[right, c]
                    states[into, c] = LARGEST if bounded and value > LARGEST else value
            if (middle - event) % LOOK == 0:
                alive = False
                for r in range(1, n if halt[0] == 0 else 1):
                    for c in range(1, n):
                        alive = alive or states[r, c] != 0
    for r in range(states.shape[0]):
        for c in range(n):
            states[r, c] = 1 if 0 < r == c else 0
    alive = True
    for event in range(middle, last + 1):
        symbol = symbols[event]
        if least[event] <= most:
            for c in range(n):
                cells[event, c] = 0
            t = tables.first[symbol]
            while alive and t < tables.first[symbol + 1]:
                if tables.accepting[t] and tables.source[t] != 0:
                    for c in range(n):
                        value = cells[event, c] + states[tables.source[t], c]
                        cells[event, c] = LARGEST if bounded and value > LARGEST else value
                t += 1
        if alive:
            for k in range(forward.first[symbol], forward.first[symbol + 1]):
                into, left, right = forward.moves[k, INTO], forward.moves[k, LEFT], forward.moves[k, RIGHT]
                for c in range(n):
                    value = states[left, c] + states[right, c]
                    states[into, c] = LARGEST if bounded and value > LARGEST else value
            if (event - middle) % LOOK == LOOK - 1:
                alive = False
                for r in range(1, n if halt[0] == 0 else 1):
                    for c in range(1, n):
                        alive = alive or states[r, c] != 0
    for c in range(n):
        sums[c] = 0
    taken = low
    for k in range(stop - others, stop):
        end = ends[k]
        while taken < low + some and rank[starts[taken]] >= least[end]:
            for c in range(1, n):
                value = sums[c] + cells[starts[taken], c]
                sums[c] = LARGEST if bounded and value > LARGEST else value
            taken += 1
        total = count[end]
        for c in range(1, n):
            one, other = sums[c], cells[end, c]
            if bounded and (one | other) >> 31 != 0 and other > 0 and one > LARGEST // other:
                total = LARGEST
            else:
                value = total + one * other
                total = LARGEST if bounded and value > LARGEST else value
        count[end] = total


def alone_body(tables, symbols, ranks, low, high, report, count):
    """Count the complex events of one event, at each event from `low` to `high - 1`; `count`: out."""
    for event in range(low, high):
        symbol = symbols[event]
        count[event] = 0
        if event >= report and ranks.rank[event] >= ranks.least[event]:
            for t in range(tables.first[symbol], tables.first[symbol + 1]):
                if tables.source[t] == 0 and tables.accepting[t]:
                    count[event] += 1


_meet = jit(meet_body)
_alone = jit(alone_body)


@jit
def _ranges(machine, symbols, ranks, low, high, report, lists, numbers, count, halt):
    for g in range(low.shape[0]):
        begin_lists(machine.tables, symbols, low[g], high[g], report[g], lists)
        _alone(machine.tables, symbols, ranks, low[g], high[g], report[g], count)
        width = 1
        while width < high[g] - low[g] and halt[0] == 0:
            for left in range(low[g], high[g] - width, 2 * width):
                middle = left + width
                _meet(machine, symbols, ranks, left, middle, lists, numbers, count, halt)
                merge_lists(ranks.rank, ranks.least, left, middle, lists)
            width *= 2


def _exact_ranges(machine, symbols, ranks, low, high, report, lists, numbers, count):
    """`_ranges` in Python integers."""
    for first, last, reported in zip(low.tolist(), high.tolist(), report.tolist()):
        begin_lists(machine.tables, symbols, first, last, reported, lists)
        alone_body(machine.tables, symbols, ranks, first, last, reported, count)
        width = 1
        while width < last - first:
            for left in range(first, last - width, 2 * width):
                middle = left + width
                _meet.plainly(machine, symbols, ranks, left, middle, lists, numbers, count)
                merge_lists(ranks.rank, ranks.least, left, middle, lists)
            width *= 2


def counts(machine, symbols, ranks, begin, report, stop, share, exact=True, most_steps=None):
    """How many complex events end at each event of many segments, with starts that its window admits.

    Parameters
    ----------
    machine, symbols, ranks, begin, report, stop, share
        As for `cer_gpu.kernels.attribute_windows.cpu_hits.latest_starts`.
    exact : bool
        If false, a number above 2**62 - 1 is given as 2**62. Enumeration passes False: it only needs to know
        whether there are too many to hold.
    most_steps : int, optional
        The most sums that it may take; a sum of Python integers counts as `WHOLE_STEPS`.

    Returns
    -------
    event : ndarray, shape (hits,), int64
        Those at which some complex event ends.
    number : ndarray, shape (hits,), int64, or object (Python integers) where some value exceeds 2**62 - 1

    Raises
    ------
    OverflowError
        If it takes more.
    """
    _check(machine, symbols, begin, stop, 1, most_steps)
    lists, count = empty_lists(len(symbols)), np.zeros(len(symbols), np.int64)
    n_live = machine.tables.n_live
    cells = np.empty((len(symbols), n_live), np.int64)
    fixed = machine, symbols, ranks
    registers = max(machine.forward.n_registers, machine.backward.n_registers)

    def numbers(dtype, cells, bounded):
        return Numbers(cells, np.zeros((registers, n_live), dtype), np.zeros(n_live, dtype), bounded)

    def inside(part):
        _ranges(*fixed, *part, lists, numbers(np.int64, cells, True), count)

    def across(pair):
        _meet(*fixed, *pair, lists, numbers(np.int64, cells, True), count)
        merge_lists(ranks.rank, ranks.least, *pair, lists)

    halve(begin, report, stop, inside, across, share, "counting")
    parts = [np.arange(low, high) for low, high in zip(report.tolist(), stop.tolist())]
    event = np.concatenate([np.empty(0, np.int64), *(part[count[part] > 0] for part in parts)])
    number = count[event]
    large = event[number >= LARGEST]
    if not len(large):
        return event, number
    if not exact:
        return event, np.where(number >= LARGEST, LARGEST + 1, number)
    _check(machine, symbols, begin, stop, WHOLE_STEPS, most_steps)
    whole = count.astype(object)
    objects = numbers(object, np.zeros(cells.shape, object), False)
    for low, high, reported in zip(begin.tolist(), stop.tolist(), report.tolist()):
        if ((large >= reported) & (large < high)).any():
            _exact_ranges(*fixed, *np.array([[low], [high], [reported]]), lists, objects, whole)
    return event, whole[event]


def _check(machine, symbols, begin, stop, each, most_steps):
    """Raise `OverflowError` where counts take more than `most_steps` sums, one of which counts as `each`."""
    if most_steps is None or machine.tables.n_live <= MANY_STATES:
        return
    sums = np.diff(machine.forward.first) + np.diff(machine.backward.first)
    levels = np.ceil(np.log2(np.maximum(stop - begin, 1)))
    before = np.append(0, np.cumsum(sums[symbols]))
    needed = float(((before[stop] - before[begin]) * levels).sum()) * machine.tables.n_live / 2 * each
    if needed > most_steps:
        raise OverflowError(f"about {needed:,.0f} sums")
