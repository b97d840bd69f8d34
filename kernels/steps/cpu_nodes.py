"""The structure of steps: each entry, and the ranges of entries that it comes from.

What an event reads through a view are neighbouring entries of one state. So a view is one link, however many
runs it stands for. Entries are made only if they have a run inside the window; the events that later windows
admit are among these.
"""

import numpy as np

from ..jit import SELDOM, jit
from ..windows.contract import comparable
from .contract import NEIGHBOUR, StepNodes, room_for, scratch
from .cpu_views import all_shown, begin_segment, latest_shown, neighbour

VALUE, LINKS = range(2)
"""Columns of `entered`: the value of a group, and where its links end."""


@jit
def build_body(tables, events, window, segments, hits, room, entered, nodes, halt):
    """Make the entries of all segments, and the roots of their hits; gives how many links there are.

    ==========  =================  =====================================================================
    `tables`    StepTables         in
    `events`    StepEvents         in
    `window`    MeasuredWindow     in
    `segments`  StepSegments       in
    `hits`      SegmentHits        in: of each segment, ascending
    `room`      EntryRoom          in/out: `event` and `value` are those of `nodes`
    `entered`   int64 [groups, 2]  scratch
    `nodes`     StepNodes          out
    `halt`      uint8 [1] or [0]   in: see `jit`
    ==========  =================  =====================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    links = 0
    roots = 0
    nodes.root_first[0] = 0
    for g in range(segments.begin.shape[0]):
        begin_segment(tables, room, False)
        low = segments.begin[g]
        h = hits.first[g]
        for i in range(segments.begin[g], segments.stop[g]):
            if i % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
                return links
            if windowed:
                while keys[i] - keys[low] > window.size:
                    low += 1
            symbol = events.symbols[i]
            begin = tables.first[symbol]
            stop = tables.first[symbol + 1]
            before = links
            for group in range(begin, stop):
                value = -1
                if tables.group_starts[group]:
                    value = i
                    nodes.link_low[links] = -1
                    nodes.link_high[links] = -1
                    links += 1
                for read in range(tables.read_first[group], tables.read_first[group + 1]):
                    view = tables.read_view[read]
                    if tables.view_near[view] == NEIGHBOUR:
                        entry = neighbour(tables, events, room, view, room.gone[view], i)
                        first = entry
                        last = entry + 1
                    else:
                        entry = latest_shown(tables, events, room, view, i)
                        first, last = all_shown(tables, events, room, view, i)
                    if entry >= 0 and room.value[entry] >= low:
                        value = max(value, room.value[entry])
                        nodes.link_low[links] = first
                        nodes.link_high[links] = last
                        links += 1
                entered[group - begin, VALUE] = value
                entered[group - begin, LINKS] = links
            ends = h < hits.first[g + 1] and hits.event[h] == i
            for group in range(begin, stop):
                state = tables.group_state[group]
                value = entered[group - begin, VALUE]
                if value >= 0:
                    at = room.used[state]
                    room.event[at] = i
                    room.value[at] = value
                    room.used[state] = at + 1
                    nodes.label[at] = tables.state_label[state]
                    nodes.link_first[at] = before
                    nodes.link_last[at] = entered[group - begin, LINKS]
                    if ends and tables.accepting[state] and value >= hits.lowest[h]:
                        nodes.root_entry[roots] = at
                        roots += 1
                before = entered[group - begin, LINKS]
            if ends:
                h += 1
                nodes.root_first[h] = roots
    return links


def build(tables, events, keys, size, segments, hits):
    """The entries of many segments with the roots of their hits: `StepNodes`.

    Parameters
    ----------
    tables : StepTables
    events : StepEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    segments : StepSegments
    hits : SegmentHits
    """
    # Several segments may run the same event; it then has entries in each.
    count = np.zeros(len(events.symbols) + 1, np.int64)
    np.add.at(count, segments.begin, 1)
    np.add.at(count, segments.stop, -1)
    run = np.repeat(events.symbols, np.cumsum(count[:-1]))
    room = room_for(tables, run, True)
    entries = len(room.event)
    reads = np.diff(tables.read_first) + tables.group_starts
    before = np.append(0, np.cumsum(reads))
    of_symbol = before[tables.first[1:]] - before[tables.first[:-1]]
    links = int((np.bincount(run, minlength=tables.n_symbols) * of_symbol).sum())
    groups = np.diff(tables.first)[events.symbols[hits.event]]
    nodes = StepNodes(
        room.event,
        np.empty(entries, np.int32),
        room.value,
        *(np.empty(size, np.int32) for size in (entries, entries, links, links)),
        np.zeros(len(hits.event) + 1, np.int64),
        np.empty(int(groups.sum()), np.int32),
        np.empty(0, np.int32),
    )
    entered = np.empty((len(scratch(tables)), 2), np.int64)
    used = build_body(tables, events, comparable(keys, size), segments, hits, room, entered, nodes)
    return nodes._replace(
        link_low=nodes.link_low[:used],
        link_high=nodes.link_high[:used],
        root_entry=nodes.root_entry[: nodes.root_first[-1]],
    )


def joined(parts, lows):
    """Concatenate the nodes of several units, with the events numbered as in the chunk: `StepNodes`.

    Parameters
    ----------
    parts : sequence of StepNodes
        From `build`, at least one. They are not to be used any more.
    lows : sequence of int
        For each unit, the event of the chunk that is its event 0.
    """
    entry = link = root = 0
    for part, low in zip(parts, lows):
        for array, more in (
            (part.event, low), (part.latest, low), (part.link_first, link), (part.link_last, link),
            (part.link_high, entry), (part.root_entry, entry), (part.root_first, root),
        ):  # fmt: skip
            if more:
                array += more
        if entry:
            part.link_low[part.link_low >= 0] += entry
        entry, link, root = entry + len(part.event), link + len(part.link_low), int(part.root_first[-1])
    if len(parts) == 1:
        return parts[0]
    first = np.concatenate([*(part.root_first[:-1] for part in parts), parts[-1].root_first[-1:]])
    columns = (np.concatenate(column) for column in zip(*parts))
    return StepNodes(*columns)._replace(root_first=first)
