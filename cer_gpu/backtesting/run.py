"""`backtest`: many queries over the same events, as many as possible in one pass."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from cer_gpu.backtesting.about import About
from cer_gpu.backtesting.asked import AskedQuery, asked_queries, bound_query, parameters_of, refuse_unknown
from cer_gpu.backtesting.asked_outcomes import asked_outcomes, outcomes_of
from cer_gpu.backtesting.parted import Parted, columns_found, parted_by
from cer_gpu.backtesting.result import Backtest
from cer_gpu.backtesting.table import combined, numbered, of_ends, of_groups
from cer_gpu.checked import opened
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound import BoundQuery
from cer_gpu.engine.run.options import Options, read_options
from cer_gpu.engine.run.signatures import spelled
from cer_gpu.engine.run.together import Bunch, batches, bunched
from cer_gpu.engine.run.totals import Totals
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError, RowError
from cer_gpu.progress import Watch, begun, shown_together


@spelled(read_options, omit=("limit", "event_id", "memory"))
def backtest(
    queries: Any,
    events: Any,
    by: Any = None,
    outcomes: Mapping[str, str] | None = None,
    split: Any = None,
    **keywords: Any,
) -> Backtest:
    """How often queries would have fired: hits and matches of each, in as few passes as possible.

    >>> found = cer.backtest({"spike": q, "dip": q2}, "trades.parquet", order_by="ts", by="1d")
    >>> found = cer.backtest(cer.sweep("... price > $p ... WITHIN $w", p=[1, 2], w=["5 min", "1 h"]), events)
    >>> found.to_pandas()

    Parameters
    ----------
    queries : mapping of str to (Query, str or Variants), Variants, Query, str, or a sequence of these
        What has no name is called `q1`, `q2`, ... in its place.
    events : object
        As for `Query.run`. They are read once for all queries that can be read together, and once more for
        each other one.
    by : str, int, float, or a sequence of these, optional
        A length of time, `"1d"` or `"5 min"` (a plain number in the unit of the order column), the names of
        columns of PARTITION BY, which all queries then have, or both: `["1d", "symbol"]`.
    outcomes : mapping of str to str, optional
        What happened after each hit: `{"ret_5m": "AFTER 5 MINUTES (price) / price - 1"}`. See
        `Backtest.outcomes`, and `docs/BACKTEST.md` for the words.
    split : str, datetime or number, optional
        A time: outcomes are summed up before it and from it on too, so that what was chosen on the one part
        is judged on the other.

    Returns
    -------
    Backtest

    Raises
    ------
    QueryError
        When a query is wrong or does not fit the events.
    DataError
        When the events cannot be read, or only once where they are needed again.
    ValueError
        For what `by`, `outcomes` or `split` cannot be, and for a value in `params` that no query has a
        parameter for.
    """
    begun_at = time.perf_counter()
    options = read_options(**keywords)
    asked = asked_queries(queries)
    if not asked:
        raise ValueError("there is no query: give one at least")
    refuse_unknown(options.params, asked)
    wanted = asked_outcomes(outcomes, split)
    names = frozenset().union(*(one.query.names for one in asked), *(one.names for one in wanted))
    with shown_together():
        source = opened(names, events, options)
        bound = [bound_query(one, source, options) for one in asked]
        parted = parted_by(by, bound, source, options)
        notes = Notes()
        for one in bound:
            for text in one.notes.texts:
                notes.say(text, aloud=False)
        here = [number for number, one in enumerate(bound) if not one.place.numbers]
        groups, _ = bunched([bound[number].compiled for number in here])
        groups = [[here[one] for one in group] for group in groups]
        members = {number for group in groups for number in group}
        alone = [number for number in range(len(asked)) if number not in members]
        if wanted and not source.rewindable:
            raise DataError("the events can be read once only, and outcomes need them again: pass a table")
        if alone and not source.rewindable and (groups or len(alone) > 1):
            raise DataError(
                f"the events can be read once only, and {len(alone):,} of the queries need a pass of their "
                f"own (the first is {asked[alone[0]].name!r}): pass a table, or paths of files"
            )
        tables = _together(groups, bound, source, options, parted, notes)
        schema, at = columns_found(parted, source, options), "time" if options.order_by else "position"
        for number in alone:
            found = of_ends(bound[number].counts(), parted.buckets, parted.columns, at, schema)
            tables.append(numbered(found, number))
            for text in bound[number].notes.texts:
                notes.say(text, aloud=False)
        told = outcomes_of(wanted, split, asked, bound, source, options) if wanted else None
    called, values = [one.name for one in asked], [one.values for one in asked]
    made = combined(tables, called, values, schema, by is None)
    seconds = time.perf_counter() - begun_at
    return Backtest(made, notes.texts, (len(members), len(groups)), _about(asked, source, seconds), told)


def _about(asked: Sequence[AskedQuery], source: Source, seconds: float) -> About:
    """How the queries were run."""
    many = f"{len(asked):,} {'query' if len(asked) == 1 else 'queries'}"
    told = f"{many} in {seconds:.3g} s"
    if source.rows is not None:
        told = f"{many} over {source.rows:,} events of {source.where} in {seconds:.3g} s"
        told += f" ({source.rows * len(asked) / max(seconds, 1e-9):,.0f} events times queries a second)"
    return About(
        {one.name: one.query for one in asked}, parameters_of(asked), f"{told}; cer-gpu {version('cer-gpu')}"
    )


def _together(
    groups: Sequence[Sequence[int]],
    bound: Sequence[BoundQuery],
    source: Source,
    options: Options,
    parted: Parted,
    notes: Notes,
) -> list[pa.Table]:
    """What the queries of each group find, with their numbers, in one pass over the events."""
    if not groups:
        return []
    workers = Workers()
    members = sum(map(len, groups))
    totals = [Totals(parted.buckets, bool(parted.columns)) for _ in groups]
    bunches = [
        Bunch([bound[number] for number in group], source, options, workers, members, group, own)
        for group, own in zip(groups, totals)
    ]

    def passed(watch: Watch) -> Iterable[None]:
        for batch in watch(batches(source, bunches)):
            for bunch in bunches:
                bunch.read(batch)
            yield
        for bunch in bunches:
            bunch.rest()
        yield

    progress = begun(source.rows)
    try:
        with within_memory("running the queries"):
            for _ in progress.over(passed(progress.watch)):
                pass
    except RowError as error:
        raise source.named(error) from error
    schema = columns_found(parted, source, options)
    for bunch in bunches:
        bunch.say(notes, options.stream_column)
    return [
        of_groups(own.groups(), parted.buckets, parted.columns, bunch, schema)
        for bunch, own in zip(bunches, totals)
    ]
