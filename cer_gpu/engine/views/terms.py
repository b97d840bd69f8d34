"""One side of a comparison over columns of codes: `ComparedSide`; a comparison of two: `TermComparison`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.arithmetic import computed
from cer_gpu.engine.views.codes import BEYOND, NAN, ValueCodes, ValueKind, kind_of, rounded
from cer_gpu.engine.words import floats_of
from cer_gpu.errors import DataError, Diagnostic, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.query import variables_of
from cer_gpu.kernels.views.contract import NULL
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.signs import CONVERSE, HOLDS
from cer_gpu.language.types import TypeChecker
from cer_gpu.language.units import timestamp_nanoseconds

Columns = Mapping[str, np.ndarray]
"""The codes of variables, int64 [rows] each."""


class SideComparison(Enum):
    """How values of one side are compared with those of another type on the other side."""

    SAME = "as they are"
    CEILING = "a float as the least whole number that is not below it"
    ABOVE = "a float as the least whole number above it"
    EXACT = "a float as the whole number that it is, or as one beyond all"
    DECIMAL = "a number as a decimal"


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side of a comparison.

    Attributes
    ----------
    expression : Expression
        Over `Attribute`s that name variables.
    variables : frozenset of str
    meeting : Meeting
    is_time : bool
        Whether it is compared with a time, so that a text stands for one.
    zone : str or None
        For a text that stands for a time, the zone of the other side; otherwise None.
    """

    expression: t.Expression
    variables: frozenset[str]
    meeting: SideComparison = SideComparison.SAME
    is_time: bool = False
    zone: str | None = None

    @property
    def plain(self) -> str | None:
        """The variable, if the side is a variable and nothing is computed; otherwise None."""
        if isinstance(self.expression, t.Attribute) and self.meeting is SideComparison.SAME:
            return self.expression.name
        return None

    def codes(
        self, columns: Columns, kinds: Mapping[str, ValueKind], codes: ValueCodes, rows: int
    ) -> np.ndarray:
        """Its codes for some rows: int64 [rows], `NULL` where it has no value or is NaN.

        Raises
        ------
        DataError
            If a computed value does not fit.
        """
        if self.is_time and isinstance(self.expression, t.Text):
            return np.full(rows, timestamp_nanoseconds(self.expression.value, self.zone or "UTC"), np.int64)
        if isinstance(self.expression, t.Text):
            (code,) = codes.texts.labels([self.expression.value])
            return np.full(rows, code, np.int64)
        if isinstance(self.expression, t.Number) and self.meeting is SideComparison.DECIMAL:
            (code,) = codes.decimals.labels([Decimal(to_text(self.expression))])
            return np.full(rows, code, np.int64)
        if isinstance(self.expression, t.Attribute):
            kind = kinds[self.expression.name]
            found = columns[self.expression.name]
        else:
            kind, found = self._computed(columns, kinds, codes, rows)
        if kind.value is ValueType.FLOAT64:
            found = np.where(found == NAN, NULL, found)
        return self._met(found, kind, codes)

    def _computed(
        self, columns: Columns, kinds: Mapping[str, ValueKind], codes: ValueCodes, rows: int
    ) -> tuple[ValueKind, np.ndarray]:
        shown = to_text(self.expression)

        def operand(part: t.Expression) -> pa.Array:
            name = part.name if isinstance(part, t.Attribute) else ""
            return codes.decode(columns[name], kinds[name])

        try:
            values = computed(self.expression, operand, rows)
        except pa.ArrowInvalid:
            raise DataError(
                f"`{shown}` has a value that does not fit its type: cast a column to float64"
            ) from None
        kind = kind_of(values.type, f"`{shown}`")
        return kind, codes.encode(values, kind, f"`{shown}`")

    def _met(self, found: np.ndarray, kind: ValueKind, codes: ValueCodes) -> np.ndarray:
        """Codes as they meet those of the other side."""
        if self.meeting is SideComparison.SAME:
            return found
        if self.meeting is SideComparison.DECIMAL:
            if kind.value is ValueType.DECIMAL:
                return found
            used, places = np.unique(found, return_inverse=True)
            numbers = (floats_of(used) if kind.value is ValueType.FLOAT64 else used).tolist()
            given = [Decimal(one) for one, code in zip(numbers, used.tolist()) if code != NULL]
            table = [*([NULL] if len(given) < len(used) else []), *codes.decimals.labels(given)]
            return np.array(table, np.int64)[places.reshape(-1)]
        low = rounded(found, up=False)
        if self.meeting is SideComparison.CEILING:
            return low
        high = rounded(found, up=True)
        if self.meeting is SideComparison.ABOVE:
            return high
        return np.where((high > low) | (low == NULL), low, BEYOND)


@dataclass(frozen=True, slots=True)
class TermComparison:
    """A comparison of two sides.

    Attributes
    ----------
    op : str
        `< <= > >= = !=`.
    left, right : ComparedSide
    text : str
    """

    op: str
    left: ComparedSide
    right: ComparedSide
    text: str

    @property
    def variables(self) -> frozenset[str]:
        """The variables of both sides."""
        return self.left.variables | self.right.variables

    @property
    def turned(self) -> TermComparison:
        """The same comparison with its sides exchanged."""
        return TermComparison(CONVERSE[self.op], self.right, self.left, self.text)

    def holds(
        self, columns: Columns, kinds: Mapping[str, ValueKind], codes: ValueCodes, rows: int
    ) -> np.ndarray:
        """Whether it holds for each row: never if a side has no value."""
        left = self.left.codes(columns, kinds, codes, rows)
        right = self.right.codes(columns, kinds, codes, rows)
        return np.asarray(HOLDS[self.op](left, right)) & (left != NULL) & (right != NULL)


def compared(comparison: t.Comparison, kinds: Mapping[str, ValueKind]) -> TermComparison:
    """A comparison over variables of known kinds.

    Raises
    ------
    QueryError
        If a view cannot evaluate it.
    """
    checker = TypeChecker(lambda one: kinds[one.name].value, Findings())
    both = comparison.left, comparison.right
    left, right = map(checker.type_of, both)
    # What is more than an int64 has no code but as a decimal.
    if any(isinstance(one, t.Number) and isinstance(one.value, int) and one.value >= BEYOND for one in both):
        left = ValueType.DECIMAL
    kinds_of = {left, right}
    op = comparison.op
    meeting = [SideComparison.SAME, SideComparison.SAME]
    if ValueType.DECIMAL in kinds_of and len(kinds_of) > 1:
        meeting = [SideComparison.DECIMAL, SideComparison.DECIMAL]
    elif kinds_of == {ValueType.INT64, ValueType.FLOAT64}:
        # `x < f` is `x < ceil(f)`, and `x <= f` is `x < floor(f) + 1`: exact for all ints and floats.
        floating = 0 if left is ValueType.FLOAT64 else 1
        way = CONVERSE[op] if floating == 0 else op
        rounds = {
            "<": SideComparison.CEILING,
            ">=": SideComparison.CEILING,
            "<=": SideComparison.ABOVE,
            ">": SideComparison.ABOVE,
        }
        meeting[floating] = rounds.get(way, SideComparison.EXACT)
        way = {"<=": "<", ">": ">="}.get(way, way)
        op = CONVERSE[way] if floating == 0 else way
    sides: list[ComparedSide] = []
    pairs = ((comparison.left, comparison.right, right), (comparison.right, comparison.left, left))
    for (own, other, other_kind), met in zip(pairs, meeting):
        zones = [kinds[name].arrow for name in variables_of(other)]
        zone = next((kind.tz for kind in zones if pa.types.is_timestamp(kind) and kind.tz), None)
        sides.append(ComparedSide(own, variables_of(own), met, other_kind is ValueType.TIMESTAMP, zone))
    return TermComparison(op, sides[0], sides[1], to_text(comparison))


def asks_for_order(comparison: t.Comparison, kinds: Mapping[str, ValueKind]) -> bool:
    """Whether a comparison needs the order of texts."""
    checker = TypeChecker(lambda one: kinds[one.name].value, Findings())
    both = checker.type_of(comparison.left), checker.type_of(comparison.right)
    return comparison.op not in ("=", "!=") and both == (ValueType.STRING, ValueType.STRING)


def refused(what: str, node: t.Comparison | t.Rule | t.RuleAtom, text: str, *hints: str) -> QueryError:
    """The error for a rule that is valid, but cannot be kept as a view."""
    return QueryError([Diagnostic("CER095", what, node.span, hints=hints)], text)
