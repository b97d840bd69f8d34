"""Conditions on the match so far: numbers beyond 64 bits, budgets, what is remembered."""

import operator
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.rows import search

BIG = 2 * 10**18
COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "<>": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


def rows_of(condition: str, **columns: object) -> list[int]:
    """The sizes of the matches of `a b*`, b with a condition, over rows in their order."""
    count = len(next(iter(columns.values())))  # type: ignore[arg-type]
    table = pa.table({"i": range(count), **columns})
    sql = f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY i MEASURES COUNT(*) AS n
        PATTERN (a b*) DEFINE b AS {condition})"""
    return cer.match_recognize(sql, t=table).to_arrow()["n"].to_pylist()


@pytest.mark.parametrize(
    ("condition", "sizes"),
    [
        ("FIRST(x) < 10 AND FIRST(x) * x > 0", [1, 1, 1]),
        ("FIRST(x) * x > 0 AND FIRST(x) < 10", [1, 1, 1]),
        ("FIRST(x) > 10 OR FIRST(x) * x > 0", [3]),
        ("LAST(n, 1) > 0 AND FIRST(x) * x > 0", [1, 1, 1]),
        ("CASE WHEN FIRST(x) < 10 THEN FIRST(x) * x ELSE FIRST(x) END > 0", [3]),
        ("COALESCE(FIRST(x), FIRST(x) * x) > 0", [3]),
        ("FIRST(x) * x * FIRST(n) IS NULL", [3]),
        ("FIRST(x) + x > 0", [3]),
        ("FIRST(x) + x > 0.5", [3]),
        ("FIRST(x) + x <= 0.5", [1, 1, 1]),
        ("FIRST(x) = d", [1, 1, 1]),
        ("FIRST(x) <> d", [3]),
        ("COUNT(*) < 2 AND SUM(x) > 0", [1, 1, 1]),
    ],
)
def test_numbers_beyond_64_bits_matter_where_a_condition_depends_on_them(
    condition: str, sizes: list[int]
) -> None:
    tenths = pa.array([Decimal("1.55555")] * 3, pa.decimal128(18, 5))
    assert rows_of(condition, x=[BIG] * 3, n=pa.nulls(3, pa.int64()), d=tenths) == sizes


@pytest.mark.parametrize(
    "condition",
    ["FIRST(x) * x > 0", "NOT (FIRST(x) * x > 0)", "FIRST(x) * x IS NULL", "x > 9 AND SUM(x) > 0"],
)
def test_conditions_that_depend_on_numbers_beyond_64_bits_are_errors(condition: str) -> None:
    with pytest.raises(cer.DataError, match="does not fit 64 bits"):
        rows_of(condition, x=[BIG] * 6)


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        (3037000500, 3037000500, False),
        (3037000499, 3037000499, True),
        (-(2**62), 2, True),
        (2**62, 2, False),
        (7 * 73 * 127 * 337, (2**63 - 1) // (7 * 73 * 127 * 337), True),
        (2**62, 2**62, False),
        (-(2**63), 1, True),
    ],
)
def test_products_are_checked_exactly(one: int, other: int, fits: bool) -> None:
    if fits:
        assert rows_of(f"FIRST(x) * y = {one * other}", x=[one] * 2, y=[other] * 2) == [2]
    else:
        with pytest.raises(cer.DataError, match="does not fit 64 bits"):
            rows_of("FIRST(x) * y > 0", x=[one] * 2, y=[other] * 2)


def test_a_sum_that_comes_back_into_64_bits_is_right() -> None:
    values = [2**62, 2**62, 2**62, -(2**62), -(2**62)]
    assert rows_of(f"COUNT(*) IN (2, 3, 4) OR SUM(x) = {2**62}", x=values) == [5]


@pytest.mark.parametrize("number", [7, 2**62, -(2**62), 0, -7, 10**15])
def test_numbers_of_different_units_are_compared_exactly(number: int) -> None:
    places = [Decimal(number % 10**15) + Decimal(step) / 10 for step in (-1, 0, 1)]
    for place in places:
        column = pa.array([place] * 2, pa.decimal128(18, 1))
        for sign, holds in COMPARED.items():
            assert rows_of(f"FIRST(x) {sign} d", x=[number] * 2, d=column)[0] == 1 + holds(number, place)
            assert rows_of(f"FIRST(d) {sign} x", x=[number] * 2, d=column)[0] == 1 + holds(place, number)


def test_units_too_small_for_64_bits_are_told() -> None:
    fine = pa.array([Decimal(0)] * 2, pa.decimal128(38, 20))
    with pytest.raises(cer.QueryError, match=r"(?s)does not fit 64 bits.*\^\^\^\^.*CAST"):
        rows_of("FIRST(x) = d", x=[1] * 2, d=fine)
    coarse = pa.array([Decimal(1)] * 2, pa.decimal128(10, 1))
    with pytest.raises(
        cer.QueryError, match=r"(?s)12345678901234567890.5 does not fit 64 bits.*\^\^\^\^.*CAST"
    ):
        rows_of("FIRST(d) + d < 12345678901234567890.5", d=coarse)


def test_all_starts_have_a_budget_together(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY i MEASURES COUNT(*) AS n
        PATTERN (a+ b) DEFINE a AS SUM(a.x) >= 0, b AS SUM(a.x) = -1)"""
    table = pa.table({"i": range(2_000), "x": np.ones(2_000, np.int64)})
    monkeypatch.setattr(search, "BUDGET", 100_000)
    with pytest.raises(cer.LimitError, match="all starts of matches together more than 500,000 rows"):
        cer.match_recognize(sql, t=table).to_arrow()
    assert cer.match_recognize(sql, t=table.slice(0, 200)).to_arrow().num_rows == 0


def test_rows_of_matches_do_not_count_for_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BUDGET", 5_000)
    monkeypatch.setattr(search, "BUDGET_BY_ROWS", 1)
    sql = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY i MEASURES COUNT(*) AS n AFTER MATCH SKIP TO NEXT ROW
        PATTERN (a+) DEFINE a AS SUM(a.x) > 0)"""
    table = pa.table({"i": range(600), "x": np.ones(600, np.int64)})
    assert cer.match_recognize(sql, t=table).to_arrow().num_rows == 600


def test_what_has_failed_is_kept_when_room_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some 5,000 choices fail, of which 512 have room at first: each is tried once or twice."""
    monkeypatch.setattr(search, "BUDGET", 12_000)
    table = pa.table({"i": range(70), "x": np.ones(70, np.int64)})
    sql = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY i MEASURES COUNT(*) AS n
        PATTERN ((a | b)* c) DEFINE a AS x > 0, b AS x > 0, c AS COUNT(a.*) > 100)"""
    assert cer.match_recognize(sql, t=table).to_arrow().num_rows == 0


def test_the_hint_shows_the_function_of_the_statement() -> None:
    with pytest.raises(cer.QueryError, match=r"LAST\(REPLACE\(a\.price\)\)"):
        rows_of("REPLACE(FIRST(s), 'a', b.s) = 'x'", s=["a", "b"])
