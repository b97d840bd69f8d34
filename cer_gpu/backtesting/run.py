"""`backtest`: many queries over the same events, as many as possible in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from cer_gpu.api import Query, opened
from cer_gpu.backtesting.buckets import Buckets, buckets, is_span
from cer_gpu.backtesting.result import Backtest
from cer_gpu.backtesting.sweep import Variants
from cer_gpu.backtesting.table import combined, numbered, of_ends, of_groups
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound import BoundQuery
from cer_gpu.engine.run.options import Options, read_options
from cer_gpu.engine.run.signatures import spelled
from cer_gpu.engine.run.together import Bunch, batches, bunched
from cer_gpu.engine.run.totals import Totals
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import CerError, DataError, RowError
from cer_gpu.progress import Watch, begun, shown_together


class _Asked(NamedTuple):
    """A query or variant of a backtest: its name, its parameters, and what it is."""

    name: str
    values: Mapping[str, Any]
    query: Query


class _By(NamedTuple):
    """How the rows of a result are parted: by time, and by columns of the partition."""

    buckets: Buckets | None
    columns: tuple[str, ...]


@spelled(read_options, omit=("limit", "event_id", "memory"))
def backtest(queries: Any, events: Any, by: Any = None, **keywords: Any) -> Backtest:
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
        For what `by` cannot be, and for a value in `params` that no query has a parameter for.
    """
    options = read_options(**keywords)
    asked = _named(queries)
    if not asked:
        raise ValueError("there is no query: give one at least")
    _refuse_unknown(options.params, asked)
    names = frozenset().union(*(one.query.names for one in asked))
    with shown_together():
        source = opened(names, events, options)
        bound = [_bound(one, source, options) for one in asked]
        parted = _parted(by, bound, source, options)
        notes = Notes()
        for one in bound:
            for text in one.notes.texts:
                notes.say(text, aloud=False)
        here = [number for number, one in enumerate(bound) if not one.place.numbers]
        groups, _ = bunched([bound[number].compiled for number in here])
        groups = [[here[one] for one in group] for group in groups]
        members = {number for group in groups for number in group}
        alone = [number for number in range(len(asked)) if number not in members]
        if alone and not source.rewindable and (groups or len(alone) > 1):
            raise DataError(
                f"the events can be read once only, and {len(alone):,} of the queries need a pass of their "
                f"own (the first is {asked[alone[0]].name!r}): pass a table, or paths of files"
            )
        tables = _together(groups, bound, source, options, parted, notes)
        schema, at = _empty(parted, source, options), "time" if options.order_by else "position"
        for number in alone:
            found = of_ends(bound[number].counts(), parted.buckets, parted.columns, at, schema)
            tables.append(numbered(found, number))
            for text in bound[number].notes.texts:
                notes.say(text, aloud=False)
    called, values = [one.name for one in asked], [one.values for one in asked]
    made = combined(tables, called, values, schema, by is None)
    return Backtest(made, notes.texts, len(members), len(groups))


def _named(queries: Any) -> list[_Asked]:
    """The queries of a call with their names, and the variants of each sweep."""
    if isinstance(queries, Mapping):
        pairs: Iterable[tuple[str, Any]] = queries.items()
    else:
        single = isinstance(queries, (Query, Variants, str))
        listed = [queries] if single or not isinstance(queries, Iterable) else list(queries)
        pairs = ((f"q{number}", one) for number, one in enumerate(listed, 1))
    found = []
    for name, one in pairs:
        if isinstance(one, Variants):
            found += [_Asked(str(name), values, one.query) for values in one]
        elif isinstance(one, str):
            found.append(_Asked(str(name), {}, _compiled(str(name), one)))
        elif isinstance(one, Query):
            found.append(_Asked(str(name), {}, one))
        else:
            given = type(one).__name__
            raise TypeError(f"the query {name!r} is a {given}: give a text, a Query or what sweep returns")
    return found


def _refuse_unknown(params: Mapping[str, Any], asked: Sequence[_Asked]) -> None:
    """Refuse a value for all queries that none of them has a parameter for.

    Raises
    ------
    ValueError
    """
    known = dict.fromkeys(name for one in asked for name in one.query.parameters)
    for name in params:
        if name not in known:
            there = ", ".join(f"${each}" for each in known) or "none"
            raise ValueError(f"params: no query has the parameter `${name}`; the parameters are {there}")


def _compiled(name: str, text: str) -> Query:
    with _in_query(name):
        return Query(text)


def _bound(one: _Asked, source: Source, options: Options) -> BoundQuery:
    # Of the values for all queries each takes those that it has a parameter for.
    given = {name: value for name, value in options.params.items() if name in one.query.parameters}
    with _in_query(one.name):
        return one.query.bound_to(source, replace(options, params={**given, **one.values}))


@contextmanager
def _in_query(name: str) -> Iterator[None]:
    """Say of which query an error is."""
    try:
        yield
    except CerError as error:
        error.add_note(f"in the query {name!r}")
        raise


def _parted(by: Any, bound: Sequence[BoundQuery], source: Source, options: Options) -> _By:
    """What `by` asks for.

    Raises
    ------
    ValueError
        For two lengths of time, and for a column that is not in the partition of each query.
    """
    listed = [] if by is None else list(by) if isinstance(by, (list, tuple)) else [by]
    spans = [one for one in listed if is_span(one)]
    if len(spans) > 1:
        raise ValueError(f"by={by!r} has two lengths of time, {spans[0]!r} and {spans[1]!r}: give one")
    columns = [one for one in listed if not is_span(one)]
    for name in columns:
        for one in bound:
            parts = one.compiled.reading.partition
            if (name,) not in parts:
                there = ", ".join(" or ".join(part) for part in parts) or "no column"
                raise ValueError(
                    f"by={name!r}: a query has {there} in PARTITION BY; write PARTITION BY {name} in each "
                    'query, or a length of time such as "1 d"'
                )
    cut = buckets(spans[0], options.order_by, source.arrow_schema, options.order_unit) if spans else None
    return _By(cut, tuple(columns))


def _empty(parted: _By, source: Source, options: Options) -> pa.Schema:
    """The columns of what was found of a query."""
    schema = source.arrow_schema
    at = schema.field(options.order_by[0]).type if options.order_by else pa.int64()
    keys = [pa.field(name, _plain(schema.field(name).type)) for name in parted.columns]
    bucket = [] if parted.buckets is None else [pa.field("bucket", at)]
    sums = [pa.field("hits", pa.int64()), pa.field("matches", pa.int64())]
    return pa.schema([*bucket, *keys, *sums, pa.field("first", at), pa.field("last", at)])


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of a key as it can be sorted: of the values of a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _together(
    groups: Sequence[Sequence[int]],
    bound: Sequence[BoundQuery],
    source: Source,
    options: Options,
    parted: _By,
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
    schema = _empty(parted, source, options)
    for bunch in bunches:
        bunch.say(notes, options.stream_column)
    return [
        of_groups(own.groups(), parted.buckets, parted.columns, bunch, schema)
        for bunch, own in zip(bunches, totals)
    ]
