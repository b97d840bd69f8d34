"""The deterministic automaton of steps as arrays: the machine of timed patterns."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from cer_gpu.automata.steps import ANY_PLACE, Gaps, Number, StepAutomaton, gaps_of
from cer_gpu.frozen import dataclass
from cer_gpu.kernels.steps.contract import StepTables
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.tree import Interval
from cer_gpu.plan.compiled import Traits
from cer_gpu.plan.looks import reach_of

MOST = 2**64 - 1
"""The greatest difference of two times that are integers."""


@dataclass(frozen=True, slots=True)
class StepMachine:
    """A deterministic automaton of steps over symbols.

    Attributes
    ----------
    tables : StepTables
    span : int or float, or None
        The longest time from start to end that the upper bounds of gaps allow; None: any.
    """

    tables: StepTables
    span: int | float | None

    engine: ClassVar[str] = "steps"

    @property
    def traits(self) -> Traits:
        return Traits(
            reads_places=bool((self.tables.view_near != ANY_PLACE).any()),
            reads_times=bool(self.tables.view_timed.any()),
            filters=True,
            streams=False,
            not_on_device=("timed steps",),
            not_resident="timed patterns run on the CPU",
            not_automatic="timed patterns run on the CPU",
        )


def gaps_in(intervals: Iterable[Interval], schema: Schema) -> Gaps:
    """The intervals of a query in the unit of the order attribute, and the regions that they make."""
    assert schema.order is not None
    ranges: dict[Interval, tuple[Number, Number | None]] = {}
    for interval in intervals:
        reach = reach_of(interval, schema)
        ranges[interval] = reach.low, reach.high
    if schema.attributes[schema.order] is ValueType.FLOAT64:
        return gaps_of(
            ranges,
            True,
            lambda one: math.nextafter(one, math.inf),
            lambda one: math.nextafter(one, -math.inf),
        )
    return gaps_of(ranges, False, lambda one: one + 1, lambda one: one - 1)


def step_tables(automaton: StepAutomaton, floating: bool) -> StepTables:
    """The arrays of an automaton of steps."""
    groups: dict[int, dict[int, list[int]]] = {}
    starts = set(automaton.starts)
    for symbol, state in automaton.starts:
        groups.setdefault(symbol, {}).setdefault(state, [])
    views = [view for view in automaton.views if floating or view.low <= MOST]
    number = {view: place for place, view in enumerate(views)}
    for move in automaton.moves:
        if move.view in number:
            reads = groups.setdefault(move.symbol, {}).setdefault(move.target, [])
            reads.append(number[move.view])
    rows = [
        (symbol, state, groups[symbol][state])
        for symbol in range(automaton.n_symbols)
        for state in sorted(groups.get(symbol, ()))
    ]
    count = np.bincount([symbol for symbol, _, _ in rows], minlength=automaton.n_symbols)
    bound = np.float64 if floating else np.uint64
    highs = [view.high for view in views]
    most: Number = math.inf if floating else MOST
    return StepTables(
        first=np.append(0, np.cumsum(count)).astype(np.int32),
        group_state=np.array([state for _, state, _ in rows], np.int32),
        group_starts=np.array([(symbol, state) in starts for symbol, state, _ in rows], np.uint8),
        read_first=np.append(0, np.cumsum([len(reads) for _, _, reads in rows])).astype(np.int32),
        read_view=np.array([view for _, _, reads in rows for view in reads], np.int32),
        accepting=np.array(
            [state in automaton.final for state in range(len(automaton.state_label))], np.uint8
        ),
        state_label=np.array(automaton.state_label, np.int32),
        view_state=np.array([view.source for view in views], np.int32),
        view_low=np.array([view.low for view in views], bound),
        view_high=np.array([most if high is None else min(high, most) for high in highs], bound),
        view_near=np.array([view.near for view in views], np.uint8),
        view_timed=np.array([view.timed for view in views], np.uint8),
        view_loose=np.array([view.loose for view in views], np.uint8),
    )
