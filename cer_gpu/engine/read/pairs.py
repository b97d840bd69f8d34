"""Numbers for pairs of numbers, in the order in which the pairs are first seen."""

from __future__ import annotations

import numpy as np

from cer_gpu.kernels.joins import cpu_pairs as kernels

LEAST = 1 << 12
"""Places of the smallest table."""


class PairNumbers:
    """Numbers pairs (left, right), the same pair always alike."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.int64)
        self._count = 0
        self._grow(LEAST)

    @property
    def count(self) -> int:
        """How many numbers there are by now."""
        return self._count

    def encode(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The numbers of some pairs, -1 where one half is -1.

        Parameters
        ----------
        left, right : ndarray, shape (m,), int32

        Returns
        -------
        ndarray, shape (m,), int32
        """
        codes = np.full(len(left), -2, np.int32)
        fresh = np.empty(len(left), np.int64)
        while True:
            found = int(
                kernels.pair_codes(left, right, self._table_key, self._table_code, self._count, codes, fresh)
            )
            count = -1 - found if found < 0 else found
            new = fresh[: count - self._count]
            if count > len(self._keys):
                self._keys = np.resize(self._keys, max(count, 2 * len(self._keys)))
            self._keys[self._count : count] = new
            self._count = count
            if found >= 0:
                return codes
            self._grow(2 * len(self._table_key))

    def halves(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pairs that have some numbers, as int64."""
        keys = self._keys[numbers]
        return keys >> 32, keys & 0xFFFFFFFF

    def reset(self, left: np.ndarray, right: np.ndarray) -> None:
        """Forget all pairs, and number these from 0 on; shape (k,), int64, all different."""
        self._keys = (left << 32) | right
        self._count = len(left)
        places = LEAST
        while places < 4 * self._count:
            places *= 2
        self._grow(places)

    def _grow(self, places: int) -> None:
        self._table_key = np.full(places, kernels.EMPTY, np.int64)
        self._table_code = np.empty(places, np.int32)
        kernels.place(self._keys[: self._count], self._table_key, self._table_code)
