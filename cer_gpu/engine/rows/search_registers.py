"""The columns and registers of words that conditions on the match so far read: `SearchRegisters`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.fixed_values import FixedValues
from cer_gpu.engine.rows.wide_numbers import wide_numbers
from cer_gpu.engine.rows.word_types import Cell, WordArithmetic
from cer_gpu.engine.words import text_ranks
from cer_gpu.errors import DataError, Diagnostic, QueryError
from cer_gpu.kernels.row_patterns import code as c
from cer_gpu.kernels.row_patterns.contract import SearchColumns
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.conditions import leaves
from cer_gpu.patterns.tree import MatchedVariable, Navigation, RowAggregate, Scalar


def word_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values of a type are computed with: one for all texts, one for all whole numbers."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_date64(kind):
        return pa.date32()
    return kind


class WordColumns:
    """Columns of words that the conditions of a search read, and the ranks of all texts in them.

    Attributes
    ----------
    arrays : list of pyarrow.Array
    texts : list of str
        Texts of the conditions that are compared with those of the columns.
    """

    def __init__(self) -> None:
        self.arrays: list[pa.Array] = []
        self.texts: list[str] = []
        self._ranked: pa.Array | None = None
        self._made: dict[int, np.ndarray] = {}
        """Words that were asked for before."""

    def add(self, values: pa.Array) -> int:
        """Take a column; gives its number."""
        self.arrays.append(values)
        return len(self.arrays) - 1

    def columns(self, count: int) -> SearchColumns:
        """All columns, each with so many rows."""
        words = np.zeros((len(self.arrays), count), np.int64)
        absent = np.zeros((len(self.arrays), count), np.uint8)
        for number, array in enumerate(self.arrays):
            if array.null_count:
                absent[number] = np.asarray(array.is_null())
            made = self._made.get(number)
            words[number] = self._words(array) if made is None else made
        return SearchColumns(words, absent)

    def may_overflow(self, number: int) -> bool:
        """Whether sums of a column's words may leave 64 bits."""
        if number not in self._made:
            self._made[number] = self._words(self.arrays[number])
        words = self._made[number]
        largest = max(-int(words.min(initial=0)), int(words.max(initial=0)))
        return largest * len(words) >> 63 > 0

    def ranks(self, texts: Sequence[str]) -> np.ndarray:
        """The words of some of `texts`, int64."""
        found = pc.index_in(pa.array(texts, pa.string()), self._distinct())
        return np.asarray(found).astype(np.int64)

    def _words(self, array: pa.Array) -> np.ndarray:
        kind = array.type
        if pa.types.is_null(kind):
            return np.zeros(len(array), np.int64)
        if pa.types.is_dictionary(kind) or word_type(kind) == pa.string():
            ranks = pc.index_in(_plain_texts(array), self._distinct())
            return np.asarray(ranks.fill_null(0)).astype(np.int64)
        if pa.types.is_decimal(kind):
            return _decimal_words(array)
        if pa.types.is_boolean(kind):
            return np.asarray(array.fill_null(False)).astype(np.int64)
        if pa.types.is_temporal(kind):
            array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
            if pa.types.is_date64(kind):
                array = pc.divide(array, 86_400_000)
        filled = np.asarray(array.fill_null(0))
        if filled.dtype == np.uint64 and len(filled) and int(filled.max()) >> 63:
            raise DataError(
                "a value of 64 bits without a sign is too large to be computed with: cast the column to "
                "DECIMAL or DOUBLE in a subquery"
            )
        if filled.dtype.kind == "f":
            return (filled.astype(np.float64) + 0.0).view(np.int64)
        return filled.astype(np.int64)

    def _distinct(self) -> pa.Array:
        """All texts in the order of their code points."""
        if self._ranked is None:
            parts = [pc.unique(_plain_texts(array)) for array in self.arrays if _is_text(array.type)]
            distinct = pc.unique(pa.concat_arrays([*parts, pa.array(self.texts, pa.string())])).drop_null()
            self._ranked = distinct.take(pa.array(np.argsort(text_ranks(distinct))))
        return self._ranked


def _is_text(kind: pa.DataType) -> bool:
    return word_type(kind) == pa.string()


def _plain_texts(array: pa.Array) -> pa.Array:
    return array if array.type == pa.string() else array.cast(pa.string())


def _decimal_words(array: pa.Array) -> np.ndarray:
    """Decimals in units of their last place, int64.

    Raises
    ------
    DataError
        When one does not fit 64 bits.
    """
    numbers = wide_numbers(array)
    if numbers.high is not None:
        raise DataError(
            "a decimal has more than 18 digits, too many for conditions on the match so far: cast the "
            "column to a smaller DECIMAL, or to DOUBLE, in a subquery"
        )
    return numbers.low


class SearchRegisters:
    """Gives registers to rows and aggregates that are asked for, each one once.

    Parameters
    ----------
    variables : sequence of str
    conditions : sequence of Scalar
        Of all variables.
    values : FixedValues
    columns : WordColumns

    Attributes
    ----------
    complete : bool
        Whether two partial matches with the same registers meet the same conditions from here on.
    """

    def __init__(
        self,
        variables: Sequence[str],
        conditions: Sequence[Scalar],
        values: FixedValues,
        columns: WordColumns,
    ) -> None:
        self._variables = variables
        self._values = values
        self._columns = columns
        self.complete = True
        self._chains: dict[tuple[int, str], tuple[int, int]] = {}
        """The first register and how many there are, by variables and "first" or "last"."""
        self._folds: dict[tuple[int, int, int, bool], int] = {}
        """The register of an aggregate, by variables, kind of update, column and whether it is distinct."""
        self._numbers: dict[Scalar, int] = {}
        kept: dict[tuple[int, str], int] = {(self._mask(None), "last"): 1}
        for condition in conditions:
            for leaf in leaves(condition):
                if isinstance(leaf, Navigation):
                    chain = self._mask(leaf.variables), str(leaf.which)
                    kept[chain] = max(kept.get(chain, 0), leaf.skip + 1)
        self._size = 0
        for chain, size in kept.items():
            self._chains[chain] = self._size, size
            self._size += size

    def row(self, variables: frozenset[str] | None, which: str, skip: int) -> int:
        """The register with a row of the match: the first or last one of some variables, or one behind it."""
        return self._chains[self._mask(variables), which][0] + skip

    def updates(self) -> np.ndarray:
        """How a row changes the registers, as `SearchProgram.updates`."""
        rows = [
            (c.FIRST_ROWS if which == "first" else c.LAST_ROWS, mask, register, -1, size, 0)
            for (mask, which), (register, size) in self._chains.items()
        ]
        # Counts come last: the least value looks whether there was one before.
        for key, register in sorted(self._folds.items(), key=lambda item: item[0][1] == c.VALUES):
            mask, kind, column, distinct = key
            if kind != c.CARRIES:
                other = c.CARRIES if kind == c.SUM else c.VALUES
                number = self._folds.get((mask, other, column, distinct), -1)
                rows.append((kind, mask, register, column, number, int(distinct)))
        return np.array(rows, np.int64).reshape(-1, 6)

    def begins(self) -> np.ndarray:
        """The registers of a match without rows."""
        begins = np.zeros(self._size, np.int64)
        for register, size in self._chains.values():
            begins[register : register + size] = -1
        return begins

    def aggregate(
        self, aggregate: RowAggregate, emit: Callable[..., int], arithmetic: WordArithmetic
    ) -> Cell:
        """Write what an aggregate of the match so far is."""
        mask = self._mask(aggregate.variables)
        if aggregate.expression is None:
            return Cell(emit(c.TAKE, self._fold(mask, c.ROWS, -1, False)), pa.int64())
        if any(isinstance(leaf, MatchedVariable) for leaf in leaves(aggregate.expression)):
            what = "CLASSIFIER() cannot be aggregated in DEFINE: count the rows of variables, COUNT(a.*)"
            raise QueryError([Diagnostic("CER117", what, aggregate.at)], self._values.text)
        if aggregate.expression not in self._numbers:
            values = self._values.of_fields(aggregate.expression)
            self._numbers[aggregate.expression] = self._columns.add(values)
        column = self._numbers[aggregate.expression]
        kind = word_type(self._columns.arrays[column].type)
        real, distinct = pa.types.is_floating(kind), aggregate.distinct
        self.complete = self.complete and not distinct
        count = self._fold(mask, c.VALUES, column, distinct)
        if aggregate.function == "count":
            return Cell(emit(c.TAKE, count), pa.int64())
        operation = {
            "sum": c.SUM_REALS if real else c.SUM,
            "avg": c.SUM_REALS if real else c.SUM,
            "whole avg": c.SUM_REALS if real else c.SUM,
            "min": c.LEAST_REAL if real else c.LEAST,
            "max": c.GREATEST_REAL if real else c.GREATEST,
        }[aggregate.function]
        register = self._fold(mask, operation, column, distinct)
        carry = -1
        if operation == c.SUM and self._columns.may_overflow(column):
            carry = self._fold(mask, c.CARRIES, column, distinct)
        total = Cell(emit(c.TAKE_FILLED, register, count, carry), kind)
        if aggregate.function not in ("avg", "whole avg"):
            return total
        number = emit(c.TAKE, count)
        cut = aggregate.function == "whole avg" and pa.types.is_integer(kind)
        whole = arithmetic.arithmetic("//", total, Cell(number, pa.int64())) if cut else None
        return arithmetic.quotient(total, number) if whole is None else Cell(*whole)

    def _mask(self, variables: frozenset[str] | None) -> int:
        every = range(len(self._variables))
        chosen = [v for v in every if variables is None or self._variables[v] in variables]
        mask = sum(1 << variable for variable in chosen)
        return mask - (1 << 64) if mask >> 63 else mask

    def _fold(self, mask: int, kind: int, column: int, distinct: bool) -> int:
        key = mask, kind, column, distinct
        if key not in self._folds:
            self._folds[key] = self._size
            self._size += 1
        return self._folds[key]
