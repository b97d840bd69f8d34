"""Joins of three relations: their texts, their streams, and all their answers by sorted arrays.

Each join is done in the same way, by the second method here and by the SQL of the rivals: pairs of the first
two relations, then the events of the third for each pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pyarrow as pa

SEED = 20170601
EVENTS_PER_KEY = 100
FEW = 4
"""Values of the second attribute where it refines the first."""
PAIRS_AT_ONCE = 1 << 20
MIXERS = tuple(np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


@dataclass(frozen=True, slots=True)
class Join:
    """A query that joins three relations by equality.

    Attributes
    ----------
    name : str
    text : str
        The query, with `{w}` for the window.
    atoms : tuple of str
        The relations in the order of the positions in an answer.
    relations : tuple of str
        The same, in the order in which they are joined one after another.
    first, second : tuple of str
        The attributes that the first two share, and the last two.
    ascending : bool
        Whether the positions ascend in the order of `relations`; otherwise all orders are answers.
    few : bool
        Whether `y` has a few values, equally frequent; otherwise it has the keys of `x`.
    density : float
        The answers for each event are the square of the window / 3, times this, times the probability that
        the keys of three events agree.
    """

    name: str
    text: str
    atoms: tuple[str, str, str]
    relations: tuple[str, str, str]
    first: tuple[str, ...]
    second: tuple[str, ...]
    ascending: bool = False
    few: bool = True
    density: float = 1.0

    def within(self, shares: np.ndarray) -> int:
        """The window for which there are about as many answers as events.

        Parameters
        ----------
        shares : ndarray of float64
            How frequent each key is.
        """
        agree = float((shares ** (2 if self.ascending else 3)).sum())
        if "y" in self.first + self.second:
            agree *= 1 / FEW if self.few else float((shares**2).sum())
        return max(1, round(3 / sqrt(self.density * agree)))

    @property
    def order(self) -> tuple[int, ...]:
        """For each of `relations` its place in `atoms`."""
        return tuple(self.atoms.index(name) for name in self.relations)


STAR = Join(
    "star",
    "Q(x) <- A(x = x), B(x = x), C(x = x) WITHIN {w} EVENTS",
    ("A", "B", "C"),
    ("A", "B", "C"),
    ("x",),
    ("x",),
)
Q0 = Join(
    "Q_0",
    "Q(x, y) <- T(x = x), S(x = x, y = y), R(x = x, y = y) WITHIN {w} EVENTS",
    ("T", "S", "R"),
    ("S", "R", "T"),
    ("x", "y"),
    ("x",),
)
CHAIN = Join(
    "chain",
    "SELECT a, b, c FROM S WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y WITHIN {w} EVENTS",
    ("A", "B", "C"),
    ("A", "B", "C"),
    ("x",),
    ("y",),
    ascending=True,
    few=False,
    density=1 / 6,
)
JOINS = {join.name: join for join in (STAR, Q0, CHAIN)}


def key_shares(keys: int, skewed: bool) -> np.ndarray:
    """How frequent each key is: all equally, or as 1, 1/2, 1/3, ... (Zipf's law)."""
    weights = 1 / np.arange(1, keys + 1) if skewed else np.ones(keys)
    return weights / weights.sum()


def make_stream(join: Join, count: int, shares: np.ndarray, seed: int = SEED) -> pa.Table:
    """A stream of the join's three relations.

    Parameters
    ----------
    join : Join
    count : int
    shares : ndarray of float64
        How frequent each key is.
    seed : int

    Returns
    -------
    pyarrow.Table
        `type`: dictionary<int32, string>, uniform in the join's atoms; `x`, `y`: int64; all independent.
        Keys are numbered at random, so that their number does not tell their frequency.
    """
    rng = np.random.default_rng((seed, len(shares)))
    types = rng.integers(0, len(join.atoms), count, np.int32)
    numbers = rng.permutation(len(shares))
    bounds = np.cumsum(shares)[:-1]
    columns = {"type": pa.DictionaryArray.from_arrays(pa.array(types), pa.array(list(join.atoms)))}
    for name in "xy":
        drawn = (
            rng.integers(0, FEW, count)
            if name == "y" and join.few
            else numbers[np.searchsorted(bounds, rng.random(count), side="right")]
        )
        columns[name] = pa.array(drawn)
    return pa.table(columns)


def rows_for_sql(join: Join, events: pa.Table) -> pa.Table:
    """A stream as a table of `relation` (its place in `relations`), `x`, `y` and `pos`, all of int32."""
    place = np.argsort(join.order).astype(np.int32)[events.column("type").chunk(0).indices.to_numpy()]
    columns = {"relation": pa.array(place)}
    columns |= {name: events.column(name).cast(pa.int32()) for name in "xy"}
    return pa.table(columns | {"pos": pa.array(np.arange(len(events), dtype=np.int32))})


@dataclass(frozen=True, slots=True)
class Listed:
    """What two lists of answers are compared by: their number, and a sum that does not depend on their order.

    Attributes
    ----------
    number : int
    checksum : int
        The sum, modulo 2^64, of a hash of the three positions of each answer.
    """

    number: int = 0
    checksum: int = 0

    def __add__(self, other: Listed) -> Listed:
        return Listed(self.number + other.number, (self.checksum + other.checksum) % 2**64)


def listed(positions: tuple[np.ndarray, ...]) -> Listed:
    """The number and the checksum of answers.

    Parameters
    ----------
    positions : tuple of ndarray, shape (n,), integers
        The positions of the events of each of the join's `relations`.
    """
    mixed = np.zeros(len(positions[0]), np.uint64)
    for where, odd in zip(positions, MIXERS, strict=True):
        mixed = (mixed ^ where.astype(np.uint64)) * odd
        mixed ^= mixed >> np.uint64(29)
    return Listed(len(mixed), int(mixed.sum(dtype=np.uint64)))


def by_sorted_arrays(join: Join, events: pa.Table, within: int) -> Listed:
    """All answers of a join, by binary search in sorted arrays of (key, position)."""
    codes = events.column("type").chunk(0).indices.to_numpy()
    columns = {name: events.column(name).chunk(0).to_numpy() for name in "xy"}
    left, middle, right = (np.flatnonzero(codes == place) for place in join.order)
    span = len(events) + 2 * within + 1
    seconds, thirds = _Sorted(middle, columns, join.first, span), _Sorted(right, columns, join.second, span)
    found = Listed()
    for low in range(0, len(left), PAIRS_AT_ONCE):
        one = left[low : low + PAIRS_AT_ONCE]
        rows, two = seconds.inside(one, *_bounds(join, one, one, within))
        for at in range(0, len(two), PAIRS_AT_ONCE):
            first, second = one[rows[at : at + PAIRS_AT_ONCE]], two[at : at + PAIRS_AT_ONCE]
            pairs, third = thirds.inside(second, *_bounds(join, first, second, within))
            found += listed((first[pairs], second[pairs], third))
    return found


def _bounds(join: Join, one: np.ndarray, two: np.ndarray, within: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the next event may be, both ends in, given the earliest and the latest so far."""
    if join.ascending:
        return two + 1, one + within
    return np.maximum(one, two) - within, np.minimum(one, two) + within


class _Sorted:
    """The events of a relation, ordered by (key, position)."""

    def __init__(
        self, positions: np.ndarray, columns: dict[str, np.ndarray], on: tuple[str, ...], span: int
    ) -> None:
        self._key = columns[on[0]].copy()
        for name in on[1:]:
            self._key = self._key * FEW + columns[name]
        # Keys are so far apart that no range of positions reaches into the next.
        self._span = span
        self._whole = np.sort(self._key[positions] * span + positions)

    def inside(self, events: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each event all positions in low .. high with its key: rows of `events`, and the positions."""
        base = self._key[events] * self._span
        begin = np.searchsorted(self._whole, base + low)
        number = np.maximum(np.searchsorted(self._whole, base + high, side="right") - begin, 0)
        rows = np.repeat(np.arange(len(events)), number)
        before = np.repeat(np.cumsum(number) - number, number)
        places = np.repeat(begin, number) + np.arange(len(rows)) - before
        return rows, self._whole[places] % self._span


def of_batches(join: Join, batches: Iterator[pa.RecordBatch]) -> Listed:
    """The number and the checksum of what the engine lists."""
    found = Listed()
    for batch in batches:
        if join.ascending:
            marks = [batch.column(name.lower()) for name in join.relations]
            positions = tuple(column.flatten().to_numpy() for column in marks)
        else:
            rows = batch.column("positions").flatten().to_numpy().reshape(-1, len(join.atoms))
            positions = tuple(rows[:, place] for place in join.order)
        found += listed(positions)
    return found
