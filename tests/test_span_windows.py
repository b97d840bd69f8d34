"""Intervals that bound a whole complex event are WITHIN where events are compared by order."""

from __future__ import annotations

import warnings
from random import Random

import pyarrow as pa
import pytest
from engine_oracle import check
from generate import stream

import cer_gpu as cer
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.logic.rewriting.windows import tightest, without_spans
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import evaluate

COMPARED = "FILTER y.p > x.p"
TABLE = pa.table({"type": list("AABAB"), "ts": [0, 1, 2, 5, 7], "p": [1.0, 2.0, 3.0, 1.0, 9.0]})


def select(text: str) -> t.SelectQuery:
    found = parse(f"SELECT * WHERE {text}")
    assert isinstance(found, t.SelectQuery)
    return found


@pytest.mark.parametrize(
    ("text", "left", "bounds"),
    [
        ("A ;[<= 5 s] B", "A ; B", [(5, "s")]),
        ("A :[<= 5] ((B AS y FILTER y[v > 1]) OR C)", "A : ((B AS y FILTER y[v > 1]) OR C)", [(5, None)]),
        ("((A ;[<= 5 s] B) WITHIN [<= 1 min] FILTER A.v < B.v) AS z", "(A ; B FILTER A.v < B.v) AS z",
         [(1, "min"), (5, "s")]),
        ("(A ;[<= 1 s] B) WITHIN [>= 1 ms]", "(A ; B) WITHIN [>= 1 ms]", [(1, "s")]),
        ("PROJECT(A ;[<= 5 s] B | A) UNLESS (C ;[<= 1 s] D)", "PROJECT(A ; B | A) UNLESS (C ;[<= 1 s] D)",
         [(5, "s")]),
        ("(A ;[<= 5 s] B) OR ((C ; D) WITHIN [<= 5 s])", "(A ; B) OR (C ; D)", [(5, "s")]),
        ("(A ;[<= 5 s] B) FOLLOWED BY [<= 1 s] C", "(A ; B) FOLLOWED BY [<= 1 s] C", [(5, "s")]),
    ],
)  # fmt: skip
def test_intervals_over_the_whole_pattern(text: str, left: str, bounds: list[tuple[int, str | None]]) -> None:
    made, found = without_spans(select(text).pattern)
    assert made == select(left).pattern
    assert [(bound.value, bound.unit) for bound in found] == bounds


@pytest.mark.parametrize(
    "text",
    [
        "A ;[< 5 s] B",
        "A ;[>= 5 s] B",
        "A ;[1 s, 5 s] B",
        "A ;[<= $gap] B",
        "A+ ;[<= 5 s] B",
        "A ; B ;[<= 5 s] C",
        "(A ;[<= 5 s] B) OR C",
        "(A ;[<= 5 s] B) OR (C ;[<= 6 s] D)",
        "(A ;[<= 5 s] B)+",
        "MAX((A ; B) WITHIN [<= 5 s])",
        "A UNLESS (A ;[<= 5 s] B)",
        "A FOLLOWED BY (A ;[<= 5 s] B)",
    ],
)
def test_other_intervals_are_left(text: str) -> None:
    pattern = select(text).pattern
    made, bounds = without_spans(pattern)
    assert made is pattern
    assert not bounds


@pytest.mark.parametrize(
    ("within", "bounds", "size"),
    [
        ("", "[<= 5 s]", (5, "s")),
        ("WITHIN 1 MINUTES", "[<= 5 s]", (5, "s")),
        ("WITHIN 1 SECONDS", "[<= 5 s]", (1, "s")),
        ("WITHIN 5 SECONDS", "[<= 4999 ms]", (4999, "ms")),
        ("WITHIN 3 EVENTS", "[<= 5 s]", None),
        ("WITHIN 3 [v]", "[<= 5 s]", None),
        ("WITHIN 3 SECONDS", "[<= 5]", None),
        ("", "[<= 0.5]", (0.5, None)),
    ],
)
def test_the_tightest_bound_counts(within: str, bounds: str, size: tuple[int, str] | None) -> None:
    query = select(f"A ;{bounds} B {within}")
    window = tightest(query.window, without_spans(query.pattern)[1])
    assert (window and (window.size, window.unit)) == size


def test_comparisons_beside_such_intervals_are_looked_up() -> None:
    said = cer.compile(f"SELECT * WHERE A AS x ;[<= 5 s] B AS y {COMPARED} WITHIN 1 MINUTES").explain(
        verbose=True
    )
    assert "routes      ordered: takes it, and runs lists and pushes\n" in said
    assert (
        "window      at most 5 s from start to end: an interval over the whole pattern is as WITHIN\n" in said
    )
    said = cer.compile(f"SELECT * WHERE A AS x ;[<= 5] B AS y {COMPARED}").explain(verbose=True)
    assert "window      at most 5 from start to end: " in said


def test_where_nothing_is_compared_they_are_windows_if_no_others_are_left() -> None:
    for text in ("A ;[<= 5 s] B", "A AS x ;[<= 5 s] B AS y FILTER x.p = y.p", "(A ; B+) WITHIN [<= 5 s]"):
        said = cer.compile(f"SELECT * WHERE {text}").explain(verbose=True)
        assert "\nroutes      regular: takes it" in said
        assert "an interval over the whole pattern is as WITHIN\n" in said
    said = cer.compile("SELECT * WHERE (A ;[<= 5 s] B ; C) WITHIN [<= 9 s]").explain(verbose=True)
    assert "an interval over the whole pattern is as WITHIN\n" not in said


@pytest.mark.parametrize("engine", ["timed", "clock"])
def test_an_engine_for_intervals_takes_them_where_they_are_written(engine: str) -> None:
    query = cer.compile("SELECT * WHERE (A ; B) WITHIN [<= 2 s]")
    given = {"order_by": "ts", "order_unit": "s"}
    wanted = query.run(TABLE, **given).to_arrow()
    assert len(wanted) > 0
    for _ in range(2):
        assert query.run(TABLE, engine=engine, **given).to_arrow() == wanted
        assert query.count(TABLE, engine=engine, **given) == len(wanted)
    assert query.explain(engine=engine, verbose=True).startswith("class       timed")


def test_explain_says_that_one_window_would_be_faster() -> None:
    said = cer.compile("SELECT * WHERE A AS x ;[<= 5 s] C ;[<= 5 s] B AS y FILTER y.p > x.p").explain(
        verbose=True
    )
    assert "with one WITHIN instead of its intervals, if that is what you mean, the engine `apart`" in said
    assert "WITHIN drops partial matches that are too old" not in said, "the intervals add up to a window"
    said = cer.compile("SELECT * WHERE A AS x ;[<= 5 s] B+ AS y FILTER SUM(y.p) > x.p").explain(verbose=True)
    assert "instead of its intervals" not in said


@pytest.mark.parametrize("engine", ["auto", "general"])
def test_values_of_parameters_do_not_widen_the_window(engine: str) -> None:
    """The plan of one value serves the others: WITHIN may be shorter or longer than the interval."""
    query = cer.compile(f"SELECT * WHERE A AS x ;[<= 5 s] B AS y {COMPARED} WITHIN $w")
    given = {"order_by": "ts", "order_unit": "s", "engine": engine}
    for window, wanted in (("1 min", 3), ("1 s", 1), ("2 s", 3), ("1 events", 2), ("1 h", 3), ("0 s", 0)):
        assert query.count(TABLE, params={"w": window}, **given) == wanted, window
    gap = cer.compile(f"SELECT * WHERE A AS x ;[<= $g] B AS y {COMPARED} WITHIN 3 SECONDS")
    for span, wanted in (("1 min", 3), ("1 s", 1)):
        assert gap.count(TABLE, params={"g": span}, **given) == wanted, span


CONDITIONS = ("y.p > x.p", "y.v != x.v", "y.id = x.id AND y.v <= x.v", "NOT x.v = y.v")


def drawn(rng: Random) -> str:
    """A query that compares two events, with intervals on and around it."""

    def bound() -> str:
        return rng.choice(
            ("[<= 1 s]", "[<= 2500 ms]", "[<= 3 s]", "[< 2 s]", "[>= 1 s]", "[1 s, 4 s]", "[<= 0 ms]")
        )

    gap = bound() if rng.random() < 0.7 else ""
    made = f"{rng.choice('AB')} AS x {rng.choice(';;;:')}{gap} {rng.choice(('B', 'C', '(B OR C)'))} AS y"
    made = f"({made}) FILTER {rng.choice(CONDITIONS)}"
    for _ in range(rng.randrange(3)):
        around = rng.choice(("WITHIN", "UNLESS", "BY", "PROJECT", "OR"))
        made = {
            "OR": f"(({made}) OR D AS x ;{gap} C AS y)",
            "WITHIN": f"(({made}) WITHIN {bound()})",
            "UNLESS": f"(({made}) UNLESS (D ;{bound()} A))",
            "BY": f"(({made}) {rng.choice(('', 'NOT '))}FOLLOWED BY {bound()} D)",
            "PROJECT": f"PROJECT({made} | x, y)",
        }[around]
    select = rng.choice(("*", "*", "x", "NONE", "NEXT *", "LAST *", "MAX *", "STRICT *"))
    rest = rng.choice(("", "", "PARTITION BY id "))
    rest += rng.choice(
        ("", "WITHIN 2 SECONDS ", "WITHIN 1500 MILLISECONDS ", "WITHIN 4 EVENTS ", "WITHIN 2 [lap] ")
    )
    rest += rng.choice(("", "", "CONSUME BY ANY ", "LIMIT 1 "))
    return f"SELECT {select} WHERE {made} {rest}"


@pytest.mark.draws("seed", 4)
def test_they_agree_with_the_reference(seed: int) -> None:
    rng = Random(f"spans {seed}")
    spans = answers = 0
    for _ in range(40):
        query = parse(drawn(rng))
        assert isinstance(query, t.SelectQuery)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers += check(query, stream(rng, rng.randrange(10, 20), types="ABABCD"), rng)
        spans += bool(without_spans(query.pattern)[1])
    assert spans > 10
    assert answers > 15


@pytest.mark.parametrize("bound", ["0.3", "0.1", "0.30000000000000004", "1"])
def test_plain_numbers_are_compared_as_the_reference_does(bound: str) -> None:
    rng = Random(bound)
    now, events = 0.0, []
    for _ in range(60):
        now += rng.choice((0.0, 0.1, 0.2, 0.1))
        events.append(Event(rng.choice("AB"), {"ts": now, "p": float(rng.randrange(5))}))
    query = f"SELECT * WHERE A AS x ;[<= {bound}] B AS y {COMPARED}"
    wanted = [(one.start, one.end) for one in evaluate(parse(query), events, order="ts")]
    rows = [{"type": event.type, **event.attributes} for event in events]
    found = cer.compile(query).run(pa.Table.from_pylist(rows), order_by="ts")
    assert [(one.start, one.end) for one in found] == wanted
    assert wanted
