"""Parameters: a call with values gives what the query with these values in its text gives."""

from __future__ import annotations

import pickle
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import random_values
from engine_oracle import OPTIONS, expected, found
from generate import stream, stream_to_table
from typer.testing import CliRunner

import cer_gpu as cer
from cer_gpu import api
from cer_gpu.cli import app
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

CASES: list[tuple[str, dict[str, list[Any]]]] = [
    ("A AS x FILTER x[v > $p]", {"p": [3, 0, 12, 4.5, -1]}),
    ("A AS x ; B AS y FILTER x[v > $p AND v < $q] AND y[v >= 2 * $p - 3]", {"p": [1, 4], "q": [6, 9]}),
    ("A AS x : B AS y FILTER x.v > $p", {"p": [2, 7]}),
    ("A AS x FILTER x[v IN {1, $p, 4..$q}] OR x[v NOT IN {$p}]", {"p": [2, 9], "q": [5, 8]}),
    ("A AS x FILTER x[v IN RANGE ($p, $q)]", {"p": [2, 5], "q": [4, 9]}),
    ("A AS x FILTER x[s = $s] OR x[s > $t]", {"s": ["beta", ""], "t": ["beta", "delta"]}),
    ("A AS x FILTER x[s LIKE $s]", {"s": ["a$", "^b"]}),
    ("A AS x FILTER x[ABS(v - $p) <= 2 AND p < $p * 2]", {"p": [3, 5]}),
    ("A AS x FILTER x[v > PREV(v, $n)]", {"n": [1, 3]}),
    ("A {$n,$m} FILTER A[v > $p]", {"n": [1, 2], "m": [2, 4], "p": [1, 3]}),
    ("A AS x ; B AS y FILTER x[v > $p] WITHIN $w EVENTS", {"p": [1, 4], "w": [2, 5]}),
    (
        "A AS x ; B AS y FILTER x[v > $p * PREV(v)] WITHIN $w",
        {"p": [0.5, 1], "w": ["1 s", "3 EVENTS", "2500 ms"]},
    ),
    ("A AS x ; B AS y PARTITION BY [id] WITHIN $w SECONDS", {"w": [1, 2.5]}),
    ("A AS x FILTER x[ts - PREV(ts) > $g]", {"g": ["500 ms", "1 s"]}),
]


def texts(pattern: str, values: dict[str, Any]) -> str:
    """The query with values in it, as a person would write them."""
    for name, value in values.items():
        shown = str(value)
        if isinstance(value, str) and name in "st":
            shown = f"'{value}'"
        pattern = pattern.replace(f"${name}", shown)
    return f"SELECT * FROM S WHERE {pattern}"


@pytest.mark.parametrize(("pattern", "values"), CASES)
def test_values_that_come_with_the_call(pattern: str, values: dict[str, list[Any]]) -> None:
    rng = Random(pattern)
    table = stream_to_table(stream(rng, 60))
    query = cer.compile(f"SELECT * FROM S WHERE {pattern}")
    some = 0
    for _ in range(6):
        given = {name: rng.choice(choices) for name, choices in values.items()}
        written = cer.compile(texts(pattern, given))
        try:
            wanted = found(written.run(table, **OPTIONS))
        except cer.CerError:
            continue
        some += len(wanted)
        assert found(query.run(table, params=given, **OPTIONS)) == wanted, given
        assert query.count(table, params=given, **OPTIONS) == len(wanted)
        assert query.counts(table, params=given, **OPTIONS).equals(written.counts(table, **OPTIONS))
        with query.stream(params=given, **OPTIONS) as pushed:
            assert [row for at in range(0, 60, 7) for row in found(pushed.push(table.slice(at, 7)))] == wanted
        fixed = pickle.loads(pickle.dumps(cer.compile(query.text, params=given)))
        assert found(fixed.run(table, **OPTIONS)) == wanted
    assert some


def test_a_hundred_values_are_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    plan = api.plan

    def noting(*arguments: Any) -> Any:
        made.append(arguments)
        return plan(*arguments)

    monkeypatch.setattr(api, "plan", noting)
    table = stream_to_table(stream(Random(1), 50))
    pattern = "A AS x ; B AS y FILTER x[v > $p] AND y[s != $s]"
    query = cer.compile(f"SELECT * FROM S WHERE {pattern} WITHIN $w SECONDS")
    before = len(made)
    counts = [query.count(table, params={"p": p / 10, "s": "beta", "w": p}, **OPTIONS) for p in range(100)]
    assert len(made) == before + 1
    assert len(set(counts)) > 5
    shaped = cer.compile("SELECT * FROM S WHERE A {$n} FILTER A[v > $p]")
    before = len(made)
    for n in (1, 2, 1, 2, 1):
        for p in range(5):
            shaped.count(table, params={"n": n, "p": p}, **OPTIONS)
    assert len(made) == before + 2


def test_values_of_many_kinds() -> None:
    moment = datetime(2024, 1, 1, 0, 0, 3, tzinfo=UTC)
    times = pa.array([int(moment.timestamp()) - 3 + at for at in range(6)], pa.timestamp("s", "UTC"))
    table = pa.table({"type": ["A"] * 6, "ts": times, "v": range(6), "b": [True, False] * 3})

    def rows(condition: str, value: Any) -> list[int]:
        query = cer.compile(f"SELECT * FROM S WHERE A AS a FILTER a[{condition}]")
        return query.hits(table, order_by="ts", params={"x": value})["position"].to_pylist()

    for value in (
        moment,
        "2024-01-01T00:00:03",
        np.datetime64("2024-01-01T00:00:03"),
        "2024-01-01T01:00:03+01:00",
    ):
        assert rows("ts = $x", value) == [3]
    assert rows("v = $x", np.int32(4)) == rows("v = $x", 4.0) == [4]
    assert rows("b = $x", True) == [0, 2, 4]
    for value in (timedelta(seconds=1), "1 s", np.timedelta64(1000, "ms")):
        assert rows("ts - PREV(ts) <= $x AND v > 3", value) == [4, 5]
    for value in (timedelta(seconds=2), "2 s"):
        query = cer.compile("SELECT * FROM S WHERE A AS a ; A AS b WITHIN $w")
        assert query.count(table, order_by="ts", params={"w": value}) == 9


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, r"CER064\]: the parameter `\$p` has no value"),
        ({"p": 1, "n": 2, "q": 3}, r"CER065\]: the query has no parameter `\$q`"),
        ({"p": "abc", "n": 2}, "`v` is an int64 and `'abc'` is a string: they cannot be compared"),
        ({"p": [1], "n": 2}, r"CER066\]: the value of `\$p`, \[1\], does not fit its place"),
        ({"p": 1, "n": 0}, "a whole number of at least 1 is needed here"),
        ({"p": 1, "n": 2.5}, "a whole number of at least 1 is needed here"),
    ],
)
def test_values_that_do_not_fit(params: dict[str, Any], message: str) -> None:
    query = cer.compile("SELECT * FROM S WHERE A {$n,} FILTER A[v > $p]")
    with pytest.raises(cer.QueryError, match=message):
        query.count(pa.table({"type": ["A"], "v": [1]}), params=params)
    with pytest.raises(cer.QueryError, match=r"no parameter `\$z`"):
        cer.compile("SELECT * FROM S WHERE A", params={"z": 1})
    with pytest.raises(cer.QueryError, match=r"no parameter `\$z`"):
        cer.compile("SELECT * FROM S WHERE A").count(pa.table({"type": ["A"]}), params={"z": 1})


@pytest.mark.parametrize("clause", ["SUPPRESS FOR $w", "SUPPRESS FOR $w s", "WITHIN $w", "WITHIN $w SECONDS"])
@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1])
def test_a_length_is_a_finite_number(clause: str, value: float) -> None:
    query = cer.compile(f"SELECT * WHERE A {clause}")
    table = pa.table({"type": ["A"], "ts": [0]})
    with pytest.raises(cer.QueryError, match=r"CER066\]: the value of `\$w`, .*, does not fit its place"):
        query.count(table, order_by="ts", order_unit="s", params={"w": value})


def test_explain_says_what_a_value_changes() -> None:
    shown = cer.compile("SELECT * WHERE A {$n,} FILTER A[v > $p]", params={"p": 3}).explain(verbose=True)
    assert "$n: each value has a plan of its own" in shown
    assert "$p = 3: the plan serves all values" in shown


def test_the_shell_takes_values(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(pa.table({"type": ["A", "B", "A"], "v": [1, 5, 9], "s": ["10", "x", "10"]}), path)
    query = "SELECT * FROM S WHERE A AS a FILTER a[v > $p AND s = $s]"
    asked = ["count", query, str(path), "--param", "p=4", "--param", "s=10"]
    assert CliRunner().invoke(app, asked).stdout.strip() == "1"
    missing = CliRunner().invoke(app, ["count", query, str(path), "--param", "p=4"])
    assert "`$s` has no value" in str(missing.exception)
    assert CliRunner().invoke(app, ["count", query, str(path), "--param", "p"]).exit_code != 0


PLACES = (
    (r"(?<=[=<>] )\d+(?= (?:ms|s)\b)", "span"),
    (r"(?<=[=<>] )\d+(?![\d. ]*[a-z])", "number"),
    (r"(?<=[=<>] )'\w*'", "text"),
    (r"(?<=IN \{)\d+", "number"),
    (r"(?<=, )\d(?=\))", "distance"),
    (r"(?<=WITHIN )\d+", "number"),
)
"""Where a constant of `random_values` may come with the call."""


def drawn(rng: Random, kind: str) -> Any:
    if kind == "text":
        return rng.choice(("alpha", "BETA", "gamma", "", "delta"))
    if kind == "span":
        return f"{rng.choice((250, 500, 1000))}"
    return rng.randrange(1, 4) if kind == "distance" else rng.randrange(1, 8)


def asked(rng: Random, text: str) -> tuple[str, dict[str, str]]:
    """A query with parameters in the place of some constants, and of which kind each is."""
    kinds: dict[str, str] = {}

    def placed(kind: str, found: re.Match[str]) -> str:
        if rng.random() < 0.3:
            return found.group()
        name = f"p{len(kinds)}"
        kinds[name] = kind
        return f"${name}"

    for place, kind in PLACES:
        text = re.sub(place, partial(placed, kind), text)
    return re.sub(r"(\$p\d+) m?s\b", r"\1", text), kinds


def written(text: str, kinds: dict[str, str], values: dict[str, Any]) -> tree.SelectQuery:
    """The query with values in the places of its parameters."""

    def said(found: re.Match[str]) -> str:
        value = values[found[1]]
        return {"text": f"'{value}'", "span": f"{value} ms"}.get(kinds[found[1]], str(value))

    query = parse(re.sub(r"\$(p\d+)", said, text))
    assert isinstance(query, tree.SelectQuery)
    return query


@pytest.mark.draws("seed", 4)
def test_random_queries_with_values_agree_with_the_reference(seed: int) -> None:
    rng = Random(f"parameters {seed}")
    kinds_seen: set[str] = set()
    some = refused = 0
    for _ in range(40):
        text, kinds = asked(rng, random_values.query(rng))
        query = cer.compile(text)
        events = stream(rng, rng.randrange(4, 16))
        table = stream_to_table(events)
        for _ in range(2):
            given = {name: drawn(rng, kind) for name, kind in kinds.items()}
            params = {name: f"{one} ms" if kinds[name] == "span" else one for name, one in given.items()}
            plain = written(text, kinds, given)
            try:
                wanted = expected(plain, events)
                assert found(query.run(table, params=params or None, **OPTIONS)) == wanted, (text, params)
            except cer.QueryError as error:  # refused with the value in the text, too
                refused += 1
                with pytest.raises(type(error)):
                    cer.compile(to_text(plain)).run(table, **OPTIONS)
                continue
            assert query.count(table, params=params or None, **OPTIONS) == len(wanted)
            with query.stream(params=params or None, **OPTIONS) as pushed:
                assert [
                    row for at in range(0, 16, 3) for row in found(pushed.push(table.slice(at, 3)))
                ] == wanted
            some += len(wanted) > 0
            kinds_seen |= set(kinds.values())
    assert some >= 10
    assert refused <= 5
    assert len(kinds_seen) >= 3
