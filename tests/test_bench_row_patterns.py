"""The section `row_patterns`: its second methods, and Flink SQL in a process of its own."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

import bench.row_patterns
from bench.figures import WrongAnswerError
from bench.rivals.asked import CannotError
from bench.rivals.flink_sql import FlinkAnswer, FlinkSql
from bench.rivals.jvm import is_kept
from bench.row_pattern_questions import HARD, QUESTIONS
from bench.row_patterns import row_patterns
from bench.sizes import Sizes
from bench.trades import NULL, Found, found_in, make_trades, sorted_trades

SMALL = Sizes(runs=1, patience=60.0, recognized=(300, 600))


def test_the_checksum_wraps_and_knows_nulls() -> None:
    assert found_in([np.array([1, NULL]), np.array([2, 3])]) == Found(2, 1 - 7 + 3 * 5)
    assert found_in(pa.table({"a": [1, None], "b": [2, 3]})) == Found(2, 9)
    large = np.array([2**62, 2**62])
    assert found_in([large, large]) == Found(2, 2**63 * 4 % 2**64)
    assert found_in([large]) == Found(2, -(2**63))


def test_trades_begin_anew_with_each_key() -> None:
    trades = sorted_trades(make_trades(5000))
    assert trades.begins.sum() == len(set(trades.keys.tolist()))
    assert set(trades.prices[trades.begins].tolist()) == {10_000}
    assert abs(np.diff(trades.prices)[~trades.begins[1:]]).max() == 4
    assert (np.diff(trades.times)[~trades.begins[1:]] > 0).all()


@pytest.mark.parametrize("hard", HARD, ids=lambda one: f"{one.pattern}, {one.title}")
def test_hard_patterns_match_what_a_backtracking_search_finds(hard) -> None:
    """It takes exponentially long, so there are few rows, and `a{30,60}` in place of what means the same."""
    pattern = re.compile(hard.pattern.replace(" ", "").replace("(a?){30}a{30}", "a{30,60}"))
    letters = "".join(hard.rows(97 if "30" in hard.pattern else 10).column("letter").to_pylist())
    found = [at.end() - at.start() for at in pattern.finditer(letters)]
    assert (len(found), sum(found)) == hard.matches(len(letters))


class Recorded(FlinkSql):
    """Answers at once; the streaming mode is slower."""

    asked: list[tuple[str, str]]

    def __init__(self) -> None:
        self.wanted: dict[str, Found] = {}

    def load(self, table: pa.Table) -> None:
        trades = sorted_trades(table)
        self.wanted = {one.sql: found_in(one.checked(trades)) for one in QUESTIONS}

    def run(self, sql, mode, patience, rows=False, parallelism=None) -> FlinkAnswer:
        self.asked.append((sql, mode))
        return FlinkAnswer(self.wanted[sql], {"streaming": 2.0, "batch": 1.0}[mode], [])

    def close(self) -> None:
        self.wanted = {}


def test_the_faster_mode_is_asked_for_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recorded, "asked", [], raising=False)
    monkeypatch.setattr(bench.row_patterns, "FlinkSql", Recorded)
    monkeypatch.setattr(bench.row_patterns, "HARD", ())
    figures = [one for one in row_patterns(SMALL) if "Flink" in one.case]
    modes = [mode for sql, mode in Recorded.asked if sql == QUESTIONS[0].sql]
    assert modes == ["streaming"] * 2 + ["batch"] * 2 + ["batch"] * 2
    assert {one.case for one in figures if one.unit == "times" and "V shapes" in one.section} == {
        "300 rows, Flink SQL, streaming / ours",
        "300 rows, Flink SQL, batch / ours",
        "600 rows, Flink SQL, batch / ours",
    }


def test_what_takes_too_long_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recorded, "asked", [], raising=False)
    monkeypatch.setattr(bench.row_patterns, "FlinkSql", Recorded)
    monkeypatch.setattr(bench.row_patterns, "HARD", ())
    few = Sizes(runs=1, patience=1.5, recognized=(300, 600))
    notes = {one.case: one.note for one in row_patterns(few) if one.value is None}
    assert notes == {"600 rows, Flink SQL, batch": "more than 1.5 s, by its time for fewer rows"}


def test_another_answer_ends_the_section(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Recorded):
        asked: list[tuple[str, str]] = []  # noqa: RUF012 (nothing reads it)

        def run(self, *given, **options) -> FlinkAnswer:
            return FlinkAnswer(Found(1, 2), 1.0, [])

    monkeypatch.setattr(bench.row_patterns, "FlinkSql", Wrong)
    with pytest.raises(WrongAnswerError, match=r"V shapes: Found\(rows=1, checksum=2\) by Flink SQL"):
        list(row_patterns(SMALL))


@pytest.mark.usefixtures("short_lived_java")
def test_flink_sql_gives_the_same() -> None:
    if not is_kept("flink-sql"):
        pytest.skip("no jars of Flink SQL: `python -m bench --quick row_patterns` fetches them")
    table = make_trades(500)
    trades = sorted_trades(table)
    flink = FlinkSql()
    try:
        flink.load(table)
        for question in QUESTIONS:
            if question.flink:
                answer = flink.run(question.sql, "streaming", 120.0, rows=True, parallelism=1)
                assert answer.found == found_in(question.checked(trades)), question.name
                assert len(answer.rows) == answer.found.rows
                assert answer.seconds > 0
        with pytest.raises(CannotError, match=r"ParseException|SqlParse"):
            flink.run("SELECT nothing FROM", "batch", 60.0)
    finally:
        flink.close()
