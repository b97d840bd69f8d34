"""A deterministic monotonic automaton with one clock as arrays: the machine of Theorem 6.1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.clock.contract import ClockTables
from cer_gpu.plan.machine import LANES, Device, HostMachine, Traits


@dataclass(frozen=True, slots=True)
class ClockMachine(HostMachine):
    """A deterministic monotonic automaton with one clock over symbols.

    Attributes
    ----------
    tables : ClockTables
    constants : ndarray, shape (constants,), uint64 or float64
        Those of the checks, in the unit of the order attribute, ascending.
    """

    tables: ClockTables
    constants: np.ndarray

    engine: ClassVar[str] = "one_clock"
    reasons: ClassVar[Mapping[Device, str]] = {
        "cuda": "patterns with such bounds of time",
        "resident": "patterns with such bounds of time go through the CPU",
        "auto": "one thread for a partition follows patterns with such bounds of time",
    }

    @property
    def traits(self) -> Traits:
        return Traits(columns=LANES | {"time"}, forgets=True)
