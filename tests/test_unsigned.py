"""uint64 keeps its whole range: keys, orders, windows, constants, comparisons, aggregates, answers, views."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import random_kinds
from engine_oracle import check_quickly

import cer_gpu as cer
from cer_gpu.language import tree
from cer_gpu.language.parser import parse

HALF = 2**63
PAIR = "SELECT * WHERE A AS a ; B AS b"


def events(rows: int = 40, seed: int = 1) -> pa.Table:
    """The first rows fit an int64, as in a stream that meets large values later."""
    rng = Random(seed)
    large = (0, 5, HALF - 1, HALF, HALF + 1, 2**64 - 1)
    k = [rng.choice((0, 5, 9)) if row < 8 else rng.choice(large) for row in range(rows)]
    return pa.table(
        {
            "type": [rng.choice("AB") for _ in range(rows)],
            "ts": pa.array([HALF - 15 + row for row in range(rows)], pa.uint64()),
            "k": pa.array(k, pa.uint64()),
        }
    )


def pairs(table: pa.Table, holds: Any) -> list[tuple[int, int]]:
    kinds, rows = table["type"].to_pylist(), table.to_pylist()
    return [
        (i, j)
        for j in range(len(rows))
        for i in range(j)
        if kinds[i] == "A" and kinds[j] == "B" and holds(rows[i], rows[j])
    ]


def pushed(query: cer.Query, table: pa.Table, size: int) -> list[tuple[int, int]]:
    stream, told = query.stream(order_by="ts"), []
    for start in range(0, len(table), size):
        told += [(one.start, one.end) for one in stream.push(table.slice(start, size))]
        stream = query.stream(state=stream.snapshot(), order_by="ts") if start == 2 * size else stream
    return told


@pytest.mark.parametrize(
    ("clause", "holds"),
    [
        ("PARTITION BY k", lambda a, b: a["k"] == b["k"]),
        ("FILTER a.k = b.k", lambda a, b: a["k"] == b["k"]),
        ("FILTER a.k > b.k", lambda a, b: a["k"] > b["k"]),
        ("FILTER a[k > 9223372036854775808]", lambda a, b: a["k"] > HALF),
        ("FILTER b[k IN {18446744073709551615, 5}]", lambda a, b: b["k"] in (2**64 - 1, 5)),
        ("FILTER MAX(a.k) >= MIN(b.k)", lambda a, b: a["k"] >= b["k"]),
        ("FILTER b.ts - a.ts <= 2", lambda a, b: b["ts"] - a["ts"] <= 2),
        ("WITHIN 3 [ts]", lambda a, b: b["ts"] - a["ts"] <= 3),
    ],
)
def test_the_whole_width_in_tables_readers_files_and_streams(clause: str, holds: Any, tmp_path: Path) -> None:
    table = events()
    query = cer.compile(f"{PAIR} {clause}")
    wanted = sorted(pairs(table, holds))
    path = str(tmp_path / "events.parquet")
    pq.write_table(table, path)
    for source in (table, table.to_reader(7), path, pl.from_arrow(table)):
        assert sorted((one.start, one.end) for one in query.run(source, order_by="ts")) == wanted
    for size in (1, 7):
        assert sorted(pushed(query, table, size)) == wanted


def test_answers_have_the_values_of_the_whole_width() -> None:
    table = events()
    query = cer.compile(
        "SELECT a[k], b, MAX(a.k) AS most, LAST(b.k) AS last, COUNT(DISTINCT a.k) AS n, START_TIME AS t "
        "WHERE A AS a ; B AS b PARTITION BY k"
    )
    rows = table.to_pylist()
    found = query.run(table, order_by="ts").to_arrow()
    assert found.num_rows == len(pairs(table, lambda a, b: a["k"] == b["k"]))
    for name in ("k", "start_time", "end_time", "most", "last", "t"):
        assert found.schema.field(name).type == pa.uint64()
    for row in found.to_pylist():
        a, b = rows[row["start"]], rows[row["end"]]
        assert row["k"] == row["most"] == row["last"] == a["k"] == row["a[k]"][0]["k"]
        assert (row["start_time"], row["end_time"], row["t"]) == (a["ts"], b["ts"], a["ts"])
    times = query.hits(table, order_by="ts").to_pylist()
    assert all(rows[row["position"]]["ts"] == row["time"] for row in times)


def test_arithmetic_that_fits_an_int64_is_exact() -> None:
    table = events()
    query = cer.compile(f"{PAIR} FILTER a[k >= 9223372036854775807] AND a[ts - 9223372036854775793 < 9]")
    wanted = pairs(table, lambda a, b: a["k"] >= HALF - 1 and a["ts"] - (HALF - 15) < 9)
    assert sorted((one.start, one.end) for one in query.run(table, order_by="ts")) == sorted(wanted)
    with pytest.raises(cer.DataError, match=r"\(arithmetic gives an int64\) does not fit 64 bits"):
        cer.compile("SELECT * WHERE A AS a FILTER a[k + 1 > 5]").run(table, order_by="ts").to_arrow()


def test_sums_beyond_an_int64_are_an_error() -> None:
    for attribute in ("SUM(a.k)", "a.k + 1"):
        with pytest.raises(cer.DataError, match="fit"):
            cer.compile(f"SELECT {attribute} AS m WHERE A AS a").run(events(), order_by="ts").to_arrow()


def test_rows_are_checked_sorted_and_merged_by_the_whole_width() -> None:
    table, rng = events(), Random(2)
    query = cer.compile(f"{PAIR} WITHIN 4 [ts]")
    order = list(range(len(table)))
    rng.shuffle(order)
    mixed = table.take(pa.array(order))
    wanted = query.count(table, order_by="ts")
    assert wanted == len(pairs(table, lambda a, b: b["ts"] - a["ts"] <= 4))
    assert query.count(mixed, order_by="ts", sort=True) == wanted
    assert query.count(table, order_by=["ts", "k"]) == wanted
    tables = {one: table.filter(pc.equal(table["type"], one)).drop_columns("type") for one in "AB"}
    assert query.count(tables, order_by="ts") == wanted
    with pytest.raises(cer.DataError, match=f"it has {mixed['ts'][1].as_py()}|out of order"):
        query.count(mixed, order_by="ts")
    tied = table.set_column(1, "ts", pa.array([HALF + row // 2 for row in range(len(table))], pa.uint64()))
    with pytest.raises(cer.DataError, match="out of order"):
        query.count(tied, order_by=["ts", "k"])
    parted = cer.compile(f"{PAIR} PARTITION BY one")
    tied = tied.append_column("one", pa.array([1] * len(table)))
    with pytest.raises(cer.DataError, match="out of order"):
        parted.count(tied, order_by=["ts", "k"])


def test_hashes_of_polars_and_duckdb_are_keys() -> None:
    rng = Random(3)
    frame = pl.DataFrame(
        {"type": [rng.choice("AB") for _ in range(60)], "n": [rng.choice("xyzw") for _ in range(60)]}
    )
    frame = frame.with_columns(k=pl.col("n").hash())
    assert frame["k"].dtype == pl.UInt64
    by_name = cer.compile(f"{PAIR} PARTITION BY n").count(frame)
    connection = duckdb.connect()
    connection.register("named", frame.to_arrow())
    hashed = connection.sql("SELECT type, n, hash(n) AS k FROM named").to_arrow_table()
    for source in (frame, hashed):
        assert cer.compile(f"{PAIR} PARTITION BY k").count(source) == by_name
        assert cer.compile(f"{PAIR} FILTER a.k = b.k").count(source) == by_name


def test_parameters_and_literals_are_of_the_whole_width() -> None:
    table = events()
    for literal in (HALF - 1, HALF, 2**64 - 1):
        wanted = sum(row["type"] == "A" and row["k"] >= literal for row in table.to_pylist())
        query = cer.compile("SELECT * WHERE A AS a FILTER a[k >= $p]")
        assert query.count(table, params={"p": literal}) == wanted
        assert cer.compile(f"SELECT * WHERE A AS a FILTER a[k >= {literal}]").count(table) == wanted
    for literal in (2**64, -(2**63) - 1):
        with pytest.raises(cer.QueryError, match="CER005"):
            cer.compile(f"SELECT * WHERE A AS a FILTER a[k > {literal}]")


def test_rules_join_and_compare_the_whole_width() -> None:
    table = events()
    rows = table.to_pylist()
    for comparison, holds in (("k = l", lambda a, b: a == b), ("k < l", lambda a, b: a < b)):
        rule = cer.compile(f"Q(k, l) <- A(ts = x, k = k), B(ts = y, k = l), {comparison}")
        found = Counter((row["k"], row["l"]) for row in rule.run(table, order_by="ts").to_arrow().to_pylist())
        assert found == Counter(
            (a["k"], b["k"])
            for a in rows for b in rows
            if (a["type"], b["type"]) == ("A", "B") and holds(a["k"], b["k"])
        )  # fmt: skip


@pytest.mark.crossed
@pytest.mark.parametrize("order", ["both", "small first", "joined first"])
@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("Q(k, x) <- R(k = k, x = x), S(i = k)", lambda r, s: r["k"] == s["i"]),
        ("Q(k, i) <- R(k = k), S(i = i), k < i", lambda r, s: r["k"] < s["i"]),
        (
            "Q(k, l) <- R(k = k), S(l = l), k >= l, k > 9223372036854775808",
            lambda r, s: r["k"] >= s["l"] and r["k"] > HALF,
        ),
    ],
)
def test_views_hold_the_whole_width(rule: str, holds: Any, order: str) -> None:
    rng = Random(4)
    large = (0, 5, 2**62, HALF, HALF + 1, 2**64 - 1)

    def drawn(count: int, values: tuple[int, ...]) -> pa.Array:
        return pa.array([rng.choice(values) for _ in range(count)], pa.uint64())

    left = pa.table({"k": drawn(30, large), "x": range(30)})
    right = pa.table({"i": [rng.choice((-3, 5, 2**62)) for _ in range(30)], "l": drawn(30, large)})
    view = cer.maintain(rule)
    small = pc.less(left["k"], pa.scalar(HALF, pa.uint64()))
    if order == "small first":
        view.insert("R", left.filter(small))
        view.insert("S", right)
        view.insert("R", left.filter(pc.invert(small)))
    else:
        given = [("R", left), ("S", right)]
        for name, table in given if order == "both" else given[::-1]:
            view.insert(name, table)
    view.delete("R", left.slice(0, 3))

    def wanted(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
        names = [name.strip() for name in rule[2 : rule.index(")")].split(",")]
        return Counter(
            tuple({**other, **row}[name] for name in names)
            for row in rows for other in right.to_pylist() if holds(row, other)
        )  # fmt: skip

    for one in (view, cer.JoinView.restore(view.snapshot())):
        rows = one.enumerate().to_arrow().to_pylist()
        assert {tuple(row.values())[:-1]: row["multiplicity"] for row in rows} == wanted(left.to_pylist()[3:])


@pytest.mark.draws("seed", 80)
def test_random_numbers_of_the_whole_width_agree_with_the_reference(seed: int) -> None:
    rng = Random(f"unsigned {seed}")
    for _ in range(3):
        query = parse(random_kinds.query(rng, random_kinds.WIDE))
        assert isinstance(query, tree.SelectQuery)
        stream = random_kinds.events_of(rng, rng.randrange(3, 14))
        check_quickly(query, stream, rng, random_kinds.table_of(stream))
