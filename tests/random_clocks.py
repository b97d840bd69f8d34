"""Random deterministic monotonic automata with one clock, and streams for them: for tests of kernels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

import numpy as np
from cer_gpu.kernels.clock.contract import ClockTables, clocked_runs
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents, StreamWindow
from random_tables import random_tables

from cer_gpu.plan.clock_arrays import useful_checks

Listed = list[tuple[int, tuple[int, ...], tuple[int, ...]]]
"""Complex events of one end: (start, events, labels) of each."""


def random_clock_tables(rng: Random, sense: int, n_constants: int = 2) -> ClockTables:
    """An automaton of `random_tables` with checks and resets; only clocks that were reset are asked for."""
    while True:
        plain = random_tables(rng)
        resets = np.array([rng.random() < 0.35 for _ in plain.source], np.uint8)
        if rng.random() < 0.3:  # at starts only
            resets = (plain.source == 0).astype(np.uint8)
        unset = {0}
        for _ in range(plain.n_live):
            goes = [source in unset and not reset for source, reset in zip(plain.source, resets)]
            unset |= {int(target) for target, keeps in zip(plain.target, goes) if keeps}
        check = np.array(
            [
                -1 if source in unset or rng.random() < 0.4 else rng.randrange(n_constants)
                for source in plain.source
            ],
            np.int32,
        )
        if (check >= 0).any() or rng.random() < 0.05:
            tables = ClockTables(*plain, check, resets, np.empty(0, np.int32), sense)
            return tables._replace(useful=useful_checks(tables))


@dataclass(frozen=True)
class ClockCase:
    """An automaton, events of lanes, and a window; `lowest` is the least start that each event admits."""

    tables: ClockTables
    constants: np.ndarray
    symbols: np.ndarray
    lanes: np.ndarray
    times: np.ndarray
    measured: np.ndarray
    size: int | float
    consumes: int

    def answers(self) -> list[Listed]:
        """What ends at each event, by definition, in canonical order."""
        n = len(self.symbols)
        found: list[Listed] = [[] for _ in range(n)]
        lanes = self.lanes if len(self.lanes) else np.zeros(n, np.int32)
        for lane in set(lanes.tolist()):
            own = np.flatnonzero(lanes == lane)
            runs = clocked_runs(
                self.tables, self.constants.tolist(), self.symbols[own], self.times[own].tolist(), 0, len(own)
            )
            for start, end, marks in runs:
                events, labels = tuple(int(own[e]) for e, _ in marks), tuple(label for _, label in marks)
                found[own[end]].append((int(own[start]), events, labels))
        floor = dict.fromkeys(lanes.tolist(), 0)
        for end in range(n):
            kept = [
                one
                for one in found[end]
                if one[0] >= floor[lanes[end]]
                and (not len(self.measured) or self.measured[end] - self.measured[one[0]] <= self.size)
            ]
            found[end] = sorted(kept)
            if kept and self.consumes == 1:
                floor = dict.fromkeys(floor, end + 1)
            elif kept and self.consumes == 2:
                floor[lanes[end]] = end + 1
        return found


def random_clock_case(rng: Random, sense: int, longest: int = 12, tied: bool = True) -> ClockCase:
    """Up to `longest` events in up to three lanes, with ties, of whole or of floating times."""
    tables = random_clock_tables(rng, sense)
    most = max(
        Counter(
            zip(tables.first.searchsorted(np.arange(len(tables.source)), "right"), tables.source)
        ).values(),
        default=1,
    )
    n = rng.randint(1, longest if most < 3 else min(longest, 8))
    gaps = [rng.choice((0, 1, 1, 2, 5) if tied else (1, 2, 5)) for _ in range(n)]
    times, constants = np.cumsum(gaps), np.array(sorted(rng.sample((1, 2, 3, 4, 6, 9), 2)))
    if rng.random() < 0.4:
        times, constants = times * 0.1, constants * 0.1
    else:
        times, constants = times.astype(np.uint64), constants.astype(np.uint64)
    lanes = np.empty(0, np.int32)
    if rng.random() < 0.4:
        lanes = np.array([rng.randrange(3) for _ in range(n)], np.int32)
    measured, size = np.empty(0, np.uint64), np.uint64(0)
    if rng.random() < 0.5:
        measured, size = (
            times,
            times.dtype.type(rng.choice((0, 1, 3, 5, 8)) * (0.1 if times.dtype.kind == "f" else 1)),
        )
    symbols = np.array([rng.randrange(tables.n_symbols) for _ in range(n)], np.uint8)
    return ClockCase(tables, constants, symbols, lanes, times, measured, size, rng.choice((0, 0, 0, 1, 2)))


def stream_events(case: ClockCase) -> StreamEvents:
    """The events as kernels read them."""
    n = len(case.symbols)
    return StreamEvents(
        case.symbols, case.lanes, case.measured,
        np.zeros(n, np.int64) if len(case.lanes) else np.empty(0, np.int64),
        np.empty((0, 0), np.int32), np.empty(0, np.int64),
    )  # fmt: skip


def lane_bounds(case: ClockCase) -> LaneBounds:
    """The bounds of the lanes before the first event."""
    count = int(case.lanes.max(initial=0)) + 1
    none = np.full(count, -1, np.int64)
    return LaneBounds(none, none.copy(), np.zeros(count, np.int64), np.zeros(1, np.int64))


def stream_window(case: ClockCase) -> StreamWindow:
    """The window as kernels read it."""
    return StreamWindow(case.size, case.consumes)
