"""The protocols of machines: what a run may ask of the runner of any machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.consume import Consumption
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import OpenRuns
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.lanes import LaneState
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled_query import CompiledQuery


class MachineRunner(Protocol):
    """Runs a machine over the chunks of a stream, one after another.

    Attributes
    ----------
    chunks : int
        How many ordinary chunks make a chunk for it.
    consumption : Consumption
        What CONSUME BY has dropped so far.
    ungrouped : bool
        Whether it reads carried chunks in the order of the stream, not grouped by lane.
    """

    chunks: int
    consumption: Consumption
    ungrouped: bool

    @property
    def states(self) -> tuple[LaneState, ...]:
        """The state that the runner keeps for each lane, beside carried registers."""
        ...

    def read(self, events: EventArrays) -> EventArrays:
        """Read new events of the stream before they are put into a chunk.

        Parameters
        ----------
        events : EventArrays
            In the order of the stream.

        Returns
        -------
        EventArrays
            The events with the symbols that the machine reads, without those that are no longer relevant.
        """
        ...

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends that are reported; `lowest` may be empty unless `bounded`."""
        ...

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends that are reported, and how many complex events end at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (ends,), int64
            Ascending.
        number : ndarray, shape (ends,), int64, or object past 2^62
        """
        ...

    def needed(self, chunk: Chunk) -> np.ndarray:
        """For each lane of a chunk the first event that a later complex event may begin at, window aside.

        Returns
        -------
        ndarray, shape (lanes,), int64
            One past the last event of the lane if no run is open. For a chunk that is `in_order`: all events
            that are needed, ascending.
        """
        ...

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some of the ends that `ends` returned for a chunk."""
        ...

    def open_runs(self) -> OpenRuns | None:
        """The runs to keep between pushes of a stream, so that the cost of a push depends on its events only.

        None where each push runs the open window again.
        """
        ...


class CarryingRunner(MachineRunner, Protocol):
    """A runner that carries arrays from chunk to chunk: that of a query which `carries`."""

    def carried(self) -> list[np.ndarray]:
        """The arrays that are carried."""
        ...

    def carry_on(self, carried: Sequence[np.ndarray]) -> None:
        """Continue from what `carried` returned."""
        ...


@runtime_checkable
class SummingRunner(Protocol):
    """A runner that may sum up what ends as it is counted, without a number for each end."""

    def number(self, chunk: Chunk) -> int | None:
        """How many complex events end in a chunk; None where `counts` has to tell, and nothing is run."""
        ...


class Chunks(Protocol):
    """Puts new events together with those that the window still needs."""

    def chunk(self, new: list[EventArrays]) -> Chunk:
        """The next events of the stream as a chunk."""
        ...

    def resume(self, tail: EventArrays | None) -> None:
        """Continue a stream: `tail` holds the events inside the window that were run elsewhere."""
        ...


class RunState(Protocol):
    """The parts of a run that continue a stream which a device has run so far."""

    @property
    def query(self) -> CompiledQuery: ...

    @property
    def workers(self) -> Workers: ...

    @property
    def intake(self) -> Intake: ...

    @property
    def runner(self) -> MachineRunner: ...

    @property
    def chunker(self) -> Chunks: ...

    @property
    def more(self) -> Callable[[EventArrays, np.ndarray], tuple[pa.Array, ...]] | None: ...


def runner_of(query: CompiledQuery, workers: Workers, carries: bool, grouped: bool = False) -> MachineRunner:
    """The runner of a query's machine on the CPU.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    carries : bool
        Whether chunks hold new events only, and the runner carries registers from chunk to chunk: for hits
        and counts of a query that `carries`.
    grouped : bool, optional
        Whether chunks are grouped by lane although the runner could do without.
    """
    name = query.machine.engine
    if carries and query.ungrouped and not grouped:
        name = f"ungrouped_{name}"  # few queries need it
    module: Any = import_module(f"cer_gpu.engine.machines.{name}")
    runner: MachineRunner = module.runner(query, workers, carries)
    return runner if query.suppress is None else suppressing(runner, query)


def suppressing(runner: MachineRunner, query: CompiledQuery) -> MachineRunner:
    """A runner without the ends that the query suppresses."""
    from cer_gpu.engine.machines.suppress import SuppressRunner  # few queries need it

    return SuppressRunner(runner, query)
