"""Tables of matches: flat and nested, all columns of marked rows, the first by a value; they say the same."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from generate import ORDER, any_query, stream, stream_to_table
from random_rules import random_rule, random_rule_events

import cer_gpu as cer
from cer_gpu.errors import CerError
from cer_gpu.language.printer import to_text

TRADES = pd.DataFrame(
    {
        "type": list("ABABB"),
        "price": [1.5, 2.0, 3.0, 4.0, None],
        "ts": pd.to_datetime([f"2024-01-01 09:00:{second:02}" for second in (0, 10, 20, 50, 55)]),
        "host": list("xxyyx"),
    }
)
HOW = {"order_by": ORDER, "stream_column": "stream"}
PAIRS = "SELECT a[price], b, LAST(b.price) - FIRST(a.price) AS gain FROM S WHERE A AS a ; B AS b"


def pairs(events: object = TRADES, text: str = PAIRS, **keywords: object) -> cer.Matches:
    return cer.compile(text).run(events, order_by="ts", **keywords)


def drawn(seed: int, number: int) -> Iterator[tuple[cer.Query, pa.Table, Random]]:
    """Random queries that have matches, with their events."""
    rng = Random(f"tables {seed}")
    while number:
        query = any_query(rng)
        table = stream_to_table(stream(rng, rng.randrange(4, 13)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compiled = cer.compile(to_text(query))
                found = compiled.count(table, **HOW)
            except (cer.LimitError, cer.QueryError):
                continue
            if 0 < found < 5000:
                number -= 1
                yield compiled, table, rng


def same(first: object, second: object) -> bool:
    """Whether values are equal, where one NaN is like another."""
    return repr(first) == repr(second)


def check_flat_row(
    flat: dict[str, Any], nested: dict[str, Any], matches: cer.Matches, table: pa.Table
) -> None:
    """Assert that a flat row says what the lists of the nested one say."""
    attributes = {name.split("[")[0]: name for name in nested if name.endswith("]") and "[" in name}
    for variable in matches.variables:
        marked = nested[variable]
        assert isinstance(marked, list)
        told = nested[attributes[variable]] if variable in attributes else []
        if variable in flat:
            shown = [(variable, 0)]
            assert len(marked) <= 1
        else:
            shown = [(f"{variable}_first", 0), (f"{variable}_last", -1)]
        for name, place in shown:
            event = marked[place] if marked else None
            assert flat[name] == event
            time = None if event is None else table[ORDER][event].as_py()
            assert flat[f"{name}_time"] == time
            for attribute in told[0] if told else ():
                assert same(flat[f"{name}_{attribute}"], told[place][attribute])


@pytest.mark.draws("seed", 18)
def test_the_flat_form_says_what_the_nested_one_says(seed: int) -> None:
    for query, table, _ in drawn(seed, 6):
        matches = query.run(table, **HOW)
        nested, flat = matches.to_arrow(), matches.to_arrow(flat=True)
        assert nested.num_rows == flat.num_rows == len(matches) == len(query.run(table, **HOW))
        assert not any(pa.types.is_nested(kind) for kind in flat.schema.types)
        plain = [name for name in nested.schema.names if name in flat.schema.names]
        for name in plain:
            if not pa.types.is_nested(nested.schema.field(name).type):
                assert same(flat[name].to_pylist(), nested[name].to_pylist())
        for own, other in zip(flat.to_pylist(), nested.to_pylist(), strict=True):
            check_flat_row(own, other, matches, table)
        by_hand = pa.Table.from_batches(list(query.run(table, **HOW).flat_batches()), flat.schema)
        assert same(by_hand.to_pylist(), flat.to_pylist())


@pytest.mark.draws("seed", 12)
def test_what_can_be_read_once_gives_both_tables(seed: int) -> None:
    for query, table, rng in drawn(seed + 100, 4):
        whole = query.run(table, **HOW)
        nested, flat = whole.to_arrow(), whole.to_arrow(flat=True)
        once = query.run(table.to_reader(rng.randrange(1, 6)), **HOW)
        first: list[Callable[[], object]] = [
            once.to_arrow,
            lambda once=once: once.to_arrow(flat=True),
            lambda once=once: len(once),
            lambda once=once: list(once),
        ]
        rng.choice(first)()
        assert same(once.to_arrow().to_pylist(), nested.to_pylist())
        assert same(once.to_arrow(flat=True).to_pylist(), flat.to_pylist())
        assert list(once) == list(whole)


@pytest.mark.draws("seed", 12)
def test_all_columns_of_marked_rows(seed: int) -> None:
    for query, table, rng in drawn(seed + 200, 4):
        moved = bool(rng.randrange(2))
        matches = query.run(table, **HOW, sort=moved)
        rows, flat = matches.rows(), matches.to_arrow(flat=True)
        for name in flat.schema.names[2:]:
            if f"{name}_time" in flat.schema.names:  # a position
                for column in table.schema.names:
                    told = rows[f"{name}_{column}"].to_pylist()
                    assert same(told, table[column].take(flat[name]).to_pylist())
        events = matches.events(whole=True)
        key = set(matches.partition)
        for column in set(table.schema.names) - key:
            assert same(events[column].to_pylist(), table[column].take(events["row"]).to_pylist())
        assert events.select(["match", "variable", "position", "row", "time"]) == matches.events().select(
            ["match", "variable", "position", "row", "time"]
        )
        ends = matches.to_arrow()
        for name, place in zip(matches.partition, range(2, 9), strict=False):
            assert events[name].to_pylist() == ends.column(place).take(events["match"]).to_pylist()


@pytest.mark.draws("seed", 24)
def test_the_first_by_a_value(seed: int) -> None:
    """`top` gives what sorting all in Python gives, in all forms."""
    for query, table, rng in drawn(seed + 300, 3):
        matches = query.run(table, **HOW)
        flat, whole = matches.to_arrow(flat=True), list(matches)
        by = rng.choice([*flat.schema.names, "duration"])
        per = rng.sample(flat.schema.names, rng.choice((0, 0, 1, 2)))
        number, descending = rng.randrange(4), rng.random() < 0.6
        values = [one.duration for one in whole] if by == "duration" else flat[by].to_pylist()
        wanted = sorted(
            (place for place, value in enumerate(values) if value is not None and value == value),
            key=lambda place: values[place],
            reverse=descending,
        )  # stable, also reversed
        wanted += [place for place, value in enumerate(values) if value is not None and value != value]
        wanted += [place for place, value in enumerate(values) if value is None]
        keys = [repr(key) for key in zip(*(flat[name].to_pylist() for name in per))] or [""] * len(flat)
        seen: dict[str, int] = {}
        chosen = []
        for place in wanted:
            seen[keys[place]] = seen.get(keys[place], 0) + 1
            if seen[keys[place]] <= number:
                chosen.append(place)
        top = matches.top(number, by=by, per=per, descending=descending)
        assert list(top) == [whole[place] for place in chosen]
        assert same(top.to_arrow(flat=True).to_pylist(), flat.take(pa.array(chosen, pa.int64())).to_pylist())
        events = matches.events().to_pylist()
        told = [
            event | {"match": rank}
            for rank, place in enumerate(chosen)
            for event in events
            if event["match"] == place
        ]
        assert same(top.events().to_pylist(), told)
        assert same(top.rows().to_pylist(), matches.rows().take(pa.array(chosen, pa.int64())).to_pylist())
        once = query.run(table.to_reader(3), **HOW).top(number, by, per, descending)
        assert list(once) == list(top)


@pytest.mark.draws("seed", 18)
def test_flat_tables_of_rules(seed: int) -> None:
    """The columns of the atoms are the positions, and the rows at them."""
    rng = Random(f"rules {seed}")
    found = 0
    while found < 3:
        rule = random_rule(rng)
        table = stream_to_table(random_rule_events(rng, rule, 8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            matches = cer.compile(to_text(rule)).run(table, **HOW)
            nested, flat, rows = matches.to_arrow(), matches.to_arrow(flat=True), matches.rows()
        if not 0 < nested.num_rows < 3000:
            continue
        found += 1
        positions = nested["positions"].to_pylist()
        atoms = [name for name in rows.schema.names if name.endswith("_type")]
        assert len(atoms) == len(positions[0])
        for place, name in enumerate(atoms):
            own = [one[place] for one in positions]
            assert flat[name.removesuffix("_type")].to_pylist() == own
            for column in table.schema.names:
                told = rows[f"{name.removesuffix('_type')}_{column}"].to_pylist()
                assert same(told, table[column].take(pa.array(own)).to_pylist())
        once = cer.compile(to_text(rule)).run(table.to_reader(3), **HOW)
        assert len(once) == nested.num_rows
        assert same(once.to_arrow(flat=True).to_pylist(), flat.to_pylist())
        assert same(once.to_arrow().to_pylist(), nested.to_pylist())
        assert [one.positions for one in matches.top(2, "end_time")] == [
            one.positions for one in sorted(matches, key=lambda one: one.end_time, reverse=True)[:2]
        ]


def test_top_of_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.answers.batches.GROUP", 2)
    rng = np.random.default_rng(3)
    many = pd.DataFrame(
        {
            "type": rng.choice(list("AB"), 200),
            "price": rng.random(200),
            "ts": np.arange(200),
            "host": rng.choice(list("uvwxyz"), 200),
        }
    )
    text = f"{PAIRS} PARTITION BY host WITHIN 9 EVENTS"
    matches = pairs(many, text)
    frame = matches.to_pandas()
    best = frame.sort_values("gain", ascending=False, kind="stable")
    assert matches.top(7, by="gain").to_pandas().equals(best.head(7).reset_index(drop=True))
    each = best.groupby("host").head(2).reset_index(drop=True)
    assert matches.top(2, by="gain", per="host").to_pandas().equals(each)
    longest = matches.top(1, by="duration", per="host").to_pandas().set_index("host")
    took = frame["end_time"] - frame["start_time"]
    assert (longest["end_time"] - longest["start_time"]).to_dict() == took.groupby(
        frame["host"]
    ).max().to_dict()
    first = matches.top(1, by="start_time", per="host", descending=False).to_pandas().set_index("host")
    assert first["start_time"].to_dict() == frame.groupby("host")["start_time"].min().to_dict()


def test_top_where_nothing_is_marked_and_of_groups() -> None:
    alone = pairs(text="SELECT NONE, LAST(b.price) AS last FROM S WHERE A AS a ; B AS b")
    assert alone.top(2, by="last").to_arrow()["last"].to_pylist() == [4.0, 4.0]
    assert len(alone.top(2, by="last").events()) == 0
    rule = cer.compile("Q(h; COUNT(*)) <- A(host = h), B(host = g)").run(TRADES, order_by="ts")
    assert rule.top(1, by="COUNT(*)").to_arrow() == rule.to_arrow().slice(0, 1)
    with pytest.raises(cer.DataError, match="their events are not listed"):
        rule.top(1, by="COUNT(*)").rows()
    assert len(pairs(TRADES[:0]).top(3, by="gain").to_arrow(flat=True)) == 0


def test_what_top_refuses() -> None:
    with pytest.raises(
        cer.DataError, match=r"no column `gains`: did you mean `gain`\? the columns are .*write a mea"
    ):
        pairs().top(1, by="gains")
    with pytest.raises(cer.DataError, match="no column `symbol`: the columns are `start`"):
        pairs().top(1, by="gain", per="symbol")
    with pytest.raises(ValueError, match="0 or more, not -1"):
        pairs().top(-1, by="gain")
    named = TRADES.assign(id=list("vwxyz"))
    unordered = cer.compile(PAIRS).run(named, event_id="id")
    with pytest.raises(cer.DataError, match="has no duration: pass order_by"):
        unordered.top(1, by="duration")


def test_top_of_a_limit() -> None:
    few = pairs(limit=2)
    assert [one.end for one in few.top(9, by="gain")] == [3, 1]
    assert len(few.top(9, by="gain").events()) == 4
    assert few.limited
    assert "stopped at limit=2" in few.notes[-2]


# ------------------------------------------------------------------------------- the frame's index


INDEXES = {
    "unnamed": (pd.Index([7, 3, 9, 1, 4]), ["index"]),
    "named": (pd.Index(list("vwxyz"), name="id"), ["id"]),
    "range": (pd.RangeIndex(10, 15), ["index"]),
    "times": (pd.date_range("2024-01-01", periods=5, tz="Europe/Madrid", name="at"), ["at"]),
    "several": (pd.MultiIndex.from_arrays([list("aabbc"), [1, 2, 1, 2, 1]]), ["level_0", "level_1"]),
    "mixed": (pd.Index([1, "x", 2.5, None, "y"], name="odd"), ["odd"]),
    "categories": (pd.CategoricalIndex(list("ppqqr"), name="kind"), ["kind"]),
}


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("kind", INDEXES)
def test_the_index_of_a_frame_comes_back(kind: str, moved: bool) -> None:
    index, names = INDEXES[kind]
    frame = TRADES.set_axis(index)
    if moved:
        frame = frame.iloc[[4, 2, 0, 3, 1]]
    matches = pairs(frame, sort=moved)
    labels = [
        [None if label is None else str(label) if kind == "mixed" else label for label in level]
        for level in (frame.index.get_level_values(place) for place in range(frame.index.nlevels))
    ]
    events = matches.events()
    for name, level in zip(names, labels, strict=True):
        assert _told(events.to_pandas()[name]) == [level[row] for row in events["row"].to_pylist()]
    one_each = events.filter(pa.array([one == "b" for one in events["variable"].to_pylist()]))
    for table in (matches.to_pandas(), matches.rows().to_pandas()):
        for name, level in zip(names, labels, strict=True):
            assert _told(table[f"b_{name}"]) == [level[row] for row in one_each["row"].to_pylist()]
    if kind == "unnamed":
        assert frame.loc[events["index"].to_pylist(), "type"].tolist() == list("AB") * len(one_each)


def _told(column: pd.Series) -> list[object]:
    return [None if label != label else label for label in column]


def test_an_index_that_says_nothing_stays_away() -> None:
    for frame in (TRADES, TRADES.set_index("ts")):  # the times of marked events are there anyway
        assert pairs(frame).events().schema.names == [
            *("match", "variable", "position", "row", "time", "price", "gain")
        ]
        assert pairs(frame).to_pandas().columns.tolist()[5:] == ["a", "a_time", "a_price", "b", "b_time"]
    two = {"A": TRADES[::2].drop(columns="type"), "B": TRADES[1::2].drop(columns="type")}
    assert "index" not in pairs(two).events().schema.names


# ------------------------------------------------------------------------- lengths, places, frames


def test_matches_are_numbered() -> None:
    for found in (pairs(), pairs(pa.Table.from_pandas(TRADES).to_reader()), pairs(limit=3)):
        every = list(pairs(limit=3)) if found.head(4).limited or len(found) == 3 else list(pairs())
        assert len(found) == len(every)
        assert bool(found)
        assert [found[place] for place in range(len(every))] == every
        assert [found[place] for place in range(-len(every), 0)] == every
        assert list(found[:2]) == every[:2]
        assert found[:] is found
        with pytest.raises(IndexError, match=f"no match {len(every)}: there are {len(every)}"):
            found[len(every)]
        with pytest.raises(TypeError, match=r"only the first matches can be sliced, as in matches\[:10\]"):
            found[1:2]
        with pytest.raises(TypeError, match="for a column use to_pandas"):
            found["a"]  # type: ignore[call-overload]
    assert not pairs(text="SELECT * FROM S WHERE B ; A ; A ; A")


def test_list_lists_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list asks for a length, which must not count what it lists."""
    from cer_gpu.engine.run.bound_query import BoundQuery

    begun: list[int] = []
    begin = BoundQuery.begin
    monkeypatch.setattr(BoundQuery, "begin", lambda self, *a, **k: begun.append(1) or begin(self, *a, **k))
    found = pairs()
    assert len(list(found)) == 5
    assert len(begun) == 1
    again = pairs()
    assert len(again) == 5  # counted
    iterator = iter(again)
    with pytest.raises(TypeError, match="call len\\(\\) before iter\\(\\)"):
        len(again)
    next(iterator)
    assert len(again) == 5


def test_a_length_that_python_has_no_value_for() -> None:
    many = cer.compile("SELECT * WHERE A+").run(pa.table({"type": ["A"] * 400}))
    with pytest.raises(cer.LimitError, match=r"about 10\^120 matches.*query\.count\(events\)"):
        len(many)
    assert many[0].end == 0


def test_frames_of_matches() -> None:
    assert pl.DataFrame(pairs()).equals(pairs().to_polars(flat=False))
    with pytest.raises(TypeError, match=r"call matches.to_pandas\(\) for a DataFrame"):
        pd.DataFrame(pairs())
    with pytest.raises(TypeError, match=r"matches.to_arrow\(flat=True\) for arrays"):
        np.asarray(pairs())


def test_rows_of_a_stream() -> None:
    with cer.compile(PAIRS).stream(order_by="ts") as stream_:
        found = stream_.push(TRADES)
        with pytest.raises(cer.DataError, match=r"to keep all columns .* write SELECT a\[\*\]"):
            found.rows()
        assert found.to_pandas().equals(pairs().to_pandas())
        assert len(found) == 5
        best, wanted = found.top(2, by="gain"), pairs().top(2, by="gain")
        assert list(best) == list(wanted)
        assert best.events() == wanted.events()
    whole = "SELECT a[*], b[*] FROM S WHERE A AS a ; B AS b"
    with cer.compile(whole).stream(order_by="ts") as stream_:
        missing = [stream_.push(TRADES[:3]), stream_.push(TRADES[3:])]
        told = pd.concat([one.to_pandas() for one in missing], ignore_index=True)
        assert told.equals(pairs(text=whole).to_pandas())


def test_the_shell_writes_the_flat_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cer_gpu.cli import status_of

    path = tmp_path / "trades.parquet"
    TRADES.to_parquet(path)
    assert status_of(["run", PAIRS, str(path), "--order-by", "ts", "--format", "csv"]) == 0
    header = capsys.readouterr().out.splitlines()[0]
    assert header.replace('"', "").split(",") == pairs().to_pandas().columns.tolist()


def test_rows_of_a_rule() -> None:
    rule = cer.compile("Q(h) <- A(host = h), B(host = h)").run(TRADES, order_by="ts")
    rows = rule.rows()
    assert rows["A_type"].to_pylist() == ["A"] * len(rows)
    assert rows["B_host"].to_pylist() == rule.to_arrow()["h"].to_pylist()


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_of_data_frames_that_is_missing_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = cer.compile("SELECT * WHERE A")
    events = pa.table({"type": ["A"]})
    monkeypatch.setitem(sys.modules, name, None)
    for found in (query.run(events), cer.backtest({"q": query}, events)):
        with pytest.raises(
            CerError, match=rf"to_{name}\(\) needs {name}, .*: pip install {name}; to_arrow\(\)"
        ):
            getattr(found, f"to_{name}")()
