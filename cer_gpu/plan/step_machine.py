"""The deterministic automaton of steps as arrays: the machine of timed patterns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from cer_gpu.automata.marked_automaton import ANY_PLACE, NEIGHBOUR
from cer_gpu.automata.steps import Gaps, Number, StepAutomaton, View, gaps_of
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.steps.contract import Sessions, StepTables, lone_ends, of_neighbours
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.tree import Interval
from cer_gpu.plan.machine import LANES, LISTING, NOTHING, Device, Traits
from cer_gpu.plan.reaches import reach_of
from cer_gpu.plan.step_groups import StepGroups, step_groups

MOST = 2**64 - 1
"""The greatest difference of two times that are integers."""

NOT_RESIDENT = "timed patterns go through the CPU"
"""Why columns in the memory of a device do not stay there."""


@dataclass(frozen=True, slots=True)
class StepMachine:
    """A deterministic automaton of steps over symbols.

    Attributes
    ----------
    tables : StepTables
    span : int or float, or None
        The longest time from start to end that the upper bounds of gaps allow; None: any.
    reach : Sessions or None
        The gap after which no complex event continues, so that it splits a lane into sessions. None: any gap
        is allowed.
    sessions : Sessions or None
        The sessions of a strategy that keeps, for each end, the complex event that contains all others.
    single : bool
        Whether one complex event ends at each event with some symbols, and only how many there are is asked.
    """

    tables: StepTables
    span: int | float | None
    reach: Sessions | None = None
    sessions: Sessions | None = None
    single: bool = False

    engine: ClassVar[str] = "steps"

    @property
    def of_neighbours(self) -> bool:
        """Whether each step leads to a neighbouring event, and all complex events of an end are reported."""
        return self.sessions is None and not self.single and of_neighbours(self.tables)

    @property
    def totalled(self) -> StepMachine:
        """The machine that says how many complex events there are, and nothing else.

        Where the strategy keeps one for each end, and an end needs no event before it, none is followed.
        """
        single = self.sessions is not None and lone_ends(self.tables) is not None
        return replace(self, sessions=None, single=True) if single else self

    @property
    def traits(self) -> Traits:
        if self.single:
            return Traits(columns=frozenset(), state="carried", order=frozenset({"carried"}), keeps="one")
        carried, chosen = self.of_neighbours, self.sessions is not None
        columns, order = LANES, NOTHING
        if (self.tables.view_near != ANY_PLACE).any():
            columns |= {"place"}
        if self.tables.view_timed.any():
            columns |= {"time"}
        if carried:
            order |= {"carried"}
        if chosen and lone_ends(self.tables) is not None:
            order |= {"free"}
        return Traits(
            columns=columns,
            state="carried" if carried else "chunk",
            order=order,
            bound="answers",
            keeps="one" if chosen else "all",
            forgets=self.reach is not None,
        )

    def where(self, device: Device) -> str | None:
        """As `Machine.where`."""
        if device == "resident":
            return NOT_RESIDENT
        if device == "auto":
            return None
        return "following sessions" if self.single or self.sessions is not None else LISTING


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
    views = [view for view in automaton.views if floating or view.low <= MOST]
    groups = step_groups(automaton, views)
    rising = _rising(groups, views)
    bound = np.float64 if floating else np.uint64
    highs = [view.high for view in views]
    most: Number = math.inf if floating else MOST
    return StepTables(
        *groups,
        view_state=np.array([view.source for view in views], np.int32),
        view_low=np.array([view.low for view in views], bound),
        view_high=np.array([most if high is None else min(high, most) for high in highs], bound),
        view_near=np.array([view.near for view in views], np.uint8),
        view_timed=np.array([view.timed for view in views], np.uint8),
        view_loose=np.array([view.loose for view in views], np.uint8),
        view_rises=np.array([view.source in rising for view in views], np.uint8),
    )


def _rising(groups: StepGroups, views: Sequence[View]) -> set[int]:
    """The states of which a later entry has no earlier latest start.

    A start is later than all before it. And where one view alone leads to a state, the last entry that it
    shows is the latest: the view moves forward, and so do latest starts if they rise in the state it shows.
    """
    entered: dict[int, set[int]] = {}
    started: dict[int, set[bool]] = {}
    for group, state in enumerate(groups.group_state.tolist()):
        reads = groups.read_view[groups.read_first[group] : groups.read_first[group + 1]]
        entered.setdefault(state, set()).update(reads.tolist())
        started.setdefault(state, set()).add(bool(groups.group_starts[group]))
    found = {state for state, own in started.items() if own == {True}}
    while True:
        more = {
            state
            for state, own in started.items()
            if own == {False} and len(entered[state]) == 1
            for view in entered[state]
            if views[view].source in found
        }
        if more <= found:
            return found
        found |= more


def sessions_of(views: Sequence[View], label: int, floating: bool) -> Sessions:
    """The sessions of a repetition whose views differ only in the state that they show."""
    view = views[0]
    bound: type = np.float64 if floating else np.uint64
    most: Number = math.inf if floating else MOST
    high = most if view.high is None else min(view.high, most)
    return Sessions(bound(high), view.timed, view.near == NEIGHBOUR, view.loose, label)


def reach_in(automaton: StepAutomaton, floating: bool) -> Sessions | None:
    """The sessions in each of which a complex event must lie; None where it may be anywhere."""
    longest = automaton.reach
    if longest is None:
        return None
    return Sessions(np.float64(longest) if floating else np.uint64(min(longest, MOST)), True, False, False, 0)
