"""One structure over several devices, or a device and the host, enumerated in one order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from cer_gpu.engine.cuda.structure import ANSWERS, groups_of
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import gathered, joined, numbers_joined, ranges
from cer_gpu.enumeration.structure import Structure, bulk_count
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.forest.contract import Block, CountedHits
from cer_gpu.kernels.forest.cpu_enumerate import MAX_SPAN

RANGES = 1 << 12
"""The most ranges of neighbouring lists that the hits of a chunk are dealt out in. These are enough for all
devices to have a share of the complex events that are found in one go, and few enough that the complex events
of a range with very many are passed on without a copy."""

LONG = 1 << 19
"""From this many neighbouring complex events of one device on, they are passed on as they were found. Fewer
are joined to blocks of about this many, which is enough work for all threads that make record batches."""


@dataclass(frozen=True, slots=True)
class DealtLists:
    """Lists of hits in the order in which they are dealt out: each device gets one range of them.

    Attributes
    ----------
    first : ndarray, shape (lists + 1,), int64
        The hits of list g are first[g] .. first[g + 1] - 1.
    event, lowest : ndarray, shape (hits,), int64
        The event of each hit, and the least event at which its complex events may start.
    number : ndarray, shape (hits,), int64
        The number of each hit before the lists were dealt out.
    """

    first: np.ndarray
    event: np.ndarray
    lowest: np.ndarray
    number: np.ndarray

    def __len__(self) -> int:
        return len(self.first) - 1

    def part(self, low: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The first hits, events and lowest starts of the lists `low .. high - 1`."""
        hits = slice(self.first[low], self.first[high])
        return self.first[low : high + 1] - self.first[low], self.event[hits], self.lowest[hits]


def dealt_lists(first: np.ndarray, event: np.ndarray, lowest: np.ndarray, devices: int) -> DealtLists:
    """Deal the lists of hits out to devices: ranges of neighbouring lists go to the devices in turn.

    So all devices enumerate neighbouring hits, and none is far ahead of the output.

    Parameters
    ----------
    first : ndarray, shape (lists + 1,), int64
    event, lowest : ndarray, shape (hits,), int64
    devices : int
    """
    lists = len(first) - 1
    number = np.arange(lists) * min(RANGES, lists) // max(lists, 1)
    order = np.argsort(number % devices, kind="stable")
    length = np.diff(first)[order]
    number = ranges(first[:-1][order], length)
    return DealtLists(np.append(0, np.cumsum(length)), event[number], lowest[number], number)


class DealtStructure(Structure):
    """One structure made of those of several ranges of dealt lists.

    Parameters
    ----------
    structures : sequence of Structure
        One for each range of lists, in their order: on a device, or on the host if the device had no memory.
    lists : DealtLists
    dealers : Workers
        A thread for each device.
    """

    def __init__(self, structures: Sequence[Structure], lists: DealtLists, dealers: Workers) -> None:
        super().__init__(structures[0].tables)
        self._structures, self._dealers = structures, dealers
        bounds = np.cumsum([0, *(len(one.hits.event) for one in structures)])
        self._numbers = [lists.number[low:high] for low, high in pairwise(bounds)]
        self._owner = np.empty(len(lists.number), np.int64)
        self._local = np.empty(len(lists.number), np.int64)
        fields = lists.event, lists.lowest, numbers_joined([one.count for one in structures])
        event, lowest, count = (np.empty_like(field) for field in fields)
        for number, (own, (low, high)) in enumerate(zip(self._numbers, pairwise(bounds))):
            self._owner[own], self._local[own] = number, np.arange(high - low)
        for whole, dealt in zip((event, lowest, count), fields):
            whole[lists.number] = dealt
        self.hits = CountedHits(np.array([0, len(event)]), event, lowest, count)
        self.symbols = structures[0].symbols
        self.n_nodes = sum(one.n_nodes for one in structures)

    @property
    def sharing(self) -> Literal["ends", "ahead"]:
        return "ahead"

    def blocks(
        self, order: np.ndarray | None = None, limit: int | None = None, size: int | None = None
    ) -> Iterator[Block]:
        """The complex events of hits; as `Structure.blocks`, by default `ANSWERS` at once for each device."""
        size = ANSWERS * self._dealers.threads if size is None else max(size, 1)
        order = np.arange(len(self._owner)) if order is None else order
        count = np.minimum(self.hits.counts[order], 1 << 62).astype(np.int64)
        alone = count > min(bulk_count(limit), size)
        alone |= self.hits.event[order] - self.hits.lowest[order] > MAX_SPAN
        for low, high in groups_of(np.where(alone, size, count), size):
            hits = order[low:high]
            if alone[low]:
                owner = int(self._owner[hits[0]])
                for block in self._structures[owner].blocks(self._local[hits], limit, size):
                    yield self._numbered(owner, block)
            else:
                number = count[low:high] if limit is None else np.minimum(count[low:high], limit)
                yield from self._found(hits, number, limit, size)

    def _found(self, hits: np.ndarray, number: np.ndarray, limit: int | None, size: int) -> Iterator[Block]:
        """The complex events of some hits, in their order; each device finds those of its own structure."""
        owner = self._owner[hits]
        owners = np.unique(owner).tolist()

        def run(at: int) -> Block:
            own = self._local[hits[owner == at]]
            found = joined([*self._structures[at].blocks(own, limit, size)])
            return self._numbered(at, found)

        found = self._dealers.map("listing", run, owners)
        return in_order(found, np.searchsorted(owners, owner), number)

    def _numbered(self, at: int, block: Block) -> Block:
        return block._replace(hit=self._numbers[at][block.hit])


def in_order(blocks: Sequence[Block], owner: np.ndarray, number: np.ndarray) -> Iterator[Block]:
    """The complex events of several blocks, hit after hit.

    Parameters
    ----------
    blocks : sequence of Block
        Each with the complex events of its hits, in their order.
    owner : ndarray, shape (hits,), int64
        Which block has the complex events of each hit.
    number : ndarray, shape (hits,), int64
        How many complex events each hit has.

    Yields
    ------
    Block
        A slice of a given block where many complex events of it follow each other, otherwise a new block.
    """
    if len(blocks) == 1:
        yield blocks[0]
        return
    first = np.append(0, np.flatnonzero(np.diff(owner)) + 1)
    length, owner = np.add.reduceat(number, first), owner[first]
    start = np.empty(len(first), np.int64)
    for at in range(len(blocks)):
        own = owner == at
        start[own] = np.cumsum(length[own]) - length[own]
    for low, high in groups_of(length, LONG):
        if high - low == 1:
            yield blocks[owner[low]].part(int(start[low]), int(start[low] + length[low]))
        else:
            yield _put_together(blocks, owner[low:high], start[low:high], length[low:high])


def _put_together(blocks: Sequence[Block], owner: np.ndarray, start: np.ndarray, length: np.ndarray) -> Block:
    """Ranges of complex events of several blocks, joined in order; the ranges of a block leave no gaps."""
    parts, done, before = [], 0, np.zeros(len(blocks), np.int64)
    for at in np.unique(owner).tolist():
        own = np.flatnonzero(owner == at)
        low, high = int(start[own[0]]), int(start[own[-1]] + length[own[-1]])
        parts.append(blocks[at].part(low, high))
        before[at] = done - low
        done += high - low
    return gathered(joined(parts), ranges(before[owner] + start, length))
