"""The inputs of the check: enough segments to need three blocks of threads, whatever the size of a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.cuda.check.cpu_answers import CpuAnswers
from cer_gpu.kernels.counts import cpu as counting
from cer_gpu.kernels.counts.cuda import DeviceTables, device_tables
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.words import copied, to_device
from cer_gpu.kernels.hits import cpu as hitting
from cer_gpu.kernels.joins.contract import JoinTables
from cer_gpu.kernels.runs.contract import Program, TransitionTables
from cer_gpu.kernels.runs.programs import backward_program, forward_program, hits_program
from cer_gpu.kernels.windows import cpu as windows

NONE = np.zeros(0, np.int64)
"""Takes the place of keys, starts or places that a kernel does not need."""

WITHIN = 9
"""The window: `keys` may grow by at most this from the start of a complex event to its end."""

A, B, C = 1, 2, 3
"""The symbols; 0 is neutral."""


class ComparedArray(NamedTuple):
    """One array of an answer.

    ==========  ===========================================================
    `name`      what it holds
    `there`     the device's array, or a copy of it on the host
    `here`      the CPU's array: ndarray of the same shape
    ==========  ===========================================================
    """

    name: str
    there: Any
    here: np.ndarray


Answers = Iterator[ComparedArray]


class ExpectedHits(NamedTuple):
    """The hits of the segments that the CPU finds: arrays of int64.

    ==========  ==============  ===============================================================
    `first`     [segments + 1]  the hits of segment g are first[g] .. first[g + 1] - 1
    `event`     [hits]
    `latest`    [hits]          the latest start of a complex event there
    `lowest`    [hits]          the lowest event that the window admits
    ==========  ==============  ===============================================================
    """

    first: np.ndarray
    event: np.ndarray
    latest: np.ndarray
    lowest: np.ndarray


@dataclass(frozen=True)
class Inputs:
    """Segments of a stream over the symbols 0 to 3, read by `A ; B+ ; C`, with halos.

    They are the same for every device; how many there are follows from the threads of a block.

    Attributes
    ----------
    lane, stream : Geometry
        How kernels are launched with one thread for each segment, or for each row.
    cpu : CpuAnswers
        What the CPU answers; by default it computes its answers now.
    """

    lane: Geometry = LANE
    stream: Geometry = STREAM
    cpu: CpuAnswers = field(default_factory=CpuAnswers)

    @cached_property
    def tables(self) -> TransitionTables:
        """`A ; B+ ; C`: states 1 and 2 skip every event, or take a B; a C ends."""
        steps = [(A, 0, 1, 1, 0), (B, 1, 2, 2, 0), (B, 2, 2, 2, 0), (C, 2, 4, -1, 1)]
        steps += [(symbol, state, 0, state, 0) for symbol in range(4) for state in (1, 2)]
        symbol, *columns = np.array(sorted(steps), np.int32).T
        first = np.searchsorted(symbol, np.arange(5)).astype(np.int32)
        source, label, target, accepting = (np.ascontiguousarray(column) for column in columns)
        return TransitionTables(first, source, label, target, accepting.astype(np.uint8))

    @cached_property
    def program(self) -> Program:
        """The program that the kernels of hits run."""
        return hits_program(self.tables)

    @cached_property
    def programs(self) -> tuple[Program, Program]:
        """The programs that the kernels of counts run, forwards and backwards."""
        return forward_program(self.tables), backward_program(self.tables)

    @cached_property
    def machine(self) -> DeviceTables:
        """The tables and the programs of counts, on the device."""
        return device_tables(self.tables, *self.programs)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Events of each segment, some of them none: shape (segments,), int64."""
        return np.arange(2 * self.lane.threads + 3) * 7 % 31

    @cached_property
    def stop(self) -> np.ndarray:
        """One past the last event of each segment, int64."""
        return np.cumsum(self.lengths)

    @cached_property
    def begin(self) -> np.ndarray:
        """The first event of each segment, int64."""
        return self.stop - self.lengths

    @cached_property
    def report(self) -> np.ndarray:
        """The first event of each segment that is reported, int64."""
        return self.begin + self.lengths // 4

    @cached_property
    def symbols(self) -> np.ndarray:
        """The symbol of each event, uint8."""
        return mixed(int(self.stop[-1]), 4).astype(np.uint8)

    @cached_property
    def keys(self) -> np.ndarray:
        """What the window measures, ascending, int64."""
        return np.cumsum(mixed(len(self.symbols), 3)) - 5

    @cached_property
    def ends(self) -> ExpectedHits:
        """The hits within the window."""
        return ExpectedHits(*self.cpu("hits", self._hits))

    def _hits(self) -> ExpectedHits:
        bounds = self.begin, self.report, self.stop
        event, latest = hitting.hits(
            self.program, self.symbols, NONE, self.keys, WITHIN, *bounds, self.fresh()
        )
        first = np.append(np.searchsorted(event, self.report), len(event))
        lowest = windows.lowest_starts(self.keys, self.begin, first, event, WITHIN)
        return ExpectedHits(first, event, latest, lowest)

    @cached_property
    def number(self) -> np.ndarray:
        """How many complex events end at each hit: int64."""
        first, event, _, lowest = self.ends
        (number,) = self.cpu(
            "counts",
            lambda: [counting.counts(self.tables, *self.programs, self.symbols, first, event, lowest)],
        )
        return number

    @cached_property
    def there(self) -> Any:
        """The symbols on the device."""
        return to_device(self.symbols)

    def fresh(self, segments: int | None = None) -> np.ndarray:
        """Registers before the first event: shape (segments, states), int64."""
        return np.full((len(self.begin) if segments is None else segments, self.tables.n_live), -1, np.int64)


def join_tables() -> JoinTables:
    """`A ; B ; C` where A and C have the same first value, and B and C the same second one.

    An A is stored in entry 0 under its first value, a B in entry 1 under its second value. A C gathers one
    run from each entry.
    """
    int32 = np.int32
    return JoinTables(
        first=np.array([0, 0, 1, 2, 3], int32),
        transition=np.array([0, 1, 2], int32),
        label=np.array([1, 2, 4], int32),
        accepting=np.array([0, 0, 1], np.uint8),
        read_first=np.array([0, 0, 0, 2], int32),
        read_entry=np.array([0, 1], int32),
        read_column=np.array([0, 1], int32),
        store_first=np.array([0, 1, 2, 2], int32),
        store_entry=np.array([0, 1], int32),
        store_column=np.array([0, 1], int32),
        entry_space=np.array([0, 1], int32),
        entry_next=np.zeros(2, np.uint8),
    )


def mixed(n: int, below: int) -> np.ndarray:
    """Numbers from `0 .. below - 1` in a fixed irregular order: shape (n,), int64."""
    number = np.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(below)
    number ^= number >> np.uint64(29)
    number *= np.uint64(0xBF58476D1CE4E5B9)
    return ((number >> np.uint64(33)) % np.uint64(below)).astype(np.int64)


def there(arrays: Iterable[np.ndarray]) -> list[Any]:
    """Copies of arrays on the device."""
    return [copied(array) for array in arrays]
