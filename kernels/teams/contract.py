"""The contract of counts abreast: automata whose runs never return to a state, and what their ends add up to.

A **member** is an automaton over nodes 0 .. n - 1. At every event each run stays in its node; an *edge* from
p to q > p also puts a copy of the runs of p into q. That is what `;` does, which lets events be skipped. A
run begins in node 0 at the event of its first edge; the edge to n ends a complex event. Members differ in the
edges that an event has for them, and in their windows.
"""

from typing import NamedTuple

import numpy as np


class Edges(NamedTuple):
    """The edges of all members, for each cell: what an event is for them.

    ==========  =========================  =================================================================
    `first`     int32 [cells + 1]          the edges of cell c are first[c] .. first[c + 1] - 1
    `source`    int32 [edges]              less than the target
    `target`    int32 [edges]              descending inside a cell; n: a complex event ends
    `row`       int32 [edges]              which members have the edge: a row of `masks`
    `back`      int32 [edges]              the edges of each cell again, by descending source
    `masks`     int64 [rows, members]      -1: the member has the edge, else 0
    ==========  =========================  =================================================================
    """

    first: np.ndarray
    source: np.ndarray
    target: np.ndarray
    row: np.ndarray
    back: np.ndarray
    masks: np.ndarray


class ListedEdges(NamedTuple):
    """The same edges as a list of additions for each member: faster where an event has edges in few members.

    The numbers of runs lie in one array, `runs`: that of member v from node p to q at v * n * n + p * n + q,
    with ones where p is q. An event of cell c in span d of the members (see `Spans`) has its entries between
    two places of `ended` and `dropped`, at c * spans + d. What is an index of every addition is unsigned: no
    kernel then asks whether it counts from the end.

    ==========  ===========================  ===============================================================
    `ended`     int32 [cells * spans + 1]    the ends of a cell and span
    `of`        uint32 [ends]                the member; ascending, the ends of a member stand side by side
    `runs`      uint32 [ends]                the number that it adds to the complex events of the end
    `added`     int32 [cells + 1]            what a new event of a cell adds, one after another
    `to`        uint32 [additions]           this number grows ...
    `plus`      uint32 [additions]           ... by this one
    `dropped`   int32 [cells * spans + 1]    what goes when the oldest event of a cell and span does
    `less`      uint32 [subtractions]        this number falls ...
    `by`        uint32 [subtractions]        ... by this one
    ==========  ===========================  ===============================================================
    """

    ended: np.ndarray
    of: np.ndarray
    runs: np.ndarray
    added: np.ndarray
    to: np.ndarray
    plus: np.ndarray
    dropped: np.ndarray
    less: np.ndarray
    by: np.ndarray


class LevelTables(NamedTuple):
    """A grid of members, each with one edge after the other: steps 0 .. n - 1, the last of which is the end.

    The sets of cells that members ask for at a step contain one another. They are numbered from the widest
    one on, and a member is a tuple of such numbers. The numbers of runs lie in one array, those over steps
    p .. q - 1 by the levels of their events, that of step p varying fastest.

    ==========  =====================  ==================================================================
    `levels`    int16 [cells, steps]   the narrowest set of the step that holds the cell; -1: none
    `widths`    int64 [steps]          how many sets the step has
    `place`     int64 [steps, steps]   where the numbers of runs over steps p .. q - 1 begin, for p < q
    `size`      int64 [steps, steps]   how many there are
    ==========  =====================  ==================================================================
    """

    levels: np.ndarray
    widths: np.ndarray
    place: np.ndarray
    size: np.ndarray


class LevelSums(NamedTuple):
    """What ends in a grid, all [groups, levels of the end, combinations of levels of the steps before].

    =========  ====================  =================================================================
    `hits`     int64                 ends, for each combination of levels of all steps but the last
                                     two with the greatest level of the step before the end
    `matches`  int64                 complex events by the levels of their events
    `first`    dtype of `at`         of `hits`: the least `at`
    `last`     dtype of `at`         the greatest `at`
    =========  ====================  =================================================================
    """

    hits: np.ndarray
    matches: np.ndarray
    first: np.ndarray
    last: np.ndarray


class MaskedProgram(NamedTuple):
    """What an event does to registers, one for each node, of members that may do anything: in order.

    A node may also lose its runs at an event (`:`), or double them (iterations, which take it or leave it).

    ==========  ====================  ======================================================================
    `first`     int32 [cells + 1]     the operations of cell c are first[c] .. first[c + 1] - 1
    `into`      int32 [operations]    a register
    `of`        int32 [operations]    a register; behind those of the nodes lie old values, still to be read
    `row`       int32 [operations]    the members that it counts for: a row of `MaskedEnds.masks`
    `adds`      uint8 [operations]    1: `into` grows by the masked register `of`; 0: it becomes that
    ==========  ====================  ======================================================================
    """

    first: np.ndarray
    into: np.ndarray
    of: np.ndarray
    row: np.ndarray
    adds: np.ndarray


class MaskedEnds(NamedTuple):
    """At which events complex events of such members end, and at which they may begin.

    ==========  =========================  =================================================================
    `first`     int32 [cells + 1]          the ends of cell c are first[c] .. first[c + 1] - 1
    `source`    int32 [ends]               a node; a complex event ends for each of its runs
    `row`       int32 [ends]               of `masks`
    `begins`    uint8 [cells]              1: a run of some member may begin here, and go on
    `masks`     int64 [rows, members]      -1: it counts for the member, else 0
    ==========  =========================  =================================================================
    """

    first: np.ndarray
    source: np.ndarray
    row: np.ndarray
    begins: np.ndarray
    masks: np.ndarray


class MaskedWork(NamedTuple):
    """Scratch for such members, and what their numbers came to.

    ==========  =======================================  ===================================================
    `prefix`    int64 [forward registers, n, members]    runs from node r at a middle event to each node
    `suffix`    int64 [backward registers, n, members]   runs from each node to node r at that event
    `front`     int64 [snapshots, n - 1, members]        `suffix` of node 0, from 1 on, where it changed
    `place`     int64 [snapshots]                        the event of each, descending
    `number`    int64 [members]
    `over`      int64 [members]                          in/out: what of it has a bit from 62 on has been
                                                         past 2^62: what was found of the member is wrong
    ==========  =======================================  ===================================================
    """

    prefix: np.ndarray
    suffix: np.ndarray
    front: np.ndarray
    place: np.ndarray
    number: np.ndarray
    over: np.ndarray


class Spans(NamedTuple):
    """The windows of the members: spans of neighbouring members with one window each.

    ========  ====================  ============================================================
    `begin`   int64 [spans + 1]     span d has the members begin[d] .. begin[d + 1] - 1
    `size`    dtype of keys         the longest difference of keys that each window keeps, [spans]
    ========  ====================  ============================================================
    """

    begin: np.ndarray
    size: np.ndarray


class AbreastEvents(NamedTuple):
    """The events that all members read.

    =========  ============================  ===============================================================
    `cells`    uint8 or uint16 [events]
    `keys`     uint64 or float64 [events]    what the windows measure; non-decreasing inside a segment
    `at`       int64 or float64 [events]     when: the time, or the position
    `group`    int64 [events] or [0]         which sums an end adds to; empty: all to the first ones
    =========  ============================  ===============================================================
    """

    cells: np.ndarray
    keys: np.ndarray
    at: np.ndarray
    group: np.ndarray


class GroupSums(NamedTuple):
    """The sums of each group and member, all [groups, members].

    =========  ====================  ====================================
    `hits`     int64                 events at which complex events end
    `matches`  int64                 complex events
    `first`    dtype of `at`         of the hits: the least `at`
    `last`     dtype of `at`         the greatest `at`
    =========  ====================  ====================================
    """

    hits: np.ndarray
    matches: np.ndarray
    first: np.ndarray
    last: np.ndarray


def level_tables(levels, widths):
    """`LevelTables` of the levels of each cell at each step, and of how many sets each step has."""
    steps = len(widths)
    place, size = np.zeros((steps, steps), np.int64), np.ones((steps, steps), np.int64)
    free = 0
    for p in range(steps - 1, -1, -1):  # that of all steps stands last
        for q in range(p + 1, steps):
            size[p, q] = np.prod(widths[p:q])
            place[p, q] = free
            free += size[p, q]
    return LevelTables(levels, widths, place, size)


def no_sums(groups, members, dtype):
    """`GroupSums` before any event: no hits, `first` the greatest number of `dtype`, `last` the least one."""
    dtype = np.dtype(dtype)
    least, most = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    shape = (groups, members)
    hits, matches = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    return GroupSums(hits, matches, np.full(shape, most, dtype), np.full(shape, least, dtype))


def abreast_reference(edges, spans, n_nodes, events, begin, report, stop, groups):
    """The `GroupSums` by definition: follows every run of every member, one by one."""
    members = edges.masks.shape[1]
    sums = no_sums(groups, members, events.at.dtype)
    for member in range(members):
        size = spans.size[np.searchsorted(spans.begin, member, side="right") - 1]
        for g in range(len(begin)):
            runs = []  # (node, key of the first event)
            for j in range(begin[g], stop[g]):
                cell, key, ended = events.cells[j], events.keys[j], 0
                grown = []
                for e in range(edges.first[cell], edges.first[cell + 1]):
                    if not edges.masks[edges.row[e], member]:
                        continue
                    source, target = edges.source[e], edges.target[e]
                    starts = [start for node, start in runs if node == source] if source else [key]
                    if target < n_nodes:
                        grown += [(target, start) for start in starts]
                    else:
                        ended += sum(1 for start in starts if key - start <= size)
                runs += grown
                if ended and j >= report[g]:
                    group = events.group[j] if len(events.group) else 0
                    sums.hits[group, member] += 1
                    sums.matches[group, member] += ended
                    sums.first[group, member] = min(sums.first[group, member], events.at[j])
                    sums.last[group, member] = max(sums.last[group, member], events.at[j])
    return sums
