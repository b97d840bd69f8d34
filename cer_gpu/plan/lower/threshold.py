"""Iterations whose filters are thresholds on all their events: hits without partial matches.

`(T AS x)+ FILTER COUNT(DISTINCT x.a) >= 5` ends wherever the events of the window have five values, so a
window that slides tells where. So it does where one aggregate is compared with a constant, as in
`(T AS x) :+ FILTER SUM(x.a) > 350`. To count and list matches, and on a stream, the machine of configurations
runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from cer_gpu.automata.cea import Identities, Predicate, distinct
from cer_gpu.automata.configurations.comparisons import column_of
from cer_gpu.automata.positions import position_automaton
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.kernels.thresholds.contract import DISTINCT, EVENTS, VALUES, Thresholds
from cer_gpu.language import tree
from cer_gpu.language.chains import flattened
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema
from cer_gpu.language.signs import CONVERSE
from cer_gpu.plan.aggregate_bounds import AggregateCondition, aggregate_condition, bound_of
from cer_gpu.plan.compiled_query import CompiledQuery, KeyPlan, ValueColumn
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.cost import CONFIGURATIONS, Cost, Question
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.join_arrays import SlotColumns, ask_lanes
from cer_gpu.plan.lower.general import formula_of, growth_told, sketch_of
from cer_gpu.plan.lower.lowering import BuiltMachine, Candidate, Description, PlainWords, Refusal, Sketch
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.reaches import ASSUMED
from cer_gpu.plan.symbols import Diagram
from cer_gpu.plan.threshold_machine import AggregateThresholdMachine, ThresholdMachine

COSTS: dict[Question, Cost] = {**CONFIGURATIONS, "hits": Cost(2, note="a window that slides")}
"""Matches are counted and listed as the general machine does."""


class ThresholdWords(NamedTuple):
    """What `explain` says of an iteration; as in `Description`."""

    kind: str
    engine: str
    guarantee: str
    plain: PlainWords


OF_COUNTS = ThresholdWords(
    "compared: an iteration that has to have at least so many events or values, which\n"
    "more events do not undo",
    "hits: a window that slides over the events that may be taken; to count and list\n"
    "matches, and on a stream: configurations",
    "hits: constant time per event, whatever the window and the number of matches;\n"
    "listed: no match is found twice, output-linear delay, an event costs what is open\n"
    "around it",
    PlainWords(
        "a repetition must have at least a given number of events or of different values",
        "hits: a sliding window over the events of the repetition;\ncounts, listing and "
        "streams: partial matches are kept one by one",
        "hits: constant time per event, however many matches there are;\nthe rest: as many "
        "steps as there are partial matches that an event may extend",
    ),
)

OF_AGGREGATES = ThresholdWords(
    "compared: an iteration whose sum, mean or extremes are compared with a constant",
    "hits: a window that slides, with the starts that may be best: those of least prefix\n"
    "sum, or the extremes; to count and list matches, and on a stream: configurations",
    "hits: a step per event, for a sum or a mean the logarithm of the window's events;\n"
    "where a sum of floats is too near to the constant to tell, the events are added one\n"
    "by one from each start in question\n"
    "listed: no match is found twice, output-linear delay, an event costs what is open\n"
    "around it",
    PlainWords(
        "the events of a repetition are added up or compared, and the result with a constant",
        "hits: a sliding window over the events of the repetition;\ncounts, listing and "
        "streams: partial matches are kept one by one",
        "hits: a few steps per event, however many matches there are;\nthe rest: as many "
        "steps as there are partial matches that an event may extend",
    ),
)


MOST = 2**62
"""More than there are events."""


class CountThreshold(NamedTuple):
    """A condition that there are at least so many.

    Attributes
    ----------
    aggregate : Aggregate
        A COUNT.
    least : int
    """

    aggregate: tree.Aggregate
    least: int


class ThresholdIteration(NamedTuple):
    """An iteration of single events, and what its filters ask of all of them.

    Attributes
    ----------
    predicates : tuple of Predicate
        An event is taken if it satisfies one of them.
    contiguous : bool
    least : int
        How many events there are at least.
    thresholds : tuple of CountThreshold
    aggregate : AggregateCondition or None
        The only condition, if it is on an aggregate that is no COUNT.
    """

    predicates: tuple[Predicate, ...]
    contiguous: bool
    least: int
    thresholds: tuple[CountThreshold, ...]
    aggregate: AggregateCondition | None = None


def lower(outline: Outline) -> Candidate | Refusal:
    """The iteration of a query, if its filters are thresholds that more events do not undo."""
    query = outline.query
    try:
        formula, lane = formula_of(outline)
        found = threshold_iteration(formula)
    except (LimitError, QueryError) as error:
        return Refusal.of(error)
    if isinstance(found, str):
        return Refusal(found)

    def sketch(schema: Schema | None) -> Sketch:
        """The machines, given the types of what is counted or added up."""
        aggregate, bound = found.aggregate, None
        if aggregate is not None:
            bound = bound_of(aggregate, ConstantReader(ASSUMED if schema is None else schema))
        listing = sketch_of(query, formula, lane, schema)
        tests = distinct((*listing.tests, *found.predicates))

        def build(diagram: Diagram) -> BuiltMachine:
            """The machines over the classes of events."""
            built = listing.build(diagram)
            hits = built.hits_machine
            assert isinstance(hits, GeneralMachine)
            taking = _taking(found, hits.symbols, tests)
            machine: ThresholdMachine | AggregateThresholdMachine
            if aggregate is None or bound is None:
                columns = SlotColumns()
                machine = ThresholdMachine(_arrays(found, taking, columns), hits)
                keys = KeyPlan(columns.built()[0], np.empty(0, np.int32))
            else:
                machine = AggregateThresholdMachine(
                    taking, found.contiguous, aggregate.kind, aggregate.sign, bound,
                    to_text(aggregate.comparison), hits,
                )  # fmt: skip
                keys = KeyPlan(values=(ValueColumn(aggregate.value, aggregate.value),))
            asked = np.repeat(taking[:, None] != 0, len(keys.columns) + len(keys.values), axis=1)
            ask_lanes(asked, keys.lane_column)
            words = OF_COUNTS if aggregate is None else OF_AGGREGATES

            def explained(compiled: CompiledQuery) -> Description:
                return replace(
                    built.explained(compiled),
                    kind=words.kind,
                    engine=words.engine,
                    guarantee=words.guarantee,
                    plain=words.plain,
                    structure=(("formula", to_text(formula)), *growth_told(formula, hits, query.window)),
                )

            return replace(
                built,
                hits_machine=machine,
                keys=replace(keys, asked=asked),
                explained=explained,
            )

        return Sketch(tests, build)

    return Candidate(COSTS, sketch)


def threshold_iteration(formula: tree.Pattern) -> ThresholdIteration | str:
    """The iteration of a formula, or why it is not one.

    Parameters
    ----------
    formula : Pattern
        In LP-normal form.

    Raises
    ------
    QueryError, LimitError
        As `position_automaton`.
    """
    conditions: list[tree.Condition] = []
    names: set[str] = set()
    while isinstance(formula, tree.Filter | tree.As | tree.Project):
        if isinstance(formula, tree.Filter):
            conditions += flattened(tree.Both, formula.condition)
        elif isinstance(formula, tree.As):
            names.add(formula.variable)
        formula = formula.pattern
    if not isinstance(formula, tree.Iteration) or formula.gap is not None or formula.most is not None:
        return "its pattern is not one iteration, as often as there are events"
    positions = position_automaton(formula.pattern)
    if positions.steps or positions.constraints or not positions.positions:
        return "a repetition of its iteration is not a single event"
    marked = frozenset.intersection(*(one.label for one in positions.positions)) | names
    predicates = distinct(one.predicate for one in positions.positions)
    aggregate = aggregate_condition(conditions[0]) if len(conditions) == 1 else None
    if aggregate is not None and aggregate.variable in marked:
        if formula.least > 1:
            return f"`{to_text(conditions[0])}` is asked of at least {formula.least} events"
        return ThresholdIteration(predicates, formula.contiguous, 1, (), aggregate)
    thresholds = []
    for condition in conditions:
        found = _threshold(condition)
        if found is None or found.aggregate.variable not in marked:
            return f"`{to_text(condition)}` is not the one aggregate, nor a least number, of its events"
        thresholds.append(found)
    return ThresholdIteration(predicates, formula.contiguous, formula.least, tuple(thresholds))


def _threshold(condition: tree.Condition) -> CountThreshold | None:
    """A condition that asks for at least so many; None if it asks for anything else."""
    if not isinstance(condition, tree.Comparison):
        return None
    left, op, right = condition.left, condition.op, condition.right
    if isinstance(right, tree.Aggregate):
        left, op, right = right, CONVERSE[op], left
    if not (isinstance(left, tree.Aggregate) and isinstance(right, tree.Number) and op in (">", ">=")):
        return None
    if left.function != "COUNT" or left.prior:
        return None
    least = ceil(right.value) if op == ">=" else floor(right.value) + 1
    return CountThreshold(left, min(max(least, 0), MOST))


def _taking(
    found: ThresholdIteration, symbols: Sequence[frozenset[int]], tests: Sequence[Predicate]
) -> np.ndarray:
    """For each symbol whether its events may be taken, shape (symbols,), uint8."""
    known = Identities()
    index = {known.of(test): number for number, test in enumerate(tests)}
    takes = {index[known.of(predicate)] for predicate in found.predicates}
    return np.array(
        [bool(takes & holding) and number > 0 for number, holding in enumerate(symbols)], np.uint8
    )


def _arrays(found: ThresholdIteration, taking: np.ndarray, columns: SlotColumns) -> Thresholds:
    """An iteration with counts as arrays; the columns that have its values are added to `columns`."""
    counts, row, least = [EVENTS], [-1], [found.least]
    for threshold in found.thresholds:
        aggregate = threshold.aggregate
        counts.append(DISTINCT if aggregate.distinct else EVENTS if aggregate.argument is None else VALUES)
        value = None if aggregate.argument is None else column_of(aggregate.argument)
        row.append(-1 if value is None else columns.number((value,)))
        least.append(threshold.least)
    return Thresholds(
        taking,
        int(found.contiguous),
        np.array(counts, np.uint8),
        np.array(row, np.int64),
        np.array(least, np.int64),
    )
