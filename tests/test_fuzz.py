"""The long random run, for a few turns: what it says of its seed and its counts, and of a wrong answer."""

from __future__ import annotations

import re

import fuzz
import pytest


def counts(said: str) -> dict[str, str]:
    """What is said of each kind."""
    rows = [line.split(maxsplit=1) for line in said.splitlines()[1:]]
    return {row[0]: " ".join(row[1:]) for row in rows}


def test_a_run_says_its_seed_and_how_often_each_kind_was_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--turns", "16", "--seed", "few"]) == 0
    said = capsys.readouterr().out
    assert re.match(r"seed few, 16 turns from 0 in \d+ s\n", said)
    told = counts(said)
    assert list(told) == [*fuzz.KINDS, fuzz.RULES, fuzz.JOINS]
    assert sum(int(number) for number in re.findall(r"(\d+) [a-zC]", " ".join(told.values()))) == 16
    assert "answered" in said


def test_a_turn_depends_on_the_seed_and_its_number() -> None:
    for number in range(40):
        one, two, other = (fuzz.Turn(seed, number) for seed in ("x", "x", "y"))
        assert (one.query, repr(one.events)) == (two.query, repr(two.events))
        assert (one.query, repr(one.events)) != (other.query, repr(other.events))


def test_a_wrong_answer_is_printed_with_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*_: object) -> int:
        raise AssertionError("another answer")

    monkeypatch.setattr(fuzz, "check", wrong)
    monkeypatch.setattr(fuzz, "check_rule", wrong)
    assert fuzz.main(["--turns", "9", "--seed", "w", "--first", "7"]) == 1
    said = capsys.readouterr().out
    assert said.count("AssertionError: another answer") == fuzz.SHOWN
    assert "again: python tests/fuzz.py --seed w --first 7 --turns 1\n" in said
    assert "seed w, 9 turns from 7" in said
    assert sum(map(int, re.findall(r"(\d+) WRONG", said))) == 9


def test_a_run_ends_when_its_time_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--seconds", "0"]) == 0
    assert capsys.readouterr().out.startswith("seed 1, 0 turns from 0 in 0 s\n")
