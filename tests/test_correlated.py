"""Equalities between the events of a pattern: what becomes a partition, what a chain, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.automata import correlated
from cer_gpu.automata.pcea import Equality, Gather
from cer_gpu.language.parser import parse
from cer_gpu.language.tree import Attribute, Query
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.lp import to_lp

ID = (Attribute("id"),)


def chain(where: str) -> correlated.PCEA:
    query = parse(f"SELECT * WHERE {where}")
    assert isinstance(query, Query)
    return correlated.to_pcea(to_lp(unfolded(query.pattern)))


def shape(moves: tuple[Gather, ...]) -> list[tuple[object, ...]]:
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


def move_order(moves: tuple[Gather, ...]) -> list[Gather]:
    return sorted(moves, key=lambda move: (move.sources, move.target, sorted(map(str, move.label))))


def test_a_chain_compares_each_event_with_the_one_before_it() -> None:
    found = chain("A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y")
    assert shape(found.transitions) == [
        ((), "A", [], ["A", "a"], 0),
        ((0,), "B", [("x", "x")], ["B", "b"], 1),
        ((1,), "C", [("y", "y")], ["C", "c"], 2),
    ]
    assert found.is_chain
    assert found.final == {2}


def test_a_value_is_carried_along_equalities() -> None:
    # a.x reaches c by way of b.x, which equals both
    found = chain("A AS a ; B AS b ; C AS c FILTER a.x = b.x AND a.x = c.x")
    assert shape(found.transitions)[2] == ((1,), "C", [("x", "x")], ["C", "c"], 2)
    assert correlated.shared_keys(found) == {name: (Attribute("x"),) for name in "ABC"}


def test_a_filter_inside_a_repetition_speaks_of_that_repetition() -> None:
    found = chain("(A AS a ; B AS b FILTER a.id = b.id)+")
    assert shape(found.transitions) == [
        ((), "A", [], ["A", "a"], 0),
        ((0,), "B", [("id", "id")], ["B", "b"], 1),
        ((1,), "A", [], ["A", "a"], 0),
    ]
    assert correlated.shared_keys(found) is None


def test_a_filter_in_a_repetition_may_speak_of_a_variable_outside() -> None:
    """Language section 4: legal, and all events have one id."""
    found = chain("(H AS x ; (T AS y FILTER y.id = x.id)+ ; H AS z) FILTER x.id = z.id")
    assert correlated.shared_keys(found) == {"H": ID, "T": ID}


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
            "SELECT * WHERE A AS a ; B AS b ; A AS c FILTER a.id = b.id AND b.id = c.id WITHIN 9 EVENTS",
            "regular: the correlation makes all events of a complex event share a key",
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
    assert said in cer.compile(query).explain()


REFUSED = {
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x = c.x": (
        "CER061",
        "the `C` comes after a `B` that does not have the value to compare with",
    ),
    "SELECT * WHERE A AS a ; B AS b FILTER NOT (a.x = b.x)": ("CER061", "it is more than an equality"),
    "SELECT * WHERE A AS a ; NOT (B) ; C AS c FILTER a.x = c.x": ("CER061", "cannot stand beside"),
    "SELECT * WHERE A AS a ; B AS b ; (C FILTER a.x = b.x)": ("CER061", "defined outside of the pattern"),
    "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.x OR a.y = b.y": ("CER062", "alternatives overlap"),
    "SELECT a, c WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y": (
        "CER063",
        "keeps no mark of a `B`",
    ),
    "SELECT * WHERE A AS a ; B AS b FILTER a.x < b.x": ("CER090", "`<` between two variables"),
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_cannot_be_followed_is_refused_by_name(query: str) -> None:
    code, said = REFUSED[query]
    with pytest.raises(cer.QueryError) as caught:
        cer.compile(query)
    assert [finding.code for finding in caught.value.diagnostics] == [code]
    assert said in str(caught.value)
    assert code in {finding.code for finding in cer.api.check(query)}


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
