"""One diagram for several queries that read a stream together: it tells apart what any of them tells apart.

Each query reads an event as a symbol of its own (`cer_gpu.plan.symbols`). Queries that go through the stream
together share one *cell* for each combination of classes that their filters tell apart, on axes that are
merged: constants of several queries on one column cut one axis. An event is classified once, into its cell,
and is left out where no query looks at it; each query then has a table from cells to its own symbols. The
variants of a template (`price > $p` for a hundred values) differ in these tables alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.axes import Axis, ColumnAxis, CutAxis
from cer_gpu.plan.compiled_query import RowReading
from cer_gpu.plan.symbols import Stage
from cer_gpu.plan.thresholds import exact_array

CELLS = 1 << 18
"""Combinations of classes of queries that go together at most."""

TOLD_APART = (1 << 16) - 1
"""So many of them are told apart at most: the symbol of a cell is 16 bits."""

TABLES = 1 << 26
"""Cells times queries at most: the bytes of their tables."""

Place: TypeAlias = tuple[Any, ...]
"""What an axis reads: axes with equal places are merged."""


@dataclass(frozen=True, slots=True)
class SharedReading:
    """The shared reading of several queries that go through a stream at once.

    Attributes
    ----------
    reading : Reading
        The reading of all of them. Its symbols, from 1 on, are the cells that some query looks at; cells that
        no query tells apart are one symbol.
    symbols : tuple of ndarray
        For each query its own symbol for each of these, shape (cells + 1,), uint8 or uint16; 0 is neutral.
    """

    reading: RowReading
    symbols: tuple[np.ndarray, ...]


def bunches(readings: Sequence[RowReading]) -> Iterator[tuple[list[int], SharedReading | None]]:
    """Divide queries, in their order, into bunches that each fit `CELLS`, `TABLES` and `TOLD_APART`.

    Parameters
    ----------
    readings : sequence of Reading
        They differ only in axes, stages and windows.

    Yields
    ------
    numbers : list of int
        The numbers of the queries in a bunch.
    together : Together or None
        Their readings as one; None for a query that is too large, which makes a bunch of its own.
    """
    bunch: list[int] = []
    axes: dict[Place, Axis] = {}
    merged: set[int] = set()  # the axes in `axes`, by their identity: variants share them
    for number, reading in enumerate(readings):
        fresh = [axis for axis in reading.axes if id(axis) not in merged]
        grown = _merged(axes, fresh) if fresh else axes
        cells = prod(axis.size for axis in grown.values())
        if bunch and (cells > CELLS or cells * (len(bunch) + 1) > TABLES):
            yield from _told(readings, bunch, axes)
            bunch, grown, merged = [], _merged({}, reading.axes), set()
        bunch.append(number)
        axes = grown
        merged.update(map(id, reading.axes))
    if bunch:
        yield from _told(readings, bunch, axes)


def _told(
    readings: Sequence[RowReading], bunch: list[int], axes: dict[Place, Axis]
) -> Iterator[tuple[list[int], SharedReading | None]]:
    """A bunch; by halves, where it tells too many cells apart."""
    own = [readings[number] for number in bunch]
    made = _together(own, axes)
    if made is not None or len(bunch) == 1:
        yield bunch, made
        return
    middle = len(bunch) // 2
    for part, some in ((bunch[:middle], own[:middle]), (bunch[middle:], own[middle:])):
        merged: dict[Place, Axis] = {}
        for reading in some:
            merged = _merged(merged, reading.axes)
        yield from _told(readings, part, merged)


def _together(readings: Sequence[RowReading], axes: dict[Place, Axis]) -> SharedReading | None:
    """Readings as one, over their axes; None where that has too many cells."""
    sizes = {place: axis.size for place, axis in axes.items()}
    if prod(sizes.values()) > CELLS:
        return None
    made: dict[Place, np.ndarray] = {}  # variants that differ in their windows read alike
    symbols = []
    for reading in readings:
        alike = *map(id, reading.axes), *map(id, reading.stages)
        if alike not in made:
            made[alike] = _symbols(reading, axes)
        symbols.append(made[alike])
    looked_at = np.zeros(prod(sizes.values()), bool)
    for one in made.values():
        looked_at |= one != 0
    cells, numbered = _told_apart(list(made.values()), np.flatnonzero(looked_at))
    if len(cells) > TOLD_APART:
        return None
    numbers = np.zeros(len(looked_at), np.uint16)
    numbers[looked_at] = numbered + 1
    strides = np.append(np.cumprod(list(sizes.values())[:0:-1])[::-1], 1).tolist() if sizes else []
    stage = Stage(tuple(range(len(sizes))), tuple(map(int, strides)), len(looked_at), numbers)
    reading = replace(readings[0], axes=tuple(axes.values()), stages=(stage,), symbol_dtype="uint16")
    tables = (np.append(one[:1] * 0, one[cells]) for one in symbols)
    return SharedReading(reading, tuple(map(np.ascontiguousarray, tables)))


def _told_apart(symbols: Sequence[np.ndarray], cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of all cells that every query reads alike, and for each cell the number of its first one.

    Queries over several types have a constant each, mostly for one type: of the cells that these constants
    make with all types, few differ for any query.
    """
    mixed = np.random.default_rng(0)
    while True:
        told = np.zeros(len(cells), np.uint64)
        for one in symbols:
            told += mixed.integers(1 << 63, size=int(one.max(initial=0)) + 1, dtype=np.uint64)[one[cells]]
        _, first, alike = np.unique(told, return_index=True, return_inverse=True)
        # Two different cells have one sum of random numbers once in 2^63 times; then others are drawn.
        if all(np.array_equal(one[cells[first]][alike], one[cells]) for one in symbols):
            return cells[first], alike


def _place(axis: Axis) -> Place:
    if isinstance(axis, ColumnAxis):
        return "column", axis.column, axis.kind
    if isinstance(axis, CutAxis):
        return "cuts", axis.operand, axis.textual
    return "other", axis


def _merged(axes: dict[Place, Axis], more: Sequence[Axis]) -> dict[Place, Axis]:
    """Axes by what they read, with further ones merged into them."""
    found = dict(axes)
    for axis in more:
        place = _place(axis)
        old = found.get(place)
        if old is None or old is axis:
            found[place] = axis
        elif isinstance(axis, ColumnAxis) and isinstance(old, ColumnAxis):
            found[place] = replace(old, names=tuple(dict.fromkeys((*old.names, *axis.names))))
        elif isinstance(axis, CutAxis) and isinstance(old, CutAxis):
            found[place] = _cut_at_both(old, axis)
    return found


def _cut_at_both(one: CutAxis, other: CutAxis) -> CutAxis:
    """The axis with a class for each pair of classes that a value may have on two axes over one operand."""
    constants = sorted({*one.constants.tolist(), *other.constants.tolist()})
    both = np.stack([_classes(axis, constants) for axis in (one, other)])
    changes = np.append(True, (both[:, 1:] != both[:, :-1]).any(axis=0))
    starts = np.flatnonzero(changes).astype(np.int64)
    pairs: dict[tuple[int, int], int] = {}
    numbers = [pairs.setdefault((a, b), len(pairs)) for a, b in both[:, starts].T.tolist()]
    values: np.ndarray = np.array(constants, object) if one.textual else exact_array(constants)
    return CutAxis(one.operand, one.textual, values, starts, np.array(numbers, np.int64))


def _classes(axis: CutAxis, constants: list[Any]) -> np.ndarray:
    """The class of each region that some constants make, its own among them, shape (regions,), int64."""
    own = axis.constants.tolist()
    below = [bisect_left(own, value) for value in constants]
    at = [2 * k + 2 if k < len(own) and own[k] == value else 2 * k + 1 for k, value in zip(below, constants)]
    regions = np.empty(2 * len(constants) + 2, np.int64)
    regions[0] = 0
    regions[1::2] = [*(2 * k + 1 for k in below), 2 * len(own) + 1]
    regions[2::2] = at
    return axis.classes_of(regions)


def _symbols(reading: RowReading, axes: dict[Place, Axis]) -> np.ndarray:
    """The symbol that a query gives each cell, shape (cells,)."""
    order = list(axes)
    shape = [axes[place].size for place in order]
    states = np.zeros([1] * len(shape), np.int64)
    for stage in reading.stages:
        index = states * stage.state_stride
        for number, stride in zip(stage.axes, stage.strides, strict=True):
            axis = reading.axes[number]
            place = _place(axis)
            along = [1] * len(shape)
            along[order.index(place)] = -1
            index = index + (_class_in(axis, axes[place]) * stride).reshape(along)
        states = stage.table[index]
    return np.broadcast_to(states, shape).reshape(-1)


def _class_in(axis: Axis, merged: Axis) -> np.ndarray:
    """The class on an axis of each class of the one that it was merged into, shape (classes,), int64."""
    if isinstance(axis, ColumnAxis) and isinstance(merged, ColumnAxis):
        numbers = {name: number + 1 for number, name in enumerate(axis.names)}
        return np.array([0, *(numbers.get(name, 0) for name in merged.names)], np.int64)
    if isinstance(axis, CutAxis) and isinstance(merged, CutAxis):
        classes = np.zeros(merged.size, np.int64)
        found = _classes(axis, merged.constants.tolist())
        classes[merged.numbers] = found[merged.starts]
        return classes
    return np.arange(axis.size)
