"""Joins by definition: all run trees of a small parallelized automaton, one by one; and random automata.

What the join kernels mean is written here: a run is a tree of events, an entry of the look-up table holds
the runs that were stored there, and a transition takes one run of every entry that it reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, product
from random import Random
from typing import NamedTuple

import numpy as np
from cer_gpu.kernels.joins.contract import JoinTables, KeyedEvents, offsets

ATOMS = 3
EVERY_ATOM = 2**ATOMS - 1
LABEL_ATOMS = np.array([[label >> atom & 1 for atom in range(ATOMS)] for label in range(8)], np.uint8)
"""Label l fills the atoms that are its bits."""

NO_ATOMS = np.zeros((0, 0), np.uint8)

MOST_RUNS = 2000
"""Runs that a random case has at most."""


@dataclass
class Step:
    """A transition: what it reads and where it stores, as (entry, column)."""

    symbol: int
    label: int
    accepting: bool
    reads: list[tuple[int, int]] = field(default_factory=list)
    stores: list[tuple[int, int]] = field(default_factory=list)


def join_tables(
    n_symbols: int, steps: list[Step], entry_next: list[bool], entry_space: list[int] | None = None
) -> JoinTables:
    """The arrays of some transitions; without `entry_space` every entry has one slot."""
    by_symbol = [[t for t, step in enumerate(steps) if step.symbol == symbol] for symbol in range(n_symbols)]

    def offset(lengths: list[int]) -> np.ndarray:
        return np.cumsum([0, *lengths], dtype=np.int32)

    def flat(pairs: list[list[tuple[int, int]]], place: int) -> np.ndarray:
        return np.array([pair[place] for part in pairs for pair in part], np.int32)

    reads, stores = [step.reads for step in steps], [step.stores for step in steps]
    return JoinTables(
        offset([len(part) for part in by_symbol]),
        np.array([t for part in by_symbol for t in part], np.int32),
        np.array([step.label for step in steps], np.int32),
        np.array([step.accepting for step in steps], np.uint8),
        offset([len(part) for part in reads]),
        flat(reads, 0),
        flat(reads, 1),
        offset([len(part) for part in stores]),
        flat(stores, 0),
        flat(stores, 1),
        np.array(entry_space or [-1] * len(entry_next), np.int32),
        np.array(entry_next, np.uint8),
    )


@dataclass(frozen=True)
class JoinCase:
    """An automaton, the events of some segments, and a window; segments of one lane may overlap."""

    tables: JoinTables
    events: KeyedEvents
    label_atoms: np.ndarray
    begin: np.ndarray
    report: np.ndarray
    stop: np.ndarray
    keys: np.ndarray
    """What the window measures: it ascends in every segment; empty without a window."""
    size: int | float

    def lowest(self, g: int, end: int) -> int:
        """The least event of a segment that the window of an end admits."""
        begin = int(self.begin[g])
        if not len(self.keys):
            return begin
        return min(i for i in range(begin, end + 1) if self.keys[end] - self.keys[i] <= self.size)


class Run(NamedTuple):
    """A run tree: its last event, its first, and all its (event, label), those with label 0 too."""

    event: int
    start: int
    marks: tuple[tuple[int, int], ...]


def runs(case: JoinCase, g: int) -> Iterator[tuple[Run, bool]]:
    """All run trees of a segment in the order of their last events, and whether each is an answer."""
    tables, events = case.tables, case.events
    held: dict[tuple[int, int], list[Run]] = {}

    def slot(column: int, event: int) -> int:
        return 0 if column < 0 else int(events.slots[column, event])

    def gathered(r: int, event: int) -> list[Run]:
        entry, at = tables.read_entry[r], slot(tables.read_column[r], event)
        found = held.get((entry, at), []) if at >= 0 else []
        if tables.entry_next[entry]:
            found = [run for run in found if events.places[run.event] + 1 == events.places[event]]
        return found

    for i in range(case.begin[g], case.stop[g]):
        fired: list[tuple[int, Run]] = []
        symbol = events.symbols[i]
        for t in tables.transition[tables.first[symbol] : tables.first[symbol + 1]]:
            reads = range(tables.read_first[t], tables.read_first[t + 1])
            for below in product(*(gathered(r, i) for r in reads)):
                marks = [(i, int(tables.label[t])), *(mark for run in below for mark in run.marks)]
                run = Run(i, min([i, *(run.start for run in below)]), tuple(sorted(marks)))
                yield run, bool(tables.accepting[t])
                fired.append((t, run))
        for t, run in fired:
            for s in range(tables.store_first[t], tables.store_first[t + 1]):
                at = slot(tables.store_column[s], i)
                if at >= 0:
                    held.setdefault((tables.store_entry[s], at), []).append(run)


class Listed(NamedTuple):
    """The hits of a case, and the answers of each in canonical order.

    A row is (start, the event of every atom), or without atoms (start, events, labels).
    """

    first: np.ndarray
    event: np.ndarray
    lowest: np.ndarray
    latest: np.ndarray
    rows: list[list[tuple]]


def listed(case: JoinCase) -> Listed:
    """The hits and answers of a case by definition."""
    first, event, lowest, latest, rows = [0], [], [], [], []
    for g in range(len(case.begin)):
        found: dict[int, list[Run]] = {}
        for run, accepted in runs(case, g):
            if accepted and run.event >= case.report[g] and run.start >= case.lowest(g, run.event):
                found.setdefault(run.event, []).append(run)
        for end, answers in found.items():
            event.append(end)
            lowest.append(case.lowest(g, end))
            latest.append(max(run.start for run in answers))
            rows.append(sorted(_row(run, case.label_atoms) for run in answers))
        first.append(len(event))
    whole = [np.array(part, np.int64) for part in (first, event, lowest, latest)]
    return Listed(*whole, rows)


def _row(run: Run, label_atoms: np.ndarray) -> tuple:
    marks = [mark for mark in run.marks if mark[1]]
    if not label_atoms.size:
        return run.start, tuple(event for event, _ in marks), tuple(label for _, label in marks)
    filled = {a: event for event, label in marks for a in np.flatnonzero(label_atoms[label]).tolist()}
    return run.start, *(filled[a] for a in range(label_atoms.shape[1]))


def some_hits(found: Listed, kept: list[bool]) -> Listed:
    """Only some of the hits."""
    which = np.flatnonzero(kept)
    first = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[found.first]
    rows = [found.rows[h] for h in which]
    return Listed(first, found.event[which], found.lowest[which], found.latest[which], rows)


def random_join_case(rng: Random, chains: bool = False, marked: bool = False) -> JoinCase:
    """A random automaton on a few random events, with at most `MOST_RUNS` runs.

    Parameters
    ----------
    chains : bool
        Transitions read one entry at most, and labels mean no atoms.
    marked : bool
        No label is 0.
    """
    while True:
        case = _drawn(rng, chains, marked)
        if all(len(list(islice(runs(case, g), MOST_RUNS))) < MOST_RUNS for g in range(len(case.begin))):
            return case


def _drawn(rng: Random, chains: bool, marked: bool) -> JoinCase:
    column_space = [rng.randrange(2) for _ in range(rng.randint(1, 4))]
    # an entry belongs to a state, and a state to the atoms that its runs have filled
    states = [1, 2, 4, *(rng.randint(1, EVERY_ATOM) for _ in range(rng.randint(0, 4)))]
    entry_state = [*range(len(states)), *(rng.randrange(len(states)) for _ in range(rng.randint(0, 3)))]
    entry_space = [rng.choice((-1, *column_space)) for _ in entry_state]
    next_only = rng.choice((0, 0.15))
    entry_next = [rng.random() < next_only for _ in entry_state]

    def column(entry: int) -> int:
        space = entry_space[entry]
        return -1 if space < 0 else rng.choice([c for c, of in enumerate(column_space) if of == space])

    def step(target: int, most: int) -> Step | None:
        filled = EVERY_ATOM if most and rng.random() < 0.5 else states[target]
        own, read = filled, []
        for _ in range(rng.randint(0, most)):
            below = [e for e, state in enumerate(entry_state) if states[state] & own == states[state]]
            if not below or (chains and read):
                break
            entry = rng.choice(below)
            own &= ~states[entry_state[entry]]
            read.append((entry, column(entry)))
        if chains:
            own = rng.randint(0, 3)
        if own == 0 and (marked or not read):
            return None
        accepting = filled == EVERY_ATOM and rng.random() < 0.7
        stores = [(e, column(e)) for e, state in enumerate(entry_state) if state == target]
        if filled != states[target]:
            stores = []
        return Step(rng.randint(1, 3), own, accepting, read, stores) if accepting or stores else None

    drawn = [step(target, 0) for target in range(3)]
    drawn += [step(rng.randrange(len(states)), 3) for _ in range(rng.randint(4, 16))]
    tables = join_tables(4, [found for found in drawn if found is not None], entry_next, entry_space)

    begin, report, stop = [], [], []
    keys: list[float] = []
    places: list[int] = []
    real = rng.random() < 0.5
    for _ in range(rng.randint(1, 3)):
        low, length = len(keys), rng.choice((0, 3, 7, 12))
        drawn_keys = sorted(rng.randint(-6, 6) for _ in range(length))
        keys += [key / 4 for key in drawn_keys] if real else drawn_keys
        place = 0
        for _ in range(length):
            place += rng.choice((1, 1, 2))
            places.append(place)
        at = low
        while at < low + length or (length == 0 and rng.random() < 0.3):
            end = min(at + rng.randint(1, 12), low + length)
            begin.append(rng.randint(low, at))
            report.append(at)
            stop.append(end)
            at = end
    n = len(keys)
    counts = np.array([rng.choice((1, 1, 3)) for _ in range(2)], np.int64)
    slots = [[rng.randint(0 - (rng.random() < 0.3), counts[of] - 1) for _ in range(n)] for of in column_space]
    events = KeyedEvents(
        np.array([rng.randint(0, 3) for _ in range(n)], rng.choice((np.uint8, np.uint16))),
        np.array(slots, np.int32).reshape(len(column_space), n),
        np.array(places, np.int64) if any(entry_next) else np.empty(0, np.int64),
        offsets(tables.entry_space, counts),
    )
    windowed = rng.random() < 0.8
    measured = np.array(keys if windowed else [], np.float64 if real else np.int64)
    bounds = [np.array(part, np.int64) for part in (begin, report, stop)]
    size = rng.choice((0, 0.5, 1.5) if real else (0, 2, 5, 8))
    return JoinCase(tables, events, NO_ATOMS if chains else LABEL_ATOMS, *bounds, measured, size)
