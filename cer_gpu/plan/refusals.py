"""Finds what some engines do not take, and comparisons other than equalities of two events."""

from __future__ import annotations

from typing import Any

from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, Span
from cer_gpu.language import tree
from cer_gpu.language.walk import walk


def beyond_equalities(pattern: tree.Pattern) -> str:
    """The first comparison of a pattern that is not an equality of two events, in words; empty if none."""
    return next((name for node in walk(pattern) if (name := _compares(node)) is not None), "")


def _compares(node: Any) -> str | None:
    match node:
        case tree.Aggregate(function=function):
            return f"the aggregate `{function}(...)` in a filter"
        case tree.Attribute(prior="PRIOR" | "BEFORE" as word) | tree.Every(prior="PRIOR" | "BEFORE" as word):
            return f"`{word}(...)`"
        case tree.Comparison():
            return _comparison(node)
    return None


def is_timed(node: object) -> bool:
    """Whether an interval of time stands on an operator itself: `(p) WITHIN [I]`, `;[I]`, `+[I]`."""
    if isinstance(node, tree.Sequence | tree.Iteration):
        return node.gap is not None
    return isinstance(node, tree.Timed)


def _comparison(node: tree.Comparison) -> str | None:
    sides = [_variables(side) for side in (node.left, node.right)]
    if len(sides[0] | sides[1]) < 2:
        return None
    if max(map(len, sides)) > 1 or not all(sides):
        return "a comparison with several variables on one side"
    return None if node.op == "=" else f"`{node.op}` between two variables"


def _variables(side: tree.Expression) -> set[str]:
    return {
        part.variable for part in walk(side) if isinstance(part, tree.Attribute) and part.variable is not None
    }


def beside_correlation(query: tree.SelectQuery) -> list[Diagnostic]:
    """An error for every operator that some engines do not take beside a comparison between variables.

    A shared key splits the stream by key, but a selector, UNLESS and STRICT also depend on events of other
    keys. The right sides of FOLLOWED BY and PRECEDED BY are not looked at.
    """
    beside = [node.right for node in walk(query.pattern) if isinstance(node, tree.Beside)]
    apart = {id(node) for right in beside for node in walk(right)}
    found = [
        _refused(f"{name} together", query, node.span)
        for node in walk(query.pattern)
        if id(node) not in apart and (name := _not_joined(node)) is not None
    ]
    return found + (strategy_beside_chain(query) if query.strategy is tree.Strategy.STRICT else [])


def strategy_beside_chain(query: tree.SelectQuery) -> list[Diagnostic]:
    """An error for a strategy that chooses among the answers of a join."""
    if query.strategy in (tree.Strategy.ALL, tree.Strategy.ANY):
        return []
    return [_refused(f"the strategy `{query.strategy.value}` together", query, query.span)]


def _refused(what: str, query: tree.SelectQuery, span: Span | None) -> Diagnostic:
    hint = "compare with constants only"
    if not query.partition:
        hint += "; or, if an attribute must be equal in all events, PARTITION BY it"
    else:
        hint += "; the attributes of PARTITION BY are equal anyway, and need no comparison"
    return Diagnostic(
        NOT_TAKEN,
        f"this engine does not take {what} with a comparison between variables",
        span,
        hints=(hint,),
    )


def never_answers(query: tree.Statement) -> Diagnostic:
    """A note on a pattern that no complex event satisfies."""
    hints = ("no events can match: `hits` is empty and `count` is 0",)
    if any(isinstance(node, tree.And) for node in walk(query)):
        hints = (
            "`p AND q` keeps matches of p that are also matches of q (same start, end and marks); if both "
            "are to happen write `p ALL q`",
        )
    return Diagnostic("CER054", "no match is possible", query.span, hints=hints, severity="note")


def _not_joined(node: Any) -> str | None:
    match node:
        case tree.And() | tree.All():
            return f"`{type(node).__name__.upper()}` between patterns"
        case tree.Unless():
            return "`UNLESS`"
        case tree.Selector(strategy):
            return f"the selector `{strategy.selector}(...)`"
    return None
