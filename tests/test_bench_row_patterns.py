"""The section `row_patterns`: its second methods, and Flink SQL in a process of its own."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import bench.row_patterns
from bench import row_pattern_oracle
from bench.figures import WrongAnswerError
from bench.rivals.asked import CannotError
from bench.rivals.flink_sql import FlinkAnswer, FlinkSql
from bench.rivals.jvm import is_kept
from bench.row_pattern_oracle import (
    FAILED,
    Difference,
    StatementDraft,
    compared,
    few_rows,
    main,
    our_rows,
)
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
    if hard.skip == "TO NEXT ROW":
        matches = filter(None, (pattern.match(letters, at) for at in range(len(letters))))
    else:
        matches = pattern.finditer(letters)
    found = [at.end() - at.start() for at in matches]
    assert (len(found), sum(found)) == hard.matches(len(letters))


class Recorded(FlinkSql):
    """Answers at once; the streaming mode is slower."""

    asked: list[tuple[str, str]]

    def __init__(self) -> None:
        self.wanted: dict[str, Found] = {}

    def load(self, table: pa.Table) -> None:
        trades = sorted_trades(table)
        self.wanted = {one.sql: found_in(one.checked(trades)) for one in QUESTIONS}

    def run(self, sql, mode, patience, parallelism=None) -> FlinkAnswer:
        self.asked.append((sql, mode))
        return FlinkAnswer(self.wanted[sql], {"streaming": 2.0, "batch": 1.0}[mode], 3.0)

    def close(self) -> None:
        self.wanted = {}


def test_the_faster_mode_is_asked_for_more_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recorded, "asked", [], raising=False)
    monkeypatch.setattr(bench.row_patterns, "FlinkSql", Recorded)
    monkeypatch.setattr(bench.row_patterns, "HARD", ())
    figures = [one for one in row_patterns(SMALL) if "Flink" in one.case]
    modes = [mode for sql, mode in Recorded.asked if sql == QUESTIONS[0].sql]
    assert modes == ["streaming"] * 2 + ["batch"] * 2 + ["batch"] * 2
    cases = ("300 rows, Flink SQL, streaming", "300 rows, Flink SQL, batch", "600 rows, Flink SQL, batch")
    assert [one.case for one in figures if one.unit == "times" and "V shapes" in one.section] == [
        f"{case}{what}" for case in cases for what in (" / ours", ": CPU seconds / ours")
    ]


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
            return FlinkAnswer(Found(1, 2), 1.0, 2.0)

    monkeypatch.setattr(bench.row_patterns, "FlinkSql", Wrong)
    with pytest.raises(WrongAnswerError, match=r"V shapes: Found\(rows=1, checksum=2\) by Flink SQL"):
        list(row_patterns(SMALL))


def test_statements_for_flink_can_be_run() -> None:
    """The rows of some, and why others have none."""
    rng = Random(3)
    table = few_rows(rng, 60)
    assert len(set(table.column("t").to_pylist())) == 60
    answers = [our_rows(StatementDraft(rng, one % 2 == 0).text(), table) for one in range(60)]
    errors = [one for one in answers if isinstance(one, str)]
    assert 0 < len(errors) < 20
    assert all(one.startswith("DataError: AFTER MATCH SKIP TO ") for one in errors)
    assert sum(bool(one) for one in answers) > 30


class Answering(FlinkSql):
    """Says what we say, but for the statements that it is told."""

    other: dict[int, object]

    def __init__(self) -> None:
        self.table = pa.table({})
        self.jobs = 0

    def load(self, table: pa.Table) -> None:
        self.table = table

    def rows(self, statements, mode, patience):
        answers = []
        for sql in statements:
            ours = our_rows(sql, self.table)
            if isinstance(ours, str):
                raise CannotError("it cannot skip")
            answers.append([tuple("null" if one is None else str(one) for one in row) for row in ours])
        for place, other in self.other.items():
            if place < len(statements):
                answers[place] = other
        return answers

    def close(self) -> None:
        self.table = pa.table({})


@pytest.mark.parametrize("apart", [[], ["--apart"]])
def test_the_oracle_tells_where_flink_differs(monkeypatch, capsys, apart) -> None:
    monkeypatch.setattr(row_pattern_oracle, "FlinkSql", Answering)
    monkeypatch.setattr(Answering, "other", {}, raising=False)
    assert main(["--cases", "60", "--seed", "5", *apart]) == 0
    same = capsys.readouterr().out
    assert "equal, with rows" in same
    assert "both fail, Flink: it cannot skip" in same
    assert "SELECT" not in same
    monkeypatch.setattr(Answering, "other", {0: [("u", "77")], 1: "it has no words"})
    assert main(["--cases", "5", *apart]) == 1
    other = capsys.readouterr().out
    assert "Flink 1 [('u', 77)]" in other
    assert "1 Flink refuses: it has no words" in other
    assert other.count("SELECT") == 1


def test_floats_are_compared_as_java_writes_them() -> None:
    found = Difference("", pa.table({}), [(1, 0.1 + 0.2, None, "u")], [(1.0, 0.3, None, "u")])
    told: Counter[str] = Counter()
    assert not compared(found, told)
    assert compared(found._replace(theirs=[(1.0, 0.3, 0, "u")]), told)
    assert compared(found._replace(theirs=[]), told)
    assert compared(found._replace(theirs=f"{FAILED}it does"), told)
    assert not compared(found._replace(ours="DataError: so do we", theirs=f"{FAILED}it does"), told)
    assert told == {"equal, with rows": 1, "different": 3, "both fail, Flink: it does": 1}


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
                answer = flink.run(question.sql, "streaming", 120.0, parallelism=1)
                assert answer.found == found_in(question.checked(trades)), question.name
                assert min(answer.seconds, answer.processor) > 0
        asked = [one.sql for one in QUESTIONS if one.flink][:2]
        first, refused, second = flink.rows([asked[0], "SELECT nothing", asked[1]], "streaming", 120.0)
        assert [len(first), len(second)] == [len(one.checked(trades)[0]) for one in QUESTIONS if one.flink][
            :2
        ]
        assert "nothing" in refused
        with pytest.raises(CannotError, match=r"ParseException|SqlParse"):
            flink.run("SELECT nothing FROM", "batch", 60.0)
    finally:
        flink.close()
