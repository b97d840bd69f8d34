"""Sets of IN: one lookup whatever the number of members, and exact next to comparisons on the same column."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from counting import calls

import cer_gpu as cer
from cer_gpu.language import tree as t
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.tokens import read_tokens
from cer_gpu.language.walk import walk
from cer_gpu.plan.axes import CutAxis
from cer_gpu.plan.leaves import RoleColumns
from cer_gpu.plan.outline import outline
from cer_gpu.plan.planning.planner import plan
from cer_gpu.reference.conditions import predicate_holds
from cer_gpu.reference.events import Event

SCHEMA = Schema({"v": ValueType.INT64, "p": ValueType.FLOAT64, "s": ValueType.STRING})


def query(predicate: str) -> str:
    return f"SELECT * WHERE A AS x FILTER x[{predicate}]"


def read(predicate: str) -> t.Condition:
    """The predicate of `query`, read."""
    statement = parse(query(predicate))
    assert isinstance(statement, t.SelectQuery)
    assert isinstance(statement.pattern, t.Filter)
    assert isinstance(statement.pattern.condition, t.Every)
    return statement.pattern.condition.predicate


def cut_axis(predicate: str) -> CutAxis:
    text = query(predicate)
    axes = plan(outline(parse(text), text), SCHEMA, RoleColumns()).compiled.reading.axes
    (axis,) = [axis for axis in axes if isinstance(axis, CutAxis)]
    return axis


# -------------------------------------------------------------------------------- what it costs


def numbers(count: int) -> str:
    return "v IN {" + ", ".join(str(7 * k % 1_000_003) for k in range(count)) + "}"


def ranges(count: int) -> str:
    return "p NOT IN {" + ", ".join(f"{k}..{k + 0.5}" for k in range(count)) + "}"


def texts(count: int) -> str:
    return "s IN {" + ", ".join(f"'{k}'" for k in range(count)) + "}"


def two_sets(count: int) -> str:
    return f"{numbers(count)} AND {numbers(count // 2).replace('IN', 'NOT IN')} AND v > 5"


@pytest.mark.parametrize("predicate", [numbers, ranges, texts, two_sets])
def test_the_work_of_compiling_does_not_grow_with_the_members(predicate: Callable[[int], str]) -> None:
    """All that is done for each member is done inside a few calls: no node, no token, no cut of its own."""

    def compiled(count: int) -> int:
        text = query(predicate(count))

        def work() -> None:
            statement = parse(text)
            assert not check(statement, SCHEMA)
            plan(outline(statement, text), SCHEMA, RoleColumns())

        return calls(work)

    compiled(10)
    assert compiled(20_000) < compiled(200) + 10 * 20_000
    text = query(predicate(5_000))
    assert len(read_tokens(text).tokens) < 40
    assert len(list(walk(parse(text)))) < 40
    assert cut_axis(predicate(5_000)).size == 2


def test_a_set_is_one_lookup_in_the_tables() -> None:
    """Members that no value of a column parts share a range; a set has two classes whatever its members."""
    bounds, classes = cut_axis("v IN {1, 2, 3, 10, 7..9}").thresholds(np.dtype(np.int32))
    assert bounds.tolist() == [1, 4, 7, 11]
    assert classes.tolist() == [0, 1, 0, 1, 0]
    axis = cut_axis("s IN {'b', 'd'}")
    assert axis.text_classes(["a", "b", None, "c", "d", "e"]).tolist() == [0, 1, 0, 0, 1, 0]
    axis = cut_axis("s IN {'b', 'd'} OR s > 'dd'")
    assert axis.text_classes(["a", "b", None, "d", "dd", "de"]).tolist() == [0, 1, 0, 1, 0, 1]


# ------------------------------------------------------------------------------ what it means

WHOLE = [0, 1, 2, 3, -1, -5, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63)]
POINTS = [0.0, -0.0, 0.5, 1.0, 2.5, 3.0, -1.0, 2.0**53, 2.0**53 + 2, 1e300, -1e300, 5e-324, 2.0**63]
WORDS = ["", "a", "b", "B", "é", "\U0001f600", "it's", "b\n"]


def drawn_set(rng: Random, attribute: str) -> t.Condition:
    operand = t.Attribute(attribute)
    if attribute == "s":
        members = t.Members.of(*(t.Text(rng.choice(WORDS)) for _ in range(rng.randrange(1, 4))))
        return t.InSet(operand, members)
    drawn = [t.Number(rng.choice((*WHOLE, *POINTS))) for _ in range(rng.randrange(1, 5))]
    ends = [rng.choice((None, *drawn)) for _ in range(4)]
    ranges = [pair for pair in (ends[:2], ends[2:]) if pair != [None, None]]
    return t.InSet(operand, t.Members.of(*drawn, ranges=[tuple(pair) for pair in ranges]))


def drawn_predicate(rng: Random, attribute: str, depth: int = 3) -> t.Condition:
    """Sets and comparisons over one attribute, joined in any way."""
    match rng.randrange(6) if depth else 5 + rng.randrange(2):
        case 0 | 1:
            return t.Not(drawn_predicate(rng, attribute, depth - 1))
        case 2 | 3:
            return t.Both(*(drawn_predicate(rng, attribute, depth - 1) for _ in range(2)))
        case 4:
            return t.Either(*(drawn_predicate(rng, attribute, depth - 1) for _ in range(2)))
        case 5:
            return drawn_set(rng, attribute)
    constant = t.Text(rng.choice(WORDS)) if attribute == "s" else t.Number(rng.choice((*WHOLE, *POINTS)))
    return t.Comparison(rng.choice(("=", "!=", "<", "<=", ">", ">=")), t.Attribute(attribute), constant)


@pytest.mark.parametrize("attribute", ["v", "p", "s"])
def test_sets_and_comparisons_on_one_column_hold_where_the_reference_says(attribute: str) -> None:
    rng = Random(attribute)
    values: dict[str, list[Any]] = {
        "v": [None, *WHOLE, 4, -4, 2**53 + 2, 2**63 - 2],
        "p": [None, *POINTS, math.nan, math.inf, -math.inf, 0.25, 2.0**53 - 1, 9007199254740994.0],
        "s": [None, *WORDS, "aa", "\uffff", "zz"],
    }
    column = values[attribute]
    kind = {"v": pa.int64(), "p": pa.float64(), "s": pa.string()}[attribute]
    table = pa.table({"type": ["A"] * len(column), attribute: pa.array(column, kind)})
    found = set()
    for _ in range(150):
        predicate = drawn_predicate(rng, attribute)
        text = query(to_text(predicate))
        assert read(to_text(predicate)) == predicate
        hits = cer.compile(text).hits(table)["position"].to_pylist()
        wanted = [
            place
            for place, value in enumerate(column)
            if predicate_holds(predicate, Event("A", {attribute: value}))
        ]
        assert hits == wanted, text
        found.add(len(wanted))
    assert len(found) > 5


def test_members_of_other_kinds() -> None:
    """Durations, timestamps, truth values and ranges of durations are members like any other."""
    columns = {
        "t": pa.array([0, 86_400_000, 90_000_000, None], pa.timestamp("ms")),
        "d": pa.array([1, 5, 7, None], pa.duration("s")),
        "b": pa.array([True, False, None, True]),
    }
    table = pa.table({"type": ["A"] * 4, **columns})

    def hits(predicate: str) -> list[int]:
        return cer.compile(query(predicate)).hits(table)["position"].to_pylist()

    assert hits("t IN {'1970-01-02', '1970-01-02T01:00:00Z'}") == [1, 2]
    assert hits("d IN {1 s, 6 s..1 min /* } */, 10 ms}") == [0, 2]
    assert hits("d NOT IN {1 s, 6 s..}") == [1, 3]
    assert hits("b IN {FALSE, TRUE}") == [0, 1, 3]
    assert hits("b IN {FALSE}") == [1]


# -------------------------------------------------------------------------------- how it is written


@pytest.mark.parametrize(
    ("written", "members"),
    [
        ("{1, -2, 3.5, 1e3}", t.Members((1, -2, 3.5, 1000.0))),
        ("{- 2,\n.5 , 7}", t.Members((-2, 0.5, 7))),
        ("{1..3, 5, ..0, 9..}", t.Members((5,), (1, None, 9), (3, 0, None))),
        ("{'a', 'it''s', '}', ','}", t.Members(texts=("a", "it's", "}", ","))),
        ("{1, 'a', 2}", t.Members((1, 2), texts=("a",))),
        ("{-9223372036854775808, 9223372036854775807}", t.Members((-(2**63), 2**63 - 1))),
        ("{1, /* } */ 2 -- }\n}", t.Members((1, 2))),
        ("{1 s, TRUE}", t.Members(others=(t.Quantity(1, "s"), t.Boolean(True)))),
        ("{1 s.., 2}", t.Members((2,), (t.Quantity(1, "s"),), (None,))),
    ],
)
def test_what_a_set_holds(written: str, members: t.Members) -> None:
    found = read(f"v IN {written}")
    assert isinstance(found, t.InSet)
    assert found.members == members
    assert [type(number) for number in found.members.numbers] == [type(one) for one in members.numbers]
    assert read(f"v NOT IN {written}") == t.Not(found)


WRITTEN = [
    "1",
    " 22",
    "-3",
    "- 4",
    "5..6",
    " -7..8",
    "9 .. 10",
    "..1",
    "2..",
    "1.5",
    ".5..1e3",
    "'a'",
    " 'b''c'",
]


def test_a_set_read_at_once_holds_what_it_holds_member_by_member() -> None:
    """A comment inside has it read member by member."""
    rng = Random(7)
    for some in range(300):
        among = rng.sample(WRITTEN, rng.randint(1, 4)) if some % 2 else WRITTEN
        members = [rng.choice(among) for _ in range(rng.randint(1, 6))]
        at_once, singly = (f"v IN {{{','.join(members)}{more}}}" for more in ("", " /* */"))
        assert read(at_once) == read(singly), at_once


@pytest.mark.parametrize(
    ("predicate", "message", "marked"),
    [
        ("v IN {1, 2, 'x', 3, 'y'}", "`v` is an int64 and `'x'` is a string", "'x'"),
        ("s IN {'a', 2.5, 'b', 3}", "`s` is a string and `2.5` is a float64", "2.5"),
        ("s IN {/* 1 */ 'a', 7 /* 2 */}", "`s` is a string and `7` is an int64", "7"),
        ("s IN {'a', 3..7}", "`s` is a string and `3` is an int64", "3..7"),
        ("v IN {1, 2 s}", "`v` is an int64 and `2 s` is a duration", "2 s"),
        ("v IN {1, 9..7, 3..4}", "the range is empty", "v IN {1, 9..7, 3..4}"),
    ],
)
def test_a_member_that_does_not_fit_is_pointed_at(predicate: str, message: str, marked: str) -> None:
    text = query(predicate)
    (found,) = check(parse(text), SCHEMA)
    assert message in found.message
    assert found.span is not None
    assert text[found.span.start : found.span.end] == marked


@pytest.mark.parametrize(
    ("predicate", "message", "marked"),
    [
        ("v IN {1, 99999999999999999999, 2}", "does not fit", "99999999999999999999"),
        ("v IN {1, 18446744073709551616}", "does not fit", "18446744073709551616"),
        ("v IN {1.5, 1e999}", "does not fit", "1e999"),
        ("v IN {..}", "a range needs an end", ".."),
        ("v IN {1, 'a'..'b'}", "must be numbers", "'a'"),
        ("v IN {}", "is empty", "v IN {}"),
        ("v IN {1,, 2}", "found `,`", ","),
        ("v IN {1, 2,}", "found `}`", "}"),
        ("IN {1, 2}", "found `IN`", "IN"),
    ],
)
def test_a_member_that_cannot_be_read_is_pointed_at(predicate: str, message: str, marked: str) -> None:
    with pytest.raises(cer.QueryError) as caught:
        read(predicate)
    (found,) = caught.value.diagnostics
    text = query(predicate)
    assert message in found.message
    assert found.span is not None
    assert text[found.span.start : found.span.end] == marked
