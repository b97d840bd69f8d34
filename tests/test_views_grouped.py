"""Aggregates over views, and snapshots of views."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from processes import started
from random_views import apply, random_deletes, random_rows, table
from test_views_random import listed
from view_oracle import Database, answers

import cer_gpu
from cer_gpu.engine.views.aggregation import GroupFold
from cer_gpu.errors import CerError, DataError, QueryError
from cer_gpu.language.parser import parse
from cer_gpu.language.tree import Rule
from cer_gpu.views import JoinView, ViewAnswers

FOLDED = "count(*), sum(v)::BIGINT, min(v), max(w), avg(w), min(t), count(w)"
RULE = "Q({}; COUNT(*), SUM(v), MIN(v), MAX(w), AVG(w), MIN(t)) <- R(b, v, t), S(b, c, w), v < c"


def rows_of(found: ViewAnswers) -> set[tuple[Any, ...]]:
    """The rows of groups; floats are shown short, and are summed exactly (they are multiples of 1 / 64)."""
    return {
        tuple(float(f"{value:.9g}") if isinstance(value, float) else value for value in row.values())
        for row in found.to_arrow().to_pylist()
    }


@pytest.mark.parametrize("head", ["b", "b, c", ""])
def test_duckdb_folds_the_same_groups(head: str) -> None:
    rng = np.random.default_rng(len(head))
    view = cer_gpu.maintain(RULE.format(head))
    connection = duckdb.connect()
    held: dict[str, list[pa.Table]] = {"R": [], "S": []}
    before: set[tuple[Any, ...]] = set()
    for step in range(5):
        deletes = {name: tables.pop(0) for name, tables in held.items() if step in (2, 4)}
        count = 30
        r = {
            "b": rng.integers(0, 4, count),
            "v": pa.array(rng.integers(-9, 9, count), mask=rng.random(count) < 0.1),
            "t": rng.choice(["x", "é", "Z", "ab"], count),
        }
        w = pa.array(np.round(rng.normal(size=count) * 64) / 64, mask=rng.random(count) < 0.3)
        s = {"b": rng.integers(0, 4, count), "c": rng.integers(-5, 5, count), "w": w}
        new = {"R": pa.table(r), "S": pa.table(s)}
        view.update(inserts=new, deletes=deletes)
        for name, tables in held.items():
            tables.append(new[name])
            connection.register(name, pa.concat_tables(tables))
        named = f"{head.replace('b', 'R.b')}, " if head else ""
        wanted = connection.sql(
            f"SELECT {named} count(*), sum(v)::BIGINT, min(v), max(w), avg(w), min(t) FROM R, S "
            f"WHERE R.b = S.b AND v < c {'GROUP BY ALL' if head else ''}"
        ).fetchall()
        rounded = {tuple(float(f"{x:.9g}") if isinstance(x, float) else x for x in row) for row in wanted}
        found = rows_of(view.enumerate())
        assert found == {(*row, 1) for row in rounded}
        changes = rows_of(view.delta())
        assert {row[:-1] for row in changes if row[-1] == 1} == rounded - before
        assert {row[:-1] for row in changes if row[-1] == -1} >= before - rounded
        before = rounded


FOLDING = {"COUNT": len, "SUM": sum, "MIN": min, "MAX": max, "AVG": lambda values: sum(values) / len(values)}


def folded(head: str, aggregates: list[str], database: Database, body: str) -> set[tuple[Any, ...]]:
    """Groups by the definition: all answers over all variables are folded."""
    rule = parse(f"Q(k, a, b, c, d) <- {body}")
    assert isinstance(rule, Rule)
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {} if head else {(): []}
    for row, times in answers(rule, database).items():
        values = dict(zip("kabcd", row))
        key = tuple(values[name] for name in head.split(", ") if name)
        groups.setdefault(key, []).extend([values] * times)
    found = set()
    for key, rows in groups.items():
        made: list[Any] = []
        for aggregate in aggregates:
            function, name = aggregate[:-1].split("(")
            some = [row.get(name, 0) for row in rows if row.get(name, 0) is not None]
            made.append(FOLDING[function](some) if some or function == "COUNT" else None)
        found.add((*key, *(float(f"{one:.9g}") if isinstance(one, float) else one for one in made)))
    return found


@pytest.mark.draws("seed", 30)
def test_groups_are_kept_from_batch_to_batch(seed: int) -> None:
    """Asked for after some batches and not after others; of each tree, and as a view made anew has them."""
    rng = Random(f"groups {seed}")
    body = "R(k, a, b), S(k, c), T(k, d), a < c"
    head = rng.choice(["", "k", "k, c", "a, d", "d"])
    every = ["COUNT(*)", *(f"{f}({v})" for f in ("SUM", "MIN", "MAX", "AVG") for v in "abcd")]
    aggregates = rng.sample(every, rng.randint(1, 5))
    view = cer_gpu.maintain(f"Q({head}; {', '.join(aggregates)}) <- {body}")
    kinds = {"R": ["int", "int", "float"], "S": ["int", "int"], "T": ["int", "int"]}
    database: Database = {name: Counter() for name in kinds}
    for step in range(9):
        before = folded(head, aggregates, database, body)
        inserts, deletes = {}, {}
        for name, columns in kinds.items():
            if step == 0 or rng.random() < 0.4:
                rows = random_rows(rng, columns, rng.randint(0, 12 if step else 20))
                apply(database, name, rows, 1)
                inserts[name] = table(rows, columns)
            if rng.random() < 0.4:
                rows = random_deletes(rng, database[name], 5)
                apply(database, name, rows, -1)
                deletes[name] = table(rows, columns)
        view.update(inserts=inserts, deletes=deletes)
        wanted = folded(head, aggregates, database, body)
        if rng.random() < 0.5:
            assert rows_of(view.enumerate()) == {(*row, 1) for row in wanted}
        if rng.random() < 0.5 and step:
            changes = {(*row, -1) for row in before - wanted} | {(*row, 1) for row in wanted - before}
            assert rows_of(view.delta()) == changes
        if rng.random() < 0.2:
            assert rows_of(JoinView.restore(view.snapshot()).enumerate()) == {(*row, 1) for row in wanted}


def test_only_the_groups_that_a_batch_changes_are_folded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    view = cer_gpu.maintain("Q(k; SUM(v), MAX(w)) <- R(k, v), S(k, w)")
    keys, values = np.repeat(np.arange(50), 20), np.arange(1000)
    view.update(inserts={"R": pa.table({"k": keys, "v": values}), "S": pa.table({"k": keys, "w": values})})
    assert len(view.enumerate().to_arrow()) == 50
    folding, given = GroupFold.groups, []

    def counted(self: GroupFold, columns: Any, counts: np.ndarray) -> Any:
        given.append(len(counts))
        return folding(self, columns, counts)

    monkeypatch.setattr(GroupFold, "groups", counted)
    view.insert("R", pa.table({"k": [3], "v": [7]}))
    (row,) = (one for one in view.enumerate().to_arrow().to_pylist() if one["k"] == 3)
    # 20 values of `w` in as many answers as there are values of `v`, and not 400 answers over both.
    assert (row["SUM(v)"], row["MAX(w)"]) == (20 * (sum(range(60, 80)) + 7), 79)
    assert given == [21, 20]
    view.delete("S", pa.table({"k": [3], "w": [79]}))
    found = {one["multiplicity"]: one["MAX(w)"] for one in view.delta().to_arrow().to_pylist()}
    assert found == {-1: 79, 1: 78}
    reading = iter(view.enumerate().batches(10))
    next(reading)
    view.insert("R", pa.table({"k": [3], "v": [8]}))
    with pytest.raises(CerError, match="was updated while"):
        next(reading)


def test_without_rows_there_is_one_group_where_the_head_is_empty() -> None:
    view = cer_gpu.maintain("Q(; COUNT(*), SUM(v), MAX(v - a), AVG(d)) <- R(a), S(v, d), a < v")
    empty = pa.table({"v": pa.array([], pa.int64()), "d": pa.array([], pa.duration("s"))})
    view.insert("R", pa.table({"a": [1]}))
    view.insert("S", empty)
    assert rows_of(view.enumerate()) == {(0, None, None, None, 1)}
    view.insert("S", pa.table({"v": [3, 4, None], "d": pa.array([2, 4, 9], pa.duration("s"))}))
    (row,) = view.enumerate().to_arrow().to_pylist()
    assert list(row) == ["COUNT(*)", "SUM(v)", "MAX(v - a)", "AVG(d)", "multiplicity"]
    assert (row["COUNT(*)"], row["SUM(v)"], row["MAX(v - a)"]) == (2, 7, 3)
    assert row["AVG(d)"].total_seconds() == 3


@pytest.mark.parametrize(
    ("aggregate", "what"),
    [("SUM(t)", "cannot be applied to a string"), ("MIN(f)", "no order"), ("SUM(t + a)", "t")],
)
def test_aggregates_of_the_wrong_type(aggregate: str, what: str) -> None:
    view = cer_gpu.maintain(f"Q(; {aggregate}) <- R(a, t, f)")
    with pytest.raises(QueryError, match=what):
        view.insert("R", pa.table({"a": [1], "t": ["x"], "f": [True]}))


# --------------------------------------------------------------------------------- snapshots


def test_a_snapshot_gives_the_same_view(tmp_path: Path) -> None:
    view = cer_gpu.maintain("Q(x, t) <- R(x, z), S(key = z, t = t), x < 3")
    view.insert("R", pa.table({"x": [1, 1, 2, None], "z": ["p", "p", "q", "q"]}))
    early = JoinView.restore(view.snapshot())
    times = pa.array([0, 10**6], pa.timestamp("us", "UTC"))
    s = pa.table({"other": [1, 2], "key": ["p", "q"], "t": times})
    for one in (view, early):
        one.insert("S", s)
    path = tmp_path / "view.snapshot"
    view.snapshot(path)
    late = JoinView.restore(path)
    assert late.rule == view.rule
    assert listed(late.delta()) == {}
    for one in (early, late):
        assert listed(one.enumerate()) == listed(view.enumerate())
        assert one.enumerate().to_arrow().schema == view.enumerate().to_arrow().schema
    for one in (view, early, late):
        one.delete("R", pa.table({"x": [1], "z": ["p"]}))
        assert one.count() == 2
        with pytest.raises(DataError, match="it has no such rows"):
            one.delete("S", s.slice(0, 1).set_column(1, "key", pa.array(["r"])))


def test_what_is_no_snapshot_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(b"abc")
    with pytest.raises(DataError, match=r"file .*other does not hold the snapshot"):
        JoinView.restore(path)
    data = cer_gpu.maintain("Q(x) <- R(x)").snapshot()
    with pytest.raises(DataError, match="does not hold the snapshot"):
        JoinView.restore(data[: len(data) // 2])


KILLED = """
import os, signal, sys
import pyarrow as pa
import cer_gpu
from cer_gpu.views import JoinView
path = sys.argv[1]
batches = [{"R": pa.table({"a": [n, n + 1]}), "S": pa.table({"b": [n + 1]})} for n in range(6)]
if os.path.exists(path):
    view, start = JoinView.restore(path), int(open(path + ".next").read())
else:
    view, start = cer_gpu.maintain("Q(a, b) <- R(a), S(b), a < b"), 0
for number in range(start, len(batches)):
    view.update(inserts=batches[number])
    if start == 0 and number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    view.snapshot(path)
    open(path + ".next", "w").write(str(number + 1))
print(view.count(), sorted(map(str, view.enumerate().to_arrow().to_pylist())))
"""


def test_a_killed_process_goes_on_from_its_last_snapshot(tmp_path: Path) -> None:
    def run(name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", KILLED, os.fspath(tmp_path / name)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("killed").returncode == -signal.SIGKILL
    resumed = run("killed")
    assert resumed.returncode == 0, resumed.stderr
    script = KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "pass")
    whole = subprocess.run(
        [sys.executable, "-c", script, os.fspath(tmp_path / "whole")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert resumed.stdout == whole.stdout


WITHOUT_END = """
import sys
from itertools import count
import pyarrow as pa
import cer_gpu
view = cer_gpu.maintain("Q(a, b) <- R(a), S(b), a < b")
for number in count():
    rows = {"R": pa.table({"a": [number] * 3000}), "S": pa.table({"b": [number + 1]})}
    view.update(inserts=rows)
    view.snapshot(sys.argv[1])
    print(number, flush=True)
"""


@pytest.mark.parametrize("seen", [1, 3])
def test_a_process_that_is_killed_at_any_moment_leaves_a_whole_snapshot(tmp_path: Path, seen: int) -> None:
    path = tmp_path / "view"
    command = [sys.executable, "-c", WITHOUT_END, os.fspath(path)]
    with started(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(seen):
            assert process.stdout.readline()
        process.kill()
    assert process.returncode == -signal.SIGKILL
    view = JoinView.restore(path)
    # The S of batch n joins 3,000 rows of R for each of 1 .. n, so the number says which batch was the last.
    batches = next(n for n in range(1, 10_000) if 3000 * n * (n + 1) // 2 >= view.count())
    assert batches >= seen
    assert view.count() == 3000 * batches * (batches + 1) // 2
    again = cer_gpu.maintain("Q(a, b) <- R(a), S(b), a < b")
    for one, first in ((again, 0), (view, batches)):
        for number in range(first, batches + 1):
            rows = {"R": pa.table({"a": [number] * 3000}), "S": pa.table({"b": [number + 1]})}
            one.update(inserts=rows)
    assert listed(view.enumerate()) == listed(again.enumerate())
