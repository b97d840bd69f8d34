"""The contract of configurations: what events do to them as tables that grow, and where they are kept.

A configuration is a shape and the values of its slots (`cer_gpu.automata.configurations.shapes`). What an
event does to it is looked up in a decision tree, one for each shape and symbol. A reference into the trees is
the number of a node where it is at least 0; `STAYS` where the event changes nothing; `UNKNOWN` where the host
has to work out what follows first; and otherwise the leaf `-(reference + FIRST_LEAF)`.
"""

from typing import NamedTuple

import numpy as np

from ..suppress.contract import NEVER_QUIET, QuietTimes

UNKNOWN = -1

STAYS = -2

FIRST_LEAF = 3
"""Leaf n is the reference -(n + FIRST_LEAF)."""

SLOT, OTHER, TEST, NO, YES, PASSES, NODE_COLUMNS = range(7)
"""Columns of a node: the slot that is tested, the slot that it is compared with, the test, and the references
that follow; and whether configurations to which the test gives one answer stay as they are until they are
late, so that others may be looked up.

`NODE_COLUMNS` is their number. In a comparison a slot below 0 is the value of the event in the column that
the test names."""

EQUAL, RISING, FALLING, RISING_FAILED, FALLING_FAILED = range(1, 6)
"""What `PASSES` says, if not 0: which configurations of the shape an event has to be tested with. `EQUAL`:
those with its value. `RISING`, `FALLING`: those with the least (greatest) values, as long as the test holds;
all others stay as they are. The last two: as long as it fails."""

RANKED = 2
"""Which index a shape has: below it the value's hash, of whole numbers (0) or floats (1); from it on the
order of the values, of whole numbers (2) or floats (3)."""

ROOT, GROUP_COLUMNS = 3, 4
"""The column of a group with the root of its search tree, and how many columns a group has."""

OF_TIME, OF_PLACES, IS_KNOWN, LESS, AT_MOST, SAME, OTHER_THAN, WORKED_OUT = range(8)
"""What a test asks: whether an age, in time or in places, is within bounds; whether the event has a value;
whether the first value is less than, at most, equal to or different from the second; whether the value of a
program is 1."""

LABEL, FLAGS, TARGET, SLOTS, SLOT_AT, OUTCOME_COLUMNS = range(6)
"""Columns of an outcome: the label (0: none), its flags, the shape that it leads to (-1: none), how many
slots this shape has, and where their values begin in `source`."""

STARTS, ACCEPTS, REMAINS = 1, 2, 4
"""Flags of outcomes. `REMAINS`: the outcome is the configuration itself, which stays where it is."""

(
    DONE, STEP_MISSING, CONFIGURATIONS_FULL, GROUPS_FULL, ARENA_FULL, ROOTS_FULL, LIMBS_FULL, TOUCHED_FULL,
    TOO_MANY, SWEEP, TOO_LARGE, LOOK_AHEAD,
) = range(12)  # fmt: skip
"""Status of the kernel that follows configurations: it is done, or what it needs first."""

LIMB = 1 << 62
"""The base of counts."""

NO_WINDOW, TIME_WINDOW, PLACE_WINDOW = range(3)

(
    EVENT, COUNT, FREE, HIT, ROOTS, NODES, LINKS, TOP, MISSING, NEEDED, SWEEP_AT, LANE, EPOCH, WORK, AHEAD_AT,
    HOPELESS, TESTED, WORDS,
) = range(18)  # fmt: skip
"""Words of `progress`: the next event; configurations in use, and the first free row; ends, roots and nodes;
the first free group; the largest leading digit of a count; the row for which a step is missing; how many
entries an event needs; the number of configurations from which late ones are searched; the next lane of that
search; the number of reports that dropped all lanes; configurations that events have changed; the number of
configurations from which the kernel looks ahead; configurations that were dropped because none of their
complex events ends in time; configurations that events have been tested with. `WORDS` is their number."""


(
    LOAD, CONSTANT, TO_REAL, PLUS, MINUS, TIMES, REST, OPPOSITE, SIZE, REAL_PLUS, REAL_MINUS, REAL_TIMES,
    REAL_DIVIDED, REAL_REST, REAL_OPPOSITE, REAL_SIZE, DOWN, UP, NEAREST, COALESCED, SUM_LOW, SUM_HIGH, FITS,
    IS_LESS, IS_AT_MOST, IS_SAME, IS_OTHER, REAL_IS_LESS, REAL_IS_AT_MOST, REAL_IS_SAME, REAL_IS_OTHER,
    BESIDE_REAL, SPANS, NOTHING, CONTAINS, BEGINS, ENDS,
) = range(37)  # fmt: skip
"""What an instruction of a program does with the values on top of its stack; whole numbers have 64 bits.

`LOAD` puts a value there (`Programs`), `CONSTANT` its argument; `TO_REAL` makes a float of a whole number.
Arithmetic is of whole numbers, or of floats where the name begins with `REAL`; `REST` is `%`, `OPPOSITE` a
negation, `SIZE` ABS, and a division by zero gives nothing. `DOWN`, `UP` and `NEAREST` round floats to whole
numbers. `COALESCED` takes the second of two where the first is nothing. A sum of whole numbers has two words:
`SUM_LOW` adds to the low one, `SUM_HIGH` takes (low, high, value) and gives the high one, `FITS` takes (low,
high) and gives the sum. Comparisons give 1 or 0; `BESIDE_REAL` compares a whole number with a float: -1, 0 or
1. `SPANS` takes (last, first, size): whether the last is at most so much above the first. `NOTHING` puts a
null there. `CONTAINS`, `BEGINS` and `ENDS` take the labels of two texts, and ask where the second stands in
the first."""


class HeldTexts(NamedTuple):
    """The texts that labels stand for.

    =======  ==================  ====================================================
    `label`  int64 [texts]       ascending
    `place`  int64 [texts, 2]    where the UTF-8 of each begins in `byte`, and ends
    `byte`   uint8 [bytes]
    =======  ==================  ====================================================
    """

    label: np.ndarray
    place: np.ndarray
    byte: np.ndarray


NO_TEXTS = HeldTexts(np.zeros(1, np.int64), np.zeros((1, 2), np.int64), np.zeros(1, np.uint8))
"""Where no program looks for a text in another."""


class Programs(NamedTuple):
    """Small programs that compute values: comparisons of several values, and registers of aggregates.

    A value has a number: 0 and more are the slots of a configuration, -1 the time of the event, -2 its
    place, -3 - c its value in column c of C columns, -3 - C - n the value of program n.

    =======  =======================  ===================================================================
    `first`  int32 [programs + 1]     program n has the instructions first[n] .. first[n + 1] - 1
    `code`   int64 [instructions, 2]  each instruction, and its argument (a float by its bits)
    `stack`  int64 [depth]            scratch; a program leaves its value in stack[0]
    `reals`  float64 [depth]          the same memory
    `known`  uint8 [depth]            scratch: 0 where a value is null
    `texts`  HeldTexts                of the labels that CONTAINS, BEGINS and ENDS take; else none
    =======  =======================  ===================================================================
    """

    first: np.ndarray
    code: np.ndarray
    stack: np.ndarray
    reals: np.ndarray
    known: np.ndarray
    texts: HeldTexts


class Steps(NamedTuple):
    """What events do to shapes, as far as the host has worked it out.

    ============  =================================  =======================================================
    `root`        int32 [shapes, symbols + 1]        the root of each tree; the last symbol: time passes
    `tree`        int32 [nodes, NODE_COLUMNS]
    `leaf`        int32 [leaves + 1]                 leaf n has the outcomes leaf[n] .. leaf[n + 1] - 1
    `outcome`     int32 [outcomes, OUTCOME_COLUMNS]
    `source`      int32 [entries]                    for each slot of a target the value that it gets, as
                                                     `Programs` names values
    `started`     uint8 [shapes]                     whether complex events have started
    `slots`       int32 [shapes]                     how many slots each shape has
    `indexed`     int32 [shapes, 2]                  the slot by whose value configurations are looked up,
                                                     -1: none; and how, see `RANKED`
    `completing`  int32 [shapes, 2]                  where the states of the relaxed automaton begin and end
                                                     in `completion` that it may end from; none: not known
    `completion`  int32 [entries]
    `measure`     uint8 [tests]                      what it asks, `OF_TIME` and so on
    `column`      int32 [tests, 2]                   the columns of the two values that it compares
    `real`        uint8 [columns]                    whether its values are floats
    `low`         dtype of slots [tests]             the least and the greatest age, both included
    `high`        dtype of slots [tests]
    ============  =================================  =======================================================
    """

    root: np.ndarray
    tree: np.ndarray
    leaf: np.ndarray
    outcome: np.ndarray
    source: np.ndarray
    started: np.ndarray
    slots: np.ndarray
    indexed: np.ndarray
    completing: np.ndarray
    completion: np.ndarray
    measure: np.ndarray
    column: np.ndarray
    real: np.ndarray
    low: np.ndarray
    high: np.ndarray


class TimedEvents(NamedTuple):
    """Events of a stream, in its order.

    ===========  ==================================  ==================================================
    `symbols`    uint8 or uint16 [events]
    `lanes`      int32 [events] or [0]               empty: all are in one lane
    `times`      dtype of slots [events] or [0]      empty where no clock measures time
    `places`     dtype of slots [events] or [0]      in the partition; empty where none measures events
    `number`     int64 [events]                      the event's number in configurations and nodes
    `values`     int64 [columns, events]             what later events are compared with: whole numbers, or
                                                     the bits of floats
    `reals`      float64 [columns, events]           the same memory
    `known`      uint8 [columns, events]             0 at a null and at a NaN
    `ends`       dtype of slots [events, states]     for each state of the relaxed automaton the least that
                 or [0, 0]                           the window measures where a run ends that is in it behind
                                                     the event; empty where that is not known
    `quiet`      QuietTimes                               the ends at these events that consume nothing
    ===========  ==================================  ==================================================
    """

    symbols: np.ndarray
    lanes: np.ndarray
    times: np.ndarray
    places: np.ndarray
    number: np.ndarray
    values: np.ndarray
    reals: np.ndarray
    known: np.ndarray
    ends: np.ndarray
    quiet: QuietTimes = NEVER_QUIET


class StateRows(NamedTuple):
    """The configurations that are kept, one for each row.

    ==========  ============================================  ===============================================
    `shape`     int32 [room]                                  -1 where none is
    `lane`      int32 [room]
    `next`      int32 [room]                                  the next one of its group, or the next free row
    `before`    int32 [room]                                  the one before it in its group, -1: none
    `chain`     int32 [room]                                  the next one with the same hash
    `bucket`    int32 [2 ** k]                                the first one with each hash; -1: none
    `peer`      int32 [room] or [0]                           the next one with the same hash of the value by
                                                              which its shape is looked up; in a search tree
                                                              the one below it with lesser values, -1: none
    `peered`    int32 [room] or [0]                           the one before it with that hash, -1: none; in a
                                                              search tree the one below with greater values
    `above`     int32 [room] or [0]                           the one above it in a search tree, -1: none
    `heads`     int32 [2 ** k] or [0]                         the first one with each such hash; -1: none
    `slots`     uint64 or float64 [room, most slots]
    `bits`      int64 [room, most slots]                      the same memory
    `reals`     float64 [room, most slots]                    the same memory
    `began`     int64 [room, 2]                               the least and the greatest start
    `since`     dtype of slots [room]                         what the window measures at the greatest start
    `node`      int64 [room]                                  the node of its complex events
    `number`    int64 [room, limbs]                           its complex events, in digits of base 2 ** 62
    ==========  ============================================  ===============================================

    A configuration in which nothing is marked yet has no complex events.
    """

    shape: np.ndarray
    lane: np.ndarray
    next: np.ndarray
    before: np.ndarray
    chain: np.ndarray
    bucket: np.ndarray
    peer: np.ndarray
    peered: np.ndarray
    above: np.ndarray
    heads: np.ndarray
    slots: np.ndarray
    bits: np.ndarray
    reals: np.ndarray
    began: np.ndarray
    since: np.ndarray
    node: np.ndarray
    number: np.ndarray


class Groups(NamedTuple):
    """The configurations of each lane, by shape.

    ========  ================  ===================================================
    `lane`    int64 [lanes, 3]  the first group (-1: none), the last report that it
                                has seen, whether the lane has begun
    `now`     slots [lanes, 2]  the time and the place of its last event
    `group`   int32 [room, 4]   shape, first configuration (-1: none), next group, and
                                the root of its search tree (-1: none)
    ========  ================  ===================================================
    """

    lane: np.ndarray
    now: np.ndarray
    group: np.ndarray


class OldRows(NamedTuple):
    """Scratch: the configurations that an event changes, as they are before it.

    ==========  ====================  =====================================================
    `leaf`      int64 [room, 2]       their rows, then their shapes; and their leaves
    `slots`     as in `StateRows`
    `bits`      as in `StateRows`
    `began`     as in `StateRows`
    `since`     as in `StateRows`
    `node`      as in `StateRows`
    `number`    as in `StateRows`
    ==========  ====================  =====================================================
    """

    leaf: np.ndarray
    slots: np.ndarray
    bits: np.ndarray
    began: np.ndarray
    since: np.ndarray
    node: np.ndarray
    number: np.ndarray


class StateEnds(NamedTuple):
    """Where complex events end, and which.

    ==============  =======================  ========================================================
    `event`         int64 [ends]             which of the events, ascending
    `lowest`        int64 [ends]             the least start of those that end there
    `latest`        int64 [ends]             the greatest one
    `number`        int64 [ends, limbs]      how many they are
    `root_first`    int64 [ends + 1]         as in `cer_gpu.kernels.forest.contract.Roots`
    `root_label`    int32 [roots]
    `root_node`     int64 [roots]
    ==============  =======================  ========================================================
    """

    event: np.ndarray
    lowest: np.ndarray
    latest: np.ndarray
    number: np.ndarray
    root_first: np.ndarray
    root_label: np.ndarray
    root_node: np.ndarray


class Rules(NamedTuple):
    """What a complex event may span, what it consumes, and how much may be kept.

    ============  =================  ====================================================================
    `window`      int64              `NO_WINDOW`, or what the window of hits measures
    `spans`       int64              what the query's window measures, also where slots keep the start
    `size`        dtype of slots     the size of the window
    `consumes`    int64              `NOTHING`, `ALL_LANES` or `OWN_LANE` of `kernels.streams.contract`
    `most`        int64              the most configurations that are kept
    ============  =================  ====================================================================
    """

    window: int
    spans: int
    size: int | float
    consumes: int
    most: int
