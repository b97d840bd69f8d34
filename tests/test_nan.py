"""NaN as a missing value or as a number (`nan_is_null`), and the note where an answer depends on it."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.cli import status_of

NAN = float("nan")
CONDITIONS = {
    "v IS NULL": lambda v: v is None,
    "NOT (v IS NULL)": lambda v: v is not None,
    "COALESCE(v, 7) = 7": lambda v: v is None or v == 7,
    "v != 5": lambda v: v is not None and v == v and v != 5,
    "NOT (v > 1)": lambda v: not (v is not None and v > 1),
    "GREATEST(v, w) > 2": lambda v: v is None or (v == v and v > 2),
}


def events(values: list[float | None]) -> pa.Table:
    """One event for each value; `w` is 2.5 where there is none, so that GREATEST is above 2."""
    other = [2.5 if value is None else 0.0 for value in values]
    return pa.table(
        {
            "type": ["A"] * len(values),
            "ts": list(range(len(values))),
            "v": pa.array(values, pa.float64()),
            "w": other,
        }
    )


def containers(table: pa.Table, folder: Path) -> dict[str, Any]:
    """The same events in all that may hold them; NaN in pandas is missing unless one says otherwise."""
    pq.write_table(table, folder / "events.parquet")
    half = len(table) // 2
    frame = pd.DataFrame({name: table[name].to_numpy() for name in ("type", "ts", "v", "w")})
    return {
        "table": table,
        "reader": lambda: table.to_reader(3),
        "iterator": lambda: iter(table.to_batches(max_chunksize=2)),
        "list": [table[:half], table[half:]],
        "dict": {"A": table.drop_columns("type")},
        "polars": pl.DataFrame(table),
        "parquet": str(folder / "events.parquet"),
        "sorted": table.take(pa.array(np.arange(len(table))[::-1])),
        "pandas": frame,
        "pandas list": [frame[:half], frame[half:]],
    }


def starts(text: str, given: Any, name: str, **keywords: Any) -> list[int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        query = cer.compile(f"SELECT * WHERE A AS a FILTER a[{text}]")
        asked = {"order_by": "ts", "sort": name == "sorted", **keywords}
        found = [one.start for one in query.run(given() if callable(given) else given, **asked)]
        again = given() if callable(given) else given
        assert query.count(again, **asked) == len(found)
        return found


@pytest.mark.parametrize("text", CONDITIONS)
@pytest.mark.draws("seed", 12)
def test_every_container_says_the_same(text: str, seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    values = [rng.choice([None, NAN, 1.0, 5.0, 7.0]) for _ in range(8)]
    holds = CONDITIONS[text]
    for name, given in containers(events(values), tmp_path).items():
        numbers = [place for place, value in enumerate(values) if holds(value)]
        nulls = [
            place
            for place, value in enumerate(values)
            if holds(None if value is None or value != value else value)
        ]
        if "GREATEST" in text:  # there `w` differs between a null and a NaN
            nulls = [
                place for place, value in enumerate(values) if value is None or (value == value and value > 2)
            ]
        if "pandas" in name and "GREATEST" not in text:
            # NumPy has no other missing value: each is a NaN.
            numbers = [place for place, value in enumerate(values) if holds(NAN if value is None else value)]
        assert starts(text, given, name, nan_is_null=True) == nulls
        assert starts(text, given, name, nan_is_null=False) == numbers
        assert starts(text, given, name) == (nulls if "pandas" in name else numbers)


def notes(text: str, table: Any, **keywords: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = cer.compile(text).run(table, **keywords)
        list(found)
    told = [one for one in found.notes if "NaN" in one]
    assert told == [str(one.message) for one in said if "NaN" in str(one.message)]
    return told


DEPENDS = {
    "IS NULL": "SELECT * WHERE A AS a FILTER a[v IS NULL]",
    "COALESCE": "SELECT * WHERE A AS a FILTER a[COALESCE(v, 0) = 0]",
    "GREATEST": "SELECT GREATEST(a.v, a.w) AS most WHERE A AS a",
    "PARTITION BY": "SELECT * WHERE A AS a ; A AS b PARTITION BY v",
}
COMPARED = {
    "!=": "SELECT * WHERE A AS a FILTER a[v != 5]",
    "NOT": "SELECT * WHERE A AS a FILTER a[NOT (v > 5)]",
}


def test_a_note_where_the_answer_depends_on_it() -> None:
    table = events([1.0, NAN, None])
    for what, text in DEPENDS.items():
        assert notes(text, table) == [
            "the column `v` has NaN values, which are numbers and not missing values, and the result depends "
            f"on that ({what}): nan_is_null=True (--nan-is-null) reads NaN as a missing value, "
            "nan_is_null=False (--nan-is-number) as a number, without this note"
        ]
    for what, text in COMPARED.items():
        assert notes(text, table) == [
            "the column `v` has NaN values, and every comparison with NaN is false: != does not hold there, "
            f"and NOT (...) does ({what}); pass nan_is_null=False (--nan-is-number) if that is meant"
        ]
    for text in [*DEPENDS.values(), *COMPARED.values()]:
        assert notes(text, table, nan_is_null=True) == notes(text, table, nan_is_null=False) == []
        assert notes(text, events([1.0, 2.0, None])) == []  # nothing depends on NaN
        assert notes(text, events([1.0, math.inf, -math.inf])) == []
        assert notes(text, table.to_pandas()) == []  # NaN is missing there
    assert notes("SELECT * WHERE A AS a FILTER a[v > 5]", table) == []
    assert notes("SELECT * WHERE A AS a FILTER a[w != 5]", table) == []


def test_a_backtest_has_the_note_once() -> None:
    table = events([1.0, NAN, None])
    queries = {str(place): text for place, text in enumerate([*DEPENDS.values()][:2] * 2)}
    for given, wanted in ((None, 1), (True, 0), (False, 0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cer.backtest(queries, table, order_by="ts", nan_is_null=given)
        assert sum("the column `v` has NaN" in one for one in found.notes) == wanted


def test_what_is_returned_is_what_was_read() -> None:
    table = events([1.0, NAN, 3.0])
    query = cer.compile("SELECT a[v] WHERE A AS a")
    told = query.run(table, nan_is_null=True).to_arrow(flat=True)["a_v"]
    assert told.to_pylist() == [1.0, None, 3.0]
    assert query.run(table.to_pandas(), nan_is_null=False).to_arrow(flat=True)["a_v"].null_count == 0


def test_streams_and_what_else_reads_events() -> None:
    table = events([NAN, 1.0, None, NAN])
    query = cer.compile("SELECT * WHERE A AS a FILTER a[v IS NULL]")
    for given, wanted in ((None, [0, 0, 1, 0]), (False, [0, 0, 1, 0]), (True, [1, 0, 1, 1])):
        stream = query.stream(order_by="ts", nan_is_null=given)
        parts = [stream.push(table.slice(row, 1)) for row in range(3)]
        state = stream.snapshot()
        later = query.stream(order_by="ts", nan_is_null=given, state=state)
        assert [len(one) for one in [*parts, later.push(table.slice(3))]] == wanted
        other = {True: None}.get(given, True)
        with pytest.raises(cer.DataError, match="nan_is_null"):
            query.stream(order_by="ts", nan_is_null=other, state=state)
        how: dict[str, Any] = {"order_by": "ts", "nan_is_null": given}
        assert len(query.hits(table, **how)) == sum(query.counts(table, **how)["count"].to_pylist())
        assert cer.backtest(query, table, **how).to_arrow()["hits"].to_pylist() == [sum(wanted)]
        assert query.funnel(table, **how)["hits"][0].as_py() == sum(wanted)
    nested = pa.table({"type": ["A", "A"], "p": [{"v": NAN}, {"v": 1.0}]})
    inside = cer.compile("SELECT * WHERE A AS a FILTER a[`p.v` IS NULL]")
    assert (inside.count(nested), inside.count(nested, nan_is_null=True)) == (0, 1)


def test_what_nan_is_null_refuses() -> None:
    with pytest.raises(TypeError, match=r"nan_is_null must be True, False or None .*, not 'yes'"):
        cer.compile("SELECT * WHERE A").count(events([1.0]), nan_is_null="yes")


def test_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(events([NAN, 1.0, None]), tmp_path / "events.parquet")
    asked = ["count", "SELECT * WHERE A AS a FILTER a[v IS NULL]", str(tmp_path / "events.parquet")]
    assert status_of(asked) == 0
    told = capsys.readouterr()
    assert told.out == "1\n"
    assert "--nan-is-null" in told.err
    assert status_of([*asked, "--nan-is-null"]) == 0
    assert capsys.readouterr() == ("2\n", "")
    assert status_of([*asked, "--nan-is-number"]) == 0
    assert capsys.readouterr() == ("1\n", "")
