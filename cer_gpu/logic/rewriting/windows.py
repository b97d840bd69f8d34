"""An interval that bounds a whole complex event from above is WITHIN.

`A AS a ;[<= 5 s] B AS b` lasts as long as its gap, so it means `A AS a ; B AS b` WITHIN 5 s, and so does
`(A AS a ; B AS b) WITHIN [<= 5 s]`. Alternatives that all last at most 5 s are together WITHIN 5 s. Machines
that look up what is compared take a window, and no intervals. A selector around the whole pattern is the
strategy of SELECT, and what bounds its operand is WITHIN, too.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from cer_gpu.language import tree as t
from cer_gpu.language.units import exact, nanoseconds
from cer_gpu.language.walk import children, is_one_event, marking, rebuild


def without_spans(pattern: t.Pattern) -> tuple[t.Pattern, tuple[t.Bound, ...]]:
    """A pattern without the intervals that bound all of a complex event from above alone, and their bounds.

    The complex events of the pattern are those of the one returned that last no longer than any of the bounds
    says. Selectors are left as they are: they choose among what their intervals leave.

    Parameters
    ----------
    pattern : Pattern

    Returns
    -------
    pattern : Pattern
        The same object where there is no such interval.
    bounds : tuple of Bound
        None is open, and none comes with the call.
    """
    match pattern:
        case t.Timed(inner, interval) if (bound := _from_above(interval)) is not None:
            made, bounds = without_spans(inner)
            return made, (bound, *bounds)
        case t.Sequence(gap=gap) if all(
            is_one_event(one, t.OtherEvent, t.Project) for one in children(pattern)
        ):
            bound = None if gap is None else _from_above(gap)
            return (pattern, ()) if bound is None else (replace(pattern, gap=None), (bound,))
        case t.Or():
            parts = {part: without_spans(part) for part in children(pattern)}
            first, *others = (bounds for _, bounds in parts.values())
            if first and all(frozenset(bounds) == frozenset(first) for bounds in others):
                return rebuild(pattern, lambda part: parts[part][0]), first
        case t.As() | t.Filter() | t.Project() | t.Timed() | t.Unless() | t.Beside():
            (inner,) = marking(pattern)
            made, bounds = without_spans(inner)
            return (rebuild(pattern, lambda part: made if part is inner else part), bounds)
    return pattern, ()


def tightest(window: t.Window | None, bounds: tuple[t.Bound, ...]) -> t.Window | None:
    """WITHIN of a query, or the least of some bounds where that is less; None where they do not compare.

    Parameters
    ----------
    window : Window or None
    bounds : tuple of Bound
        At least one. Without a unit a bound is in that of the order, as the window that is made of it.
    """
    least = window or t.Window(bounds[0].value, "time", bounds[0].unit)
    if least.kind != "time":
        return None
    for bound in bounds:
        if (bound.unit is None) != (least.unit is None):
            return None
        if _size(bound.value, bound.unit) < _size(least.size, least.unit):
            least = t.Window(bound.value, "time", bound.unit)
    return least


def _size(value: int | float, unit: str | None) -> Fraction:
    return exact(value) if unit is None else nanoseconds(value, unit)


def _from_above(interval: t.Interval) -> t.Bound | None:
    """The bound of `[<= 5 s]`; None of any other interval."""
    high = interval.high
    if interval.low is not None or high is None or high.open or high.parameter is not None:
        return None
    return high


def without_selector(query: t.SelectQuery) -> tuple[t.SelectQuery, tuple[t.Bound, ...]]:
    """A query with the selector around its pattern as its strategy.

    `LAST(p)` chooses, among the complex events of p with the same end, and so does `SELECT LAST * WHERE p`
    (LANGUAGE 6: at the top a selector chooses among all). The strategy chooses among what WITHIN keeps, so
    `LAST((p) WITHIN [<= 5 s])` is `SELECT LAST * WHERE p WITHIN 5 s`; and a WITHIN of the query, which drops
    what is chosen, changes nothing where no complex event of the operand lasts longer.

    Parameters
    ----------
    query : SelectQuery

    Returns
    -------
    query : SelectQuery
        The same object where there is no such selector.
    bounds : tuple of Bound
        Of the intervals that its window stands for.
    """
    selector, window = query.pattern, query.window
    if not isinstance(selector, t.Selector) or selector.strategy not in t.CHOOSING:
        return query, ()
    if query.strategy is not t.Strategy.ALL:
        return query, ()
    pattern, spans = without_spans(selector.pattern)
    within = tightest(None, spans) if spans else None
    if within is None and (spans or window is not None):
        return query, ()
    if window is not None and tightest(window, spans) != within:
        return query, ()
    return replace(query, strategy=selector.strategy, pattern=pattern, window=within), spans
