"""The machines of iterations with thresholds: on counts, `ThresholdMachine`, and on a sum, a mean or an
extreme, `AggregateThresholdMachine`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.thresholds.contract import Thresholds
from cer_gpu.plan.aggregate_bounds import AggregateBound
from cer_gpu.plan.machine import LANES, Column, Device, HostMachine, Machine, Traits

WHERE: dict[Device, str] = {
    "cuda": "a window that slides from event to event",
    "resident": "a window slides over the events on the CPU",
    "auto": "a window slides over the events on the CPU",
}


@dataclass(frozen=True, slots=True)
class ThresholdMachine(HostMachine):
    """Thresholds over the events of an iteration, over symbols.

    Attributes
    ----------
    thresholds : Thresholds
    streamed : Machine
        The machine that runs a stream from push to push in place of this one.
    """

    thresholds: Thresholds
    streamed: Machine

    engine: ClassVar[str] = "thresholds"
    reasons: ClassVar[Mapping[Device, str]] = WHERE

    @property
    def traits(self) -> Traits:
        read: frozenset[Column] = LANES | {"slots"}
        return Traits(columns=read | {"place"} if self.thresholds.contiguous else read, state="again")


@dataclass(frozen=True, slots=True)
class AggregateThresholdMachine(HostMachine):
    """A threshold on an aggregate of the events of an iteration, over symbols.

    Attributes
    ----------
    takes : ndarray, shape (symbols,), uint8
        1: an event with the symbol may be taken.
    contiguous : bool
    kind : int
        As in `AggregateThreshold`, of the values times `sign`.
    sign : {1, -1}
    bound : AggregateBound
    about : str
        The comparison as it is written, for messages.
    streamed : Machine
        The machine that runs a stream from push to push in place of this one.
    """

    takes: np.ndarray
    contiguous: bool
    kind: int
    sign: int
    bound: AggregateBound
    about: str
    streamed: Machine

    engine: ClassVar[str] = "aggregate_thresholds"
    reasons: ClassVar[Mapping[Device, str]] = WHERE
    aggregates: ClassVar[bool] = True
    """Values are added up, not only put in their order."""

    @property
    def traits(self) -> Traits:
        read: frozenset[Column] = LANES | {"slots"}
        return Traits(columns=read | {"place"} if self.contiguous else read, state="again")
