"""A parallelized complex event automaton as arrays: what the join kernels run."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cer_gpu.frozen import dataclass
from cer_gpu.kernels.joins.contract import JoinTables
from cer_gpu.plan.compiled import Traits


@dataclass(frozen=True, slots=True)
class JoinMachine:
    """A parallelized complex event automaton over symbols, with join keys.

    Attributes
    ----------
    tables : JoinTables
    space_columns : tuple of tuple of int
        For each space of keys the columns of slots that are in it.
    label_atoms : ndarray, shape (labels, atoms), uint8
        Which atoms of a rule a label fills; shape (0, 0) for a query whose answers are marks.
    """

    tables: JoinTables
    space_columns: tuple[tuple[int, ...], ...]
    label_atoms: np.ndarray

    engine: ClassVar[str] = "joins"

    @property
    def traits(self) -> Traits:
        return Traits(
            reads_places=bool(self.tables.entry_next.any()),
            filters=True,
            not_on_device=("listing the answers of joins",),
            not_resident="joins go through the CPU",
            not_automatic="joins run on the CPU: no GPU was found to be faster; device='cuda' uses one",
        )
