"""Conditions on the match so far as code: `SearchCode`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.arithmetic import NUMBERS_OF_DAYS, length_of
from cer_gpu.engine.rows.fixed_values import FixedValues
from cer_gpu.engine.rows.search_registers import SearchRegisters, WordColumns, word_type
from cer_gpu.engine.rows.word_types import (
    Cell,
    TooFineError,
    WordArithmetic,
    common_type,
    constant_word,
    typed_constant,
)
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.kernels.row_patterns import code as c
from cer_gpu.kernels.row_patterns.contract import SearchProgram
from cer_gpu.patterns.conditions import constant_number, is_fixed, leaves
from cer_gpu.patterns.tree import (
    MatchedVariable,
    MatchNumber,
    Navigation,
    Operation,
    RowAggregate,
    Scalar,
    ScalarConstant,
)
from cer_gpu.printable_text import brief

COMPARISONS = frozenset(["=", "<>", "<", "<=", ">", ">=", "distinct from"])
"""Operations that compare two values."""


_REAL = {
    "floor": c.FLOOR,
    "ceil": c.CEILING,
    "round": c.ROUND,
    "sqrt": c.ROOT,
    "exp": c.EXPONENTIAL,
    "ln": c.LOGARITHM,
    "log10": c.LOGARITHM_10,
    "power": c.POWER,
}
"""Functions of floats as operations of code."""


class SearchCode:
    """Writes conditions as code.

    Parameters
    ----------
    values : FixedValues
    variables : sequence of str
        The primary variables of the pattern.
    conditions : mapping of str to sequence of Scalar
        What has to be true of the match so far, by variables.
    """

    def __init__(
        self, values: FixedValues, variables: Sequence[str], conditions: Mapping[str, Sequence[Scalar]]
    ) -> None:
        self._values = values
        self._variables = tuple(variables)
        self._text = values.text
        self.columns = WordColumns()
        every = [part for parts in conditions.values() for part in parts]
        self._conditions = conditions
        self._registers = SearchRegisters(self._variables, every, values, self.columns)
        self._code: list[tuple[int, int, int, int]] = []
        self._constants: list[int | str] = []
        self._fixed: dict[Scalar, int] = {}
        self._names_at = -1
        self._forgets = False
        self._arithmetic = WordArithmetic(self._emit, self._word, self._number)

    def program(self) -> SearchProgram:
        """The program of the conditions.

        Raises
        ------
        QueryError
            When types do not fit, or something is asked for that the search cannot compute.
        """
        ranges = np.zeros((len(self._variables), 2), np.int64)
        for variable, parts in self._conditions.items():
            if not parts:
                continue
            begin = len(self._code)
            cells = [self._cell(part).number for part in parts]
            for cell in cells[1:]:
                cells[0] = self._emit(c.AND, cells[0], cell)
            if len(cells) == 1:  # the value of a condition is its last cell
                cells[0] = self._emit(c.AND, cells[0], cells[0])
            ranges[self._variables.index(variable)] = begin, len(self._code)
        texts = [each for each in self._constants if isinstance(each, str)]
        ranks = iter(self.columns.ranks(texts).tolist()) if texts else iter(())
        words = [next(ranks) if isinstance(each, str) else each for each in self._constants]
        return SearchProgram(
            np.array(self._code, np.int64).reshape(-1, 4),
            ranges,
            np.array(words, np.int64),
            self._registers.updates(),
            self._registers.begins(),
            int(self._registers.complete),
            int(self._forgets),
        )

    def _emit(self, operation: int, a: int = -1, b: int = -1, third: int = -1) -> int:
        self._code.append((operation, a, b, third))
        return len(self._code) - 1

    def _word(self, word: int | str) -> int:
        """A cell that holds a constant; a str stands for its rank."""
        return self._emit(c.WORD, self._number(word))

    def _number(self, word: int | str) -> int:
        """The number of a constant."""
        if isinstance(word, str):
            self.columns.texts.append(word)
        self._constants.append(word)
        return len(self._constants) - 1

    def _cell(self, expression: Scalar) -> Cell:
        if isinstance(expression, ScalarConstant):
            return self._constant(expression, None)
        if is_fixed(expression):
            return self._fixed_cell(expression)
        match expression:
            case Operation():
                return self._operation(expression)
            case Navigation():
                return self._navigation(expression)
            case RowAggregate():
                return Cell(*self._registers.aggregate(expression, self._emit, self._arithmetic))
            case MatchNumber():
                self._forgets = True
                return Cell(self._emit(c.NUMBER), pa.int64())
        raise AssertionError(expression)

    def _constant(self, constant: ScalarConstant, kind: pa.DataType | None) -> Cell:
        """A constant, as a value of a type where it is compared with one."""
        scalar = typed_constant(constant.value, kind)
        if scalar is None:
            raise self._refused(f"{brief(constant.value)} is not a value of the type {kind}", constant)
        if not scalar.is_valid:
            return Cell(self._emit(c.NULL), pa.null())
        return Cell(self._word(constant_word(scalar)), word_type(scalar.type))

    def _fixed_cell(self, expression: Scalar) -> Cell:
        """A value that is computed for all rows beforehand."""
        if expression not in self._fixed:
            self._fixed[expression] = self.columns.add(self._values.of_row(expression))
        column = self._fixed[expression]
        register = self._registers.row(None, "last", 0)
        kind = word_type(self.columns.arrays[column].type)
        return Cell(self._emit(c.LOAD, register, 0, column), kind)

    def _navigation(self, navigation: Navigation) -> Cell:
        register = self._registers.row(navigation.variables, navigation.which, navigation.skip)
        if isinstance(navigation.expression, MatchedVariable):
            self._registers.complete = False
            if self._names_at < 0:
                self._names_at = len(self._constants)
                self._constants += self._variables
                self.columns.texts += self._variables
            return Cell(self._emit(c.VARIABLE, register, navigation.offset, self._names_at), pa.string())
        if any(isinstance(leaf, MatchedVariable) for leaf in leaves(navigation.expression)):
            raise self._refused(
                "in DEFINE, CLASSIFIER() can only be compared, as in CLASSIFIER() = 'A'", navigation
            )
        column = self.columns.add(self._values.of_fields(navigation.expression))
        kind = word_type(self.columns.arrays[column].type)
        return Cell(self._emit(c.LOAD, register, navigation.offset, column), kind)

    def _operation(self, operation: Operation) -> Cell:
        try:
            return self._written(operation)
        except TooFineError as error:
            raise self._refused(
                f"{error} does not fit 64 bits, in which conditions on the match so far are computed",
                operation,
                "cast what it is computed with: CAST(... AS DOUBLE), or AS a DECIMAL of fewer digits",
            ) from None

    def _written(self, operation: Operation) -> Cell:
        name, operands = operation.name, operation.operands
        if name in COMPARISONS:
            return self._comparison(operation, *operands)
        if name in ("+", "-", "*", "/", "//", "%", "mod"):
            one, other = self._pair(operation, *operands)
            if operation.detail is not None:
                other, name = self._in_days(operation, one, other)
            made = self._arithmetic.arithmetic("%" if name == "mod" else name, one, other)
            if made is None:
                raise self._refused(f"`{name}` of {one.kind} and {other.kind} cannot be computed", operation)
            return Cell(*made)
        written = _WRITERS.get(name)
        if written is None:
            raise self._of_one_row(f"`{name}`", operation)
        return written(self, operation)

    def _pair(self, operation: Operation, one: Scalar, other: Scalar) -> tuple[Cell, Cell]:
        """The cells of two operands, a constant as a value of the type of the other."""
        if isinstance(one, ScalarConstant) and not isinstance(other, ScalarConstant):
            second = self._cell(other)
            return self._constant(one, second.kind), second
        first = self._cell(one)
        if isinstance(other, ScalarConstant):
            return first, self._constant(other, first.kind)
        return first, self._cell(other)

    def _in_days(self, operation: Operation, one: Cell, other: Cell) -> tuple[Cell, str]:
        """The second operand and the name of a sum or a difference with days."""
        if operation.name == "-" and pa.types.is_date(one.kind) and pa.types.is_date(other.kind):
            return other, "days"
        moved = operation.detail == NUMBERS_OF_DAYS and pa.types.is_timestamp(one.kind)
        days = constant_number(operation.operands[1]) if moved else None
        if days is None:
            return other, operation.name
        length = length_of(days)
        return Cell(self._word(constant_word(length)), length.type), operation.name

    def _common(self, operation: Operation, one: Cell, other: Cell) -> pa.DataType:
        kind = common_type(one.kind, other.kind)
        if kind is None:
            raise self._refused(f"values of {one.kind} and {other.kind} cannot be compared", operation)
        return kind

    def _alike(self, operation: Operation, one: Cell, other: Cell) -> tuple[Cell, Cell]:
        kind = self._common(operation, one, other)
        return (
            Cell(self._arithmetic.as_type(one, kind), kind),
            Cell(self._arithmetic.as_type(other, kind), kind),
        )

    def _comparison(self, operation: Operation, left: Scalar, right: Scalar) -> Cell:
        one, other = self._pair(operation, left, right)
        self._common(operation, one, other)
        return Cell(self._compared(operation.name, one, other), pa.bool_())

    def _compared(self, name: str, one: Cell, other: Cell) -> int:
        if name in (">", ">="):
            return self._compared("<" if name == ">" else "<=", other, one)
        if name == "<":
            return self._arithmetic.less(one, other)
        if name == "<=":
            smaller = self._arithmetic.less(one, other)
            return self._emit(c.OR, smaller, self._arithmetic.equal(one, other))
        same = self._arithmetic.equal(one, other)
        if name == "=":
            return same
        if name == "<>":
            return self._emit(c.NOT, same)
        nulls = self._emit(c.IS_NULL, one.number), self._emit(c.IS_NULL, other.number)
        either = self._emit(c.OR, *nulls)
        odd = self._emit(c.NOT, self._emit(c.EQUAL, *nulls))
        return self._emit(c.CHOOSE, either, odd, self._emit(c.NOT, same))

    def _of_one_row(self, what: str, at: Operation) -> QueryError:
        text = self._text[at.at.start :] if at.at else ""
        function = re.match(r"\w+(?=\s*\()", text)
        example = f"LAST({function[0] if function else 'ABS'}(a.price))"
        return self._refused(
            f"{what} cannot be computed over several rows of the match",
            at,
            f"compute it inside FIRST or LAST, of one row: {example}",
        )

    def _refused(self, what: str, at: Scalar, *hints: str) -> QueryError:
        return QueryError([Diagnostic("CER117", what, at.at, hints=hints)], self._text)

    # Operations that are written with others

    def _logic(self, operation: Operation) -> Cell:
        number = c.AND if operation.name == "and" else c.OR
        cells = [self._cell(each).number for each in operation.operands]
        for cell in cells[1:]:
            cells[0] = self._emit(number, cells[0], cell)
        return Cell(cells[0], pa.bool_())

    def _not(self, operation: Operation) -> Cell:
        return Cell(self._emit(c.NOT, self._cell(operation.operands[0]).number), pa.bool_())

    def _is_null(self, operation: Operation) -> Cell:
        return Cell(self._emit(c.IS_NULL, self._cell(operation.operands[0]).number), pa.bool_())

    def _is_true(self, operation: Operation) -> Cell:
        cell = self._cell(operation.operands[0]).number
        there = self._emit(c.NOT, self._emit(c.IS_NULL, cell))
        return Cell(self._emit(c.AND, there, cell), pa.bool_())

    def _in(self, operation: Operation) -> Cell:
        first = operation.operands[0]
        cells = [self._comparison(Operation("=", ()), first, each).number for each in operation.operands[1:]]
        for cell in cells[1:]:
            cells[0] = self._emit(c.OR, cells[0], cell)
        return Cell(cells[0], pa.bool_())

    def _negative(self, operation: Operation) -> Cell:
        cell = self._cell(operation.operands[0])
        return Cell(self._arithmetic.negative(cell), cell.kind)

    def _absolute(self, operation: Operation) -> Cell:
        cell = self._cell(operation.operands[0])
        below = self._compared("<", cell, Cell(self._word(0), cell.kind))
        return Cell(self._emit(c.CHOOSE, below, self._arithmetic.negative(cell), cell.number), cell.kind)

    def _sign(self, operation: Operation) -> Cell:
        cell = self._cell(operation.operands[0])
        zero = Cell(self._word(0), cell.kind)
        if pa.types.is_floating(cell.kind):
            one, nothing, kind = self._real(1.0), self._real(0.0), pa.float64()
        else:
            one, nothing, kind = self._word(1), self._word(0), pa.int64()
        negative = self._arithmetic.negative(Cell(one, kind))
        above, below = self._compared("<", zero, cell), self._compared("<", cell, zero)
        found = self._emit(c.CHOOSE, above, one, self._emit(c.CHOOSE, below, negative, nothing))
        there = self._emit(c.IS_NULL, cell.number)
        return Cell(self._emit(c.CHOOSE, there, self._emit(c.NULL), found), kind)

    def _rounded(self, operation: Operation) -> Cell:
        cell = self._cell(operation.operands[0])
        places = operation.operands[1] if len(operation.operands) > 1 else ScalarConstant(0)
        number = places.value if isinstance(places, ScalarConstant) else None
        if not isinstance(number, int):
            raise self._refused(
                "the places of `ROUND` are a whole number that stands in the query", operation
            )
        if pa.types.is_integer(cell.kind) and number >= 0:
            return cell
        if not pa.types.is_floating(cell.kind):
            raise self._of_one_row(f"`{operation.name}` of {cell.kind}", operation)
        if not number:
            return Cell(self._emit(_REAL[operation.name], cell.number, cell.number), pa.float64())
        factor = self._real(10.0 ** min(abs(number), 400 if number > 0 else 300))
        there, back = (c.MULTIPLY_REALS, c.DIVIDE_REALS) if number > 0 else (c.DIVIDE_REALS, c.MULTIPLY_REALS)
        scaled = self._emit(there, cell.number, factor)
        whole = self._emit(c.ROUND, scaled, scaled)
        return Cell(self._emit(back, whole, factor), pa.float64())

    def _of_reals(self, operation: Operation) -> Cell:
        """A function of floats."""
        cells = [self._cell(one) for one in operation.operands]
        for cell in cells:
            if common_type(cell.kind, pa.float64()) != pa.float64():
                raise self._of_one_row(f"`{operation.name}` of {cell.kind}", operation)
        numbers = [self._arithmetic.as_type(cell, pa.float64()) for cell in cells]
        return Cell(self._emit(_REAL[operation.name], numbers[0], numbers[-1]), pa.float64())

    def _real(self, value: float) -> int:
        return self._word(constant_word(pa.scalar(value)))

    def _values_of(self, operation: Operation, operands: Sequence[Scalar]) -> list[Cell]:
        """Cells of one type."""
        cells = [self._cell(each) for each in operands]
        kind = cells[0].kind
        for cell in cells[1:]:
            common = common_type(kind, cell.kind)
            if common is None:
                raise self._refused(f"{kind} and {cell.kind} cannot be one value", operation)
            kind = common
        return [Cell(self._arithmetic.as_type(cell, kind), kind) for cell in cells]

    def _case(self, operation: Operation) -> Cell:
        conditions, values = operation.operands[:-1:2], (*operation.operands[1:-1:2], operation.operands[-1])
        cells = self._values_of(operation, values)
        chosen = cells[-1].number
        for condition, cell in zip(reversed(conditions), reversed(cells[:-1]), strict=True):
            chosen = self._emit(c.CHOOSE, self._cell(condition).number, cell.number, chosen)
        return Cell(chosen, cells[-1].kind)

    def _coalesce(self, operation: Operation) -> Cell:
        cells = self._values_of(operation, operation.operands)
        chosen = cells[-1].number
        for cell in reversed(cells[:-1]):
            chosen = self._emit(c.CHOOSE, self._emit(c.IS_NULL, cell.number), chosen, cell.number)
        return Cell(chosen, cells[-1].kind)

    def _nullif(self, operation: Operation) -> Cell:
        one, other = self._alike(operation, *self._pair(operation, *operation.operands))
        same = self._compared("=", one, other)
        return Cell(self._emit(c.CHOOSE, same, self._emit(c.NULL), one.number), one.kind)

    def _extreme(self, operation: Operation) -> Cell:
        cells = self._values_of(operation, operation.operands)
        chosen = cells[0]
        for cell in cells[1:]:
            first = self._compared("<" if operation.name == "least" else ">", chosen, cell)
            nulls = self._emit(c.IS_NULL, chosen.number), self._emit(c.IS_NULL, cell.number)
            better = self._emit(c.CHOOSE, first, chosen.number, cell.number)
            either = self._emit(c.OR, *nulls)
            chosen = Cell(self._emit(c.CHOOSE, either, self._emit(c.NULL), better), chosen.kind)
        return chosen

    def _cast(self, operation: Operation) -> Cell:
        cell, kind = self._cell(operation.operands[0]), word_type(operation.detail)
        wider = common_type(cell.kind, kind)
        if wider != kind:
            raise self._of_one_row(f"a cast to {operation.detail}", operation)
        return Cell(self._arithmetic.as_type(cell, kind), kind)

    def _difference(self, operation: Operation) -> Cell:
        one, other = self._alike(operation, *self._pair(operation, *operation.operands))
        made = self._arithmetic.whole_units(other, one, operation.detail)
        if made is None:
            raise self._of_one_row(f"a difference in {operation.detail}s", operation)
        return Cell(made, pa.int64())


_WRITERS: Mapping[str, Callable[[SearchCode, Operation], Cell]] = {
    "and": SearchCode._logic,
    "or": SearchCode._logic,
    "not": SearchCode._not,
    "is null": SearchCode._is_null,
    "is true": SearchCode._is_true,
    "in": SearchCode._in,
    "neg": SearchCode._negative,
    "abs": SearchCode._absolute,
    "sign": SearchCode._sign,
    "floor": SearchCode._rounded,
    "ceil": SearchCode._rounded,
    "round": SearchCode._rounded,
    **dict.fromkeys(("sqrt", "exp", "ln", "log10", "power"), SearchCode._of_reals),
    "case": SearchCode._case,
    "coalesce": SearchCode._coalesce,
    "nullif": SearchCode._nullif,
    "greatest": SearchCode._extreme,
    "least": SearchCode._extreme,
    "cast": SearchCode._cast,
    "date_diff": SearchCode._difference,
}
