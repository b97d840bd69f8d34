"""Values that views compare: text by its order, decimals, whole numbers beside floats, several at once."""

from __future__ import annotations

import math
import operator
from collections import Counter
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from test_views_random import listed
from view_oracle import check_reducts

import cer_gpu
from cer_gpu.engine import labels
from cer_gpu.views import JoinView

OPS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
WHOLE = [0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 3, -(2**63) + 1, 7]
FLOATS = [0.0, 0.5, -1.0, 2.0**53, -(2.0**53), 2.0**62, 2.0**63, -(2.0**63), math.inf, -math.inf, 1e300, 6.9]


@pytest.mark.crossed
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("turned", [False, True])
def test_whole_numbers_beside_floats_are_compared_exactly(op: str, turned: bool) -> None:
    text = f"f {op} x" if turned else f"x {op} f"
    view = cer_gpu.maintain(f"Q(x, f) <- R(x), S(f), {text}")
    view.update(inserts={"R": pa.table({"x": WHOLE}), "S": pa.table({"f": [*FLOATS, math.nan]})})
    wanted = {(x, f): 1 for x, f in product(WHOLE, FLOATS) if (OPS[op](f, x) if turned else OPS[op](x, f))}
    assert listed(view.enumerate()) == wanted
    assert view.count() == len(wanted)


def test_a_constant_with_a_point_beside_whole_numbers() -> None:
    view = cer_gpu.maintain("Q(x) <- R(x), x < 9007199254740993.5, x >= 0.5")
    view.insert("R", pa.table({"x": [0, 1, 2**53 + 1, 2**53 + 2]}))
    assert listed(view.enumerate()) == {(1,): 1, (2**53 + 1,): 1}


@pytest.mark.parametrize("op", OPS)
def test_text_is_compared_by_its_order(op: str) -> None:
    rng = Random(op)
    words = ["", "a", "ab", "b", "é", "Z", "z", "zz", "\U0001f600"]
    view = cer_gpu.maintain(f"Q(a, b, n) <- R(a, n), S(b, n), a {op} b")
    held: dict[str, Counter[Any]] = {"R": Counter(), "S": Counter()}
    for step in range(6):
        new = {
            name: [(rng.choice(words) + rng.choice("xy"), rng.randint(0, 1)) for _ in range(4)]
            for name in held
        }
        gone = {name: rng.sample(list(rows.elements()), min(2, rows.total())) for name, rows in held.items()}
        tables = [
            {
                name: pa.table({column: [t for t, _ in rows], "n": [n for _, n in rows]})
                for (name, rows), column in zip(some.items(), "ab")
            }
            for some in (new, gone)
        ]
        view.update(inserts=tables[0], deletes=tables[1] if step else None)
        for name, rows in held.items():
            rows.update(new[name])
            rows.subtract(gone[name])
        wanted = Counter(
            {
                (a, b, n): held["R"][a, n] * held["S"][b, m]
                for (a, n), (b, m) in product(held["R"], held["S"])
                if n == m and OPS[op](a, b)
            }
        )
        assert listed(view.enumerate()) == +wanted


def test_rows_that_no_leaf_has_can_be_deleted_where_text_has_an_order() -> None:
    """The first batch numbers texts as they come; they are in order once all columns are known."""
    view = cer_gpu.maintain("Q(a) <- R(a, n), S(b), a < b, n < 5")
    first = {"R": pa.table({"a": ["z", "b", "a"], "n": [1, 1, 9]}), "S": pa.table({"b": ["y", "c"]})}
    view.update(inserts=first)
    assert listed(view.enumerate()) == {("b",): 2}
    view.delete("R", first["R"].slice(0, 2))
    assert listed(view.delta()) == {("b",): -2}
    view.delete("R", first["R"].slice(2))
    assert view.count() == 0


def test_texts_get_new_numbers_where_there_is_no_room_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    view = cer_gpu.maintain("Q(a, b) <- R(a), S(b), a <= b")
    view.update(inserts={"R": pa.table({"a": ["a", "z"]}), "S": pa.table({"b": ["z"]})})
    monkeypatch.setattr(labels, "APART", 4)
    words = ["z"]
    for _ in range(60):
        words.append("y" + words[-1])
        view.insert("S", pa.table({"b": [words[-1]]}))
        assert listed(view.delta()) == {("a", words[-1]): 1}
    for word in words:
        assert view.enumerate().to_arrow().num_rows == 62
        view.update(inserts={"S": pa.table({"b": [word]})}, deletes={"S": pa.table({"b": [word]})})
    assert listed(view.enumerate()) == {**{("a", word): 1 for word in words}, ("z", "z"): 1}
    again = JoinView.restore(view.snapshot())
    assert listed(again.enumerate()) == listed(view.enumerate())


def test_a_constant_text_has_an_order_too() -> None:
    view = cer_gpu.maintain("Q(a) <- R(a, b), S(b), a < 'm'")
    view.insert("R", pa.table({"a": ["b", "x", "l", "m"], "b": [1, 1, 1, 1]}))
    view.insert("S", pa.table({"b": [1]}))
    view.insert("R", pa.table({"a": ["a", "n"], "b": [1, 1]}))
    assert listed(view.enumerate()) == {("b",): 1, ("l",): 1, ("a",): 1}


def decimals(values: list[str | None], kind: pa.DataType) -> pa.Array:
    return pa.array([None if value is None else Decimal(value) for value in values], kind)


def test_decimals_join_compare_and_are_summed_exactly() -> None:
    view = cer_gpu.maintain("Q(p, q, x, f) <- R(k, p), S(k, q), T(x), U(f), p < q, q <= x, f < p")
    long = "12345678901234567890123456789.01"
    r = pa.table(
        {
            "k": decimals(["1.10", "2.00"], pa.decimal128(5, 2)),
            "p": decimals(["0.10", long], pa.decimal128(38, 2)),
        }
    )
    s = pa.table(
        {
            "k": decimals(["1.1", "2"], pa.decimal128(5, 1)),
            "q": decimals(["0.101", None], pa.decimal128(9, 3)),
        }
    )
    view.update(inserts={"R": r, "S": s, "T": pa.table({"x": [0, 1]}), "U": pa.table({"f": [0.1, 0.09]})})
    # The float 0.1 is a little above the decimal 0.10.
    assert listed(view.enumerate()) == {(Decimal("0.10"), Decimal("0.101"), 1, 0.09): 1}
    view.insert(
        "S",
        pa.table({"k": decimals(["2"], pa.decimal128(5, 1)), "q": decimals(["0.5"], pa.decimal128(9, 3))}),
    )
    assert listed(view.delta()) == {}
    folded = cer_gpu.maintain("Q(; SUM(p), MIN(p), MAX(p), AVG(p), COUNT(*)) <- R(p), p > 0.05")
    folded.insert("R", pa.table({"p": decimals(["0.05", "0.10", long, None], pa.decimal128(38, 2))}))
    (row,) = folded.enumerate().to_arrow().to_pylist()
    assert row["SUM(p)"] == Decimal("12345678901234567890123456789.11")
    assert (row["MIN(p)"], row["MAX(p)"], row["COUNT(*)"]) == (Decimal("0.10"), Decimal(long), 2)


SEVERAL = [
    "Q(a, b, c, d) <- R(a, b), S(c, d), a < c, b < d",
    "Q(k, a, b, c, d) <- R(k, a, b), S(k, c, d), a <= c, b > d",
    "Q(a, b) <- R(a, b), S(c, d), a = c, b >= d",
    "Q(k, a, b, c, d, e) <- R(k, a, b), S(k, c, d, e), a < c, b != d, a >= e",
    "Q(a, b, c, d, e) <- R(a, b), S(c, d), T(e), a + b < c, a <= d, d < e",
    "Q(c, d) <- R(a, b), S(c, d), T(e, f), a < c, b < d, e > c, f > d",
    "Q(a, b) <- R(a, b), S(c), a != c, b != c",
]


@pytest.mark.parametrize("text", SEVERAL)
def test_several_comparisons_between_two_relations(text: str) -> None:
    """Against DuckDB, which counts every answer, and by Definition 6."""
    rng = Random(text)
    view = cer_gpu.maintain(text)
    head, body = text[2:].split(") <- ")
    atoms = [part.strip(" ,") for part in body.split(")")][:-1]
    columns = {atom[0]: atom[2:].replace(" ", "").split(",") for atom in atoms}
    conditions = [part.strip() for part in body.rsplit(")", 1)[1].split(",") if part.strip()]
    first: dict[str, str] = {}
    for name, found in columns.items():
        for column in found:
            if column in first:
                conditions.append(f"{first[column]}.{column} = {name}.{column}")
            else:
                first[column] = name
    chosen = ", ".join(f"{first[name]}.{name}" for name in head.split(", "))
    sql = f"SELECT {chosen}, count(*) FROM {', '.join(columns)} WHERE {' AND '.join(conditions)} GROUP BY ALL"
    connection = duckdb.connect()
    held: dict[str, list[tuple[int, ...]]] = {name: [] for name in columns}
    for step in range(5):
        inserts, deletes = {}, {}
        for name, found in columns.items():
            new = [tuple(rng.randint(0, 6) for _ in found) for _ in range(30 if step in (0, 3) else 1)]
            gone = rng.sample(held[name], min(len(held[name]), step))
            for row in gone:
                held[name].remove(row)
            held[name] += new
            inserts[name], deletes[name] = table(new, found), table(gone, found)
        view.update(inserts=inserts, deletes=deletes)
        for name, found in columns.items():
            connection.register(name, table(held[name], found))
        wanted = {row[:-1]: row[-1] for row in connection.sql(sql).fetchall()}
        assert listed(view.enumerate()) == wanted
        assert view.count() == sum(wanted.values())
        for tree in view._kept.trees:
            check_reducts(tree)


def test_changes_beside_several_comparisons_are_listed() -> None:
    """What changes is beside the nodes that two comparisons join."""
    view = cer_gpu.maintain("Q(b, f, g) <- R(g), S(f), T(b), f >= g, f + 1 != g")
    s, t = pa.table({"f": [1.0, 2.0]}), pa.table({"b": [1]})
    view.update(inserts={"R": pa.table({"g": [1.0]}), "S": s, "T": t})
    for _ in range(2):
        view.insert("T", t)
        assert listed(view.delta()) == {(1, 1.0, 1.0): 1, (1, 2.0, 1.0): 1}


def table(rows: list[tuple[int, ...]], columns: list[str]) -> pa.Table:
    return pa.table({name: pa.array([row[n] for row in rows], pa.int64()) for n, name in enumerate(columns)})
