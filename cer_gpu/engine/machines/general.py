"""The machine of configurations on the CPU: for patterns with windows and gaps on any operator.

**Method.** Partial matches are made deterministic on the concrete stream: a configuration is a shape and the
times of its slots (`cer_gpu.automata.configurations.shapes`), and stands for all partial matches that have
given the same marks to the same events. So no complex event is found twice. Configurations that agree in
shape and slots are one, with what they stand for united in the persistent structure: no check to come can
tell them apart. An event touches the configurations of its lane whose shape its symbol changes.

**Bounds.** Let n be the events of a lane that are open: as long as the longest chain of upper bounds lasts,
without one all. A state of the automaton has c clocks at most; a configuration is a set of states, and there
are n^c ways to put open moments into the clocks of a state. What a pattern marks parts configurations, so
that those of a chain of marked steps have one state each: there are n^c of them at most, and for one clock
that a step resets, n. Clocks of events that are not marked meet in one configuration, whose shape has then
many slots: its number of states is bounded by n^c too, and shapes by the budget `SHAPES`. An event costs
the configurations that it touches times the tests of their decision trees. The first time that a shape is
asked for a symbol with certain answers of its tests, it is worked out by the host.

**Windows.** For hits the latest start of a configuration decides. To count and to list, the start is one more
clock: a configuration has then one start only where the window is asked, and costs as many configurations as
starts are open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.engine.machines.consume import Consumption
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.found import Answers
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.read.lanes import LaneState
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.general import GeneralMachine

if TYPE_CHECKING:
    from cer_gpu.engine.machines.registers import RegisterRuns


class GeneralRunner:
    """Follows configurations on the CPU; a `MachineRunner` that has no chunks.

    Parameters
    ----------
    query : CompiledQuery
    configurations : callable, optional
        Makes the configurations of a query.
    """

    chunks = 1

    def __init__(
        self,
        query: CompiledQuery,
        configurations: Callable[[CompiledQuery], ConfigurationRuns] = ConfigurationRuns,
    ) -> None:
        self.consumption = Consumption(query)
        self.runs: ConfigurationRuns | RegisterRuns
        assert isinstance(query.machine, GeneralMachine)
        if query.machine.registers and query.machine.held is None:
            from cer_gpu.engine.machines.registers import RegisterRuns  # few queries need it

            self.runs = RegisterRuns(query)
        else:
            self.runs = configurations(query)

    @property
    def states(self) -> tuple[LaneState, ...]:
        """The configurations of each lane."""
        return (self.runs,)

    def read(self, events: Relevant, lane_count: int) -> Relevant:
        """New events, unchanged."""
        return events

    def open_runs(self) -> ConfigurationRuns | RegisterRuns:
        """The configurations, which every run keeps from event to event."""
        return self.runs

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """There are no chunks."""
        raise _no_chunks()

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        raise _no_chunks()

    def needed(self, chunk: Chunk) -> np.ndarray:
        raise _no_chunks()

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        raise _no_chunks()


def _no_chunks() -> TypeError:
    return TypeError("configurations are followed from event to event, not chunk by chunk (Traits.follows)")


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> GeneralRunner:
    """What runs configurations; parameters as in `runner_of`."""
    return GeneralRunner(query)
