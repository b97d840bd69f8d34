"""Matches of row patterns: the arrays, and what is computed.

Rows are in their order, partition after partition. A pattern is an automaton whose slots each take a row, and
lists of what may come next, the preferred first (`cer_gpu.patterns.choices`). From a row on the match is
wanted that takes the first choice of each list which can still be completed.

There are three ways to find it:

- `live` and `matches`: conditions speak of rows at fixed places. Backward, the set of slots that can be
  completed from each row is a state of the determinised reverse automaton; forward, the choice is looked up
  by slot and state. Both are linear in the rows, whatever the pattern.
- `bounded_matches`: the same where a match must end before a time (WITHIN), or where there would be too many
  such states: for each row and slot the earliest end of a completion.
- `search`: conditions speak of the match so far. Choices are tried in order; what has failed is remembered.
"""

from typing import NamedTuple

import numpy as np

MATCHED, NONE = -1, -2
"""Of a choice: the match ends here; nothing can be completed."""

PAST_LAST_ROW, TO_NEXT_ROW, TO_FIRST, TO_LAST = range(4)
"""Where the search goes on behind a match."""

DONE, FULL, MISSING, FIRST_ROW, ABSENT, OVER_BUDGET, OVERFLOW, CROWDED, DEEP = range(9)
"""How a call ends: all is done; a room is full; a transition is not known yet; AFTER MATCH SKIP leads to the
first row of the match, or to a variable without a row; the search takes too long; a number does not fit 64
bits; the memory of what has failed is full; a match is longer than the registers have room for."""

LANE, ROW, MATCHES, SLOTS, NUMBER = range(5)
"""Where a call has come to, and what it has written: the lane, the row that is tried next, the number of
matches and of slots in the room, and of matches in the lane."""


class ChoiceLists(NamedTuple):
    """An automaton with ordered choices.

    Attributes
    ----------
    variable_of : ndarray, shape (slots,), int32
    bounds : ndarray, shape (2 * slots + 3,), int64
        The list k is targets[bounds[k]] .. targets[bounds[k + 1] - 1]: 0 at the first row of a partition, 1
        at another row, 2 + s behind slot s, 2 + slots + s behind slot s at the last row.
    targets : ndarray, int32
        Slots, or `MATCHED`.
    """

    variable_of: np.ndarray
    bounds: np.ndarray
    targets: np.ndarray


class PatternRows(NamedTuple):
    """Rows of partitions.

    Attributes
    ----------
    masks : ndarray, shape (rows,), uint64
        Bit v is set where the condition of variable v may hold.
    lanes : ndarray, shape (lanes + 1,), int64
        Partition k has the rows lanes[k] .. lanes[k + 1] - 1.
    times : ndarray, shape (rows,) or (0,), int64
        The first sort key, ascending, where there is a WITHIN.
    """

    masks: np.ndarray
    lanes: np.ndarray
    times: np.ndarray


class TabledChoices(NamedTuple):
    """Choices that were looked up once, for `matches`.

    ==============  =======================  ===========================================
    `variable_of`   int32 [slots]            as in `ChoiceLists`
    `begins`        int32 [2, states]        from `choose`
    `follows`       int32 [slots, states]    from `choose`
    `states`        int32 [rows]             from `live`
    ==============  =======================  ===========================================
    """

    variable_of: np.ndarray
    begins: np.ndarray
    follows: np.ndarray
    states: np.ndarray


class BoundedChoices(NamedTuple):
    """Choices of which only those count that are completed in time, for `bounded_matches`.

    ==============  ============================  =========================================================
    `variable_of`   int32 [slots]                 as in `ChoiceLists`
    `lists`         `ChoiceLists`
    `masks`         uint64 [rows]                 as in `PatternRows`
    `times`         int64 [rows] or [0]           as in `PatternRows`
    `span`          int64                         a match's last time is less than this behind its first
    `ends`          int64 [longest lane, slots]   scratch
    `entered`       int64 [1]                     scratch: the first row of the lane that `ends` is of, or -1
    ==============  ============================  =========================================================
    """

    variable_of: np.ndarray
    lists: ChoiceLists
    masks: np.ndarray
    times: np.ndarray
    span: int
    ends: np.ndarray
    entered: np.ndarray


class MatchRoom(NamedTuple):
    """Matches that were found, in the order of their partitions and starts.

    Attributes
    ----------
    starts, lengths : ndarray, shape (room,), int64
        The first row, and how many rows; 0 rows: an empty match.
    slots : ndarray, shape (room,), int32
        The slots of all matches, one after the other.
    """

    starts: np.ndarray
    lengths: np.ndarray
    slots: np.ndarray


class SkipRule(NamedTuple):
    """AFTER MATCH SKIP, and the rows at which matches may start.

    Attributes
    ----------
    mode : int
        `PAST_LAST_ROW` .. `TO_LAST`.
    takes : ndarray, shape (variables,), uint8
        1: a variable of TO FIRST or TO LAST.
    starts : ndarray, shape (rows,) or (0,), uint8
        0: no match may start at the row; without rows one may start at any.
    """

    mode: int
    takes: np.ndarray
    starts: np.ndarray


class SearchProgram(NamedTuple):
    """Conditions on the match so far, as code, and the registers that it reads.

    A *word* is 64 bits: a whole number, a float, a truth value, the rank of a text. Arrays of words are
    int64; `_reals` views of them give the same bits as floats.

    Attributes
    ----------
    code : ndarray, shape (instructions, 4), int64
        Operation and operands; instruction k writes cell k.
    conditions : ndarray, shape (variables, 2), int64
        The code of a variable's condition is that of the cells from .. to - 1; the last is its value.
    constants : ndarray, int64
        Words.
    updates : ndarray, shape (updates, 6), int64
        How a row that is taken changes registers: kind, a bit for each variable that it concerns, register,
        column, another number, whether only a value counts that is new in the match.
    begins : ndarray, shape (registers,), int64
        The registers before the first row.
    remembers : int
        1: what has failed may be remembered, since the registers say all that conditions ask for.
    forgets : int
        1: only for one start, since conditions ask for the number of the match. So it is where WITHIN bounds
        the time from the start on.
    """

    code: np.ndarray
    conditions: np.ndarray
    constants: np.ndarray
    updates: np.ndarray
    begins: np.ndarray
    remembers: int
    forgets: int


class SearchColumns(NamedTuple):
    """The values that conditions on the match so far read.

    Attributes
    ----------
    words : ndarray, shape (columns, rows), int64
    absent : ndarray, shape (columns, rows), uint8
        1: null.
    """

    words: np.ndarray
    absent: np.ndarray


class SearchMemory(NamedTuple):
    """What a search works on; one for each thread.

    Attributes
    ----------
    registers, registers_reals : ndarray, shape (depth + 1, registers), int64 and float64
        After each row of the match that is tried; two views of one array.
    cells, cells_reals : ndarray, shape (instructions,), int64 and float64
        Two views of one array.
    empty : ndarray, shape (instructions,), uint8
        Which cells are null (1), or not known since a number does not fit 64 bits (2 and 3: see `code`).
    choice : ndarray, shape (depth + 1,), int64
        The entry of the list that is tried next behind each row.
    path : ndarray, shape (depth,), int32
        The slots of the match that is tried.
    failed : ndarray, shape (power of two, 3 + registers), int64
        What has failed: a stamp, slot, row, registers. It is free where the stamp is not the current one.
    held : ndarray, shape (4,), int64
        The current stamp; how many places of `failed` have it; the row with whose partition or start it
        began, -1 at first; how many rows have been tried so far besides those of the matches that were found.
    """

    registers: np.ndarray
    registers_reals: np.ndarray
    cells: np.ndarray
    cells_reals: np.ndarray
    empty: np.ndarray
    choice: np.ndarray
    path: np.ndarray
    failed: np.ndarray
    held: np.ndarray


def live_reference(choices, masks, last):
    """For each row of one partition the slots that take it and can be completed: a list of sets.

    `choices`: `ChoiceLists`; `masks`: a sequence of ints; `last`: whether the rows end with the partition.
    """
    slots = len(choices.variable_of)
    live = [set() for _ in range(len(masks) + 1)]
    for row in reversed(range(len(masks))):
        for slot in range(slots):
            if not int(masks[row]) >> int(choices.variable_of[slot]) & 1:
                continue
            behind = 2 + slot + (slots if last and row == len(masks) - 1 else 0)
            targets = choices.targets[choices.bounds[behind] : choices.bounds[behind + 1]]
            if any(target == MATCHED or target in live[row + 1] for target in targets):
                live[row].add(slot)
    return live[:-1]
