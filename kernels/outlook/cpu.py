"""Outlooks on the CPU: events are read once, in the order of the stream, whatever their lanes."""

from ..jit import SELDOM, inline, jit
from ..runs.contract import INTO, LEFT, RIGHT
from .contract import DEAD, ENDED, NOT_KEPT, UNASKED, WAITS


@inline
def _passed(waiting, at, value, decided, n):
    """Decide the event at the head of a queue, and those after it that were not asked; gives the new head."""
    waiting.value[at] = value
    decided[n] = at
    n += 1
    at = waiting.following[at]
    while at >= 0 and waiting.value[at] == WAITS + UNASKED:
        waiting.value[at] = 0
        decided[n] = at
        n += 1
        at = waiting.following[at]
    return at, n


@inline
def _heard(read, i):
    """What q reads of an event."""
    return read.renamed[i] if read.renamed.shape[0] > 0 else read.heard[read.symbols[i]]


@jit
def staying(symbols, kept, places):
    """Write the places of the events that are kept to `places` int64 [n]; `symbols` [n] and `kept` as in
    `OutlookEvents`. Gives their number."""
    n = 0
    for i in range(symbols.shape[0]):
        places[n] = i
        n += kept[symbols[i]] != NOT_KEPT
    return n


@jit
def become(symbols, bits, known):
    """Replace the symbols of events whose bits are known: `symbols` [n], `bits` uint8 [n]: in; `known`
    `KnownEvents`: out. Gives how many are left."""
    n = 0
    for i in range(symbols.shape[0]):
        after = known.becomes[symbols[i], bits[i]]
        known.symbols[n] = after
        known.places[n] = i
        n += after != 0
    return n


@inline
def own_events(read, share, strip, keeps):
    """Write down a thread's own events of a strip: `own` are their numbers, `spot` the events before each one
    in the strip that get a place, which with `keeps` are those that are kept, else those that q reads; (their
    number, how many of the strip get a place)."""
    count, place = 0, 0
    some = share.mask != 0
    for i in range(strip, min(strip + SELDOM, share.stop)):
        share.own[count] = i
        share.spot[count] = place
        if some:
            count += (read.lanes[i] >> share.shift) & share.mask == share.part
        else:
            count += 1
        if keeps:
            place += read.kept[read.symbols[i]] != NOT_KEPT
        else:
            place += _heard(read, i) != 0
    return count, place


@jit
def look_ahead(program, read, low, high, step, lanes, waiting, share, decided, halt):
    """Read further events, add those that are kept to those that wait, and decide all that can be decided.

    =========  =============  =============================================================================
    `program`  Program        in: of q, from `hits_program`
    `read`     OutlookEvents  in
    `low`      dtype of       in: the reach
    `high`     times
    `step`     dtype of       in: the least distance from the last event of a lane to its next one: 1 where
               times          places are measured, else 0
    `lanes`    AheadLanes     in/out
    `waiting`  Waiting        in/out, with room for the events that are kept
    `share`    OutlookShare   in: which events; those that are kept have places
    `decided`  int64 [room]   out: the events that were decided, by their places in `waiting`
    `halt`     uint8 [1]      in: see `jit`
    =========  =============  =============================================================================

    Gives how many were decided. In a lane they are decided in their order.
    """
    laned = read.lanes.shape[0] > 0
    carried, found = share.carried != 0, read.latest.shape[0] > 0
    accepted = program.zero + 1
    first, n, lane = share.place, 0, share.row
    for strip in range(share.start, share.stop, SELDOM):
        if halt[0]:
            break
        count, places = own_events(read, share, strip, True)
        for own in range(count):
            i = share.own[own]
            if laned:
                lane = read.lanes[i]
            now = read.times[i]
            at = lanes.head[lane]
            while at >= 0 and now - waiting.times[at] > high:
                at, n = _passed(waiting, at, 0, decided, n)
            symbol = 0 if found else _heard(read, i)
            latest = read.latest[i] if found else -1
            if symbol != 0:
                lanes.registers[lane, 0] = read.positions[i]
                for k in range(program.first[symbol], program.first[symbol + 1]):
                    one = lanes.registers[lane, program.moves[k, LEFT]]
                    other = lanes.registers[lane, program.moves[k, RIGHT]]
                    lanes.registers[lane, program.moves[k, INTO]] = one if one > other else other
                latest = lanes.registers[lane, accepted]
            if latest >= 0:
                while at >= 0 and waiting.positions[at] < latest and now - waiting.times[at] >= low:
                    at, n = _passed(waiting, at, 1, decided, n)
            kept = NOT_KEPT if carried else read.kept[read.symbols[i]]
            if kept != NOT_KEPT:
                place = first + share.spot[own]
                waiting.positions[place] = read.positions[i]
                waiting.times[place] = now
                if laned:
                    waiting.lanes[place] = lane
                waiting.following[place] = -1
                if at < 0 and kept == UNASKED:
                    waiting.value[place] = 0
                    decided[n] = place
                    n += 1
                else:
                    waiting.value[place] = WAITS + kept
                    if at < 0:
                        at = place
                    else:
                        waiting.following[lanes.tail[lane]] = place
                    lanes.tail[lane] = place
            while at >= 0 and now - waiting.times[at] > high - step:
                at, n = _passed(waiting, at, 0, decided, n)
            lanes.head[lane] = at
            if carried and at < 0:
                return n
        first += places
    return n


@jit
def time_passes(now, high, lanes, waiting, oldest, count, decided):
    """Decide events whose reach is over, because no event to come is before a time.

    `now` dtype of times: in, that time; `oldest` int64: in, an event before which none waits; `count` int64:
    in, how many there are; the others as for `look_ahead`. Gives how many were decided, and the new `oldest`.
    It ends at the first event whose reach is not over.
    """
    n = 0
    laned = waiting.lanes.shape[0] > 0
    while oldest < count:
        if waiting.value[oldest] >= WAITS:
            # What waits before it in its lane would be older: it is the head of its queue.
            if now < waiting.times[oldest] or now - waiting.times[oldest] <= high:
                break
            lane = waiting.lanes[oldest] if laned else 0
            lanes.head[lane], n = _passed(waiting, oldest, 0, decided, n)
        oldest += 1
    return n, oldest


@jit
def lanes_pass(some, now, high, lanes, waiting, decided):
    """As `time_passes`, for lanes each of which has its own time.

    `some` int64 [k]: in, lanes; `now` dtype of times [k]: in. Gives how many were decided.
    """
    n = 0
    for g in range(some.shape[0]):
        at = lanes.head[some[g]]
        while at >= 0 and now[g] >= waiting.times[at] and now[g] - waiting.times[at] > high:
            at, n = _passed(waiting, at, 0, decided, n)
        lanes.head[some[g]] = at
    return n


@inline
def _queued(following, lanes, lane, place):
    """Put a place at the end of the queue of a lane."""
    following[place] = -1
    if lanes.head[lane] < 0:
        lanes.head[lane] = place
    else:
        following[lanes.tail[lane]] = place
    lanes.tail[lane] = place


@jit
def relink(waiting, count, lanes):
    """Make the queues of the first `count` events again, of which some wait; on entry no lane has a queue."""
    laned = waiting.lanes.shape[0] > 0
    for place in range(count):
        if waiting.value[place] < WAITS:
            continue
        lane = waiting.lanes[place] if laned else 0
        _queued(waiting.following, lanes, lane, place)


@inline
def _root(parent, node):
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@inline
def _noted(lanes, lane, state, time):
    """Note a ripe start."""
    if not lanes.there[lane, state] or time > lanes.latest[lane, state]:
        lanes.there[lane, state] = 1
        lanes.latest[lane, state] = time


@jit
def look_behind(tables, read, low, high, lanes, starts, share, scratch, bits, halt):
    """Read further events, and decide what lies behind each event that is asked.

    =========  ==================  =======================================================================
    `tables`   TransitionTables    in: of q; one transition at most for a state and a symbol
    `read`     OutlookEvents       in
    `low`      dtype of times      in: the reach
    `high`     dtype of times
    `lanes`    BehindLanes         in/out
    `starts`   Unripe              in/out, with room for as many starts as q reads events, if `low` is not 0
    `share`    OutlookShare        in: which events; those that q reads have places
    `scratch`  BehindLanes         scratch, of one lane
    `bits`     uint8 [n]           out: of each of these events
    `halt`     uint8 [1]           in: see `jit`
    =========  ==================  =======================================================================

    Gives how many events q reads, from the first to the last of these.
    """
    laned = read.lanes.shape[0] > 0
    n_live = lanes.latest.shape[1]
    first, lane = share.place, share.row
    for strip in range(share.start, share.stop, SELDOM):
        if halt[0]:
            break
        number, places = own_events(read, share, strip, False)
        for own in range(number):
            i = share.own[own]
            if laned:
                lane = read.lanes[i]
            now = read.times[i]
            at = lanes.head[lane]
            while at >= 0 and now - starts.times[at] >= low:
                state = starts.state[_root(starts.parent, at)]
                if state != DEAD:
                    _noted(lanes, lane, 0 if state == ENDED else state, starts.times[at])
                at = starts.following[at]
            lanes.head[lane] = at
            bits[i] = 1 if lanes.there[lane, 0] != 0 and now - lanes.latest[lane, 0] <= high else 0
            symbol = _heard(read, i)
            if symbol == 0:
                continue
            for state in range(1, n_live):
                scratch.there[0, state] = 0
                scratch.root[0, state] = -1
            for t in range(tables.first[symbol], tables.first[symbol + 1]):
                source, target = tables.source[t], tables.target[t]
                ends = tables.accepting[t] != 0
                if source == 0:
                    if low == 0:
                        if ends:
                            scratch.there[0, 0] = 1
                        elif target >= 0:
                            _noted(scratch, 0, target, now)
                    elif ends or target >= 0:
                        count = first + share.spot[own]
                        starts.times[count] = now
                        starts.parent[count] = count
                        starts.state[count] = ENDED if ends else target
                        if not ends:
                            if scratch.root[0, target] < 0:
                                scratch.root[0, target] = count
                            else:
                                starts.parent[count] = scratch.root[0, target]
                        _queued(starts.following, lanes, lane, count)
                    continue
                if lanes.there[lane, source]:
                    if ends:
                        _noted(lanes, lane, 0, lanes.latest[lane, source])
                    elif target >= 0:
                        _noted(scratch, 0, target, lanes.latest[lane, source])
                root = lanes.root[lane, source]
                if root >= 0:
                    lanes.root[lane, source] = -1
                    if ends:
                        starts.state[root] = ENDED
                    elif target >= 0:
                        if scratch.root[0, target] < 0:
                            scratch.root[0, target] = root
                            starts.state[root] = target
                        else:
                            starts.parent[root] = scratch.root[0, target]
                    else:
                        starts.state[root] = DEAD
            if scratch.there[0, 0]:
                scratch.there[0, 0] = 0
                _noted(lanes, lane, 0, now)
            for state in range(1, n_live):
                if lanes.root[lane, state] >= 0:
                    starts.state[lanes.root[lane, state]] = DEAD
                lanes.root[lane, state] = scratch.root[0, state]
                lanes.there[lane, state] = scratch.there[0, state]
                lanes.latest[lane, state] = scratch.latest[0, state]
        first += places
    return first - share.place


@jit
def without_ripe(lanes, starts, into):
    """Copy the starts that are not ripe, but not dead ones, to other arrays; gives their number."""
    n_live = lanes.root.shape[1]
    count = 0
    for lane in range(lanes.head.shape[0]):
        at = lanes.head[lane]
        lanes.head[lane] = -1
        for state in range(n_live):
            lanes.root[lane, state] = -1
        while at >= 0:
            state = starts.state[_root(starts.parent, at)]
            if state != DEAD:
                into.times[count] = starts.times[at]
                into.parent[count] = count
                into.state[count] = state
                if state != ENDED:
                    if lanes.root[lane, state] < 0:
                        lanes.root[lane, state] = count
                    else:
                        into.parent[count] = lanes.root[lane, state]
                _queued(into.following, lanes, lane, count)
                count += 1
            at = starts.following[at]
    return count
