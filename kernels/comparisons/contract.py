"""The automaton of compared steps as its kernels read it, and what they compute, by its definition.

An event that a run marks puts the run into a state; event and state together are an **entry**. The symbol of
an event says which states it enters: each is a **group** of the symbol. A group **reads** the entries that it
continues. A read is a **view** of a state: the entries whose event satisfies the view's tests together with
the event that reads. All groups of an event read what earlier events have entered, nothing of the event
itself.

The tests of a view ask for equal slots, and compare one value of the entries with values of the event. So the
entries of a state lie in an **order** (by slot, then by value), in which those that a view shows are one or
two neighbouring ranges, found by binary search. Values are compared as 64-bit **words**. `side` tells where a
value lies beside its word: just below it, at it, or just above it (an int64 among float64 values may have no
word of its own).
"""

from typing import NamedTuple

import numpy as np

from ..steps.contract import runs_by_views

ANY_PLACE, NEIGHBOUR = range(2)
"""`view_near`: a view shows all entries that pass its tests, or only that of the event right before."""

LESS, AT_MOST, GREATER, AT_LEAST, EQUAL, DIFFERENT = range(6)
"""The comparison of a test: entry's value OP event's value."""

NO_VALUE, BELOW, AT, ABOVE = range(-1, 3)
"""Where a value lies beside its word; a null lies nowhere, and satisfies no test."""

FEW = 48
"""The most entries of a window in which each event is compared with all of them (`cpu_nested_loop`)."""

LARGEST = 1 << 62
"""Stands for every count of complex events from 2^62 on."""


class ComparedTables(NamedTuple):
    """The automaton.

    ================  ======================  ===============================================================
    `first`           int32 [symbols + 1]     symbol s has the groups first[s] .. first[s + 1] - 1
    `group_state`     int32 [groups]          the state that is entered
    `group_starts`    uint8 [groups]          1: a run may start here
    `read_first`      int32 [groups + 1]      group g has the reads read_first[g] ..
    `read_view`       int32 [reads]           the view of each
    `accepting`       uint8 [states]          1: a complex event ends with the event that enters
    `state_label`     int32 [states]          what that event is marked with
    `order_first`     int32 [states + 1]      the entries of state q lie in the orders order_first[q] ..
    `order_state`     int32 [orders]          the state whose entries lie in it
    `order_slot`      int32 [orders]          the row of slots by which they lie, -1: none
    `order_value`     int32 [orders]          the row of words by which they lie then, -1: in order of arrival
    `view_order`      int32 [views]           the order that a view reads
    `view_near`       uint8 [views]           `ANY_PLACE` or `NEIGHBOUR`
    `view_slot`       int32 [views]           the row of slots of the event that equal those of entries
    `test_first`      int32 [views + 1]       view v has the tests test_first[v] ..
    `test_op`         uint8 [tests]           `LESS` .. `DIFFERENT`; the last at most once in a view
    `test_value`      int32 [tests]           the row of words of the event
    ================  ======================  ===============================================================
    """

    first: np.ndarray
    group_state: np.ndarray
    group_starts: np.ndarray
    read_first: np.ndarray
    read_view: np.ndarray
    accepting: np.ndarray
    state_label: np.ndarray
    order_first: np.ndarray
    order_state: np.ndarray
    order_slot: np.ndarray
    order_value: np.ndarray
    view_order: np.ndarray
    view_near: np.ndarray
    view_slot: np.ndarray
    test_first: np.ndarray
    test_op: np.ndarray
    test_value: np.ndarray

    @property
    def n_symbols(self):
        """How many symbols there are."""
        return len(self.first) - 1


class PairedEvents(NamedTuple):
    """Events of some segments.

    =========  =============================  ==============================================================
    `symbols`  uint8 or uint16 [events]
    `places`   int64 [events] or [0]          the place in the partition, where a view asks for neighbours
    `slots`    int32 [rows, events]           -1: no slot, which equals nothing
    `sides`    int32 [values, events]         `NO_VALUE` .. `ABOVE`
    `words`    int64 [values, events]
    =========  =============================  ==============================================================
    """

    symbols: np.ndarray
    places: np.ndarray
    slots: np.ndarray
    sides: np.ndarray
    words: np.ndarray


class ComparedSegments(NamedTuple):
    """What to run: events begin .. stop - 1 of each segment; the ends from `report` on are reported.

    ========  ======================  ====================================================================
    `begin`   int64 [segments]
    `report`  int64 [segments]
    `stop`    int64 [segments]
    `base`    int64 [segments + 1]    event i of segment g is row base[g] + i - begin[g] of `ArrangedEntries`
    ========  ======================  ====================================================================
    """

    begin: np.ndarray
    report: np.ndarray
    stop: np.ndarray
    base: np.ndarray


class PairRuns(NamedTuple):
    """What to run of segments that are arranged: events begin .. stop - 1, reported from `report` on.

    ========  =============  =====================================
    `begin`   int64 [runs]
    `report`  int64 [runs]
    `stop`    int64 [runs]
    `of`      int64 [runs]   the segment that each is a part of
    ========  =============  =====================================
    """

    begin: np.ndarray
    report: np.ndarray
    stop: np.ndarray
    of: np.ndarray


class ArrangedEntries(NamedTuple):
    """The events of segments that may be entries, in the orders of the automaton.

    =========  =========================  ====================================================================
    `size`     int32 [orders, segments]   how many events of the segment have a place in the order
    `slot`     int32 [orders, rows]       in rows base[g] .. base[g] + size[o, g] - 1 those of the order,
    `word`     int64 [orders, rows]       ascending by slot, then by word
    `rank`     int32 [orders, rows]       the place of each event in the order of its segment, -1: none
    =========  =========================  ====================================================================
    """

    size: np.ndarray
    slot: np.ndarray
    word: np.ndarray
    rank: np.ndarray


class ComparedNodes(NamedTuple):
    """The runs of segments: each entry with the entries that it comes from.

    The entries of an order are the leaves of a binary tree over their ranks. A new entry makes a new version
    of the tree, which shares all nodes but the path to the new entry with the version before.

    ==============  ====================  ===================================================================
    `event`         int32 [entries]       the event that has entered
    `label`         int32 [entries]       what it is marked with
    `value`         int32 [entries]       the latest start of its runs
    `link_first`    int32 [entries]       an entry has the links link_first .. link_last - 1
    `link_last`     int32 [entries]
    `link_root`     int32 [links]         the tree that the link reads; -1: a run starts here; -2: one entry
    `link_size`     int32 [links]         how many ranks the tree has
    `link_low`      int32 [links]         it reads the ranks link_low .. link_high - 1; for -2: the entry
    `link_high`     int32 [links]
    `left`          int32 [nodes]         the lower half of the ranks, -1: empty; in a leaf: its entry
    `right`         int32 [nodes]         the upper half
    `latest`        int32 [nodes]         the latest start of a run of the entries below
    `root_first`    int64 [hits + 1]      hit h has the roots root_first[h] ..
    `root_entry`    int32 [roots]         entries that accept
    ==============  ====================  ===================================================================
    """

    event: np.ndarray
    label: np.ndarray
    value: np.ndarray
    link_first: np.ndarray
    link_last: np.ndarray
    link_root: np.ndarray
    link_size: np.ndarray
    link_low: np.ndarray
    link_high: np.ndarray
    left: np.ndarray
    right: np.ndarray
    latest: np.ndarray
    root_first: np.ndarray
    root_entry: np.ndarray


class Versions(NamedTuple):
    """The runs of a stream: each entry with the entries that it comes from; rows are appended, never changed.

    The entries of an order are the leaves of a binary tree over the bits of their keys. A new entry makes a
    new version, which shares all nodes but the path to it with the version before. A key is a **word** (of
    the entry's value, plus 2^63, so that unsigned words are in the order of the values; 0 in an order by
    arrival) and the entry's position in the stream. A node forks at the highest bit in which the keys below
    it differ: bit 127 is the highest of the word, bit 63 the highest of the position.

    ============  =====================  ==================================================================
    `entry`       int32 [entries, 6]     `EVENT`, `LABEL`, `VALUE` (the latest start of its runs), its links
                                         `LINK_FIRST` .. `LINK_LAST` - 1, and how many nodes there were before
                                         (`NODES_BEFORE`)
    `link`        int32 [links, 2]       `ROOT`, the tree of the link; -1: a run starts here; -2: one entry,
                                         which is `ONE`
    `range`       uint64 [links, 2]      the entries whose words are range[0] .. range[1]
    `tree`        int32 [nodes, 4]       `LEFT`, the node of keys with the bit 0, or a leaf's entry; `RIGHT`;
                                         `LATEST` start of a run of the entries in it; `BIT`, or `LEAF`
    `key`         uint64 [nodes, 2]      the word and the position of one of the entries in it
    `root_first`  int64 [ends + 1]       end h has the roots root_first[h] ..
    `root_entry`  int32 [roots]          entries that accept
    ============  =====================  ==================================================================
    """

    entry: np.ndarray
    link: np.ndarray
    range: np.ndarray
    tree: np.ndarray
    key: np.ndarray
    root_first: np.ndarray
    root_entry: np.ndarray


EVENT, LABEL, VALUE, LINK_FIRST, LINK_LAST, NODES_BEFORE, ENTRY_COLUMNS = range(7)
ROOT, ONE, LINK_COLUMNS = range(3)
LEFT, RIGHT, LATEST, BIT, NODE_COLUMNS = range(5)
"""Columns of `Versions`."""

LEAF = -1
"""The bit of a leaf."""

NO_TREE, ONE_ENTRY = -1, -2
"""Roots of links that are no tree: a run that starts at the entry, and a single entry."""


class NewestVersions(NamedTuple):
    """What the next event of a stream reads: the newest versions.

    =========  =======================  =================================================================
    `table`    int64 [records, 3]       for each order, slot and lane its newest version
                                        (`kernels.joins.cpu_stream`); `PLACE` is -1 at first
    `last`     int64 [lanes, states]    the newest entry of each state, -1: none; no lanes where no view
                                        asks for neighbours
    =========  =======================  =================================================================
    """

    table: np.ndarray
    last: np.ndarray


class NewestTrees(NamedTuple):
    """Versions of the orders of segments: for each event the entries before it.

    =========  ======================  ====================================================================
    `left`     int32 [nodes]           as in `ComparedNodes`; a leaf's event
    `right`    int32 [nodes]
    `latest`   int32 [nodes]           the newest event in it
    `before`   int32 [orders, rows]    the version that holds what entered before each event, -1: empty
    `present`  int32 [orders]          scratch: the version that holds all that has entered so far
    =========  ======================  ====================================================================
    """

    left: np.ndarray
    right: np.ndarray
    latest: np.ndarray
    before: np.ndarray
    present: np.ndarray


class RunTrace(NamedTuple):
    """The runs of segments without a window.

    =======  ======================  ===================================================================
    `value`  int32 [rows, groups]    for each event and each group of its symbol, counted from the first: the
                                     latest start of its runs there, -1: it has none
    `trees`  NewestTrees
    =======  ======================  ===================================================================
    """

    value: np.ndarray
    trees: NewestTrees


class ChosenEvents(NamedTuple):
    """The events of one complex event for each hit.

    ==========  ================  =========================================================
    `first`     int64 [hits + 1]  hit h has the events first[h] .. first[h + 1] - 1
    `event`     int32 [marks]     ascending
    `label`     int32 [marks]     what each is marked with
    `progress`  int64 [2]         hits and marks that are done; zeros at first
    ==========  ================  =========================================================
    """

    first: np.ndarray
    event: np.ndarray
    label: np.ndarray
    progress: np.ndarray


class Climb(NamedTuple):
    """Chains of events, each greater than the one before it: the form of automaton that MAX is answered for.

    A chain has `n` events or more, and any two of them satisfy one view. An event put between two others,
    or before the first, leaves a chain: so a chain is maximal only where none can be put in.

    =======  ==================  ====================================================================
    `shows`  int                 the view that shows at an event those that may be right before it
    `rises`  int                 `LESS`, `AT_MOST`, `GREATER`, `AT_LEAST`: how values change; -1: not compared
    `group`  int32 [symbols, n]  for each symbol the group of chains of k + 1 events, counted from the first
                                 group of the symbol; the last is that of chains of n events or more
    =======  ==================  ====================================================================
    """

    shows: int
    rises: int
    group: np.ndarray


def shallow(tables):
    """Whether all complex events have one or two events: no view leads on to a state that is read again."""
    reads = np.diff(tables.read_first) > 0
    kept = np.diff(tables.order_first) > 0
    return not kept[tables.group_state[reads]].any()


def countable_by_few(tables):
    """Whether windows with `FEW` entries are counted without an order (`cpu_nested_loop`)."""
    groups = int(np.diff(tables.first).max(initial=0))
    return bool((tables.view_near == ANY_PLACE).all()) and groups <= FEW // 8


def satisfies(tables, events, view, entered, event):
    """Whether a view shows an entry at an event: the definition of a view."""
    order = tables.view_order[view]
    if tables.view_near[view] == NEIGHBOUR and events.places[event] != events.places[entered] + 1:
        return False
    if tables.order_slot[order] >= 0:
        old, new = (
            events.slots[tables.order_slot[order], entered],
            events.slots[tables.view_slot[view], event],
        )
        if old < 0 or old != new:
            return False
    for test in range(tables.test_first[view], tables.test_first[view + 1]):
        old, new = tables.order_value[order], tables.test_value[test]
        if events.sides[old, entered] == NO_VALUE or events.sides[new, event] == NO_VALUE:
            return False
        # The entry's value is its word; twice the words leave room for what lies between two of them.
        a = 2 * int(events.words[old, entered])
        b = 2 * int(events.words[new, event]) + int(events.sides[new, event]) - AT
        op = tables.test_op[test]
        if not (
            (op == LESS and a < b)
            or (op == AT_MOST and a <= b)
            or (op == GREATER and a > b)
            or (op == AT_LEAST and a >= b)
            or (op == EQUAL and a == b)
            or (op == DIFFERENT and a != b)
        ):
            return False
    return True


def runs_reference(tables, events, begin, stop):
    """All runs of a segment by definition: as `runs_by_views` of `cer_gpu.kernels.steps`."""

    def shown(view, state, entered, event):
        order = tables.view_order[view]
        own = tables.order_first[state] <= order < tables.order_first[state + 1]
        return own and satisfies(tables, events, view, entered, event)

    return runs_by_views(tables, events, begin, stop, shown)


def whole(segments):
    """The `PairRuns` of whole `ComparedSegments`."""
    return PairRuns(segments.begin, segments.report, segments.stop, np.arange(len(segments.begin)))
