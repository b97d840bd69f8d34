"""What rivals are asked: every engine that is installed counts what we count, on every workload."""

import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spark_sessions

from bench.__main__ import main as bench_main
from bench.figures import Figure, WrongAnswerError
from bench.fresh import ChildError
from bench.rivals import section, shown
from bench.rivals.asked import Answer, CannotError, below, high_water, open_command
from bench.rivals.brought import put, read, written
from bench.rivals.frames import open_pandas, open_polars
from bench.rivals.jvm import DRIVEN, is_kept
from bench.rivals.one import OPENERS, answered, open_brought, open_duckdb, open_ours, open_spark
from bench.rivals.questions import Joined, Many, Nearest, Neighbours, Ours, Sequence
from bench.rivals.section import flights, made
from bench.rivals.words import calls, epl, siddhi
from bench.rivals.worker import Workers
from bench.rivals.workloads import Workload, sequences, workloads
from bench.sections import SECTIONS
from bench.sizes import Brought, Sizes

RIVALS = [open_duckdb, open_polars, open_pandas]


@pytest.mark.parametrize("workload", workloads(), ids=lambda one: one.name)
def test_all_count_the_same(workload, tmp_path):
    path = str(tmp_path / "events.parquet")
    events = flights().slice(0, 50_000) if workload.flights else made(workload, 4000)
    pq.write_table(events, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a type that never occurs is one of the workloads
        counted = open_ours(path)(workload.question)
    question = workload.question
    if isinstance(question, Many):
        question = Many(question.questions[::20])
        counted = open_ours(path)(question)
    assert [opened(path)(question) for opened in RIVALS] == [counted] * len(RIVALS)


def test_a_question_is_written_for_each_engine():
    question = Sequence(("A", "B|C"), 10, True, ((0, 1),), above=5.0)
    assert question.ceql() == (
        "SELECT * WHERE (A) AS s0 ; (B OR C) AS s1 FILTER s0.price < s1.price AND s0[price > 5.0] "
        "PARTITION BY key WITHIN 10 [ts]"
    )
    assert "unnest([ts // 10 + 0, ts // 10 + -1]) AS cell" in question.sql("duckdb")
    assert "ARRAY JOIN [intDiv(ts, 10) + 0, intDiv(ts, 10) + -1] AS x" in question.sql("chdb")
    beside = Neighbours("", "price > {lag:price:2}", "rises")
    assert "lagInFrame(toNullable(price), 2) OVER" in beside.sql("chdb")
    assert beside.sql("duckdb").endswith("AS beside WHERE price > lag_price_2")


COMMAND = """
import json, sys
import duckdb
events = duckdb.connect()
events.execute("CREATE TABLE events AS SELECT * FROM read_parquet('" + sys.argv[1] + "')")
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["sql"] is None:
        print("cannot", "be asked", asked["ceql"], flush=True)
    else:
        print("answer", events.execute(asked["sql"]).fetchone()[0], 0.25, flush=True)
"""


def test_a_program_that_a_user_brings_is_asked(tmp_path):
    """It answers what is asked in SQL here, and says so where it cannot; its time is its own."""
    path, program = tmp_path / "events.parquet", tmp_path / "mine.py"
    program.write_text(COMMAND)
    number = [type(one.question) for one in workloads()].index(Neighbours)
    workload = workloads()[number]
    pq.write_table(made(workload, 3000), path)
    loaded, said = answered(f"command:{sys.executable} {program}", str(number), str(path), 2)
    assert loaded["load"] > 0
    assert said["number"] == open_ours(str(path))(workload.question) > 0
    assert said["seconds"] == [0.25, 0.25]
    assert said["peak"] > 1e6
    brought = Brought(str(tmp_path), "SELECT MAX * WHERE A ; B", "ts", "type")
    _, question = put(brought)
    _, said = answered(f"command:{sys.executable} {program}", written(brought, question), str(path), 2)
    assert said == {"cannot": "be asked SELECT MAX * WHERE A ; B"}


def test_the_memory_is_that_of_the_engine(tmp_path):
    """Not that of the process which asked for it, but with that of those below: Spark has a JVM."""
    path = tmp_path / "events.parquet"
    pq.write_table(made(workloads()[0], 1000), path)
    much = np.ones(200_000_000 // 8)
    with Workers() as workers:
        small = workers.ask("duckdb", 0, path, 1, 300)["peak"]
    assert much.nbytes < high_water(os.getpid())
    assert small < high_water(os.getpid())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in below(os.getpid())


def test_a_program_that_ends_early_is_told(tmp_path):
    with pytest.raises(CannotError, match="ended with status 3 before it said 'ready'"):
        open_command(f"{sys.executable} -c 'raise SystemExit(3)'", str(tmp_path / "none"))


def test_questions_as_statements_and_as_calls():
    question = Sequence(("A", "B|C"), 10, True, ((0, 1),), above=5.0)
    assert epl(question) == (
        "select 1 as one from pattern [every s0=E(type in ('A') and price > 5.0) -> (every s1=E(type in "
        "('B', 'C') and key = s0.key and price > s0.price)) where timer:within(11 msec)]"
    )
    assert calls(question) == "begin(A,above:5.0) any(B|C,rises:0) within:10 keyed"
    assert calls(Sequence(("A", "C"), 9, unless="B")) == "begin(A) not(B) any(C) within:9 whole"
    assert siddhi(question).startswith(
        "partition with (key of E) begin from every s0=E[(type == 'A') and price > 5.0] -> every s1=E["
    )
    with pytest.raises(CannotError, match="one pattern"):
        calls(Many((question,)))
    for lacking in (Nearest(("A", "B"), 9, ends=True), Sequence(("A", "C"), 9, between="B", longest=True)):
        for words in (epl, calls, siddhi):
            with pytest.raises(CannotError):
                words(lacking)
    assert epl(Joined(("A", "B"), None, 10)).startswith(
        "batches 10\tselect 1 as one from E(type = 'A')#keepall"
    )


BROUGHT = {
    "SELECT * WHERE A AS x ; (B OR C) AS y ; A AS z PARTITION BY user, shop WITHIN 2 s": True,
    "SELECT * WHERE A AS x ; B AS y FILTER x.size < y.size AND x[size > 0.5] PARTITION BY shop WITHIN 1 s": (
        True
    ),
    "SELECT * WHERE A ; B WITHIN 100 ms": True,
    "SELECT * WHERE A ; B": "no WITHIN of the time",
    "SELECT MAX * WHERE A ; B WITHIN 1 s": "a strategy",
    "SELECT * WHERE A + ; B WITHIN 1 s": "the operator Iteration",
    "SELECT * WHERE A AS x ; B AS y FILTER y[size > 0.3] WITHIN 1 s": "another step than the first",
}


@pytest.mark.parametrize("query", BROUGHT)
def test_a_folder_that_a_user_brings(query, tmp_path):
    """Times tie, and a key, a type and a size are missing now and then; what is not said alike says why."""
    random = np.random.default_rng(5)
    times = np.sort(random.integers(0, 400, 600)) * 100_000_000 + 10**18
    events = pa.table(
        {
            "when": pa.array(times).cast(pa.timestamp("ns")),
            "kind": pa.array(random.choice(["A", "B", "C", None], 600).tolist(), pa.string()),
            "user": pa.array(random.choice(["ann", "bob", None], 600).tolist(), pa.string()),
            "shop": random.integers(0, 2, 600),
            "size": pa.array(random.random(600), mask=random.random(600) < 0.1),
        }
    )
    for number in range(2):
        pq.write_table(events.slice(300 * number, 300), tmp_path / f"part-{number}.parquet")
    brought = Brought(str(tmp_path), query, "when", "kind")
    known, question = put(brought)
    assert read(written(brought, question)) == (brought, question)
    counted = open_brought(brought)(question)
    assert counted > 0
    if BROUGHT[query] is not True:
        assert isinstance(question, Ours)
        assert BROUGHT[query] in question.lacking
        assert known == events
        return
    (tmp_path / "known").mkdir()
    path = str(tmp_path / "known" / "events.parquet")
    pq.write_table(known, path)
    assert [opened(path)(question) for opened in RIVALS] == [counted] * len(RIVALS)


@pytest.mark.large
@spark_sessions.GROUP
def test_spark_sql_counts_the_same(spark, tmp_path):
    for workload in [one for one in workloads() if one.name.startswith(("(c)", "(d)"))]:
        path = str(tmp_path / f"{workload.name}.parquet")
        pq.write_table(made(replace(workload, keys=20), 2000), path)
        assert open_spark(path)(workload.question) == open_ours(path)(workload.question) > 0


SHORT = (
    *(
        "(a) 3 steps, WITHIN 50",
        "(a) alt",
        "(a) iteration",
        "(a) the next",
        "(a) strategy",
        "(b) 3 steps by key, 1,",
    ),
    *("(c)", "(d) without", "(e) join", "(f) 3 steps"),
)
"""Workloads that small events answer fast on the JVM."""


@pytest.mark.usefixtures("short_lived_java")
@pytest.mark.parametrize("engine", DRIVEN)
def test_engines_on_the_jvm_count_the_same(engine, tmp_path):
    if not is_kept(engine):
        pytest.skip(f"no jars of {engine}: `python -m bench --quick rivals` fetches them; it needs a JDK")
    path = str(tmp_path / "events.parquet")
    pq.write_table(made(Workload("", Ours("", ""), types=10, keys=20), 600), path)
    program, ours = OPENERS[engine](path), open_ours(path)
    asked = 0
    for workload in workloads():
        question = workload.question
        if not workload.name.startswith(SHORT):
            continue
        try:
            number = program(question).number
        except CannotError:
            continue
        assert number == ours(question), workload.name
        asked += number > 0
    assert asked >= 7
    program.close()


def figure(section, case, value, unit="M events/s", note=""):
    return {"section": f"rivals: {section}", "case": case, "value": value, "unit": unit, "note": note}


def test_the_table_is_shown(tmp_path, monkeypatch):
    """The section, the line and the picture replace those of the run before."""
    monkeypatch.setattr(shown, "WHY", {"(a) two": "It knows."})
    said = "7 complex events, 3 a second; 1.0 started and loaded in 0.50 s, 200 MB at most"
    record = {
        "environment": {"cores": 2, "processor": "P", "memory_gib": 8.0, "load": 0.1, "python": "3.11.7"}
        | {"duckdb": "2.0.0", "commit": "abc"},
        "sizes": {"runs": 1, "patience": 20.0},
        "figures": [
            figure("(a) one, 5k events", "cer-gpu", 10.0, note=said),
            figure("(a) one, 5k events", "duckdb", 2.0, note=said.replace("200 MB", "100 MB")),
            figure("(a) one, 5k events", "duckdb / ours", 5.0, "times"),
            figure("(a) one, 5k events", "esper", None, note="more than 20 s"),
            figure("(a) two, 5k events", "cer-gpu", 10.0, note=said),
            figure("(a) two, 5k events", "duckdb", 20.0, note=said),
            figure("(a) two, 5k events", "duckdb / ours", 0.5, "times"),
            figure("(a) two, 5k events", "esper", None, note="it has no words for it"),
            figure("(a) three, 5k events", "cer-gpu", 99.7, note=said),
            figure("(a) three, 5k events", "esper", None, note="more than 20 s for fewer matches"),
        ],
    }
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    performance, readme = tmp_path / "docs" / "PERFORMANCE.md", tmp_path / "README.md"
    (tmp_path / "bench").mkdir()
    performance.write_text("# Performance\n\n| task | ours |\n| 28 questions |\n\n## More\n\nLess.\n")
    readme.write_text("# It\n\n| 3 steps | fast |\n| 28 questions |\n\nMore.\n")
    stored = tmp_path / "stored.json"
    for number in ("7", "8"):
        stored.write_text(json.dumps(record).replace("7 complex", f"{number} complex"))
        shown.write(stored, tmp_path)
    text = (tmp_path / "bench" / "RIVALS.md").read_text()
    assert text.count(shown.HEADING) == 1
    assert "| (a) one, 5k events | 8 | 10 | 5 | > 20 s |\n" in text
    assert "| (a) three, 5k events | 8 | 100 |  | (> 20 s) |\n" in text
    assert "Python 3.11.7, duckdb 1.0, commit abc. Each figure is the median of 1 run after" in text
    assert "| (a) two, 5k events | 8 | 10 | 0.5 | [1] |\n" in text
    assert "|\n\n- [1] it has no words for it\n" in text
    assert "| (a) one, 5k events | 200 | **100** |  |\n" in text
    assert (
        "faster:\n\n- (a) two, 5k events: duckdb takes 0.5 of cer-gpu's time. It knows.\n\nWhere cer-gpu"
        in text
    )
    near = "Where cer-gpu is fastest, but less than 10 times as fast as the next: "
    assert f"{near}(a) one, 5k events (duckdb, 5).\n" in text
    row = (
        "| 3 questions, also asked of DuckDB | fastest on 2 | the best other tool takes 0.5 to 5 times as "
        "long (median 2.8) |\n"
    )
    assert readme.read_text() == f"# It\n\n| 3 steps | fast |\n{row}\nMore.\n"
    assert row in performance.read_text()
    readme.write_text("# It\n")
    with pytest.raises(AssertionError, match="one row"):
        shown.write(stored, tmp_path)
    assert "(a) one" in (tmp_path / "docs" / "pictures" / "rivals.svg").read_text()


def test_a_rival_is_compared_with_ours_alone(tmp_path, monkeypatch):
    """Where we ran out of time there is no ratio, and a count that differs stops the table."""
    [workload] = [one for one in workloads() if one.name.startswith("(f) sessions")]
    said = {"seconds": [2.0], "load": 0.5, "peak": 1e6}
    counts = {"cer-gpu": 7, "duckdb": 7, "polars": 7, "pandas": 7, "chdb": 7, "spark-sql": 7}
    counts |= {"esper": 7, "flink-cep": 7, "siddhi": 7}

    def asked(self, engine, asked, path, runs, patience):
        if counts[engine] is None:
            raise TimeoutError(f"more than {patience:g} s")
        return {**said, "number": counts[engine]}

    monkeypatch.setattr(Workers, "ask", asked)
    table = section._Table(Workers(), Sizes())

    def figures():
        return list(table.compared(workload, 0, tmp_path / "events.parquet", 1000))

    assert [one.value for one in figures() if one.case == "duckdb / ours"] == [1.0]
    counts["cer-gpu"] = None
    assert [one.note for one in figures() if one.case == "cer-gpu"] == ["more than 300 s"]
    assert not [one for one in figures() if "/ ours" in one.case]
    counts |= {"cer-gpu": 7, "pandas": 8}
    assert [one.note for one in figures() if one.case == "pandas"] == ["it counts 8, not 7"]
    assert table.wrong == ["rivals: (f) sessions, 1k events: pandas: it counts 8, not 7"]


def test_a_count_that_differs_ends_the_table_with_an_error(monkeypatch):
    def compared(self, workload, number, path, events):
        self.wrong.append("pandas")
        yield events

    monkeypatch.setattr(section._Table, "compared", compared)
    monkeypatch.setattr(section, "DRIVEN", {})
    found = section.rivals(replace(Sizes(), rivalled=10))
    with pytest.raises(WrongAnswerError, match="pandas; pandas"):
        list(found)


def test_who_has_no_time_is_not_asked_for_more(tmp_path, monkeypatch):
    """The sequences in longer windows have the matches of those in shorter ones; others are asked."""
    often = []

    def asked(self, engine, asked, path, runs, patience):
        often.append(asked)
        raise TimeoutError("more than 20 s")

    monkeypatch.setattr(Workers, "ask", asked)
    monkeypatch.setattr(section, "OPENERS", {"duckdb": None})
    table = section._Table(Workers(), replace(Sizes(), patience=20.0))
    path = tmp_path / "events.parquet"
    notes = [
        figure.note
        for number, workload in enumerate(sequences())
        for figure in table.compared(workload, number, path, 10)
    ]
    assert often == [0, 3, 4, 5, 6, 7, 8, 9]
    assert notes[:4] == ["more than 20 s", *["more than 20 s for fewer matches"] * 2, "more than 20 s"]


SLOW = """
import json, os, subprocess, sys, time
print("ready", flush=True)
with open(sys.argv[1] + ".pids", "a") as file:
    print(os.getpid(), file=file)
for line in sys.stdin:
    if "WITHIN 50 " in line:
        time.sleep(60)
    print("answer 7 0.25", flush=True)
"""


def test_a_process_is_stopped_with_what_it_started_or_kept(tmp_path):
    path, program = tmp_path / "events.parquet", tmp_path / "slow.py"
    program.write_text(SLOW)
    pq.write_table(made(workloads()[0], 10), path)
    engine = f"command:{sys.executable} {program}"
    with Workers(engine) as workers:
        assert workers.ask(engine, 1, path, 1, 300)["number"] == 7
        [kept] = workers._living.values()
        assert workers.ask(engine, 1, path, 1, 300)["number"] == 7
        assert [*workers._living.values()] == [kept]
        with pytest.raises(TimeoutError, match=r"more than 0\.5 s"):
            workers.ask(engine, 0, path, 1, 0.5)
        assert not workers._living
        slow = int((tmp_path / "events.parquet.pids").read_text().split()[-1])
        with pytest.raises(ChildError, match="No files found"):
            workers.ask("duckdb", 0, tmp_path / "none", 1, 300)
    assert not Path(f"/proc/{slow}/cmdline").exists() or not Path(f"/proc/{slow}/cmdline").read_text()


def test_a_long_first_run_is_the_one_that_counts(tmp_path, monkeypatch):
    runs = iter([Answer(7, 6.0), Answer(7, 1.0), Answer(7, 2.0), Answer(7, 3.0)])
    monkeypatch.setattr("bench.rivals.one._timed", lambda count, question: next(runs))
    monkeypatch.setitem(OPENERS, "duckdb", lambda path: None)
    path = str(tmp_path / "none")
    assert [*answered("duckdb", "0", path, 2)][1]["seconds"] == [6.0]
    assert [*answered("duckdb", "0", path, 2)][1]["seconds"] == [2.0, 3.0]


def test_the_figures_so_far_are_kept(tmp_path, monkeypatch):
    """What ends the table early leaves what was measured before, in the file and on the screen."""

    def broken(sizes):
        yield Figure("rivals", "first", 1.0, "M events/s")
        raise KeyboardInterrupt

    monkeypatch.setitem(SECTIONS, "rivals", broken)
    stored = tmp_path / "stored.json"
    with pytest.raises(KeyboardInterrupt):
        bench_main(["rivals", "--output", str(stored)])
    assert [one["case"] for one in json.loads(stored.read_text())["figures"]] == ["first"]
