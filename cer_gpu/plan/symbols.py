"""Symbols: the classes of events that no transition of the automaton can tell apart.

The predicates of the automaton are boolean functions of class numbers, one number for each axis
(`cer_gpu.plan.axes`). They are folded over the axes one at a time, as a decision diagram with one level
for each axis: a state of a level is what the predicates have become once the axes before it are known.
Only combinations that differ are kept, so that thirty filters on as many columns, each for another event
type, make a diagram of thirty small levels and not a table of 2^30 rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.axes import Axis, OutlookAxis
from cer_gpu.plan.formula import FALSE, Cases, Formula, Formulas

State: TypeAlias = tuple[tuple[int, int], ...]
"""The predicates so far: the number of each and of its formula, without those that cannot hold."""

STATE_BUDGET = 65_536
"""States of one level of the diagram at most."""

TABLE_BUDGET = 1 << 16
"""Cells of the table of one stage at most, so that an index is 16 bits."""

WIDE_TABLE_BUDGET = 1 << 24
"""Cells of a stage that a single axis does not let be smaller."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """The predicates as a function of the class numbers.

    Attributes
    ----------
    levels : tuple of ndarray
        Level k has shape (states of level k, classes of axis k), int32: the state of level k + 1.
    outcomes : tuple of frozenset of int
        For each state after the last level the indices of the predicates that hold.
    """

    levels: tuple[np.ndarray, ...]
    outcomes: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """Consecutive levels of a diagram, flattened into one table.

    Attributes
    ----------
    axes : tuple of int
        The axes that it reads.
    strides : tuple of int
        The factor of each axis's class number in the index of `table`.
    state_stride : int
        The factor of the state of the stage before in the index.
    table : ndarray, 1-D, uint8, uint16 or int32
        The state after the stage; the symbol, after the last one.
    """

    axes: tuple[int, ...]
    strides: tuple[int, ...]
    state_stride: int
    table: np.ndarray


class StageAxis(NamedTuple):
    """An axis of a stage: each class adds `stride` more than the class before it to the index.

    Attributes
    ----------
    stage, number : int
        The number of the stage, and that of the axis among all.
    axis : Axis
    stride : int
    """

    stage: int
    number: int
    axis: Axis
    stride: int


def by_column(axes: Sequence[Axis], stages: Sequence[Stage]) -> dict[str | None, list[StageAxis]]:
    """The axes of all stages by the column of strings that they read; None: those over numbers."""
    found: dict[str | None, list[StageAxis]] = {}
    for stage, one in enumerate(stages):
        for number, stride in zip(one.axes, one.strides, strict=True):
            own = found.setdefault(axes[number].text_column, [])
            own.append(StageAxis(stage, number, axes[number], stride))
    return found


def classes_that_matter(axes: Sequence[Axis], stages: Sequence[Stage], axis: int) -> tuple[int, ...]:
    """The classes of an axis with which an event may have a symbol other than the neutral one.

    Parameters
    ----------
    axes, stages : sequence
        Of a compiled query.
    axis : int
        Its number.

    Returns
    -------
    tuple of int
        Ascending.
    """
    return tuple(number for number in range(axes[axis].size) if reachable(axes, stages, {axis: number}).any())


def reachable(axes: Sequence[Axis], stages: Sequence[Stage], known: Mapping[int, int]) -> np.ndarray:
    """The symbols that an event may have, given its classes on some axes.

    Parameters
    ----------
    axes, stages : sequence
        Of a compiled query.
    known : mapping of int to int
        From the number of an axis to the event's class.

    Returns
    -------
    ndarray, shape (symbols,), int64
        Ascending.
    """
    states = np.zeros(1, np.int64)
    for stage in stages:
        index = states * stage.state_stride
        for one, stride in zip(stage.axes, stage.strides, strict=True):
            classes = np.array([known[one]]) if one in known else np.arange(axes[one].size)
            index = np.add.outer(index, classes * stride).reshape(-1)
        states = np.unique(stage.table[index]).astype(np.int64)
    return states


def fold(axes: Sequence[Axis | OutlookAxis], formulas: Sequence[Formula]) -> Diagram:
    """Fold predicates over axes.

    Raises
    ------
    LimitError
        When a level would have more than `STATE_BUDGET` states.
    """
    numbered = Formulas([axis.size for axis in axes])
    states: list[State] = [_possible(enumerate(map(numbered.number, formulas)))]
    levels = []
    for index, axis in enumerate(axes):
        known: dict[int, Cases] = {}
        cases = {
            one: numbered.cases(one, index, known)
            for one in {one for state in states for _, one in state}
            if numbered.reads(one, index)
        }
        rows: dict[State, int] = {}
        level = np.empty((len(states), axis.size), np.int32)
        for row, state in enumerate(states):
            most, others = _following(state, cases)
            # States are numbered in the order of the classes that lead to them.
            first = next((number for number in range(axis.size) if number not in others), None)
            for number in sorted(others) if first is None else sorted((*others, first)):
                rows.setdefault(others.get(number, most), len(rows))
            if first is not None:
                level[row] = rows[most]
            for number, after in others.items():
                level[row, number] = rows[after]
            if len(rows) > STATE_BUDGET:
                raise LimitError(
                    f"the filters of this query divide the events into more than {STATE_BUDGET:,} classes "
                    f"(after {index + 1} of {len(axes)} filtered columns): "
                    "use fewer filters in one query, or split it"
                )
        levels.append(level)
        states = list(rows)
    outcomes = tuple(frozenset(index for index, _ in state) for state in states)
    return Diagram(tuple(levels), outcomes)


def _possible(formulas: Iterable[tuple[int, int]]) -> State:
    return tuple([pair for pair in formulas if pair[1] != FALSE])


def _following(state: State, cases: Mapping[int, Cases]) -> tuple[State, dict[int, State]]:
    """The state after most classes of an axis, and after each class where it is another.

    Parameters
    ----------
    state : State
    cases : mapping
        What each formula that reads the axis becomes.
    """
    read = [(place, index, cases[one]) for place, (index, one) in enumerate(state) if one in cases]
    if not read:
        return state, {}
    most = list(state)
    for place, index, (becomes, _) in read:
        most[place] = index, becomes
    others: dict[int, list[tuple[int, int]]] = {}
    for place, index, (_, elsewhere) in read:
        for number, becomes in elsewhere.items():
            if number not in others:
                others[number] = most.copy()
            others[number][place] = index, becomes
    return _possible(most), {number: _possible(after) for number, after in others.items()}


def stages(axes: Sequence[Axis], diagram: Diagram, symbols: np.ndarray) -> tuple[Stage, ...]:
    """Flatten a diagram into as few tables as their size allows.

    Parameters
    ----------
    symbols : ndarray, shape (outcomes,), uint8 or uint16
        The symbol of each outcome.

    Raises
    ------
    LimitError
        When one axis alone makes a table of more than `WIDE_TABLE_BUDGET` cells.
    """
    found: list[Stage] = []
    first = 0
    while first < len(axes) or not found:
        rows = diagram.levels[first].shape[0] if first < len(axes) else 1
        cells, last = rows, first
        while last < len(axes) and (last == first or cells * axes[last].size <= TABLE_BUDGET):
            cells *= axes[last].size
            last += 1
        if cells > WIDE_TABLE_BUDGET:
            raise LimitError(
                f"the filters on one column divide its values into {axes[first].size:,} classes, and "
                f"there are {rows:,} classes of the other columns: use fewer constants on one column, or "
                "split the query"
            )
        table = np.arange(rows, dtype=np.int32)[:, None]
        for index in range(first, last):
            table = diagram.levels[index][table].reshape(rows, -1)
        strides = []
        stride = 1
        for index in reversed(range(first, last)):
            strides.append(stride)
            stride *= axes[index].size
        flat = table.reshape(-1)
        if last == len(axes):
            flat = symbols[flat]
        found.append(Stage(tuple(range(first, last)), tuple(reversed(strides)), stride, flat))
        first = last
    return tuple(found)
