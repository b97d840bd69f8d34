"""A deterministic complex event automaton as arrays: the machine of regular queries."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.attribute_windows.contract import AutomatonPrograms
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.kernels.runs.contract import EdgeRuns, Program, SequenceSteps, TransitionTables
from cer_gpu.kernels.runs.programs import (
    backward_program,
    edge_runs,
    forward_program,
    hits_program,
    longest_run,
    runs_alone,
)
from cer_gpu.plan.machine import LANES, LISTING, Device, Traits

if TYPE_CHECKING:
    from cer_gpu.plan.compiled_query import CompiledQuery, Product

FEW_STATES = 12
"""Up to so many states with runs, what an event changes of its lane costs less than grouping it by lane."""


@dataclass(frozen=True, slots=True)
class Choice:
    """How the strategy of SELECT chooses among the complex events that end at one event.

    Needed for a query with a window or with CONSUME BY, which decide from which complex events it chooses.

    Attributes
    ----------
    strategy : {"NEXT", "LAST", "MAX"}
    single : bool
        Whether complex events with one end always have different marked positions, so that NEXT and LAST keep
        exactly one.
    tables : TransitionTables or None
        The automaton of the complex events that the strategy keeps, over the symbols that `monitor` returns;
        None if `single` is all that is needed.
    monitor : Monitor or None
        Reads the symbols of the query; starts anew with each window. None if `tables` is None. Under a window
        over an attribute each symbol s exists twice: s + n_symbols stands for an event at which no complex
        event may start.
    shown : ndarray, shape (labels,), int32
        For each label of the automaton that it chooses from, the label after the SELECT list has dropped
        marks; 0 for no mark.
    """

    strategy: str
    single: bool
    tables: TransitionTables | None
    monitor: Monitor | None
    shown: np.ndarray


class SequenceChoice(NamedTuple):
    """What NEXT or LAST leaves where complex events are rows of single events.

    Attributes
    ----------
    steps : SequenceSteps
        Over the symbols that the automaton reads, with the marks of results.
    latest : bool
        LAST in place of NEXT.
    """

    steps: SequenceSteps
    latest: bool


class RegisterPrograms(NamedTuple):
    """What an event does to the registers of an automaton, and how many events a run has.

    Attributes
    ----------
    hits : Program
    counting : AutomatonPrograms
    longest : int or None
        The most events of a run; None: there is no bound.
    """

    hits: Program
    counting: AutomatonPrograms
    longest: int | None


def programs_of(tables: TransitionTables) -> RegisterPrograms:
    """The programs of an automaton, which its tables alone decide."""
    hits = hits_program(tables)
    counting = AutomatonPrograms(tables, forward_program(tables), backward_program(tables))
    return RegisterPrograms(hits, counting, longest_run(tables))


@dataclass(frozen=True, slots=True)
class AutomatonMachine:
    """A deterministic complex event automaton over symbols.

    Attributes
    ----------
    tables : TransitionTables
    programs : RegisterPrograms
        Those of `tables`.
    monitor : Monitor or None
        Renames the symbols of the classification before `tables` read them.
    choice : Choice or None
        The strategy of SELECT, if `tables` do not include it; then they are those of ALL, before the SELECT
        list.
    chosen : SequenceChoice or None
        What NEXT or LAST leaves, if it leaves rows of single events.
    """

    tables: TransitionTables
    programs: RegisterPrograms
    monitor: Monitor | None = None
    choice: Choice | None = None
    chosen: SequenceChoice | None = None

    engine: ClassVar[str] = "automaton"

    def in_order_for(
        self, query: CompiledQuery, product: Product
    ) -> AutomatonMachine | SingleRunMachine | LaneRegisterMachine:
        """What lists the complex events of a query ("run"), or finds its hits, where lanes run together."""
        if product == "hits":
            return LaneRegisterMachine(self) if self._runs_in_order(query) else self
        free = query.window is None and query.consume == "NONE" and query.reading.makes_lanes
        runs = edge_runs(self.tables) if free and self.choice is None else None
        if runs is None or not runs_alone(self.tables, self.monitor):
            return self
        return SingleRunMachine(self, runs)

    def _runs_in_order(self, query: CompiledQuery) -> bool:
        """Whether hits under WITHIN are found in the order of the stream."""
        interval = query.window is not None and query.window.kind != "attribute"
        plain = query.consume == "NONE" and query.suppress is None and self.monitor is None
        return interval and plain and "lanes" in self.traits.order and bool(query.reading.partition)

    @cached_property
    def traits(self) -> Traits:
        choice = self.choice
        ungrouped = choice is None and self.programs.hits.zero <= FEW_STATES
        return Traits(
            columns=LANES if self.monitor is None else LANES | {"prefix"},
            state="carried",
            order=frozenset({"lanes"}) if ungrouped else frozenset(),
            bound="ranks",
            keeps="all" if choice is None else "chosen" if choice.single else "chosen again",
        )

    def where(self, device: Device) -> str | None:
        """As `Machine.where`."""
        if device == "auto":
            return None
        if device == "resident":
            if self.monitor is not None:
                return "the CPU follows the prefixes of the stream"
            return None if self.choice is None else "the CPU applies the strategy of SELECT"
        listing = LISTING if self.choice is None else "the strategy of SELECT"
        return listing if self.monitor is None else f"following the prefixes of the stream, {listing}"


@dataclass(frozen=True, slots=True)
class LaneRegisterMachine:
    """The same automaton where hits under WITHIN are found in the order of the stream.

    Attributes
    ----------
    automaton : AutomatonMachine
    """

    automaton: AutomatonMachine

    engine: ClassVar[str] = "lane_registers"

    @property
    def traits(self) -> Traits:
        return replace(self.automaton.traits, order=frozenset({"window"}))

    def where(self, device: Device) -> str | None:
        """As `Machine.where`."""
        return self.automaton.where(device)


@dataclass(frozen=True, slots=True)
class SingleRunMachine:
    """The same automaton where each end has one complex event, which its first and its last event tell.

    It lists them in the order of the stream: `A ; B` under LAST, `A : B`, or `A` alone.

    Attributes
    ----------
    automaton : AutomatonMachine
    runs : EdgeRuns
        What events do to the one run that a lane has.
    """

    automaton: AutomatonMachine
    runs: EdgeRuns

    engine: ClassVar[str] = "single_runs"

    @property
    def traits(self) -> Traits:
        return replace(self.automaton.traits, order=frozenset({"free"}))

    def where(self, device: Device) -> str | None:
        """As `Machine.where`."""
        return self.automaton.where(device)
