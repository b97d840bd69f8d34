"""Which nodes of the structure of automata with one clock are still needed once events are dropped.

A node is needed if a list reaches it by a path that later checks may admit: the walk carries the least stamp
that the checks on the path leave. Node 0 is dead: it takes the place of children that are dropped.
"""

from ..forest.cpu_stream import BLOCK, CAPACITY, STATES
from ..jit import inline, jit
from .contract import BOTTOM, CHECK, LABEL, LATEST, LEFT, NO_CHECK, RANK, RESET, RIGHT, STAMP, UNION

UNREACHED = 2**62

HOLDERS = 2**56
"""More than there are nodes, and less than `UNREACHED` less any stamp."""


@inline
def _touch(arena, floor, node, least):
    if node > 0 and arena[node, STAMP] >= least:
        floor[node] = min(floor[node], least)


@jit
def write_dead(arena, node, stamp):
    """Write a node without runs, in the place of one whose runs are over."""
    arena[node, LABEL] = BOTTOM
    arena[node, LEFT] = -1
    arena[node, RIGHT] = -1
    arena[node, LATEST] = -1
    arena[node, STAMP] = stamp
    arena[node, RANK] = 1


@jit
def mark(tables, arena, count, lists, lanes, serial, floor):
    """Find for each node the least stamp that later checks may still admit of it.

    ==========  =========================  =====================================================
    `tables`    ClockTables                in
    `arena`     int64 [nodes, COLUMNS]     in: of which `count` are in use
    `lists`     PackedLists                in
    `lanes`     ClockedLanes               in
    `serial`    int64 [events]             in
    `floor`     int64 [count]              out; `UNREACHED` for a node that is not needed
    ==========  =========================  =====================================================
    """
    for node in range(count):
        floor[node] = UNREACHED
    for lane in range(lists.where.shape[0]):
        at = lists.where[lane]
        if at < 0:
            continue
        start = at + BLOCK
        for _ in range(lists.pool[at + STATES]):
            least = NO_CHECK
            useful = tables.useful[lists.pool[start]]
            if useful >= 0:
                least = serial[lanes.near[lane, useful]]
            for k in range(lists.pool[start + 1]):
                _touch(arena, floor, lists.pool[start + 3 + k], least)
            start += 3 + lists.pool[start + 1]
    for node in range(count - 1, 0, -1):
        least = floor[node]
        label = arena[node, LABEL]
        if least == UNREACHED or label == BOTTOM:
            continue
        if label == RESET:
            least = NO_CHECK
        elif label == CHECK:
            least = max(least, arena[node, RIGHT])
        elif label == UNION:
            _touch(arena, floor, arena[node, RIGHT], least)
        _touch(arena, floor, arena[node, LEFT], least)


@jit
def first_needed(arena, count, floor, lanes, bounds, low):
    """Lower `low`, int64 [lanes], to the first event of each lane that a needed node has.

    `lanes` int32 [events] or [0] in; `bounds` LaneBounds in: nodes whose starts all lie before it are over.
    """
    laned = lanes.shape[0] > 0
    for node in range(1, count):
        if floor[node] == UNREACHED or arena[node, LATEST] < 0:
            continue
        label = arena[node, LABEL]
        if label != BOTTOM and label < 0:
            continue
        lane = 0
        if laned:
            lane = lanes[arena[node, RIGHT]]
        if arena[node, LATEST] >= max(bounds.low[lane], bounds.least[lane], bounds.all[0]):
            low[lane] = min(low[lane], arena[node, RIGHT])


@inline
def _dropped(stamp):
    """What is noted of a node that is dropped, until another node holds its place: less than any number."""
    return stamp - UNREACHED


@inline
def _holder(place_of, node, nodes, count):
    """The number of the node without runs that holds the place of a dropped one, made at `count` at first."""
    if place_of[node] < -HOLDERS:
        write_dead(nodes, count, place_of[node] + UNREACHED)
        place_of[node] = -count
    return -place_of[node]


@jit
def kept_nodes(arena, count, floor, is_open, place, kept):
    """Copy the nodes that are needed; gives how many there are then.

    ===========  ===========================  ==============================================================
    `arena`      int64 [capacity, COLUMNS]    in: of which `count` nodes are in use
    `floor`      int64 [count]                in: of `mark`; out: the new number of each node; for one that is
                                              dropped `_dropped`, or less 0 the number of its `_holder`
    `is_open`    uint8 [events]               in: of `streams.cpu.mark_open`
    `place`      int64 [events]               in: the new number of each event that is kept
    `kept`       int64 [nodes, COLUMNS]       out: room for `count` nodes; may be `arena` itself, as no node
                                              comes to lie behind its old place: each that is dropped has
                                              one holder at most
    ===========  ===========================  ==============================================================
    """
    write_dead(kept, 0, NO_CHECK - 1)
    floor[0] = 0
    n = 1
    for node in range(1, count):
        latest = arena[node, LATEST]
        stamp = arena[node, STAMP]
        needed = floor[node] != UNREACHED
        floor[node] = _dropped(stamp)
        if not needed or latest < 0 or is_open[latest] == 0:
            continue
        label = arena[node, LABEL]
        left = arena[node, LEFT]
        right = arena[node, RIGHT]
        rank = arena[node, RANK]
        latest = place[latest]
        if label == BOTTOM or label > 0:
            right = place[right]
        elif label == UNION:
            right = max(floor[right], 0)
        if label != BOTTOM:
            old = left
            left = max(floor[old], 0)
            latest = kept[left, LATEST]
            if label == UNION:
                latest = max(latest, kept[right, LATEST])
        if latest < 0:
            continue
        if label == UNION and left == 0:
            # What is over keeps its stamp: the union is as it was, but for its runs.
            left = _holder(floor, old, kept, n)
            n += left == n
        kept[n, LABEL] = label
        kept[n, LEFT] = left
        kept[n, RIGHT] = right
        kept[n, LATEST] = latest
        kept[n, STAMP] = stamp
        kept[n, RANK] = rank
        floor[node] = n
        n += 1
    return n


@jit
def kept_lists(place_of, where, pool, kept, nodes, count):
    """Copy the packed lists of lanes without the nodes that were dropped.

    `place_of` int64 in/out: the `floor` of `kept_nodes` after it; `where`, `pool` PackedLists, the former
    in/out; `kept` int64 [words of the pool] out; `nodes` int64 [room, COLUMNS] in/out: the kept nodes, so
    many, to which those are added that hold the first place of a list. Gives how many words the lists take,
    and how many nodes there are then.
    """
    used = 0
    for lane in range(where.shape[0]):
        at = where[lane]
        if at < 0:
            continue
        states = 0
        start = at + BLOCK
        to = used + BLOCK
        for _ in range(pool[at + STATES]):
            length = pool[start + 1]
            left = 0
            for k in range(length):
                node = max(place_of[pool[start + 3 + k]], 0)
                if node > 0 or k == 0:
                    kept[to + 3 + left] = node
                    left += 1
            if left == 1 and kept[to + 3] == 0:
                left = 0
            if left > 0:
                if kept[to + 3] == 0:
                    kept[to + 3] = _holder(place_of, pool[start + 3], nodes, count)
                    count += kept[to + 3] == count
                kept[to] = pool[start]
                kept[to + 1] = left
                kept[to + 2] = -1
                to += 3 + left
                states += 1
            start += 3 + length
        where[lane] = -1
        if states > 0:
            where[lane] = used
            kept[used + CAPACITY] = to - used
            kept[used + STATES] = states
            used = to
    return used, count


@jit
def relinked(is_open, place, first, lanes, near, last):
    """Number again what is kept of lanes, once events are dropped.

    `is_open`, `place` of `kept_nodes` in; `first` int64 [lanes] in: the first event of each lane that is
    kept, by its new number, -1 for none; `lanes` int64 [k, 2] in: old and new numbers; `near` and `last` of
    ClockedLanes in/out, by the old numbers.
    """
    for k in range(lanes.shape[0]):
        lane = lanes[k, 0]
        for c in range(near.shape[1]):
            event = near[lane, c]
            if event >= 0:
                near[lane, c] = place[event] if is_open[event] else first[lanes[k, 1]]
        event = last[lane]
        if event >= 0:
            last[lane] = place[event] if is_open[event] else -1


@jit
def linked(lanes, count, following, first):
    """Link `count` events to the next of their lane.

    `lanes` int32 [events] or [0] in; `following` int64 [events] out: -1 for none; `first` int64 [lanes]
    in/out: -1 at first, then the first event of each lane.
    """
    laned = lanes.shape[0] > 0
    for back in range(count):
        event = count - 1 - back
        lane = 0
        if laned:
            lane = lanes[event]
        following[event] = first[lane]
        first[lane] = event
