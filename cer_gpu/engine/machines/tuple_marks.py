"""The answers of a rule that was followed as a pattern: for each complex event, the event of every atom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.lookups import PartialAnswers
from cer_gpu.engine.machines.tuple_answers import ends_in_parts, in_order, together
from cer_gpu.enumeration.blocks import TupleBlock
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.sorting.order import ascending


class MarkedTuples:
    """Complex events as answers of a rule; an `Answers`.

    Parameters
    ----------
    marks : Answers
        The complex events, in each of which every atom of the rule has marked one event.
    label_atoms : ndarray, shape (labels, atoms), uint8
        Which atoms a label fills.
    """

    sharing: Literal["blocks"] = "blocks"

    def __init__(self, marks: Answers, label_atoms: np.ndarray) -> None:
        self._marks = marks
        self._label_atoms = label_atoms

    @property
    def count(self) -> np.ndarray:
        """How many each end has, shape (ends,), int64, or object past 2^62."""
        return self._marks.count

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps to list the first `limit` answers of each end: shape (ends,)."""
        return self._marks.work(None)

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[TupleBlock]:
        """The answers of some ends, as `Answers.blocks`, by (start, events) at each end.

        Raises
        ------
        LimitError
            For an end with more answers than can be sorted.
        """
        for ends in ends_in_parts(self.count, order, size):
            found = [self._filled(block, ends) for block in self._marks.blocks(ends)]
            block = in_order(ends, together(found, self._label_atoms.shape[1]), limit)
            if len(block.hit):
                yield block

    def _filled(self, block: Block, ends: np.ndarray) -> PartialAnswers:
        """For each complex event of a block the event of every atom."""
        which = ascending(ends)
        end = which[np.searchsorted(ends[which], block.hit)]
        row = np.repeat(np.arange(len(block.hit)), np.diff(block.first))
        event = np.empty((len(block.hit), self._label_atoms.shape[1]), np.int64)
        for atom, filled in enumerate(self._label_atoms.T):
            own = filled[block.label] != 0
            event[row[own], atom] = block.event[own]
        return PartialAnswers(end, end, event)
