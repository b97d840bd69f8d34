"""Iterations whose filters ask for at least so many events or values: hits without partial matches.

`(T AS x)+ FILTER COUNT(DISTINCT x.a) >= 5` ends wherever the events of the window have five values, so a
window that slides tells where. To count and list matches, and on a stream, the machine of configurations
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
from cer_gpu.plan.compiled_query import CompiledQuery, KeyPlan
from cer_gpu.plan.cost import CONFIGURATIONS, Cost, Question
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.join_arrays import SlotColumns, ask_lanes
from cer_gpu.plan.lower.general import formula_of, sketch_of
from cer_gpu.plan.lower.lowering import BuiltMachine, Candidate, Description, PlainWords, Refusal, Sketch
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.symbols import Diagram
from cer_gpu.plan.threshold_machine import ThresholdMachine

COSTS: dict[Question, Cost] = {**CONFIGURATIONS, "hits": Cost(2, note="a window that slides")}
"""Matches are counted and listed as the general machine does."""


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
    """

    predicates: tuple[Predicate, ...]
    contiguous: bool
    least: int
    thresholds: tuple[CountThreshold, ...]


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
        """The machines, given the types of what is counted."""
        listing = sketch_of(query, formula, lane, schema)
        tests = distinct((*listing.tests, *found.predicates))

        def build(diagram: Diagram) -> BuiltMachine:
            """The machines over the classes of events."""
            built = listing.build(diagram)
            hits = built.hits_machine
            assert isinstance(hits, GeneralMachine)
            columns = SlotColumns()
            thresholds = _arrays(found, hits.symbols, tests, columns)
            keys = KeyPlan(columns.built()[0], np.empty(0, np.int32))
            asked = np.repeat(thresholds.takes[:, None] != 0, len(keys.columns), axis=1)
            ask_lanes(asked, keys.lane_column)

            def explained(compiled: CompiledQuery) -> Description:
                return replace(
                    built.explained(compiled),
                    kind=(
                        "compared: an iteration that has to have at least so many events or values, which\n"
                        "more events do not undo"
                    ),
                    engine=(
                        "hits: a window that slides over the events that may be taken; to count and list\n"
                        "matches, and on a stream: configurations"
                    ),
                    guarantee=(
                        "hits: constant time per event, whatever the window and the number of matches;\n"
                        "listed: no match is found twice, output-linear delay, an event costs what is open\n"
                        "around it"
                    ),
                    plain=PlainWords(
                        "a repetition must have at least so many events or different values",
                        "hits: a sliding window over the events of the repetition;\ncounts, listing and "
                        "streams: partial matches are kept one by one",
                        "hits: constant time per event, however many matches there are;\nthe rest: as many "
                        "steps as there are partial matches that an event may extend",
                    ),
                    structure=(("formula", to_text(formula)),),
                )

            return replace(
                built,
                hits_machine=ThresholdMachine(thresholds, hits),
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
    thresholds = []
    for condition in conditions:
        found = _threshold(condition)
        if found is None or found.aggregate.variable not in marked:
            return f"`{to_text(condition)}` does not ask for at least so many events or values of it"
        thresholds.append(found)
    predicates = distinct(one.predicate for one in positions.positions)
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


def _arrays(
    found: ThresholdIteration,
    symbols: Sequence[frozenset[int]],
    tests: Sequence[Predicate],
    columns: SlotColumns,
) -> Thresholds:
    """An iteration as arrays; the columns that have its values are added to `columns`."""
    known = Identities()
    index = {known.of(test): number for number, test in enumerate(tests)}
    takes = {index[known.of(predicate)] for predicate in found.predicates}
    counts, row, least = [EVENTS], [-1], [found.least]
    for threshold in found.thresholds:
        aggregate = threshold.aggregate
        counts.append(DISTINCT if aggregate.distinct else EVENTS if aggregate.argument is None else VALUES)
        value = None if aggregate.argument is None else column_of(aggregate.argument)
        row.append(-1 if value is None else columns.number((value,)))
        least.append(threshold.least)
    return Thresholds(
        np.array([bool(takes & holding) and number > 0 for number, holding in enumerate(symbols)], np.uint8),
        int(found.contiguous),
        np.array(counts, np.uint8),
        np.array(row, np.int64),
        np.array(least, np.int64),
    )
