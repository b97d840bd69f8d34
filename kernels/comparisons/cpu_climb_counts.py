"""How many maximal chains MAX leaves at each hit: sums over covers (`cpu_climbs`).

A window takes covers away and adds none, as what lies between two events of a window is in the window too. So
the numbers of maximal chains are sums over covers, made once for all events; only where a chain of a hit
begins before the window are they summed again, over the covers in the window.
"""

from typing import NamedTuple

import numpy as np

from ..jit import OFTEN, go_on, jit
from .contract import LARGEST
from .cpu_climbs import begin_covers, next_cover

DONE, COVERS_FULL = range(2)

MOST_COVERS = 1 << 26
"""Where there are more covers than this, they are not listed, but found again whenever they are needed."""

DOUBTFUL = float(LARGEST // 2)
"""A number that may be this large or larger is counted with Python's integers."""


class ListedCovers(NamedTuple):
    """The covers of each event.

    =======  ========================  ===================================================================
    `first`  int64 [rows + 1] or [0]   row r has the covers first[r] .. first[r + 1] - 1, the newest first
    `event`  int32 [covers]
    =======  ========================  ===================================================================
    """

    first: np.ndarray
    event: np.ndarray


class ClimbRoom(NamedTuple):
    """Numbers of maximal chains.

    ==========  =====================  ===========================================================
    `sums`      int64 [rows, n]        how many chains of k + 1 events end at each event (the last: and more)
    `near`      float64 [rows, n]      the same, rounded
    `earliest`  int64 [rows]           the earliest start of a chain that ends at each event
    `ways`      int64 [longest, n]     scratch: zeros, for the events of a window
    `about`     float64 [longest, n]   scratch: zeros
    ==========  =====================  ===========================================================
    """

    sums: np.ndarray
    near: np.ndarray
    earliest: np.ndarray
    ways: np.ndarray
    about: np.ndarray


@jit
def _sums(tables, events, segments, arranged, traced, climb, sums, near, earliest, path, halt):
    """Write of all events how many maximal chains end there, whatever window they fall in.

    ==========  ======================  =================================================================
    `tables`    ComparedTables          in
    `events`    PairedEvents            in
    `segments`  ComparedSegments        in
    `arranged`  Arranged                in
    `traced`    Traced                  in
    `climb`     Climb                   in
    `sums`      int64 [rows, n]         out: of k + 1 events and more
    `near`      float64 [rows, n]       out: about as many
    `earliest`  int64 [rows]            out: the earliest start of one
    `path`      int64 [1, 5]            scratch
    `halt`      uint8 [1]               in: see `jit`
    ==========  ======================  =================================================================
    """
    least = climb.group.shape[1]
    for g in range(segments.begin.shape[0]):
        begin = segments.begin[g]
        base = segments.base[g]
        for i in range(begin, segments.stop[g]):
            if i % OFTEN == 0 and halt[0]:
                return 0
            at = base + i - begin
            for k in range(least):
                sums[at, k] = 0
                near[at, k] = 0
            earliest[at] = i
            if climb.group[events.symbols[i], 0] < 0:
                continue
            begin_covers(tables, events, segments, arranged, traced, climb, g, i, path, 0)
            found = next_cover(tables, events, segments, arranged, traced, climb, g, begin, path, 0)
            if found < 0:
                sums[at, 0] = 1
                near[at, 0] = 1
            while found >= 0:
                other = base + found - begin
                for k in range(least):
                    sums[at, k] += sums[other, max(k - 1, 0)]
                    near[at, k] += near[other, max(k - 1, 0)]
                earliest[at] = min(earliest[at], earliest[other])
                found = next_cover(tables, events, segments, arranged, traced, climb, g, begin, path, 0)
    return 1


@jit
def listed_cover(covers, row, place, lowest):
    """The cover at a place of an event's list, or -1 where the list has none there from `lowest` on."""
    if place == covers.first[row + 1] or covers.event[place] < lowest:
        return -1
    return covers.event[place]


@jit
def _list_covers(tables, events, segments, arranged, traced, climb, longest, covers, path, progress, halt):
    """List the covers of all events from `progress[0]` on, the newest first: the status.

    ==========  ==================  ====================================================
    `tables`    ComparedTables      in
    `events`    PairedEvents        in
    `segments`  ComparedSegments    in
    `arranged`  Arranged            in
    `traced`    Traced              in
    `climb`     Climb               in
    `longest`   int                 in: how many events before covers are at most
    `covers`    ListedCovers        out
    `path`      int64 [1, 5]        scratch
    `progress`  int64 [2]           in/out: segments and covers that are done; zeros at first
    `halt`      uint8 [1]           in: see `jit`
    ==========  ==================  ====================================================
    """
    covers.first[0] = 0
    while progress[0] < segments.begin.shape[0]:
        g = progress[0]
        n = progress[1]
        begin = segments.begin[g]
        for i in range(begin, segments.stop[g]):
            if i % OFTEN == 0 and halt[0]:
                return DONE
            if climb.group[events.symbols[i], 0] >= 0:
                lowest = max(begin, i - longest)
                begin_covers(tables, events, segments, arranged, traced, climb, g, i, path, 0)
                found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
                while found >= 0:
                    if n == covers.event.shape[0]:
                        return COVERS_FULL
                    covers.event[n] = found
                    n += 1
                    found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
            covers.first[segments.base[g] + i - begin + 1] = n
        progress[0] = g + 1
        progress[1] = n
    return DONE


@jit
def _count(tables, events, segments, arranged, traced, climb, covers, hits, room, path, out, halt):
    """Write how many maximal chains end at each hit, -1 where the number may not fit.

    ==========  ==================  ==============================================================
    `tables`    ComparedTables      in
    `events`    PairedEvents        in
    `segments`  ComparedSegments    in
    `arranged`  Arranged            in
    `traced`    Traced              in
    `climb`     Climb               in
    `covers`    ListedCovers        in: of all events, or of none
    `hits`      ClimbedHits         in
    `room`      ClimbRoom           in: sums over all events; scratch
    `path`      int64 [1, 5]        scratch
    `out`       int64 [hits]        out
    `halt`      uint8 [1]           in: see `jit`
    ==========  ==================  ==============================================================
    """
    least = climb.group.shape[1]
    ways = room.ways
    about = room.about
    listed = covers.first.shape[0] > 0
    for h in range(hits.event.shape[0]):
        if h % OFTEN == 0 and halt[0]:
            return 0
        g = hits.segment[h]
        begin = segments.begin[g]
        base = segments.base[g]
        end = hits.event[h]
        lowest = max(hits.lowest[h], begin)
        at = base + end - begin
        if room.earliest[at] >= lowest:
            fits = room.near[at, least - 1] < DOUBTFUL
            out[h] = room.sums[at, least - 1] if fits else -1
            continue
        # From the end back: in how many ways chains of so many events so far lead to each event.
        for k in range(least):
            ways[end - lowest, k] = 0
            about[end - lowest, k] = 0
        ways[end - lowest, 0] = 1
        about[end - lowest, 0] = 1
        number = 0
        guess = 0.0
        for i in range(end, lowest - 1, -1):
            there = 0.0
            for k in range(least):
                there += about[i - lowest, k]
            if there == 0.0:
                continue
            place = covers.first[base + i - begin] if listed else 0
            if listed:
                found = listed_cover(covers, base + i - begin, place, lowest)
            else:
                begin_covers(tables, events, segments, arranged, traced, climb, g, i, path, 0)
                found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
            if found < 0:
                number += ways[i - lowest, least - 1]
                guess += about[i - lowest, least - 1]
            while found >= 0:
                for k in range(least):
                    onward = min(k + 1, least - 1)
                    ways[found - lowest, onward] += ways[i - lowest, k]
                    about[found - lowest, onward] += about[i - lowest, k]
                place += 1
                if listed:
                    found = listed_cover(covers, base + i - begin, place, lowest)
                else:
                    found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
            for k in range(least):
                ways[i - lowest, k] = 0
                about[i - lowest, k] = 0
        out[h] = number if guess < DOUBTFUL else -1
    return 1


def climbs_counted(tables, events, segments, arranged, traced, climb, hits):
    """How many maximal chains end at each hit: int64, or Python integers where some do not fit.

    Parameters
    ----------
    tables : ComparedTables
    events : PairedEvents
    segments : ComparedSegments
    arranged : Arranged
    traced : Traced
    climb : Climb
    hits : ClimbedHits
    """
    rows, least = int(segments.base[-1]), climb.group.shape[1]
    longest = int((hits.event - hits.lowest).max(initial=0)) + 1
    room = ClimbRoom(
        np.empty((rows, least), np.int64),
        np.empty((rows, least)),
        np.empty(rows, np.int64),
        np.zeros((longest, least), np.int64),
        np.zeros((longest, least)),
    )
    path = np.empty((1, 5), np.int64)
    number = np.empty(len(hits.event), np.int64)
    parts = tables, events, segments, arranged, traced, climb
    _sums(*parts, room.sums, room.near, room.earliest, path)
    begin = segments.begin[hits.segment]
    bound = (room.earliest[segments.base[hits.segment] + hits.event - begin] < hits.lowest).any()
    _count(*parts, _listed(parts, longest if bound else 0), hits, room, path, number)
    doubtful = np.flatnonzero(number < 0)
    if not len(doubtful):
        return number
    exact = number.astype(object)
    for h in doubtful.tolist():
        exact[h] = _exactly(*parts, int(hits.segment[h]), int(hits.event[h]), int(hits.lowest[h]))
    return exact


def _listed(parts, longest):
    """The covers of all events at most `longest` before them, if any: `ListedCovers`."""
    rows = int(parts[2].base[-1])
    covers = ListedCovers(np.empty(rows + 1, np.int64), np.empty(8 * rows + 64, np.int32))
    path, progress = np.empty((1, 5), np.int64), np.zeros(2, np.int64)
    while longest and len(covers.event) <= MOST_COVERS:
        if _list_covers(*parts, longest, covers, path, progress) == DONE:
            return covers
        covers = covers._replace(event=np.append(covers.event, np.empty_like(covers.event)))
    return ListedCovers(np.empty(0, np.int64), np.empty(0, np.int32))


def _exactly(tables, events, segments, arranged, traced, climb, g, end, lowest):
    """How many maximal chains end at an event and start at `lowest` or later, as a Python integer."""
    least, lowest = climb.group.shape[1], max(lowest, int(segments.begin[g]))
    path = np.empty((1, 5), np.int64)
    ways = {end: [1] + [0] * (least - 1)}
    number = 0
    for i in range(end, lowest - 1, -1):
        here = ways.pop(i, None)
        if here is None:
            continue
        go_on()
        begin_covers(tables, events, segments, arranged, traced, climb, g, i, path, 0)
        found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
        if found < 0:
            number += here[-1]
        while found >= 0:
            there = ways.setdefault(int(found), [0] * least)
            for k, way in enumerate(here):
                there[min(k + 1, least - 1)] += way
            found = next_cover(tables, events, segments, arranged, traced, climb, g, lowest, path, 0)
    return number
