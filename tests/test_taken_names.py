"""Columns of the data that are named like columns of results: nothing changes but the names."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import spark_sessions

import cer_gpu as cer
from cer_gpu.backtesting.row_groups import COLUMNS
from cer_gpu.output import write_matches, write_rows

NAMES = (
    *sorted(COLUMNS),
    *("start", "end", "start_time", "end_time", "position", "latest_start", "count", "time", "positions"),
    *("match", "variable", "row", "source", "value", "duration", "number", "outcome", "sample", "late", "p"),
    *(
        "step",
        "pattern",
        "without",
        "died",
        "note",
        "change",
        "new_hits",
        "values",
        "a",
        "A",
        "type_",
    ),
)
"""Names of columns that results and tables on the way to them have, and of variables and parameters."""

TEXT = (
    "SELECT *, b.v - a.v AS gain WHERE A AS a ; B AS b FILTER a[v > $p] PARTITION BY {key}, other WITHIN 9 s"
)
ASK: dict[str, Any] = {"order_by": "ts", "order_unit": "s"}


def parameters(names: Sequence[str], part: int) -> list[Any]:
    """Names of which one of so many runs by default."""
    return [
        pytest.param(name, marks=[pytest.mark.large] * (number % part > 0))
        for number, name in enumerate(names)
    ]


def events(key: str) -> pa.Table:
    rng = np.random.default_rng(8)
    n = 120
    return pa.table(
        {
            "type": pa.array(rng.choice(["A", "B"], n)),
            "ts": np.arange(n) // 2,
            "v": rng.integers(0, 9, n).astype(float),
            "other": rng.integers(0, 2, n),
            key: pa.array(rng.choice(["x", "y", "z"], n)),
        }
    )


def query(key: str) -> cer.Query:
    return cer.compile(TEXT.format(key=f"`{key}`"), {"p": 2.0})


def same(found: pa.Table, wanted: pa.Table) -> None:
    """The same columns under any names, of which none is there twice."""
    names = found.schema.names
    assert len(set(names)) == len(names)
    assert [column.to_pylist() for column in found.columns] == [
        column.to_pylist() for column in wanted.columns
    ]


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_a_key_with_any_other_name(name: str) -> None:
    plain, taken = (events("key"), query("key")), (events(name), query(name))
    for method in ("run", "counts", "hits"):
        one, other = (getattr(asked, method)(table, **ASK) for table, asked in (plain, taken))
        same(*(found.to_arrow() if method == "run" else found for found in (other, one)))
    wanted, found = (asked.run(table, **ASK) for table, asked in (plain, taken))
    assert [repr(one) for one in found] == [repr(one) for one in wanted]
    same(
        found.events().read_all() if hasattr(found.events(), "read_all") else found.events(), wanted.events()
    )
    assert found.to_pandas().shape == wanted.to_pandas().shape
    for form in ("csv", "jsonl"):
        sinks = io.BytesIO(), io.BytesIO()
        for sink, matches in zip(sinks, (wanted, found), strict=True):
            write_matches(matches, form, sink)
        lines = [sink.getvalue().decode().splitlines() for sink in sinks]
        if form == "csv":
            lines = [one[1:] for one in lines]
        else:
            assert all(len(json.loads(line)) == len(json.loads(lines[0][0])) for line in lines[1])
            lines = [[str(_bare(json.loads(line))) for line in one] for one in lines]
        assert lines[0] == lines[1]
    sink = io.BytesIO()
    write_rows(taken[1].hits(taken[0], **ASK).to_reader(), "jsonl", sink)
    assert len(json.loads(sink.getvalue().splitlines()[0])) == 5


def _bare(value: Any) -> Any:
    """The values of an object without their names."""
    return [_bare(one) for one in value.values()] if isinstance(value, dict) else value


BY: tuple[Any, ...] = ("key", ["key", "other"], ["other", "key"], ["10 s", "key"])


def backtests(run: Any, table: pa.Table, key: str, by: Any) -> list[pa.Table]:
    """All tables of a backtest by a key."""
    by = key if by == "key" else [key if one == "key" else one for one in by]
    swept = cer.sweep(TEXT.format(key=f"`{key}`"), p=[1.0, 4.0])
    alone = f"SELECT *, b.v AS gain WHERE A AS a ; B AS b PARTITION BY other, `{key}` WITHIN 9 s"
    more = {
        "outcomes": {"later": "AFTER 3 EVENTS (v) - v"},
        "funnel": True,
        "starts": True,
        "durations": True,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = run({"swept": swept}, table, by=by, **more, **ASK)
        two = run({"a": alone, "b": alone.replace(" ; ", " : ")}, table, by=by, starts=True, **ASK)
    plots = one.diff(one), two.diff(two)
    found = [one.to_arrow(), one.outcomes, one.funnel, two.to_arrow(), *plots]
    return [*found, *([] if one.outcome_hits is None else [one.outcome_hits])]


@pytest.mark.parametrize("name", parameters(NAMES, 4))
def test_backtests_by_a_key_are_those_of_a_key_with_any_other_name(name: str) -> None:
    for by in BY:
        wanted = backtests(cer.backtest, events("key"), "key", by)
        found = backtests(cer.backtest, events(name), name, by)
        assert len(found[0]) > 4
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        assert (f"{name}_" if name in COLUMNS else name) in found[0].schema.names


def test_keys_that_meet_after_they_were_named_anew_stay_apart() -> None:
    table = events("hits").append_column("hits_", pa.array(np.arange(120) % 2))
    text = "SELECT * WHERE A ; B PARTITION BY hits_, hits WITHIN 9 s"
    found = cer.backtest({"q": text}, table, by=["hits", "hits_"], **ASK).to_arrow()
    assert found.schema.names[:3] == ["query", "hits_", "hits__"]
    assert set(found["hits_"].to_pylist()) == {"x", "y", "z"}
    assert set(found["hits__"].to_pylist()) == {0, 1}


def test_a_key_is_not_taken_for_the_one_with_alternatives() -> None:
    table = events("k").append_column("j", pa.array([None, 1] * 60)).append_column("i", pa.array([1, 2] * 60))
    text = "SELECT * WHERE A ; B PARTITION BY [i], [i, j] WITHIN 9 s"
    found = cer.backtest({"q": text}, table, by="i", **ASK).to_arrow()
    assert set(found["i"].to_pylist()) <= {1, 2}
    assert sum(found["matches"].to_pylist()) == cer.compile(text).count(table, **ASK)


@spark_sessions.GROUP
@pytest.mark.parametrize(
    "name",
    parameters(["hits", "query", "position", "time", "number", "start", "count", "outcome"], 7),
)
def test_the_same_on_spark(spark: Any, name: str) -> None:
    from cer_gpu import spark as cer_spark

    def run(queries: Any, table: pa.Table, **keywords: Any) -> Any:
        frame = spark.createDataFrame(table)
        return cer_spark.backtest(frame, queries, ties="any", rows=len(table), **keywords)

    wanted = backtests(run, events("key"), "key", ["key", "other"])
    found = backtests(run, events(name), name, ["key", "other"])
    for one, other in zip(found, wanted, strict=True):
        same(one, other)
    local = backtests(cer.backtest, events(name), name, ["key", "other"])
    assert [one.schema.names for one in found] == [one.schema.names for one in local]
    for method in ("run", "counts", "hits"):
        answers = getattr(cer_spark, method)
        one, other = (
            answers(spark.createDataFrame(events(key)), query(key), ties="any", **ASK).toArrow()
            for key in (name, "key")
        )
        assert len(set(one.schema.names)) == one.num_columns
        assert sorted(map(str, zip(*(column.to_pylist() for column in one.columns)))) == sorted(
            map(str, zip(*(column.to_pylist() for column in other.columns)))
        )
