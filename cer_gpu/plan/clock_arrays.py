"""Turns monotonic automata with one clock into arrays."""

from __future__ import annotations

import math

import numpy as np

from cer_gpu.automata.cea import DeterministicCEA, Label
from cer_gpu.automata.minimise import merge_symbols, minimise
from cer_gpu.automata.timed.monotonicity import CHECK, RESET, MonotonicCEA, floating, whole
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.clock.contract import ClockTables
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.plan.clock import ClockMachine
from cer_gpu.plan.regular_automata import tables

MOST = 2**64 - 1
"""The greatest difference of two times that are integers."""


@dataclass(frozen=True, slots=True)
class ClockArrays:
    """The arrays of a monotonic automaton.

    Attributes
    ----------
    machine : ClockMachine
    symbol_of : tuple of int
        The symbol of each class of events.
    n_symbols : int
    labels : tuple of frozenset of str
        The variables that each label of the machine marks; the first is empty.
    automaton : DeterministicCEA
        The minimal automaton of the arrays; its labels say which checks and resets a transition has.
    """

    machine: ClockMachine
    symbol_of: tuple[int, ...]
    n_symbols: int
    labels: tuple[Label, ...]
    automaton: DeterministicCEA


def clock_arrays(found: MonotonicCEA, float_times: bool) -> ClockArrays:
    """The arrays of a monotonic automaton, made minimal.

    Parameters
    ----------
    found : MonotonicCEA
        With bounds in the unit of the order attribute.
    float_times : bool
        Whether its values are float64.
    """
    merged = merge_symbols(minimise(found.automaton))
    plain = tables(merged.automaton)
    own = merged.automaton.labels
    labels = tuple(sorted({variables_of(label) for label in own}, key=sorted))
    number = {label: place for place, label in enumerate(labels)}
    bounds: list[int] | list[float]
    if float_times:
        bounds = floating(found.bounds, found.upper, math.nextafter)
        constants = np.array(bounds, np.float64)
        trivial = [not found.upper and one <= 0 for one in bounds]
    else:
        bounds = whole(found.bounds, found.upper)
        constants = np.array([max(0, min(one, MOST)) for one in bounds], np.uint64)
        trivial = [one >= MOST if found.upper else one <= 0 for one in bounds]
    values = np.unique(constants)
    checks = np.array([_check(label) for label in own], np.int32)
    place = [-1 if free else int(np.searchsorted(values, one)) for one, free in zip(constants, trivial)]
    never = [one < 0 if found.upper else (one > MOST and not float_times) for one in bounds]
    of_label = np.array([place[one] if one >= 0 else -1 for one in checks], np.int32)
    dead = np.array([one >= 0 and never[one] for one in checks], bool)
    made = ClockTables(
        *plain._replace(label=np.array([number[variables_of(own[one])] for one in plain.label], np.int32)),
        check=of_label[plain.label],
        resets=np.array([RESET in own[one] for one in plain.label], np.uint8),
        useful=np.empty(0, np.int32),
        sense=1 if found.upper else -1,
    )
    made = _ordered(made, ~dead[plain.label])
    made = made._replace(useful=useful_checks(made))
    symbols = tuple(merged.symbol)
    return ClockArrays(
        ClockMachine(made, values), symbols, merged.automaton.n_symbols, labels, merged.automaton
    )


def _ordered(made: ClockTables, kept: np.ndarray) -> ClockTables:
    """The tables with some transitions, in the order of symbol, source and label."""
    symbol = np.repeat(np.arange(made.n_symbols), np.diff(made.first))
    rows = np.lexsort((made.label, made.source, symbol))
    rows = rows[kept[rows]]
    first = np.append(0, np.cumsum(np.bincount(symbol[rows], minlength=made.n_symbols))).astype(np.int32)
    columns = [getattr(made, name)[rows] for name in (*TransitionTables._fields[1:], "check", "resets")]
    return ClockTables(first, *columns, made.useful, made.sense)


def variables_of(label: Label) -> Label:
    """The variables that a label of `MonotonicCEA.automaton` marks."""
    return frozenset(name for name in label if not name.startswith("\0"))


def _check(label: Label) -> int:
    """The number of the bound that a label of `MonotonicCEA.automaton` asks; -1: none."""
    return next((int(name.removeprefix(CHECK)) for name in label if name.startswith(CHECK)), -1)


def useful_checks(tables: ClockTables) -> np.ndarray:
    """`useful` of `ClockTables`, from its other columns: shape (n_live,), int32.

    Constants ascend. If every path from a state compares the clock before a reset, a run in the state can
    only be accepted while its clock is at most the greatest constant on such a path; otherwise at any clock
    value.
    """
    found = np.full(tables.n_live, -1, np.int32)
    if tables.sense < 0:
        return found
    free = int(tables.check.max(initial=-1)) + 1  # stands for any clock
    reach = np.full(tables.n_live + 1, -1, np.int64)  # -1: nothing is accepted
    while True:
        before = reach.copy()
        for source, target, accepting, check, resets in zip(
            tables.source, tables.target, tables.accepting, tables.check, tables.resets, strict=True
        ):
            after = reach[target] if target >= 0 else -1
            way = free if accepting or (resets and after >= 0) else after
            reach[source] = max(reach[source], min(way, check) if check >= 0 else way)
        if (before == reach).all():
            break
    reach = reach[: tables.n_live]
    found[reach < free] = np.maximum(reach[reach < free], 0)
    return found
