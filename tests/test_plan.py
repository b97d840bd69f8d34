"""Axes, symbols, tables and what `explain` says of them."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from generate import schema as generated_schema
from generate import unary_query

import cer_gpu as cer
from cer_gpu.automata.determinise import determinise
from cer_gpu.checked_query import check
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.plan import formula as boolean
from cer_gpu.plan import symbols
from cer_gpu.plan.axes import CutAxis
from cer_gpu.plan.constants import ConstantReader, Measure
from cer_gpu.plan.formula import Complement, Conjunction, Constant, Disjunction, Formula
from cer_gpu.plan.leaves import RoleColumns
from cer_gpu.plan.outline import outline
from cer_gpu.plan.planning.planner import Plan, plan
from cer_gpu.plan.thresholds import exact_array, least_above, least_above_one

PRICES = Schema({"price": ValueType.FLOAT64, "size": ValueType.INT64, "venue": ValueType.STRING})


def planned(text: str, schema: Schema = PRICES) -> Plan:
    return plan(outline(parse(text), text), schema, RoleColumns())


# ---------------------------------------------------------------------------------------- axes


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint8, np.float32, np.float64])
def test_thresholds_give_the_class_of_every_value(dtype: type) -> None:
    rng = Random(str(dtype))
    kind = np.dtype(dtype)
    for _ in range(200):
        # Decimals, integers alone, floats alone, both: each of them is cut in its own way.
        drawn: list[Any] = [Fraction(rng.randrange(-40, 200), rng.choice((1, 2, 10))) for _ in range(4)]
        numbers = rng.choice(((Fraction,), (int,), (float,), (int, float)))
        drawn = [rng.choice(numbers)(value) for value in drawn]
        cuts = sorted({(value, rng.random() < 0.5) for value in drawn})
        classes = [rng.randrange(3) for _ in range(len(cuts) + 2)]
        constants = exact_array(sorted({value for value, _ in cuts}))
        places = [2 * constants.tolist().index(value) + 2 + after for value, after in cuts]
        axis = CutAxis(tree.Attribute("v"), False, constants, np.array([0, 1, *places]), np.array(classes))
        bounds, shares = axis.thresholds(kind)
        assert (bounds[1:] > bounds[:-1]).all()
        low, high = (-128, 127) if kind.kind != "u" else (0, 255)
        values = [rng.randrange(low, high + 1) for _ in range(20)]
        values += [value for value, _ in cuts if low <= value <= high]
        for value in values:
            stored = kind.type(float(value) if kind.kind == "f" else int(value))
            exact = Fraction(float(stored)) if kind.kind == "f" else Fraction(int(stored))
            below = sum(exact > cut if after else exact >= cut for cut, after in cuts)
            assert shares[int((bounds <= stored).sum())] == classes[1 + below]
        assert shares[0] == classes[0]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_the_bounds_of_many_cuts_are_those_of_each(dtype: str) -> None:
    """Cuts of integers and floats are brought to a dtype together, with the same result as one by one."""
    rng = Random(dtype)
    edges = [2**k + step for k in (7, 8, 15, 24, 31, 32, 53, 63) for step in (-2, -1, 0, 1)]
    whole = [sign * edge for edge in (0, 1, 2, *edges) for sign in (1, -1) if -(2**63) <= sign * edge < 2**63]
    points = [0.5, -0.0, 0.1, 1 / 3, 2.5, 65504.0, 65520.0, 1e5, 3.4e38, 3.5e38, 1e300, 2.0**53]
    points += [-value for value in points] + [math.inf, -math.inf]
    for drawn in (whole, points, [*whole, *points], [Fraction(value) for value in whole]):
        for some in (drawn, [rng.choice(drawn) for _ in range(3)], [one for one in drawn if abs(one) < 100]):
            after = [rng.random() < 0.5 for _ in some]
            bounds, exists = least_above(exact_array(some), np.array(after), np.dtype(dtype))
            for value, behind, bound, there in zip(some, after, bounds, exists, strict=True):
                alone = least_above_one(value, behind, np.dtype(dtype))
                assert there == (alone is not None)
                assert alone is None or bound == alone


def test_leaves_of_one_column_share_an_axis_and_equal_classes_a_number() -> None:
    axes = planned("SELECT * WHERE A FILTER A[price > 3 OR price IN {7, 9}]").compiled.reading.axes
    (axis,) = [axis for axis in axes if isinstance(axis, CutAxis)]
    # Whoever is 7 or 9 is greater than 3.
    assert axis.starts.tolist() == [0, 3]
    assert axis.numbers.tolist() == [0, 1]
    axes = planned(
        "SELECT * WHERE (A FILTER A[price > 3]) ; B FILTER B[price IN {7, 9}]"
    ).compiled.reading.axes
    (axis,) = [axis for axis in axes if isinstance(axis, CutAxis)]
    assert axis.constants.tolist() == [3, 7, 9]
    # Three ways to satisfy the two filters: none, > 3 alone, both.
    assert axis.classes_of(np.arange(8)).tolist() == [0, 0, 0, 1, 2, 1, 2, 1]
    bounds, _ = (
        planned("SELECT * WHERE A FILTER A[size > 2] OR A[size >= 3]")
        .compiled.reading.axes[1]
        .thresholds(  # type: ignore[union-attr]
            np.dtype(np.int64)
        )
    )
    assert bounds.tolist() == [3]


def test_a_decimal_constant_is_what_was_written() -> None:
    reader = ConstantReader(Schema({}))
    seconds = tree.Quantity(0.1, "s")
    assert reader.read(seconds, Measure(ValueType.DURATION, "ms")) == 100
    assert reader.read(tree.Text("1970-01-01T00:00:01.5"), Measure(ValueType.TIMESTAMP, "s")) == Fraction(
        3, 2
    )


# ------------------------------------------------------------------------------------- symbols


class _Axis:
    """An axis with so many classes, for the diagram only."""

    def __init__(self, size: int) -> None:
        self.size = size


def random_formula(rng: Random, sizes: list[int], depth: int) -> Formula:
    if depth == 0 or rng.random() < 0.2:
        axis = rng.randrange(len(sizes))
        return boolean.Test(axis, frozenset(k for k in range(sizes[axis]) if rng.random() < 0.5))
    match rng.randrange(4):
        case 0:
            return Complement(random_formula(rng, sizes, depth - 1))
        case 1:
            return Constant(rng.random() < 0.5)
        case kind:
            parts = [random_formula(rng, sizes, depth - 1) for _ in range(2)]
            return Conjunction(*parts) if kind == 2 else Disjunction(*parts)


def truth(formula: Formula, cell: tuple[int, ...]) -> bool:
    match formula:
        case Constant(value):
            return value
        case boolean.Test(axis, classes):
            return cell[axis] in classes
        case Conjunction(left, right):
            return truth(left, cell) and truth(right, cell)
        case Disjunction(left, right):
            return truth(left, cell) or truth(right, cell)
        case Complement(operand):
            return not truth(operand, cell)


@pytest.mark.parametrize("budget", [1 << 16, 4])
def test_stages_give_the_outcome_of_every_cell(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "TABLE_BUDGET", budget)
    rng = Random(budget)
    for _ in range(100):
        sizes = [rng.randrange(1, 5) for _ in range(rng.randrange(1, 5))]
        axes = [_Axis(size) for size in sizes]
        formulas = [random_formula(rng, sizes, 3) for _ in range(rng.randrange(1, 4))]
        diagram = symbols.fold(axes, formulas)  # type: ignore[arg-type]
        assert len(set(diagram.outcomes)) == len(diagram.outcomes)
        numbers = np.arange(len(diagram.outcomes), dtype=np.uint8)
        stages = symbols.stages(axes, diagram, numbers)  # type: ignore[arg-type]
        for cell in np.ndindex(*sizes):
            state = 0
            for stage in stages:
                index = state * stage.state_stride
                index += sum(
                    cell[axis] * stride for axis, stride in zip(stage.axes, stage.strides, strict=True)
                )
                state = int(stage.table[index])
            holds = frozenset(k for k, formula in enumerate(formulas) if truth(formula, cell))
            assert diagram.outcomes[state] == holds


def test_a_diagram_over_budget_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "STATE_BUDGET", 8)
    with pytest.raises(LimitError, match="divide the events into more than 8 classes"):
        planned("SELECT * WHERE " + " ; ".join(f"(A FILTER A[size > {k} OR price > {k}])" for k in range(9)))


# ---------------------------------------------------------------------------- tables and explain


def test_only_what_matters_is_relevant() -> None:
    tables = planned("SELECT * WHERE A ; B ; C FILTER A[price > 10] WITHIN 5 EVENTS").compiled.machine.tables
    assert tables.n_symbols == 4
    assert tables.n_live == 3
    assert planned("SELECT * WHERE A : B").compiled.machine.tables.n_symbols == 4
    never = planned("SELECT * WHERE A FILTER A[size > 3 AND size < 2]").compiled.machine.tables
    assert len(never.source) == 0


def test_a_compiled_query_is_bytes_without_parser_or_automata() -> None:
    rng = Random("pickle")
    for _ in range(50):
        query = unary_query(rng)
        try:
            compiled = plan(outline(query, ""), generated_schema(), RoleColumns(stream="stream")).compiled
        except LimitError:
            continue
        stored = pickle.dumps(compiled)
        assert b"cer_gpu.automata" not in stored
        assert b"lark" not in stored
        again = pickle.loads(stored)
        assert again.machine.tables.first.tolist() == compiled.machine.tables.first.tolist()


def test_explain_says_class_engine_guarantee_sizes_and_cost() -> None:
    text = cer.compile(
        "SELECT a WHERE A AS a ; B+ ; C FILTER a[price > 10 AND venue LIKE '^N'] AND C[2 * x > y] "
        "PARTITION BY sym WITHIN 5 MINUTES CONSUME BY PARTITION LIMIT 3"
    ).explain(verbose=True)
    for line in (
        "class       regular",
        "engine      deterministic complex event automaton",
        "guarantee   constant time per event",
        "formula     (A FILTER A[price > 10 AND venue LIKE '^N']) AS a ; B+ ; (C FILTER C[2 * x > y])",
        "            price cut at 10",
        "            venue LIKE '^N'",
        "            2 * x > y",
        "partitions  by `sym`",
        "window      at most 5 min from start to end",
        "at most 3 for each end position",
        "cost        hits:",
    ):
        assert line in text
    adjacent = "every event is relevant: the pattern asks for events next to each other"
    assert adjacent in cer.compile("SELECT * WHERE A : B").explain(verbose=True)
    any_order = "SELECT * FROM S WHERE S AS a ; S AS b FILTER b.v > a.v AND b.w <= a.w + 5"
    table = pa.table({"v": [1, 2], "w": [1, 2]})
    told = cer.compile(any_order).explain(events=table, verbose=True)
    assert "every event is relevant: each may be part of a match" in told
    with pytest.raises(ValueError, match="mermaid"):
        cer.compile("SELECT * WHERE A").explain(format="png")


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ("", "kept forever: without a window"),
        ("WITHIN 5 EVENTS", "as the window counts"),
        ("WITHIN 5 [v]", "have moved on in `v`"),
        ("WITHIN 5 MINUTES", "a later row of any key is enough"),
    ],
)
def test_explain_says_how_long_the_events_of_a_key_are_kept(window: str, said: str) -> None:
    assert said in cer.compile(f"SELECT * WHERE A ; B PARTITION BY k {window}").explain(verbose=True)


@pytest.mark.parametrize(
    ("pattern", "dropped"),
    [
        ("(A AS a FILTER a.v > PRIOR(a).v) :{7,}", True),
        ("A :{7,} NOT FOLLOWED BY [<= 1 EVENTS] (A ; B)", True),
        ("A : (B UNLESS (C ; D)) : C ?", True),
        ("A : B ; C", False),
        ("(A : B)+", False),
        ("(A ALL B) : C", False),
        ("A : NXT(B)", False),
    ],
)
def test_explain_says_that_a_break_ends_a_partial_match_of_events_in_a_row(
    pattern: str, dropped: bool
) -> None:
    said = cer.compile(f"SELECT * WHERE {pattern} PARTITION BY k").explain()
    assert ("dropped at the first event of its key" in said) is dropped
    assert ("kept forever" in said) is not dropped


@pytest.mark.parametrize(
    ("pattern", "advised"),
    [
        ("(A AS a)+ FILTER SUM(a.v) > 5", None),  # hits are fast already
        ("(A AS a ; (B AS b)+) FILTER COUNT(DISTINCT b.k) >= 5", "(T AS b)+ FILTER COUNT(DISTINCT b.k) >= 5"),
        ("(A AS a ; (B AS b)+) FILTER 5 < AVG(b.v)", "(T AS b)+ FILTER 5 < AVG(b.v)"),
        ("(A AS a ; (B+ AS b)) FILTER SUM(b.v) > a.v", "write `:+` to match only events in a row"),
        ("(A AS a ; B AS b){3,} FILTER SUM(b.v - a.v) > 2", "write `:{3,}` to match only events in a row"),
    ],
)
def test_explain_says_where_partial_matches_may_double_with_each_event(
    pattern: str, advised: str | None
) -> None:
    said = cer.compile(f"SELECT * WHERE {pattern} WITHIN 9 EVENTS").explain()
    assert "partial matches may double with each event in the window" in said
    assert ("faster" in said) is (advised is not None)
    assert (advised or "sliding window") in said
    assert ("only for `hits`" in said) is (advised is not None and "T AS b" in advised)


@pytest.mark.parametrize(
    "pattern",
    [
        "(A AS a ; (B AS b)+) FILTER COUNT(b.k) >= 5 AND MAX(b.v) > a.v",
        "(A AS a ; (B AS b) :+) FILTER SUM(b.v) > a.v",
        "(A AS a ; (B AS b){2,3}) FILTER SUM(b.v) > a.v",
        "((A AS a)+ ; B AS b) FILTER SUM(b.v) > FIRST(a.v)",
        "(A AS a FILTER SUM(a.v) > 3)+",
    ],
)
def test_aggregates_with_a_value_for_each_event_do_not_double_partial_matches(pattern: str) -> None:
    assert "double" not in cer.compile(f"SELECT * WHERE {pattern} WITHIN 9 EVENTS").explain()


def test_conflicting_uses_of_an_attribute_do_not_stop_planning_without_a_schema() -> None:
    text = "SELECT * WHERE A FILTER A[s = 'x'] OR A[s > 3]"
    planned = plan(outline(parse(text), text), None, RoleColumns())
    assert ("formula", "A FILTER A[s = 'x' OR s > 3]") in planned.built.explained(planned.compiled).structure


def test_explain_gives_the_sizes_of_operators_and_what_bounds_them() -> None:
    said = cer.compile("SELECT * WHERE NXT((A ALL B) UNLESS C) ; D").explain(verbose=True)
    assert "`ALL`: 3 and 3 states before, 5 after; a product of (|p| + 1) * (|q| + 1) (Theorem 7.2)" in said
    assert "`UNLESS`: 5 and 3 states before, 5 after; at most |p| * |q| * 2^|q| (Theorem 7.2)" in said
    assert "`NXT`: 5 states before, 8 after; at most |p| * 3^|p| (Theorem 7.3); 1-ambiguous" in said
    assert "a monitor of 4 states reads them" in said
    assert "prefix" not in cer.compile("SELECT * WHERE (A ALL B) UNLESS C").explain(verbose=True)


@pytest.mark.parametrize(
    ("query", "how"),
    [
        ("SELECT NEXT * WHERE A ; B", "by an automaton without a window"),
        ("SELECT LAST * WHERE A ; B WITHIN 9 EVENTS", "paths are ranked along the window"),
        ("SELECT MAX * WHERE A ; B+ ; C WITHIN 9 EVENTS", "by an automaton, whatever the window"),
        ("SELECT MAX * WHERE A ; (B OR C)+ ; D WITHIN 5 [lap]", "by an automaton, whatever the window"),
        ("SELECT MAX * WHERE A ; B+ CONSUME BY ANY", "by an automaton, whatever the window"),
        ("SELECT MAX * WHERE A+ ; B WITHIN 9 EVENTS", "each end runs its window again"),
        ("SELECT MAX * WHERE (A ; B) OR B WITHIN 5 [lap]", "each end runs its window again"),
        ("SELECT NEXT * WHERE (A AS x OR A AS y) ; B WITHIN 9 EVENTS", "each end runs its window again"),
    ],
)
def test_explain_says_how_a_strategy_chooses(query: str, how: str) -> None:
    assert how in cer.compile(query).explain(verbose=True)


@pytest.mark.parametrize(
    "pattern", ["A AND B", "(A ; B) UNLESS A", "A AND (A AS x)", "STRICT(A ; B) AND (B ; A)"]
)
def test_a_pattern_without_complex_events_is_noted(pattern: str) -> None:
    query = f"SELECT * WHERE {pattern}"
    (note,) = check(query)
    assert (note.code, note.severity) == ("CER054", "note")
    assert ("p ALL q" in note.hints[0]) == ("AND" in pattern)
    said = cer.compile(query).explain(verbose=True)
    assert "none: no match is possible" in said
    assert "no event is relevant" in said
    assert "prefix" not in said


def test_a_pattern_with_complex_events_is_not_noted() -> None:
    assert check("SELECT * WHERE (A ; B) UNLESS C") == ()
    assert "no match is possible" not in cer.compile("SELECT * WHERE A AND A").explain(verbose=True)


@pytest.mark.parametrize(
    ("text", "kind", "again"),
    [
        ("SELECT * FROM S WHERE A ; B", pa.int64(), 0),
        ("SELECT * FROM S WHERE A ; B FILTER A[x < 3]", pa.int64(), 0),
        ("SELECT MAX * FROM S WHERE A ; B+ ; A FILTER A[x < 3]", pa.float32(), 0),
        ("SELECT * FROM S WHERE A ; B FILTER A[x = 2.5 OR y = 1]", pa.int64(), 0),
        ("SELECT * FROM S WHERE A ; B FILTER A[x IS NULL]", pa.string(), 0),
        ("SELECT * FROM S WHERE A ; B FILTER A[x < y + 1]", pa.int64(), 0),
        # one time written in two ways
        (
            "SELECT * FROM S WHERE A ; B FILTER A[x <= '2020-01-01'] AND B[x = '2020-01-01T00:00']",
            pa.timestamp("s"),
            1,
        ),
    ],
)
def test_the_automaton_is_made_once_where_the_data_changes_nothing(
    text: str, kind: pa.DataType, again: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr(
        "cer_gpu.plan.regular_automata.determinise",
        lambda *given: calls.append(given) or determinise(*given),
    )
    query = cer.compile(text)
    assert len(calls) == 1
    data = pa.table({"type": ["A", "B", "A", "B"], "x": pa.nulls(4, kind), "y": [1, 1, 2, 3]})
    query.count(data)
    assert len(calls) == 1 + again
