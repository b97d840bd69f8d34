"""The windows of a stream on the CPU: followed event by event; and which events have left them."""

from ..jit import inline, jit
from ..suppress.cpu import is_reported
from .contract import ALL_LANES, NOTHING


@inline
def least_start(events, event, lane, size, bounds):
    """The least start that an end at the next event of a lane admits.

    `events` StreamEvents: in, `following` in/out; `size` dtype of events.measured: in, the longest difference
    that the window keeps; `bounds` LaneBounds: in/out.
    """
    laned = events.lanes.shape[0] > 0
    bound = max(bounds.least[lane], bounds.all[0])
    if events.measured.shape[0] > 0:
        low = bounds.low[lane]
        if low < 0:
            low = event
        elif laned:
            events.following[bounds.last[lane]] = event
        while events.measured[event] - events.measured[low] > size:
            if laned:
                low = events.following[low]
            else:
                low += 1
        bounds.low[lane] = low
        bounds.last[lane] = event
        bound = max(bound, low)
    return bound


@inline
def consume(bounds, event, lane, consumes):
    """Drop the partial matches that a reported end consumes: `NOTHING`, `ALL_LANES` or `OWN_LANE`."""
    if consumes != NOTHING and is_reported(bounds.quiet, event, lane):
        if consumes == ALL_LANES:
            bounds.all[0] = event + 1
        else:
            bounds.least[lane] = event + 1


@inline
def note_end(ends, at, event, lane, lowest, latest, bounds, consumes):
    """Write the end of number `at`, and drop what it consumes.

    `ends` StreamEnds: out; `lowest`: the least start that is admitted; `latest`: the latest start that there
    is; `bounds`, `consumes`: as in `consume`.
    """
    ends.event[at] = event
    ends.lowest[at] = lowest
    ends.latest[at] = latest
    consume(bounds, event, lane, consumes)


@jit
def mark_open(events, count, bounds, is_open):
    """Mark the events that are open; gives how many there are.

    ============  ================  =====================================================================
    `events`      StreamEvents      in
    `count`       int64             in: how many there are
    `bounds`      LaneBounds        in
    `is_open`     uint8 [count]     out
    ============  ================  =====================================================================
    """
    laned = events.lanes.shape[0] > 0
    found = 0
    for event in range(count):
        lane = 0
        if laned:
            lane = events.lanes[event]
        bound = max(bounds.least[lane], bounds.all[0], bounds.low[lane])
        keeps = event >= bound
        is_open[event] = keeps
        found += keeps
    return found


@jit
def relink(events, count, bounds):
    """Find the first, the last and the next event of each lane again, after other events were dropped."""
    for lane in range(bounds.low.shape[0]):
        bounds.low[lane] = -1
        bounds.last[lane] = -1
    laned = events.lanes.shape[0] > 0
    for event in range(count):
        lane = 0
        if laned:
            lane = events.lanes[event]
        if bounds.low[lane] < 0:
            bounds.low[lane] = event
        elif laned:
            events.following[bounds.last[lane]] = event
        bounds.last[lane] = event
