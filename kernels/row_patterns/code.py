"""The code of conditions on the match so far: operations of cells, and what a row changes in registers."""

import numpy as np

from ..jit import inline, jit

(
    WORD,
    NULL,
    LOAD,
    TAKE,
    TAKE_FILLED,
    VARIABLE,
    NUMBER,
    TO_REAL,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    NEGATE,
    ADD_REALS,
    SUBTRACT_REALS,
    MULTIPLY_REALS,
    DIVIDE_REALS,
    REMAINDER_REALS,
    NEGATE_REAL,
    EQUAL,
    LESS,
    EQUAL_REALS,
    LESS_REALS,
    AND,
    OR,
    NOT,
    IS_NULL,
    CHOOSE,
) = range(29)
"""Operations. `WORD` a: a constant. `LOAD` a, b, c: column c of the row b rows behind that of register a.
`TAKE` a: a register; `TAKE_FILLED` a, b: null where register b is 0. `VARIABLE` a, b, c: of a row of the
match, found as by `LOAD`; the constants from c on are the words of the variables. `NUMBER`: of the match.
`CHOOSE` a, b, c: b where a is true, otherwise c. The others compute with cells; quotients and remainders of
whole numbers by 0 are null, and are cut towards 0."""

FIRST_ROWS, LAST_ROWS, ROWS, VALUES, SUM, SUM_REALS, LEAST, GREATEST, LEAST_REAL, GREATEST_REAL = range(10)
"""Kinds of updates. `FIRST_ROWS` and `LAST_ROWS` keep as many rows as the other number says, in neighbouring
registers, the first or the last one first. `LEAST` and its like read in the register of the other number
whether there was a value before."""

_MOST = np.iinfo(np.int64).max
_ABSENT = -1


@inline
def _row_of(register, offset, first, stop):
    """The row that is `offset` rows behind that of a register; -1 where there is none."""
    row = _ABSENT
    if register >= 0:
        moved = register + offset
        if first <= moved < stop:
            row = moved
    return row


@jit
def condition(program, columns, memory, variable_of, variable, depth, lane, start, number):
    """Compute the condition of a variable for the last row of the match that is tried.

    ==============  =====================  ==========================================================
    `program`       `SearchProgram`        in
    `columns`       `SearchColumns`        in
    `memory`        `SearchMemory`         in: registers[depth], path[: depth]; scratch: cells
    `variable_of`   int32 [slots]          in
    `variable`      int64                  in
    `depth`         int64                  in: the rows of the match, that one included
    `lane`          (int64, int64)         in: the first row of the partition, and the row behind its last
    `start`         int64                  in: the first row of the match
    `number`        int64                  in: of the match in its partition
    ==============  =====================  ==========================================================

    Gives 1 where it is true, 0 where it is false or null, -1 where a number does not fit 64 bits.
    """
    cells, reals, empty = memory.cells, memory.cells_reals, memory.empty
    registers = memory.registers
    begin, end = program.conditions[variable, 0], program.conditions[variable, 1]
    for k in range(begin, end):
        operation, a, b, c = program.code[k, 0], program.code[k, 1], program.code[k, 2], program.code[k, 3]
        null = 0
        if operation == WORD:
            cells[k] = program.constants[a]
        elif operation == LOAD:
            row = _row_of(registers[depth, a], b, lane[0], lane[1])
            null = 1
            if row >= 0:
                cells[k] = columns.words[c, row]
                null = columns.absent[c, row]
        elif operation == TAKE:
            cells[k] = registers[depth, a]
        elif operation == TAKE_FILLED:
            cells[k] = registers[depth, a]
            null = 1 if registers[depth, b] == 0 else 0
        elif operation == VARIABLE:
            row = _row_of(registers[depth, a], b, start, start + depth)
            null = 1
            if row >= 0:
                cells[k] = program.constants[c + variable_of[memory.path[row - start]]]
                null = 0
        elif operation == NUMBER:
            cells[k] = number
        elif operation == IS_NULL:
            cells[k] = 1 if empty[a] else 0
        elif operation == NULL:
            null = 1
        elif operation == AND:
            if (not empty[a] and cells[a] == 0) or (not empty[b] and cells[b] == 0):
                cells[k] = 0
            else:
                cells[k] = 1
                null = empty[a] | empty[b]
        elif operation == OR:
            if (not empty[a] and cells[a] != 0) or (not empty[b] and cells[b] != 0):
                cells[k] = 1
            else:
                cells[k] = 0
                null = empty[a] | empty[b]
        elif operation == CHOOSE:
            chosen = b if not empty[a] and cells[a] != 0 else c
            cells[k] = cells[chosen]
            null = empty[chosen]
        elif empty[a] or (b >= 0 and empty[b]):
            null = 1
        elif operation == EQUAL:
            cells[k] = 1 if cells[a] == cells[b] else 0
        elif operation == LESS:
            cells[k] = 1 if cells[a] < cells[b] else 0
        elif operation == EQUAL_REALS:
            cells[k] = 1 if reals[a] == reals[b] else 0
        elif operation == LESS_REALS:
            cells[k] = 1 if reals[a] < reals[b] else 0
        elif operation == NOT:
            cells[k] = 1 - cells[a]
        elif operation == TO_REAL:
            reals[k] = np.float64(cells[a])
        elif operation == ADD_REALS:
            reals[k] = reals[a] + reals[b]
        elif operation == SUBTRACT_REALS:
            reals[k] = reals[a] - reals[b]
        elif operation == MULTIPLY_REALS:
            reals[k] = reals[a] * reals[b]
        elif operation == DIVIDE_REALS:
            reals[k] = reals[a] / reals[b]
        elif operation == REMAINDER_REALS:
            reals[k] = np.fmod(reals[a], reals[b])
        elif operation == NEGATE_REAL:
            reals[k] = -reals[a]
        elif operation in (DIVIDE, REMAINDER):
            if cells[b] == 0:
                null = 1
            elif cells[b] == -1:
                if cells[a] == -_MOST - 1:
                    return -1
                cells[k] = -cells[a] if operation == DIVIDE else 0
            else:
                quotient = abs(cells[a]) // abs(cells[b])
                if (cells[a] < 0) != (cells[b] < 0):
                    quotient = -quotient
                cells[k] = quotient if operation == DIVIDE else cells[a] - quotient * cells[b]
        elif operation == ADD:
            total = cells[a] + cells[b]
            if (total ^ cells[a]) & (total ^ cells[b]) < 0:
                return -1
            cells[k] = total
        elif operation == SUBTRACT:
            total = cells[a] - cells[b]
            if (cells[a] ^ cells[b]) & (total ^ cells[a]) < 0:
                return -1
            cells[k] = total
        elif operation == NEGATE:
            if cells[a] == -_MOST - 1:
                return -1
            cells[k] = -cells[a]
        else:
            if abs(np.float64(cells[a]) * np.float64(cells[b])) > 9.2e18:
                return -1
            cells[k] = cells[a] * cells[b]
        empty[k] = null
    return 1 if not empty[end - 1] and cells[end - 1] != 0 else 0


@inline
def _is_new(updates, columns, path, variable_of, k, row, start, depth):
    """Whether no earlier row of the match that an update concerns has the value of a row."""
    column = updates[k, 3]
    for earlier in range(depth - 1):
        if (
            updates[k, 1] >> variable_of[path[earlier]] & 1
            and not columns.absent[column, start + earlier]
            and columns.words[column, start + earlier] == columns.words[column, row]
        ):
            return False
    return True


@jit
def take(program, columns, memory, variable_of, row, depth, start):
    """Write registers[depth]: what registers[depth - 1] become by a row, whose slot is path[depth - 1].

    Parameters as for `condition`. Gives 1, or -1 where a number does not fit 64 bits.
    """
    registers, reals = memory.registers, memory.registers_reals
    updates = program.updates
    for k in range(registers.shape[1]):
        registers[depth, k] = registers[depth - 1, k]
    variable = variable_of[memory.path[depth - 1]]
    for k in range(updates.shape[0]):
        kind, register, column, other = updates[k, 0], updates[k, 2], updates[k, 3], updates[k, 4]
        if not updates[k, 1] >> variable & 1:
            continue
        if kind == FIRST_ROWS:
            for place in range(register, register + other):
                if registers[depth, place] < 0:
                    registers[depth, place] = row
                    break
        elif kind == LAST_ROWS:
            for place in range(register + other - 1, register, -1):
                registers[depth, place] = registers[depth, place - 1]
            registers[depth, register] = row
        elif kind == ROWS:
            registers[depth, register] += 1
        elif not columns.absent[column, row] and (
            not updates[k, 5] or _is_new(updates, columns, memory.path, variable_of, k, row, start, depth)
        ):
            value = columns.words[column, row]
            if kind == VALUES:
                registers[depth, register] += 1
            elif kind == SUM:
                before = registers[depth, register]
                total = before + value
                if (total ^ before) & (total ^ value) < 0:
                    return -1
                registers[depth, register] = total
            elif kind == SUM_REALS:
                memory.cells[0] = value
                reals[depth, register] += memory.cells_reals[0]
            elif registers[depth, other] == 0:
                registers[depth, register] = value
            elif kind in (LEAST, GREATEST):
                if (value < registers[depth, register]) == (kind == LEAST):
                    registers[depth, register] = value
            else:
                memory.cells[0] = value
                if (memory.cells_reals[0] < reals[depth, register]) == (kind == LEAST_REAL):
                    registers[depth, register] = value
    return 1
