"""What every machine's runner can do, whatever the machine: all that a run asks of it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.consume import Consumption
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.lanes import LaneState
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import AnswerBlock
from cer_gpu.plan.compiled import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.machines.open_runs import OpenRuns

Sharing: TypeAlias = Literal["ends", "blocks", "ahead"]
"""How threads share the work of listing answers: each takes ranges of ends; or all take slices of one block
after another; the same, and the next block is made meanwhile, by a device."""


class Answers(Protocol):
    """The complex events of the ends of a chunk, in whatever structure holds them."""

    @property
    def count(self) -> np.ndarray:
        """How many each end has, shape (ends,), int64, or object past 2^62."""
        ...

    @property
    def sharing(self) -> Sharing:
        """How threads share the work of listing."""
        ...

    def work(self, limit: int | None) -> np.ndarray:
        """The steps that the first so many complex events of each end take, about, shape (ends,)."""
        ...

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[AnswerBlock]:
        """The complex events of some ends, end after end in the given order.

        Parameters
        ----------
        order : ndarray, shape (m,), int64
            Numbers of ends.
        limit : int, optional
            At most so many of each end: the first in canonical order (start, marked events, labels).
        size : int, optional
            So many in a block, about, and found in one go.
        """
        ...


class MachineRunner(Protocol):
    """Runs a machine over the chunks of a stream, one after another.

    Attributes
    ----------
    chunks : int
        How many times the events of an ordinary chunk it is given at a time.
    consumption : Consumption
        What CONSUME BY has dropped so far.
    """

    chunks: int
    consumption: Consumption

    @property
    def states(self) -> tuple[LaneState, ...]:
        """What it keeps for each lane, beside registers that are carried."""
        ...

    def read(self, events: Relevant, lane_count: int) -> Relevant:
        """Look at new events of the stream before they are put into a chunk.

        Parameters
        ----------
        events : Relevant
            In the order of the stream.
        lane_count : int
            How many lanes there are by now.

        Returns
        -------
        Relevant
            The events with the symbols that the machine reads, without those that do not count.
        """
        ...

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """Where complex events end that are reported; unless `bounded`, `lowest` may be left empty."""
        ...

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """Where complex events end that are reported, and how many at each, before LIMIT.

        Returns
        -------
        event : ndarray, shape (ends,), int64
            Ascending.
        number : ndarray, shape (ends,), int64, or object past 2^62
        """
        ...

    def needed(self, chunk: Chunk) -> np.ndarray:
        """For each lane of a chunk the first event that what ends later may begin at, whatever the window.

        Returns
        -------
        ndarray, shape (lanes,), int64
            One past the last event of the lane, where nothing is open.
        """
        ...

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The complex events at some ends of a chunk, which `ends` has given."""
        ...

    def open_runs(self) -> OpenRuns | None:
        """What of a stream is kept between pushes, so that a push costs what is new.

        None where the open window is run again with each push.
        """
        ...


class Chunks(Protocol):
    """Puts new events together with those that the window still needs."""

    def chunk(self, new: Relevant) -> Chunk:
        """The next events of the stream as a chunk."""
        ...

    def resume(self, tail: Relevant | None) -> None:
        """Continue a stream: `tail` holds the events inside the window that were run elsewhere."""
        ...


class RunParts(Protocol):
    """The parts of a run that go on where a device has run a stream so far."""

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


def runner_of(query: CompiledQuery, workers: Workers, carries: bool) -> MachineRunner:
    """What runs the machine of a query on the CPU.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    carries : bool
        Whether chunks hold new events only, and what those before amount to is carried: for hits and counts
        of a query that `carries`.
    """
    module: Any = import_module(f"cer_gpu.engine.machines.{query.machine.engine}")
    runner: MachineRunner = module.runner(query, workers, carries)
    return runner
