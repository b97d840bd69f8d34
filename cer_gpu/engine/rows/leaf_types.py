"""The types of what measures and conditions are made of: `LeafTypes`."""

from __future__ import annotations

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import without_dictionary
from cer_gpu.engine.rows.expressions import type_of
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.patterns.tree import (
    Field,
    MatchedVariable,
    MatchNumber,
    Navigation,
    Operation,
    RowAggregate,
    Scalar,
)

DIGITS = 38
"""Digits of a sum of decimals."""


class LeafTypes:
    """The types of what measures and conditions are made of.

    Parameters
    ----------
    schema : pyarrow.Schema
    text : str
        The statement, for messages.
    """

    def __init__(self, schema: pa.Schema, text: str) -> None:
        self._schema = schema
        self._text = text

    def type_of(self, expression: Scalar) -> pa.DataType:
        """The type of an expression.

        Raises
        ------
        QueryError
            When types do not fit.
        """
        return type_of(expression, self._leaf, self._text)

    def _leaf(self, leaf: Scalar) -> pa.DataType:
        match leaf:
            case Field():
                return self._schema.field(leaf.name).type
            case MatchedVariable():
                return pa.string()
            case MatchNumber():
                return pa.int64()
            case Navigation():
                return self.type_of(leaf.expression)
            case RowAggregate():
                return self._aggregated(leaf)
        raise AssertionError(leaf)

    def _aggregated(self, aggregate: RowAggregate) -> pa.DataType:
        """The type of an aggregate."""
        function = aggregate.function
        if aggregate.expression is None:
            return pa.int64()
        kind = self.type_of(_first_of(aggregate.expression))
        plain = without_dictionary(kind)
        if function == "count":
            if aggregate.distinct and not _is_told_apart(plain):
                raise self._refusal(aggregate, "COUNT(DISTINCT ...)", kind, "numbers, times or texts")
            return pa.int64()
        if function in ("array", "values"):
            return pa.list_(plain)
        if function in ("min by", "max by"):
            self._check_order(aggregate)
            return plain
        if function == "any":
            return plain
        if function == "text":
            if not (pa.types.is_null(plain) or pa.types.is_string(plain) or pa.types.is_large_string(plain)):
                raise self._refusal(aggregate, "the text", kind, "texts, or CAST(... AS VARCHAR)")
            return pa.string()
        if function in ("min", "max"):
            if not (pa.types.is_null(plain) or _is_ordered(plain)):
                raise self._refusal(aggregate, function.upper(), kind, "numbers, times or texts")
            return plain
        if function.endswith(("variance", "deviation")):
            if not (pa.types.is_null(plain) or _is_number(plain)):
                raise self._refusal(aggregate, f"the {function}", kind, "numbers")
            return pa.float64()
        if pa.types.is_null(plain) or pa.types.is_duration(plain):
            return plain
        if pa.types.is_decimal(plain):
            return pa.decimal128(DIGITS, plain.scale) if function == "sum" else pa.float64()
        if pa.types.is_integer(plain):
            return pa.float64() if function == "avg" else pa.int64()
        if pa.types.is_floating(plain):
            return pa.float64()
        raise self._refusal(aggregate, function.upper(), kind, "numbers or of intervals")

    def _check_order(self, aggregate: RowAggregate) -> None:
        """Check that the second expression of a pair has an order."""
        assert isinstance(aggregate.expression, Operation)
        kind = without_dictionary(self.type_of(aggregate.expression.operands[1]))
        if not (pa.types.is_null(kind) or _is_ordered(kind)):
            raise self._refusal(aggregate, "the row", kind, "numbers, times or texts")

    def _refusal(self, aggregate: RowAggregate, name: str, kind: pa.DataType, taken: str) -> QueryError:
        """The error that values of a type cannot be aggregated."""
        what = f"{name} of values of type {kind} cannot be computed"
        hints = (f"take a column of {taken}",)
        return QueryError([Diagnostic("CER117", what, aggregate.at, hints=hints)], self._text)


def _first_of(expression: Scalar) -> Scalar:
    """The first expression of a pair; any other one."""
    if isinstance(expression, Operation) and expression.name == "pair":
        return expression.operands[0]
    return expression


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_told_apart(kind: pa.DataType) -> bool:
    """Whether Arrow finds equal values of a type."""
    if pa.types.is_string_view(kind):
        return True
    try:
        pa.nulls(1, kind).dictionary_encode()
    except pa.ArrowNotImplementedError:
        return False
    return True


def _is_ordered(kind: pa.DataType) -> bool:
    """Whether values of a type have an order."""
    types = pa.types
    texts = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    bytes_ = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    times = types.is_temporal(kind) and not types.is_interval(kind)
    return _is_number(kind) or texts or bytes_ or times or types.is_boolean(kind)
