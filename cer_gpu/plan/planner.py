"""Checked query -> CompiledQuery: the one page that shows the pipeline.

`A AS a ; B AS b FILTER a[price > 10]` becomes the formula `(A FILTER A[price > 10]) AS a ; B AS b`, an
automaton of three states, a diagram over the type and the price with four outcomes, and, since all events
that are neither a dear A nor a B leave every state where it is, tables with two symbols besides neutral.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cer_gpu.automata.determinise import DeterministicCEA
from cer_gpu.automata.pcea import PCEA
from cer_gpu.automata.symbol_pcea import SymbolPCEA, over_symbols
from cer_gpu.automata.unambiguous import disambiguate
from cer_gpu.errors import LimitError
from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.plan.assumed import assumed_schema
from cer_gpu.plan.compiled import CompiledQuery, HeadColumn, RulePlan, WindowPlan
from cer_gpu.plan.constants import ConstantReader, nearest_float
from cer_gpu.plan.join_planner import join_machine
from cer_gpu.plan.join_tables import JoinTables
from cer_gpu.plan.leaves import AxisBuilder
from cer_gpu.plan.machines import (
    RegularMachine,
    Selected,
    mark_columns,
    regular_machine,
    select_machine,
    tables,
)
from cer_gpu.plan.outline import CHOOSING, Outline, rule_outline
from cer_gpu.plan.symbols import Diagram, fold, stages

SYMBOL_BUDGET = 65_535
"""Symbols at most: they are 16 bits."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of the data say what an event is.

    Attributes
    ----------
    type, stream : str or None
        The columns of the event's type and stream; None where the data has none.
    """

    type: str | None = "type"
    stream: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled query with what was built on the way to it; `explain` reads it.

    Attributes
    ----------
    outline : Outline
    compiled : CompiledQuery
    machine : DeterministicCEA or SymbolPCEA
        Over symbols: minimal, or unambiguous.
    diagram : Diagram
        From the classes of an event's values to the predicates that hold.
    regular : RegularMachine or None
        Of a regular query: its automaton, and how it was put together.
    selected : Selected or None
        How the strategy of SELECT chooses.
    """

    outline: Outline
    compiled: CompiledQuery
    machine: DeterministicCEA | SymbolPCEA
    diagram: Diagram
    regular: RegularMachine | None
    selected: Selected | None

    @property
    def never(self) -> bool:
        """Whether no complex event is possible: no run of the automaton of a regular query ends."""
        return isinstance(self.machine, DeterministicCEA) and not self.machine.final


def plan(outline: Outline, schema: Schema | None, columns: Columns) -> Plan:
    """Compile a query for data of a schema.

    Parameters
    ----------
    outline : Outline
        Of a query that was checked against `schema`.
    schema : Schema or None
        None assumes of every attribute the type that the query's constants suggest: good for `explain`
        and for finding what is over budget, not for running.

    Raises
    ------
    QueryError
        When a correlation cannot be evaluated.
    LimitError
        When the automaton or the symbols would exceed their budget.
    """
    statement = outline.statement
    if isinstance(statement, tree.Rule) and schema is not None:
        # Only a schema says which attributes the atoms of a rule have by position.
        outline = rule_outline(statement, outline.text, schema)
    known = schema if schema is not None else assumed_schema(outline.tests, statement.window)
    builder = AxisBuilder(ConstantReader(known.attributes, known.units), columns.type, columns.stream)
    axes, formulas = builder.build(outline.tests)
    diagram = fold(axes, formulas)
    machine: DeterministicCEA | SymbolPCEA
    joins: JoinTables | None = None
    lane_column = monitor = None
    regular: RegularMachine | None = None
    selected: Selected | None = None
    if not isinstance(outline.automaton, PCEA):
        regular = regular_machine(outline, diagram)
        machine, symbol_of, monitor = regular.automaton, regular.symbol_of, regular.monitor
        n_symbols = max(machine.n_symbols, 1 + max(symbol_of, default=0))
        if isinstance(statement, tree.Query) and statement.strategy in CHOOSING:
            selected = select_machine(machine, statement)
            if selected.plan.tables is not None:
                n_symbols = max(n_symbols, selected.plan.tables.n_symbols)
        labels: tuple[frozenset[Any], ...] = machine.labels
        key_columns = outline.lane_columns()
        if key_columns:
            lane_column = np.zeros(n_symbols, np.int32)
    else:
        machine = _unambiguous(outline, diagram)
        found = join_machine(machine, outline.lane)
        joins, symbol_of, labels = found.tables, found.symbol_of, found.labels
        n_symbols, key_columns, lane_column = joins.n_symbols, found.columns, found.lane_column
    if n_symbols > SYMBOL_BUDGET:
        raise LimitError(
            f"the automaton tells {n_symbols:,} classes of events apart, {SYMBOL_BUDGET:,} "
            "at most are possible: use fewer filters in one query"
        )
    dtype = np.dtype(np.uint8 if n_symbols <= 256 else np.uint16)
    form = _form(outline, labels)
    compiled = CompiledQuery(
        text=outline.text,
        axes=axes,
        stages=stages(axes, diagram, np.asarray(symbol_of).astype(dtype)),
        tables=tables(machine) if isinstance(machine, DeterministicCEA) else None,
        joins=joins,
        monitor=monitor,
        selection=None if selected is None else selected.plan,
        key_columns=key_columns,
        lane_column=lane_column,
        rule=form.rule,
        variables=form.variables,
        label_has=form.label_has,
        attributes=form.attributes,
        partition=form.partition,
        window=window_plan(statement.window, known),
        consume=form.consume,
        limit=form.limit,
        streams=form.streams if columns.stream is not None else (),
        symbol_dtype=dtype.name,
    )
    return Plan(outline, compiled, machine, diagram, regular, selected)


@dataclass(frozen=True, slots=True)
class _Form:
    """What a statement says of its answers."""

    rule: RulePlan | None
    variables: tuple[str, ...]
    label_has: np.ndarray
    attributes: dict[str, tuple[str, ...]]
    partition: tuple[tuple[str, ...], ...]
    consume: str
    limit: int | None
    streams: tuple[str, ...]


def _form(outline: Outline, labels: Sequence[frozenset[Any]]) -> _Form:
    statement = outline.statement
    if isinstance(statement, tree.Rule):
        none = np.zeros((len(labels), 0), np.uint8)
        assert outline.body is not None
        return _Form(rule_plan(statement, outline.body, labels), (), none, {}, (), "NONE", None, ())
    variables, label_has = mark_columns(labels, statement.select)
    consume = statement.consume.value
    if not statement.partition and consume == "PARTITION":
        consume = "ANY"  # the whole stream is one partition, whatever lanes it runs in
    return _Form(
        None,
        variables,
        label_has,
        {item.variable: item.attributes for item in statement.select or () if item.attributes},
        statement.partition,
        consume,
        _limit(statement),
        statement.streams,
    )


def _limit(query: tree.Query) -> int | None:
    """Answers of one end at most; ANY is the first of them."""
    if query.strategy is not tree.Strategy.ANY:
        return query.limit
    return 1 if query.limit is None else min(1, query.limit)


def rule_plan(rule: tree.Rule, body: ConjunctiveQuery, labels: Sequence[frozenset[Any]]) -> RulePlan:
    """What the answers of a rule are made of: which atoms a label fills, where the head finds its values."""
    first: dict[str, tuple[int, str]] = {}
    for atom in body.atoms:
        for name, attribute in atom.attribute_of.items():
            first.setdefault(name, (atom.id, attribute))
    head = tuple(HeadColumn(variable.name, *first[variable.name]) for variable in rule.head)
    fills = np.array([[atom.id in label for atom in body.atoms] for label in labels], np.uint8)
    return RulePlan(len(body.atoms), head, fills.reshape(len(labels), len(body.atoms)))


def _unambiguous(outline: Outline, diagram: Diagram) -> SymbolPCEA:
    assert isinstance(outline.automaton, PCEA)
    if outline.body is not None:  # by construction (Theorem 4.1)
        return over_symbols(outline.automaton, diagram.outcomes, outline.tests)
    return disambiguate(outline.automaton, diagram.outcomes, outline.tests)


def window_plan(window: tree.Window | None, schema: Schema) -> WindowPlan | None:
    """WITHIN in the unit of the column that it measures; the checks have seen that there is one."""
    if window is None:
        return None
    if window.kind == "events":
        return WindowPlan("events", window.size)
    size = exact(window.size)
    attribute = window.attribute if window.kind == "attribute" else schema.order
    assert attribute is not None
    kind = schema.attributes[attribute]
    if window.kind == "time":
        assert window.unit is not None
        unit = schema.units.get(attribute, schema.order_unit)
        assert unit is not None
        size = size * NANOSECONDS[window.unit] / NANOSECONDS[unit]
    measured = "time" if attribute == schema.order else "attribute"
    if kind is ValueType.FLOAT64:
        return WindowPlan(measured, nearest_float(size), attribute)
    # Differences of integers are whole: the largest that is allowed is the floor.
    return WindowPlan(measured, size.numerator // size.denominator, attribute)
