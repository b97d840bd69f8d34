"""The measures of MATCH_RECOGNIZE by column: `MeasureValues`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.expressions import evaluate
from cer_gpu.engine.rows.fold_values import FoldValues
from cer_gpu.engine.rows.leaf_types import LeafTypes
from cer_gpu.engine.rows.matched_rows import MatchedRows
from cer_gpu.engine.rows.shared_matches import SharedMatches
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.conditions import leaves
from cer_gpu.patterns.tree import (
    Field,
    MatchedVariable,
    MatchNumber,
    Navigation,
    RowAggregate,
    Scalar,
)


class MeasureValues:
    """Measures of the rows of an answer.

    Parameters
    ----------
    matched : MatchedRows or SharedMatches
    types : LeafTypes
    names : sequence of str
        The variables of the pattern, by their numbers.
    """

    def __init__(
        self, matched: MatchedRows | SharedMatches, types: LeafTypes, names: tuple[str, ...]
    ) -> None:
        self._matched = matched
        self._types = types
        self._names = pa.array(names, pa.string())
        self._folds = FoldValues(matched, types, self._at_elements)

    def of(self, expression: Scalar) -> pa.Array:
        """The values of a measure."""
        return evaluate(expression, self._leaf, len(self._matched.answered))

    def _leaf(self, leaf: Scalar) -> Any:
        match leaf:
            case MatchNumber():
                return pa.array(self._matched.numbers[self._matched.answered])
            case Navigation():
                return self._navigation(leaf)
            case RowAggregate():
                return self._folds.of(leaf)
        raise AssertionError(leaf)

    def _navigation(self, navigation: Navigation) -> pa.Array:
        matched = self._matched
        elements = matched.navigated(
            navigation.variables, navigation.which, navigation.skip, navigation.final
        )
        places = matched.moved_places(elements, navigation.offset)
        inside = list(leaves(navigation.expression))
        classified = elements
        if navigation.offset and any(isinstance(leaf, MatchedVariable) for leaf in inside):
            classified = matched.moved_elements(elements, navigation.offset, navigation.final)
        values = self._at(navigation.expression, places, classified)
        if not isinstance(navigation.expression, (Field, MatchedVariable)):
            values = _where(places >= 0, values)
        return values

    def _at_elements(self, expression: Scalar, elements: np.ndarray) -> pa.Array:
        """The values of an expression of columns at some elements."""
        return self._at(expression, self._matched.places[elements], elements)

    def _at(self, expression: Scalar, places: np.ndarray, elements: np.ndarray) -> pa.Array:
        """The values of an expression of columns at some places, which are those of some elements."""

        def leaf_values(leaf: Scalar) -> pa.Array:
            if isinstance(leaf, Field):
                return self._matched.rows.at(leaf.name, places)
            return self._classified(elements)

        if isinstance(expression, (Field, MatchedVariable)):
            return leaf_values(expression)
        return evaluate(expression, leaf_values, len(places))

    def _classified(self, elements: np.ndarray) -> pa.Array:
        """CLASSIFIER() of some elements; null where there is none."""
        missing = elements < 0
        if not len(self._matched.variables):
            return pa.nulls(len(elements), pa.string())
        numbers = self._matched.variables[np.maximum(elements, 0)]
        return self._names.take(pa.array(numbers, mask=missing))


def _where(there: np.ndarray, values: pa.Array) -> pa.Array:
    """Values, null where there is no row."""
    return values if there.all() else pc.if_else(pa.array(there), values, pa.scalar(None, values.type))
