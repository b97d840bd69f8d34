"""One side of a comparison over columns of codes: `ComparedSide`; a comparison of two: `TermComparison`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.arithmetic import computed
from cer_gpu.engine.views.codes import EXACT, NAN, ValueCodes, ValueKind, float_codes, kind_of
from cer_gpu.errors import DataError, Diagnostic, QueryError
from cer_gpu.frozen import dataclass
from cer_gpu.joins.query import variables_of
from cer_gpu.kernels.views.contract import NULL, TOP
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.types import TypeChecker
from cer_gpu.language.units import timestamp_nanoseconds

TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
"""The comparison that holds when both sides are exchanged."""

_HOLDS: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "=": np.equal,
    "!=": np.not_equal,
}

Columns = Mapping[str, np.ndarray]
"""The codes of variables, int64 [rows] each."""


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side of a comparison.

    Attributes
    ----------
    expression : Expression
        Over `Attribute`s that name variables.
    variables : frozenset of str
    as_float : bool
        Whether its int64 values are compared with floats.
    zone : str or None
        For a text that stands for a time, the zone of what it is compared with; else None.
    """

    expression: t.Expression
    variables: frozenset[str]
    as_float: bool = False
    is_time: bool = False
    zone: str | None = None

    @property
    def plain(self) -> str | None:
        """The variable that it is, where nothing is computed."""
        return (
            self.expression.name if isinstance(self.expression, t.Attribute) and not self.as_float else None
        )

    def codes(
        self, columns: Columns, kinds: Mapping[str, ValueKind], codes: ValueCodes, rows: int
    ) -> np.ndarray:
        """Its codes on some rows: int64 [rows], `NULL` where it has no value or is no number.

        Raises
        ------
        DataError
            A value that is computed does not fit.
        """
        shown = to_text(self.expression)
        if isinstance(self.expression, t.Attribute):
            found = columns[self.expression.name]
            if self.as_float:
                given = found[found != NULL]
                if len(given) and np.abs(given.astype(np.float64)).max() > EXACT:
                    raise DataError(f"`{shown}` is compared with a float and has a value above 2^53: cast it")
                found = np.where(found == NULL, NULL, float_codes(found.astype(np.float64)))
            return np.where(found == NAN, NULL, found) if self._floating(kinds) else found
        if self.is_time and isinstance(self.expression, t.Text):
            return np.full(rows, timestamp_nanoseconds(self.expression.value, self.zone or "UTC"), np.int64)
        if isinstance(self.expression, t.Text):
            return np.full(rows, codes.text_code(self.expression.value), np.int64)

        def operand(part: t.Expression) -> pa.Array:
            name = part.name if isinstance(part, t.Attribute) else ""
            return codes.decode(columns[name], kinds[name])

        try:
            values = computed(self.expression, operand, rows)
            if self.as_float and pa.types.is_integer(values.type):
                values = values.cast(pa.float64())
        except pa.ArrowInvalid:
            raise DataError(f"`{shown}` has a value that does not fit in its type") from None
        found = codes.encode(values, kind_of(values.type, f"`{shown}`"), f"`{shown}`")
        return np.where(found == NAN, NULL, found) if pa.types.is_floating(values.type) else found

    def _floating(self, kinds: Mapping[str, ValueKind]) -> bool:
        name = self.expression.name if isinstance(self.expression, t.Attribute) else ""
        return self.as_float or kinds[name].value is ValueType.FLOAT64


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
        """Those of both sides."""
        return self.left.variables | self.right.variables

    @property
    def turned(self) -> TermComparison:
        """The same with its sides exchanged."""
        return TermComparison(TURNED[self.op], self.right, self.left, self.text)

    def holds(
        self, columns: Columns, kinds: Mapping[str, ValueKind], codes: ValueCodes, rows: int
    ) -> np.ndarray:
        """Whether it holds on each row: never where a side has no value."""
        left = self.left.codes(columns, kinds, codes, rows)
        right = self.right.codes(columns, kinds, codes, rows)
        return _HOLDS[self.op](left, right) & (left != NULL) & (right != NULL)


def compared(comparison: t.Comparison, kinds: Mapping[str, ValueKind], text: str) -> TermComparison:
    """A comparison over variables of known kinds.

    Raises
    ------
    QueryError
        A view cannot evaluate it.
    """
    checker = TypeChecker(lambda one: kinds[one.name].value, Findings())
    left, right = checker.type_of(comparison.left), checker.type_of(comparison.right)
    if comparison.op not in ("=", "!=") and left is right is ValueType.STRING:
        raise refused(
            f"`{to_text(comparison)}` asks for the order of text: a view compares text by `=` and `!=`",
            comparison,
            text,
        )
    mixed = {left, right} == {ValueType.INT64, ValueType.FLOAT64}
    sides: list[ComparedSide] = []
    for own, kind, other, other_kind in (
        (comparison.left, left, comparison.right, right),
        (comparison.right, right, comparison.left, left),
    ):
        zones = [kinds[name].arrow for name in _names(other)]
        zone = next((kind.tz for kind in zones if pa.types.is_timestamp(kind) and kind.tz), None)
        as_float = mixed and kind is ValueType.INT64
        sides.append(ComparedSide(own, _names(own), as_float, other_kind is ValueType.TIMESTAMP, zone))
    return TermComparison(comparison.op, sides[0], sides[1], to_text(comparison))


def refused(what: str, node: t.Comparison | t.Rule | t.RuleAtom, text: str, *hints: str) -> QueryError:
    """The error for a rule that is right, but that a view cannot keep."""
    return QueryError([Diagnostic("CER095", what, node.span, hints=hints)], text)


def limits(op: str, values: np.ndarray) -> np.ndarray:
    """The codes that stand before `op` and values: `x < 3` holds for those from `NULL + 1` to 2.

    Parameters
    ----------
    op : str
        One of `< <= > >= =`.
    values : ndarray of int64, shape (m,)

    Returns
    -------
    ndarray of int64, shape (m, 2)
        The first code and the one after the last; none where the value is `NULL`.
    """
    found = np.empty((len(values), 2), np.int64)
    found[:, 0], found[:, 1] = NULL + 1, TOP
    if op in (">=", "="):
        found[:, 0] = values
    elif op == ">":
        found[:, 0] = values + 1
    if op == "<":
        found[:, 1] = values
    elif op in ("<=", "="):
        found[:, 1] = values + 1
    absent = values == NULL
    if absent.any():
        found[absent] = TOP
    return found


def _names(expression: t.Expression) -> frozenset[str]:
    return variables_of(expression)
