"""Counts without a window: where complex events end, and how many.

An event whose number is not 0 is an end, so no pass for hits is needed before.
"""

import numpy as np

from ..jit import OFTEN, composed, go_on
from ..loop.contract import MOST_RUNS, LoopSegments
from ..loop.products import COUNT
from ..loop.registers import BY_SEGMENT, IN_ORDER, RegisterEvents, follow_registers, register_ends
from ..runs.contract import INTO, LEFT, RIGHT
from ..sorting.order import ascending
from ..windows.contract import NO_WINDOW

NO_STARTS, NO_LANES = np.empty(0, np.int64), np.empty(0, np.int32)

count_ends = composed(follow_registers, "count_ends", **COUNT, **BY_SEGMENT)
count_in_order = composed(follow_registers, "count_in_order", **COUNT, **IN_ORDER)


def counted_ends(program, symbols, begin, stop, vectors):
    """Where complex events end in some segments, and how many end there, without a window.

    Parameters
    ----------
    program : Program
        From `counts_program`.
    symbols : ndarray, shape (events,), uint8 or uint16
    begin, stop : ndarray, shape (segments,), int64
        The events of each segment; `vectors` sums up those before `begin`.
    vectors : ndarray, shape (segments, n_live), int64 or object
        Number of runs in each state before the segment; zeros at first. Not changed.

    Returns
    -------
    event : ndarray, shape (ends,), int64
        Ascending inside a segment.
    number : ndarray, shape (ends,), int64, or object past 2^61
    vectors : ndarray, shape (segments, n_live), int64, or object past 2^61
        Number of runs in each state after the segment.
    """
    beyond = vectors >= MOST_RUNS if vectors.dtype == object else np.zeros(vectors.shape, bool)
    after = np.where(beyond, 0, vectors).astype(np.int64)
    event, number = _counted(count_ends, program, symbols, LoopSegments(begin, begin, stop), after)
    beyond |= after >= MOST_RUNS
    capped = number < 0
    if not beyond.any() and not capped.any():
        return event, number, after
    # Those segments are counted once more, with Python's integers.
    owner = np.searchsorted(stop, event, side="right")
    large = beyond.any(axis=1)
    large[owner[capped]] = True
    kept = ~large[owner]
    events, numbers, after = [event[kept]], [number[kept].astype(object)], after.astype(object)
    moves = [program.moves[low:high].tolist() for low, high in zip(program.first[:-1], program.first[1:])]
    for g in np.flatnonzero(large):
        ends, after[g] = _large_ends(program, moves, symbols[begin[g] : stop[g]], vectors[g])
        events.append(begin[g] + np.array(list(ends), np.int64))
        numbers.append(np.array(list(ends.values()), object))
    event = np.concatenate(events)
    order = ascending(event)
    return event[order], np.concatenate(numbers)[order], after


def _large_ends(program, moves, symbols, vector):
    # The same of the symbols of one segment with Python's integers: how many end at each end, and the vector
    # after them. `moves` has the operations of each symbol.
    accepted = program.zero + 1
    register = [*map(int, vector)] + [0] * (program.n_registers - len(vector))
    ends = {}
    for low in range(0, len(symbols), OFTEN):
        go_on()
        for event, symbol in enumerate(symbols[low : low + OFTEN].tolist(), low):
            register[0] = 1
            for move in moves[symbol]:
                register[move[INTO]] = register[move[LEFT]] + register[move[RIGHT]]
            if register[accepted]:
                ends[event] = register[accepted]
    return ends, register[: len(vector)]


def counted_in_order(program, symbols, lanes, vectors):
    """The same for events of many lanes in the order of the stream, as `hits_in_order`.

    Parameters
    ----------
    program, symbols
        As for `counted_ends`.
    lanes : ndarray, shape (events,), int32
    vectors : ndarray, shape (lanes, n_live), int64
        In and out.

    Returns
    -------
    (event, number) or None
        Each int64, shape (ends,). None where a number has reached 2**61: then `vectors` are as before.
    """
    whole, after = LoopSegments(*np.array([[0], [0], [len(symbols)]])), vectors.copy()
    event, number = _counted(count_in_order, program, symbols, whole, after, lanes)
    if (number < 0).any() or (after >= MOST_RUNS).any():
        return None
    vectors[:] = after
    return event, number


def _counted(kernel, program, symbols, segments, vectors, lanes=NO_LANES):
    events = RegisterEvents(symbols, NO_STARTS, lanes)
    return register_ends(kernel, program, events, NO_WINDOW, segments, vectors, 0)
