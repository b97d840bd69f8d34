"""Counts how many matches reach each step of a pattern, and how many each condition stops: `Query.funnel`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cer_gpu.engine.answers.display import rendered
from cer_gpu.engine.answers.end_form import exact_column
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.machines.reported_ends import sum_exactly
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.passes import PassKeeper, PassSink, passes_of, sum_up
from cer_gpu.engine.run.totals import Totals
from cer_gpu.errors import CerError, DataError
from cer_gpu.language import tree
from cer_gpu.language.chains import flattened, links
from cer_gpu.language.printer import interval_text, to_text, window_text
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import condition_variables
from cer_gpu.listed_runs import MOST_LISTED, BindTo, ListedRunCounts, ListedRuns, listed_counts, listed_runs
from cer_gpu.plan.cost import Question
from cer_gpu.step_transitions import UNMARKED, NextStep, PrefixPattern, chained, filtered, going_on

Bound = TypeVar("Bound")


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
    runs : bool
        Whether the query has one match for each match of the pattern up to the step *before* that goes on to
        this step. Such a stage stands behind that of the pattern.
    uncounted : str or None
        Why such a stage does not stand behind this one.
    listed : ListedRuns or None
        What to list to know it all the same.
    """

    step: int
    text: str
    dropped: str | None
    query: tree.SelectQuery
    runs: bool = False
    uncounted: str | None = None
    listed: ListedRuns | None = None

    @property
    def query_text(self) -> str:
        """The query as it is written."""
        return to_text(self.query)


class _ConditionSplit(NamedTuple):
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


def bound_stages(
    stages: Sequence[FunnelStage], bind: Callable[[int], Bound]
) -> tuple[list[int], list[Bound]]:
    """The places of the stages that can be counted, and their queries, bound.

    Parameters
    ----------
    stages : sequence of FunnelStage
    bind : callable
        Binds the query of the stage at a place, to what it is to be counted over.

    Raises
    ------
    CerError
        When the query of a pattern cannot be bound. Runs that go on may need a larger automaton than the
        pattern: where it is too large, they are not counted.
    """
    places, bound = [], []
    for place, stage in enumerate(stages):
        try:
            bound.append(bind(place))
        except CerError:
            if not stage.runs:
                raise
        else:
            places.append(place)
    return places, bound


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
    queries = dict(enumerate(bound))
    passes = passes_of(queries)
    if passes.alone and len(bound) > 1 and not source.rewindable:
        raise DataError(
            "the events can be read only once, and a funnel of this query reads them several times: pass a "
            "table, or paths of files"
        )
    counts = _Counts(len(bound))
    totals = [Totals(None, False) for _ in passes.groups]
    sum_up(passes, queries, source, options, PassSink(totals, counts), Notes(), kept)
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


class FunnelQuery(Protocol):
    """A compiled query: `Query`."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""

    def bound_to(self, events: Any, asked: Options, question: Question, once: bool) -> BoundQuery:
        """The query on a source."""


def counted_table(
    stages: Sequence[FunnelStage],
    compiled: Callable[[str], FunnelQuery],
    source: Source,
    options: Options,
    given: Mapping[str, Any],
) -> pa.Table:
    """The table of a funnel.

    Parameters
    ----------
    stages : sequence of FunnelStage
    compiled : callable
        Compiles the text of a query.
    source : Source
    options : Options
    given : mapping of str to object
        The values of parameters.
    """

    def made(query: tree.SelectQuery, question: Question, limit: int | None = None) -> BoundQuery:
        one = compiled(to_text(query))
        own = {name: given[name] for name in one.parameters}
        return one.bound_to(source, replace(options, params=own, limit=limit), question, once=True)

    def bind_to(_: int, query: tree.SelectQuery) -> BoundQuery:
        return made(query, "lists", MOST_LISTED + 1)

    places, bound = bound_stages(stages, lambda place: made(stages[place].query, "counts"))
    kept = [stages[place] for place in places]
    hits, matches = counted(bound, source, options)
    if not source.rewindable:
        return funnel_table(kept, hits, matches, unlisted(kept, "the events can be read only once"))
    return funnel_table(kept, hits, matches, listed_stages(kept, bind_to))


def listed_stages(stages: Sequence[FunnelStage], bind: BindTo) -> ListedRunCounts:
    """The runs that go on where they have to be listed.

    Parameters
    ----------
    stages : sequence of FunnelStage
    bind : callable
        Given the place of a stage, binds a query for it, with the limit `MOST_LISTED + 1`.
    """
    found = ((place, one.listed) for place, one in enumerate(stages))
    return listed_counts([(place, one) for place, one in found if one is not None], bind)


def unlisted(stages: Sequence[FunnelStage], why: str) -> ListedRunCounts:
    """What is known of them where nothing is listed."""
    return ListedRunCounts({}, {place: why for place, one in enumerate(stages) if one.listed is not None})


def funnel_table(
    stages: Sequence[FunnelStage], hits: Sequence[int], matches: Sequence[int], listed: ListedRunCounts
) -> pa.Table:
    """A row for each stage but those of runs, with its counts: see `Query.funnel`."""
    rows = [place for place, stage in enumerate(stages) if not stage.runs]
    names = {
        "step": pa.array([stages[row].step for row in rows], pa.int64()),
        "pattern": pa.array([stages[row].text for row in rows], pa.string()),
        "without": pa.array([stages[row].dropped for row in rows], pa.string()),
        "hits": pa.array([hits[row] for row in rows], pa.int64()),
        "matches": exact_column(np.array([matches[row] for row in rows], object)),
    }
    died = _died(stages, matches, listed.numbers)
    notes = _notes(stages, died, listed.failed)
    numbers = exact_column(np.array([0 if died[row] is None else died[row] for row in rows], object))
    unknown = pa.array([died[row] is None for row in rows], pa.bool_())
    names["died"] = pc.if_else(unknown, pa.scalar(None, numbers.type), numbers)
    return rendered(pa.table({**names, "note": pa.array([notes[row] for row in rows], pa.string())}))


def _died(
    stages: Sequence[FunnelStage], matches: Sequence[int], listed: Mapping[int, int]
) -> list[int | None]:
    """For each stage how many runs died at its step, or would not have without what it leaves out."""
    died: list[int | None] = [None] * len(stages)
    before, reached, went = 0, 0, None
    for place, stage in enumerate(stages):
        if not stage.runs:
            if stage.dropped is None:
                before, reached, went = reached, matches[place], listed.get(place)
                died[place] = None if went is None else before - went
            elif place in listed and went is not None:
                died[place] = listed[place] - went
        elif stage.dropped is None:
            went = matches[place]
            died[place - 1] = before - went
        elif went is not None:
            died[place - 1] = matches[place] - went
    return died


def _notes(
    stages: Sequence[FunnelStage], died: Sequence[int | None], failed: Mapping[int, str]
) -> list[str | None]:
    """For each stage why it is not known how many runs died; None where it is known."""
    notes: list[str | None] = []
    whole: str | None = None
    for place, (stage, number) in enumerate(zip(stages, died)):
        note = None
        if number is None and stage.step == 1:
            note = "no step comes before"
        elif number is None:
            note = stage.uncounted or whole or "the automaton of the partial matches that go on is too large"
            if place in failed:
                note = f"{note}; {failed[place]}"
        if stage.dropped is None and not stage.runs:
            whole = note
        notes.append(note)
    return notes


def numbers_in(counts: pa.Table) -> tuple[int, int]:
    """The number of ends in a table of `Query.counts`, and the number of complex events."""
    column = counts.column("count")
    if pa.types.is_integer(column.type):
        return len(column), sum_exactly(column.to_numpy())
    return len(column), sum(map(int, column.to_pylist()))


def _stages(query: tree.SelectQuery) -> Iterator[FunnelStage]:
    """See `stages_of`."""
    whole = _conditioned(query.pattern)
    chain = isinstance(whole.pattern, tree.Sequence)
    steps, joints = links(whole.pattern) if chain else ([whole.pattern], [])
    plain = replace(
        query,
        strategy=tree.Strategy.ALL,
        consume=tree.Consume.NONE,
        suppress=None,
        select=None,
        measures=(),
        limit=None,
    )
    asked: set[int] = set()
    for number in range(len(steps)):
        known = frozenset[str]().union(*map(variables, steps[: number + 1]))
        before = [condition for place, condition in enumerate(whole.conditions) if place in asked]
        fresh = [
            place
            for place, condition in enumerate(whole.conditions)
            if place not in asked and condition_variables(condition) <= known
        ]
        asked |= {*fresh}
        here = [condition for place, condition in enumerate(whole.conditions) if place in asked]
        joint = joints[number - 1] if number else None
        own = _conditioned(steps[number] if number else _there(steps[0]))
        sign = "" if joint is None else f"{':' if joint.contiguous else ';'} "
        step = _Step(
            plain,
            PrefixPattern(steps[:number], joints[: max(number - 1, 0)], before),
            own,
            joint,
            here,
            f"{sign}{to_text(steps[number])}",
        )
        yield from step.stages(None)
        for place, condition in enumerate(own.conditions):
            fewer = (*own.conditions[:place], *own.conditions[place + 1 :])
            yield from step._replace(last=own._replace(conditions=fewer)).stages(to_text(condition))
        for place in fresh:
            condition = whole.conditions[place]
            others = [one for one in here if one is not condition]
            yield from step._replace(conditions=others).stages(to_text(condition))
        if joint is not None and joint.contiguous:
            yield from step._replace(joint=replace(joint, contiguous=False)).stages(":")
        if joint is not None and joint.gap is not None:
            yield from step._replace(joint=replace(joint, gap=None)).stages(interval_text(joint.gap))
        if number and query.window is not None:
            yield from step.stages(f"WITHIN {window_text(query.window)}", windowed=False)


class _Step(NamedTuple):
    """A step of a pattern, with what comes before it and what is asked."""

    query: tree.SelectQuery
    runs: PrefixPattern
    last: _ConditionSplit
    joint: Any
    conditions: list[Any]
    text: str

    def stages(self, dropped: str | None, windowed: bool = True) -> Iterator[FunnelStage]:
        """The pattern up to this step, and the runs that go on to it."""
        last = filtered(self.last.pattern, self.last.conditions)
        steps, joints = self.runs.steps, self.runs.joints
        pattern = chained([*steps, last], [*joints, self.joint] if steps else [])
        query = replace(
            self.query,
            pattern=filtered(pattern, self.conditions),
            window=self.query.window if windowed else None,
        )
        found = FunnelStage(len(steps) + 1, self.text, dropped, query)
        if not steps:
            yield found
        else:
            step = NextStep(self.last.pattern, [*self.last.conditions], self.joint, self.conditions)
            runs = self.runs if len(steps) > 1 else self.runs._replace(steps=[_there(steps[0])])
            going = going_on(self.query, runs, step, windowed)
            if isinstance(going, str):
                listed = listed_runs(self.query, runs, step, windowed)
                yield found._replace(uncounted=going if listed is not None else UNMARKED, listed=listed)
            else:
                yield found
                yield found._replace(query=going, runs=True)


def _there(step: Any) -> Any:
    """A first step; by itself it cannot be left out."""
    return step.pattern if isinstance(step, tree.Optional) else step


def _conditioned(pattern: Any) -> _ConditionSplit:
    """A pattern with its outermost filters taken off: what they ask for, one condition at a time."""
    found: list[Any] = []
    while isinstance(pattern, tree.Filter):
        found = [*_conjuncts(pattern.condition), *found]
        pattern = pattern.pattern
    return _ConditionSplit(pattern, tuple(found))


def _conjuncts(condition: Any) -> Iterator[Any]:
    for one in flattened(tree.Both, condition):
        if isinstance(one, tree.Every):
            yield from (replace(one, predicate=each) for each in flattened(tree.Both, one.predicate))
        else:
            yield one
