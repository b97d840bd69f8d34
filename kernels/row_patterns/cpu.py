"""Preferred matches whose conditions speak of rows at fixed places, in time linear in the rows."""

import numpy as np

from ..jit import SELDOM, composed, inline, jit
from .contract import (
    DONE,
    FULL,
    LANE,
    MATCHED,
    MATCHES,
    MISSING,
    NONE,
    NUMBER,
    ROW,
    SLOTS,
)
from .skips import may_start, noted


@jit
def mark(holds, there, bit, masks, first):
    """Set a bit of the rows for which a condition is true.

    =========  ================  ==============================================================
    `holds`    uint8 [bytes]     in: a bit for each row, as Arrow has them
    `there`    uint8 [bytes]     in: whether the condition is not null; empty: it never is
    `bit`      as `masks`        in
    `masks`    uint8, uint16 or  in/out
               uint64 [rows]
    `first`    int64             in: the bit of row 0
    =========  ================  ==============================================================
    """
    nullable = there.shape[0] > 0
    for row in range(masks.shape[0]):
        place = first + row
        value = holds[place >> 3] >> (place & 7) & 1
        if nullable:
            value &= there[place >> 3] >> (place & 7) & 1
        if value:
            masks[row] |= bit


@jit
def live(symbols, lanes, table, states, at, halt):
    """The state of each row: which slots take it and can be completed; backward.

    =========  ==========================  ========================================================
    `symbols`  int32 [rows]                in
    `lanes`    int64 [lanes + 1]           in: neighbouring partitions
    `table`    int32 [states, symbols]     in: the state before a row, from the one behind it; 0 is
                                           behind the last row; -1: not known yet
    `states`   int32 [rows]                out
    `at`       int64 [5]                   in/out: `LANE` counts down, `ROW` is the row to do next
    `halt`     uint8 [1]                   in: see `jit`
    =========  ==========================  ========================================================

    Gives `DONE`, or `MISSING`: table[the state behind row at[ROW], its symbol] is not known.
    """
    while at[LANE] >= 0:
        lane = at[LANE]
        row, first, stop = at[ROW], lanes[lane], lanes[lane + 1]
        state = np.int32(0) if row == stop - 1 else states[row + 1]
        while row >= first:
            if row % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
                return DONE
            state = table[state, symbols[row]]
            if state < 0:
                at[ROW] = row
                return MISSING
            states[row] = state
            row -= 1
        at[LANE] = lane - 1
        at[ROW] = first - 1
    return DONE


@inline
def _next_choice(choices, member, state, begin, stop):
    """The first choice of a list that can be completed."""
    for k in range(begin, stop):
        target = choices.targets[k]
        if target == MATCHED or member[state, target]:
            return target
    return np.int32(NONE)


@jit
def choose(choices, member, begins, follows):
    """Look the choices up once: for each slot and state behind its row, and for each state at a start.

    ==========  ============================  ====================================================
    `choices`   `ChoiceLists`                 in
    `member`    uint8 [states, slots]         in: which slots a state has
    `begins`    int32 [2, states]             out: at the first row of a partition, at others
    `follows`   int32 [slots, states]         out: state 0 is behind the last row
    ==========  ============================  ====================================================
    """
    slots = choices.variable_of.shape[0]
    for state in range(member.shape[0]):
        for k in range(2):
            begins[k, state] = _next_choice(choices, member, state, choices.bounds[k], choices.bounds[k + 1])
        for slot in range(slots):
            behind = 2 + slot + (slots if state == 0 else 0)
            begin, stop = choices.bounds[behind], choices.bounds[behind + 1]
            follows[slot, state] = _next_choice(choices, member, state, begin, stop)


# The pieces are put in by `composed`.
# ruff: noqa: F821


def follow_choices(choices, lanes, skip, room, at, halt):
    """The preferred matches of neighbouring partitions: from each start the first choices that hold.

    ==============  ===============================  =================================================
    `choices`       `TabledChoices`,                 in: what the pieces read
                    `BoundedChoices`
    `lanes`         int64 [lanes + 1]                in: neighbouring partitions
    `skip`          `SkipRule`                       in
    `room`          `MatchRoom`                      out
    `at`            int64 [5]                        in/out
    `halt`          uint8 [1] or [0]                 in: see `jit`
    ==============  ===============================  =================================================

    Gives `DONE`, `FULL`, or what `noted` gives. The pieces:

    ==================================================  ==============================================
    `enter(choices, first, stop, halt)`                 look at a partition before its matches are found
    `reach(choices, stop, start, last)`                 the last row that a match may have; `last` is that
                                                        of the start before
    `begin(choices, first, stop, start, last)`          the first choice of a start
    `go_on(choices, first, stop, slot, row, last)`      the choice behind a slot that took a row
    ==================================================  ==============================================
    """
    while at[LANE] < lanes.shape[0] - 1:
        first, stop = lanes[at[LANE]], lanes[at[LANE] + 1]
        if halt.shape[0] > 0 and halt[0]:
            return DONE
        enter(choices, first, stop, halt)
        last = at[ROW]
        while at[ROW] < stop:
            start = at[ROW]
            if start % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
                return DONE
            if not may_start(skip, start):
                at[ROW] = start + 1
                continue
            last = reach(choices, stop, start, last)
            choice = begin(choices, first, stop, start, last)
            if choice == NONE:
                at[ROW] = start + 1
                continue
            if at[MATCHES] == room.starts.shape[0]:
                return FULL
            row, place, most = start, at[SLOTS], room.slots.shape[0]
            while choice >= 0:
                if place == most:
                    return FULL
                if row % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
                    return DONE
                room.slots[place] = choice
                place += 1
                choice = go_on(choices, first, stop, choice, row, last)
                row += 1
            status = noted(choices.variable_of, skip, room, start, row - start, at)
            if status != DONE:
                return status
        at[LANE] += 1
        at[ROW] = stop
        at[NUMBER] = 0
    return DONE


@inline
def nothing_before(choices, first, stop, halt):
    return


@inline
def whole_partition(choices, stop, start, last):
    return stop - 1


@inline
def first_tabled(choices, first, stop, start, last):
    return choices.begins[0 if start == first else 1, choices.states[start]]


@inline
def next_tabled(choices, first, stop, slot, row, last):
    return choices.follows[slot, choices.states[row + 1] if row + 1 < stop else 0]


@inline
def earliest_ends(choices, first, stop, halt):
    """For each row of a partition and slot the last row of the shortest completion; -1: none."""
    if choices.entered[0] == first:
        return
    lists, ends = choices.lists, choices.ends
    slots = choices.variable_of.shape[0]
    for row in range(stop - 1, first - 1, -1):
        if halt[0]:
            return
        for slot in range(slots):
            ends[row - first, slot] = -1
            if not choices.masks[row] >> np.uint64(choices.variable_of[slot]) & np.uint64(1):
                continue
            behind = 2 + slot + (slots if row == stop - 1 else 0)
            least = -1
            for k in range(lists.bounds[behind], lists.bounds[behind + 1]):
                target = lists.targets[k]
                end = row
                if target != MATCHED:
                    end = ends[row + 1 - first, target] if row + 1 < stop else -1
                if end >= 0 and (least < 0 or end < least):
                    least = end
            ends[row - first, slot] = least
    if stop > first:
        choices.entered[0] = first


@inline
def last_in_time(choices, stop, start, last):
    if choices.times.shape[0] == 0:
        return stop - 1
    found = max(last, start)
    while found + 1 < stop and choices.times[found + 1] - choices.times[start] < choices.span:
        found += 1
    return found


@inline
def _bounded_choice(choices, first, stop, row, last, listed):
    """The first choice of a list at a row that is completed by the row `last`."""
    lists = choices.lists
    for k in range(lists.bounds[listed], lists.bounds[listed + 1]):
        target = lists.targets[k]
        if target == MATCHED:
            return target
        if row < stop and 0 <= choices.ends[row - first, target] <= last:
            return target
    return np.int32(NONE)


@inline
def first_bounded(choices, first, stop, start, last):
    return _bounded_choice(choices, first, stop, start, last, 0 if start == first else 1)


@inline
def next_bounded(choices, first, stop, slot, row, last):
    listed = 2 + slot + (choices.variable_of.shape[0] if row == stop - 1 else 0)
    return _bounded_choice(choices, first, stop, row + 1, last, listed)


matches = composed(
    follow_choices,
    "matches",
    enter=nothing_before,
    reach=whole_partition,
    begin=first_tabled,
    go_on=next_tabled,
)
"""With the choices of `choose`, by the states of `live`."""

bounded_matches = composed(
    follow_choices,
    "bounded_matches",
    enter=earliest_ends,
    reach=last_in_time,
    begin=first_bounded,
    go_on=next_bounded,
)
"""With what ends in time, which is found for each partition before."""
