"""The queries of the benchmarks, and the masks of their filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bench.streams import PRICES, TYPES

Positions: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class ThreeSteps:
    """`A AS a ; B AS b ; C AS c`, with a numeric filter on each, in a window.

    Attributes
    ----------
    kept : float
        The share of the events of each type that its filter keeps.
    within : int
        The window in events.
    shift : float
        Moves the price ranges that are kept: another query with the same amount of work.
    """

    kept: float = 0.1
    within: int = 1000
    shift: float = 0.0

    @property
    def thresholds(self) -> tuple[float, float, float]:
        """a's price is above the first, b's below the second, c's above the third."""
        high = round(PRICES * (1 - self.kept) - self.shift, 6)
        return high, round(PRICES * self.kept + self.shift, 6), high

    @property
    def text(self) -> str:
        """The query in CEQL."""
        a, b, c = self.thresholds
        return (
            "SELECT a, b, c FROM S WHERE A AS a ; B AS b ; C AS c "
            f"FILTER a[price > {a}] AND b[price < {b}] AND c[price > {c}] WITHIN {self.within} EVENTS"
        )

    def masks(self, codes: np.ndarray, prices: np.ndarray) -> Positions:
        """What plain NumPy does for the three filters alone: three bool arrays as long as the stream."""
        a, b, c = self.thresholds
        return (
            (codes == 0) & (prices > a),
            (codes == 1) & (prices < b),
            (codes == 2) & (prices > c),
        )

    def positions(self, codes: np.ndarray, prices: np.ndarray) -> Positions:
        """The positions of the events that the filters keep, ascending: of A, of B and of C."""
        a, b, c = self.masks(codes, prices)
        return np.flatnonzero(a), np.flatnonzero(b), np.flatnonzero(c)


@dataclass(frozen=True, slots=True)
class KeyedSteps:
    """`A AS a ; B AS b ; C AS c` for each key, in a window of time.

    Attributes
    ----------
    within : int
        The window in units of `ts`.
    """

    within: int

    @property
    def text(self) -> str:
        """The query in CEQL."""
        return (
            f"SELECT a, b, c FROM S WHERE A AS a ; B AS b ; C AS c PARTITION BY key WITHIN {self.within} [ts]"
        )

    def positions(
        self, codes: np.ndarray, keys: np.ndarray, times: np.ndarray, latest: int | None = None
    ) -> Positions:
        """Positions of A, of B and of C: key and time as one number, ascending; no window holds two keys.

        `latest` is the last time of all events, if these are some of them.
        """
        span = (int(times.max(initial=0)) if latest is None else latest) + self.within + 1
        whole = keys * span + times
        a, b, c = (np.sort(whole[codes == TYPES.index(name)]) for name in "ABC")
        return a, b, c
