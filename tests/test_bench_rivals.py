"""What rivals are asked: every engine that is installed counts what we count, on every workload."""

import json
import shutil
import sys
import warnings
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
import spark_sessions

from bench.figures import WrongAnswerError
from bench.rivals import section
from bench.rivals.asked import ESPER, KEPT, CannotError, calls, epl, open_command, open_esper, open_flink
from bench.rivals.frames import open_pandas, open_polars
from bench.rivals.one import main, open_duckdb, open_ours, open_spark
from bench.rivals.questions import Many, Neighbours, Ours, Sequence, workloads
from bench.rivals.section import flights, made
from bench.sizes import Sizes

RIVALS = [open_duckdb, open_polars, open_pandas]


@pytest.mark.parametrize("workload", workloads(), ids=lambda one: one.name)
def test_all_count_the_same(workload, tmp_path):
    path = str(tmp_path / "events.parquet")
    events = flights().slice(0, 50_000) if workload.flights else made(workload, 4000)
    pq.write_table(events, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a type that never occurs is one of the workloads
        counted = open_ours(path)(workload.question)
    if isinstance(workload.question, Ours):
        assert counted > 0
        assert workload.question.lacking
        return
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
    assert "unnest([ts // 10, ts // 10 - 1]) AS cell" in question.sql("duckdb")
    assert "ARRAY JOIN [intDiv(ts, 10), intDiv(ts, 10) - 1] AS x" in question.sql("chdb")
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


def test_a_program_that_a_user_brings_is_asked(tmp_path, capsys):
    """It answers what is asked in SQL here, and says so where it cannot; its time is its own."""
    path, program = tmp_path / "events.parquet", tmp_path / "mine.py"
    program.write_text(COMMAND)
    kinds = [type(one.question) for one in workloads()]
    for kind in (Neighbours, Ours):
        workload = workloads()[kinds.index(kind)]
        pq.write_table(made(workload, 3000), path)
        main(f"command:{sys.executable} {program}", str(kinds.index(kind)), str(path), "2")
        said = json.loads(capsys.readouterr().out)
        if kind is Ours:
            assert said == {"cannot": f"be asked {workload.question.ceql()}"}
        else:
            assert said["number"] == open_ours(str(path))(workload.question) > 0
            assert said["seconds"] == [0.25, 0.25]
            assert said["peak"] > 1e6


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
    with pytest.raises(CannotError, match="one pattern"):
        calls(Many((question,)))


@spark_sessions.GROUP
def test_spark_sql_counts_the_same(spark, tmp_path):
    for workload in [one for one in workloads() if one.name.startswith(("(c)", "(d)"))]:
        path = str(tmp_path / f"{workload.name}.parquet")
        pq.write_table(made(replace(workload, keys=20), 2000), path)
        assert open_spark(path)(workload.question) == open_ours(path)(workload.question) > 0


ON_THE_JVM = {
    "esper": (open_esper, KEPT / f"esper-{ESPER}" / "jars"),
    "flink-cep": (open_flink, KEPT / "flink"),
}


@pytest.mark.parametrize("engine", ON_THE_JVM)
def test_engines_on_the_jvm_count_the_same(engine, tmp_path):
    opened, jars = ON_THE_JVM[engine]
    if not jars.exists() or shutil.which("javac") is None:
        pytest.skip(f"no jars of {engine}: `python -m bench --quick rivals` fetches them; it needs a JDK")
    for workload in [one for one in workloads() if one.name.startswith(("(c) three", "(d) without"))]:
        path = str(tmp_path / "events.parquet")
        pq.write_table(made(replace(workload, keys=20), 500), path)
        program = opened(path)
        assert program(workload.question).number == open_ours(path)(workload.question) > 0, workload.name
        program.close()


def test_a_rival_is_compared_with_ours_alone(tmp_path, monkeypatch):
    """Where we ran out of time there is no ratio, and a count that differs stops the table."""
    [workload] = [one for one in workloads() if one.name.startswith("(f)")]
    said = {"seconds": [2.0], "load": 0.5, "peak": 1e6}
    counts = {"cer-gpu": 7, "duckdb": 7, "polars": 7, "pandas": 7, "chdb": 7, "spark-sql": 7}
    counts |= {"esper": 7, "flink-cep": 7}

    def asked(module, arguments, patience):
        if counts[arguments[0]] is None:
            raise TimeoutError(f"more than {patience:g} s")
        return {**said, "number": counts[arguments[0]]}

    monkeypatch.setattr(section, "in_fresh_process", asked)

    def figures():
        return list(section._compared(workload, 0, tmp_path / "events.parquet", 1000, Sizes()))

    assert [one.value for one in figures() if one.case == "duckdb / ours"] == [1.0]
    counts["cer-gpu"] = None
    assert [one.note for one in figures() if one.case == "cer-gpu"] == ["more than 300 s"]
    assert not [one for one in figures() if "/ ours" in one.case]
    counts |= {"cer-gpu": 7, "pandas": 8}
    with pytest.raises(WrongAnswerError, match="pandas counts 8, not 7"):
        figures()
