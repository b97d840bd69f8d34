"""Aggregates over the events of `+`, whose value may differ for each subset of the events.

`(T AS x)+` matches every subset of the events of T. `COUNT(x)`, `MIN(x.a)` and `LAST(x.a)` have at most as
many values as there are events; for `SUM(x.a)`, `AVG(x.a)` and `COUNT(DISTINCT x.a)` there may be as many
partial matches as there are subsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from cer_gpu.automata.configurations.comparisons import is_correlated, subpatterns
from cer_gpu.automata.configurations.conditions import leaves_in
from cer_gpu.language import tree
from cer_gpu.language.leaves import aggregates, attributes
from cer_gpu.language.printer import operator_text, to_text
from cer_gpu.language.repetition_edges import names_of
from cer_gpu.language.scope import variables
from cer_gpu.language.signs import CONVERSE
from cer_gpu.language.words import written_variable


class SubsetValue(NamedTuple):
    """An aggregate over the events of a repetition with gaps.

    Attributes
    ----------
    aggregate : Aggregate
    comparison : Comparison
        The comparison that it stands in.
    repetition : Iteration
    """

    aggregate: tree.Aggregate
    comparison: tree.Comparison
    repetition: tree.Iteration

    @property
    def growth(self) -> str:
        """How many values there are."""
        operator, aggregate = operator_text(self.repetition), to_text(self.aggregate)
        return f"{operator} takes any subset of the events, and each may have another `{aggregate}`"

    @property
    def remedy(self) -> str:
        """What to write instead."""
        said = f"write `:{operator_text(self.repetition)[1:-1]}` to match only events in a row"
        name = self.aggregate.variable
        if name is None or not self._slides():
            return said
        hits = f"`(T AS {written_variable(name)})+ FILTER {to_text(self.comparison)}`"
        return f"{said}, or ask only for `hits`, of one repetition with this filter alone: {hits}"

    def _slides(self) -> bool:
        """Whether a window that slides finds the hits of one repetition with this filter alone."""
        left, op, right = self.comparison.left, self.comparison.op, self.comparison.right
        if right == self.aggregate:
            left, op, right = right, CONVERSE[op], left
        if left != self.aggregate or any(aggregates(right)) or any(attributes(right)):
            return False
        return op in ((">", ">=") if self.aggregate.distinct else (">", ">=", "<", "<="))


def subset_values(formula: Any) -> Iterator[SubsetValue]:
    """The aggregates of a formula in LP-normal form that may differ for each subset of events."""
    for node in subpatterns(formula):
        if not (isinstance(node, tree.Filter) and is_correlated(node)):
            continue
        for leaf in leaves_in(node.condition):
            if not isinstance(leaf, tree.Comparison):
                continue
            for one in aggregates(leaf):
                if one.prior or not (one.distinct or one.function in ("SUM", "AVG")):
                    continue
                if (found := _repetition(node.pattern, _names(one))) is not None:
                    yield SubsetValue(one, leaf, found)


def _names(aggregate: tree.Aggregate) -> frozenset[str]:
    """The variables whose events are aggregated."""
    return names_of(aggregate) if aggregate.variable is None else frozenset({aggregate.variable})


def _repetition(pattern: Any, names: frozenset[str]) -> tree.Iteration | None:
    """The repetition with gaps, as often as there are events, in which some of the variables are marked."""
    for node in subpatterns(pattern):
        if isinstance(node, tree.As) and node.variable in names:
            names = names | variables(node.pattern)
        gaps = isinstance(node, tree.Iteration) and not node.contiguous and node.most is None
        if gaps and names & variables(node.pattern):
            return node
    return None
