"""Which comparisons depend on how floats round sums and differences of decimals: `rounded_comparisons`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import walk

_CHOOSING = ("FIRST", "LAST", "MIN", "MAX")


class RoundedComparison(NamedTuple):
    """A comparison of a sum or difference of columns with one threshold: `price <= PREV(price) - 0.03`.

    Products and quotients are no such comparison: a percentage of a price is seldom a price, so that both
    sides are seldom equal.

    Attributes
    ----------
    text : str
        As it is written.
    columns : frozenset of str
        The columns that are added and subtracted.
    threshold : int, float or str
        The number, or the name of the parameter.
    """

    text: str
    columns: frozenset[str]
    threshold: int | float | str


def rounded_comparisons(statement: t.Statement) -> tuple[RoundedComparison, ...]:
    """The comparisons of sums and differences of columns in a query. Terms of a rule are no columns."""
    if isinstance(statement, t.Rule):
        return ()
    return tuple(dict.fromkeys(_found(statement)))


def _found(statement: t.Statement) -> Iterator[RoundedComparison]:
    for node in walk(statement):
        match node:
            case t.Comparison(left=left, right=right):
                one = _difference(node, [*_terms(left), *_terms(right)])
            case t.InRange(operand=operand, low=t.Number() | t.Parameter() as low):
                one = _difference(node, [*_terms(operand), low])
            case _:
                continue
        if one is not None:
            yield one


def _terms(expression: t.Expression) -> Iterator[t.Expression]:
    """What an expression adds and subtracts."""
    match expression:
        case t.Arithmetic(op="+" | "-", left=left, right=right):
            yield from _terms(left)
            yield from _terms(right)
        case t.Negation(operand=operand) | t.Call(function="ABS", arguments=(operand,)):
            yield from _terms(operand)
        case _:
            yield expression


def _difference(node: t.Comparison | t.InRange, terms: list[t.Expression]) -> RoundedComparison | None:
    """The comparison of these terms; None if it is no sum of columns, or has no threshold or several.

    A threshold and a tolerance are two numbers: then somebody has thought of rounding.
    """
    added, thresholds = 0, list[int | float | str]()
    for term in terms:
        match term:
            case t.Number(value=value):
                thresholds.append(value)
            case t.Parameter(name=name):
                thresholds.append(name)
            case t.Attribute() | t.Previous():
                added += 1
            case t.Aggregate(function=function, argument=t.Attribute()) if function in _CHOOSING:
                added += 1
            case t.Aggregate(function="SUM", argument=t.Attribute()):
                added += 2  # it adds several values by itself
            case _:
                return None
    if added < 2 or len(thresholds) != 1:
        return None
    return RoundedComparison(to_text(node), _columns(terms), thresholds[0])


def _columns(terms: list[t.Expression]) -> frozenset[str]:
    return frozenset(part.name for term in terms for part in walk(term) if isinstance(part, t.Attribute))
