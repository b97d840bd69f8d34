"""How far partial matches get, and what stops them: `Query.funnel`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.run import backtest
from cer_gpu.language import tree
from cer_gpu.language.chains import flattened, linked, links
from cer_gpu.language.printer import interval_text, to_text, window_text
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import condition_variables

_BESIDE = (tree.Strategy.ALL, tree.Consume.NONE)


class _Stage(NamedTuple):
    """A query of a funnel.

    Attributes
    ----------
    step : int
        The pattern up to this step, counted from 1.
    text : str
        The step as it is written.
    dropped : str or None
        What is left out, as it is written.
    query : SelectQuery
    """

    step: int
    text: str
    dropped: str | None
    query: tree.SelectQuery


class _Conditioned(NamedTuple):
    """A pattern without its filters, and what these ask for."""

    pattern: Any
    conditions: tuple[Any, ...]


def funnel(query: Query, events: Any, keywords: dict[str, Any]) -> pa.Table:
    """How many events complete each step of a pattern, and how many would with one condition less.

    Parameters
    ----------
    query : Query
        No rule.
    events : object
        As for `Query.run`; read in as few passes as `backtest` needs.
    keywords : dict
        Those of `Query.run`.

    Returns
    -------
    pyarrow.Table
        See `Query.funnel`.

    Raises
    ------
    ValueError
        For a rule.
    """
    if not isinstance(query.tree, tree.SelectQuery):
        raise ValueError("a rule has no steps: a funnel is for a pattern, SELECT ... WHERE ...")
    stages = list(_stages(query.tree))
    texts = {str(number): to_text(stage.query) for number, stage in enumerate(stages)}
    found = backtest({name: Query(text) for name, text in texts.items()}, events, **keywords).to_arrow()
    return pa.table(
        {
            "step": pa.array([stage.step for stage in stages]),
            "pattern": pa.array([stage.text for stage in stages], pa.string()),
            "without": pa.array([stage.dropped for stage in stages], pa.string()),
            "hits": found.column("hits"),
            "matches": found.column("matches"),
        }
    )


def _stages(query: tree.SelectQuery) -> Iterator[_Stage]:
    """The pattern up to each step, and each time with one condition less that this step brings."""
    whole = _conditioned(query.pattern)
    chained = isinstance(whole.pattern, tree.Sequence)
    steps, joints = links(whole.pattern) if chained else ([whole.pattern], [])
    asked: set[int] = set()
    for number in range(len(steps)):
        known = frozenset[str]().union(*map(variables, steps[: number + 1]))
        fresh = [
            place
            for place, condition in enumerate(whole.conditions)
            if place not in asked and condition_variables(condition) <= known
        ]
        asked |= {*fresh}
        here = [condition for place, condition in enumerate(whole.conditions) if place in asked]
        joint = joints[number - 1] if number else None
        own = _conditioned(steps[number])
        sign = "" if joint is None else f"{':' if joint.contiguous else ';'} "
        text = f"{sign}{to_text(steps[number])}"

        def made(
            last: Any, join: Any, conditions: Sequence[Any], window: Any, number: int = number
        ) -> tree.SelectQuery:
            joined = [*joints[: number - 1], join] if number else []
            pattern = linked([*steps[:number], last], joined)
            return replace(
                query,
                pattern=_filtered(pattern, conditions),
                strategy=_BESIDE[0],
                consume=_BESIDE[1],
                select=None,
                measures=(),
                limit=None,
                window=window,
            )

        yield _Stage(number + 1, text, None, made(steps[number], joint, here, query.window))
        for place, condition in enumerate(own.conditions):
            fewer = _filtered(own.pattern, [*own.conditions[:place], *own.conditions[place + 1 :]])
            yield _Stage(number + 1, text, to_text(condition), made(fewer, joint, here, query.window))
        for place in fresh:
            condition = whole.conditions[place]
            others = [one for one in here if one is not condition]
            yield _Stage(
                number + 1, text, to_text(condition), made(steps[number], joint, others, query.window)
            )
        if joint is not None and joint.contiguous:
            freer = made(steps[number], replace(joint, contiguous=False), here, query.window)
            yield _Stage(number + 1, text, ":", freer)
        if joint is not None and joint.gap is not None:
            freer = made(steps[number], replace(joint, gap=None), here, query.window)
            yield _Stage(number + 1, text, interval_text(joint.gap), freer)
        if number and query.window is not None:
            yield _Stage(
                number + 1,
                text,
                f"WITHIN {window_text(query.window)}",
                made(steps[number], joint, here, None),
            )


def _conditioned(pattern: Any) -> _Conditioned:
    """A pattern with its outermost filters taken off: what they ask for, one condition at a time."""
    found: list[Any] = []
    while isinstance(pattern, tree.Filter):
        found = [*_conjuncts(pattern.condition), *found]
        pattern = pattern.pattern
    return _Conditioned(pattern, tuple(found))


def _conjuncts(condition: Any) -> Iterator[Any]:
    for one in flattened(tree.Both, condition):
        if isinstance(one, tree.Every):
            yield from (replace(one, predicate=each) for each in flattened(tree.Both, one.predicate))
        else:
            yield one


def _filtered(pattern: Any, conditions: Sequence[Any]) -> Any:
    for condition in conditions:
        pattern = tree.Filter(pattern, condition)
    return pattern
