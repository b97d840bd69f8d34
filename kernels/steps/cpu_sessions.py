"""Sessions: where the events begin that follow one another without a longer gap."""

from ..jit import jit


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
            if i > first:
                goes_on = True
                if sessions.timed:
                    gap = times[i] - times[i - 1]
                    goes_on = gap <= sessions.high or (gap != gap and sessions.loose)
                if goes_on and sessions.near:
                    goes_on = places[i] == places[i - 1] + 1
                if not goes_on:
                    first = i
            out[i] = first
