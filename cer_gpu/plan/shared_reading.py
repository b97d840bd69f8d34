"""One diagram for several queries that read a stream together: it tells apart what any of them tells apart.

Each query reads an event as a symbol of its own (`cer_gpu.plan.symbols`). Queries that go through the stream
together share one *cell* for each combination of their symbols, on axes that are merged: constants of several
queries on one column cut one axis. An event is classified once, into its cell, and is left out where no query
looks at it; each query then has a table from cells to its own symbols. The variants of a template (`price >
$p` for a hundred values) differ in these tables alone.

The diagrams of the queries are folded into one, axis by axis: a state is what each query knows of an event so
far. Constants that a query has for events of one type cut the events of this type alone, so that a thousand
variants of three filtered steps make three thousand cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.axes import Axis, ColumnAxis, CutAxis
from cer_gpu.plan.compiled_query import RowReading
from cer_gpu.plan.symbols import Diagram, stages
from cer_gpu.plan.thresholds import joined

QUERIES = 1 << 12
"""Queries of a bunch at most."""

CELLS = 1 << 18
"""Combinations of classes that one query has a symbol for at most."""

TOLD_APART = (1 << 16) - 1
"""Cells at most: the symbol of a cell is 16 bits."""

LEVEL = 1 << 22
"""States times classes of one axis at most: the table of a stage then stays within 8 MB."""

TABLES = 1 << 24
"""Cells times queries at most: the bytes of their tables."""

Place: TypeAlias = tuple[Any, ...]
"""What an axis reads: axes with equal places are merged."""


@dataclass(frozen=True, slots=True)
class SharedReading:
    """The shared reading of several queries that go through a stream at once.

    Attributes
    ----------
    reading : Reading
        The reading of all of them. Its symbols, from 1 on, are the cells that some query looks at.
    symbols : tuple of ndarray
        For each query its own symbol for each of these, shape (cells + 1,), uint8 or uint16; 0 is neutral.
    """

    reading: RowReading
    symbols: tuple[np.ndarray, ...]


def bunches(readings: Sequence[RowReading]) -> Iterator[tuple[list[int], SharedReading | None]]:
    """Divide queries, in their order, into bunches that each fit `LEVEL`, `TABLES` and `TOLD_APART`.

    Parameters
    ----------
    readings : sequence of Reading
        They differ only in axes, stages and windows.

    Yields
    ------
    numbers : list of int
        The numbers of the queries in a bunch.
    together : SharedReading or None
        Their readings as one; None for a query that is too large, which makes a bunch of its own.
    """
    known: dict[Any, _OwnDiagram | None] = {}
    for first in range(0, len(readings), QUERIES):
        yield from _halved(readings, list(range(first, min(first + QUERIES, len(readings)))), known)


def _halved(
    readings: Sequence[RowReading], bunch: list[int], known: dict[Any, _OwnDiagram | None]
) -> Iterator[tuple[list[int], SharedReading | None]]:
    """A bunch; by halves, where it is too large."""
    made = _together([readings[number] for number in bunch], known)
    if made is not None or len(bunch) == 1:
        yield bunch, made
        return
    middle = len(bunch) // 2
    yield from _halved(readings, bunch[:middle], known)
    yield from _halved(readings, bunch[middle:], known)


class _OwnDiagram(NamedTuple):
    # Of one query: the numbers of its axes in the order of the merged ones, for each of them the next states,
    # shape (states, classes), and the first state. States that lead to the same symbols are one; after the
    # last axis they are the symbols.
    axes: tuple[int, ...]
    levels: tuple[np.ndarray, ...]
    root: int


class _AxisReader(NamedTuple):
    # A query that reads a merged axis: its number, its own axis there, and the level of its diagram.
    query: int
    axis: Axis
    level: np.ndarray


def _together(readings: Sequence[RowReading], known: dict[Any, _OwnDiagram | None]) -> SharedReading | None:
    """Readings as one; None where that is too large."""
    alike: dict[Place, list[Axis]] = {}
    for reading in readings:
        for axis in reading.axes:
            alike.setdefault(_place(axis), []).append(axis)
    order = {place: number for number, place in enumerate(alike)}
    numbers = np.empty(len(readings), np.int64)  # variants that differ in their windows read alike
    distinct: dict[Place, int] = {}
    own: list[tuple[RowReading, _OwnDiagram]] = []
    readers: dict[Place, list[_AxisReader]] = {place: [] for place in alike}
    for place, reading in enumerate(readings):
        same = *map(id, reading.axes), *map(id, reading.stages)
        if same not in distinct:
            diagram = _own_diagram(reading, order, known)
            if diagram is None:
                return None
            for number, level in zip(diagram.axes, diagram.levels, strict=True):
                axis = reading.axes[number]
                readers[_place(axis)].append(_AxisReader(len(own), axis, level))
            distinct[same] = len(own)
            own.append((reading, diagram))
        numbers[place] = distinct[same]
    axes = [_merged(some) for some in alike.values()]
    folded = _folded([diagram.root for _, diagram in own], list(readers.values()), axes)
    if folded is None:
        return None
    levels, symbols = folded  # symbols: shape (states, distinct readings)
    seen = np.any(symbols != 0, axis=1)
    if np.count_nonzero(seen) > TOLD_APART:
        return None
    cells = np.where(seen, np.cumsum(seen), 0).astype(np.uint16)
    of_cells = np.concatenate([np.zeros((1, len(own)), symbols.dtype), symbols[seen]]).T
    tables = [np.ascontiguousarray(one, read.stages[-1].table.dtype) for one, (read, _) in zip(of_cells, own)]
    made = stages(axes, Diagram(tuple(levels), ()), cells)
    reading = replace(readings[0], axes=tuple(axes), stages=made, symbol_dtype="uint16")
    return SharedReading(reading, tuple(tables[number] for number in numbers.tolist()))


def _place(axis: Axis) -> Place:
    if isinstance(axis, ColumnAxis):
        return "column", axis.column, axis.kind
    if isinstance(axis, CutAxis):
        return "cuts", axis.operand, axis.textual
    return "other", axis


def _own_diagram(
    reading: RowReading, order: dict[Place, int], known: dict[Any, _OwnDiagram | None]
) -> _OwnDiagram | None:
    """The diagram of one query over its axes in a given order; None where these have too many classes.

    Parameters
    ----------
    known : dict
        Diagrams that were made before: the variants of a template have the same ones.
    """
    shape = tuple(axis.size for axis in reading.axes)
    ranks = [order[_place(axis)] for axis in reading.axes]
    axes = tuple(sorted(range(len(shape)), key=ranks.__getitem__))
    of_stages = [(one.axes, one.strides, one.state_stride, one.table.tobytes()) for one in reading.stages]
    key = shape, axes, *of_stages
    if key not in known:
        known[key] = None if prod(shape) > CELLS else _smallest(_symbols(reading, shape), axes)
    return known[key]


def _symbols(reading: RowReading, shape: tuple[int, ...]) -> np.ndarray:
    """The symbol of each combination of classes of a query's axes, an array of their sizes."""
    states = np.zeros([1] * len(shape), np.int64)
    for stage in reading.stages:
        index = states * stage.state_stride
        for number, stride in zip(stage.axes, stage.strides, strict=True):
            along = [1] * len(shape)
            along[number] = -1
            index = index + (np.arange(shape[number]) * stride).reshape(along)
        states = stage.table[index]
    return np.broadcast_to(states, shape)


def _smallest(symbols: np.ndarray, axes: tuple[int, ...]) -> _OwnDiagram:
    """The diagram with the fewest states that leads to given symbols, over their axes in an order."""
    states = symbols.transpose(axes)
    levels: list[np.ndarray] = []
    for size in reversed(states.shape):
        rows, of_row = np.unique(states.reshape(-1, size), axis=0, return_inverse=True)
        levels.append(rows.astype(np.int32))
        states = of_row
    return _OwnDiagram(axes, tuple(reversed(levels)), int(states.reshape(-1)[0]))


def _merged(axes: Sequence[Axis]) -> Axis:
    """Several axes of one place as one, with a class for each combination of their classes."""
    columns = [axis for axis in axes if isinstance(axis, ColumnAxis)]
    if columns:
        return replace(
            columns[0], names=tuple(dict.fromkeys(name for axis in columns for name in axis.names))
        )
    cut = list({id(axis): axis for axis in axes if isinstance(axis, CutAxis)}.values())
    if len(cut) < 2:
        return axes[0]
    constants = np.unique(joined([axis.constants for axis in cut]))
    changes = np.zeros(2 * len(constants) + 2, bool)
    for axis in cut:
        changes[_regions(axis, constants)[axis.starts]] = True
    starts = np.flatnonzero(changes)
    classes = np.stack([_classes_at(axis, constants, starts) for axis in cut])
    return CutAxis(cut[0].operand, cut[0].textual, constants, starts, _alike(classes)[1])


def _alike(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each different column stands first, and for each column the number of the one that it equals."""
    mixed = np.random.default_rng(0)
    while True:
        factors = mixed.integers(1 << 63, size=len(table), dtype=np.uint64) * 2 + 1
        told = factors @ table.astype(np.uint64)
        _, first, which = np.unique(told, return_index=True, return_inverse=True)
        # Two different columns may have one sum, about once in 2^63 times: then other factors are drawn.
        if np.array_equal(table[:, first[which]], table):
            break
    order = np.argsort(first)  # they are numbered in their order
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[which]


def _regions(axis: CutAxis, constants: np.ndarray) -> np.ndarray:
    """Where each region of an axis begins among those that more constants make, shape (regions,), int64."""
    at = np.searchsorted(constants, axis.constants.astype(constants.dtype))
    found = np.empty(2 * len(at) + 2, np.int64)
    found[:2] = 0, 1
    found[2::2] = 2 * at + 2
    found[3::2] = 2 * at + 3
    return found


def _classes_at(axis: CutAxis, constants: np.ndarray, regions: np.ndarray) -> np.ndarray:
    """The class on an axis of regions that more constants make, int64."""
    return axis.classes_of(np.searchsorted(_regions(axis, constants), regions, side="right") - 1)


def _class_in(axis: Axis, merged: Axis) -> np.ndarray:
    """The class on an axis of each class of the one that it was merged into, shape (classes,), int64."""
    if isinstance(axis, ColumnAxis) and isinstance(merged, ColumnAxis):
        numbers = {name: number + 1 for number, name in enumerate(axis.names)}
        return np.array([0, *(numbers.get(name, 0) for name in merged.names)], np.int64)
    if isinstance(axis, CutAxis) and isinstance(merged, CutAxis) and axis is not merged:
        classes = np.zeros(merged.size, np.int64)
        classes[merged.numbers] = _classes_at(axis, merged.constants, merged.starts)
        return classes
    return np.arange(axis.size)


def _folded(
    roots: Sequence[int], readers: Sequence[Sequence[_AxisReader]], axes: Sequence[Axis]
) -> tuple[list[np.ndarray], np.ndarray] | None:
    """The levels of the diagram of all queries, and their symbols for each of its last states.

    None where it is too large. `roots` are their first states, `readers` for each axis those that read it.
    """
    states = np.array([roots], np.int32)
    levels = []
    for axis, some in zip(axes, readers, strict=True):
        shared: dict[int, np.ndarray] = {}  # variants share axes
        for one in some:
            if id(one.axis) not in shared:
                shared[id(one.axis)] = _class_in(one.axis, axis)
        moves: dict[int, np.ndarray] = {}
        for one in some:
            before, classes = moves.get(one.query), shared[id(one.axis)]
            # Values of parameters are on axes of their own, which may read what another axis reads.
            moves[one.query] = one.level[slice(None) if before is None else before, classes]
        stepped = _stepped(states, list(moves), list(moves.values()))
        if stepped is None:
            return None
        level, states = stepped
        levels.append(level)
    return levels, states


def _stepped(
    states: np.ndarray, readers: Sequence[int], moves: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray] | None:
    """One axis of the diagram of all queries: its level and the states after it; None where it is too large.

    Parameters
    ----------
    states : ndarray, shape (states, queries), int32
        The state of each query.
    readers : sequence of int
        The queries that read the axis, each once.
    moves : sequence of ndarray, shape (states of the query, classes), int32
        The next state of each of them.
    """
    size = moves[0].shape[1]
    level = np.empty((len(states), size), np.int32)
    if level.size > LEVEL or sum(map(np.size, moves)) > TABLES:
        return None
    begin = np.cumsum([0, *(len(one) for one in moves)])[:-1]
    table = np.concatenate(moves)
    rows = states[:, readers] + begin
    told = (table != table[:, :1]).any(axis=1)[rows].any(axis=1)  # states after which the class matters
    if np.count_nonzero(told) * size * len(readers) > TABLES:
        return None
    plain = np.flatnonzero(~told)
    found = [_moved(states[plain], readers, table[rows[plain], 0])]
    level[plain] = np.arange(len(plain))[:, None]
    after = len(plain)
    for state in np.flatnonzero(told).tolist():
        moved = table[rows[state]]
        first, numbers = _alike(moved)
        level[state] = after + numbers
        after += len(first)
        if after * states.shape[1] > TABLES:
            return None
        found.append(_moved(states[state : state + 1].repeat(len(first), 0), readers, moved[:, first].T))
    follow = np.concatenate(found)
    first, numbers = _alike(follow.T)
    return numbers.astype(np.int32)[level], follow[first]


def _moved(states: np.ndarray, readers: Sequence[int], after: np.ndarray) -> np.ndarray:
    states[:, readers] = after
    return states
