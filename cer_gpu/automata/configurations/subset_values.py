"""Values of the events of `+` that a filter needs, and that may differ for each subset of the events.

`(T AS x)+` matches every subset of the events of T. `COUNT(x)`, `MIN(x.a)` and `LAST(x.a)` have at most as
many values as there are events, and for `x.a < y.b` the greatest `x.a` decides. But for `SUM(x.a)`,
`AVG(x.a)` and `COUNT(DISTINCT x.a)`, and for `x.a != y.b` with a later y, there may be as many partial
matches as there are subsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from cer_gpu.automata.configurations.comparisons import (
    compared_events,
    has_inside,
    is_correlated,
    iterations_around,
    patterns_in,
    subpatterns,
)
from cer_gpu.automata.configurations.conditions import leaves_in
from cer_gpu.automata.configurations.registers import ALL
from cer_gpu.language import tree
from cer_gpu.language.leaves import aggregates, attributes
from cer_gpu.language.printer import operator_text, to_text
from cer_gpu.language.repetition_edges import names_of, word_of
from cer_gpu.language.scope import variables
from cer_gpu.language.signs import CONVERSE
from cer_gpu.language.words import written_variable


class SubsetValue(NamedTuple):
    """What a comparison needs of the events of a repetition with gaps.

    Attributes
    ----------
    aggregate : Aggregate or None
        The aggregate over them; None if every value is kept, as for `!=` with a later event.
    comparison : Comparison
        The comparison that it stands in.
    repetition : Iteration
    """

    aggregate: tree.Aggregate | None
    comparison: tree.Comparison
    repetition: tree.Iteration

    @property
    def growth(self) -> str:
        """How many values there are."""
        operator = operator_text(self.repetition)
        if self.aggregate is None:
            needed = f"`{to_text(self.comparison)}` needs all values of each"
        else:
            needed = f"each may have another `{to_text(self.aggregate)}`"
        return f"{operator} takes any subset of the events, and {needed}"

    @property
    def remedy(self) -> str:
        """What to write instead."""
        operator = operator_text(self.repetition)
        said = f"write `:{operator[1:-1]}` to match only events in a row"
        if self.aggregate is None:
            return f"{said}, or leave {operator} out if one event is enough"
        name = self.aggregate.variable
        if name is None or not self._slides(self.aggregate):
            return said
        hits = f"`(T AS {written_variable(name)})+ FILTER {to_text(self.comparison)}`"
        return f"{said}, or ask only for `hits`, of one repetition with this filter alone: {hits}"

    def _slides(self, aggregate: tree.Aggregate) -> bool:
        """Whether a window that slides finds the hits of one repetition with this filter alone."""
        left, op, right = self.comparison.left, self.comparison.op, self.comparison.right
        if right == aggregate:
            left, op, right = right, CONVERSE[op], left
        if left != aggregate or any(aggregates(right)) or any(attributes(right)):
            return False
        return op in ((">", ">=") if aggregate.distinct else (">", ">=", "<", "<="))


def subset_values(formula: Any) -> Iterator[SubsetValue]:
    """What a formula in LP-normal form needs of repetitions, and may differ for each subset of events."""
    for node in subpatterns(formula):
        if not (isinstance(node, tree.Filter) and is_correlated(node)):
            continue
        for leaf in leaves_in(node.condition):
            if not isinstance(leaf, tree.Comparison):
                continue
            for one in aggregates(leaf):
                if not (one.distinct or one.function in ("SUM", "AVG")):
                    continue
                word = one.prior if one.variable is not None else word_of(one)
                if (found := _kept_in(formula, node, _names(one), word)) is not None:
                    yield SubsetValue(one, leaf, found)
            if (found := _all_kept(formula, node, leaf)) is not None:
                yield SubsetValue(None, leaf, found)


def _all_kept(formula: Any, node: tree.Filter, leaf: tree.Comparison) -> tree.Iteration | None:
    """The repetition of which all values are kept until a later event is compared with each."""
    compared = compared_events(leaf)
    for owner, columns, keeps in zip(compared.choices, compared.columns, compared.keeps, strict=True):
        if keeps != ALL or not columns:
            continue
        found = _kept_in(formula, node, frozenset({owner.variable}), owner.prior)
        others = frozenset(one.variable for one in compared.owners if one != owner)
        if found is not None and (owner.prior or _comes_after(node.pattern, found, others)):
            return found
    return None


def _kept_in(
    formula: Any, node: tree.Filter, names: frozenset[str], word: tree.Earlier
) -> tree.Iteration | None:
    """The repetition with gaps that has the events of some variables which a filter speaks of."""
    if not word:
        return _repetition(node.pattern, names)
    around = reversed(iterations_around(formula, node))
    own = next((one for one in around if names & variables(one.pattern)), None)
    return own if word == "BEFORE" and own is not None and _is_open(own) else None


def _comes_after(pattern: Any, repetition: tree.Iteration, names: frozenset[str]) -> bool:
    """Whether an event of some variables may come after one of a repetition inside a pattern."""
    if pattern is repetition:
        return bool(names & variables(repetition.pattern))
    inside = [one for one in patterns_in(pattern) if has_inside(one, repetition)]
    if not inside:
        return False
    if isinstance(pattern, tree.As) and pattern.variable in names:
        return True
    if isinstance(pattern, tree.Sequence) and inside[0] is pattern.right:
        return _comes_after(pattern.right, repetition, names)
    repeats = isinstance(pattern, tree.Iteration)  # then what comes before it comes after it too
    beside = [one for one in patterns_in(pattern) if repeats or one is not inside[0]]
    return any(names & variables(one) for one in beside) or _comes_after(inside[0], repetition, names)


def _names(aggregate: tree.Aggregate) -> frozenset[str]:
    """The variables whose events are aggregated."""
    return names_of(aggregate) if aggregate.variable is None else frozenset({aggregate.variable})


def _repetition(pattern: Any, names: frozenset[str]) -> tree.Iteration | None:
    """The repetition with gaps, as often as there are events, in which some of the variables are marked."""
    for node in subpatterns(pattern):
        if isinstance(node, tree.As) and node.variable in names:
            found = _repetition(node.pattern, variables(node.pattern))
            if found is not None:
                return found
        if isinstance(node, tree.Iteration) and _is_open(node) and names & variables(node.pattern):
            return node
    return None


def _is_open(repetition: tree.Iteration) -> bool:
    """Whether a repetition has gaps, and takes as many events as there are."""
    return not repetition.contiguous and repetition.most is None
