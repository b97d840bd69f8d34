"""Views of entries, moved forward from event to event: what the kernels of steps share."""

from ..jit import jit
from .contract import APART


@jit
def begin_segment(tables, room, again):
    """Make the entries from now on those of a segment; in the place of those before it, if `again`.

    ========  ==========  =======
    `tables`  StepTables  in
    `room`    EntryRoom   in/out
    `again`   bool        in
    ========  ==========  =======
    """
    if again:
        for state in range(room.used.shape[0]):
            room.used[state] = room.first[state]
    for view in range(tables.view_state.shape[0]):
        used = room.used[tables.view_state[view]]
        room.shown[view] = used
        room.gone[view] = used
        room.head[view] = room.queue_first[view]
        room.tail[view] = room.queue_first[view]


@jit
def latest_shown(tables, events, room, view, event):
    """Move a view that is not one of neighbours to an event: its entry of the greatest value, or -1.

    ========  ==========  =======
    `tables`  StepTables  in
    `events`  StepEvents  in
    `room`    EntryRoom   in/out
    `view`    int         in
    `event`   int         in
    ========  ==========  =======
    """
    times = events.times
    queue = room.queue
    value = room.value
    used = room.used[tables.view_state[view]]
    timed = tables.view_timed[view] != 0
    low = tables.view_low[view]
    high = tables.view_high[view]
    now = times[event] if timed else low
    at = room.shown[view]
    head = room.head[view]
    tail = room.tail[view]
    while at < used:
        entered = room.event[at]
        if timed:
            gap = now - times[entered]
            if gap < low or (gap != gap and not tables.view_loose[view]):
                break
        if tables.view_near[view] == APART and events.places[entered] + 1 == events.places[event]:
            break
        while tail > head and value[queue[tail - 1]] <= value[at]:
            tail -= 1
        queue[tail] = at
        tail += 1
        at += 1
    if timed:
        while head < tail and now - times[room.event[queue[head]]] > high:
            head += 1
    room.shown[view] = at
    room.head[view] = head
    room.tail[view] = tail
    if head == tail:
        return -1
    return queue[head]


@jit
def all_shown(tables, events, room, view, event):
    """Move a view that is not one of neighbours to an event: the first entry that it shows, and one past it.

    The parameters are those of `latest_shown`, which leaves `gone` as it is.
    """
    times = events.times
    used = room.used[tables.view_state[view]]
    timed = tables.view_timed[view] != 0
    low = tables.view_low[view]
    high = tables.view_high[view]
    now = times[event] if timed else low
    at = room.shown[view]
    while at < used:
        entered = room.event[at]
        if timed:
            gap = now - times[entered]
            if gap < low or (gap != gap and not tables.view_loose[view]):
                break
        if tables.view_near[view] == APART and events.places[entered] + 1 == events.places[event]:
            break
        at += 1
    gone = room.gone[view]
    if timed:
        while gone < at and now - times[room.event[gone]] > high:
            gone += 1
    room.shown[view] = at
    room.gone[view] = gone
    return gone, at


@jit
def neighbour(tables, events, room, view, first, event):
    """The entry that a view of neighbours shows at an event, or -1.

    The parameters are those of `latest_shown`; `first` is the first entry of the segment in the view's state.
    """
    last = room.used[tables.view_state[view]] - 1
    if last < first:
        return -1
    entered = room.event[last]
    if events.places[entered] + 1 != events.places[event]:
        return -1
    if tables.view_timed[view]:
        gap = events.times[event] - events.times[entered]
        if gap < tables.view_low[view] or gap > tables.view_high[view]:
            return -1
        if gap != gap and not tables.view_loose[view]:
            return -1
    return last
