"""From a checked query to a CompiledQuery: the one page that shows the pipeline.

`A AS a ; B AS b FILTER a[price > 10]` becomes the formula `(A FILTER A[price > 10]) AS a ; B AS b`, an
automaton of three states, a diagram over the type and the price with four outcomes, and, since only an A
above 10 and a B change any state, tables with two symbols besides the neutral one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cer_gpu.errors import LimitError, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes
from cer_gpu.language.schema import Schema
from cer_gpu.language.walk import needed_types, nodes, only_type
from cer_gpu.plan.assumed_types import assumed_schema
from cer_gpu.plan.axes import Axis, OutlookAxis
from cer_gpu.plan.compiled_query import (
    CompiledQuery,
    KeyPlan,
    RowReading,
    ValueColumn,
)
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.cost import MAIN, Question
from cer_gpu.plan.leaves import AxisBuilder, RoleColumns
from cer_gpu.plan.lower import AUTO, RouteChoice, choose
from cer_gpu.plan.lower.lowering import BuiltMachine, Refusal, Sketch
from cer_gpu.plan.outline import Outline, as_written, bounded, over_order
from cer_gpu.plan.outlook import Outlook
from cer_gpu.plan.planning.windows import suppress_plan, window_of
from cer_gpu.plan.symbols import Diagram, Stage, fold, stages

if TYPE_CHECKING:
    from cer_gpu.plan.derived_columns import Deriver
    from cer_gpu.plan.outlook_plan import Look

SYMBOL_BUDGET = 65_535
"""Symbols at most: they are 16 bits."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled query with everything that was built on the way, which `explain` reads.

    Attributes
    ----------
    outline : Outline
    compiled : CompiledQuery
    built : Built
    chosen : Chosen
        The lowering that made it.
    sketch : Sketch
        Its machine before its symbols were known.
    diagram : Diagram or None
        The diagram that `built` was made over; None for a query with FOLLOWED BY or PRECEDED BY.
    """

    outline: Outline
    compiled: CompiledQuery
    built: BuiltMachine
    chosen: RouteChoice
    sketch: Sketch
    diagram: Diagram | None

    @property
    def engine(self) -> str:
        """The name of the lowering that it took."""
        return self.chosen.engine

    @property
    def alone(self) -> bool:
        """Whether its lowering answers every question."""
        return len(self.chosen.questions()) == 1

    @property
    def said(self) -> tuple[tuple[str, Refusal | None], ...]:
        """Every lowering with its refusal; None if it takes the query."""
        return self.chosen.said

    @property
    def never(self) -> bool:
        """Whether no complex event is possible, whatever the events."""
        return self.built.never


def plan(
    outline: Outline,
    schema: Schema | None,
    columns: RoleColumns,
    engine: str = AUTO,
    before: Plan | None = None,
    question: Question = MAIN,
    cuda: bool = False,
) -> Plan:
    """Compile a query for data of a schema.

    Parameters
    ----------
    outline : Outline
        The outline of a query that was checked against `schema`.
    schema : Schema or None
        None: assume for every attribute the type that the query's constants suggest. This is enough for
        `explain` and for checking budgets, not for running.
    columns : RoleColumns
    engine : str
        The name of a lowering, or "auto".
    before : Plan, optional
        An earlier plan of the same outline and engine; everything that does not depend on the schema is taken
        from it.
    question : Question
        What is asked, which decides the lowering if `engine` is "auto".
    cuda : bool
        Whether CUDA devices run it.

    Raises
    ------
    QueryError
        When no lowering takes the query, or `engine` does not take it.
    LimitError
        When the automaton or the symbols would exceed their budget.
    """
    asked = _PlanInput(schema, columns, engine, question, cuda)
    try:
        if engine != AUTO and outline.written is not None:
            before = None  # it may be of the other form
            with suppress(QueryError):
                return _by_cheapest(outline, asked, None)
            outline = as_written(outline)
        return _by_cheapest(outline, asked, before)
    except QueryError as error:
        raise QueryError(error.diagnostics, outline.text) from None


class _PlanInput(NamedTuple):
    """What a plan is made for besides an outline; as for `plan`."""

    schema: Schema | None
    columns: RoleColumns
    engine: str
    question: Question
    cuda: bool


def _by_cheapest(outline: Outline, asked: _PlanInput, before: Plan | None) -> Plan:
    """The plan by the cheapest lowering whose machine is possible."""
    schema = asked.schema
    if schema is not None and schema.categories:
        from cer_gpu.plan.outline import ranked  # few columns have them

        if (placed := ranked(outline, schema)) is not None:
            (outline, schema), before = placed, None
            asked = asked._replace(schema=schema)
    if schema is not None and (windowed := bounded(outline, schema)) is not outline:
        outline, before = windowed, None
    near: Outline | None = None
    if outline.timed or outline.correlates:
        from cer_gpu.plan.planning.previous_events import form_with_previous

        near = form_with_previous(outline, schema, forced=asked.engine != AUTO)
    if near is None:
        return _by_one(outline, asked, None if before is not None and before.outline.previous else before)
    # An engine that is asked for gets the query as it is written, if it takes that.
    forms = (near, outline) if asked.engine == AUTO else (outline, near)
    wrong: list[QueryError | LimitError] = []
    for form in forms:
        same = before is not None and before.outline.statement == form.statement
        try:
            return _by_one(form, asked, before if same else None)
        except (QueryError, LimitError) as error:
            wrong.append(error)
    raise wrong[forms.index(outline)]


def _by_one(outline: Outline, asked: _PlanInput, before: Plan | None) -> Plan:
    """The plan of an outline by the cheapest lowering whose machine is possible."""
    known = outline if asked.schema is None else over_order(outline, asked.schema.order)
    if before is not None and known is not outline and before.chosen.by_window:
        before = None  # another lowering may take it
    chosen = choose(known, asked.engine) if before is None else before.chosen
    chosen = chosen.asked(asked.question, asked.cuda)
    while True:
        try:
            same = before is not None and chosen.candidate is before.chosen.candidate
            return _plan(outline, asked.schema, asked.columns, chosen, before if same else None)
        except (QueryError, LimitError) as error:
            if chosen.forced or len(chosen.taken) == 1 or (chosen.main and isinstance(error, LimitError)):
                raise
            chosen = chosen.without(error).asked(asked.question, asked.cuda)


def _plan(
    outline: Outline, schema: Schema | None, columns: RoleColumns, chosen: RouteChoice, before: Plan | None
) -> Plan:
    """Compile a query by a lowering."""
    statement = outline.statement
    sketch = chosen.candidate.over(schema)
    known = schema
    if known is None:
        # Functions in comparisons between events are in the pattern alone.
        spoken = (*sketch.tests, outline.formula) if outline.derives else sketch.tests
        known = assumed_schema(spoken, statement.window)
    deriver = None
    if outline.derives:
        from cer_gpu.plan.derived_columns import Deriver

        deriver = Deriver(known)
    doubted = partial(_doubts, outline) if _looks_beside(statement) else None
    planned = _planned(sketch, known, columns, deriver, doubted, before)
    built, dtype = planned.built, planned.dtype
    if outline.span is not None and (built.span is None or outline.span < built.span):
        built = replace(built, span=outline.span)
    values = built.values if deriver is None else deriver.all_rewritten(built.values)
    if values:
        built = _reading_values(built, values)
    said, form = _said(statement), built.form
    if isinstance(statement, tree.SelectQuery) and _says_more(statement):
        from cer_gpu.plan.marks import answer_form, limit_of_marks

        form = answer_form(outline, form, schema, columns.stream)
        said = replace(said, limit=limit_of_marks(outline, said.limit))
    reading = RowReading(
        axes=planned.axes,
        stages=planned.stages,
        symbol_dtype=dtype.name,
        partition=said.partition,
        streams=said.streams if columns.stream is not None else (),
        keys=built.keys if deriver is None else _derived_keys(built.keys, deriver),
        window=None if built.windowed else window_of(statement, known, built),
        derived=() if deriver is None else deriver.columns,
        compared=_compared(built.compared or _names_in(values), planned.outlooks),
        idle=_idle(planned.diagram, built),
        needed=needed_types(statement),
        only_type=only_type(statement),
        previous_inside=outline.previous_inside,
    )
    compiled = CompiledQuery(
        outline.text, reading, built.machine, built.hits_machine, form, said.consume, said.limit,
        planned.outlooks, built.counts_machine, suppress_plan(statement, known),
    )  # fmt: skip
    return Plan(outline, compiled, built, chosen, sketch, planned.diagram)


def _compared(names: tuple[str, ...], outlooks: Sequence[Outlook]) -> tuple[str, ...]:
    """The columns that the machine compares, and those that machines of what is looked for do."""
    looked_for = [_names_in(one.machine.columns) for one in outlooks if one.machine is not None]
    return tuple(dict.fromkeys([*names, *(name for own in looked_for for name in own)]))


def _names_in(values: Sequence[tree.Expression]) -> tuple[str, ...]:
    """The columns that values are made of."""
    return tuple(dict.fromkeys(one.name for one in attributes(*values)))


def _reading_values(built: BuiltMachine, values: tuple[tree.Expression, ...]) -> BuiltMachine:
    """A machine that reads values of events, with derived columns in the place of PREV and of functions."""
    counts = built.counts_machine
    return replace(
        built,
        machine=_with_columns(built.machine, values),
        hits_machine=_with_columns(built.hits_machine, values),
        counts_machine=None if counts is None else _with_columns(counts, values),
    )


def _with_columns(machine: Any, values: tuple[tree.Expression, ...]) -> Any:
    """A machine that reads values of events, itself or on a stream."""
    streamed = getattr(machine, "streamed", None)
    if streamed is not None:
        return replace(machine, streamed=replace(streamed, columns=values))
    return replace(machine, columns=values)


def _derived_keys(keys: KeyPlan, deriver: Deriver) -> KeyPlan:
    """Keys with derived columns in the place of PREV and of functions."""
    columns = tuple(replace(one, keys=deriver.all_rewritten(one.keys)) for one in keys.columns)
    values = tuple(ValueColumn(*deriver.all_rewritten((one.value, one.among))) for one in keys.values)
    return replace(keys, columns=columns, values=values)


@dataclass(frozen=True, slots=True)
class _PlannedMachine:
    """The machine of a sketch, and how events become what it reads."""

    built: BuiltMachine
    axes: tuple[Axis, ...]
    stages: tuple[Stage, ...]
    dtype: np.dtype
    diagram: Diagram | None = None
    outlooks: tuple[Outlook, ...] = ()


def _looks_beside(statement: tree.Statement) -> bool:
    """Whether a query asks for what follows or precedes."""
    return isinstance(statement, tree.SelectQuery) and any(
        isinstance(node, tree.Beside) for node in nodes(statement.pattern)
    )


def _doubts(outline: Outline, looks: Sequence[Look]) -> list[int | None]:
    from cer_gpu.plan.outlook_signs import doubts

    return doubts(outline.query, outline.formula, [look.test for look in looks])


def _planned(
    sketch: Sketch,
    schema: Schema,
    columns: RoleColumns,
    deriver: Deriver | None,
    doubted: Callable[[Sequence[Look]], list[int | None]] | None,
    before: Plan | None,
) -> _PlannedMachine:
    builder = AxisBuilder(ConstantReader(schema), columns, deriver=deriver)
    if doubted is not None:
        from cer_gpu.plan.outlook_plan import looks_of

        if looks := looks_of(sketch.tests):
            return _planned_with(looks, doubted(looks), sketch, schema, columns, deriver)
    axes, formulas = builder.build(sketch.tests)
    diagram = fold(axes, formulas)
    if before is not None and before.sketch is sketch and _same(before.diagram, diagram):
        built = before.built
    else:
        built = sketch.build(diagram)
    dtype = _symbol_dtype(built.n_symbols)
    found = stages(axes, diagram, np.asarray(built.symbol_of).astype(dtype))
    return _PlannedMachine(built, axes, found, dtype, diagram)


def _idle(diagram: Diagram | None, built: BuiltMachine) -> int:
    """The symbol of events that satisfy no predicate, and of no others; 0 where there is none."""
    if diagram is None:
        return 0
    symbols = np.asarray(built.symbol_of)
    satisfied = np.array([bool(outcome) for outcome in diagram.outcomes])
    found = set(symbols[~satisfied].tolist()) - set(symbols[satisfied].tolist())
    return int(found.pop()) if found else 0


def _same(one: Diagram | None, other: Diagram) -> bool:
    """Whether two diagrams tell the same classes of events apart, and by the same classes of each axis."""
    if one is None or one.outcomes != other.outcomes or len(one.levels) != len(other.levels):
        return False
    return all(map(np.array_equal, one.levels, other.levels))


def _planned_with(
    looks: Sequence[Look],
    doubts: Sequence[int | None],
    sketch: Sketch,
    schema: Schema,
    columns: RoleColumns,
    deriver: Deriver | None,
) -> _PlannedMachine:
    """The same of a query that asks for what follows or precedes."""
    from cer_gpu.plan.outlook_plan import part_of, woven

    every = (*sketch.tests, *(test for look in looks for test in look.tests))
    builder = AxisBuilder(ConstantReader(schema), columns, [look.test for look in looks], deriver)
    axes, formulas = builder.build(every)
    diagram = fold((*axes, *(OutlookAxis() for _ in looks)), formulas)
    part = part_of(diagram, 0, len(sketch.tests))
    built = sketch.build(part.diagram)
    symbols = [built.symbol_of[one] for one in part.outcome_of]
    web = woven(looks, diagram, len(sketch.tests), symbols, schema, doubts)
    if deriver is not None:
        web = replace(web, outlooks=tuple(_derived_look(one, deriver) for one in web.outlooks))
    dtype = _symbol_dtype(max(built.n_symbols, web.n_symbols))
    outlooks = tuple(replace(one, becomes=one.becomes.astype(dtype)) for one in web.outlooks)
    found = stages(axes, web.classified, web.symbols.astype(dtype))
    if built.keys:
        from cer_gpu.plan.outlook_plan import asked_before

        built = replace(built, keys=replace(built.keys, asked=asked_before(outlooks, built.keys.asked)))
    return _PlannedMachine(built, axes, found, dtype, None, outlooks)


def _derived_look(outlook: Outlook, deriver: Deriver) -> Outlook:
    """An outlook with derived columns in the place of PREV and of functions that its machine reads."""
    machine = outlook.machine
    if machine is None:
        return outlook
    columns = deriver.all_rewritten(machine.columns)
    return replace(outlook, machine=replace(machine, columns=columns))  # type: ignore[type-var]


def _symbol_dtype(n_symbols: int) -> np.dtype:
    if n_symbols > SYMBOL_BUDGET:
        raise LimitError(
            f"the filters of this query divide the events into {n_symbols:,} classes, and at most "
            f"{SYMBOL_BUDGET:,} are possible: use fewer filters in one query"
        )
    return np.dtype(np.uint8 if n_symbols <= 256 else np.uint16)


def _says_more(query: tree.SelectQuery) -> bool:
    """Whether the SELECT list has measures or an `x[*]`."""
    return bool(query.measures) or any(item.whole for item in query.select or ())


@dataclass(frozen=True, slots=True)
class _Clauses:
    """The clauses of a statement besides its pattern; a rule has none."""

    partition: tuple[tuple[str, ...], ...] = ()
    streams: tuple[str, ...] = ()
    consume: str = "NONE"
    limit: int | None = None


def _said(statement: tree.Statement) -> _Clauses:
    if isinstance(statement, tree.Rule):
        return _Clauses()
    consume = statement.consume.value
    if not statement.partition and consume == "PARTITION":
        consume = "ANY"  # the whole stream is one partition, whatever lanes it runs in
    return _Clauses(statement.partition, statement.streams, consume, _limit(statement))


def _limit(query: tree.SelectQuery) -> int | None:
    """Answers of one end at most; ANY is the first of them."""
    if query.strategy is not tree.Strategy.ANY:
        return query.limit
    return 1 if query.limit is None else min(1, query.limit)
