"""What rivals are asked: every engine that is installed counts what we count, on every workload."""

import warnings

import pyarrow.parquet as pq
import pytest

from bench.figures import WrongAnswerError
from bench.rivals import section
from bench.rivals.frames import open_pandas, open_polars
from bench.rivals.one import open_duckdb, open_ours
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


def test_a_rival_is_compared_with_ours_alone(tmp_path, monkeypatch):
    """Where we ran out of time there is no ratio, and a count that differs stops the table."""
    [workload] = [one for one in workloads() if one.name.startswith("(f)")]
    said = {"seconds": [2.0], "load": 0.5, "peak": 1e6}
    counts = {"cer-gpu": 7, "duckdb": 7, "polars": 7, "pandas": 7, "chdb": 7}

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
