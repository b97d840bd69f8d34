"""Rules with aggregates: the groups of their answers, against a fold of the reference's answers in Python."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from engine_oracle import cuts, pieces
from generate import stream_to_table
from random_rules import random_join, random_rule, random_rule_events
from snapshots import stored

import cer_gpu as cer
from cer_gpu.cli import status_of
from cer_gpu.errors import DataError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event
from cer_gpu.reference.homomorphisms import answers

FUNCTIONS = ("SUM", "MIN", "MAX", "AVG")


def aggregated_rule(rng: Random) -> tree.Rule:
    """A rule whose answers are folded, by some of its variables or by none."""
    while True:
        rule = (random_rule if rng.random() < 0.5 else random_join)(rng)
        numbers = sorted({name for name, kind in _kinds(rule).items() if kind in ("int", "float")})
        folds = [tree.Aggregate("COUNT", None)]
        for name in rng.sample(numbers, min(len(numbers), rng.randrange(3))):
            value: tree.Expression = tree.Attribute(name)
            if rng.random() < 0.3:
                value = tree.Arithmetic(rng.choice("+*"), value, tree.Number(2))
            folds.append(tree.Aggregate(rng.choice(FUNCTIONS), argument=value))
        rng.shuffle(folds)
        head = tuple(one for one in rule.head if rng.random() < 0.6)
        return replace(rule, head=head, aggregates=tuple(folds[: rng.randrange(1, 4)]))


def _kinds(rule: tree.Rule) -> dict[str, str]:
    kind = {"id": "int", "v": "int", "lap": "int", "p": "float", "s": "string"}
    return {
        term.name: kind[name]
        for atom in rule.atoms
        for name, term in zip(atom.names or (), atom.terms, strict=True)
        if isinstance(term, tree.RuleVariable)
    }


def wanted(rule: tree.Rule, events: Sequence[Event]) -> dict[Any, tuple[Any, ...]]:
    """For each key the start, the end and the aggregates, by the answers of the reference."""
    where = {
        term.name: (number, name)
        for number, atom in reversed(list(enumerate(rule.atoms)))
        for name, term in zip(atom.names or (), atom.terms, strict=True)
        if isinstance(term, tree.RuleVariable)
    }
    groups: dict[Any, list[tuple[tuple[int, ...], dict[str, Any]]]] = {}
    if not rule.head:
        groups[()] = []
    for positions in answers(rule, events, order="ts"):
        values = {
            name: events[positions[atom]].attributes.get(column) for name, (atom, column) in where.items()
        }
        key = tuple(_key(values[one.name]) for one in rule.head)
        groups.setdefault(key, []).append((positions, values))
    found = {}
    for key, rows in groups.items():
        start = min((min(row) for row, _ in rows), default=None)
        end = max((max(row) for row, _ in rows), default=None)
        found[key] = (start, end, *(_fold(one, [values for _, values in rows]) for one in rule.aggregates))
    return found


def _key(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def _fold(one: tree.Aggregate, rows: list[dict[str, Any]]) -> Any:
    if one.argument is None:
        return len(rows)
    values = [_value(one.argument, row) for row in rows]
    there = [value for value in values if value is not None and not math.isnan(value)]
    if not there:
        return None
    match one.function:
        case "SUM":
            return sum(there)
        case "AVG":
            return sum(there) / len(there)
        case "MIN":
            return min(there)
    return max(there)


def _value(expression: tree.Expression, row: dict[str, Any]) -> Any:
    if isinstance(expression, tree.Attribute):
        return row[expression.name]
    assert isinstance(expression, tree.Arithmetic)
    left = row[expression.left.name]  # type: ignore[union-attr]
    if left is None:
        return None
    return left + 2 if expression.op == "+" else left * 2


def groups(rule: tree.Rule, batches: Any) -> dict[Any, tuple[Any, ...]]:
    """Groups as `wanted` has them."""
    found = {}
    for row in batches:
        values = list(row.values.values())
        key = tuple(map(_key, list(row.values.values())[: len(rule.head)]))
        assert key not in found
        found[key] = (row.start, row.end, *values[len(rule.head) :])
    return found


def alike(one: dict[Any, tuple[Any, ...]], other: dict[Any, tuple[Any, ...]]) -> bool:
    """Whether two are the same but for rounding."""
    return one.keys() == other.keys() and all(
        a == b or (a is not None and b is not None and math.isclose(a, b))
        for key in one
        for a, b in zip(one[key], other[key], strict=True)
    )


@pytest.mark.draws("seed", 4)
def test_groups_are_those_of_the_answers(seed: int) -> None:
    rng, many = Random(f"groups {seed}"), 0
    for _ in range(20):
        rule = aggregated_rule(rng)
        events = random_rule_events(rng, rule, rng.randrange(1, 14))
        expected = wanted(rule, events)
        many += len(expected)
        table, query = stream_to_table(events), cer.compile(to_text(rule))
        for engine in ("auto", "join"):
            found = query.run(table, order_by="ts", engine=engine)
            assert alike(groups(rule, found), expected), (to_text(rule), engine)
        parts = pieces(table, cuts(rng, len(events)))
        reader = pa.Table.from_batches([one for part in parts for one in part.to_batches()], table.schema)
        batches = query.run(reader.to_reader(max_chunksize=rng.choice((1, 2, 5))), order_by="ts")
        assert alike(groups(rule, batches), expected), to_text(rule)
        stream, last = query.stream(order_by="ts"), {}
        for part in parts:
            last |= groups(rule, stream.push(part))
            stream = stored(stream, partial(query.stream, order_by="ts"), rng)
        assert alike(last, {key: row for key, row in expected.items() if row[0] is not None}), to_text(rule)
        assert query.count(table, order_by="ts") == sum(1 for _ in answers(rule, events, order="ts"))
    assert many > 5


def test_they_are_those_of_a_view() -> None:
    rng = Random("groups of views")
    text = "Q(x; COUNT(*), SUM(v), MAX(w), AVG(v - w)) <- A(k = x, v = v), B(k = x, v = w), w < v"
    rows = [(rng.choice("AB"), rng.randrange(3), rng.randrange(9)) for _ in range(60)]
    table = pa.table(dict(zip(("type", "k", "v"), map(list, zip(*rows)), strict=True)))
    view = cer.maintain(text)
    for kind in "AB":
        view.insert(kind, table.filter(pa.compute.equal(table["type"], kind)).drop_columns("type"))
    kept = pa.Table.from_batches(view.enumerate()).drop_columns("multiplicity")
    run = cer.compile(text).run(table).to_arrow().drop_columns(["start", "end"])
    assert run.schema.names == kept.schema.names
    assert run.sort_by("x").equals(kept.sort_by("x"))


def test_a_push_gives_the_groups_that_it_changes() -> None:
    table = pa.table({"type": list("ABABB"), "k": [1, 1, 2, 2, 1], "v": [1, 5, 2, 6, 7]})
    stream = cer.compile("Q(x; COUNT(*), SUM(w)) <- A(k = x), B(k = x, v = w)").stream()
    told = [stream.push(table.slice(row, 1)).to_arrow().to_pylist() for row in range(5)]
    assert told == [
        [],
        [{"start": 0, "end": 1, "x": 1, "COUNT(*)": 1, "SUM(w)": 5}],
        [],
        [{"start": 2, "end": 3, "x": 2, "COUNT(*)": 1, "SUM(w)": 6}],
        [{"start": 0, "end": 4, "x": 1, "COUNT(*)": 2, "SUM(w)": 12}],
    ]


def test_without_answers_there_is_a_row_where_the_head_has_no_variable() -> None:
    table = pa.table({"type": ["A"], "k": [1]})
    query = cer.compile("Q(; COUNT(*), SUM(x)) <- A(k = x), B(k = x)")
    assert query.run(table).to_arrow().to_pylist() == [
        {"start": None, "end": None, "COUNT(*)": 0, "SUM(x)": None}
    ]
    assert cer.compile("Q(x; COUNT(*)) <- A(k = x), B(k = x)").run(table).to_arrow().num_rows == 0


def test_they_are_written_as_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = tmp_path / "events.csv"
    data.write_text("type,k,v\nA,1,2\nB,1,5\nB,1,7\n")
    text = "Q(x; COUNT(*), SUM(y)) <- A(k = x), B(k = x, v = y)"
    assert status_of(["run", text, str(data), "--format", "jsonl"]) == 0
    told = '{"start": 0, "end": 2, "values": {"x": 1, "COUNT(*)": 2, "SUM(y)": 12}}\n'
    assert capsys.readouterr().out == told


def test_the_events_of_groups_are_not_listed() -> None:
    table = pa.table({"type": list("AB"), "k": [1, 1]})
    found = cer.compile("Q(x; COUNT(*)) <- A(k = x), B(k = x)").run(table, limit=5)
    with pytest.raises(DataError, match="leave the aggregates out"):
        found.events()
    assert pa.Table.from_batches(found.flat_batches()).equals(found.to_arrow())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.head(0).to_arrow().num_rows == 0


@pytest.mark.parametrize("kind", [pa.decimal128(20, 2), pa.decimal128(38, 2), pa.decimal256(50, 2)])
def test_wide_decimals_are_summed_exactly(kind: pa.DataType) -> None:
    values = pa.array([Decimal("0.10"), None, Decimal("123456789012345678.20")]).cast(kind)
    column = pa.concat_arrays([values, pa.nulls(2, kind)])
    table = pa.table({"type": list("AAABB"), "k": [1] * 5, "v": column})
    found = cer.compile("Q(x; SUM(w), AVG(w)) <- A(k = x, v = w), B(k = x)").run(table).to_arrow().to_pylist()
    total = 2 * Decimal("123456789012345678.30")
    assert found == [{"start": 0, "end": 4, "x": 1, "SUM(w)": total, "AVG(w)": float(total) / 4}]
