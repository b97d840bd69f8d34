"""Joins whose answers are listed: expanded from groups, chunk by chunk, in the order of the stream.

A chunk has the events of all lanes in their order. Answers are expanded from lists of runs. Where all events
of an answer share a key, those of a long chunk are dealt into buckets by this key, so that the groups of a
bucket lie in a cache, and threads list buckets; the ends are put in order afterwards. Without such a key a
chunk is cut into segments that begin one window early, one for each thread. Where there are very many
answers, or many runs are looked at that lead to none, the chunk is listed from the structure
(`cer_gpu.engine.machines.joins`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk, cut_lanes, pieces_in_order
from cer_gpu.engine.machines.ends import Ends, no_ends
from cer_gpu.engine.machines.joins import JoinRunner
from cer_gpu.engine.read.lanes import order_by_lane
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.expansion import (
    ExpandedAnswers,
    ExpandedSegment,
    Expansion,
    ListedSegment,
    grouped_slots,
)
from cer_gpu.kernels.joins.contract import SlottedEvents
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.join_tables import ListedJoinMachine

BUCKET = 1 << 16
"""About how many events of a chunk a bucket of keys has. If a window has fewer events than two buckets,
events are not dealt to buckets: its groups are in a cache anyway. With windows of 60,000 to 150,000 events
buckets are 1.1 to 1.8 times as fast as segments (2 million events, rules and chains of three atoms)."""

MOST = 8
"""There are at most 2 ** MOST buckets: each is written to in turn as events are dealt."""

SPARSE = 4
"""Slots are numbered again if there are more than this many times as many as occur."""


class ListedJoinRunner(JoinRunner):
    """Lists the answers of a join over chunks in the order of the stream; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
        With a window that admits an interval of events.
    workers : Workers
    """

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        machine = query.machine
        assert isinstance(machine, ListedJoinMachine)
        super().__init__(replace(query, machine=machine.joins), workers)
        self._parts: list[ExpandedSegment] | None = None
        self._event, self._turn = np.empty((2, 0), np.int64)
        """The ends of all parts in the order of the stream, and where they are in the parts."""
        keys = query.reading.keys
        self._laned = len(keys.lane_column) > 0
        self._lane_space = self._space_of_lanes(keys.lane_column) if self._laned else -1

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk that are reported; their answers are expanded at once."""
        self._parts = None
        if not len(chunk.segments.begin) or self._query.limit == 0:
            return no_ends()
        found = self._of_buckets(chunk) if self._deals(chunk) else self._of_segments(chunk)
        parts = [part for part in found if part is not None]
        if len(parts) < len(found):
            return super().ends(self._cut(chunk), bounded)
        self._parts = parts
        event = np.concatenate([part.event + part.low for part in parts])
        self._turn = ascending(event)
        latest, lowest = (
            np.concatenate([getattr(part, name) + part.low for part in parts])[self._turn]
            for name in ("start", "lowest")
        )
        self._event = event[self._turn]
        return Ends(self._event, chunk.events.positions[latest], lowest)

    def answers(self, chunk: Chunk, ends: Ends) -> Answers:
        """The answers at some of the ends that `ends` returned last, for this chunk."""
        all_of_them = len(ends) == len(self._event)
        if self._parts is None:
            return super().answers(self._cut(chunk), ends)
        which = self._turn if all_of_them else self._turn[np.searchsorted(self._event, ends.event)]
        return ExpandedAnswers(self._parts, which, self._label_atoms.shape[1])

    def needed(self, chunk: Chunk) -> np.ndarray:
        """All events that the window of the last one admits."""
        assert self._query.window is not None
        (first,) = chunk.admitted_by_last(self._query.window).tolist()
        return np.arange(first, len(chunk.events))

    def _cut(self, chunk: Chunk) -> Chunk:
        """The same chunk with segments for threads: the structure looks events up by their slots alone."""
        assert self._query.window is not None
        segments = cut_lanes(chunk.lanes, chunk.events.measured, self._query.window.size)
        return replace(chunk, segments=segments)

    def _of_segments(self, chunk: Chunk) -> list[ExpandedSegment | None]:
        """The answers of a chunk, segment by segment; None where the structure is to list them."""
        assert self._query.window is not None
        pieces = pieces_in_order(chunk, self._query.window.size, self._workers.threads)
        return self._workers.map(
            "listing", lambda piece: self._segment(chunk, piece), pieces, len(chunk.events)
        )

    def _segment(self, chunk: Chunk, piece: tuple[int, int, int]) -> ExpandedSegment | None:
        low, report, stop = piece
        slots = np.ascontiguousarray(chunk.events.slots[:, low:stop])
        measured = chunk.events.measured[low:stop]
        part = self._listing(chunk.events.symbols[low:stop], slots, measured, report - low)
        expansion = Expansion(self.tables, self._label_atoms, stop - low, stop - report)
        return expansion.expanded(low) if expansion.add(part) else None

    def _listing(
        self,
        symbols: np.ndarray,
        slots: np.ndarray,
        measured: np.ndarray,
        report: int,
        index: np.ndarray | None = None,
        dense: int = -1,
    ) -> ListedSegment:
        """Events as the kernel reads them; slots of all spaces but `dense` are numbered anew if sparse."""
        assert self._query.window is not None
        counts = np.array([slots[columns].max(initial=-1) + 1 for columns in self.columns_of], np.int64)
        far = [space for space in np.flatnonzero(counts > SPARSE * slots.size).tolist() if space != dense]
        if far:
            slots = slots.copy() if index is None else slots
            counts[far] = [self._localised(slots, self.columns_of[space]) for space in far]
        offset, stride, groups = grouped_slots(self.tables, counts)
        # In one form only, for which the kernel is compiled.
        symbols, slots = symbols.astype(np.uint16, copy=False), np.ascontiguousarray(slots)
        return ListedSegment(
            SlottedEvents(symbols, slots, offset, stride), comparable(measured, self._query.window.size),
            (0, report, len(symbols)), groups, index,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------- buckets

    def _space_of_lanes(self, lane_column: np.ndarray) -> int:
        """The space of the lanes' key, if all look-ups in it are by that key; else -1."""
        tables = self.tables
        spaces = [
            n for n, columns in enumerate(self.columns_of) if set(lane_column[1:].tolist()) & set(columns)
        ]
        if not spaces:
            return -1  # conditions that contradict each other have left no symbol
        (space,) = spaces
        for symbol in range(len(tables.first) - 1):
            for move in tables.transition[tables.first[symbol] : tables.first[symbol + 1]].tolist():
                read = slice(tables.read_first[move], tables.read_first[move + 1])
                stored = slice(tables.store_first[move], tables.store_first[move + 1])
                entry = np.concatenate([tables.read_entry[read], tables.store_entry[stored]])
                column = np.concatenate([tables.read_column[read], tables.store_column[stored]])
                if (column[tables.entry_space[entry] == space] != lane_column[symbol]).any():
                    return -1
        return space

    def _deals(self, chunk: Chunk) -> bool:
        """Whether the events of a chunk are dealt into buckets."""
        if not self._laned or len(chunk.events) < 2 * BUCKET:
            return False
        assert self._query.window is not None
        (first,) = chunk.admitted_by_last(self._query.window).tolist()
        return bool(len(chunk.events) - first >= 2 * BUCKET)

    def _of_buckets(self, chunk: Chunk) -> list[ExpandedSegment | None]:
        """The answers of a chunk, some buckets after others; None where the structure is to list them."""
        bits = min((len(chunk.events) // BUCKET).bit_length() - 1, MOST)
        order, first = order_by_lane(chunk.events.lanes & np.int32((1 << bits) - 1), 1 << bits)
        shares: list[list[int]] = [[] for _ in range(min(self._workers.threads, 1 << bits))]
        loads = [0] * len(shares)
        sizes = np.diff(first)
        for bucket in np.argsort(-sizes, kind="stable").tolist():
            least = loads.index(min(loads))
            shares[least].append(bucket)
            loads[least] += int(sizes[bucket])
        dealt = [[order[first[bucket] : first[bucket + 1]] for bucket in share] for share in shares]
        return self._workers.map(
            "listing", lambda share: self._share(chunk, share, bits), dealt, len(chunk.events)
        )

    def _share(self, chunk: Chunk, buckets: list[np.ndarray], bits: int) -> ExpandedSegment | None:
        """The answers of some buckets, each given by its events."""
        edge, events = int(chunk.lanes.report[0]), chunk.events
        reports = [int(np.searchsorted(index, edge)) for index in buckets]
        longest, total = max(map(len, buckets)), sum(map(len, buckets))
        expansion = Expansion(self.tables, self._label_atoms, longest, total - sum(reports))
        for index, report in zip(buckets, reports, strict=True):
            slots = events.slots.take(index, 1)
            if self._lane_space >= 0:
                # The lower bits of a lane are the number of its bucket.
                slots[self.columns_of[self._lane_space]] >>= bits
            part = self._listing(
                events.symbols[index], slots, events.measured[index], report, index, self._lane_space
            )
            if not expansion.add(part):
                return None
        return expansion.expanded()


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> ListedJoinRunner:
    """What lists the answers of a query's join on the CPU; it carries nothing."""
    return ListedJoinRunner(query, workers)
