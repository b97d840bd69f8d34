"""`backtest`: many queries over the same events, as many as possible in one pass."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from cer_gpu.backtesting.backtest_outcomes import (
    BacktestOutcomes,
    SourceOutcomes,
    asked_outcomes,
    check_variables,
)
from cer_gpu.backtesting.checkpoint import BacktestCheckpoint, digest, made_now
from cer_gpu.backtesting.funnels import funnels_of
from cer_gpu.backtesting.listed_columns import NewFileLister, with_listed
from cer_gpu.backtesting.listed_values import ListedKinds
from cer_gpu.backtesting.open_states import check_states, open_states
from cer_gpu.backtesting.outcomes.words import names_of
from cer_gpu.backtesting.provenance import Provenance, about
from cer_gpu.backtesting.queries import (
    OMITTED,
    AskedQuery,
    asked_queries,
    bound_query,
    refuse_omitted,
    refuse_unknown,
)
from cer_gpu.backtesting.result import Backtest
from cer_gpu.backtesting.row_groups import RowGroups, parted_by
from cer_gpu.backtesting.seams import Seams, pushed
from cer_gpu.backtesting.table import EndTotals, as_one, combined, numbered, of_ends, of_groups
from cer_gpu.checked_query import opened
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.options import Options, read_options, spelled
from cer_gpu.engine.run.passes import Passes, PassSink, passes_of, sum_up
from cer_gpu.engine.run.run_notes import say_how_many_were_late
from cer_gpu.engine.run.totals import Totals
from cer_gpu.errors import DataError
from cer_gpu.printable_text import brief
from cer_gpu.progress import shown_together
from cer_gpu.row_pattern_query import BoundRowPattern, kept_rows

if TYPE_CHECKING:
    from cer_gpu.engine.run.options import FunnelKeywords


@spelled(read_options, omit=OMITTED)
def backtest(
    queries: Any,
    events: Any,
    by: Any = None,
    outcomes: Mapping[str, str] | None = None,
    split: Any = None,
    durations: bool = False,
    funnel: bool = False,
    starts: bool = False,
    resume: str | os.PathLike[str] | None = None,
    state: bool | Mapping[str, Any] = False,
    **keywords: Unpack[FunnelKeywords],
) -> Backtest:
    """Count how often each of many queries would have fired, in as few passes over the events as possible.

    Parameters
    ----------
    queries : mapping of str to (Query, str or Variants), Variants, Query, str, or a sequence of these
        The queries by their names. Queries without names are called `q1`, `q2`, ... in their order. A text
        may be a SELECT with MATCH_RECOGNIZE: its matches are counted, without those that WHERE leaves out.
    events : object
        As for `Query.run`. They are read once for all queries, and once more for each query that runs on a
        GPU by itself, or that has several matches with the same events and different measures.
    by : str, int, float, or a sequence of these, optional
        What to count by. A length of time gives a row for each such bucket of time: `"1d"`, `"5 min"`, or a
        plain number if `order_by` holds plain numbers. A column of PARTITION BY gives a row for each of its
        values; every query must be partitioned by it. Both: `["1d", "symbol"]`. A column that is named like
        one of the result, such as `hits`, is called `hits_` there.
    outcomes : mapping of str to str, optional
        Numbers to compute for each hit, from what happened after it:
        `{"ret_5m": "AFTER 5 MINUTES (price) / price - 1"}`. The result has them in `Backtest.outcomes`;
        `docs/BACKTEST.md` lists all forms.
    split : str, datetime or number, optional
        A time. Outcomes are then also summed up separately before it and from it on: choose a variant on the
        events before, and judge it on those after.
    durations : bool, default False
        Add how long the matches last, as `duration_median` and `duration_p95`. The matches are listed for it,
        which takes longer than counting them.
    funnel : bool, default False
        Add how far the matches of each pattern get, as `Backtest.funnel`.
    starts : bool, default False
        Add at how many events matches begin, as `starts`. In a pattern "a signal, then what follows it",
        `hits` counts the events that follow, and `starts` the signals that are followed. The matches are
        listed for it.
    resume : str or path, optional
        A file in which the backtest notes how far it has come, between files of events. The same call made
        after an interruption continues with the first file that was not finished, and returns what it would
        have returned without the interruption. If there are new files after the old ones, it reads only the
        new ones where it can. `durations` and `starts` also need the files before them that the windows reach
        back to. Queries with FOLLOWED BY that have several matches with the same events and different
        measures need all files again, as do outcomes with `TIME TO` a pattern with FOLLOWED BY, outcomes on a
        device, and queries on a device that run one by one without a window of time.
    state : bool or mapping of str to object, default False
        Keep what is open at the end of the events, as `Backtest.states`: `query.stream(state=..., late=...)`
        continues from there, and returns the matches that this backtest has not counted. A mapping has
        further keywords of that stream, such as `{"event_id": "id"}`. The events are read once more for each
        query. Queries with FOLLOWED BY need `until`.
    **keywords
        `order_by`, `type_column`, `sort`, `device`, `params` and others: as for `Query.run`. There is no
        `limit`, `memory` or `event_id`.

    Returns
    -------
    Backtest

    Raises
    ------
    QueryError
        When a query is wrong or does not fit the events.
    DataError
        When the events cannot be read, or can be read only once but are needed again. With `resume`: when the
        file belongs to another backtest, or the events are not in files.
    ValueError
        When there is no query, `by`, `outcomes` or `split` is wrong, or `params` has a value that no query
        has a parameter for.
    TypeError
        When a query is none of the above, or for a keyword that does not exist.

    Examples
    --------
    >>> found = cer.backtest({"spike": q, "dip": q2}, "trades.parquet", order_by="ts", by="1d")
    >>> found = cer.backtest(cer.sweep("... price > $p ... WITHIN $w", p=[1, 2], w=["5 min", "1 h"]), events)
    >>> found.to_pandas()
    """
    begun_at = time.perf_counter()
    refuse_omitted(keywords)
    options = read_options(**keywords)
    asked = asked_queries(queries)
    if not asked:
        raise ValueError("there is no query: give at least one")
    refuse_unknown(options.params, asked)
    if resume is not None and options.until is not None:
        raise ValueError(
            "until and resume cannot be combined: until says where the known events end, and resume expects "
            "further files"
        )
    wanted = asked_outcomes(outcomes, split)
    check_variables(wanted, asked)
    names = frozenset().union(*(one.query.names for one in asked), *map(names_of, wanted))
    with shown_together():
        source = opened(names, events, options)
        bound = [bound_query(one, source, options) for one in asked]
        parted = parted_by(by, (one.partition for one in bound), source.arrow_schema, options)
        notes = Notes()
        for one in bound:
            for text in one.notes.texts:
                notes.say(text, aloud=False)
        if state:
            check_states(asked, source, options)
        patterns = {at: one for at, one in enumerate(bound) if isinstance(one, BoundRowPattern)}
        compiled = {at: one for at, one in enumerate(bound) if isinstance(one, BoundQuery)}
        _check_patterns(patterns, asked, wanted, resume)
        passes = passes_of(compiled)
        for wants, told in (
            (wanted, "outcomes need"),
            (durations, "durations need"),
            (starts, "starts need"),
            (funnel, "a funnel needs"),
        ):
            if wants and not source.rewindable:
                raise DataError(f"the events can be read only once, and {told} them again: pass a table")
        alone = [*passes.alone, *patterns]
        if alone and not source.rewindable and len(bound) > 1:
            raise DataError(
                f"the events can be read only once, and {len(alone):,} of the queries need a pass of their "
                f"own (the first is {brief(asked[alone[0]].name)}): pass a table, or paths of files"
            )
        kept, made, seams = None, made_now, None
        if resume is not None:
            groups = [*passes.groups, passes.beside, passes.alone]
            kept = BacktestCheckpoint(os.fspath(resume), asked, by, groups, source, options)
            made, seams = kept.made, Seams(source, kept.spans)
        schema = parted.schema
        ends = EndTotals(parted, [one.partition for one in bound])
        tables = _together(passes, compiled, source, options, parted, ends, notes, kept)
        for number in passes.alone:
            if kept is not None and _can_be_pushed(compiled[number]):
                go = partial(_alone_going_on, compiled[number], source, options, parted)
                tables += [numbered(found, number) for found in kept.going_on(f"query {number}", go)]
                continue
            make = partial(_alone, compiled[number], parted)
            more = partial(_alone_behind, seams, compiled[number], parted)
            tables += [numbered(found, number) for found in made(f"query {number}", make, more)]
        with kept_rows(list(patterns.values())):
            tables += [numbered(table, at) for at, one in patterns.items() for table in _alone(one, parted)]
        tables.append(ends.table())
        for number in (*passes.beside, *alone):
            for text in bound[number].notes.texts:
                notes.say(text, aloud=False)
        listed = ListedKinds(starts, durations)
        if any(listed):
            on = None if kept is None or seams is None else NewFileLister(kept, seams, source, options)
            tables = with_listed(tables, asked, bound, listed, parted, notes, made, on)
            schema = tables[0].schema.remove(0) if tables else schema
        outcome, steps = None, None
        if wanted:
            texts = digest([(one.name, one.text) for one in wanted])
            over = SourceOutcomes(wanted, split, asked, bound, source, options)
            name = f"outcomes {texts} split {split!r}"
            going = None if kept is None else over.going_on()
            if kept is not None and going is not None:
                summary, *hits = kept.going_on(name, going.tables)
            else:
                summary, *hits = made(name, over.tables, told="outcomes are worked out")
            outcome = BacktestOutcomes(summary, hits[0] if hits else None)
        states = open_states(asked, source, options, {} if state is True else state) if state else {}
        if funnel:
            (steps,) = made("funnel", lambda: [funnels_of(asked, source, options, kept)])
        say_how_many_were_late(notes, source.left_out, options)
        if kept is not None:
            kept.finish()
    called, values = [one.name for one in asked], [one.values for one in asked]
    whole = combined(tables, called, values, schema, by is None)
    seconds = time.perf_counter() - begun_at + (0 if kept is None else kept.seconds_before)
    return Backtest(
        whole,
        notes.texts,
        (sum(map(len, passes.groups)), len(passes.groups)),
        _about(asked, source, seconds, parted),
        outcome,
        steps,
        states,
    )


def _check_patterns(
    patterns: Mapping[int, BoundRowPattern],
    asked: Sequence[AskedQuery],
    outcomes: Sequence[Any],
    resume: Any,
) -> None:
    """Refuse what statements with MATCH_RECOGNIZE cannot be asked for.

    Raises
    ------
    ValueError
        With `resume`, or with outcomes of rows that are not those of the events.
    """
    for number, one in patterns.items():
        name = brief(asked[number].name)
        if resume is not None:
            raise ValueError(f"resume is for queries of CEQL, and {name} is SQL: backtest it by itself")
        if outcomes and not one.in_source:
            raise ValueError(
                f"outcomes look at the events after a match, and {name} matches the rows of a subquery: put "
                "its conditions into DEFINE, or pass the rows of the subquery as the events"
            )


def _alone(one: BoundQuery | BoundRowPattern, parted: RowGroups) -> list[pa.Table]:
    """What a query finds that reads the events by itself."""
    return [of_ends(one.counts(), parted, one.partition)]


def _can_be_pushed(one: BoundQuery) -> bool:
    """Whether a query that reads the events by itself may take new ones as a stream.

    Its matches differ by measures, so they are listed, and all of an end are known with its event.
    """
    query = one.compiled
    return query.hidden and not query.looks_ahead and not one.place.numbers


def _alone_going_on(
    one: BoundQuery,
    source: Source,
    options: Options,
    parted: RowGroups,
    state: dict[str, Any] | None,
    files: int,
) -> tuple[list[pa.Table], dict[str, Any]]:
    """What such a query finds, from the state of its stream after the first files; see `GoOn`."""

    def of(matches: Matches) -> pa.Table:
        return of_ends(one.counts_of(matches), parted, one.partition)

    found = [parted.schema.empty_table() if state is None else state["found"]]
    before = None if state is None else state["stream"]
    stream, last = pushed(one, source, options, before, files, lambda matches: found.append(of(matches)))
    kept = {"stream": stream, "found": as_one(found)}
    ended = [] if last is None else [of(last)]
    return [as_one([kept["found"], *ended])], kept


def _alone_behind(
    seams: Seams | None,
    one: BoundQuery,
    parted: RowGroups,
    found: list[pa.Table],
    files: int,
) -> list[pa.Table] | None:
    """The same of all files, from what was found in the first ones."""
    behind = None if seams is None else seams.behind(one, files)
    return None if behind is None else [as_one([*found, *_alone(behind.bound, parted)])]


def _about(asked: Sequence[AskedQuery], source: Source, seconds: float, parted: RowGroups) -> Provenance:
    """How the queries were run."""
    if source.rows is None:
        return about(asked, f"in {seconds:.3g} s", parted.buckets)
    rate = source.rows * len(asked) / max(seconds, 1e-9)
    return about(
        asked,
        f"over {source.rows:,} events of {source.where} in {seconds:.3g} s "
        f"({rate:,.0f} events times queries a second)",
        parted.buckets,
    )


def _together(
    passes: Passes,
    bound: Mapping[int, BoundQuery],
    source: Source,
    options: Options,
    parted: RowGroups,
    ends: EndTotals,
    notes: Notes,
    kept: BacktestCheckpoint | None,
) -> list[pa.Table]:
    """What the queries of each group find, with their numbers, in one pass over the events; `ends` takes that
    of the queries beside them.
    """
    totals = [Totals(parted.buckets, bool(parted.columns)) for _ in passes.groups]
    bunches = sum_up(passes, bound, source, options, PassSink(totals, ends), notes, kept)
    return [of_groups(own.groups(), parted, bunch) for bunch, own in zip(bunches, totals)]
