"""One query on one stream, by the reference and by the engine in every way it can be asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from random import Random

import pyarrow as pa
from generate import ORDER, stream_to_table
from snapshots import stored

from cer_gpu.api import Query
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import nodes
from cer_gpu.logic.rewriting.windows import without_selector
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import evaluate

Row = tuple[int, int, tuple[tuple[str, tuple[int, ...]], ...], str]

OPTIONS = {"order_by": ORDER, "stream_column": "stream"}


def expected(query: tree.SelectQuery, events: Sequence[Event]) -> list[Row]:
    """The answer of the reference semantics, in its order.

    The query is read from its text, as the engine reads it: the parser gives `A` the marks `S>A` of which it
    speaks elsewhere.
    """
    query = select(to_text(query))
    return [
        (answer.start, answer.end, tuple(sorted(answer.marks.items())), _key(answer.partition))
        for answer in evaluate(query, events, order=ORDER)
    ]


def select(text: str) -> tree.SelectQuery:
    """The query of a text."""
    query = parse(text)
    assert isinstance(query, tree.SelectQuery)
    return query


def found(matches: object) -> list[Row]:
    """Complex events of a run as plain rows."""
    return [
        (ce.start, ce.end, tuple(sorted(ce.marks.items())), _key(ce.partition))
        for ce in matches  # type: ignore[attr-defined]
    ]


def _key(partition: Sequence[object] | None) -> str:
    """A key that can be compared: all NaN are one value."""
    return repr(partition if partition is None else tuple(partition))


def cuts(rng: Random, n: int) -> list[int]:
    """Where a stream of n events is cut, the same place twice now and then."""
    return sorted(rng.randrange(n + 1) for _ in range(rng.randrange(4)))


def pieces(table: pa.Table, bounds: Sequence[int]) -> list[pa.Table]:
    """A table cut into pieces, empty ones included."""
    edges = [0, *bounds, len(table)]
    return [table.slice(low, high - low) for low, high in pairwise(edges)]


def check_attributes(query: tree.SelectQuery, compiled: Query, table: pa.Table) -> None:
    """Assert that `x[a, b]` gives the values that the marked events have."""
    items = [item for item in query.select or () if item.attributes]
    if not items:
        return
    rows = compiled.run(table, **OPTIONS).to_arrow()
    for item in items:
        values = {name: table[name].to_pylist() for name in item.attributes}
        wanted = [
            [{name: values[name][position] for name in item.attributes} for position in marked]
            for marked in rows[item.variable].to_pylist()
        ]
        # As text, in which one NaN is like another.
        assert repr(rows[f"{item.variable}[{', '.join(item.attributes)}]"].to_pylist()) == repr(wanted)


def event_rows(rows: Sequence[Row], variables: Sequence[str]) -> list[tuple[int, str, int]]:
    """The marked events of complex events in tidy form: (match, variable, position)."""
    order = {variable: number for number, variable in enumerate(variables)}
    return [
        (match, variable, position)
        for match, (_, _, marks, _) in enumerate(rows)
        for position, _, variable in sorted(
            (position, order[variable], variable) for variable, marked in marks for position in marked
        )
    ]


def check_events(matches: Matches, wanted: Sequence[Row]) -> None:
    """Assert that `events()` says the same as the complex events."""
    told = matches.events()
    rows = zip(*(told[name].to_pylist() for name in ("match", "variable", "position")), strict=True)
    assert list(rows) == event_rows(wanted, matches.variables)
    assert told["row"].equals(told["position"])


def check_flat(matches: Matches, wanted: Sequence[Row]) -> None:
    """Assert that the flat form shows of each variable the event that it marks, or the first and the last."""
    rows = matches.flat_batches()
    told = pa.Table.from_batches(list(rows), rows.schema)
    assert not any(pa.types.is_nested(kind) for kind in told.schema.types)
    marks = [dict(marks) for _, _, marks, _ in wanted]
    for variable in matches.variables:
        marked = [one.get(variable, (None,)) for one in marks]
        if variable in told.schema.names:
            assert [(position,) for position in told[variable].to_pylist()] == marked
        else:
            shown = zip(*(told[f"{variable}_{which}"].to_pylist() for which in ("first", "last")))
            assert list(shown) == [(one[0], one[-1]) for one in marked]


def check_where(
    compiled: Query, table: pa.Table, wanted: Sequence[Row], hits: pa.Table, counts: pa.Table
) -> None:
    """Assert what `hits` and `counts` say beside positions, and that ids stand for positions everywhere."""
    keys = {row[1]: row[3] for row in wanted}
    ids = [f"e{position}" for position in range(len(table))]
    named = table.append_column("identity", pa.array(ids))
    for asked, told in ((compiled.hits, hits), (compiled.counts, counts)):
        assert told["time"].equals(table[ORDER].take(told["position"]))
        columns = [told[name].to_pylist() for name in told.schema.names[1:-2]]
        parts = zip(*columns, strict=True) if columns else [None] * len(told)
        assert [_key(part) for part in parts] == [keys[position] for position in told["position"].to_pylist()]
        by_id = asked(named, **OPTIONS, event_id="identity").to_pylist()
        places = ["position", *(["latest_start"] if "latest_start" in told.schema.names else [])]
        # As text, in which one NaN is like another.
        renamed = [row | {name: ids[row[name]] for name in places} for row in told.to_pylist()]
        assert repr(by_id) == repr(renamed)
    rows = compiled.run(named, **OPTIONS, event_id="identity")
    assert [(ce.start, ce.end, sorted(ce.marks.items())) for ce in rows] == [
        (ids[start], ids[end], [(name, tuple(ids[one] for one in marked)) for name, marked in marks])
        for start, end, marks, _ in wanted
    ]


CHOOSING = (tree.Strategy.ANY, tree.Strategy.NEXT, tree.Strategy.LAST, tree.Strategy.MAX)


def _latest_starts(query: tree.SelectQuery, wanted: list[Row], events: Sequence[Event]) -> dict[int, int]:
    """For each end the latest start among those that the strategy chooses from."""
    rows, query = wanted, without_selector(query)[0]
    if query.strategy in CHOOSING:
        rows = expected(replace(query, strategy=tree.Strategy.ALL), events)
    latest: dict[int, int] = {}
    for start, end, *_ in rows:
        latest[end] = max(start, latest.get(end, start))
    return latest


def check(query: tree.SelectQuery, events: Sequence[Event], rng: Random) -> int:
    """Assert that the engine agrees with the reference; the number of complex events.

    What is listed, counted, read in parts and pushed is compared for each query; that answers have other
    shapes (tidy, flat, with the names of events) is seen in each of them for a third of all queries.
    """
    wanted = expected(query, events)
    table = stream_to_table(events)
    compiled = Query(to_text(query))
    got = found(compiled.run(table, **OPTIONS))
    assert got == wanted
    check_attributes(query, compiled, table)
    told_hits, told_counts = compiled.hits(table, **OPTIONS), compiled.counts(table, **OPTIONS)
    shape = Random(to_text(query)).randrange(3)  # not of `rng`: the queries to come do not depend on it
    if shape == 0:
        check_events(compiled.run(table, **OPTIONS), wanted)
    elif shape == 1:
        check_flat(compiled.run(table, **OPTIONS), wanted)
    else:
        check_where(compiled, table, wanted, told_hits, told_counts)
    ends = Counter(row[1] for row in wanted)
    assert compiled.count(table, **OPTIONS) == len(wanted)
    counts = told_counts.to_pydict()
    assert dict(zip(counts["position"], counts["count"], strict=True)) == ends
    assert counts["position"] == sorted(ends)
    hits = told_hits.to_pydict()
    assert hits["position"] == sorted(ends)
    if query.limit is None:
        latest = _latest_starts(query, wanted, events)
        assert dict(zip(hits["position"], hits["latest_start"], strict=True)) == latest
    parts = pieces(table, cuts(rng, len(events)))
    reader = pa.Table.from_batches([batch for part in parts for batch in part.to_batches()], table.schema)
    assert found(compiled.run(reader.to_reader(max_chunksize=rng.choice((1, 2, 5))), **OPTIONS)) == wanted
    rows = pushed(compiled, parts, rng)
    # What is held back for a while is given for each partition in its order.
    assert (sorted(rows) if _looks_beside(query) else rows) == (
        sorted(wanted) if _looks_beside(query) else wanted
    )
    return len(wanted)


def check_quickly(
    query: tree.SelectQuery, events: Sequence[Event], rng: Random, table: pa.Table | None = None
) -> int:
    """As `check`, by every engine that takes the query, but in a few ways: listed, counted, as a stream."""
    wanted = expected(query, events)
    table = stream_to_table(events) if table is None else table
    compiled = Query(to_text(query))
    said = compiled._plan.said
    for engine in [name for name, refusal in said if refusal is None]:
        options = {**OPTIONS, "engine": engine}
        assert found(compiled.run(table, **options)) == wanted, engine
        assert compiled.count(table, **options) == len(wanted), engine
        assert compiled.hits(table, **options)["position"].to_pylist() == sorted({row[1] for row in wanted})
        rows = pushed(compiled, pieces(table, cuts(rng, len(events))), rng, engine)
        assert (sorted(rows) if _looks_beside(query) else rows) == (
            sorted(wanted) if _looks_beside(query) else wanted
        ), engine
    return len(wanted)


def _looks_beside(query: tree.SelectQuery) -> bool:
    return any(isinstance(node, tree.Beside) for node in nodes(query.pattern))


def pushed(
    compiled: Query, parts: Sequence[pa.Table], rng: Random, engine: str | None = None, often: float = 0.25
) -> list[Row]:
    """The complex events of a stream that is stored and continued now and then, and of its end."""
    options = OPTIONS if engine is None else {**OPTIONS, "engine": engine}
    stream, rows = compiled.stream(**options), []
    for part in parts:
        own = Random(rng.random())  # one draw for each part, however it is pushed
        for piece in pieces(part, range(1, len(part))) if own.random() < 0.2 else [part]:
            rows += found(stream.push(piece))
            stream = stored(stream, partial(compiled.stream, **options), own, often)
    last = stream.close()
    return rows if last is None else rows + found(last)
