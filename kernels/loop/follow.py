"""The loop of automata: an event reads earlier entries, and writes entries of its own.

The symbol of an event says which **groups** it enters. A run may start in a group, and the group reads the
entries of earlier events through its **views**. What differs is which entries a view shows (the **index**:
those inside a gap, those with a lesser value) and what is asked of their runs (the **product**: the latest
start, how many there are, the nodes that enumeration walks). `jit.composed` closes the loop over the
pieces of an index and a product:

===================================================  ========================================================
`begin(tables, segments, room, g)`                   begin segment g: the room has no entries
`ready(tables, room, event, symbol)`                 an event comes; whether there is room for what it enters
`lowest(events, window, room, event, low)`           the least start that an end at an event admits
`read(tables, events, room, view, event, low, own)`  `own` with the runs that a view shows at an event
`close(tables, room, group, place, event, own)`      all views of the group at a place have been read
`keep(tables, events, room, group, place, event, own)`  write the entries of a group
`finish(tables, events, segments, room, g)`          end segment g
`none()`                                             no run
`start(tables, room, event, stop)`                   a run that starts at an event
`plus(own, other)`                                   the runs of both
`times(own, other)`                                  runs made of one of each, for an index that gathers runs
`admitted(own, low)`                                 those that start at `low` or later, if that is known
`note(room, out, found, event, stop, own)`           runs that end at an event; gives how many ends there are
===================================================  ========================================================
"""

# The pieces are put in by `composed`.
# ruff: noqa: F821

from ..jit import SELDOM

SEGMENT, NEXT, LOW, FOUND, FULL, WORDS = range(6)
"""Words of `progress`: the segment, one more than the event that comes next in it (0: it is not begun), the
least start that its window admits, the ends found so far, 1 where the room is full; and how many words."""


def follow(tables, events, window, segments, room, entered, out, progress, halt):
    """Follow all runs of segments; gives how many ends there are.

    ===========  ==================  ====================================================================
    `tables`     NamedTuple          in: `first`, `group_state`, `group_starts`, `read_first`, `read_view`,
                                     `accepting`, and what the index reads
    `events`     NamedTuple          in: `symbols`, and what the index reads
    `window`     MeasuredWindow      in
    `segments`   NamedTuple          in: `begin`, `report`, `stop`, and what the index reads
    `room`       NamedTuple          in/out: of the index and the product
    `entered`    int64 [groups]      scratch: as many as a symbol has
    `out`        FoundEnds           out
    `progress`   int64 [WORDS]       in/out: zeros at first
    `halt`       uint8 [1] or [0]    in: see `jit`
    ===========  ==================  ====================================================================

    Where the room is full, the host enlarges it and calls again with everything else as it is.
    """
    found = progress[FOUND]
    for g in range(progress[SEGMENT], segments.begin.shape[0]):
        stop = segments.stop[g]
        report = segments.report[g]
        event = segments.begin[g]
        low = event
        if progress[NEXT] > 0:
            event = progress[NEXT] - 1
            low = progress[LOW]
        else:
            begin(tables, segments, room, g)
        for i in range(event, stop):
            if i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
                return found
            symbol = events.symbols[i]
            if not ready(tables, room, i, symbol):
                progress[SEGMENT] = g
                progress[NEXT] = i + 1
                progress[LOW] = low
                progress[FOUND] = found
                progress[FULL] = 1
                return found
            low = lowest(events, window, room, i, low)
            first = tables.first[symbol]
            last = tables.first[symbol + 1]
            best = none()
            for group in range(first, last):
                own = none()
                if tables.group_starts[group]:
                    own = start(tables, room, i, stop)
                for k in range(tables.read_first[group], tables.read_first[group + 1]):
                    own = read(tables, events, room, tables.read_view[k], i, low, own)
                own = admitted(own, low)
                close(tables, room, group, group - first, i, own)
                entered[group - first] = own
                if tables.accepting[tables.group_state[group]]:
                    best = plus(best, own)
            for group in range(first, last):
                own = entered[group - first]
                if own != none():
                    keep(tables, events, room, group, group - first, i, own)
            if i >= report and best != none():
                found = note(room, out, found, i, stop, best)
        finish(tables, events, segments, room, g)
        progress[NEXT] = 0
    progress[SEGMENT] = segments.begin.shape[0]
    progress[FOUND] = found
    progress[FULL] = 0
    return found
