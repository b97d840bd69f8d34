"""The automaton of steps as its kernels read it, and what they compute, by its definition.

An event that a run marks puts the run into a state; event and state together are an **entry**. The symbol of
an event says which states it enters: each is a **group** of the symbol. A group **reads** the entries that it
continues, and a run may also start in it. A read is a **view** of a state: the entries whose gap to the event
(the difference of times) lies in an interval, and whose event is anywhere before, right before, or not right
before it. All groups of an event read what earlier events have entered.

Times do not fall in a segment, so the entries of a view are neighbours, and both of its ends only move
forward from event to event.
"""

from typing import NamedTuple

import numpy as np

from ..forest.contract import SortScratch
from ..loop.contract import ANY_PLACE, MOST_RUNS, NEIGHBOUR, EntryRoom, StepNodes

DIGIT = 11
"""Bits of their starts by which one pass sorts complex events."""

DOUBTFUL = float(MOST_RUNS)
"""So is one that may be, where a number in float64 that is never less than it tells."""

MOST_STEPS = 6
"""The most steps of a chain: each further step takes four times as much for a hit."""


class StepTables(NamedTuple):
    """The automaton.

    ================  ==============================  =======================================================
    `first`           int32 [symbols + 1]             symbol s has the groups first[s] .. first[s + 1] - 1
    `group_state`     int32 [groups]                  the state that is entered
    `group_starts`    uint8 [groups]                  1: a run may start here
    `read_first`      int32 [groups + 1]              group g has the reads read_first[g] ..
    `read_view`       int32 [reads]                   the view of each
    `accepting`       uint8 [states]                  1: a complex event ends with the event that enters
    `state_label`     int32 [states]                  what that event is marked with
    `view_state`      int32 [views]                   the state whose entries it shows
    `view_low`        uint64 or float64 [views]       the least gap
    `view_high`       as `view_low`                   the greatest gap
    `view_near`       uint8 [views]                   `ANY_PLACE`, `NEIGHBOUR` or `APART`
    `view_timed`      uint8 [views]                   0: any gap is admitted
    `view_loose`      uint8 [views]                   1: a gap that is no number (inf - inf) counts as inside
    `view_rises`      uint8 [views]                   1: the latest starts of its entries do not fall
    ================  ==============================  =======================================================
    """

    first: np.ndarray
    group_state: np.ndarray
    group_starts: np.ndarray
    read_first: np.ndarray
    read_view: np.ndarray
    accepting: np.ndarray
    state_label: np.ndarray
    view_state: np.ndarray
    view_low: np.ndarray
    view_high: np.ndarray
    view_near: np.ndarray
    view_timed: np.ndarray
    view_loose: np.ndarray
    view_rises: np.ndarray

    @property
    def n_symbols(self):
        """How many symbols there are."""
        return len(self.first) - 1


class Sessions(NamedTuple):
    """What parts the events of a lane into sessions: an event joins the session of the event before it

    =========  ===============  =======================================================
    `high`     dtype of times   if it comes at most this long after that event,
    `timed`    bool             (False: however long after it,)
    `near`     bool             and, if this is set, right after it in the stream
    `loose`    bool             whether a gap that is no number (inf - inf) counts as short enough
    `label`    int              the mark of every event; 0: none
    =========  ===============  =======================================================
    """

    high: int | float
    timed: bool
    near: bool
    loose: bool
    label: int


class StepEvents(NamedTuple):
    """Events of some segments.

    =========  =============================  ==============================================================
    `symbols`  uint8 or uint16 [events]
    `times`    uint64 or float64 [events]     do not decrease in a segment; integers are subtracted modulo
                                              2**64, which is exact; empty where no view asks for gaps
    `places`   int64 [events] or [0]          the place in the partition, where a view asks for neighbours
    =========  =============================  ==============================================================
    """

    symbols: np.ndarray
    times: np.ndarray
    places: np.ndarray


class FoundPaths(NamedTuple):
    """The complex events of a hit as they are found, and scratch.

    =============  =====================  ======================================================
    `entry`        int32 [paths]          the first entry of each,
    `after`        int32 [paths]          the node of the entry after it, -1 for none,
    `start`        int32 [paths]          and its event, from the lowest start on
    `node_entry`   int32 [nodes]          an entry, with what comes after it in some paths:
    `node_after`   int32 [nodes]          the node of the entry after it, -1 for none,
    `node_length`  int32 [nodes]          and how many entries it has with these
    `sorting`      SortScratch            the paths in canonical order
    `frames`       int64 [depth, FRAME]   scratch: the path that is walked
    =============  =====================  ======================================================
    """

    entry: np.ndarray
    after: np.ndarray
    start: np.ndarray
    node_entry: np.ndarray
    node_after: np.ndarray
    node_length: np.ndarray
    sorting: SortScratch
    frames: np.ndarray


class WalkedPaths(NamedTuple):
    """The complex events of a hit with the structure that they were found in, as they are compared.

    =======  ================  ==========================================
    `nodes`  StepNodes
    `paths`  FoundPaths
    `start`  int32 [paths]     as in `FoundPaths`
    =======  ================  ==========================================
    """

    nodes: StepNodes
    paths: FoundPaths
    start: np.ndarray


NEVER = -2
"""The place of the last event of a lane without events: no event comes right after it."""


class NeighbourLanes(NamedTuple):
    """What is kept of each lane: its last event, and the runs that this event has entered.

    =======  ================================  =============================================================
    `place`  int64 [lanes]                     the place of its last event; `NEVER`: there is none
    `time`   uint64 or float64 [lanes]         the time of that event
    `runs`   int64 [lanes, states]             how many runs that event has put into each state; or one more
                                               than the position of their latest start, 0 for none; column 0
                                               has those of an automaton that is `lone_group`
    =======  ================================  =============================================================
    """

    place: np.ndarray
    time: np.ndarray
    runs: np.ndarray


class ShortTables(NamedTuple):
    """The states by the number of events that lead to them, and the views that states of two events read.

    ============  =====================  ====================================================================
    `level`       int8 [states]          1: runs of one event enter; 2: of one or two; 3: of up to three
    `pair_first`  int32 [states + 1]     a state of level 2 reads the views pair_view[pair_first[q]] ..
    `pair_view`   int32 [pairs]
    ============  =====================  ====================================================================
    """

    level: np.ndarray
    pair_first: np.ndarray
    pair_view: np.ndarray


class ChainTables(NamedTuple):
    """How the states of chains are entered.

    The automaton is one chain, or several with their first steps in common: a run starts in a state of level
    1, and enters each state of level m by one view, which shows the entries of one state of level m - 1.

    =========  ================  ===============================================
    `level`    int32 [states]    how many events the runs have that enter the state
    `read`     int32 [states]    the view that shows where these runs come from, or -1
    `before`   int32 [states]    the state of that view, or -1
    =========  ================  ===============================================
    """

    level: np.ndarray
    read: np.ndarray
    before: np.ndarray

    @property
    def of_event(self):
        """The most sums that an event costs."""
        return 1 << int(self.level.max())

    @property
    def of_hit(self):
        """The most sums that a hit costs."""
        return 1 << 2 * (int(self.level.max()) - 1)


def of_neighbours(tables):
    """Whether all views of an automaton show neighbours only, and each symbol has at most one label."""
    if not len(tables.view_near) or (tables.view_near != NEIGHBOUR).any():
        return False
    labels = tables.state_label[tables.group_state]
    bounds = zip(tables.first[:-1].tolist(), tables.first[1:].tolist())
    return all(len(set(labels[low:high].tolist())) <= 1 for low, high in bounds)


def lone_ends(tables):
    """Whether an event with each symbol is a complex event by itself; None where other events decide that.

    Returns
    -------
    ndarray, shape (symbols,), uint8, or None
    """
    accepts = tables.accepting[tables.group_state] != 0
    alone = accepts & (tables.group_starts != 0)
    found = np.zeros(tables.n_symbols, np.uint8)
    for symbol in range(tables.n_symbols):
        groups = slice(tables.first[symbol], tables.first[symbol + 1])
        if accepts[groups].any() and not alone[groups].any():
            return None
        found[symbol] = alone[groups].any()
    return found


def ending_symbols(tables):
    """Whether a complex event may end at an event, for each symbol: uint8 [symbols]."""
    found = np.zeros(tables.n_symbols, np.uint8)
    for symbol in range(tables.n_symbols):
        groups = slice(tables.first[symbol], tables.first[symbol + 1])
        found[symbol] = tables.accepting[tables.group_state[groups]].any()
    return found


def lone_group(tables):
    """Whether all runs enter one state by one group, which reads at most one view, and a view is there."""
    return len(tables.group_state) == 1 and len(tables.read_view) <= 1 and len(tables.view_state) > 0


def neighbour_lanes(tables):
    """`NeighbourLanes` without lanes."""
    return NeighbourLanes(
        np.empty(0, np.int64),
        np.empty(0, tables.view_low.dtype),
        np.empty((0, len(tables.accepting)), np.int64),
    )


def short_tables(tables):
    """The levels of an automaton; None where a complex event may have more than three events.

    It is also None where a view shows neighbours, or a state of level 2 reads other views with another
    symbol: then ranges do not only move forward.
    """
    n_states = len(tables.accepting)
    reads = [set() for _ in range(n_states)]
    for group, state in enumerate(tables.group_state.tolist()):
        views = tables.read_view[tables.read_first[group] : tables.read_first[group + 1]]
        reads[state].add(tuple(sorted(views.tolist())))
        if not len(views) and not tables.group_starts[group]:
            return None
    if (tables.view_near == NEIGHBOUR).any():
        return None
    level = np.zeros(n_states, np.int8)
    for deep in (1, 2, 3):
        known = level.copy()
        for state, ways in enumerate(reads):
            sources = {int(tables.view_state[view]) for way in ways for view in way}
            if not level[state] and all(known[source] for source in sources):
                level[state] = deep
    if not level.all() or any(level[state] == 2 and len(ways) > 1 for state, ways in enumerate(reads)):
        return None
    pairs = [next(iter(ways)) if level[state] == 2 else () for state, ways in enumerate(reads)]
    if any(len(set(views)) < len(views) for views in pairs):
        return None
    first = np.append(0, np.cumsum([len(views) for views in pairs])).astype(np.int32)
    return ShortTables(level, first, np.array([view for views in pairs for view in views], np.int32))


def chain_tables(tables):
    """How the states of an automaton of steps are entered; None where a state is entered in several ways.

    It is also None where a view shows neighbours, and for chains of more than `MOST_STEPS`.
    """
    n_states = len(tables.accepting)
    if (tables.view_near == NEIGHBOUR).any():
        return None
    ways = [set() for _ in range(n_states)]
    for group, state in enumerate(tables.group_state.tolist()):
        views = tables.read_view[tables.read_first[group] : tables.read_first[group + 1]].tolist()
        ways[state].add(tuple(views) if not tables.group_starts[group] else (-1, *views))
    if any(len(own) != 1 for own in ways):
        return None
    read = [next(iter(own)) for own in ways]
    if any(len(views) != 1 for views in read):
        return None
    view = np.array(read, np.int32).reshape(n_states)
    before = np.array([-1 if one < 0 else tables.view_state[one] for one in view], np.int32)
    level = (before < 0).astype(np.int32)
    for deep in range(2, MOST_STEPS + 1):
        level[(level == 0) & (level[before] == deep - 1)] = deep
    if not level.all():
        return None
    return ChainTables(level, view, before)


def room_for(tables, symbols, whole, longest=None):
    """Room for the entries of some events.

    Parameters
    ----------
    tables : StepTables
    symbols : ndarray, shape (events,), uint8 or uint16
    whole : bool
        Whether all entries are kept, also those that no view shows.
    longest : int, optional
        The most events whose entries are kept at a time.
    """
    n_states, n_views = len(tables.accepting), len(tables.view_state)
    kept = np.zeros(n_states, np.uint8)
    kept[tables.view_state] = 1
    kept |= whole
    number = np.bincount(symbols, minlength=tables.n_symbols)
    if longest is not None:
        number = np.minimum(number, longest)
    entering = np.repeat(number, np.diff(tables.first))
    sizes = np.bincount(tables.group_state, entering, n_states).astype(np.int64) * kept
    first = np.append(0, np.cumsum(sizes))
    queues = np.append(0, np.cumsum(sizes[tables.view_state]))
    return EntryRoom(
        first,
        kept,
        first[:-1].copy(),
        np.empty(first[-1], np.int32),
        np.empty(first[-1], np.int64),
        np.empty(n_views, np.int64),
        np.empty(n_views, np.int64),
        queues,
        np.empty(queues[-1], np.int32),
        np.empty(n_views, np.int64),
        np.empty(n_views, np.int64),
    )


def shows(tables, events, view, entered, event):
    """Whether a view shows an entry at an event: the definition of a view."""
    if tables.view_near[view] != ANY_PLACE:
        near = events.places[event] == events.places[entered] + 1
        if near != (tables.view_near[view] == NEIGHBOUR):
            return False
    if not tables.view_timed[view]:
        return True
    with np.errstate(invalid="ignore"):  # of two infinite times
        gap = events.times[event] - events.times[entered]
    if gap != gap:
        return bool(tables.view_loose[view])
    return bool(tables.view_low[view] <= gap <= tables.view_high[view])


def runs_by_views(tables, events, begin, stop, shown):
    """All runs of a segment, by definition: for each event the runs that end there.

    Parameters
    ----------
    tables, events
        As the kernels of steps read them.
    begin, stop : int
    shown : callable
        `shown(view, state, entered, event)` says whether the view shows, at `event`, a run that the earlier
        event `entered` has put into `state`.

    Returns
    -------
    list of list of (int, list of (int, int))
        For each event from `begin` on: the state that each run has entered, and its (event, label) pairs.
    """
    entered = []
    for event in range(begin, stop):
        symbol = events.symbols[event]
        here = []
        for group in range(tables.first[symbol], tables.first[symbol + 1]):
            state = int(tables.group_state[group])
            mark = (event, int(tables.state_label[state]))
            if tables.group_starts[group]:
                here.append((state, [mark]))
            for view in tables.read_view[tables.read_first[group] : tables.read_first[group + 1]]:
                here += [
                    (state, [*marks, mark])
                    for runs in entered
                    for source, marks in runs
                    if shown(view, source, marks[-1][0], event)
                ]
        entered.append(here)
    return entered


def runs_reference(tables, events, begin, stop):
    """All runs of a segment by definition: as `runs_by_views`, with the views of steps."""

    def shown(view, state, entered, event):
        return state == tables.view_state[view] and shows(tables, events, view, entered, event)

    return runs_by_views(tables, events, begin, stop, shown)
