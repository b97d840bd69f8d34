"""The types of what measures and conditions are made of: `LeafTypes`."""

from __future__ import annotations

import pyarrow as pa

from cer_gpu.engine.rows.expressions import type_of
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.patterns.tree import Field, MatchedVariable, MatchNumber, Navigation, RowAggregate, Scalar

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
                return _type_of_aggregate(leaf, self)
        raise AssertionError(leaf)


def _type_of_aggregate(aggregate: RowAggregate, types: LeafTypes) -> pa.DataType:
    """The type of an aggregate.

    Raises
    ------
    QueryError
        When its values cannot be aggregated.
    """
    if aggregate.expression is None or aggregate.function == "count":
        if aggregate.expression is not None:
            types.type_of(aggregate.expression)
        return pa.int64()
    kind = types.type_of(aggregate.expression)
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    function = aggregate.function
    if pa.types.is_null(plain) or function in ("min", "max"):
        return plain
    if pa.types.is_decimal(plain):
        return pa.float64() if function == "avg" else pa.decimal128(DIGITS, plain.scale)
    if pa.types.is_duration(plain):
        return plain
    if pa.types.is_integer(plain):
        return pa.float64() if function == "avg" else pa.int64()
    if pa.types.is_floating(plain):
        return pa.float64()
    what = f"{function.upper()} of values of type {kind} cannot be computed"
    raise QueryError(
        [Diagnostic("CER117", what, aggregate.at, hints=("take a column of numbers or of intervals",))]
    )
