"""Numbers of days beside times, as Oracle and others have them, in measures and in conditions."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

import cer_gpu as cer

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

START = datetime(2024, 2, 28, 22)
TABLE = pa.table(
    {
        "d": [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 2), date(2024, 3, 9)],
        "ts": [START + timedelta(minutes=minutes) for minutes in (0, 50, 61, 600)],
        "n": [1, 2, 3, 4],
    }
)


def row(measure: str, condition: str, dialect: str | None) -> dict[str, object]:
    clause = f"ORDER BY n MEASURES COUNT(*) AS n, {measure} AS m PATTERN (a+) DEFINE a AS {condition}"
    rows = cer.match_recognize(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", dialect=dialect, t=TABLE)
    return rows.to_arrow().to_pylist()[0]


@pytest.mark.parametrize("dialect", ["oracle", "snowflake", "duckdb", "postgres"])
def test_a_date_minus_a_date_is_days(dialect: str) -> None:
    assert row("LAST(d) - FIRST(d)", "d - FIRST(d) < 4", dialect) == {"n": 3, "m": 3}
    assert row("LAST(d) - FIRST(d)", "n = 1 OR d - PREV(d) = 1", dialect) == {"n": 2, "m": 1}


@pytest.mark.parametrize("dialect", [None, "trino", "spark"])
def test_elsewhere_it_is_an_interval(dialect: str | None) -> None:
    found = row("LAST(d) - FIRST(d)", "d - FIRST(d) < INTERVAL '4' DAY", dialect)
    assert found == {"n": 3, "m": timedelta(days=3)}


@pytest.mark.parametrize("hour", ["1/24", "60/1440", "(30+30)/(24*60)", "2/24-1/24"])
def test_numbers_beside_times_are_days_in_oracle(hour: str) -> None:
    assert row(f"FIRST(ts) + {hour}", f"ts < FIRST(ts) + {hour}", "oracle") == {
        "n": 2,
        "m": START + timedelta(hours=1),
    }
    assert row(f"LAST(ts) - {hour}", f"n = 1 OR ts - ({hour}) < PREV(ts)", "oracle")["n"] == 3


def test_numbers_stay_numbers() -> None:
    assert row("LAST(n) - 1/2", "n - FIRST(n) < 1 + 1", "oracle") == {"n": 2, "m": 1.5}


def test_days_of_a_column_are_refused() -> None:
    with pytest.raises(cer.QueryError, match="NUMTODSINTERVAL"):
        row("ts + n", "n > 0", "oracle")
    with pytest.raises(cer.QueryError, match="CER030"):
        row("ts + 1/24", "n > 0", "duckdb")
