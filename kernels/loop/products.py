"""Products: what is asked of the runs that an event reads, a semiring for each question."""

from ..jit import inline
from .contract import MOST_RUNS

HALF = 1 << 30
"""Two numbers below this have a product below `MOST_RUNS`."""


@inline
def always_ready(tables, room, event, symbol):
    return True


@inline
def lowest_in_window(events, window, room, event, low):
    keys = window.keys
    if keys.shape[0] > 0:
        while keys[event] - keys[low] > window.size:
            low += 1
    return low


@inline
def nothing_to_close(tables, room, group, place, event, own):
    return


@inline
def nothing_to_finish(tables, events, segments, room, g):
    return


@inline
def nothing_to_begin(tables, segments, room, g):
    return


STREAM = {"begin": nothing_to_begin, "finish": nothing_to_finish}
"""The next events of a stream: the room keeps what it has."""

BATCH = {
    "lowest": lowest_in_window,
    "ready": always_ready,
    "close": nothing_to_close,
    "finish": nothing_to_finish,
}
"""Segments whose keys ascend, in a room that is large enough."""


@inline
def no_start():
    return -1


@inline
def later(own, other):
    return own if own > other else other


@inline
def started(tables, room, event, stop):
    return event


@inline
def admitted_start(own, low):
    return own if own >= low else -1


@inline
def latest_within(window, event, own):
    keys = window.keys
    start = own if own >= 0 else event
    return own if keys[event] - keys[start] <= window.size else -1


@inline
def note_start(room, out, found, event, stop, own):
    out.event[found] = event
    out.start[found] = own
    return found + 1


@inline
def earlier(own, other):
    return own if own < other else other


LATEST = {
    "none": no_start, "plus": later, "times": earlier, "start": started, "admitted": admitted_start,
    "within": latest_within, "note": note_start,
}  # fmt: skip
"""The latest start of a run: where complex events end, and whether a window admits one of them."""


@inline
def started_back(tables, room, event, stop):
    return stop - event


@inline
def unbounded(own, low):
    return own


@inline
def all_within(window, event, own):
    return own


@inline
def note_back(room, out, found, event, stop, own):
    out.event[found] = event
    out.start[found] = stop - own
    return found + 1


EARLIEST = LATEST | {
    "start": started_back, "admitted": unbounded, "within": all_within, "note": note_back
}  # fmt: skip
"""The earliest start of a run, counted back from the end of the segment; without a window."""


@inline
def no_run():
    return 0


@inline
def both(own, other):
    return min(own + other, MOST_RUNS)


@inline
def one_run(tables, room, event, stop):
    return 1


@inline
def note_number(room, out, found, event, stop, own):
    out.event[found] = event
    out.start[found] = own if own < MOST_RUNS else -1
    return found + 1


@inline
def pairs(own, other):
    found = MOST_RUNS
    if max(own, other) < HALF or other == 0 or own <= MOST_RUNS // other:
        found = own * other
    return found


COUNT = {
    "none": no_run, "plus": both, "times": pairs, "start": one_run, "admitted": unbounded,
    "within": all_within, "note": note_number,
}  # fmt: skip
"""How many runs there are, without a window; at most `MOST_RUNS`, which is noted as -1."""
