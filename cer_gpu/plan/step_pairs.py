"""The machine of chains in which two steps are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from cer_gpu.automata.cea import Identities, Predicate
from cer_gpu.automata.compared_steps import ComparedAutomaton, PairView
from cer_gpu.automata.marked_automaton import ANY_PLACE, StepMove
from cer_gpu.automata.pcea import Keys
from cer_gpu.automata.step_pairs import StepPairChain
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.comparisons.contract import ComparedTables
from cer_gpu.kernels.step_pairs.contract import FEW, StepPairTables
from cer_gpu.plan.comparisons import compared_arrays
from cer_gpu.plan.compiled_query import KeyPlan
from cer_gpu.plan.machine import LANES, Device, HostMachine, Machine, Traits


@dataclass(frozen=True, slots=True)
class StepPairMachine(HostMachine):
    """A chain in which two steps are compared, over symbols.

    Attributes
    ----------
    tables : ComparedTables
        State 0 is entered by events of the earlier compared step; view 0 selects those of them that an event
        of the later step is compared with successfully.
    apart : StepPairTables
    slot_rows : int
        The number of rows of slots, which come before the rows of values.
    streamed : Machine
        The machine that runs a stream from push to push in place of this one.
    """

    tables: ComparedTables
    apart: StepPairTables
    slot_rows: int
    streamed: Machine

    engine: ClassVar[str] = "step_pairs"
    reasons: ClassVar[Mapping[Device, str]] = {
        "cuda": "sums over ranks",
        "resident": "comparisons between events run on the CPU",
        "auto": "comparisons between events run on the CPU",
    }

    @property
    def traits(self) -> Traits:
        return Traits(columns=LANES | {"slots"}, state="again")


def apart_arrays(
    chain: StepPairChain,
    symbols: Sequence[frozenset[int]],
    tests: Sequence[Predicate],
    lane: Mapping[str, Keys] | None,
) -> tuple[ComparedTables, StepPairTables, KeyPlan]:
    """The arrays of a chain, and the values that it compares.

    Parameters
    ----------
    chain : StepPairChain
    symbols : sequence of frozenset of int
        For each symbol the numbers of the predicates that hold for its events.
    tests : sequence of Predicate
        The predicates.
    lane : mapping of str to Keys, or None
        For each event type the values that make its lane, if all events of an answer agree in them.
    """
    known = Identities()
    index = {known.of(test): number for number, test in enumerate(tests)}
    asked = [index[known.of(predicate)] for predicate in chain.predicates]
    steps = [
        [step for step, test in enumerate(asked) if test in holding and number]
        for number, holding in enumerate(symbols)
    ]
    view = PairView(0, chain.tests, ANY_PLACE)
    automaton = ComparedAutomaton(
        n_symbols=len(symbols),
        symbol_of=(),
        types=tuple(frozenset(chain.types[step] for step in some) for some in steps),
        labels=(frozenset(), frozenset({"match"})),
        state_label=(0, 1),
        final=frozenset({1}),
        starts=tuple((symbol, 0) for symbol, some in enumerate(steps) if chain.old in some),
        moves=tuple(StepMove(view, symbol, 1) for symbol, some in enumerate(steps) if chain.new in some),
    )
    tables, keys = compared_arrays(automaton, lane)
    masks = np.array([sum(1 << step for step in some) for some in steps], np.int64)
    apart = StepPairTables(masks, chain.old, chain.new, len(chain.types) - 1, FEW)
    return tables, apart, keys
