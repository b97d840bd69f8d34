"""A selector around the whole pattern is the strategy of SELECT, and what bounds its operand is WITHIN."""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.language import tree as t
from cer_gpu.logic.rewriting.windows import tightest, without_spans


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
