"""Random deterministic automata as tables, random symbol sequences, cuts into segments: for kernel tests."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
from cer_gpu.kernels.runs.contract import TransitionTables


def tables_of(n_symbols: int, steps: list[tuple[int, int, int, int, bool]]) -> TransitionTables:
    """Tables from steps (source, symbol, label, target, accepting); a target is -1 where nothing goes on."""
    rows = sorted((symbol, source, label, target, final) for source, symbol, label, target, final in steps)
    first = np.zeros(n_symbols + 1, dtype=np.int32)
    for symbol, *_ in rows:
        first[symbol + 1] += 1
    return TransitionTables(
        np.cumsum(first, dtype=np.int32),
        np.array([row[1] for row in rows], dtype=np.int32),
        np.array([row[2] for row in rows], dtype=np.int32),
        np.array([row[3] for row in rows], dtype=np.int32),
        np.array([row[4] for row in rows], dtype=np.uint8),
    )


def random_tables(rng: random.Random, n_symbols: int = 4) -> TransitionTables:
    """An I/O-deterministic automaton with up to five states, unmarked starts and ends, and dead ends."""
    n_states = rng.randint(1, 5)
    n_labels = rng.randint(1, 3)
    density = rng.choice((0.15, 0.3, 0.5))
    waiting = rng.random() < 0.6
    steps = []
    for symbol in range(1, n_symbols):
        for source in range(n_states):
            for label in range(n_labels + 1):
                keeps = waiting and source > 0 and label == 0 and rng.random() < 0.8
                if not keeps and rng.random() > density:
                    continue
                target = source if keeps else rng.randint(1, n_states) if n_states > 1 else -1
                final = rng.random() < 0.3
                if target == n_states:
                    target, final = -1, True
                if target < 0 and not final:
                    continue
                steps.append((source, symbol, label, target, final))
    while True:
        # a target without a way on holds no runs
        sources = {step[0] for step in steps}
        trimmed = [(p, s, label, q if q in sources else -1, final) for p, s, label, q, final in steps]
        trimmed = [step for step in trimmed if step[3] >= 0 or step[4]]
        if trimmed == steps:
            return tables_of(n_symbols, steps)
        steps = trimmed


@dataclass(frozen=True)
class Case:
    """An automaton, symbols, segments with halos, and windows."""

    tables: TransitionTables
    symbols: np.ndarray
    begin: np.ndarray
    report: np.ndarray
    stop: np.ndarray
    keys: np.ndarray
    """What the window measures: it ascends in every segment."""
    size: int
    lowest: np.ndarray
    """For each event the least that its window admits."""


def random_case(rng: random.Random, longest: int = 9) -> Case:
    """Segments of up to `longest` events each, one after another, with a random window in each.

    Fewer events where the runs branch much, so that they can be listed one by one.
    """
    tables = random_tables(rng)
    moves = Counter(
        (symbol, int(tables.source[t]))
        for symbol in range(4)
        for t in range(tables.first[symbol], tables.first[symbol + 1])
        if tables.target[t] >= 0
    )
    branches = max(moves.values(), default=1)
    while branches**longest > 2000:
        longest -= 1
    begin, report, stop = [], [], []
    keys: list[int] = []
    lowest: list[int] = []
    size = rng.choice((0, 2, 6, 18))
    for _ in range(rng.randint(1, 4)):
        low = len(lowest)
        length = rng.randint(0, longest)
        begin.append(low)
        report.append(low + rng.randint(0, length))
        stop.append(low + length)
        keys += sorted(rng.randint(-9, 9) for _ in range(length))
        for j in range(low, low + length):
            lowest.append(min(i for i in range(low, j + 1) if keys[j] - keys[i] <= size))
    symbols = np.array([rng.randint(1, 3) for _ in lowest], dtype=rng.choice((np.uint8, np.uint16)))
    whole = [np.array(part, dtype=np.int64) for part in (begin, report, stop, keys, lowest)]
    return Case(tables, symbols, *whole[:4], size, whole[4])


def sequence(*labels: int) -> TransitionTables:
    """`S1 ; S2 ; ...` over symbols 1, 2, ...: each marks with its label, all other events are skipped."""
    n = len(labels)
    steps = []
    for k, label in enumerate(labels):
        last = k == n - 1
        steps.append((k, k + 1, label, -1 if last else k + 1, last))
        steps += [(k, symbol, 0, k, False) for symbol in range(n + 1) if k > 0]
    return tables_of(n + 1, steps)


def kleene() -> TransitionTables:
    """`A+ ; B` over symbols 1 (A) and 2 (B): any non-empty set of A events before a B."""
    return tables_of(3, [(0, 1, 1, 1, False), (1, 1, 0, 1, False), (1, 1, 1, 1, False), (1, 2, 2, -1, True),
                         (1, 2, 0, 1, False), (1, 0, 0, 1, False)])  # fmt: skip
