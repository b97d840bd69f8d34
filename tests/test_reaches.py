"""The longest time that the intervals of a pattern allow, which is its window where no WITHIN is written."""

from __future__ import annotations

import math

import pytest

import cer_gpu as cer
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.plan.reaches import longest

LONGEST = {
    "A ;[<= 5 s] B ;[< 5 s] C": 9_999,
    "A ;[<= 5 s] B ; C": None,
    "(A ; B ;[>= 1 s] C) WITHIN [<= 9 s]": 9_000,
    "((A ; B) WITHIN [<= 2 s] ; C) WITHIN [1 s, 9 s]": 9_000,
    "(A ; B) WITHIN [<= 2 s] :[<= 1 s] C": 3_000,
    "(A ; B) WITHIN [<= 2 s] : C": None,
    "(A ;[<= 1 s] B){2,3}[<= 2 s]": 7_000,
    "(A ;[<= 1 s] B){2,}[<= 2 s]": None,
    "A+[<= 2 s]": None,
    "A{,3}[<= 2 s]": 4_000,
    "A ;[<= 5 s] B AND A ; B": 5_000,
    "A ;[<= 5 s] B OR A ;[<= 7 s] C": 7_000,
    "A ;[<= 5 s] B OR A ; C": None,
    "A ;[<= 5 s] B OR A": 5_000,
    "A ;[<= 5 s] B ALL C": None,
    "(A ;[<= 5 s] B ALL C) WITHIN [<= 6 s]": 6_000,
    "(A ;[<= 5 s] B) UNLESS C": 5_000,
    "A ;[<= 5 s] B FOLLOWED BY [<= 9 s] C": 5_000,
    "NXT(A ;[<= 5 s] B)": None,
    "(NXT(A ; B)) WITHIN [<= 5 s]": None,
    "PROJECT(A AS a ;[= 1 s] A | a)": 1_000,
    "A ; B": None,
    "A": None,
}


def schema(kind: ValueType) -> Schema:
    return Schema({"ts": kind}, None, frozenset(), order="ts", units={"ts": "ms"})


@pytest.mark.parametrize("pattern", LONGEST)
def test_the_longest_time_of_a_pattern(pattern: str) -> None:
    statement = parse(f"SELECT * WHERE {pattern}")
    assert isinstance(statement, tree.SelectQuery)
    assert longest(statement.pattern, schema(ValueType.TIMESTAMP)) == LONGEST[pattern]


def test_sums_of_float_times_are_not_rounded_down() -> None:
    statement = parse("SELECT * WHERE A ;[<= 0.1] B ;[<= 0.2] C")
    assert isinstance(statement, tree.SelectQuery)
    found = longest(statement.pattern, schema(ValueType.FLOAT64))
    assert found is not None
    assert 0.3 < found < math.nextafter(0.3, 1) + 1e-9


def test_a_very_long_chain_is_no_deep_recursion() -> None:
    statement = parse("SELECT * WHERE A" + " ;[<= 1 s] A" * 2_000)
    assert isinstance(statement, tree.SelectQuery)
    assert longest(statement.pattern, schema(ValueType.TIMESTAMP)) == 2_000_000


def test_explain_says_so() -> None:
    said = cer.compile("SELECT * WHERE ((A ; B) WITHIN [<= 2 s] ; C) WITHIN [<= 9 s]").explain(verbose=True)
    assert "window      none is written; the upper bounds of the intervals add up to a window\n" in said
    said = cer.compile("SELECT * WHERE A ;[<= 2 s] B ; C").explain(verbose=True)
    assert "window      none: the end may be as far from the start as the pattern allows\n" in said
