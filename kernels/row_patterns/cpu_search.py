"""Preferred matches whose conditions speak of the match so far: a search in the order of preference.

What the rest of a match can be depends on the slot, the row and the registers alone. A choice that has failed
is remembered with them, and is not tried again.
"""

import numpy as np

from ..jit import OFTEN, inline, jit
from .code import condition, take
from .contract import (
    CROWDED,
    DEEP,
    DONE,
    FULL,
    LANE,
    MATCHED,
    MATCHES,
    NUMBER,
    OVER_BUDGET,
    OVERFLOW,
    ROW,
    SLOTS,
)
from .skips import may_start, noted

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_TURN = np.uint64(29)


@inline
def _place(memory, slot, row, depth):
    """The place of `failed` that has a slot, a row and registers, or the free one where they belong."""
    registers = memory.registers
    mixed = (np.uint64(row) * _GOLDEN) ^ np.uint64(slot)
    for k in range(registers.shape[1]):
        mixed = (mixed ^ (mixed >> _TURN) ^ np.uint64(registers[depth, k])) * _GOLDEN
    mask = memory.failed.shape[0] - 1
    place = np.int64(mixed >> _TURN) & mask
    while memory.failed[place, 0] == memory.held[0]:
        same = memory.failed[place, 1] == slot and memory.failed[place, 2] == row
        for k in range(registers.shape[1]):
            same = same and memory.failed[place, 3 + k] == registers[depth, k]
        if same:
            break
        place = (place + 1) & mask
    return place


@inline
def _remember(memory, slot, row, depth):
    """Note that a choice has failed; False where there is no place left."""
    if 2 * memory.held[1] >= memory.failed.shape[0]:
        return False
    place = _place(memory, slot, row, depth)
    if memory.failed[place, 0] != memory.held[0]:
        memory.failed[place, 0] = memory.held[0]
        memory.failed[place, 1] = slot
        memory.failed[place, 2] = row
        for k in range(memory.registers.shape[1]):
            memory.failed[place, 3 + k] = memory.registers[depth, k]
        memory.held[1] += 1
    return True


@jit
def remember_all(memory, old, stamp):
    """Note in a larger memory what another one remembers.

    ==========  ====================================  ==============================================
    `memory`    `SearchMemory`                        in/out
    `old`       int64 [power of two, 3 + registers]   in: its `failed`
    `stamp`     int64                                 in: its current stamp
    ==========  ====================================  ==============================================
    """
    for place in range(old.shape[0]):
        if old[place, 0] == stamp:
            for k in range(memory.registers.shape[1]):
                memory.registers[0, k] = old[place, 3 + k]
            _remember(memory, old[place, 1], old[place, 2], 0)


@jit
def search(choices, rows, live, program, columns, memory, span, budgets, skip, room, at, halt):
    """The preferred matches of neighbouring partitions.

    ==========  ==========================  ============================================================
    `choices`   `ChoiceLists`                   in
    `rows`      `PatternRows`               in
    `live`      (int32 [rows], uint8)       in: the state of each row and its slots, [states, slots];
                                            without rows: only masks tell what may be taken
    `program`   `SearchProgram`             in
    `columns`   `SearchColumns`             in
    `memory`    `SearchMemory`              scratch; kept from call to call
    `span`      int64                       in: as for `bounded_matches`
    `budgets`   (int64, int64)              in: how many rows may be tried for one start, and for all
                                            together besides those of the matches that are found
    `skip`      `SkipRule`                  in
    `room`      `MatchRoom`                 out
    `at`        int64 [5]                   in/out
    `halt`      uint8 [1]                   in: see `jit`
    ==========  ==========================  ============================================================

    Gives `DONE`, what `noted` gives, or why it cannot go on: `FULL`, `CROWDED`, `DEEP`, `OVER_BUDGET`,
    `OVERFLOW`.
    """
    slots = choices.variable_of.shape[0]
    states, member = live
    pruned, timed = states.shape[0] > 0, rows.times.shape[0] > 0
    path, choice = memory.path, memory.choice
    while at[LANE] < rows.lanes.shape[0] - 1:
        first, stop = rows.lanes[at[LANE]], rows.lanes[at[LANE] + 1]
        while at[ROW] < stop:
            start = at[ROW]
            if start % OFTEN == 0 and halt[0]:
                return DONE
            if not may_start(skip, start):
                at[ROW] = start + 1
                continue
            if at[MATCHES] == room.starts.shape[0]:
                return FULL
            entered = start if program.forgets or timed else first
            if memory.held[2] != entered:  # a repeated call goes on with what it remembers
                memory.held[0] += 1
                memory.held[1] = 0
                memory.held[2] = entered
            for k in range(program.begins.shape[0]):
                memory.registers[0, k] = program.begins[k]
            depth, tried, found = 0, 0, False
            listed = 0 if start == first else 1
            choice[0] = choices.bounds[listed]
            while True:
                if choice[depth] == choices.bounds[listed + 1]:
                    if depth == 0:
                        break
                    if program.remembers and not _remember(memory, path[depth - 1], start + depth - 1, depth):
                        return CROWDED
                    depth -= 1
                    listed = 0 if start == first else 1
                    if depth > 0:
                        listed = 2 + path[depth - 1]
                    continue
                target = choices.targets[choice[depth]]
                choice[depth] += 1
                if target == MATCHED:
                    found = True
                    break
                row = start + depth
                if row == stop or (timed and rows.times[row] - rows.times[start] >= span):
                    continue
                variable = choices.variable_of[target]
                if pruned:
                    if not member[states[row], target]:
                        continue
                elif not rows.masks[row] >> np.uint64(variable) & np.uint64(1):
                    continue
                if depth == path.shape[0]:
                    return DEEP
                tried += 1
                memory.held[3] += 1
                if tried > budgets[0] or memory.held[3] > budgets[1]:
                    return OVER_BUDGET
                if tried % OFTEN == 0 and halt[0]:
                    return DONE
                path[depth] = target
                take(program, columns, memory, choices.variable_of, row, depth + 1, start)
                holds = 1
                if program.conditions[variable, 0] < program.conditions[variable, 1]:
                    holds = condition(
                        program,
                        columns,
                        memory,
                        choices.variable_of,
                        variable,
                        depth + 1,
                        (first, stop),
                        start,
                        at[NUMBER] + 1,
                    )
                if holds < 0:
                    at[ROW] = row
                    return OVERFLOW
                if holds == 0:
                    continue
                if program.remembers:
                    place = _place(memory, target, row, depth + 1)
                    if memory.failed[place, 0] == memory.held[0]:
                        continue
                depth += 1
                listed = 2 + target + (slots if row == stop - 1 else 0)
                choice[depth] = choices.bounds[listed]
            if not found:
                at[ROW] = start + 1
                continue
            memory.held[3] -= depth
            if at[SLOTS] + depth > room.slots.shape[0]:
                return FULL
            for k in range(depth):
                room.slots[at[SLOTS] + k] = path[k]
            status = noted(choices.variable_of, skip, room, start, depth, at)
            if status != DONE:
                return status
        at[LANE] += 1
        at[ROW] = stop
        at[NUMBER] = 0
    return DONE
