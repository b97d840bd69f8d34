"""The benchmarks at a small size, with their checks: that they run, and that a wrong answer stops them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from itertools import combinations, islice
from math import isfinite
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from spark_sessions import GROUP

import bench.backtest
import bench.joins
import bench.live
import bench.row_patterns
import bench.spark
import bench.views
from bench import answers, formula, join_rivals, pairs, sections, streams
from bench.__main__ import _named, main
from bench.cpu_seconds import Taken, measure_cpu, tree_seconds
from bench.figures import Target, WrongAnswerError, ratio, table
from bench.fresh import ChildError, in_fresh_process
from bench.measure import Times, measure
from bench.queries import KeyedSteps, ThreeSteps
from bench.rivals.asked import CannotError
from bench.sections import SECTIONS
from bench.sizes import Sizes
from bench.spark import FILE_QUERIES
from bench.spark_local import checksum

# A join by ranges compares each event with each: of few events in a fraction of a second.
SMALL = replace(
    Sizes(keyed_windows=(50_000,), runs=1).scaled(0.001), keyed=5000, joined=4000, recognized=(2000, 4000)
)


# `rivals` and `plain` start processes for engines; test_bench_rivals and test_bench_plain ask them in one.
# `growth` asks hundreds of questions, some of which say nothing; test_growth asks a few.
APART = ["rivals", "plain", "growth"]
SPARK = [name for name in SECTIONS if name.startswith("spark_")]
CHECKED = {"spark_prepared", "spark_rivals"}
"""Sections that run all that they measure once before, for its answer."""


LONG = (
    *("backtest", "join_rivals", "keyed", "streams_push", "views"),
    *("spark_cut", "spark_files", "spark_frames", "spark_live", "spark_prepared", "spark_rivals"),
)
"""Sections that take 4 seconds and more even with few events, so that they do not run by default."""


def parameters(names):
    return [pytest.param(name, marks=[pytest.mark.large] * (name in LONG)) for name in names]


@pytest.mark.parametrize("name", parameters(name for name in SECTIONS if name not in [*SPARK, *APART]))
def test_section(name, draws, monkeypatch):
    def some(many):
        return dict(islice(many.items(), len(draws(len(many)))))

    # Processes whose times alone differ tell a test nothing new; kernels are compiled anew elsewhere.
    asked = cache(in_fresh_process)
    monkeypatch.setattr(
        sections, "in_fresh_process", lambda module, given, limit, folder=None: asked(module, given, limit)
    )
    monkeypatch.setattr(bench.joins, "in_fresh_process", of_duckdb_here)
    monkeypatch.setattr(bench.backtest, "OTHERS", 20)
    monkeypatch.setattr(bench.joins, "WALKED", 20)
    # By default a third of the forms that list the same answers, and of the views whose memory is measured.
    monkeypatch.setattr(
        bench.joins, "FORMS", {engine: some(forms) for engine, forms in bench.joins.FORMS.items()}
    )
    monkeypatch.setattr(bench.views, "GROWING", some(bench.views.GROWING))
    monkeypatch.setattr(bench.row_patterns, "FlinkSql", not_installed)
    check_section(name)


def not_installed():
    """Flink, which takes seconds to start: `test_bench_row_patterns` asks it."""
    raise CannotError("it is not installed")


def of_duckdb_here(module, given, limit):
    """What a process prints for a form of a join; DuckDB is asked here, without a process to start."""
    if given[0] != "duckdb":
        return in_fresh_process(module, given, limit)
    printed = io.StringIO()
    with redirect_stdout(printed):
        join_rivals.main(*map(str, given))
    return json.loads(printed.getvalue())


@GROUP
@pytest.mark.parametrize("name", parameters(SPARK))
def test_section_of_spark(name, spark, monkeypatch):
    def measured(functions, runs, warm=0):
        if name in CHECKED:
            functions = {one: lambda: None for one in functions}
        return measure_cpu(functions, runs, 0)

    monkeypatch.setattr(bench.spark, "measure_cpu", measured)
    for constant, small in {"WARM": 1, "BATCHES": 2, "MINUTE": 3, "SLOW": 2000}.items():
        monkeypatch.setattr(bench.live, constant, small)
    monkeypatch.setattr(bench.spark, "FILE_QUERIES", {"run, keyed": FILE_QUERIES["run, keyed"]})
    check_section(name)
    assert spark.range(1).count() == 1


def check_section(name):
    figures = list(SECTIONS[name](SMALL))
    missing = {figure.note for figure in figures if figure.value is None}
    assert missing <= {"it is not installed", "its jars are not there"}
    values = [figure.value for figure in figures if figure.value is not None]
    assert values
    assert all(isfinite(value) and value > 0 for value in values)
    shown = io.StringIO()
    Console(file=shown, width=150).print(table(figures, "caption"))
    assert shown.getvalue().count(figures[0].section)
    assert (
        json.loads(json.dumps([figure.to_json() for figure in figures]))[0]["section"] == figures[0].section
    )


def test_command_writes_json(tmp_path, capsys):
    assert (
        main(["enumeration", "--scale", "0.0001", "--runs", "1", "--output", str(tmp_path / "x.json")]) == 0
    )
    assert "M complex events/s" in capsys.readouterr().out
    record = json.loads((tmp_path / "x.json").read_text())
    assert record["sizes"]["enumerated"] == 1000
    assert record["environment"]["numpy"] == np.__version__
    assert {"median", "min", "max", "runs"} == set(next(iter(record["figures"][0]["seconds"].values())))


def test_command_takes_the_beginning_of_names():
    assert _named("spark") == SPARK
    assert _named("hits") == ["hits"]
    assert _named("no_such") == []


def test_command_refuses_an_unknown_section(capsys):
    with pytest.raises(SystemExit):
        main(["no_such"])
    assert "no section no_such" in capsys.readouterr().err


@pytest.mark.draws("seed", 20)
def test_formulas_agree_with_all_triples(seed):
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 4, 30)
    within = int(rng.integers(1, 25))
    triples = [
        found
        for found in combinations(range(len(steps)), 3)
        if [steps[i] for i in found] == [0, 1, 2] and found[2] - found[0] <= within
    ]
    a, b, c = (np.flatnonzero(steps == step) for step in range(3))
    number = formula.counts(a, b, c, within)
    assert number.tolist() == [sum(found[2] == end for found in triples) for end in c.tolist()]
    ends, starts = formula.hits(a, b, c, within)
    latest = {found[2]: found[0] for found in sorted(triples, key=lambda found: found[0])}
    assert dict(zip(ends.tolist(), starts.tolist(), strict=True)) == latest


def test_a_stream_is_the_same_in_batches(monkeypatch):
    monkeypatch.setattr(streams, "BATCH", 64)
    whole = streams.make_table(200)
    parts = list(streams.batches(200, streams.COLUMNS))
    assert len(parts) == 4
    for name in streams.COLUMNS:
        joined = np.concatenate([part[name] for part in parts])
        assert streams.to_arrow(name, joined).equals(whole.column(name).chunk(0))
    again = streams.make_table(200, seed=streams.SEED + 1)
    assert not again.column("price").equals(whole.column("price"))


@pytest.mark.parametrize(
    ("make", "steps", "columns"),
    [
        (answers.hits, ThreeSteps(), ("type", "price")),
        (answers.counts, ThreeSteps(), ("type", "price")),
        (answers.enumeration, ThreeSteps(), ("type", "price")),
        (answers.keyed, KeyedSteps(50_000), ("type", "key", "ts")),
    ],
)
def test_a_wrong_answer_is_noticed(make, steps, columns, monkeypatch):
    events = streams.make_table(20_000, columns)
    make(steps, events)
    honest_counts, honest_hits = formula.counts, formula.hits
    # As if the engine had one complex event too few at the last end, and every start one too early.
    monkeypatch.setattr(formula, "counts", lambda *given: honest_counts(*given) + (given[2] == given[2][-1]))
    monkeypatch.setattr(formula, "hits", lambda *given: (honest_hits(*given)[0], honest_hits(*given)[1] + 1))
    with pytest.raises(WrongAnswerError):
        make(steps, events)


def test_a_repeated_or_false_row_is_noticed():
    steps = ThreeSteps()
    masks = tuple(np.ones(10, bool) for _ in range(3))

    def rows(*marks):
        columns = {"start": [row[0] for row in marks], "end": [row[2] for row in marks]}
        columns |= {name: [[row[at]] for row in marks] for at, name in enumerate("abc")}
        return [pa.RecordBatch.from_pydict(columns)]

    check = answers.checked_rows
    assert list(check(steps, masks, rows((0, 1, 2), (0, 1, 3), (0, 2, 3)))) == [3]
    for wrong in (
        rows((0, 1, 2), (0, 1, 2)),
        rows((0, 1, 3), (0, 1, 2)),
        rows((2, 1, 3)),
        [*rows((0, 1, 2)), *rows((0, 1, 2))],
    ):
        with pytest.raises(WrongAnswerError):
            list(check(steps, masks, wrong))
    with pytest.raises(WrongAnswerError):
        list(check(steps, (masks[0], ~masks[1], masks[2]), rows((0, 1, 2))))


def test_figures():
    assert Target(10).reached(10)
    assert not Target(10).reached(9.99)
    assert Target(1.5, most=True).reached(1.4)
    assert not Target(1.5, most=True).reached(1.5)
    ours, theirs = Times((1.0, 2.0, 3.0)), Times((30.0, 20.0, 10.0))
    figure = ratio("s", "c", ("ours", ours), ("theirs", theirs), 10)
    assert (figure.value, figure.reached) == (10.0, True)
    assert figure.low == pytest.approx(10 / 3)
    assert figure.high == pytest.approx(30.0)


def test_warm_up_is_not_measured():
    calls = []
    times = measure({"x": lambda: calls.append("x"), "y": lambda: calls.append("y")}, runs=2, warm=1)
    assert calls == ["x", "y"] * 3
    assert len(times["x"].seconds) == len(times["y"].seconds) == 2


def test_cpu_seconds_are_those_of_the_tree():
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    command = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    taken = measure_cpu(
        {
            "busy": lambda: subprocess.run([sys.executable, "-c", command], check=True),
            "idle": lambda: time.sleep(0.3),
        },
        runs=1,
        warm=0,
    )
    assert taken["busy"].cpu.median >= 0.28
    assert taken["idle"].cpu.median < 0.2 <= taken["idle"].clock.median
    assert Taken.of(taken["busy"].to_json()) == taken["busy"]


def test_cpu_seconds_of_a_living_child_and_its_children():
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint(1, flush=True)\ntime.sleep(60)"
    command = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])"
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, process_group=0) as child:
        try:
            assert child.stdout.readline() == b"1\n"
            assert 0.28 <= tree_seconds(child.pid) <= tree_seconds()
        finally:
            os.killpg(child.pid, signal.SIGKILL)


def test_checksums_tell_complex_events_apart():
    def of(*rows):
        columns = {"start": [row[0] for row in rows], "end": [row[2] for row in rows]}
        columns |= {name: [[row[at]] for row in rows] for at, name in enumerate("abc")}
        return checksum(pa.table(columns))

    known = of((0, 1, 2), (0, 2, 3))
    assert known == of((0, 2, 3), (0, 1, 2))
    assert len({known, of((0, 1, 2)), of((0, 1, 3), (0, 2, 2)), of((0, 1, 3), (0, 2, 3))}) == 4


def test_a_process_that_fails_or_hangs_is_reported():
    with pytest.raises(ChildError, match="no_such_measure"):
        in_fresh_process("bench.fresh", ("no_such_measure",), 60)
    with pytest.raises(TimeoutError):
        in_fresh_process("bench.fresh", ("import",), 0.001)


def test_a_checkout_beside_itself(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "pairs.json"
    asked = [
        "--scale",
        "0.001",
        "--runs",
        "1",
        "--fresh",
        "2",
        "--output",
        str(written),
        str(pairs.ROOT),
        "plain count",
        "join star",
    ]
    assert pairs.main(asked) in (0, 1)
    rows = json.loads(written.read_text())
    assert [row["question"] for row in rows] == ["plain count"] + [
        f"join star {product}" for product in ("hits", "count", "run")
    ]
    assert all(0 < row["lowest"] <= row["pairs"] <= row["highest"] for row in rows)
    assert "plain count" in capfd.readouterr().out


def test_checkouts_that_disagree_are_not_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Told:
        names = ("count",)

        def __init__(self, checkout: Path, scale: float) -> None:
            self._sum = 3 if checkout == pairs.ROOT else 4

        def asked(self, name: str, what: str) -> dict[str, int]:
            return {"sum": self._sum}

    monkeypatch.setattr(pairs, "Side", Told)
    (tmp_path / "cer_gpu").mkdir()
    with pytest.raises(SystemExit, match="count: here the answer is 3, there it is 4"):
        pairs.main([str(tmp_path)])
