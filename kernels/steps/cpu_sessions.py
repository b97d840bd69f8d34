"""Sessions: where the events begin that follow one another without a longer gap."""

from ..jit import inline, jit


@inline
def goes_on(sessions, times, places, before, event):
    """Whether an event is in the session of the event of its lane before it; as `session_begins`."""
    inside = True
    if sessions.timed:
        gap = times[event] - times[before]
        inside = gap <= sessions.high or (gap != gap and sessions.loose)
    if inside and sessions.near:
        inside = places[event] == places[before] + 1
    return inside


@jit
def session_begins(sessions, times, places, begin, stop, out):
    """For each event of some lanes the first event of its session.

    ==========  =============================  ================================================
    `sessions`  Sessions                       in
    `times`     uint64 or float64 [events]     in: do not decrease in a lane; empty if not timed
    `places`    int64 [events]                 in: empty if not near
    `begin`     int64 [lanes]                  in
    `stop`      int64 [lanes]                  in
    `out`       int64 [events]                 out: of the events of these lanes
    ==========  =============================  ================================================
    """
    for g in range(begin.shape[0]):
        first = begin[g]
        for i in range(begin[g], stop[g]):
            if i > first and not goes_on(sessions, times, places, i - 1, i):
                first = i
            out[i] = first
