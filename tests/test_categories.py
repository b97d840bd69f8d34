"""Ordered categories compare by their order, whatever their source, and other dictionaries get a note."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import random_kinds
from engine_oracle import check_quickly

import cer_gpu as cer
from cer_gpu.language import tree
from cer_gpu.language.parser import parse

SEVERITIES = ["low", "medium", "high", "critical"]
PLACE = {one: place for place, one in enumerate(SEVERITIES)}
QUERY = "SELECT * WHERE A AS a ; B AS b FILTER b.sev > a.sev"


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    """A note that categories are compared as text is an error where none is expected."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*is compared as text")
        yield


def frame(rows: int = 40, seed: int = 1, severities: list[str] = SEVERITIES) -> pd.DataFrame:
    rng = Random(seed)
    sev = [rng.choice([*severities, None]) for _ in range(rows)]
    return pd.DataFrame(
        {
            "type": [rng.choice("AB") for _ in range(rows)],
            "ts": range(rows),
            "k": [rng.randrange(3) for _ in range(rows)],
            "sev": pd.Categorical(sev, categories=severities, ordered=True),
        }
    )


def texts(data: pd.DataFrame) -> list[str | None]:
    return [None if one != one else one for one in data["sev"].astype(object)]


def pairs(data: pd.DataFrame, holds: Callable[[int, int], bool]) -> set[tuple[int, int]]:
    types, places = list(data["type"]), [None if one is None else PLACE[one] for one in texts(data)]
    return {
        (i, j)
        for i in range(len(types))
        for j in range(i + 1, len(types))
        if types[i] == "A" and types[j] == "B"
        and places[i] is not None and places[j] is not None and holds(places[i], places[j])
    }  # fmt: skip


def found(events: Any, query: str = QUERY, **options: Any) -> set[tuple[int, int]]:
    matches = cer.compile(query).run(events, order_by="ts", **options)
    return {(row["start"], row["end"]) for row in matches.to_arrow().to_pylist()}


def polars_frame(data: pd.DataFrame) -> pl.DataFrame:
    plain = pl.DataFrame({name: list(data[name]) for name in ("type", "ts", "k")})
    return plain.with_columns(pl.Series("sev", texts(data), dtype=pl.Enum(SEVERITIES)))


def duckdb_relation(data: pd.DataFrame) -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TYPE severity AS ENUM ('low', 'medium', 'high', 'critical')")
    connection.register("plain", pa.Table.from_pandas(data.assign(sev=texts(data)), preserve_index=False))
    return connection.sql("SELECT type, ts, k, sev::severity AS sev FROM plain ORDER BY ts")


def in_file(data: pd.DataFrame, folder: Path, kind: str) -> str:
    table, path = pa.Table.from_pandas(data, preserve_index=False), str(folder / f"events.{kind}")
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=7)
    elif kind == "arrow":
        pyarrow.feather.write_feather(table, path)
    else:
        polars_frame(data).write_parquet(path)
    return path


def with_field(data: pd.DataFrame) -> pa.Table:
    table = pa.Table.from_pandas(data, preserve_index=False)
    column = pa.StructArray.from_arrays([table["sev"].combine_chunks()], ["sev"])
    return table.drop_columns("sev").append_column("at", column)


SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda data, _: data,
    "arrow": lambda data, _: pa.Table.from_pandas(data),
    "polars": lambda data, _: polars_frame(data),
    "lazy": lambda data, _: polars_frame(data).lazy(),
    "duckdb": lambda data, _: duckdb_relation(data),
    "reader": lambda data, _: pa.Table.from_pandas(data).to_reader(7),
    "list": lambda data, _: [data.iloc[:9], data.iloc[9:]],
    "iterator": lambda data, _: iter([data.iloc[:9], data.iloc[9:]]),
    "tables": lambda data, _: {one: data[data["type"] == one].drop(columns="type") for one in "AB"},
    "parquet": in_file,
    "arrow file": in_file,
    "polars file": in_file,
    "dataset": lambda data, folder: pads.dataset(in_file(data, folder, "parquet")),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_of_ordered_categories_compares_by_their_order(source: str, tmp_path: Path) -> None:
    data = frame()
    if SOURCES[source] is in_file:
        kind = {"parquet": "parquet", "arrow file": "arrow", "polars file": "pq"}[source]
        events: Any = in_file(data, tmp_path, kind)
    else:
        events = SOURCES[source](data, tmp_path)
    if source == "tables":
        rows = {one: list(part.index) for one, part in data.groupby("type")}
        matches = cer.compile(QUERY).run(events, order_by="ts")
        told = {(row["start"], row["end"]) for row in matches.to_arrow().to_pylist()}
        assert sum(map(len, rows.values())) == len(data)
    else:
        told = found(events)
    assert told == pairs(data, lambda a, b: b > a)


def test_a_field_of_a_struct_has_its_order() -> None:
    data = frame()
    query = "SELECT * WHERE A AS a ; B AS b FILTER b.`at.sev` > a.`at.sev`"
    assert found(with_field(data), query) == pairs(data, lambda a, b: b > a)


@pytest.mark.crossed
@pytest.mark.parametrize("engine", ["auto", "general"])
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("a[sev > 'medium']", lambda a, b: a > 1),
        ("'medium' >= a.sev", lambda a, b: a <= 1),
        ("a[sev IN RANGE ('medium', 'high')]", lambda a, b: 1 <= a <= 2),
        ("MAX(b.sev) < 'critical'", lambda a, b: b < 3),
        ("LAST(a.sev) >= FIRST(b.sev)", lambda a, b: a >= b),
        ("COALESCE(b.sev, 'low') >= COALESCE(a.sev, 'low')", lambda a, b: b >= a),
        ("b.sev = 'high'", lambda a, b: b == 2),
    ],
)
def test_constants_and_aggregates_go_by_the_order(
    condition: str, holds: Callable[[int, int], bool], engine: str
) -> None:
    data = frame().dropna().reset_index(drop=True).assign(ts=lambda one: range(len(one)))
    query = f"SELECT * WHERE A AS a ; B AS b FILTER {condition}"
    assert found(data, query, engine=engine) == pairs(data, holds)


def test_parameters_go_by_the_order() -> None:
    data = frame()
    query = cer.compile("SELECT * WHERE A AS a FILTER a[sev >= $least] AND a[sev IN RANGE ('low', $most)]")
    for least in SEVERITIES:
        params = {"least": least, "most": "high"}
        rows = query.run(data, order_by="ts", params=params).to_arrow()["end"].to_pylist()
        places = [one is not None and PLACE[least] <= PLACE[one] <= 2 for one in texts(data)]
        assert rows == [row for row, one in enumerate(data["type"]) if one == "A" and places[row]]
    with pytest.raises(cer.QueryError, match="'urgent' is no category of `sev`"):
        query.run(data, order_by="ts", params={"least": "urgent", "most": "low"})


def test_values_in_answers_stay_texts_and_extremes_are_those_of_the_order() -> None:
    data = frame()
    query = cer.compile(
        "SELECT a[sev], b, MAX(a.sev) AS most, MIN(b.sev) AS least WHERE (A AS a)+ ; B AS b WITHIN 4 EVENTS"
    )
    own = texts(data)
    for match in query.run(data, order_by="ts"):
        a, b = ([own[one] for one in match.marks[name]] for name in "ab")
        assert [one["sev"] for one in match["a"]] == a
        for values, name, best in ((a, "most", max), (b, "least", min)):
            there = [one for one in values if one is not None]
            assert match.measures[name] == (best(there, key=PLACE.__getitem__) if there else None)


def test_unknown_and_unlike_categories_are_errors() -> None:
    data = frame().assign(
        other=lambda one: pd.Categorical(["x"] * len(one), categories=["x", "y"], ordered=True),
        name=["x"] * 40,
    )
    for condition, message in (
        ("a[sev > 'urgent']", "'urgent' is no category of `sev`"),
        ("a.sev < b.other", "`a.sev` and `b.other` have different categories"),
        ("a.sev < b.name", "`a.sev` has ordered categories, and `b.name` has none"),
        ("COALESCE(a.sev, 'urgent') > 'low'", "'urgent' is no category"),
    ):
        with pytest.raises(cer.QueryError, match=message) as caught:
            cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {condition}").run(data, order_by="ts")
        assert [one.code for one in caught.value.diagnostics] == ["CER039"]
    for condition in ("a.sev != b.other", "a[sev = 'urgent']", "LOWER(a.sev) < b.name"):
        cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {condition}").run(data, order_by="ts").to_arrow()


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_dictionary_without_an_order_gets_one_note(kind: str) -> None:
    data = frame()
    data["sev"] = data["sev"].cat.as_unordered()
    events: Any = data
    if kind == "polars":
        events = polars_frame(frame()).with_columns(pl.col("sev").cast(pl.Categorical))
    elif kind == "arrow":
        events = pa.Table.from_pandas(data)
    with pytest.warns(UserWarning, match="`sev` is compared as text"):
        matches = cer.compile(QUERY + " AND a[sev > 'a'] AND MAX(b.sev) > 'a'").run(events, order_by="ts")
    assert sum("compared as text" in one for one in matches.notes) == 1
    own = texts(data)
    types = list(data["type"])
    assert {(row["start"], row["end"]) for row in matches.to_arrow().to_pylist()} == {
        (i, j)
        for i in range(len(own))
        for j in range(i + 1, len(own))
        if (types[i], types[j]) == ("A", "B") and own[i] and own[j] and own[j] > own[i]
    }


def test_plain_texts_and_equalities_get_no_note(tmp_path: Path) -> None:
    data = frame().assign(sev=lambda one: texts(one))
    table = pa.Table.from_pandas(data)
    pq.write_table(table, tmp_path / "plain.parquet")
    for events in (
        data,
        table,
        str(tmp_path / "plain.parquet"),
        polars_frame(frame()).cast({"sev": pl.String}),
    ):
        assert not any("as text" in one for one in cer.compile(QUERY).run(events, order_by="ts").notes)
    equal = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER b.sev = a.sev AND a[sev != 'low']")
    unordered = frame().assign(sev=lambda one: one["sev"].cat.as_unordered())
    assert not any("as text" in one for one in equal.run(unordered, order_by="ts").notes)


def test_a_parquet_file_without_dictionaries_does_not_tell_the_order(tmp_path: Path) -> None:
    path = str(tmp_path / "plain.parquet")
    pq.write_table(pa.Table.from_pandas(frame()), path, use_dictionary=False)
    with pytest.warns(UserWarning, match="compared as text"):
        cer.compile(QUERY).run(path, order_by="ts").to_arrow()


def reordered(data: pd.DataFrame) -> pd.DataFrame:
    return data.assign(sev=data["sev"].cat.reorder_categories(SEVERITIES[::-1]))


def test_batches_whose_categories_differ_in_order_are_an_error() -> None:
    data = frame()
    first, second = data.iloc[:9], reordered(data.iloc[9:])
    batches = [pa.RecordBatch.from_pandas(one, preserve_index=False) for one in (first, second)]
    for events in ([first, second], pa.Table.from_batches(batches)):
        with pytest.raises(cer.QueryError, match="no single order"):
            found(events)
        found(events, "SELECT * WHERE A AS a ; B AS b FILTER b.sev = a.sev")
    tables = {"A": data[data["type"] == "A"], "B": reordered(data[data["type"] == "B"])}
    with pytest.raises(cer.QueryError, match="no single order"):
        found({name: table.drop(columns="type") for name, table in tables.items()})
    for streamed in (iter([first, second]), pa.RecordBatchReader.from_batches(batches[0].schema, batches)):
        with pytest.raises(cer.DataError, match="categories in the order critical < high"):
            found(streamed)
    for one in (batches, [batches[0], batches[1].slice(0, 1)], [first, second]):
        stream = cer.compile(QUERY).stream(order_by="ts")
        stream.push(one[0])
        with pytest.raises(cer.DataError, match="categories in the order critical < high"):
            stream.push(one[1])


def test_a_category_that_comes_later_is_an_error_and_fewer_are_none() -> None:
    data = frame(severities=["low", "high"])
    stream = cer.compile(QUERY).stream(order_by="ts")
    stream.push(pa.RecordBatch.from_pandas(data, preserve_index=False))
    later = frame(3, severities=["low", "high", "worst"]).assign(ts=range(40, 43), sev="worst")
    later["sev"] = pd.Categorical(later["sev"], categories=["low", "high", "worst"], ordered=True)
    with pytest.raises(cer.DataError, match="category 'worst'"):
        stream.push(pa.RecordBatch.from_pandas(later, preserve_index=False))
    whole = frame()
    parts = [whole.iloc[:5].assign(sev=lambda one: one["sev"].cat.remove_unused_categories()), whole.iloc[5:]]
    assert found(parts) == pairs(whole, lambda a, b: b > a)


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("convert", [lambda one: one, pa.RecordBatch.from_pandas, polars_frame])
def test_streams_and_their_states_keep_the_order(size: int, convert: Callable[[pd.DataFrame], Any]) -> None:
    data, query, told = frame(), cer.compile(QUERY), set()
    stream = query.stream(order_by="ts")
    for start in range(0, len(data), size):
        if start // size == 3:
            stream = query.stream(state=stream.snapshot(), order_by="ts")
        rows = stream.push(convert(data.iloc[start : start + size])).to_arrow().to_pylist()
        told |= {(row["start"], row["end"]) for row in rows}
    assert told == pairs(data, lambda a, b: b > a)


def test_rules_and_their_groups_go_by_the_order() -> None:
    data = frame()
    rule = "Q(i, j) <- A(ts = i, sev = s, k = k), B(ts = j, sev = t, k = k), s < t, t != 'critical'"
    answers = cer.compile(rule).run(data, order_by="ts").to_arrow().to_pylist()
    own, keys, types = texts(data), list(data["k"]), list(data["type"])
    joined = [
        (i, j)
        for i in range(40)
        for j in range(40)
        if (types[i], types[j]) == ("A", "B") and keys[i] == keys[j] and own[i] and own[j]
    ]
    expected = {(i, j) for i, j in joined if PLACE[own[i]] < PLACE[own[j]] < 3}
    assert {(row["i"], row["j"]) for row in answers} == expected
    groups = cer.compile("Q(k; MAX(s), MIN(t)) <- A(sev = s, k = k), B(sev = t, k = k)")
    for row in groups.run(data, order_by="ts").to_arrow().to_pylist():
        most = max((own[i] for i, j in joined if keys[i] == row["k"]), key=PLACE.__getitem__)
        least = min((own[j] for i, j in joined if keys[i] == row["k"]), key=PLACE.__getitem__)
        assert (row["MAX(s)"], row["MIN(t)"]) == (most, least)


def test_views_go_by_the_order_and_keep_it_in_snapshots() -> None:
    left, right = frame(seed=2), frame(seed=3)
    view = cer.maintain("Q(k, s, t) <- A(k = k, sev = s), B(k = k, sev = t), s < t, t <= 'high'")

    def joined(one: pd.DataFrame, two: pd.DataFrame) -> Counter[tuple[Any, ...]]:
        rows = [list(zip(data["k"], texts(data), strict=True)) for data in (one, two)]
        return Counter(
            (k, s, t) for k, s in rows[0] for m, t in rows[1]
            if k == m and s and t and PLACE[s] < PLACE[t] <= 2
        )  # fmt: skip

    def told(one: cer.JoinView) -> dict[tuple[Any, ...], int]:
        rows = one.enumerate().to_arrow().to_pylist()
        return {(row["k"], row["s"], row["t"]): row["multiplicity"] for row in rows}

    view.insert("A", left)
    view.insert("B", right.iloc[:20])
    view.insert("B", polars_frame(right.iloc[20:]))
    assert told(view) == joined(left, right)
    view.insert("B", [{"k": 1, "sev": "high"}])
    view.delete("B", [{"k": 1, "sev": "high"}])
    view.delete("A", left.iloc[:5])
    assert told(view) == joined(left.iloc[5:], right)
    again = cer.JoinView.restore(view.snapshot())
    assert told(again) == joined(left.iloc[5:], right)
    again.insert("A", left.iloc[:5])
    assert told(again) == joined(left, right)
    with pytest.raises(cer.DataError, match="categories in the order critical < high"):
        again.insert("A", reordered(left))
    with pytest.raises(cer.DataError, match="category 'urgent'"):
        again.insert("A", [{"k": 1, "sev": "urgent"}])
    grouped = cer.maintain("Q(k; MAX(s)) <- A(k = k, sev = s)")
    grouped.insert("A", left)
    for row in grouped.enumerate().to_arrow().to_pylist():
        there = [one for one, k in zip(texts(left), left["k"], strict=True) if one and k == row["k"]]
        assert row["MAX(s)"] == max(there, key=PLACE.__getitem__)


def test_views_refuse_unlike_categories_and_warn_of_those_without_an_order() -> None:
    view = cer.maintain("Q(s, t) <- A(sev = s), B(sev = t), s < t")
    view.insert("A", frame())
    with pytest.raises(cer.QueryError, match="different categories"):
        view.insert("B", frame(severities=["low", "high"]))
    view = cer.maintain("Q(s) <- A(sev = s), s > 'm'")
    with pytest.warns(UserWarning, match="`s` is compared as text"):
        view.insert("A", frame().assign(sev=lambda one: one["sev"].cat.as_unordered()))


@pytest.mark.draws("seed", 60)
def test_random_categories_agree_with_the_reference(seed: int) -> None:
    rng = Random(f"categories {seed}")
    for _ in range(3):
        query = parse(random_kinds.query(rng, random_kinds.GRADED))
        assert isinstance(query, tree.SelectQuery)
        events = random_kinds.events_of(rng, rng.randrange(3, 14))
        check_quickly(query, events, rng, random_kinds.table_of(events))


def _in_dictionaries(codes: list[int], categories: list[str]) -> pa.Table:
    """Events whose severities have a dictionary of their own."""
    graded = pa.DictionaryArray.from_arrays(
        pa.array(codes, pa.int8()), pa.array(categories, pa.string()), ordered=True
    )
    times = pa.array(range(len(codes)), pa.timestamp("s"))
    return pa.table({"type": pa.array(["A"] * len(codes), pa.string()), "ts": times, "sev": graded})


EMPTY, GRADED = _in_dictionaries([], []), _in_dictionaries([0, 1, 2], ["low", "mid", "high"])


def _written(folder: Path, form: str) -> list[str]:
    paths = [str(folder / f"{name}.{form}") for name in ("empty", "graded")]
    for path, table in zip(paths, (EMPTY, GRADED), strict=True):
        if form == "parquet":
            pq.write_table(table, path)
        else:
            pyarrow.feather.write_feather(table, path)
    return paths


def test_a_source_without_rows_does_not_take_the_order_away(tmp_path: Path) -> None:
    query = cer.compile("SELECT * WHERE A AS a FILTER a.sev > 'low'")
    given: dict[str, Callable[[], Any]] = {
        "iterator": lambda: iter([EMPTY, GRADED]),
        "list": lambda: [EMPTY, GRADED],
        "parquet": lambda: _written(tmp_path, "parquet"),
        "arrow": lambda: _written(tmp_path, "arrow"),
        "dataset": lambda: pads.dataset(_written(tmp_path, "parquet")),
        "dict": lambda: {"A": GRADED.drop_columns(["type"]), "B": EMPTY.drop_columns(["type"])},
    }
    for name, made in given.items():
        matches = query.run(made(), order_by="ts")
        assert [found.start for found in matches] == [1, 2], name
        assert not any("compared as text" in note for note in matches.notes), name


def test_a_stream_learns_the_order_from_its_first_batch() -> None:
    stream = cer.compile("SELECT * WHERE A AS a FILTER a.sev > 'low'").stream(order_by="ts")
    stream.push(EMPTY)
    with pytest.raises(
        cer.DataError, match=r"column `sev` of the batch has ordered categories, and the column had"
    ):
        stream.push(GRADED)
    state = stream.snapshot()
    again = cer.compile("SELECT * WHERE A AS a FILTER a.sev > 'low'").stream(state, order_by="ts")
    with pytest.raises(cer.DataError, match=r"give all of it the same ordered categories"):
        again.push(GRADED.slice(0, 1))
