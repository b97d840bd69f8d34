"""Views of entries, which move forward from event to event: shared by the kernels of steps."""

from ..jit import inline
from .contract import APART


@inline
def begin_segment(tables, room, again):
    """Begin the entries of a segment; if `again`, in the place of those of the segment before.

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


@inline
def comes(tables, events, view, entered, event):
    """Whether an entry's event lies long enough before an event for a view to show it."""
    shown = True
    if tables.view_timed[view]:
        gap = events.times[event] - events.times[entered]
        shown = gap >= tables.view_low[view] or (gap != gap and tables.view_loose[view] != 0)
    if shown and tables.view_near[view] == APART:
        shown = events.places[entered] + 1 != events.places[event]
    return shown


@inline
def goes(tables, events, view, entered, event):
    """Whether an entry's event lies too long before an event for a view to show it."""
    over = False
    if tables.view_timed[view]:
        over = events.times[event] - events.times[entered] > tables.view_high[view]
    return over


@inline
def latest_shown(tables, events, room, view, event):
    """Move a view that does not show neighbours to an event; gives its entry of the greatest value, or -1.

    Where values rise from entry to entry this is the last one; else it is the head of a queue of the entries
    that no later entry exceeds.

    ========  ==========  =======
    `tables`  StepTables  in
    `events`  StepEvents  in
    `room`    EntryRoom   in/out
    `view`    int         in
    `event`   int         in
    ========  ==========  =======
    """
    value = room.value
    queue = room.queue
    used = room.used[tables.view_state[view]]
    at = room.shown[view]
    best = -1
    if tables.view_rises[view]:
        while at < used and comes(tables, events, view, room.event[at], event):
            at += 1
        if at > room.gone[view] and not goes(tables, events, view, room.event[at - 1], event):
            best = at - 1
    else:
        head = room.head[view]
        tail = room.tail[view]
        while at < used and comes(tables, events, view, room.event[at], event):
            while tail > head and value[queue[tail - 1]] <= value[at]:
                tail -= 1
            queue[tail] = at
            tail += 1
            at += 1
        while head < tail and goes(tables, events, view, room.event[queue[head]], event):
            head += 1
        room.head[view] = head
        room.tail[view] = tail
        if head < tail:
            best = queue[head]
    room.shown[view] = at
    return best


@inline
def all_shown(tables, events, room, view, event):
    """Move a view that does not show neighbours to an event: the first entry that it shows, and one past it.

    The parameters are those of `latest_shown`, which leaves `gone` as it is.
    """
    used = room.used[tables.view_state[view]]
    at = room.shown[view]
    while at < used and comes(tables, events, view, room.event[at], event):
        at += 1
    gone = room.gone[view]
    while gone < at and goes(tables, events, view, room.event[gone], event):
        gone += 1
    room.shown[view] = at
    room.gone[view] = gone
    return gone, at


@inline
def follows(tables, events, view, entered, event):
    """Whether an event follows another one right away, as a view of neighbours asks."""
    shown = events.places[entered] + 1 == events.places[event]
    if shown and tables.view_timed[view]:
        gap = events.times[event] - events.times[entered]
        inside = gap >= tables.view_low[view] and gap <= tables.view_high[view]
        shown = inside or (gap != gap and tables.view_loose[view] != 0)
    return shown


@inline
def neighbour(tables, events, room, view, first, event):
    """The entry that a view of neighbours shows at an event, or -1.

    The parameters are those of `latest_shown`; `first` is the first entry of the segment in the view's state.
    """
    last = room.used[tables.view_state[view]] - 1
    return last if last >= first and follows(tables, events, view, room.event[last], event) else -1
