"""The index of gaps: a view shows the entries of a state whose gap to the event lies in an interval.

Times do not fall in a segment, so these are neighbouring entries, and both ends of them only move forward:
amortised constant time for each event and view.
"""

from typing import NamedTuple

import numpy as np

from ..jit import inline
from ..runs.contract import SegmentHits
from .contract import NEIGHBOUR, EntryRoom, StepNodes
from .nodes import HIT, KNOWN_HITS, LINKS, ROOTS, at_hit, begin_hits
from .products import BATCH, both
from .sums import add_runs, runs_between
from .views import all_shown, begin_segment, latest_shown, neighbour


@inline
def begin_entries(tables, segments, room, g):
    begin_segment(tables, room, True)


@inline
def read_latest(tables, events, room, view, event, low, own):
    if tables.view_near[view] == NEIGHBOUR:
        entry = neighbour(tables, events, room, view, room.gone[view], event)
    else:
        entry = latest_shown(tables, events, room, view, event)
    if entry >= 0 and room.value[entry] > own:
        own = room.value[entry]
    return own


@inline
def keep_entry(tables, events, room, group, place, event, own):
    state = tables.group_state[group]
    if room.kept[state]:
        at = room.used[state]
        room.event[at] = event
        room.value[at] = own
        room.used[state] = at + 1


LATEST_IN_GAPS = BATCH | {"begin": begin_entries, "read": read_latest, "keep": keep_entry}
"""Entries hold the latest start, or the earliest; the room is an `EntryRoom`."""


class SumRoom(NamedTuple):
    """Entries that count their runs.

    =========  ==========================  ===============================================================
    `entries`  EntryRoom                   `value`, queues and their ends are not used
    `sums`     int64 [entries + states]    at e + q the runs of state q before entry e, below `MOST_RUNS`,
    `carries`  int32 [entries + states]    and how many times `MOST_RUNS` besides (`sums`)
    =========  ==========================  ===============================================================
    """

    entries: EntryRoom
    sums: np.ndarray
    carries: np.ndarray


@inline
def begin_sums(tables, segments, room, g):
    begin_segment(tables, room.entries, True)
    used = room.entries.used
    for state in range(used.shape[0]):
        room.sums[used[state] + state] = 0
        room.carries[used[state] + state] = 0


@inline
def read_sums(tables, events, room, view, event, low, own):
    entries = room.entries
    state = tables.view_state[view]
    if tables.view_near[view] == NEIGHBOUR:
        first = neighbour(tables, events, entries, view, entries.gone[view], event)
        last = first + 1 if first >= 0 else first
    else:
        first, last = all_shown(tables, events, entries, view, event)
    if first < last:
        own = both(own, runs_between(room.sums, room.carries, first + state, last + state))
    return own


@inline
def keep_sum(tables, events, room, group, place, event, own):
    entries = room.entries
    state = tables.group_state[group]
    if entries.kept[state]:
        at = entries.used[state]
        entries.event[at] = event
        entries.used[state] = at + 1
        add_runs(room.sums, room.carries, at + state, own)


COUNT_IN_GAPS = BATCH | {"begin": begin_sums, "read": read_sums, "keep": keep_sum}
"""The runs that a view shows are the difference of two prefix sums; the room is a `SumRoom`."""


class NodeRoom(NamedTuple):
    """Entries that are nodes of the structure.

    =========  =====================  =================================================================
    `entries`  EntryRoom              `event` and `value` are `event` and `latest` of the nodes
    `nodes`    StepNodes              out
    `hits`     SegmentHits            in: of each segment, ascending
    `words`    int64 [NODE_WORDS]     in/out: as `nodes` says; zeros at first
    `ends`     int64 [groups + 1]     where the links of each group of the event begin
    =========  =====================  =================================================================
    """

    entries: EntryRoom
    nodes: StepNodes
    hits: SegmentHits
    words: np.ndarray
    ends: np.ndarray


@inline
def begin_nodes(tables, segments, room, g):
    begin_segment(tables, room.entries, False)
    begin_hits(room, g)


@inline
def begin_links(tables, room, event, symbol):
    room.ends[0] = room.words[LINKS]
    return True


@inline
def add_link(nodes, words, low, high):
    at = words[LINKS]
    nodes.link_low[at] = low
    nodes.link_high[at] = high
    words[LINKS] = at + 1


@inline
def start_node(tables, room, event, stop):
    add_link(room.nodes, room.words, -1, -1)
    return event


@inline
def read_nodes(tables, events, room, view, event, low, own):
    entries = room.entries
    if tables.view_near[view] == NEIGHBOUR:
        entry = neighbour(tables, events, entries, view, entries.gone[view], event)
        first = entry
        last = entry + 1
    else:
        entry = latest_shown(tables, events, entries, view, event)
        first, last = all_shown(tables, events, entries, view, event)
    if entry >= 0 and entries.value[entry] >= low:
        own = max(own, entries.value[entry])
        add_link(room.nodes, room.words, first, last)
    return own


@inline
def keep_node(tables, events, room, group, place, event, own):
    entries = room.entries
    nodes = room.nodes
    state = tables.group_state[group]
    at = entries.used[state]
    entries.event[at] = event
    entries.value[at] = own
    entries.used[state] = at + 1
    nodes.label[at] = tables.state_label[state]
    nodes.link_first[at] = room.ends[place]
    nodes.link_last[at] = room.ends[place + 1]
    if tables.accepting[state] and at_hit(room, event) and own >= room.hits.lowest[room.words[HIT]]:
        nodes.root_entry[room.words[ROOTS]] = at
        room.words[ROOTS] += 1


NODES_IN_GAPS = (
    BATCH
    | KNOWN_HITS
    | {
        "begin": begin_nodes,
        "ready": begin_links,
        "start": start_node,
        "read": read_nodes,
        "keep": keep_node,
    }
)
"""A view is one link, however many runs it stands for; the room is a `NodeRoom`, of all states."""
