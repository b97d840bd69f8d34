"""What NEXT or LAST leaves at each end of a stream: the two stacks of `cpu`, kept from one call to the next.

Each lane has a back part, with a row for every event between the least start and the middle, and a front
part, which grows with every event. When the least start has passed the middle, nothing of the lane is kept
until an event may end a complex event; then a new back part is made from the events that the window still
admits. So on average each event is looked at once in a front part and once in a back part.
"""

from typing import NamedTuple

import numpy as np

from ..jit import inline, jit
from ..streams.cpu import least_start
from .contract import ARENA_FULL, DONE, HIT, NEXT, NODES, SEGMENT, USED
from .cpu import advance, identity

AT, NEEDED = SEGMENT, NODES
"""Words of `progress`: the next event; how many nodes there has to be room for, where the arena was full."""

OWN_FULL = 3

STALE = -1
"""`middle` of a lane of which nothing is kept."""


class OpenPaths(NamedTuple):
    """The best paths of the lanes of a stream.

    ============  ========================  ===========================================================
    `rank`        int32 [lanes, n, n]       the front part of each lane, as `PathMatrices` has it: n is
    `node`        int64 [lanes, n, n]       n_live
    `start`       int64 [lanes, n, n]
    `levels`      int64 [lanes]             the number of ranks of the front part
    `middle`      int64 [lanes]             its first event; `STALE` where nothing is kept
    `back_rank`   int32 [events, n]         the back part from each event before the middle on, to the
    `back_node`   int64 [events, n]         open end 0
    `back_start`  int64 [events, n]
    `own`         int64 [room]              scratch: events of a lane
    ============  ========================  ===========================================================
    """

    rank: np.ndarray
    node: np.ndarray
    start: np.ndarray
    levels: np.ndarray
    middle: np.ndarray
    back_rank: np.ndarray
    back_node: np.ndarray
    back_start: np.ndarray
    own: np.ndarray


@inline
def _keep_front(lane, side, levels, matrices, paths_of):
    """Put the front part away that was made in `matrices`."""
    n = matrices.key.shape[0]
    for x in range(n):
        for c in range(n):
            there = matrices.rank[side, x, c] >= 0
            paths_of.rank[lane, x, c] = matrices.rank[side, x, c]
            paths_of.node[lane, x, c] = matrices.node[side, x, c] if there else -1
            paths_of.start[lane, x, c] = matrices.start[side, x, c] if there else -1
    paths_of.levels[lane] = levels


@jit
def _turn(tables, events, lane, low, event, latest, paths_of, matrices, paths, progress):
    """Make the back part of a lane again, from its event `low` to the one before `event`.

    Gives `DONE`, or which array is full.
    """
    n = matrices.key.shape[0]
    laned = events.lanes.shape[0] > 0
    count = event - low
    if laned:
        count = 0
        i = low
        while i != event:
            if count == paths_of.own.shape[0]:
                return OWN_FULL
            paths_of.own[count] = i
            count += 1
            i = events.following[i]
    if progress[USED] + (count + 1) * n * n > paths.arena.shape[0]:
        progress[NEEDED] = (count + 1) * n * n
        return ARENA_FULL
    side = 0
    steps = tables.source, tables.target, tables.label
    levels = identity(side, matrices)
    for k in range(count - 1, -1, -1):
        i = low + k
        if laned:
            i = paths_of.own[k]
        symbol = events.symbols[i]
        t0, t1 = tables.first[symbol], tables.first[symbol + 1]
        levels = advance(steps, False, t0, t1, i, not latest, side, levels, matrices, paths.arena, progress)
        side = 1 - side
        for x in range(n):
            there = matrices.rank[side, x, 0] >= 0
            paths_of.back_rank[i, x] = matrices.rank[side, x, 0]
            paths_of.back_node[i, x] = matrices.node[side, x, 0] if there else -1
            paths_of.back_start[i, x] = matrices.start[side, x, 0] if there else -1
    levels = identity(side, matrices)
    _keep_front(lane, side, levels, matrices, paths_of)
    paths_of.middle[lane] = event
    return DONE


@jit
def _choose(tables, symbol, event, lane, low, latest, paths_of, paths, hit):
    """The best complex event that ends at an event; whether there is one."""
    n = paths_of.rank.shape[1]
    best = -1
    levels = paths_of.levels[lane]
    before = low < paths_of.middle[lane]
    for t in range(tables.first[symbol], tables.first[symbol + 1]):
        if not tables.accepting[t]:
            continue
        p = tables.source[t]
        mark = 1 if tables.label[t] != 0 else 0
        for x in range(n):
            front = paths_of.rank[lane, x, p]
            back = paths_of.back_rank[low, x] if before else -x
            if front < 0 or back < 0:
                continue
            value = (back * levels + front) * 2 + mark
            if latest:
                value = (mark * levels + front) * (n * n) + back
            if value <= best:
                continue
            best = value
            paths.label[hit] = tables.label[t]
            paths.late[hit] = paths_of.node[lane, x, p]
            paths.early[hit] = paths_of.back_node[low, x] if before else -1
            if x != 0:
                paths.start[hit] = paths_of.back_start[low, x]
            else:
                paths.start[hit] = event if p == 0 else paths_of.start[lane, x, p]
    return best >= 0


@jit
def follow(tables, events, stop, window, latest, bounds, paths_of, matrices, paths, ends, progress):
    """Find what is left at each end of the next events of a stream: `DONE`, or which array is full.

    ============  =====================  =================================================================
    `tables`      TransitionTables       in: no two complex events with one end have the same marks
    `events`      StreamEvents           in; `following` in/out
    `stop`        int64                  in: one past the last event
    `window`      StreamWindow           in: nothing is consumed
    `latest`      bool                   in: LAST in place of NEXT
    `bounds`      LaneBounds             in/out
    `paths_of`    OpenPaths              in/out
    `matrices`    PathMatrices           scratch
    `paths`       Paths                  in/out: `arena`, of which progress[USED] nodes are in use; out: the
                                         answers 0 .. progress[HIT] - 1
    `ends`        StreamEnds             out: the ends of these; `latest` is -1
    `progress`    int64 [WORDS]          in/out: the next event, and so on
    ============  =====================  =================================================================

    When an array is full, the host enlarges it and calls again with everything else as it is.
    """
    n = matrices.key.shape[0]
    steps = tables.source, tables.target, tables.label
    laned = events.lanes.shape[0] > 0
    while progress[AT] < stop:
        event = progress[AT]
        lane = 0
        if laned:
            lane = events.lanes[event]
        symbol = events.symbols[event]
        if progress[USED] + n * n > paths.arena.shape[0]:
            progress[NEEDED] = n * n
            return ARENA_FULL
        if bounds.last[lane] != event:  # else it has been found before an array was full
            least_start(events, event, lane, window.size, bounds)
        low = bounds.low[lane]
        ends_here = False
        for t in range(tables.first[symbol], tables.first[symbol + 1]):
            ends_here = ends_here or tables.accepting[t] != 0
        if low > paths_of.middle[lane]:
            paths_of.middle[lane] = STALE
            if ends_here:
                status = _turn(tables, events, lane, low, event, latest, paths_of, matrices, paths, progress)
                if status != DONE:
                    return status
        hit = progress[HIT]
        if ends_here and _choose(tables, symbol, event, lane, low, latest, paths_of, paths, hit):
            ends.event[hit] = event
            ends.lowest[hit] = low
            ends.latest[hit] = -1
            progress[HIT] = hit + 1
        if paths_of.middle[lane] != STALE:
            for x in range(n):
                for c in range(n):
                    matrices.rank[0, x, c] = paths_of.rank[lane, x, c]
                    matrices.node[0, x, c] = paths_of.node[lane, x, c]
                    matrices.start[0, x, c] = paths_of.start[lane, x, c]
            levels = paths_of.levels[lane]
            t0, t1 = tables.first[symbol], tables.first[symbol + 1]
            levels = advance(steps, True, t0, t1, event, latest, 0, levels, matrices, paths.arena, progress)
            _keep_front(lane, 1, levels, matrices, paths_of)
        progress[AT] = event + 1
    return DONE


@inline
def _reach(reached, node):
    if node >= 0:
        reached[node] = 1


@jit
def mark_nodes(events, count, bounds, paths_of, paths, progress, reached):
    """Mark the nodes that the lanes and the answers of the push use; a lane whose middle has left is stale.

    `events` StreamEvents, of which `count` have been followed, `bounds` LaneBounds, `paths` Paths,
    `progress`: in; `paths_of` OpenPaths in/out; `reached` uint8 [progress[USED]] out.
    """
    n = paths_of.rank.shape[1]
    for node in range(progress[USED]):
        reached[node] = 0
    for lane in range(min(paths_of.middle.shape[0], bounds.low.shape[0])):
        if paths_of.middle[lane] < bounds.low[lane]:
            paths_of.middle[lane] = STALE
        if paths_of.middle[lane] != STALE:
            for x in range(n):
                for c in range(n):
                    if paths_of.rank[lane, x, c] >= 0:
                        _reach(reached, paths_of.node[lane, x, c])
    for event in range(count):
        lane = 0
        if events.lanes.shape[0] > 0:
            lane = events.lanes[event]
        if bounds.low[lane] <= event < paths_of.middle[lane]:
            for x in range(n):
                if paths_of.back_rank[event, x] >= 0:
                    _reach(reached, paths_of.back_node[event, x])
    for hit in range(progress[HIT]):
        _reach(reached, paths.early[hit])
        _reach(reached, paths.late[hit])
    for node in range(progress[USED] - 1, -1, -1):
        if reached[node] != 0:
            _reach(reached, paths.arena[node, NEXT])
