"""Counts how many matches reach each step of a pattern, and how many each condition stops: `Query.funnel`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.answers.where import exact_column
from cer_gpu.engine.machines.asked import sum_exactly
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.passes import PassFound, PassKeeper, passes_of, sum_up
from cer_gpu.engine.run.totals import Totals
from cer_gpu.errors import DataError
from cer_gpu.language import tree
from cer_gpu.language.chains import flattened, linked, links
from cer_gpu.language.printer import interval_text, to_text, window_text
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import condition_variables

_BESIDE = (tree.Strategy.ALL, tree.Consume.NONE)


class FunnelStage(NamedTuple):
    """One query of a funnel: the pattern up to a step, with at most one condition left out.

    Attributes
    ----------
    step : int
        The last step of the pattern, counted from 1.
    text : str
        The step as it is written.
    dropped : str or None
        The condition that is left out, as it is written; None when nothing is.
    query : SelectQuery
    """

    step: int
    text: str
    dropped: str | None
    query: tree.SelectQuery


class _Conditioned(NamedTuple):
    """A pattern without its filters, and the conditions of these filters."""

    pattern: Any
    conditions: tuple[Any, ...]


def stages_of(query: tree.Statement) -> list[FunnelStage]:
    """The queries of a funnel: the pattern up to each step, whole, and without each condition of that step.

    Raises
    ------
    ValueError
        For a rule.
    """
    if not isinstance(query, tree.SelectQuery):
        raise ValueError("a rule has no steps: a funnel needs a pattern, SELECT ... WHERE ...")
    return list(_stages(query))


def counted(
    bound: Sequence[BoundQuery], source: Source, options: Options, kept: PassKeeper | None = None
) -> tuple[list[int], list[int]]:
    """Count for each query its matches and the events at which they end, in as few passes as possible.

    Parameters
    ----------
    bound : sequence of BoundQuery
        The query of each stage, bound to `source`.
    source : Source
    options : Options
    kept : PassKeeper, optional
        What keeps the state of the pass after files.

    Raises
    ------
    DataError
        When the events can be read only once, and several passes are needed.
    """
    passes = passes_of(bound)
    if passes.alone and len(bound) > 1 and not source.rewindable:
        raise DataError(
            "the events can be read once only, and a funnel of this query reads them several times: pass a "
            "table, or paths of files"
        )
    counts = _Counts(len(bound))
    totals = [Totals(None, False) for _ in passes.groups]
    sum_up(passes, bound, source, options, PassFound(totals, counts), Notes(), kept)
    hits, matches = counts.hits, counts.matches
    for own in totals:
        found = own.groups()
        for number, some, many in zip(found.query, found.hits, found.matches):
            hits[number], matches[number] = int(some), int(many)
    for number in passes.alone:
        counts.add(number, bound[number].counts())
    return hits, matches


class _Counts:
    """The numbers of ends and of complex events of some queries."""

    def __init__(self, many: int) -> None:
        self.hits, self.matches = [0] * many, [0] * many

    def add(self, query: int, ends: pa.Table) -> None:
        """Take a part of the table of `counts` of a query."""
        some, many = numbers_in(ends)
        self.hits[query] += some
        self.matches[query] += many

    def state(self) -> list[list[Any]]:
        """All that was taken; numbers may have any size."""
        return [list(self.hits), [str(number) for number in self.matches]]

    def resume(self, state: list[list[Any]]) -> None:
        """Restore what `state` returned."""
        hits, matches = state
        self.hits[:], self.matches[:] = hits, map(int, matches)


def funnel_table(stages: Sequence[FunnelStage], hits: Sequence[int], matches: Sequence[int]) -> pa.Table:
    """A row for each stage, with its counts: see `Query.funnel`."""
    return pa.table(
        {
            "step": pa.array([stage.step for stage in stages], pa.int64()),
            "pattern": pa.array([stage.text for stage in stages], pa.string()),
            "without": pa.array([stage.dropped for stage in stages], pa.string()),
            "hits": pa.array(hits, pa.int64()),
            "matches": exact_column(np.array(matches, object)),
        }
    )


def numbers_in(counts: pa.Table) -> tuple[int, int]:
    """The number of ends in a table of `Query.counts`, and the number of complex events."""
    column = counts.column("count")
    if pa.types.is_integer(column.type):
        return len(column), sum_exactly(column.to_numpy())
    return len(column), sum(map(int, column.to_pylist()))


def _stages(query: tree.SelectQuery) -> Iterator[FunnelStage]:
    """See `stages_of`."""
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

        yield FunnelStage(number + 1, text, None, made(steps[number], joint, here, query.window))
        for place, condition in enumerate(own.conditions):
            fewer = _filtered(own.pattern, [*own.conditions[:place], *own.conditions[place + 1 :]])
            yield FunnelStage(number + 1, text, to_text(condition), made(fewer, joint, here, query.window))
        for place in fresh:
            condition = whole.conditions[place]
            others = [one for one in here if one is not condition]
            yield FunnelStage(
                number + 1, text, to_text(condition), made(steps[number], joint, others, query.window)
            )
        if joint is not None and joint.contiguous:
            freer = made(steps[number], replace(joint, contiguous=False), here, query.window)
            yield FunnelStage(number + 1, text, ":", freer)
        if joint is not None and joint.gap is not None:
            freer = made(steps[number], replace(joint, gap=None), here, query.window)
            yield FunnelStage(number + 1, text, interval_text(joint.gap), freer)
        if number and query.window is not None:
            yield FunnelStage(
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
