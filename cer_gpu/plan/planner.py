"""Checked query -> CompiledQuery: the one page that shows the pipeline.

`A AS a ; B AS b FILTER a[price > 10]` becomes the formula `(A FILTER A[price > 10]) AS a ; B AS b`, an
automaton of three states, a diagram over the type and the price with four outcomes, and, since all events
that are neither a dear A nor a B leave every state where it is, tables with two symbols besides neutral.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.errors import LimitError
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact, one_in
from cer_gpu.plan.assumed import assumed_schema
from cer_gpu.plan.compiled import CompiledQuery, Reading, WindowPlan
from cer_gpu.plan.constants import ConstantReader, nearest_float
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes import AUTO, choose
from cer_gpu.plan.routes.route import Built, Refusal
from cer_gpu.plan.symbols import fold, stages

SYMBOL_BUDGET = 65_535
"""Symbols at most: they are 16 bits."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled query with what was built on the way to it; `explain` reads it.

    Attributes
    ----------
    outline : Outline
    compiled : CompiledQuery
    built : Built
    engine : str
        The name of the route that it took.
    said : tuple of (str, Refusal or None)
        What every route said of it: None where it takes the query.
    """

    outline: Outline
    compiled: CompiledQuery
    built: Built
    engine: str
    said: tuple[tuple[str, Refusal | None], ...]

    @property
    def never(self) -> bool:
        """Whether no complex event is possible, whatever the events."""
        return self.built.never


def plan(outline: Outline, schema: Schema | None, columns: RoleColumns, engine: str = AUTO) -> Plan:
    """Compile a query for data of a schema.

    Parameters
    ----------
    outline : Outline
        Of a query that was checked against `schema`.
    schema : Schema or None
        None assumes of every attribute the type that the query's constants suggest: good for `explain`
        and for finding what is over budget, not for running.
    columns : RoleColumns
    engine : str
        The name of a route, or "auto".

    Raises
    ------
    QueryError
        When no route takes the query, or not the one that was asked for.
    LimitError
        When the automaton or the symbols would exceed their budget.
    """
    statement = outline.statement
    chosen = choose(outline, engine)
    sketch = chosen.sketch if schema is None else chosen.sketch.over(schema)
    known = schema if schema is not None else assumed_schema(sketch.tests, statement.window)
    builder = AxisBuilder(ConstantReader(known), columns)
    axes, formulas = builder.build(sketch.tests)
    diagram = fold(axes, formulas)
    built = sketch.built(diagram)
    if built.n_symbols > SYMBOL_BUDGET:
        raise LimitError(
            f"the automaton tells {built.n_symbols:,} classes of events apart, {SYMBOL_BUDGET:,} "
            "at most are possible: use fewer filters in one query"
        )
    dtype = np.dtype(np.uint8 if built.n_symbols <= 256 else np.uint16)
    said = _said(statement)
    reading = Reading(
        axes=axes,
        stages=stages(axes, diagram, np.asarray(built.symbol_of).astype(dtype)),
        symbol_dtype=dtype.name,
        partition=said.partition,
        streams=said.streams if columns.stream is not None else (),
        keys=built.keys,
        window=window_plan(statement.window, known),
    )
    compiled = CompiledQuery(
        outline.text, reading, built.machine, built.hits_machine, built.form, said.consume, said.limit
    )
    return Plan(outline, compiled, built, chosen.engine, chosen.said)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a statement says beside its pattern: nothing, in a rule."""

    partition: tuple[tuple[str, ...], ...] = ()
    streams: tuple[str, ...] = ()
    consume: str = "NONE"
    limit: int | None = None


def _said(statement: tree.Statement) -> _Said:
    if isinstance(statement, tree.Rule):
        return _Said()
    consume = statement.consume.value
    if not statement.partition and consume == "PARTITION":
        consume = "ANY"  # the whole stream is one partition, whatever lanes it runs in
    return _Said(statement.partition, statement.streams, consume, _limit(statement))


def _limit(query: tree.SelectQuery) -> int | None:
    """Answers of one end at most; ANY is the first of them."""
    if query.strategy is not tree.Strategy.ANY:
        return query.limit
    return 1 if query.limit is None else min(1, query.limit)


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
    if kind is ValueType.DECIMAL:
        size /= one_in(schema.units[attribute])
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
