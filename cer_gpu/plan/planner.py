"""Checked query -> CompiledQuery: the one page that shows the pipeline.

`A AS a ; B AS b FILTER a[price > 10]` becomes the formula `(A FILTER A[price > 10]) AS a ; B AS b`, an
automaton of three states, a diagram over the type and the price with four outcomes, and, since all events
that are neither a dear A nor a B leave every state where it is, tables with two symbols besides neutral.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cer_gpu.automata.cause import cause
from cer_gpu.automata.cea import CEA, Predicate
from cer_gpu.automata.construct import construct
from cer_gpu.automata.determinise import DeterministicCEA, determinise, predicates
from cer_gpu.automata.minimise import merge_symbols, minimise, registers
from cer_gpu.automata.trim import trim
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.compiled import CompiledQuery, TransitionTables, WindowPlan
from cer_gpu.plan.constants import ConstantReader, nearest_float
from cer_gpu.plan.evaluated import assumed_schema, unevaluated
from cer_gpu.plan.leaves import AxisBuilder
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
class Outline:
    """What a query is compiled to before any data is known.

    Attributes
    ----------
    query : Query
    text : str
        As it was written.
    formula : Pattern
        The pattern in LP-normal form.
    cea : CEA
        Of the formula with the SELECT list as its outermost projection, trimmed.
    tests : tuple of Predicate
        The distinct predicates of its transitions.
    """

    query: tree.Query
    text: str
    formula: tree.Pattern
    cea: CEA
    tests: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled query with what was built on the way to it; `explain` reads it.

    Attributes
    ----------
    outline : Outline
    compiled : CompiledQuery
    deterministic : DeterministicCEA
        Minimal, over the symbols of `compiled`.
    """

    outline: Outline
    compiled: CompiledQuery
    deterministic: DeterministicCEA


def outline(query: tree.Query, text: str) -> Outline:
    """The part of compilation that needs no data.

    Parameters
    ----------
    query : Query
        Well-formed.

    Raises
    ------
    QueryError
        For a construct that is not evaluated yet.
    LimitError
        When the normal form would exceed its budget.
    """
    if found := unevaluated(query):
        raise QueryError(found, text)
    formula = to_lp(query.pattern)
    cea = trim(construct(projected(formula, query.select)))
    return Outline(query, text, formula, cea, predicates(cea))


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
    LimitError
        When the automaton or the symbols would exceed their budget.
    """
    query = outline.query
    known = schema if schema is not None else assumed_schema(query)
    builder = AxisBuilder(ConstantReader(known.attributes, known.units), columns.type, columns.stream)
    axes, formulas = builder.build(outline.tests)
    diagram = fold(axes, formulas)
    deterministic, symbol_of = merge_symbols(minimise(_determinised(outline, diagram)))
    if deterministic.n_symbols > SYMBOL_BUDGET:
        raise LimitError(
            f"the automaton tells {deterministic.n_symbols:,} classes of events apart, {SYMBOL_BUDGET:,} "
            "at most are possible: use fewer filters in one query"
        )
    dtype = np.dtype(np.uint8 if deterministic.n_symbols <= 256 else np.uint16)
    variables, label_has = mark_columns(deterministic, query.select)
    compiled = CompiledQuery(
        text=outline.text,
        axes=axes,
        stages=stages(axes, diagram, np.asarray(symbol_of).astype(dtype)),
        tables=tables(deterministic),
        variables=variables,
        label_has=label_has,
        attributes={item.variable: item.attributes for item in query.select or () if item.attributes},
        partition=query.partition,
        window=window_plan(query.window, known),
        consume=query.consume.value,
        limit=query.limit,
        streams=query.streams if columns.stream is not None else (),
        symbol_dtype=dtype.name,
    )
    return Plan(outline, compiled, deterministic)


def _determinised(outline: Outline, diagram: Diagram) -> DeterministicCEA:
    try:
        return determinise(outline.cea, diagram.outcomes, outline.tests)
    except LimitError as error:
        blamed = cause(projected(outline.formula, outline.query.select), diagram.outcomes, outline.tests)
        raise LimitError(
            f"{error}\nThe smallest part of the pattern to blame:\n  {to_text(blamed)}"
        ) from None


def projected(formula: tree.Pattern, select: tuple[tree.SelectItem, ...] | None) -> tree.Pattern:
    """The formula with the SELECT list as its outermost projection."""
    if select is None:
        return formula
    return tree.Project(formula, tuple(item.variable for item in select))


def tables(automaton: DeterministicCEA) -> TransitionTables:
    """The arrays of an automaton over merged symbols; states that differ only in being final are one."""
    register = registers(automaton)
    first_of: dict[int, int] = {}
    for state, number in enumerate(register):
        first_of.setdefault(number, state)
    rows = [step for step in automaton.transitions if first_of[register[step.source]] == step.source]
    rows.sort(key=lambda step: (step.symbol, register[step.source], step.label))
    count = np.bincount([step.symbol for step in rows], minlength=automaton.n_symbols)
    return TransitionTables(
        n_states=max(register) + 1,
        n_symbols=automaton.n_symbols,
        first=np.concatenate([[0], np.cumsum(count)]).astype(np.int32),
        source=np.array([register[step.source] for step in rows], np.int32),
        label=np.array([step.label for step in rows], np.int32),
        target=np.array([register[step.target] for step in rows], np.int32),
        accepting=np.array([step.target in automaton.final for step in rows], np.uint8),
    )


def mark_columns(
    automaton: DeterministicCEA, select: tuple[tree.SelectItem, ...] | None
) -> tuple[tuple[str, ...], np.ndarray]:
    """The variables of the result and which of them each label marks.

    Those of the SELECT list in its order (also when nothing marks them), or all that some label has.
    """
    if select is None:
        variables = tuple(sorted({variable for label in automaton.labels for variable in label}))
    else:
        variables = tuple(dict.fromkeys(item.variable for item in select))
    has = np.array(
        [[variable in label for variable in variables] for label in automaton.labels], np.uint8
    ).reshape(len(automaton.labels), len(variables))
    return variables, has


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
