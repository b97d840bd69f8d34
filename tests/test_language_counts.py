"""Counts, optional elements and other recent forms: what their texts are read as."""

from __future__ import annotations

import pytest

from cer_gpu.errors import QueryError
from cer_gpu.language import tree as t
from cer_gpu.language.check import check
from cer_gpu.language.parser import MAX_DEPTH, parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.repetitions import has_optional, may_be_empty

A, B, C = (t.EventType(name) for name in "ABC")


def pattern(text: str) -> t.Pattern:
    return parse(f"SELECT * WHERE {text}").pattern


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("A {3}", t.Times(3, 3)),
        ("A{3,}", t.Times(3, None)),
        ("A {2 , 5}", t.Times(2, 5)),
        ("A {,4}", t.Times(1, 4, unsaid=True)),
        ("A {$n,}", t.Times(1, None, t.Parameter("n"))),
        ("A {$n}", t.Times(1, 1, t.Parameter("n"), t.Parameter("n"))),
    ],
)
def test_counts(text: str, times: t.Times) -> None:
    assert pattern(text) == t.Iteration(A, times=times)
    assert pattern(text.replace("A", "A :", 1)) == t.Iteration(A, True, times=times)
    assert pattern(f"{text}[<= 5 s]").gap is not None


@pytest.mark.parametrize("text", ["A ; B ? ; C", "A ; B {0,1} ; C", "A ; B {0,} ; C", "A ; B {0,2} ? ; C"])
def test_what_may_be_left_out_is_an_element_of_a_sequence_that_leans_to_the_left(text: str) -> None:
    read = pattern(text)
    assert isinstance(read, t.Sequence)
    assert isinstance(read.left, t.Sequence)
    assert isinstance(read.left.right, t.Optional)
    assert has_optional(read)
    assert not may_be_empty(read)


def test_a_group_on_the_right_is_one_element() -> None:
    apart, together = pattern("A ; B : (A ? ; C)"), pattern("A ; B : A ? ; C")
    assert apart != together
    assert to_text(apart) == "A ; B : (A ? ; C)"
    assert to_text(together) == "A ; B : A ? ; C"


def test_a_long_sequence_may_have_optional_elements_up_to_the_depth_of_a_query() -> None:
    parse("SELECT * WHERE " + " ; ".join(["A ?"] * (MAX_DEPTH - 10) + ["B"]))
    with pytest.raises(QueryError, match=r"most of it by a sequence with `\?`"):
        parse("SELECT * WHERE " + " ; ".join(["A ?"] * 200 + ["B"]))
    parse("SELECT * WHERE " + " ; ".join(["A", "B {2,3}"] * 1_000))


def test_types_and_fields_between_back_ticks() -> None:
    query = parse("SELECT l[`payload.price`] WHERE `4624` AS l ; `4634` FILTER l.`payload.price` > 3")
    assert [node.name for node in (query.pattern.pattern.left.pattern, query.pattern.pattern.right)] == [
        "4624",
        "4634",
    ]
    assert query.select == (t.SelectItem("l", ("payload.price",)),)
    assert parse(to_text(query)) == query


@pytest.mark.parametrize(
    ("text", "select", "measures"),
    [
        ("*, LAST(a.v) AS last", None, ["last"]),
        ("NONE, COUNT(a) AS n", (), ["n"]),
        ("COUNT(a) AS n, b.v AS v", (t.SelectItem("a"), t.SelectItem("b")), ["n", "v"]),
        ("b, a.v + 1 AS v", (t.SelectItem("b"), t.SelectItem("a")), ["v"]),
        ("a[*], MAX(a.v) - MIN(a.v) AS span", (t.SelectItem("a", whole=True),), ["span"]),
        ("LAST(a.v) AS v", (t.SelectItem("a"),), ["v"]),
    ],
)
def test_a_list_keeps_what_its_measures_read(
    text: str, select: tuple[t.SelectItem, ...] | None, measures: list[str]
) -> None:
    query = parse(f"SELECT {text} WHERE A+ AS a ; B AS b")
    assert query.select == select
    assert [measure.name for measure in query.measures] == measures
    assert query.strategy is t.Strategy.ALL
    assert [one for one in check(query) if one.severity == "error"] == []


def test_a_strategy_before_a_list_and_a_function_before_a_parenthesis() -> None:
    assert parse("SELECT MAX a WHERE A AS a").strategy is t.Strategy.MAX
    assert parse("SELECT LAST *, LAST(a.v) AS v WHERE A AS a").strategy is t.Strategy.LAST
    assert parse("SELECT max, last WHERE A AS max ; B AS last").select == (
        t.SelectItem("max"),
        t.SelectItem("last"),
    )


def test_words_of_functions_and_of_followed_by_are_names_too() -> None:
    text = "SELECT prior, count WHERE followed AS prior ; preceded AS count FILTER prior.distinct = count.by"
    query = parse(text)
    assert parse(to_text(query)) == query
    assert query.select == (t.SelectItem("prior"), t.SelectItem("count"))


def test_followed_by_chains_to_the_left() -> None:
    assert pattern("A FOLLOWED BY B NOT PRECEDED BY C UNLESS A") == t.Unless(
        t.Beside(t.Beside(A, B), C, before=True, negated=True), A
    )
    assert pattern("A FOLLOWED BY B ; C OR A") == t.Beside(A, t.Or(t.Sequence(B, C), A))
