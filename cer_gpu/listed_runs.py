"""The runs that go on to the next step of a pattern, listed: where no query has one match for each of them.

A run goes on to a step where a match of the pattern up to this step begins with it. So these matches are
listed, with a variable that marks what the run is of each,

>>> SELECT * WHERE (A ; B AS b) AS run ;[>= 1 min] C WITHIN 1 HOUR

and the different runs among them are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.errors import CerError
from cer_gpu.language import tree
from cer_gpu.language.scope import variables
from cer_gpu.step_transitions import NextStep, PrefixPattern, chained, filtered

MOST_LISTED = 1 << 19
"""Matches that are listed for one row of a funnel at most."""

MOST_ROWS = 64
"""Rows of the funnels of a backtest for which matches are listed, at most."""

RUN = "run"
"""The variable that marks a run, with a `_` behind it where the query has the name already."""


class ListedRuns(NamedTuple):
    """The queries whose matches tell which runs go on.

    Attributes
    ----------
    going : SelectQuery
        The pattern up to a step; `run` marks the run.
    within : SelectQuery or None
        The runs themselves, where those of `going` may be too long; None where they are not.
    run : str
        The variable.
    """

    going: tree.SelectQuery
    within: tree.SelectQuery | None
    run: str


class ListedRunCounts(NamedTuple):
    """How many runs go on, by the places of stages; and why it is not known for others."""

    numbers: dict[int, int]
    failed: dict[int, str]


BindTo = Callable[[int, tree.SelectQuery], BoundQuery]
"""Binds a query for the stage at a place, with the limit `MOST_LISTED + 1`."""


def listed_runs(
    query: tree.SelectQuery, runs: PrefixPattern, step: NextStep, windowed: bool
) -> ListedRuns | None:
    """What to list to know which runs go on to a step; parameters as of `stopped.going_on`.

    None where matches do not tell: after a step that ends with an event that is not marked.
    """
    if runs.unmarked:
        return None
    taken = runs.variables | variables(step.pattern) | {name for part in query.partition for name in part}
    run = RUN
    while run in taken:
        run += "_"
    last = filtered(step.pattern, step.own)
    whole = replace(step.joint, left=tree.As(chained(runs.steps, runs.joints), run), right=last)
    kept = tree.Project(filtered(whole, step.conditions), (run, *sorted(runs.variables)))
    free = not windowed and query.window is not None
    one = runs.alone and query.window is not None and query.window.kind != "attribute"
    before = tree.As(chained(runs.steps, runs.joints), run)
    within = replace(query, pattern=filtered(before, runs.conditions)) if free and not one else None
    return ListedRuns(replace(query, pattern=kept, window=None if free else query.window), within, run)


def listed_counts(wanted: Iterable[tuple[int, ListedRuns]], bind: BindTo) -> ListedRunCounts:
    """Count the runs that go on at some stages.

    Parameters
    ----------
    wanted : iterable of (int, ListedRuns)
        The place of each stage, and what to list.
    bind : callable
    """
    listed = ListedRunCounts({}, {})
    known: dict[tree.SelectQuery, set[tuple[Any, ...]] | None] = {}
    for place, one in wanted:
        try:
            found = _runs_of(bind(place, one.going), one.run)
            if found is not None and one.within is not None:
                if one.within not in known:
                    known[one.within] = _runs_of(bind(place, one.within), one.run)
                inside = known[one.within]
                found = None if inside is None else found & inside
        except CerError:
            listed.failed[place] = "the query that lists the partial matches is too large"
            continue
        if found is None:
            listed.failed[place] = f"more than {MOST_LISTED:,} matches would be listed"
        else:
            listed.numbers[place] = len(found)
    return listed


def _runs_of(bound: BoundQuery, run: str) -> set[tuple[Any, ...]] | None:
    """The runs among the matches of a query; None if there are too many matches."""
    bound.notes = Notes(aloud=False)
    matches, found, seen = bound.matches(), set[tuple[Any, ...]](), 0
    for batch in matches.batches(keep=False):
        seen += batch.num_rows
        if seen > MOST_LISTED:
            return None
        found.update(_keys(batch, run))
    return found


def _keys(batch: pa.RecordBatch, run: str) -> Iterator[tuple[Any, ...]]:
    """What tells runs apart: where each begins, and which events its variables mark."""
    lists = [field.name for field in batch.schema if pa.types.is_list(field.type)]
    own = batch.column(run).to_pylist()
    others = [batch.column(name).to_pylist() for name in sorted(lists) if name != run]
    for row, start in enumerate(batch.column("start").to_pylist()):
        inside = frozenset(own[row])
        told = (tuple(at for at in column[row] or () if at in inside) for column in others)
        yield (start, tuple(own[row]), *told)
