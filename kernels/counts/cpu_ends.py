"""Counts without a window: where complex events end, and how many.

An event whose number is not 0 is an end, so no pass for hits is needed before.
"""

from functools import partial

import numpy as np

from ..jit import composed
from ..loop.contract import MOST_RUNS, LoopSegments
from ..loop.products import COUNT, EXACT
from ..loop.registers import BY_SEGMENT, IN_ORDER, RegisterEvents, follow_registers, found_ends
from ..windows.contract import NO_WINDOW

NO_STARTS, NO_LANES = np.empty(0, np.int64), np.empty(0, np.int32)

count_ends = composed(follow_registers, "count_ends", **COUNT, **BY_SEGMENT)
count_in_order = composed(follow_registers, "count_in_order", **COUNT, **IN_ORDER)
exact_ends = composed(follow_registers, "exact_ends", **EXACT, **BY_SEGMENT)


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
    large = vectors.dtype == object and bool((vectors >= MOST_RUNS).any())
    after = np.where(vectors >= MOST_RUNS, 0, vectors).astype(np.int64) if large else vectors.astype(np.int64)
    event, number = _counted(count_ends, program, symbols, LoopSegments(begin, begin, stop), after)
    wrong = (after >= MOST_RUNS).any(axis=1)
    if large:
        wrong |= (vectors >= MOST_RUNS).any(axis=1)
    owner = np.searchsorted(stop, event, side="right")
    wrong[owner[number < 0]] = True
    if not wrong.any():
        return event, number, after
    # Those segments are counted once more, with Python's integers.
    some, kept = np.flatnonzero(wrong), ~wrong[owner]
    after = after.astype(object)
    exact = vectors[some].astype(object)
    segments = LoopSegments(begin[some], begin[some], stop[some])
    more, exactly = _counted(partial(exact_ends.plainly, helpers=True), program, symbols, segments, exact)
    after[some] = exact
    events = np.append(event[kept], more)
    order = np.argsort(events, kind="stable")
    return events[order], np.append(number[kept].astype(object), exactly)[order], after


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
    return found_ends(kernel, program, events, NO_WINDOW, segments, vectors, 0)
