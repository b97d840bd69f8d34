"""The machine of configurations: a formula of any kind that is made deterministic as it runs."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.configurations.value_words import HeldWords
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Expression
from cer_gpu.plan.machine import LANES, Device, Traits
from cer_gpu.plan.outlook import Reach


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """Which of the complex events that end at one event the strategy of SELECT leaves.

    Attributes
    ----------
    strategy : {"NEXT", "LAST", "MAX"}
    shown : ndarray, shape (labels,), int32
        What each label becomes once the SELECT list has dropped marks; 0 for no mark.
    """

    strategy: str
    shown: np.ndarray


@dataclass(frozen=True, slots=True)
class GeneralMachine:
    """A formula of any kind, and the predicates that hold for each symbol.

    The effect of an event on partial matches is worked out when it first occurs, so a run needs the formula,
    not tables.

    Attributes
    ----------
    product : {"run", "counts", "hits"}
        Whether complex events are listed, counted, or only their ends are found.
    formula : Pattern
        In LP-normal form, with the list of SELECT, unless its strategy chooses first, and, except for hits,
        the window of the query.
    symbols : tuple of frozenset of int
        For each symbol the numbers of the predicates that hold for its events.
    predicates : tuple of Predicate
        The predicates of the formula, in the order of its automaton.
    reaches : tuple of (Reach or None)
        The bounds of each test of its clocks, in the units of the data; None: a test whether two times are
        equal.
    timed : bool
        Whether it reads the time of events.
    placed : bool
        Whether it reads their places in the partition.
    prefix : bool
        Whether the complex events that end at an event depend on all events before it.
    registers : bool
        Whether partial matches keep values of events that later ones are compared with.
    columns : tuple of Expression
        These values, over the columns of the data and derived ones.
    held : Held or None
        How these values are held in words of 64 bits; None if they are not.
    beyond : str
        Why they are not held in words of 64 bits.
    chosen : StrategyChoice or None
        What is left of the complex events of the formula; None: all.
    label_atoms : ndarray, shape (labels, atoms), uint8
        1 where a label fills an atom of a rule; without atoms the answers are marks.
    """

    product: Literal["run", "counts", "hits"]
    formula: Any
    symbols: tuple[frozenset[int], ...]
    predicates: tuple[Predicate, ...]
    reaches: tuple[Reach | None, ...]
    timed: bool
    placed: bool
    prefix: bool
    registers: bool = False
    columns: tuple[Expression, ...] = ()
    held: HeldWords | None = None
    beyond: str = ""
    chosen: StrategyChoice | None = None
    label_atoms: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.uint8))

    engine: ClassVar[str] = "general"

    @property
    def lists(self) -> bool:
        """Whether it keeps what complex events are made of: to list them, or to choose and then count."""
        return self.product == "run" or (self.product == "counts" and self.chosen is not None)

    @property
    def whole(self) -> tuple[Expression, ...]:
        """The values that are held as whole numbers of 64 bits, decimals among them."""
        if self.held is None:
            return ()
        words = zip(self.columns, self.held.words, strict=True)
        return tuple(value for value, word in words if word == "whole")

    @property
    def exact(self) -> GeneralMachine:
        """The machine that holds values as Python objects, of any size."""
        return replace(self, held=None)

    @property
    def traits(self) -> Traits:
        columns = LANES
        if self.timed:
            columns |= {"time"}
        if self.prefix:
            columns |= {"prefix"}
        return Traits(columns=columns, state="followed")

    def where(self, device: Device) -> str | None:
        """As `Machine.where`."""
        partial = "partial matches"
        if self.registers or self.timed or self.placed:
            partial += f" with {'values' if self.registers else 'clocks'}"
        if device == "resident":
            return f"{partial} are followed by the CPU"
        if device == "auto":
            return (
                f"the CPU follows {partial}; device='cuda' finds hits and counts of many partitions on a GPU"
            )
        if self.lists:
            return f"listing the matches of {partial}"
        if self.registers and self.held is None:
            return f"following {partial}, which are not held in words of 64 bits"
        return f"following {partial} where there are few partitions"
