"""Aggregates of measures beyond COUNT, SUM, MIN, MAX and AVG, and what dialects mean by them."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.rows import fold_values

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

TABLE = pa.table(
    {
        "n": [1, 2, 3, 4, 5],
        "v": pa.array([2, None, 7, 7, 4]),
        "s": pa.array(["b", "a", None, "a", "c"]),
        "f": pa.array([0.5, 1.5, math.nan, None, 2.5]),
        "d": pa.array(["x", "y", "x", "x", None]).dictionary_encode(),
        "p": pa.array([{"q": 1}, {"q": 2}, None, {"q": 4}, {"q": 5}]),
    }
)


def one(measure: str, dialect: str | None = None, table: pa.Table = TABLE) -> object:
    """A measure of the one match that all rows are."""
    sql = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES {measure} AS m PATTERN (a+))"
    return cer.match_recognize(sql, dialect=dialect, t=table).to_arrow()["m"].to_pylist()[0]


def running(measure: str) -> list[object]:
    """A measure at each row of that match."""
    rows = "ALL ROWS PER MATCH"
    sql = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES {measure} AS m {rows} PATTERN (a+))"
    return cer.match_recognize(sql, t=TABLE).to_arrow()["m"].to_pylist()


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("ARRAY_AGG(v)", [2, None, 7, 7, 4]),
        ("ARRAY_AGG(DISTINCT v)", [2, 7, 4]),
        ("ARRAY_AGG(v + n)", [3, None, 10, 11, 9]),
        ("ARRAY_AGG(CLASSIFIER())", ["A"] * 5),
        ("ARRAY_AGG(d)", ["x", "y", "x", "x", None]),
        ("ARRAY_AGG(p)", [{"q": 1}, {"q": 2}, None, {"q": 4}, {"q": 5}]),
        ("LISTAGG(s)", "baac"),
        ("STRING_AGG(s, '-')", "b-a-a-c"),
        ("STRING_AGG(DISTINCT d, '-')", "x-y"),
        ("ANY_VALUE(s)", "b"),
        ("MAX_BY(n, v)", 3),
        ("MIN_BY(s, v)", "b"),
        ("MAX_BY(n, f)", 3),
        ("MIN_BY(n, f)", 1),
        ("MAX_BY(s, s)", "c"),
        ("VAR_POP(v)", 4.5),
        ("VARIANCE(v)", 6.0),
        ("STDDEV(v)", math.sqrt(6.0)),
        ("STDDEV_POP(v)", math.sqrt(4.5)),
        ("BOOL_AND(n < 5)", False),
        ("BOOL_OR(v > 6)", True),
        ("COUNT_IF(v > 6)", 2),
    ],
)
def test_of_a_whole_match(measure: str, value: object) -> None:
    assert one(measure) == value


def test_up_to_each_row() -> None:
    assert running("ARRAY_AGG(v)") == [[2], [2, None], [2, None, 7], [2, None, 7, 7], [2, None, 7, 7, 4]]
    assert running("FINAL ARRAY_AGG(v)") == [[2, None, 7, 7, 4]] * 5
    assert running("LISTAGG(s, ',')") == ["b", "b,a", "b,a", "b,a,a", "b,a,a,c"]
    assert running("MAX_BY(n, v)") == [1, 1, 3, 3, 3]
    assert running("VARIANCE(v)")[:3] == [None, None, 12.5]
    assert running("ANY_VALUE(f)") == [0.5] * 5


def test_over_no_rows_they_are_null() -> None:
    none = ("ARRAY_AGG", "LISTAGG", "ANY_VALUE", "STDDEV", "VAR_POP")
    measures = ", ".join(f"{name}(b.s) AS m{at}" for at, name in enumerate(none[:3]))
    measures += ", STDDEV(b.v) AS m3, VAR_POP(b.v) AS m4, MAX_BY(b.v, b.n) AS m5"
    sql = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES {measures} PATTERN (a b?) DEFINE b AS v < 0)"
    rows = cer.match_recognize(sql, t=TABLE).to_arrow().to_pylist()
    assert rows[0] == {f"m{at}": None for at in range(6)}


def test_dialects_mean_different_things() -> None:
    assert one("ARRAY_AGG(v)", "snowflake") == [2, 7, 7, 4]
    assert one("COLLECT_LIST(v)", "spark") == [2, 7, 7, 4]
    assert one("ARRAY_AGG(v)", "trino") == [2, None, 7, 7, 4]
    alone = TABLE.slice(0, 1)
    assert one("STDDEV(v)", "oracle", alone) == 0.0
    assert one("STDDEV(v)", "trino", alone) is None
    assert one("STDDEV_SAMP(v)", "oracle", alone) is None
    assert one("AVG(n * 2 + v - v)", "flink") == 6
    assert isinstance(one("AVG(v)", "flink"), int)
    assert one("AVG(0 - v)", "flink") == -5
    assert one("AVG(v)", "trino") == 5.0
    assert one("AVG(f)", "flink", TABLE.slice(0, 2)) == 1.0


def test_conditions_have_the_average_of_their_dialect() -> None:
    table = pa.table({"n": [1, 2, 3], "v": [1, 2, 9]})
    clause = "ORDER BY n MEASURES COUNT(*) AS m PATTERN (a+) DEFINE a AS AVG(v) <= 1"
    sql = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    counts = [
        cer.match_recognize(sql, dialect=dialect, t=table).to_arrow()["m"].to_pylist()
        for dialect in ("flink", "trino")
    ]
    assert counts == [[2], [1]]


def test_in_conditions_they_are_refused() -> None:
    sql = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n PATTERN (a+) DEFINE a AS STDDEV(v) < 3)"
    with pytest.raises(cer.QueryError, match="STDDEV can be a measure, and not in DEFINE"):
        cer.match_recognize(sql, t=TABLE)


def test_values_that_do_not_fit_are_refused() -> None:
    for measure, said in (
        ("STDDEV(s)", "the sample deviation of values of type string"),
        ("LISTAGG(v)", "the text of values of type int64"),
        ("MAX_BY(v, p)", "the row of values of type"),
    ):
        with pytest.raises(cer.QueryError, match=f"CER117.*{said}"):
            one(measure)


def test_lists_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_values, "MOST_VALUES", 14)
    with pytest.raises(cer.LimitError, match="would have 15 values together: write FINAL"):
        running("ARRAY_AGG(v)")
    assert one("ARRAY_AGG(v)") == [2, None, 7, 7, 4]
