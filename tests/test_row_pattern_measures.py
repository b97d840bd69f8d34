"""Aggregates in MEASURES: which rows they compute, and values that 64 bits do not hold."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal, localcontext
from random import Random

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.reference.row_pattern_matches import folded

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

FUNCTIONS = ("SUM", "AVG", "MIN", "MAX")


def answer(body: str, **columns: pa.Array) -> pa.Table:
    """The answer of a clause over a table of some columns."""
    sql = f"SELECT * FROM t MATCH_RECOGNIZE ({body})"
    return cer.match_recognize(sql, t=pa.table(columns)).to_arrow()


def running(measure: str, values: pa.Array) -> list[object]:
    """A measure at each row of the one match that all values are."""
    body = f"MEASURES {measure} AS m ALL ROWS PER MATCH PATTERN (a+)"
    return answer(body, v=values)["m"].to_pylist()


def test_an_aggregate_computes_the_rows_of_its_variable_alone() -> None:
    """The text of b is no number, and the row of c has the divisor zero."""
    body = """ORDER BY n MEASURES SUM(CAST(a.v AS INT)) AS s, COUNT(b.v) AS t, SUM(a.n / (a.n - 3)) AS q
        {} PER MATCH PATTERN (a b a c) DEFINE a AS a.v <> 'abc', b AS b.v = 'abc'"""
    columns = {"v": pa.array(["1", "abc", "4", "x"]), "n": pa.array([1, 2, 4, 5])}
    one = answer(body.format("ONE ROW"), **columns)
    assert one.to_pylist() == [{"s": 5, "t": 1, "q": 3.5}]
    every = answer(body.format("ALL ROWS"), **columns)
    assert every["s"].to_pylist() == [1, 1, 5, 5]
    assert every["t"].to_pylist() == [0, 1, 1, 1]
    with pytest.raises(cer.DataError, match="cannot become a whole number"):
        answer(body.replace("a.v AS INT", "v AS INT").format("ONE ROW"), **columns)


def test_aggregates_of_several_matches_by_variable() -> None:
    """Rows of two variables by turns; each match has its own, and the second has no `b`."""
    body = """ORDER BY n MEASURES SUM(b.n) AS s, MIN(b.n) AS least, COUNT(b.*) AS c, COUNT(*) AS rows,
        FINAL MAX(b.n) AS most, COUNT(DISTINCT b.n % 2) AS parities
        ALL ROWS PER MATCH PATTERN (a b*) DEFINE b AS b.n % 10 <> 0"""
    found = answer(body, n=pa.array([1, 2, 3, 10, 20, 21, 23]))
    assert found["n"].to_pylist() == [1, 2, 3, 10, 20, 21, 23]
    assert found["s"].to_pylist() == [None, 2, 5, None, None, 21, 44]
    assert found["least"].to_pylist() == [None, 2, 2, None, None, 21, 21]
    assert found["c"].to_pylist() == [0, 1, 2, 0, 0, 1, 2]
    assert found["rows"].to_pylist() == [1, 2, 3, 1, 1, 2, 3]
    assert found["most"].to_pylist() == [3, 3, 3, None, 23, 23, 23]
    assert found["parities"].to_pylist() == [0, 1, 2, 0, 0, 1, 1]


def random_decimals(rng: Random, digits: int, scale: int, count: int) -> list[Decimal | None]:
    """Decimals of up to so many digits, and nulls."""
    return [
        None if rng.random() < 0.2 else Decimal(f"{rng.randrange(-(10**digits) + 1, 10**digits)}e-{scale}")
        for _ in range(count)
    ]


def exact_sum(values: list[Decimal]) -> Decimal:
    """The sum of decimals, of more digits than Python computes with otherwise."""
    with localcontext(prec=60):
        return sum(values, Decimal(0))


@pytest.mark.parametrize("digits", [5, 17, 18, 19, 25, 30, 36])
@pytest.mark.parametrize("scale", [0, 3])
def test_decimals_of_any_size(digits: int, scale: int) -> None:
    values = random_decimals(Random(100 * digits + scale), digits, scale, 40)
    kind = pa.decimal128(38, scale)
    array = pa.concat_arrays([pa.array([None], kind), pa.array(values, kind)]).slice(1)
    found = {name: running(f"{name}(v)", array) for name in FUNCTIONS}
    for stop in range(1, len(values) + 1):
        seen = [value for value in values[:stop] if value is not None]
        if not seen:
            assert [found[name][stop - 1] for name in FUNCTIONS] == [None] * 4
            continue
        total = exact_sum(seen)
        assert found["SUM"][stop - 1] == total
        assert math.isclose(found["AVG"][stop - 1], float(total) / len(seen), rel_tol=1e-13)
        assert found["MIN"][stop - 1] == min(seen)
        assert found["MAX"][stop - 1] == max(seen)


@pytest.mark.parametrize("kind", [pa.decimal128(38, 2), pa.decimal256(60, 2), pa.decimal128(12, 2)])
def test_sums_of_decimals_keep_their_type(kind: pa.DataType) -> None:
    values = pa.array([Decimal("1.50"), Decimal("-2.25"), None], kind)
    found = answer("MEASURES SUM(v) AS s, MIN(v) AS low, MAX(v) AS high PATTERN (a+)", v=values)
    assert found.schema.types == [pa.decimal128(38, 2), kind, kind]
    assert found.to_pylist() == [{"s": Decimal("-0.75"), "low": Decimal("-2.25"), "high": Decimal("1.50")}]


@pytest.mark.parametrize("scale", [-2, 30, 38])
def test_decimals_of_any_scale(scale: int) -> None:
    one = Decimal(f"1e{-scale}")
    values = pa.array([3 * one, None, -one, 4 * one], pa.decimal128(5 if scale < 0 else 38, scale))
    assert running("SUM(v)", values) == [3 * one, 3 * one, 2 * one, 6 * one]
    assert running("AVG(v)", values) == pytest.approx([float(count * one) for count in (3, 3, 1, 2)])
    assert running("MIN(v)", values) == [3 * one, 3 * one, -one, -one]
    assert running("MAX(v)", values) == [3 * one, 3 * one, 3 * one, 4 * one]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_beyond_38_digits_is_an_error(sign: int) -> None:
    most = sign * (10**38 - 1)
    kind = pa.decimal128(38, 0)
    message = r"SUM of the column `?v`? in MEASURES does not fit 38 digits"
    for values in ([most, sign], [most, most], [most] * 40):
        with pytest.raises(cer.DataError, match=message):
            running("SUM(v)", pa.array(map(Decimal, values), kind))
    between = pa.array(map(Decimal, [most, sign, -sign]), kind)
    body = "MEASURES SUM(v) AS m {} PATTERN (a+)"
    assert answer(body.format("ONE ROW PER MATCH"), v=between)["m"].to_pylist() == [Decimal(most)]
    with pytest.raises(cer.DataError, match="AVG of the column"):
        running("AVG(v)", pa.array(map(Decimal, [most, sign]), kind))


def test_decimals_of_256_bits_beyond_38_digits() -> None:
    large = Decimal(10) ** 50
    values = pa.array([Decimal(3), large, -large], pa.decimal256(60, 0))
    assert running("MIN(v)", values) == [3, 3, -large]
    assert running("MAX(v)", values) == [3, large, large]
    with pytest.raises(cer.DataError, match="does not fit 38 digits"):
        running("SUM(v)", values)


def test_unsigned_numbers_beyond_63_bits() -> None:
    most = 2**64 - 1
    values = pa.array([2**63, 5, most, None], pa.uint64())
    assert running("MIN(v)", values) == [2**63, 5, 5, 5]
    assert running("MAX(v)", values) == [2**63, 2**63, most, most]
    assert running("COUNT(DISTINCT v)", values) == [1, 2, 3, 3]
    means = [float(2**63), (2**63 + 5) / 2, (2**63 + 5 + most) / 3, (2**63 + 5 + most) / 3]
    assert running("AVG(v)", values) == pytest.approx(means, rel=1e-15)
    with pytest.raises(cer.DataError, match=r"SUM of the column `?v`? in MEASURES does not fit 64 bits"):
        running("SUM(v)", values)
    with pytest.raises(cer.DataError, match="beyond 64 bits with a sign"):
        running("SUM(v + 1)", values)
    assert running("SUM(v)", pa.array([3, None, 4], pa.uint64())) == [3, 3, 7]


def test_sums_of_whole_numbers_and_intervals() -> None:
    """Only the sum of an answer has to fit, not those on the way; means never fail for their sum."""
    numbers = pa.array([2**62, 2**62, -(2**62)])
    body = "MEASURES SUM(v) AS s, AVG(v) AS m PATTERN (a+)"
    assert answer(body, v=numbers).to_pylist() == [{"s": 2**62, "m": 2**62 / 3}]
    with pytest.raises(cer.DataError, match="does not fit 64 bits"):
        running("SUM(v)", numbers)
    assert running("AVG(v)", pa.array([-(2**63)] * 3)) == [-(2.0**63)] * 3
    assert running("SUM(v)", pa.array([-(2**63), 1, 2**63 - 1])) == [-(2**63), -(2**63) + 1, 0]
    times = pa.array([2**62, 2**62, -(2**62)], pa.duration("s"))
    for function in ("SUM", "AVG"):
        with pytest.raises(cer.DataError, match=rf"{function} of the column `?v`? .* EXTRACT\(EPOCH"):
            running(f"{function}(v)", times)
    short = pa.array([timedelta(seconds=one) for one in (1, -4, 2)], pa.duration("s"))
    assert running("SUM(v)", short) == [timedelta(seconds=one) for one in (1, -3, -1)]
    assert running("AVG(v)", short) == [timedelta(seconds=one) for one in (1, -1, 0)]


def test_nan_is_greater_than_all_numbers() -> None:
    """In any order of the rows, and in the reference too."""
    rng, nan = Random(4), math.nan
    for _ in range(20):
        values = [nan, 2.0, math.inf, -1.0]
        rng.shuffle(values)
        assert running("MIN(v)", pa.array(values))[-1] == folded("min", values) == -1.0
        assert math.isnan(running("MAX(v)", pa.array(values))[-1])
        assert math.isnan(folded("max", values))
    assert math.isnan(running("MIN(v)", pa.array([nan, nan], pa.float32()))[-1])
    assert running("MIN(v)", pa.array([nan, 1.5], pa.float32()))[-1] == 1.5


def test_zeros_of_either_sign_are_one_value() -> None:
    assert running("COUNT(DISTINCT v)", pa.array([0.0, -0.0, 1.0])) == [1, 1, 2]


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["b", "a", None, "c"], pa.string_view()),
        pa.array(["b", "a", None, "c"]).dictionary_encode(),
        pa.array(["b", "a", None, "c"], pa.large_string()),
    ],
)
def test_least_and_greatest_texts(values: pa.Array) -> None:
    assert running("MIN(v)", values) == ["b", "a", "a", "a"]
    assert running("MAX(v)", values) == ["b", "b", "b", "c"]
    assert running("COUNT(DISTINCT v)", values) == [1, 2, 2, 3]


def test_least_and_greatest_bytes() -> None:
    for kind in (pa.binary(), pa.large_binary(), pa.binary(1)):
        values = pa.array([b"\xff", b"\x01", None], kind)
        assert running("MIN(v)", values) == [b"\xff", b"\x01", b"\x01"]
        assert running("MAX(v)", values) == [b"\xff"] * 3
        assert running("COUNT(DISTINCT v)", values) == [1, 2, 2]


@pytest.mark.parametrize("values", [pa.array([[1], [2]]), pa.array([{"x": 1}, {"x": 2}])])
def test_values_without_an_order_are_refused(values: pa.Array) -> None:
    for measure, name in (
        ("MAX(v)", "MAX"),
        ("MIN(a.v)", "MIN"),
        ("SUM(v)", "SUM"),
        ("COUNT(DISTINCT v)", r"COUNT\(DISTINCT \.\.\.\)"),
    ):
        with pytest.raises(cer.QueryError, match=rf"CER117.*{name} of values of type") as error:
            running(measure, values)
        assert f"MEASURES {measure}" in str(error.value)
        assert "^" * len(measure) in str(error.value)
    assert running("COUNT(v)", values) == [1, 2]


def test_intervals_of_months_can_be_told_apart_alone() -> None:
    values = pa.array([(1, 2, 3), (0, 0, 1), (1, 2, 3)], pa.month_day_nano_interval())
    assert running("COUNT(DISTINCT v)", values) == [1, 2, 2]
    with pytest.raises(cer.QueryError, match=r"CER117.*MIN of values of type"):
        running("MIN(v)", values)
