"""The machine of iterations whose filters ask for at least so many events or values: `ThresholdMachine`."""

from __future__ import annotations

from typing import ClassVar

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.thresholds.contract import Thresholds
from cer_gpu.plan.machine import LANES, Column, Device, Machine, Traits


@dataclass(frozen=True, slots=True)
class ThresholdMachine:
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

    @property
    def traits(self) -> Traits:
        read: frozenset[Column] = LANES | {"slots"}
        return Traits(columns=read | {"place"} if self.thresholds.contiguous else read, state="again")

    def where(self, device: Device) -> str | None:
        """As `Machine.where`."""
        reasons: dict[Device, str | None] = {
            "cuda": "a window that slides from event to event",
            "resident": "a window slides over the events on the CPU",
            "auto": "a window slides over the events on the CPU",
        }
        return reasons[device]
