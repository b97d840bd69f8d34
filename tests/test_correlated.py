"""Equalities between the events of a pattern: what becomes a partition, what a chain, and what is refused."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from case_files import cases
from generate import stream
from random_correlated import random_correlated

import cer_gpu as cer
from cer_gpu.automata import chains
from cer_gpu.automata.pcea import PCEA, Equality, GatherTransition
from cer_gpu.automata.positions import position_automaton, prospects_of
from cer_gpu.diagnostics import render_all
from cer_gpu.errors import Diagnostic
from cer_gpu.language.parser import parse
from cer_gpu.language.tree import Attribute, SelectQuery
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.lp import to_lp
from cer_gpu.reference.run_trees import accepting_runs
from cer_gpu.reference.semantics import evaluate

GOLDEN = sorted((Path(__file__).parent / "golden" / "correlated").glob("*.txt"))
RULE = "-" * 40 + "\n"
ID = (Attribute("id"),)


def chain(where: str) -> PCEA:
    query = parse(f"SELECT * WHERE {where}")
    assert isinstance(query, SelectQuery)
    return chains.to_pcea(to_lp(unfolded(query.pattern)))


def lane(where: str) -> object:
    """What all events of a complex event share."""
    return cer.compile(f"SELECT * WHERE {where}")._plan.built.lane


def shape(moves: tuple[GatherTransition, ...]) -> list[tuple[object, ...]]:
    """Each transition as (sources, type, pairs that are equal, label, target)."""
    return [
        (
            move.sources,
            move.event_type,
            [
                (old.name, new.name)
                for join in move.joins
                for _, keys in join.left
                for old, new in zip(keys, join.right, strict=True)
            ],
            sorted(map(str, move.label)),
            move.target,
        )
        for move in move_order(moves)
    ]


def move_order(moves: tuple[GatherTransition, ...]) -> list[GatherTransition]:
    return sorted(moves, key=lambda move: (move.sources, move.target, sorted(map(str, move.label))))


def test_a_chain_compares_each_event_with_the_one_before_it() -> None:
    found = chain("A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y")
    assert shape(found.transitions) == [
        ((), "A", [], ["A", "a"], 0),
        ((0,), "B", [("x", "x")], ["B", "b"], 1),
        ((1,), "C", [("y", "y")], ["C", "c"], 2),
    ]
    assert found.final == {2}


def test_a_value_is_carried_along_equalities() -> None:
    # a.x reaches c by way of b.x, which equals both
    found = chain("A AS a ; B AS b ; C AS c FILTER a.x = b.x AND a.x = c.x")
    assert shape(found.transitions)[2] == ((1,), "C", [("x", "x")], ["C", "c"], 2)


def test_a_filter_inside_a_repetition_speaks_of_that_repetition() -> None:
    found = chain("(A AS a ; B AS b FILTER a.id = b.id)+")
    assert shape(found.transitions) == [
        ((), "A", [], ["A", "a"], 0),
        ((0,), "B", [("id", "id")], ["B", "b"], 1),
        ((1,), "A", [], ["A", "a"], 0),
    ]
    assert lane("(A AS a ; B AS b FILTER a.id = b.id)+") is None


def test_a_filter_in_a_repetition_may_speak_of_a_variable_outside() -> None:
    """Language section 4: legal, and all events have one id."""
    found = lane("(H AS x ; (T AS y FILTER y.id = x.id)+ ; H AS z) FILTER x.id = z.id")
    assert found == {"H": ID, "T": ID}


def test_whether_the_other_variable_marks_an_event_is_guessed_once() -> None:
    found = chain("(A AS x)+ ; (C AS y OR D AS z) FILTER x.id = y.id")
    # A as one of several that will equal a C, or as one that no C follows
    assert [move.target for move in found.transitions if not move.sources and move.event_type == "A"] == [
        0,
        1,
    ]


def test_contiguity_is_part_of_the_equality() -> None:
    [_, move] = move_order(chain("A AS a : B AS b FILTER a.id = b.id").transitions)
    assert move.joins == (Equality((("A", ID),), ID, next=True),)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * WHERE A AS a ; B AS b FILTER a.id = b.id", "one lane for each value of id"),
        (
            "SELECT a, c WHERE A AS a ; B AS b ; C AS c FILTER a.id = c.id AND b.id = c.id",
            "one lane for each value of id",
        ),
        (
            "SELECT * WHERE A AS a ; B AS b ; A AS c FILTER a.id = b.id AND b.id = c.id WITHIN 9 EVENTS",
            "regular: its comparisons make all events of a complex event share a key",
        ),
        (
            "SELECT * WHERE A AS a ; B AS b FILTER a.src = b.dst",
            "one lane for each value of src of A, dst of B",
        ),
        ("SELECT * WHERE (A AS a ; B AS b FILTER a.id = b.id)+", "a chain of events"),
        ("SELECT * WHERE A AS a : B AS b FILTER a.id = b.id", "none: the whole stream is one lane"),
        ("SELECT * WHERE A AS a ; B AS b FILTER a.id = b.id PARTITION BY host", "by `host`: one lane"),
    ],
)
def test_explain_says_what_became_of_a_correlation(query: str, said: str) -> None:
    assert said in cer.compile(query).explain(verbose=True)


REFUSED = {
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x = c.x": (
        "`B`, which comes before `C`, is not known to have the value"
    ),
    "SELECT * WHERE A AS a ; B AS b FILTER NOT (a.x = b.x)": "it is negated",
    "SELECT * WHERE A AS a ; NOT (B) ; C AS c FILTER a.x = c.x": "marks no event",
    "SELECT * WHERE A AS a ; B AS b ; (C FILTER a.x = b.x)": "defined outside the pattern",
    "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.x OR a.y = b.y": (
        "two alternatives can match the same event"
    ),
    "SELECT a, c WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y": "drops the mark of `B`",
}


ALTERNATIVES, CANNOT = "two alternatives can match the same event", "this engine cannot evaluate"

REFUSED_CASES = {
    "correlation_eq-p01": ALTERNATIVES,  # x1 to x2 by s, or x2 to x3 by id: neither asks less
    "correlation_eq-p04": ALTERNATIVES,  # each pair of neighbours by its own id
    "correlation_eq-p13": ALTERNATIVES,  # x1 to x2, or x2 to x3
    "correlation_in_iteration-p01": CANNOT,  # after a repetition that took the other alternative
    "correlation_in_iteration-p04": CANNOT,  # the repetitions carry id, x3 needs s
    "correlation_in_iteration-p07": CANNOT,  # after a repetition that took the other alternative
}
"""The cases with equalities alone that no chain of equalities expresses, and why."""


def refusal_of(query: str) -> tuple[Diagnostic, ...]:
    """What the route of chains finds wrong with a query that a later route answers."""
    plan = cer.compile(query)._plan
    assert plan.engine in ("apart", "general")
    found = dict(plan.said)["chain"]
    assert found is not None
    return found.diagnostics


def test_which_cases_no_chain_expresses_and_why() -> None:
    """All are evaluated: `test_engine_cases` compares their answers."""
    refused = {
        case["id"]: found[0].message
        for case in cases("correlation_eq", "correlation_in_iteration")
        if cer.compile(case["query"])._plan.engine == "general" and (found := refusal_of(case["query"]))
    }
    refused = {name: why for name, why in refused.items() if "this engine does not take" not in why}
    assert refused.keys() == REFUSED_CASES.keys()
    assert all(why in refused[name] for name, why in REFUSED_CASES.items())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    head, shown = path.read_text(encoding="utf-8").split(RULE)
    query = "\n".join(line for line in head.splitlines() if not line.startswith("# "))
    assert f"{render_all(refusal_of(query), query)}\n" == shown


def test_there_are_golden_files() -> None:
    shown = "".join(path.read_text(encoding="utf-8") for path in GOLDEN)
    assert len(GOLDEN) >= 12
    assert all(why in shown for why in (ALTERNATIVES, CANNOT, "drops the mark of"))


@pytest.mark.draws("seed", 4)
def test_the_runs_of_a_chain_are_the_complex_events_of_the_formula(seed: int) -> None:
    """By the definitions of both sides, without plan or engine."""
    rng = Random(f"chains {seed}")
    found: Counter[str] = Counter()
    for _ in range(60):
        pattern = random_correlated(rng).pattern
        events = stream(rng, 7)
        try:
            automaton = chains.to_pcea(to_lp(unfolded(pattern)))
        except cer.QueryError:
            continue
        runs = {run.valuation for ended in accepting_runs(automaton, events) for run in ended}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            answers = evaluate(SelectQuery(pattern), events, order="ts")
        assert runs == {
            frozenset((name, position) for name, marked in answer.marks.items() for position in marked)
            for answer in answers
        }
        found["compared"] += 1
        found["answered"] += bool(runs)
    assert found["compared"] > 20
    assert found["answered"] > 5


@pytest.mark.parametrize("query", REFUSED)
def test_what_cannot_be_followed_is_refused_by_name(query: str) -> None:
    (found,) = refusal_of(query)
    assert REFUSED[query] in found.message
    assert f"chain: no: {found.message}" in " ".join(cer.compile(query).explain(verbose=True).split())


def test_an_alternative_that_asks_less_wins() -> None:
    """`b.id = a.id OR b[p > 3]`: for a dear b the equality adds nothing."""
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER b.id = a.id OR b[p > 3]")
    table = pa.table({"type": list("AABB"), "id": [1, 2, 2, 1], "p": [0, 0, 9, 1]})
    assert [(ce.start, ce.end) for ce in query.run(table)] == [(0, 2), (1, 2), (0, 3)]
    assert query.count(table) == 3


def test_arithmetic_may_stand_in_an_equality() -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER b.n = a.n + 1")
    table = pa.table({"type": list("AAB"), "n": [1, 4, 5]})
    assert [(ce.start, ce.end) for ce in query.run(table)] == [(1, 2)]


def test_null_and_nan_equal_nothing() -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k")
    table = pa.table({"type": list("AABB"), "k": [None, float("nan"), None, float("nan")]})
    assert query.count(table) == 0
    zeros = pa.table({"type": list("AB"), "k": [0.0, -0.0]})
    assert query.count(zeros) == 1


def test_an_event_with_both_marks_needs_a_value() -> None:
    query = cer.compile("SELECT * WHERE A AS x AS y FILTER x.id = y.id")
    assert [ce.start for ce in query.run(pa.table({"type": list("AAA"), "id": [1, None, 2]}))] == [0, 2]


@pytest.mark.parametrize(
    ("where", "dropped"),
    [
        ("A AS x AS y ; B AS z FILTER x.k = y.k", 0),
        ("(A AS x AS y FILTER x.k = y.k) ; B", 0),
        ("A AS x AS y ; B AS z FILTER x.k = y.j", 1),
    ],
)
def test_an_event_with_both_marks_is_compared_with_itself(where: str, dropped: int) -> None:
    table = pa.table({"type": list("AB"), "k": pa.array([None, 1], pa.int64()), "j": [1, 1]})
    assert cer.compile(f"SELECT * WHERE {where}").count(table) == 0
    filled = pa.table({"type": list("AAB"), "k": [1, 2, 1], "j": [2, 2, 1]})
    assert cer.compile(f"SELECT * WHERE {where}").count(filled) == 2 - dropped


REPEATED = "(A AS a ; (B AS b)+ ; C AS c FILTER a.y = b.y)"
TWICE = "(A AS a ; B AS b ; B AS b ; C AS c FILTER a.x = b.x)"


@pytest.mark.parametrize("where", [f"{REPEATED} OR {TWICE}", f"{TWICE} OR {REPEATED}"])
def test_an_overlap_is_found_in_either_order(where: str) -> None:
    """One alternative stays in its state where the other goes on, so pairs of runs change their order."""
    assert "two alternatives can match the same event" in refusal_of(f"SELECT * WHERE {where}")[0].message


def test_an_alternative_that_asks_less_at_a_later_event_wins_too() -> None:
    """Neither that all x are dear nor that all have the id is decided at the first of them."""
    where = "A AS a ; (B AS x)+ FILTER x.id = a.id OR x[p > 3]"
    events = {"type": list("ABBB"), "id": [1, 1, 1, 2], "p": [0, 9, 0, 9]}
    query = cer.compile(f"SELECT * WHERE {where}")
    assert [ce.marks["x"] for ce in query.run(pa.table(events))] == [(1,), (1, 2), (2,), (1, 3), (3,)]
    assert query.count(pa.table(events)) == 5


def test_a_scope_binds_what_is_read_inside_it_only() -> None:
    """x is compared with the y of the whole pattern, not with those of the iteration to its right."""
    query = cer.compile("SELECT * WHERE (A AS x FILTER x.id = y.id) ; ((B AS y)+ ; C AS y)")
    table = pa.table({"type": list("ABCC"), "id": [1, 1, 2, 1]})
    assert [(ce.start, ce.end) for ce in query.run(table)] == [(0, 3)]
    nested = cer.compile("SELECT * WHERE (A AS n AS y)+ OR (A AS x FILTER x.id = y.id) AS y")
    null = pa.table({"type": ["A"], "id": pa.array([None], pa.int64())})
    assert [sorted(ce.marks) for ce in nested.run(null)] == [["A", "n", "y"]]


def test_an_equality_that_is_sure_to_meet_is_not_guessed() -> None:
    equalities = " AND ".join(f"a.k{number} = b.k{number}" for number in range(40))
    text = f"SELECT * FROM S WHERE A AS a ; B AS b ; C AS c FILTER {equalities} AND b.z = c.z"
    query = parse(text)
    assert isinstance(query, SelectQuery)
    assert chains.to_pcea(to_lp(unfolded(query.pattern))).size < 200


def test_only_what_may_happen_is_guessed() -> None:
    query = parse("SELECT * FROM S WHERE A AS a ; (B AS b OR C AS c) ; D AS d FILTER a.x = b.x AND a.y = d.y")
    assert isinstance(query, SelectQuery)
    automaton = position_automaton(to_lp(unfolded(query.pattern)))
    (maybe, _), (sure, _) = (prospects_of(automaton, one) for one in automaton.constraints)
    first = automaton.first[0]
    assert [first in positions for positions in maybe] == [True, True]
    assert [first in positions for positions in sure] == [True, False]
