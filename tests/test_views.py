"""Views as they are used: what they read and give, what they refuse, and that a refusal changes nothing."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from test_views_random import listed

import cer_gpu
from cer_gpu.errors import CerError, DataError, LimitError, QueryError
from cer_gpu.views import JoinView

CHAIN = "Q(a, c, d) <- R(a, b), S(b, c), T(d), a < c, c < d"


def chain(rule: str = CHAIN) -> JoinView:
    view = cer_gpu.maintain(rule)
    view.insert("R", pa.table({"a": [1, 2, 5], "b": [1, 1, 2]}))
    view.insert("S", pa.table({"b": [1, 1, 2], "c": [2, 3, 9]}))
    view.insert("T", pa.table({"d": [3, 10, 10]}))
    return view


ANSWERS = {(1, 2, 3): 1, (1, 2, 10): 2, (1, 3, 10): 2, (2, 3, 10): 2, (5, 9, 10): 2}


def test_the_answers_and_what_changes_them() -> None:
    view = chain()
    assert listed(view.enumerate()) == ANSWERS
    assert view.count() == 9
    view.delete("S", pa.table({"b": [1], "c": [2]}))
    assert listed(view.delta()) == {(1, 2, 3): -1, (1, 2, 10): -2}
    view.insert("R", pa.table({"a": [0, 0], "b": [2, 7]}))
    assert listed(view.delta()) == {(0, 9, 10): 2}
    assert view.enumerate().to_arrow().schema.names == ["a", "c", "d", "multiplicity"]
    view.update(inserts={"T": pa.table({"d": [4]})}, deletes={"T": pa.table({"d": [4]})})
    assert listed(view.delta()) == {}


@pytest.mark.parametrize("read", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_whatever_speaks_arrow(read: Any, tmp_path: Any) -> None:
    view = cer_gpu.maintain("Q(x, y) <- R(x, z), S(z, y)")
    view.insert("R", read({"x": ["a", "b"], "z": [1, 2]}))
    s = duckdb.sql("SELECT 2::INTEGER AS z, 0.5 AS y").project("z, y::DOUBLE AS y")
    view.insert("S", s)
    path = tmp_path / "s.csv"
    path.write_text("z,y\n1,1.5\n")
    view.insert("S", str(path))
    assert listed(view.enumerate()) == {("a", 1.5): 1, ("b", 0.5): 1}
    assert view.enumerate().to_pandas()["multiplicity"].tolist() == [1, 1]
    assert view.enumerate().to_polars().height == 2
    assert pl.DataFrame(view.enumerate()).height == 2


def test_a_delete_of_what_is_not_there_names_it_and_changes_nothing() -> None:
    view = chain()
    gone = pa.table({"d": [3, 10, 10, 10, 7]})
    with pytest.raises(DataError, match=r"\(d = 7\), \(d = 10\) \(3 to delete, 2 there\) from T"):
        view.update(inserts={"R": pa.table({"a": [0], "b": [1]})}, deletes={"T": gone})
    assert listed(view.enumerate()) == ANSWERS
    view.delete("T", pa.table({"d": [10, 3, 10]}))
    assert view.count() == 0
    assert listed(view.delta()) == {row: -count for row, count in ANSWERS.items()}


def test_a_delete_before_the_last_relation_is_known() -> None:
    view = cer_gpu.maintain(CHAIN)
    view.insert("R", pa.table({"a": [1, 1], "b": [1, 1]}))
    view.delete("R", pa.table({"a": [1], "b": [1]}))
    with pytest.raises(DataError, match="it has no such rows"):
        view.delete("S", pa.table({"b": [1], "c": [3]}))
    assert view.count() == 0
    assert list(view.enumerate()) == []
    with pytest.raises(DataError, match="the view has no rows yet"):
        view.enumerate().to_arrow()
    view.insert("S", pa.table({"b": [1], "c": [3]}))
    view.insert("T", pa.table({"d": [4]}))
    assert listed(view.enumerate()) == {(1, 3, 4): 1}
    assert listed(view.delta()) == {(1, 3, 4): 1}


def test_an_update_ends_a_listing() -> None:
    for rule in (CHAIN, "Q(a, b, c, d) <- R(a, b), S(b, c), T(d), a < c, c < d"):
        view = chain(rule)
        reader = view.enumerate().batches(1)
        reader.read_next_batch()
        view.insert("T", pa.table({"d": [4]}))
        with pytest.raises(CerError, match="updated while"):
            reader.read_all()


def test_a_snapshot_does_not_change_a_listing() -> None:
    """It merges the runs of a node, which the listing has read a part of."""
    view = cer_gpu.maintain("Q(a, k, c) <- R(a, k), S(k, c), a < c")
    rng = np.random.default_rng(5)
    for size in (4000, 400, 20):
        numbers = rng.integers(0, 100_000, size)
        r = pa.table({"a": numbers, "k": numbers % 401})
        view.update(inserts={"R": r, "S": r.select(["k", "a"])})
    assert any(len(store.runs) > 1 for store in view._kept.trees[0].stores)
    expected = listed(view.enumerate())
    found = []
    for batch in view.enumerate().batches(1000):
        found.append(batch)
        if len(found) == 2:
            view.snapshot()
    assert listed(found) == expected


def test_batches_are_as_small_as_asked_for() -> None:
    view = chain()
    for rows in (1, 2, 3):
        batches = list(view.enumerate().batches(rows))
        assert max(map(len, batches)) <= rows
        assert sum(map(len, batches)) == len(ANSWERS)
    assert len(view.enumerate().head(2)) == 2


def test_the_top_answers_by_a_column() -> None:
    view = chain()
    rows = view.enumerate().to_arrow().to_pylist()
    for by in ("a", "c", "d", "multiplicity"):
        for descending in (True, False):
            wanted = sorted((row[by] for row in rows), reverse=descending)
            for count in (0, 2, 9):
                found = view.enumerate().top(count, by, descending=descending)
                assert found[by].to_pylist() == wanted[:count]
                assert all(row in rows for row in found.to_pylist())
    with pytest.raises(DataError, match="no column `b`: they have `a`, `c`, `d`, `multiplicity`"):
        view.enumerate().top(1, "b")
    view.insert("T", pa.table({"d": np.arange(4, 70_004)}))
    many = view.enumerate().top(3, "d")
    assert set(many["d"].to_pylist()) == {70_003}


def test_times_and_arithmetic() -> None:
    """The paper's first query, which is cyclic: small, small and large, all within an hour."""
    view = cer_gpu.maintain(
        "Q(acc, t, u, v) <- Small(acc, t), Small(acc, u), Large(acc, v, m), "
        "t < u, u < v, v < t + 1 h, m > 400"
    )
    start = datetime(2024, 1, 1)
    at = [start + timedelta(minutes=minutes) for minutes in (0, 10, 50, 100)]
    view.insert("Small", pa.table({"acc": ["x", "x", "y"], "t": pa.array([at[0], at[1], at[0]])}))
    large = {
        "acc": ["x", "x", "x", "y"],
        "v": pa.array([at[2], at[3], at[2], at[2]]),
        "m": [500.0, 500, 1, 500],
    }
    view.insert("Large", pa.table(large))
    assert listed(view.enumerate()) == {("x", at[0], at[1], at[2]): 1}
    assert view.enumerate().to_arrow().schema.field("v").type == pa.timestamp("us")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int8(), [-3, 0, 5]),
        (pa.uint32(), [0, 7, 2**32 - 1]),
        (pa.float32(), [-1.5, 0.0, 2.5]),
        (pa.bool_(), [False, True]),
        (pa.date32(), [datetime(1960, 2, 1).date(), datetime(2024, 2, 29).date()]),
        (pa.timestamp("ms", "Europe/Paris"), [datetime(2024, 7, 1)]),
        (pa.duration("s"), [timedelta(seconds=-4), timedelta(hours=2)]),
        (pa.time32("s"), [datetime(2024, 7, 1, 5, 6).time()]),
        (pa.string_view(), ["", "é"]),
        (pa.dictionary(pa.int8(), pa.string()), ["p", "q"]),
    ],
)
def test_values_come_back_as_they_were(kind: pa.DataType, values: list[Any]) -> None:
    view = cer_gpu.maintain("Q(x, y) <- R(x, z), S(z, y)")
    column = pa.array([*values, None], kind) if not pa.types.is_string_view(kind) else pa.array(values, kind)
    view.insert("R", pa.table({"x": column, "z": column}))
    view.insert("S", pa.table({"z": column, "y": column}))
    wanted = {(value, value): 1 for value in column.to_pylist() if value is not None}
    assert listed(view.enumerate()) == wanted


def test_nulls_and_nans_join_nothing_and_are_kept_where_they_stand_alone() -> None:
    nan = float("nan")
    view = cer_gpu.maintain("Q(x, y) <- R(x, z), S(z, y), x < 9.0")
    view.insert("R", pa.table({"x": [1.0, nan, None, 2.0], "z": [1.0, 1.0, 1.0, nan]}))
    view.insert("S", pa.table({"z": [1.0, 1.0, nan, None], "y": pa.array([None, 4, 5, 6], pa.int64())}))
    assert listed(view.enumerate()) == {(1.0, None): 1, (1.0, 4): 1}
    view.delete("R", pa.table({"x": [nan], "z": [1.0]}))
    alone = cer_gpu.maintain("Q(x) <- R(x)")
    alone.insert("R", pa.table({"x": [-0.0, 0.0, nan, float("-inf")]}))
    found = alone.enumerate().to_arrow()["x"].to_pylist()
    assert sorted(map(str, found)) == ["-inf", "0.0", "nan"]


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("Q(a) <- R(a) WITHIN 5 s", "WITHIN has no meaning"),
        ("Q(a) <- X>R(a)", "no stream"),
        ("Q(a, a) <- R(a)", "two columns"),
        ("Q(multiplicity) <- R(multiplicity)", "two columns"),
        ("Q(z) <- R(a)", "z"),
    ],
)
def test_rules_that_are_refused(rule: str, what: str) -> None:
    with pytest.raises(QueryError, match=what):
        cer_gpu.maintain(rule)


def test_data_that_is_refused() -> None:
    view = cer_gpu.maintain("Q(a, d) <- R(a, b), S(b, c), T(d), a < d")
    with pytest.raises(DataError, match="no relation `X`: its relations are R, S, T"):
        view.insert("X", pa.table({"a": [1]}))
    with pytest.raises(QueryError, match="3 columns"):
        view.insert("R", pa.table({"a": [1], "b": [1], "c": [1]}))
    view.insert("R", pa.table({"a": [1], "b": [1]}))
    with pytest.raises(DataError, match="was of type int64 before, and is of type string"):
        view.insert("R", pa.table({"a": ["x"], "b": [1]}))
    with pytest.raises(DataError, match="`b` of R is missing"):
        view.insert("R", pa.table({"a": [1], "c": [1]}))
    with pytest.raises(DataError, match="smallest or one of the two largest int64"):
        view.insert("R", pa.table({"a": [2**63 - 1], "b": [1]}))
    view.insert("T", pa.table({"d": [4]}))
    with pytest.raises(QueryError, match="these cannot be equal"):
        view.insert("S", pa.table({"b": ["x"], "c": [1]}))
    view.insert("S", pa.table({"b": [1], "c": [1]}))
    assert listed(view.enumerate()) == {(1, 4): 1}
    texts = cer_gpu.maintain("Q(a) <- R(a), S(b), a < b")
    texts.insert("R", pa.table({"a": ["x"]}))
    with pytest.raises(QueryError, match="cannot be compared"):
        texts.insert("S", pa.table({"b": [1]}))


def test_a_cyclic_rule_keeps_pairs_up_to_a_limit() -> None:
    view = cer_gpu.maintain("Q(a, b, c) <- R(a, b), S(b, c), T(c, a)", most_kept=20)
    pairs = pa.table({"x": [0, 1, 2, 0], "y": [1, 2, 0, 2]})
    for name in "RST":
        view.insert(name, pairs)
    wanted = {(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1}
    assert listed(view.enumerate()) == wanted
    assert listed(view.delta()) == wanted
    many = pa.table({"x": np.arange(40), "y": np.ones(40, np.int64)})
    with pytest.raises(
        LimitError, match=r"\{a, b\}, \{a, c\}, \{b, c\} are in a circle.* more than 20"
    ) as error:
        view.insert("R", many)
    # No comparison closes this circle.
    assert "a relation or a variable that two relations share" in str(error.value)
    assert listed(view.enumerate()) == wanted
    assert listed(view.delta()) == wanted
    view.delete("R", pairs.slice(0, 1))
    assert listed(view.delta()) == {(0, 1, 2): -1}
    view.insert("R", many.slice(0, 1))
    assert listed(view.delta()) == {(0, 1, 2): 1}


def test_explain_draws_the_tree_with_guards_and_orders() -> None:
    view = chain("Q(b, c, d) <- R(a, b), S(b, c), T(d), a < c, c < d, d < 9")
    assert (
        view.explain()
        == """\
acyclic, free-connex: a batch takes O(n log n), the delay between rows is at most logarithmic
the cheapest of 3 trees: a row that is inserted changes about 2 of about 11 rows
  {d} *   [ordered by d; 1 row in 1 sorted array, 128 bytes]
    {b, c} * -- c < d   [ordered by c, b; 3 rows in 1 sorted array, 208 bytes]
      S(b, c) -- guard   [grouped by b, c; 3 rows in 1 sorted array, 192 bytes]
      R(a, b) -- a < c   [grouped by b, ordered by a; 3 rows in 1 sorted array, 208 bytes]
    T(d) * -- guard   [grouped by d; 1 row in 1 sorted array, 128 bytes]
a row of T is read if d < 9
*: a node from which rows are listed; guard: the child that has all variables of its parent"""
    )
    assert "put together in memory" in cer_gpu.maintain(CHAIN.replace("Q(a, c, d)", "Q(a, d)")).explain()
    circle = cer_gpu.maintain("Q(a, b, c) <- R(a, b), S(b, c), T(c, a)").explain()
    assert circle.startswith("cyclic: 1 bag(s) of joined rows are kept, of at most 2 relations")
    assert "bag 1: {a, b, c} -- guard" in circle


def test_multiplicities_that_do_not_fit_are_an_error_and_change_nothing() -> None:
    view = cer_gpu.maintain("Q() <- A(x), B(x), C(x), D(x), E(x)")
    many = pa.table({"x": np.ones(10_000, np.int64)})
    for name in "ABCD":
        view.insert(name, many)
    with pytest.raises(CerError, match="2\\^62"):
        view.insert("E", many)
    view.insert("E", many.slice(0, 1))
    assert view.count() == 10**16


SQL = {
    "Q(a, c, d) <- R(a, b), S(b, c), T(d), a < c, c < d": (
        "SELECT R.c0, S.c1, T.c0, count(*) FROM R, S, T "
        "WHERE R.c1 = S.c0 AND R.c0 < S.c1 AND S.c1 < T.c0 GROUP BY ALL"
    ),
    "Q(b) <- R(a, b), S(b, c), T(d), a != c, c <= d": (
        "SELECT R.c1, count(*) FROM R, S, T WHERE R.c1 = S.c0 AND R.c0 <> S.c1 AND S.c1 <= T.c0 GROUP BY ALL"
    ),
    "Q(a, d) <- R(a, b), S(b, c), T(d), a < c, c < d": (
        "SELECT R.c0, T.c0, count(*) FROM R, S, T "
        "WHERE R.c1 = S.c0 AND R.c0 < S.c1 AND S.c1 < T.c0 GROUP BY ALL"
    ),
    "Q(a, c, e) <- R(a, b), S(c, e), a < c, b > e, a + b > c": (
        "SELECT R.c0, S.c0, S.c1, count(*) FROM R, S "
        "WHERE R.c0 < S.c0 AND R.c1 > S.c1 AND R.c0 + R.c1 > S.c0 GROUP BY ALL"
    ),
}


@pytest.mark.parametrize("rule", SQL)
def test_duckdb_gives_the_same(rule: str) -> None:
    rng = np.random.default_rng(len(rule))
    view = cer_gpu.maintain(rule)
    names = [name for name in "RST" if f"{name}(" in rule]
    held: dict[str, list[tuple[int, ...]]] = {name: [] for name in names}
    for step in range(4):
        for name in names:
            width = 1 if name == "T" else 2
            new = rng.integers(0, 40, (60, width))
            if name != "T":
                new[:, 1 if name == "R" else 0] //= 8
            gone = rng.permutation(len(held[name]))[: 20 * step]
            rows = [row for n, row in enumerate(held[name]) if n not in set(gone.tolist())]
            deletes = {name: _table([held[name][n] for n in gone], width)} if len(gone) else {}
            view.update(inserts={name: _table(new.tolist(), width)}, deletes=deletes)
            held[name] = [*rows, *map(tuple, new.tolist())]
    connection = duckdb.connect()
    for name, rows in held.items():
        connection.register(name, _table(rows, len(rows[0])))
    wanted = Counter({row[:-1]: row[-1] for row in connection.sql(SQL[rule]).fetchall()})
    assert listed(view.enumerate()) == wanted
    assert view.count() == wanted.total()


def _table(rows: Any, width: int) -> pa.Table:
    return pa.table({f"c{n}": pa.array([row[n] for row in rows], pa.int64()) for n in range(width)})
