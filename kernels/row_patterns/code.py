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
    EQUAL_SCALED,
    LESS_SCALED,
    MORE_SCALED,
    FLOOR,
    CEILING,
    ROUND,
    ROOT,
    EXPONENTIAL,
    LOGARITHM,
    LOGARITHM_10,
    POWER,
) = range(40)
"""Operations. `WORD` a: a constant. `LOAD` a, b, c: column c of the row b rows behind that of register a.
`TAKE` a: a register; `TAKE_FILLED` a, b, c: null where register b is 0; c is -1 or the register with the
carry of a sum. `VARIABLE` a, b, c: of a row of the
match, found as by `LOAD`; the constants from c on are the words of the variables. `NUMBER`: of the match.
`CHOOSE` a, b, c: b where a is true, otherwise c. `EQUAL_SCALED` and its like compare a, times the constant
c, which is at least 2, with b. `FLOOR` to `POWER` are of reals; `ROUND` goes to whole numbers, halves away
from 0. The others compute with cells; quotients and remainders of whole numbers by 0 are null, and are cut
towards 0."""

NULL_CELL, UNKNOWN, NOT_TRUE = 1, 2, 3
"""Marks of cells: null; a number that does not fit 64 bits, or what depends on one; the same, but not true in
any case, since a null is joined to it by AND."""

(
    FIRST_ROWS,
    LAST_ROWS,
    ROWS,
    VALUES,
    SUM,
    SUM_REALS,
    LEAST,
    GREATEST,
    LEAST_REAL,
    GREATEST_REAL,
    CARRIES,
) = range(11)
"""Kinds of updates. `FIRST_ROWS` and `LAST_ROWS` keep as many rows as the other number says, in neighbouring
registers, the first or the last one first. `LEAST` and its like read in the register of the other number
whether there was a value before. `SUM` counts in that register, unless it is -1, how often 64 bits were left
upward, less how often downward: where that is 0 the sum is right. `CARRIES` is the kind of that register,
which has no update of its own."""

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


@inline
def _product_fits(one, other):
    """Whether a product fits 64 bits."""
    size = abs(np.float64(one) * np.float64(other))
    if size < 9.2e18:
        return True
    # Beyond, but so near that it leaves 64 bits by less than half of their range: then the sign turns.
    return size < 9.3e18 and (one * other < 0) == ((one < 0) != (other < 0))


@inline
def _scaled_order(one, factor, other):
    """-1, 0 or 1: whether `one` times a factor is below, equal to or above another number."""
    if abs(np.float64(one) * np.float64(factor)) < 9.2e18:
        scaled = one * factor
        if scaled == other:
            return 0
        return -1 if scaled < other else 1
    whole = other // factor
    if one != whole:
        return -1 if one < whole else 1
    return -1 if other != whole * factor else 0


@inline
def _function(operation, value, other):
    """The value of a function of reals."""
    if operation == FLOOR:
        return np.floor(value)
    if operation == CEILING:
        return np.ceil(value)
    if operation == ROUND:
        size = np.abs(value)
        whole = np.floor(size)
        if size - whole >= 0.5:
            whole += 1.0
        return np.copysign(whole, value)
    if operation == ROOT:
        return np.sqrt(value)
    if operation == EXPONENTIAL:
        return np.exp(value)
    if operation == LOGARITHM:
        return np.log(value)
    if operation == LOGARITHM_10:
        return np.log10(value)
    return value**other


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

    Gives 1 where it is true, 0 where it is false or null, -1 where that depends on a number that does not fit
    64 bits.
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
            null = NULL_CELL
            if row >= 0:
                cells[k] = columns.words[c, row]
                null = columns.absent[c, row]
        elif operation == TAKE:
            cells[k] = registers[depth, a]
        elif operation == TAKE_FILLED:
            cells[k] = registers[depth, a]
            if registers[depth, b] == 0:
                null = NULL_CELL
            elif c >= 0 and registers[depth, c] != 0:
                null = UNKNOWN
        elif operation == VARIABLE:
            row = _row_of(registers[depth, a], b, start, start + depth)
            null = NULL_CELL
            if row >= 0:
                cells[k] = program.constants[c + variable_of[memory.path[row - start]]]
                null = 0
        elif operation == NUMBER:
            cells[k] = number
        elif operation == IS_NULL:
            cells[k] = 1 if empty[a] else 0
            null = UNKNOWN if empty[a] >= UNKNOWN else 0
        elif operation == NULL:
            null = NULL_CELL
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
                null = UNKNOWN if empty[a] == UNKNOWN or empty[b] == UNKNOWN else empty[a] | empty[b]
        elif operation == CHOOSE:
            if empty[a] == UNKNOWN:
                null = UNKNOWN
            else:
                chosen = b if not empty[a] and cells[a] != 0 else c
                cells[k] = cells[chosen]
                null = empty[chosen]
        elif empty[a] or (b >= 0 and empty[b]):
            null = NULL_CELL if empty[a] == NULL_CELL or (b >= 0 and empty[b] == NULL_CELL) else UNKNOWN
        elif operation == EQUAL:
            cells[k] = 1 if cells[a] == cells[b] else 0
        elif operation == LESS:
            cells[k] = 1 if cells[a] < cells[b] else 0
        elif operation == EQUAL_REALS:
            cells[k] = 1 if reals[a] == reals[b] else 0
        elif operation == LESS_REALS:
            cells[k] = 1 if reals[a] < reals[b] else 0
        elif operation == EQUAL_SCALED:
            cells[k] = 1 if _scaled_order(cells[a], program.constants[c], cells[b]) == 0 else 0
        elif operation == LESS_SCALED:
            cells[k] = 1 if _scaled_order(cells[a], program.constants[c], cells[b]) < 0 else 0
        elif operation == MORE_SCALED:
            cells[k] = 1 if _scaled_order(cells[a], program.constants[c], cells[b]) > 0 else 0
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
        elif operation >= FLOOR:
            reals[k] = _function(operation, reals[a], reals[b])
        elif operation in (DIVIDE, REMAINDER):
            if cells[b] == 0:
                null = NULL_CELL
            elif cells[b] == -1:
                if operation == DIVIDE and cells[a] == -_MOST - 1:
                    null = UNKNOWN
                cells[k] = -cells[a] if operation == DIVIDE else 0
            elif cells[a] == -_MOST - 1 or cells[b] == -_MOST - 1:
                # Their sizes do not fit 64 bits: `//` and `%` round down, so round up where signs differ.
                quotient = cells[a] // cells[b]
                if quotient < 0 and quotient * cells[b] != cells[a]:
                    quotient += 1
                cells[k] = quotient if operation == DIVIDE else cells[a] - quotient * cells[b]
            else:
                quotient = abs(cells[a]) // abs(cells[b])
                if (cells[a] < 0) != (cells[b] < 0):
                    quotient = -quotient
                cells[k] = quotient if operation == DIVIDE else cells[a] - quotient * cells[b]
        elif operation == ADD:
            total = cells[a] + cells[b]
            if (total ^ cells[a]) & (total ^ cells[b]) < 0:
                null = UNKNOWN
            cells[k] = total
        elif operation == SUBTRACT:
            total = cells[a] - cells[b]
            if (cells[a] ^ cells[b]) & (total ^ cells[a]) < 0:
                null = UNKNOWN
            cells[k] = total
        elif operation == NEGATE:
            if cells[a] == -_MOST - 1:
                null = UNKNOWN
            cells[k] = -cells[a]
        else:
            if not _product_fits(cells[a], cells[b]):
                null = UNKNOWN
            cells[k] = cells[a] * cells[b]
        empty[k] = null
    if empty[end - 1] == UNKNOWN:
        return -1
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

    Parameters as for `condition`.
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
                if other >= 0 and (total ^ before) & (total ^ value) < 0:
                    registers[depth, other] += 1 if value > 0 else -1
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
                own, other_real = memory.cells_reals[0], reals[depth, register]
                # NaN, which equals nothing, is the greatest.
                if kind == LEAST_REAL:
                    better = own < other_real or other_real != other_real
                else:
                    better = own > other_real or own != own
                if better:
                    registers[depth, register] = value
