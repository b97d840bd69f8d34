"""The positions of some events of a chunk; where none is left out, they are added and not looked up."""

from __future__ import annotations

from weakref import ref

import numpy as np

from cer_gpu.kernels.lanes.cpu import gather


class PositionLookup:
    """Gives positions of events; remembers where those of the chunk that was asked for last begin."""

    def __init__(self) -> None:
        self._known: tuple[ref[np.ndarray] | None, int | None] = (None, None)

    def __call__(self, positions: np.ndarray, index: np.ndarray) -> np.ndarray:
        """`positions[index]`, int64.

        Parameters
        ----------
        positions : ndarray, shape (n,), int64
            Of all events of a chunk; they do not change.
        index : ndarray, shape (m,), integers
        """
        before = self._before(positions)
        if before is not None:
            return np.add(index, before, dtype=np.int64)
        out = np.empty(len(index), np.int64)
        gather(positions, index, out)
        return out

    def _before(self, positions: np.ndarray) -> int | None:
        """The first position, if the others follow it one by one."""
        of, before = self._known
        if of is None or of() is not positions:
            before = None
            if len(positions) and positions[-1] - positions[0] == len(positions) - 1:
                before = int(positions[0]) if (positions[1:] > positions[:-1]).all() else None
            self._known = ref(positions), before
        return before
