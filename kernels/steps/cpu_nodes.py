"""The structure of steps: each entry, and the ranges of entries that it comes from.

What an event reads through a view are neighbouring entries of one state. So a view is one link, however many
runs it stands for. Entries are made only if they have a run inside the window; the events that later windows
admit are among these.
"""

import numpy as np

from ..jit import composed
from ..loop.contract import FoundEnds, StepNodes
from ..loop.follow import WORDS, follow
from ..loop.gaps import NODES_IN_GAPS, NodeRoom
from ..loop.nodes import LINKS, NODE_WORDS
from ..loop.products import LATEST
from ..loop.run import scratch
from ..windows.contract import comparable
from .contract import room_for

make_nodes = composed(follow, "make_nodes", **LATEST | NODES_IN_GAPS)


def build(tables, events, keys, size, segments, hits):
    """The entries of many segments with the roots of their hits: `StepNodes`.

    Parameters
    ----------
    tables : StepTables
    events : StepEvents
    keys : ndarray, shape (events,) or (0,), int64 or float64
        What the window measures; empty without a window.
    size : int or float
    segments : LoopSegments
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
    entered, words = scratch(tables), np.zeros(NODE_WORDS, np.int64)
    made = NodeRoom(room, nodes, hits, words, np.empty(len(entered) + 1, np.int64))
    none = FoundEnds(*np.empty((2, 0), np.int64))
    window = comparable(keys, size)
    make_nodes(tables, events, window, segments, made, entered, none, np.zeros(WORDS, np.int64))
    used = int(words[LINKS])
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
