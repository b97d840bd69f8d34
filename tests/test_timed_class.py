"""What `explain` says of the class of a timed query (timed CEL paper)."""

from __future__ import annotations

import pytest

import cer_gpu as cer
from cer_gpu.language.parser import parse
from cer_gpu.plan.outline import as_written, outline
from cer_gpu.plan.planning.timed_lines import time_lines


def lines(query: str) -> list[str]:
    return time_lines(as_written(outline(parse(query), query)))


SWG = "a swg-query: single events one after another, with gaps and windows over all"
WINDOWED = "windowed (Theorem 5.5)"
BY_MARKS = "synchronous resets: the marks say when a clock is reset"
UP = "one clock, monotonic: when determinised, it is compared by `<=` only (Theorem 6.1)"
AS_IT_IS = "its timed automaton is deterministic as it is"
SAID = {
    "SELECT * WHERE A ;[<= 1 s] B ;[<= 2 s] C WITHIN 5 s": [
        SWG,
        "2 clocks (since the start, since the last marked event) for 3 operators of time",
        BY_MARKS,
        AS_IT_IS,
        "not one-clock monotonic (Theorem 6.1): it needs 2 clocks; it is but for WITHIN, which can be kept "
        "apart",
    ],
    "SELECT * WHERE A ;[<= 1 s] B": [
        SWG,
        "1 clock (since the start) for 1 operator of time",
        BY_MARKS,
        AS_IT_IS,
        UP,
    ],
    "SELECT * WHERE A+[>= 1 s]": [
        WINDOWED,
        "1 clock (since the last marked event) for 1 operator of time",
        BY_MARKS,
        "determinised (Theorem 5.3): 3 states, 7 transitions over 2 classes of events",
        "one clock, monotonic: when determinised, it is compared by `>=` only (Theorem 6.1)",
    ],
    "SELECT * WHERE (A ; B) WITHIN [> 1 s, <= 2 s] : C": [
        "timed CEL",
        "1 clock (since the start) for 1 operator of time",
        BY_MARKS,
        AS_IT_IS,
        "not one-clock monotonic (Theorem 6.1): its intervals bound the clock from above and from below",
    ],
    "SELECT NONE WHERE (A AS a FILTER a[v > 1]) ; A ;[= 1 s] B": [
        "timed CEL",
        "1 clock (of `;[= 1 s]`) for 1 operator of time",
        "no synchronous resets: on A with v > 1 at 0 s, A at 1 s, A at 2 s, two runs with no marks differ:\n"
        "at the last event one restarts its clock of `;[= 1 s]`, the other does not",
        "not determinised: what is open carries the times of its resets",
        "not one-clock monotonic (Theorem 6.1): it is not determinised",
    ],
    "SELECT * WHERE (A AS a ;[<= 3] B AS b) FILTER a.id = b.id": [
        "without its comparisons between events:",
        SWG,
        "1 clock (since the start) for 1 operator of time",
        BY_MARKS,
        AS_IT_IS,
        UP,
    ],
    "SELECT * WHERE (A ;[<= 3] B) UNLESS C": ["timed complex event automata do not express `UNLESS`"],
    "SELECT * WHERE A ; B WITHIN 5 s": [],
}
"""Queries, and the lines about their class."""


@pytest.mark.parametrize("query", SAID)
def test_the_class_of_a_query(query: str) -> None:
    assert lines(query) == SAID[query]


def test_bounds_that_come_with_the_call() -> None:
    said = lines("SELECT NONE WHERE A ; A ;[= $gap] A")
    assert "synchronous resets: not decided, it depends on the bounds that come with the call" in said
    assert BY_MARKS in lines("SELECT * WHERE A ; A ;[<= $gap] A")


def test_explain_has_the_lines() -> None:
    said = cer.compile("SELECT * WHERE A ;[<= 1 s] B ;[<= 2 s] C WITHIN 5 s").explain(verbose=True)
    assert f"time        {SWG}\n" in said
    assert "\ntime  " not in cer.compile("SELECT * WHERE A ; B WITHIN 5 s").explain(verbose=True)


def test_events_that_cannot_be_are_no_witness() -> None:
    """The two filters exclude each other, so that no event has two ways to go on."""
    query = "SELECT NONE WHERE (A AS a FILTER a[v > 1]) : ((A AS b FILTER b[v > 5]) ;[= 1 s] B OR C) "
    assert any(line.startswith("synchronous resets") for line in lines(query))


def test_a_large_pattern_has_no_class() -> None:
    many = " ; ".join(f"(A AS x{number} OR B)+[<= 1 s]" for number in range(160))
    assert lines(f"SELECT * WHERE {many}")[0].startswith("its class is not known: its timed automaton has")
