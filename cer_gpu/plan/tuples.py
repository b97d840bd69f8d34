"""The machine of rules of any form: how each atom is looked up, and which events fit it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.lookups import LookupPlan
from cer_gpu.plan.machine import Device, HostMachine, Traits


@dataclass(frozen=True, slots=True)
class TupleMachine(HostMachine):
    """A rule whose answers are found by looking up one atom after another.

    Attributes
    ----------
    product : {"run", "counts", "count", "hits"}
        Whether answers are listed, counted at each end, counted in total, or only their ends are found.
    lookups : LookupPlan
    fits : ndarray, shape (symbols, atoms), bool
        Whether an event with a symbol fits an atom.
    columns : mapping of (int, int) to int
        For a joined variable and an atom that has it, the column of slots of the atom's events.
    units : mapping of str to str
        The units of the attributes that are compared.
    """

    product: Literal["run", "counts", "count", "hits"]
    lookups: LookupPlan
    fits: np.ndarray
    columns: Mapping[tuple[int, int], int]
    units: Mapping[str, str]

    engine: ClassVar[str] = "tuples"
    reasons: ClassVar[Mapping[Device, str]] = {
        "cuda": "looking up the events of a rule",
        "resident": "the events of a rule are looked up by the CPU",
        "auto": "the events of a rule are looked up by the CPU",
    }

    @property
    def totalled(self) -> TupleMachine:
        """The machine that returns only the number of all answers."""
        return replace(self, product="count")

    @property
    def traits(self) -> Traits:
        return Traits(state="again", bound="answers")
