"""The machine of configurations on the CPU: for patterns with anything in them.

**Method.** Partial matches are made deterministic on the concrete stream: a configuration is a shape and the
times of its slots (`cer_gpu.automata.configurations.shapes`), and stands for all partial matches that have
given the same marks to the same events. So no complex event is found twice. Configurations with the same
shape and slots become one, and what they stand for is united in the persistent structure: no later check can
tell them apart. An event changes the configurations of its lane whose shape its symbol concerns.

**Bounds.** Let n be the number of open events of a lane: those within the longest chain of upper bounds, or
all events if there is none. If a state of the automaton has at most c clocks, there are n^c ways to put open
moments into them; a configuration is a set of states. What a pattern marks separates configurations, so in a
chain of marked steps each has one state: there are at most n^c of them, and n for one clock that a step
resets. Clocks of events that are not marked meet in one configuration, whose shape then has many slots: the
number of its states is bounded by n^c too, and shapes by the budget `SHAPES`. Without a clock there are as
many configurations as the automaton of the formula has states, once it is deterministic. An event costs the
configurations that it changes times the tests of their decision trees, and a search for these: by the hash of
a value that has to be equal, or in a search tree by one that has to be less or greater. If a kind of event
begins with another test, it is made of every configuration with the shape. When a shape first meets a symbol
with certain results of its tests, the host works out what follows.

**Cores.** Lanes are independent, unless a report drops what is open in all of them: those of a push with many
events are followed by all threads, each of which keeps the configurations of its own
(`cer_gpu.engine.machines.dealt_configurations`). One lane is one thread's work.

**Windows.** Hits need only the latest start of a configuration. To count and to list, the start is one more
clock: configurations then have one start each where the window needs it, and there are as many of them as
open starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.engine.machines.consume import Consumption
from cer_gpu.engine.machines.dealt_configurations import DealtConfigurations
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import LaneState
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.general import GeneralMachine

if TYPE_CHECKING:
    from cer_gpu.engine.machines.registers import RegisterRuns


class GeneralRunner:
    """Follows configurations on the CPU; a `MachineRunner` that has no chunks.

    Parameters
    ----------
    query : CompiledQuery
    configurations : callable
        Makes the configurations of a query.
    """

    chunks = 1
    ungrouped = False

    def __init__(
        self,
        query: CompiledQuery,
        configurations: Callable[[CompiledQuery], DealtConfigurations | ConfigurationRuns],
    ) -> None:
        self.consumption = Consumption(query)
        self.runs: DealtConfigurations | ConfigurationRuns | RegisterRuns
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

    def read(self, events: EventArrays) -> EventArrays:
        """New events, unchanged."""
        return events

    def open_runs(self) -> DealtConfigurations | ConfigurationRuns | RegisterRuns:
        """The configurations, which every run keeps from event to event."""
        return self.runs

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """Raise: this machine has no chunks."""
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
    """The runner of configurations; parameters as in `runner_of`."""
    # A report drops what is open in all lanes, or may suppress what consumes in them.
    if query.consume == "ANY" or (query.consume != "NONE" and query.suppress is not None):
        return GeneralRunner(query, ConfigurationRuns)
    return GeneralRunner(query, lambda query: DealtConfigurations(query, workers))
