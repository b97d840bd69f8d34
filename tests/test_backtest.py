"""A backtest says of each query what the query says by itself, however many are read together."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from generate import ORDER, any_query, stream, stream_to_table, unary_query

import cer_gpu as cer
from cer_gpu.engine.machines import chunk
from cer_gpu.engine.read import classify
from cer_gpu.engine.run import chunks as runner
from cer_gpu.engine.run import passes, shared_run
from cer_gpu.language.printer import to_text

OPTIONS: dict[str, Any] = {"order_by": ORDER, "stream_column": "stream", "device": "cpu"}


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches, blocks and chunks of a few events, so that small streams cross their borders."""
    monkeypatch.setattr(classify, "BLOCK", 4)
    monkeypatch.setattr(passes, "BATCH", 5)
    monkeypatch.setattr(shared_run, "LEAST_CHUNK", 3)
    monkeypatch.setattr(shared_run, "WAITING", 9)
    monkeypatch.setattr(runner, "CARRIED", 2)
    monkeypatch.setattr(chunk, "SEGMENT", 2)


def ticks(count: int = 3000, seed: int = 1) -> pa.Table:
    """Events of five types with two numbers, a key, and times over three days."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.integers(0, 3 * 86_400_000_000, count))
    return pa.table(
        {
            "type": rng.choice(list("ABCDE"), count),
            "x": rng.integers(0, 20, count),
            "y": np.where(rng.random(count) < 0.1, np.nan, rng.random(count)),
            "name": pa.array(rng.choice(["ann", "bob", "eve"], count), pa.string()),
            "k": pa.array(rng.choice(["p", "q", "r"], count)).dictionary_encode(),
            "ts": pa.array(times).cast(pa.timestamp("us")),
        }
    )


def told(query: cer.Query, events: Any, **keywords: Any) -> dict[str, Any]:
    """The row of a query without `by`, from its own run."""
    counts = query.counts(events, **keywords)
    at = counts["time" if "time" in counts.schema.names else "position"].to_pylist()
    numbers = counts["count"].to_pylist()
    first, last = min(at, default=None), max(at, default=None)
    return {"hits": len(counts), "matches": sum(map(int, numbers)), "first": first, "last": last}


def agree(seed: str, draw: Any, many: int) -> int:
    """Run random queries together and one by one; how many were read together."""
    rng = Random(seed)
    queries: dict[str, cer.Query] = {}
    while len(queries) < many:
        try:
            queries[f"number {len(queries)}"] = cer.compile(to_text(draw(rng)))
        except cer.CerError:  # over a budget, or a pattern that no engine takes
            continue
    events = stream_to_table(stream(rng, rng.randrange(20, 40)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        own = {}
        for name, query in queries.items():
            try:
                own[name] = told(query, events, **OPTIONS)
            except cer.CerError:
                continue
        found = cer.backtest({name: queries[name] for name in own}, events, **OPTIONS)
    for row in found.to_arrow().to_pylist():
        name = row.pop("query")
        assert {**row, "matches": int(row["matches"])} == own[name], queries[name].text
    return found.together


@pytest.mark.draws("seed", 6)
def test_random_queries_say_what_they_say_by_themselves(seed: int) -> None:
    assert agree(f"whole {seed}", unary_query, 25) >= 15


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 6)
def test_they_do_in_tiny_pieces_too(seed: int) -> None:
    assert agree(f"pieces {seed}", unary_query, 25) >= 15


@pytest.mark.draws("seed", 3)
def test_queries_of_every_engine_go_beside_each_other(seed: int) -> None:
    agree(f"any {seed}", any_query, 15)


SWEPT = {
    "numbers": ("FILTER a[x > $p] AND b[y <= $q]", {"p": [3, 10, 17.5], "q": [0.2, 0.9]}),
    "texts": ("FILTER a[name = $p] AND b[name != $q]", {"p": ["ann", "bob", "zoe"], "q": ["bob", "eve"]}),
    "sets": ("FILTER a[x IN {$p, 7}] AND b[name IN {$q, 'ann'}]", {"p": [1, 19], "q": ["ann", "bob"]}),
    "patterns": ("FILTER a[name LIKE $p] AND b[x >= $q]", {"p": ["a", "^e"], "q": [0, 15]}),
    "arithmetic": ("FILTER a[x + 1 > $p] AND b[x * 2 > x + $q]", {"p": [5, 18], "q": [3, 9]}),
}


@pytest.mark.crossed
@pytest.mark.parametrize("kind", SWEPT)
@pytest.mark.parametrize("clause", ["", "PARTITION BY [k]"])
def test_the_variants_of_a_template(kind: str, clause: str) -> None:
    conditions, grid = SWEPT[kind]
    text = f"SELECT * FROM S WHERE A AS a ; B AS b {conditions} {clause} WITHIN $w"
    sweep = cer.sweep(text, **grid, w=["10 min", "3 h"])
    found = cer.backtest(sweep, ticks(), order_by="ts", device="cpu")
    assert found.together == len(sweep) == len(found)
    rows = found.to_arrow().to_pylist()
    assert sum(row["matches"] for row in rows) > 0
    for values, row in zip(sweep, rows):
        own = told(sweep.query, ticks(), order_by="ts", params=values, device="cpu")
        assert {name: row[name] for name in own} == own, values


def test_constants_on_one_column_are_told_apart_once() -> None:
    texts = [f"SELECT * FROM S WHERE A AS a ; B FILTER a[x > {low}] WITHIN 1 HOUR" for low in range(10)]
    texts += ["SELECT * FROM S WHERE A AS a ; C FILTER a[x > 2.5] WITHIN 2 HOURS"]
    found = cer.backtest(texts, ticks(), order_by="ts", device="cpu")
    assert (found.together, found.passes) == (11, 1)
    for text, row in zip(texts, found.to_arrow().to_pylist()):
        assert row["hits"] == len(cer.compile(text).hits(ticks(), order_by="ts"))


@pytest.mark.parametrize(("name", "most"), [("LEVEL", 20), ("TOLD_APART", 8), ("QUERIES", 7)])
def test_what_does_not_fit_one_table_is_cut_into_bunches(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"cer_gpu.plan.shared_reading.{name}", most)
    sweep = cer.sweep("SELECT * FROM S WHERE A AS a ; B FILTER a[x > $p] WITHIN 1 HOUR", p=list(range(20)))
    found = cer.backtest(sweep, ticks(), order_by="ts", device="cpu")
    assert found.together == 20
    assert found.passes > 2
    hits = [row["hits"] for row in found.to_arrow().to_pylist()]
    own = [len(sweep.query.hits(ticks(), order_by="ts", params=values)) for values in sweep]
    assert hits == own


def test_by_day_and_key_is_a_group_by_of_counts() -> None:
    query = cer.compile("SELECT * FROM S WHERE A ; B PARTITION BY [k] WITHIN 30 MINUTES")
    found = cer.backtest({"ab": query}, ticks(), order_by="ts", by=["1d", "k"], device="cpu").to_pandas()
    counts = query.counts(ticks(), order_by="ts").to_pandas()
    counts["bucket"] = counts["time"].dt.floor("D")
    own = counts.groupby(["bucket", "k"]).agg(
        hits=("count", "size"), matches=("count", "sum"), first=("time", "min"), last=("time", "max")
    )
    assert len(own) == 9
    pd.testing.assert_frame_equal(
        found.drop(columns="query").set_index(["bucket", "k"]), own, check_dtype=False, check_index_type=False
    )


def test_a_query_read_by_itself_has_the_same_rows() -> None:
    apart = "SELECT * FROM S WHERE A AS a ; B AS b FILTER a.x = b.x PARTITION BY [k] WITHIN 30 MINUTES"
    plain = "SELECT * FROM S WHERE A ; C PARTITION BY [k] WITHIN 30 MINUTES"
    found = cer.backtest(
        {"equal": apart, "plain": plain}, ticks(), order_by="ts", by=["6 h", "k"], device="cpu"
    )
    assert (found.together, found.passes) == (1, 1)
    table = found.to_pandas()
    for name, text in (("equal", apart), ("plain", plain)):
        counts = cer.compile(text).counts(ticks(), order_by="ts").to_pandas()
        counts["bucket"] = counts["time"].dt.floor("6h")
        own = counts.groupby(["bucket", "k"])["count"].agg(["size", "sum"]).reset_index()
        mine = table[table["query"] == name]
        assert mine[["bucket", "k", "hits", "matches"]].to_numpy().tolist() == own.to_numpy().tolist()


@pytest.mark.parametrize(
    ("kind", "by", "rule"),
    [
        (pa.timestamp("s"), "5 min", "5min"),
        (pa.timestamp("ns"), "2 hours", "2h"),
        (pa.timestamp("ms"), "1 month", "MS"),
        (pa.timestamp("us", "Europe/Berlin"), "1d", "D"),
    ],
)
def test_buckets_begin_where_pandas_has_them(kind: pa.DataType, by: str, rule: str) -> None:
    moments = (
        pa.array(np.arange(0, 200 * 86_400, 5_000), pa.timestamp("s"))
        .cast(pa.timestamp(kind.unit))
        .view(kind)
    )
    events = pa.table({"type": ["A"] * len(moments), "ts": moments})
    found = cer.backtest("SELECT * FROM S WHERE A", events, order_by="ts", by=by).to_pandas()
    own = pd.Series(1, index=pd.DatetimeIndex(moments.to_pandas())).resample(rule).sum()
    own = own[own > 0]
    assert found["bucket"].tolist() == own.index.tolist()
    assert found["hits"].tolist() == own.tolist()


def test_plain_numbers_and_durations_have_buckets() -> None:
    numbers = pa.table({"type": ["A"] * 5, "t": [-1, 0, 9, 10, 25]})
    query = "SELECT * FROM S WHERE A"
    found = cer.backtest(query, numbers, order_by="t", by=10).to_arrow()
    assert found["bucket"].to_pylist() == [-10, 0, 10, 20]
    assert found["hits"].to_pylist() == [1, 2, 1, 1]
    minutes = cer.backtest(query, numbers, order_by="t", order_unit="s", by="1 min").to_arrow()
    assert minutes["bucket"].to_pylist() == [-60, 0]
    spans = numbers.set_column(1, "t", numbers["t"].cast(pa.duration("s")))
    assert cer.backtest(query, spans, order_by="t", by="10 s").to_arrow()["hits"].to_pylist() == [1, 2, 1, 1]


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        ("1d", {}, "name the column of time with order_by"),
        ("1 fortnight", {"order_by": "ts"}, "is not a length of time"),
        ("0 d", {"order_by": "ts"}, "is not a length of time"),
        (5, {"order_by": "ts"}, "write the length of a bucket with a unit"),
        (["1d", "2h"], {"order_by": "ts"}, "two lengths of time"),
        ("k", {"order_by": "ts"}, "query number 1 has .*write PARTITION BY k in each query"),
        ("1d", {"order_by": "x", "sort": True}, "order_unit"),
        ("1 month", {"order_by": "x", "sort": True, "order_unit": "s"}, "write it in days"),
        ("3 s", {"order_by": "x", "sort": True, "order_unit": "s", "device": "cpu"}, None),
    ],
)
def test_what_by_cannot_be(by: Any, options: dict[str, Any], message: str | None) -> None:
    if message is None:
        assert len(cer.backtest("SELECT * FROM S WHERE A", ticks(), by=by, **options))
        return
    with pytest.raises(ValueError, match=message):
        cer.backtest("SELECT * FROM S WHERE A", ticks(), by=by, **options)


def test_queries_that_find_nothing_have_a_row_without_by() -> None:
    texts = {"none": "SELECT * FROM S WHERE A AS a FILTER a[x > 99]", "some": "SELECT * FROM S WHERE A"}
    rows = cer.backtest(texts, ticks(), device="cpu").to_arrow().to_pylist()
    assert rows[0] == {"query": "none", "hits": 0, "matches": 0, "first": None, "last": None}
    assert rows[1]["hits"] > 0
    by = cer.backtest(texts, ticks(), order_by="ts", by="1d", device="cpu").to_arrow()
    assert set(by["query"].to_pylist()) == {"some"}


def test_numbers_past_64_bits_are_exact() -> None:
    events = pa.table({"type": ["A"] * 70})
    found = cer.backtest({"all": "SELECT * FROM S WHERE A+", "one": "SELECT * FROM S WHERE A"}, events)
    assert [int(number) for number in found.to_arrow()["matches"].to_pylist()] == [2**70 - 1, 70]


def test_sums_past_64_bits_of_a_query_beside_others_are_exact() -> None:
    events = pa.table({"type": ["A"] * 62 + ["C"] * 9})
    text = "SELECT * FROM S WHERE (A+ ; C) NOT FOLLOWED BY B"
    found = cer.backtest({"all": text, "one": "SELECT * FROM S WHERE A"}, events).to_arrow()
    each = 2**62 - 1
    assert cer.compile(text).counts(events)["count"].to_pylist() == [each] * 9
    assert [int(number) for number in found["matches"].to_pylist()] == [9 * each, 62]


def test_what_can_be_read_once_is_read_once() -> None:
    reader = pa.RecordBatchReader.from_batches(ticks().schema, ticks().to_batches(max_chunksize=100))
    texts = ["SELECT * FROM S WHERE A ; B WITHIN 1 HOUR", "SELECT * FROM S WHERE A ; C WITHIN 1 HOUR"]
    found = cer.backtest(texts, reader, order_by="ts", device="cpu")
    assert found.to_arrow() == cer.backtest(texts, ticks(), order_by="ts", device="cpu").to_arrow()
    reader = pa.RecordBatchReader.from_batches(ticks().schema, ticks().to_batches())
    texts.append("SELECT * FROM S WHERE A AS a ; B AS b FILTER a.x = b.x WITHIN 1 HOUR")
    found = cer.backtest(texts, reader, order_by="ts", device="cpu")
    assert found.to_arrow() == cer.backtest(texts, ticks(), order_by="ts", device="cpu").to_arrow()
    reader = pa.RecordBatchReader.from_batches(ticks().schema, ticks().to_batches())
    hidden = "SELECT NONE, a.x AS v FROM S WHERE A AS a ; B AS b WITHIN 1 HOUR"
    with pytest.raises(cer.DataError, match="read only once, and 1 of the queries need a pass of their own"):
        cer.backtest([*texts, hidden], reader, order_by="ts", device="cpu")


def test_it_says_what_was_noticed_and_shows_itself() -> None:
    with pytest.warns(UserWarning, match="no event has the type `b`: there is `B`"):
        found = cer.backtest("SELECT * FROM S WHERE A ; b", ticks(), device="cpu")
    assert any("no event has the type `b`" in note for note in found.notes)
    assert "matches" in repr(found)
    assert "<table>" in found._repr_html_()
    assert found.to_polars().shape == (1, 5)


def test_disorder_names_the_row() -> None:
    wrong = ticks(50).take(pa.array([*range(20), 5, *range(20, 50)]))
    with pytest.raises(cer.DataError, match="row 20"):
        cer.backtest("SELECT * FROM S WHERE A ; B WITHIN 1 HOUR", wrong, order_by="ts", device="cpu")


def test_an_error_says_of_which_query_it_is() -> None:
    texts = {"good": "SELECT * FROM S WHERE A", "bad": "SELECT * FROM S WHERE A AS a FILTER a[z > 1]"}
    with pytest.raises(cer.QueryError, match="`z`") as raised:
        cer.backtest(texts, ticks())
    assert raised.value.__notes__ == ["in the query 'bad'"]
    with pytest.raises(cer.QueryError) as raised:
        cer.backtest({"good": texts["good"], "worse": "SELECT"}, ticks())
    assert raised.value.__notes__ == ["in the query 'worse'"]


@pytest.mark.parametrize("wrong", [5, None, {"a": 5}])
def test_what_is_no_query(wrong: Any) -> None:
    with pytest.raises(TypeError, match="give a text, a Query or the result of sweep"):
        cer.backtest(wrong, ticks())


def test_a_grid_has_each_combination_and_a_draw_some() -> None:
    text = "SELECT * FROM S WHERE A AS a FILTER a[x > $p] AND a[y < $q]"
    assert cer.sweep(text, p=[1, 2], q=0.5).variants == ({"p": 1, "q": 0.5}, {"p": 2, "q": 0.5})
    whole = cer.sweep(text, p=range(100), q=np.linspace(0, 1, 50))
    drawn = cer.sweep(text, random=200, seed=3, p=range(100), q=np.linspace(0, 1, 50))
    assert len(whole) == 5000
    assert len({tuple(one.items()) for one in drawn}) == 200
    assert all(one in whole.variants for one in drawn)
    assert (
        drawn.variants == cer.sweep(text, random=200, seed=3, p=range(100), q=np.linspace(0, 1, 50)).variants
    )
    given = cer.sweep(text, ({"p": p, "q": 0.1} for p in range(3)))
    assert cer.backtest(given, ticks(), device="cpu").to_arrow()["p"].to_pylist() == [0, 1, 2]


def test_what_a_sweep_cannot_be() -> None:
    text = "SELECT * FROM S WHERE A AS a FILTER a[x > $p]"
    with pytest.raises(ValueError, match="`p` has no values"):
        cer.sweep(text, p=[])
    with pytest.raises(ValueError, match="a number from 0 to 2, the number of variants"):
        cer.sweep(text, random=3, p=[1, 2])
    with pytest.raises(TypeError, match="not both"):
        cer.sweep(text, [{"p": 1}], p=[1])
    with pytest.raises(cer.QueryError, match=r"no parameter `\$r`"):
        cer.sweep(text, p=[1], r=[2])
    with pytest.raises(cer.QueryError, match=r"(?s)no parameter `\$w`.*it has `\$p`"):
        cer.sweep(text, [{"p": 1}, {"p": 2, "w": 3}])
    with pytest.raises(cer.QueryError, match="it has no parameters"):
        cer.sweep("SELECT * FROM S WHERE A", w=[1])


COMPARED = [
    "A AS a ; B AS b FILTER b.x > a.x",
    "A AS a ; B ; C AS c FILTER c.x > a.x",
    "(A AS a FILTER a.x > PRIOR(a).x) {3,}",
    "A AS a ; B+ AS b FILTER SUM(b.x) > a.x",
    "A AS a FOLLOWED BY [<= 1 h] (B AS x ; C AS y FILTER y.x > x.x)",
    "A :[<= 30 min] B",
]


def test_queries_that_compare_events_are_tried_beside_others() -> None:
    texts = [f"SELECT * FROM S WHERE {pattern} WITHIN 20 MINUTES" for pattern in COMPARED]
    texts += ["SELECT STRICT * FROM S WHERE A+[<= 30 min] PARTITION BY [k]", "SELECT * FROM S WHERE A ; B"]
    found = cer.backtest(texts, ticks(), order_by="ts", device="cpu").to_arrow().to_pylist()
    for text, row in zip(texts, found, strict=True):
        own = told(cer.compile(text), ticks(), order_by="ts", device="cpu")
        assert {name: row[name] for name in own} == own, text
        assert own["matches"] > 0


@pytest.mark.parametrize(
    ("by", "begins"),
    [("30 min", [0, 0, 30, 60, 90, 120]), ("1 h", [0, 0, 0, 60, 60, 120]), ("2 h", [0, 0, 0, 60, 60, 60])],
)
def test_buckets_of_an_hour_that_the_clock_shows_twice(by: str, begins: list[int]) -> None:
    first = pd.Timestamp("2024-10-27 00:00", tz="UTC")  # 02:00 in Berlin, and once more an hour later
    minutes = [first + pd.Timedelta(minutes=minute) for minute in (0, 20, 40, 65, 95, 125)]
    times = pa.array(minutes, pa.timestamp("s", "Europe/Berlin"))
    events = pa.table({"type": ["A"] * len(times), "ts": times})
    found = cer.backtest("SELECT * FROM S WHERE A", events, order_by="ts", by=by, device="cpu").to_pandas()
    told = [begin for begin, hits in zip(found["bucket"], found["hits"]) for _ in range(hits)]
    assert told == [first + pd.Timedelta(minutes=begin) for begin in begins]


def test_buckets_that_the_clock_cuts_are_an_error() -> None:
    times = pa.array([1_729_990_500], pa.timestamp("s", "Europe/Berlin"))  # 02:55, for the first time
    events = pa.table({"type": ["A"], "ts": times})
    with pytest.raises(cer.DataError, match="a length that divides an hour"):
        cer.backtest("SELECT * FROM S WHERE A", events, order_by="ts", by="7 min", device="cpu")
