"""A parallelized complex event automaton (PCEA) as the join kernels read it.

A **run** of state p is a tree of events; the transition that read its last event stored it in entries of
the look-up table H, each at the slot of the values that the event has there. A transition that reads an
event looks up one run for each of its source states, at the slot of the event, and gathers them.

An entry holds the runs of one state that are looked up by one space of keys: a state may have several.

All kernels of this family see the table as it was before the event while its transitions look up, and store
afterwards: the events of a run tree increase strictly from the leaves to the root.

A node stands for a bag of runs, and is never changed once written. It is a row of the **arena**, half a
cache line, int32 [nodes, 8]; whatever a node refers to precedes it:

============  ==================================================================================
`LABEL`       what its event is marked with
`EVENT`       its event, the last of every run of its product
`CHILD`       the nodes that its product gathers are children[CHILD : CHILD + CHILDREN]
`CHILDREN`
`LEFT`        uleft and uright, -1 for none: further runs of the same state
`RIGHT`
`LATEST`      max-start of the product: the latest event at which one of its runs may have begun
`WEIGHT`      nodes of the tree that it is the root of, through LEFT and RIGHT
The product of a node is its event with one run of each child; the bag of a node is its product and the bags
of LEFT and RIGHT, whose `LATEST` is not greater (condition double dagger): a heap. So the runs inside a
window are at the top, and every node that enumeration meets inside the window leads to an answer.
"""

from typing import NamedTuple

import numpy as np

from ..arena.contract import AnswerRows

LABEL, EVENT, CHILD, CHILDREN, LEFT, RIGHT, LATEST, WEIGHT = range(8)
COLUMNS = 8
"""Columns of an arena, and their number."""

EVENT_OF, LATEST_OF, NEXT_OF, LINK_OF, PARTS = range(5)
"""Columns of a cell of a group, and their number: the last event of the runs of a transition, the latest
start of one, the next cell of the group or -1; and where `JoinGroups.link` says what they have gathered, or
-1 - the label of the event if that is nothing."""

HEAD, BEST = 0, 1
"""Columns of `JoinGroups.table`."""


FEW = 16
"""Up to so many answers for each end or event, on average, those of a chunk are listed at once."""

PASSED = 4
"""So many cells of groups may be passed over for each event and each answer: they lead to no answer."""


class JoinTables(NamedTuple):
    """The transitions of a PCEA, by symbol, with what they look up and where they store.

    ================  =======================  =========================================================
    `first`           int32 [symbols + 1]      the transitions of symbol s are
    `transition`      int32 [first[-1]]        transition[first[s] : first[s + 1]]
    `label`           int32 [transitions]      0: the event is no mark of the answer
    `accepting`       uint8 [transitions]      1: an answer ends here
    `read_first`      int32 [transitions + 1]  transition t looks up read_first[t] .. read_first[t + 1] - 1
    `read_entry`      int32 [reads]            in this entry of H,
    `read_column`     int32 [reads]            at the slot of this column; -1: slot 0
    `store_first`     int32 [transitions + 1]  and stores its run likewise
    `store_entry`     int32 [stores]
    `store_column`    int32 [stores]
    `entry_space`     int32 [entries]          columns of one space number equal values alike, and an entry
                                               has a slot for each of its values; -1: it has one slot
    `entry_next`      uint8 [entries]          1: only runs whose last event is the one right before
    ================  =======================  =========================================================
    """

    first: np.ndarray
    transition: np.ndarray
    label: np.ndarray
    accepting: np.ndarray
    read_first: np.ndarray
    read_entry: np.ndarray
    read_column: np.ndarray
    store_first: np.ndarray
    store_entry: np.ndarray
    store_column: np.ndarray
    entry_space: np.ndarray
    entry_next: np.ndarray

    @property
    def n_symbols(self) -> int:
        """Symbols are 0 .. n_symbols - 1; 0 is neutral: no transition reads it."""
        return len(self.first) - 1

    @property
    def n_fired(self):
        """Transitions that one event may take at most."""
        return int(np.diff(self.first).max(initial=0))

    @property
    def n_reads(self):
        """Look-ups of one event at most, over all its transitions."""
        return self._most(self.read_first)

    @property
    def n_stores(self):
        """Runs that one event stores at most."""
        return self._most(self.store_first)

    def _most(self, offsets):
        each = np.diff(offsets)[self.transition]
        sums = np.concatenate([[0], np.cumsum(each)])
        return int(np.diff(sums[self.first]).max(initial=0))


class KeyedEvents(NamedTuple):
    """What the kernels read of the events of a chunk.

    =========  ==========================  ==============================================================
    `symbols`  uint8 or uint16 [events]
    `slots`    int32 [columns, events]     the slot of each column; -1 where an event has no value
    `places`   int64 [events] or [0]       place in the stream, where an entry asks for the next event
    `offset`   int64 [entries + 1]         where each entry of the look-up table begins, and its size
    =========  ==========================  ==============================================================
    """

    symbols: np.ndarray
    slots: np.ndarray
    places: np.ndarray
    offset: np.ndarray


class NodeWeights(NamedTuple):
    """The numbers of answers below nodes, and what counting them takes.

    ===========  =================  =====================================================================
    `total`      int64 [nodes]      how many answers a node has, 2**62 where the number does not fit
    `earliest`   int32 [nodes]      the earliest start of one of them
    `jump`       int32 [nodes]      a node further down its list of single events; -1: it is no such list
    `memo_hit`   int32 [nodes]      scratch, -1 throughout at first: the hit for which `memo` holds
    `memo`       int64 [nodes]      scratch: how many answers of the node that hit has
    `stack`      int32 [cells]      scratch: one cell, and one for all that each node refers to
    ===========  =================  =====================================================================
    """

    total: np.ndarray
    earliest: np.ndarray
    jump: np.ndarray
    memo_hit: np.ndarray
    memo: np.ndarray
    stack: np.ndarray


class ProductNodes(NamedTuple):
    """The nodes of segments, and the roots of their hits.

    ============  =======================  ====================================================
    `arena`       int32 [capacity, 8]      the nodes
    `children`    int32 [capacity]         what the nodes gather
    `root_first`  int64 [hits + 1]         hit h has the roots root_first[h] ..
    `root_node`   int32 [capacity]
    ============  =======================  ====================================================
    """

    arena: np.ndarray
    children: np.ndarray
    root_first: np.ndarray
    root_node: np.ndarray


class SlottedEvents(NamedTuple):
    """What the kernel of groups reads of the events of a segment.

    =========  ==========================  ==============================================================
    `symbols`  uint8 or uint16 [events]
    `slots`    int32 [columns, events]     as in `KeyedEvents`
    `offset`   int64 [entries]             the group of an entry under a slot is number
    `stride`   int64 [entries]             offset + slot * stride: those of one slot are neighbours
    =========  ==========================  ==============================================================
    """

    symbols: np.ndarray
    slots: np.ndarray
    offset: np.ndarray
    stride: np.ndarray


class JoinGroups(NamedTuple):
    """The runs of a segment that are stored, group by group: each a list of cells, the latest first.

    =======  ========================  ===================================================================
    `table`  int32 [groups, 2]         the first cell of each group, and the latest start of its runs; or -1
    `cell`   int32 [capacity, PARTS]   the cells, in the order of their events
    `link`   int32 [capacity]          of runs that have gathered others the label, how many groups they have
                                       gathered, and the first cell of each
    `room`   int64 [2]                 how many cells an event may make at most, and how much of `link`
    =======  ========================  ===================================================================
    """

    table: np.ndarray
    cell: np.ndarray
    link: np.ndarray
    room: np.ndarray


class ExpandedEnds(NamedTuple):
    """Ends as they are found, with their answers.

    ========  ==================  ===================================================================
    `event`   int64 [events]      where answers end
    `start`   int64 [events]      the latest start of one
    `lowest`  int64 [events]      the least event that the window admits
    `begin`   int64 [events + 1]  end e has the rows begin[e] .. begin[e + 1] - 1
    `rows`    AnswerRows
    `order`   int32 [rows]        the rows of each end in canonical order
    `spare`   int32 [rows]        scratch
    ========  ==================  ===================================================================
    """

    event: np.ndarray
    start: np.ndarray
    lowest: np.ndarray
    begin: np.ndarray
    rows: AnswerRows
    order: np.ndarray
    spare: np.ndarray


class FilledAtoms(NamedTuple):
    """Which atoms of a rule a label fills.

    =======  =======================  ==========================================================
    `atoms`  uint8 [labels, atoms]    1 where it does; no atoms: answers are marks
    `only`   int32 [labels]           the atom that is the only one, or -1
    =======  =======================  ==========================================================
    """

    atoms: np.ndarray
    only: np.ndarray


class GroupStacks(NamedTuple):
    """Scratch of the expansion of groups.

    =========  =======================  ==========================================================
    `choice`   int32 [depth, CHOICE]    the choices made so far
    `agenda`   int32 [cells, 2]         groups still to choose from: a cell, and the next row or -1
    `atom`     int32 [atoms]            the event of each
    =========  =======================  ==========================================================
    """

    choice: np.ndarray
    agenda: np.ndarray
    atom: np.ndarray


class AnswerScratch(NamedTuple):
    """What the enumeration of answers fills in, and its scratch.

    =============  =======================  ==========================================================
    `label_atoms`  uint8 [labels, atoms]    in: the atoms that a label fills; [labels, 0]: write marks
    `pending`      int32 [stack]            nodes still to visit
    `choice`       int32 [depth, CHOICE]    the choices made so far
    `agenda`       int32 [cells, 2]         what is still to choose: a node, and the next cell or -1
    `atom`         int32 [atoms]            the event of each
    =============  =======================  ==========================================================
    """

    label_atoms: np.ndarray
    pending: np.ndarray
    choice: np.ndarray
    agenda: np.ndarray
    atom: np.ndarray


class ChosenRows(NamedTuple):
    """Answers of some hits as they are found, and where they go.

    =========  =====================  ===================================================================
    `rows`     AnswerRows
    `order`    int32 [rows]           the rows of each hit in canonical order
    `begin`    int64 [hits]           hit h has the rows order[begin[h]], order[begin[h] + 1], ...
    `row`      int64 [hits]           where the first of its answers goes; the others follow it
    `taken`    int64 [hits]           how many of its answers, the first ones, are wanted
    `low`      int                    events are numbered from this one on
    =========  =====================  ===================================================================
    """

    rows: AnswerRows
    order: np.ndarray
    begin: np.ndarray
    row: np.ndarray
    taken: np.ndarray
    low: int


def offsets(entry_space, slot_counts):
    """Where each entry of H begins, and the size of all: shape (entries + 1,), int64.

    Parameters
    ----------
    entry_space : ndarray, shape (entries,), int32
        -1: the entry has one slot.
    slot_counts : ndarray, shape (spaces,), int64
    """
    sizes = np.ones(len(entry_space), np.int64)
    keyed = entry_space >= 0
    sizes[keyed] = slot_counts[entry_space[keyed]]
    return np.concatenate([[0], np.cumsum(sizes)])
