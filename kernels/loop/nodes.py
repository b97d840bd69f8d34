"""What the rooms of all indexes share that make nodes: their words, hits that are known, ends of streams.

Such a room has `words` and `ends` (where the links of each group of the event begin). Where its hits are
known, it has `nodes.root_first` and `hits`; on a stream every end has roots, and it has `bounds`.
"""

from ..jit import inline
from ..streams.cpu import least_start, note_end

HIT, LAST_HIT, LINKS, ROOTS, LACKS, LOW, LANE, CONSUMES, NODE_WORDS = range(9)
"""The first words of a room: the hit that comes next, one past the last hit of the segment; how many links
and roots there are; what there is no room for (a word that counts it), or -1; the least start that the event
admits. On streams: the lane of the event, and what an end consumes. `NODE_WORDS` is their number."""


@inline
def begin_hits(room, g):
    """Begin the hits of segment g."""
    words = room.words
    words[HIT] = room.hits.first[g]
    words[LAST_HIT] = room.hits.first[g + 1]
    room.nodes.root_first[words[HIT]] = words[ROOTS]


@inline
def at_hit(room, event):
    hit = room.words[HIT]
    return hit < room.words[LAST_HIT] and room.hits.event[hit] == event


@inline
def close_links(tables, room, group, place, event, own):
    room.ends[place + 1] = room.words[LINKS]


@inline
def note_roots(room, out, found, event, stop, own):
    if at_hit(room, event):
        room.words[HIT] += 1
        room.nodes.root_first[room.words[HIT]] = room.words[ROOTS]
        found += 1
    return found


KNOWN_HITS = {"close": close_links, "note": note_roots}
"""Roots are kept of hits that are known."""


@inline
def lowest_open(events, window, room, event, low):
    """Note the lane of an event of a stream, and give the least start that it admits."""
    words = room.words
    lane = 0
    if events.lanes.shape[0] > 0:
        lane = events.lanes[event]
    words[LANE] = lane
    words[LOW] = least_start(events, event, lane, window.size, room.bounds)
    return words[LOW]


@inline
def end_open(root_first, room, out, event, own):
    """Note an end of a stream, whose roots are those since the end before it."""
    words = room.words
    hit = words[HIT]
    words[HIT] = hit + 1
    root_first[hit + 1] = words[ROOTS]
    note_end(out, hit, event, words[LANE], words[LOW], own, room.bounds, words[CONSUMES])
