"""Flat chains of any length: read, printed, checked and compiled, at what cost, where their nodes stand."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from counting import calls

import cer_gpu as cer
from cer_gpu.language import tree as t
from cer_gpu.language.chains import as_written, balanced, chain_of, flattened
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.walk import walk
from cer_gpu.plan.leaves import RoleColumns
from cer_gpu.plan.outline import outline
from cer_gpu.plan.planning.planner import plan

SCHEMA = Schema({"v": ValueType.INT64, "p": ValueType.FLOAT64})


def pattern(text: str) -> t.Pattern:
    statement = parse(f"SELECT * WHERE {text}")
    assert isinstance(statement, t.SelectQuery)
    return statement.pattern


def depth(node: Any) -> int:
    """How deep the chains of a tree nest."""
    if not isinstance(node, t.Sequence | t.And | t.All | t.Or | t.Both | t.Either):
        return 0
    return 1 + max(depth(node.left), depth(node.right))


def repeated(operator: str, part: Callable[[int], str]) -> Callable[[int], str]:
    return lambda count: operator.join(map(part, range(count)))


def of_one(chain: Callable[[int], str]) -> Callable[[int], str]:
    return lambda count: f"A AS x FILTER {chain(count)}"


CHAINS = {
    "sequence": repeated(" ; ", lambda k: "ABC"[k % 3]),
    "contiguous": repeated(" : ", lambda k: "ABC"[k % 3]),
    "or": repeated(" OR ", lambda k: "ABC"[k % 3]),
    "and": repeated(" AND ", lambda k: "A"),
    "names": repeated(" ; ", lambda k: f"A AS x{k}"),
    "filters": repeated(" ; ", lambda k: f"(A AS x{k} FILTER x{k}[v > {k % 5}])"),
    "late filters": lambda count: (
        repeated(" ; ", lambda k: f"A AS x{k}")(count)
        + " FILTER "
        + repeated(" AND ", lambda k: f"x{k}[v > {k % 5}]")(count)
    ),
    "types": repeated(" OR ", lambda k: f"T{k}"),
    "or in brackets": lambda count: f"A FILTER A[{repeated(' OR ', lambda k: f'v = {7 * k}')(count)}]",
    "and in brackets": lambda count: f"A FILTER A[{repeated(' AND ', lambda k: f'v != {7 * k}')(count)}]",
    "two columns": lambda count: f"A FILTER A[{repeated(' OR ', lambda k: f'v = {k} OR p > {k}')(count)}]",
    "or of brackets": of_one(repeated(" OR ", lambda k: f"x[v = {7 * k}]")),
    "and of brackets": of_one(repeated(" AND ", lambda k: f"x[v != {7 * k}]")),
}


@pytest.mark.parametrize("kind", CHAINS)
def test_a_chain_of_thousands_compiles(kind: str) -> None:
    text = f"SELECT * WHERE {CHAINS[kind](1_024)} WITHIN 9 EVENTS"
    statement = parse(text)
    assert max(map(depth, walk(statement))) in (10, 11)  # two comparisons each make one more
    assert not [one for one in check(statement, SCHEMA) if one.severity == "error"]
    assert parse(to_text(statement)) == statement
    assert to_text(statement).count("(") == text.count("(")
    plan(outline(statement, text), SCHEMA, RoleColumns())


@pytest.mark.parametrize("kind", CHAINS)
def test_the_work_grows_with_the_length(kind: str) -> None:
    """Four times as long takes not much more than four times the work: n log n, not n squared."""

    def compiled(count: int) -> int:
        text = f"SELECT * WHERE {CHAINS[kind](count)} WITHIN 9 EVENTS"

        def work() -> None:
            statement = parse(text)
            check(statement, SCHEMA)
            to_text(statement)
            plan(outline(statement, text), SCHEMA, RoleColumns())

        return calls(work)

    compiled(10)
    assert compiled(480) < 6.5 * compiled(120)


@pytest.mark.parametrize("operator", [";", ":", "AND", "ALL", "OR"])
def test_chains_are_balanced_and_printed_as_they_are_written(operator: str) -> None:
    for count in range(1, 40):
        text = f" {operator} ".join(f"T{k}" for k in range(count))
        read = pattern(text)
        assert depth(read) == (count - 1).bit_length()
        assert to_text(read) == text
        names = [node.name for node in walk(read) if isinstance(node, t.EventType)]
        assert names == [f"T{k}" for k in range(count)]


def test_every_node_of_a_chain_stands_at_its_operands() -> None:
    text = "SELECT * WHERE (A ; B) ; (C AS x) : D ;[<= 5 s] (E OR F) -- end\n; G"
    statement = parse(text)
    assert isinstance(statement, t.SelectQuery)

    def said(node: t.Pattern) -> str:
        assert node.span is not None
        return text[node.span.start : node.span.end]

    whole = statement.pattern
    assert isinstance(whole, t.Sequence)
    assert isinstance(whole.left, t.Sequence)
    assert isinstance(whole.left.left, t.Sequence)
    assert said(whole) == "(A ; B) ; (C AS x) : D ;[<= 5 s] (E OR F) -- end\n; G"
    assert said(whole.left) == "(A ; B) ; (C AS x) : D"
    assert said(whole.left.left) == "(A ; B) ; (C AS x)"
    assert said(whole.right) == "(E OR F) -- end\n; G"
    assert whole.left.contiguous
    assert not whole.contiguous
    assert whole.gap is not None
    assert isinstance(whole.right, t.Sequence)
    assert whole.right.gap is None


def test_an_error_in_a_chain_is_pointed_at() -> None:
    text = "SELECT * WHERE " + " ; ".join(["A AS x"] * 200 + ["B AS y FILTER y[w > 3]"])
    (found,) = [one for one in check(parse(text), SCHEMA) if one.severity == "error"]
    assert found.span is not None
    assert text[found.span.start : found.span.end] == "w"


def test_parentheses_stay_where_they_change_the_tree() -> None:
    assert to_text(pattern("A ; (B ; C)")) == "A ; (B ; C)"
    assert to_text(pattern("(A ; B) ; C")) == "A ; B ; C"
    assert to_text(pattern("(A ; B ; C) ; D")) == "(A ; B ; C) ; D"
    assert to_text(pattern("A ; B ; (C : D : E)")) == "A ; B ; (C : D : E)"
    assert to_text(pattern("A OR B AND (C OR D)")) == "A OR B AND (C OR D)"
    rng = Random(3)

    def drawn(size: int) -> t.Pattern:
        if size == 1:
            return t.EventType("A")
        left = rng.randrange(1, size)
        return t.Sequence(drawn(left), drawn(size - left), rng.random() < 0.3)

    for _ in range(200):
        tree = drawn(rng.randrange(1, 12))
        assert pattern(to_text(tree)) == tree


def test_operands_are_those_that_were_joined() -> None:
    for count in range(1, 70):
        tree = chain_of(t.Both, [t.Truth(k % 2 == 0) for k in range(count)])
        assert flattened(t.Both, tree) == [t.Truth(k % 2 == 0) for k in range(count)]
        if count > 1:
            operands, joined = as_written(tree)
            assert (len(operands), len(joined)) == (count, count - 1)
    with pytest.raises(ValueError, match="no parts"):
        balanced([], lambda place, left, right: left)


def test_a_long_chain_means_what_a_short_one_does() -> None:
    events = pa.table({"type": [*"ABC"] * 70, "v": list(range(210))})
    whole = cer.compile("SELECT * WHERE " + " : ".join("ABC"[k % 3] for k in range(200)))
    assert whole.hits(events)["position"].to_pylist() == [199, 202, 205, 208]
    some = cer.compile("SELECT * WHERE A FILTER A[" + " OR ".join(f"v = {k}" for k in range(0, 160, 2)) + "]")
    assert some.hits(events)["position"].to_pylist() == list(range(0, 160, 6))
    equal = " ; ".join(f"A AS x{k}" for k in range(160))
    linked = " AND ".join(f"x{k}.v = x{k + 1}.v" for k in range(159))
    chained = cer.compile(f"SELECT * WHERE {equal} FILTER {linked} WITHIN 159 EVENTS")
    assert chained.count(pa.table({"type": ["A"] * 165, "v": [1] * 162 + [2] * 3})) == 3


@pytest.mark.parametrize("text", [" ALL ".join("ABC" * 8), " ALL ".join(["(A ALL B ALL C ALL A)"] * 8)])
def test_operators_that_multiply_end_at_the_budget(text: str) -> None:
    """ALL multiplies the automata of its operands: that is refused before it takes time and memory."""
    with pytest.raises(
        cer.LimitError, match=r"the automaton of `ALL` (is too large|takes too long)"
    ) as caught:
        cer.compile(f"SELECT * WHERE {text}").count(pa.table({"type": ["A"]}))
    assert "This comes from `ALL` in\n" in str(caught.value)
