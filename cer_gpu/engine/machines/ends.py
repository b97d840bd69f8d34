"""The ends of a chunk that are reported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.enumeration.blocks import numbers_joined
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.sorting.order import ascending


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends of a chunk that are reported, ascending by event (so lane by lane).

    Attributes
    ----------
    event : ndarray, shape (h,), int64
        The numbers of the events in the chunk.
    latest : ndarray, shape (h,), int64
        The position in the stream of the latest start of a complex event that ends there.
    lowest : ndarray, shape (h,), int64
        The least event at which a complex event that ends there may start, by the window and by CONSUME BY.
    """

    event: np.ndarray
    latest: np.ndarray
    lowest: np.ndarray

    def __len__(self) -> int:
        return len(self.event)

    def some(self, which: np.ndarray) -> Ends:
        """Some of the ends, by their numbers or by a mask; `lowest` may be empty."""
        lowest = self.lowest[which] if len(self.lowest) else self.lowest
        return Ends(self.event[which], self.latest[which], lowest)

    def parted(self, mask: np.ndarray) -> tuple[Ends, Ends]:
        """The ends for which a mask is false, and those for which it is true."""
        return self.some(~mask), self.some(mask)


def joined(parts: Sequence[Ends]) -> Ends:
    """The ends of several units of a chunk, in the order of their events."""
    if not parts:
        return no_ends()
    found = Ends(*(np.concatenate([getattr(part, name) for part in parts]) for name in Ends.__slots__))
    order = in_order(found.event)
    return found if order is None else found.some(order)


def in_order(event: np.ndarray) -> np.ndarray | None:
    """The order that sorts events; None if they ascend already."""
    return None if (event[1:] > event[:-1]).all() else ascending(event)


def counts_joined(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The ends of several units of a chunk and the count at each, in the order of their events."""
    if len(parts) == 1:
        return parts[0]
    none = np.empty(0, np.int64)
    event = np.concatenate([none, *(event for event, _ in parts)])
    return counts_sorted(event, numbers_joined([none, *(number for _, number in parts)]))


def counts_sorted(event: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends and the count at each, in the order of their events."""
    order = in_order(event)
    return (event, number) if order is None else (event[order], number[order])


def no_ends() -> Ends:
    """The `Ends` of a chunk in which nothing ends."""
    none = np.empty(0, np.int64)
    return Ends(none, none, none)


def admitted_hits(chunk: Chunk, around: Ends, answers: Answers) -> Ends:
    """The hits under a window that is no interval, from those of an interval around it.

    Parameters
    ----------
    chunk : Chunk
    around : Ends
        The hits of an interval around it.
    answers : Answers
        The complex events at these ends that the window admits.
    """
    latest = np.full(len(around), -1)
    for block in answers.blocks(np.arange(len(around))):
        np.maximum.at(latest, block.hit, block.start)
    left = np.flatnonzero(latest >= 0)
    return Ends(around.event[left], chunk.events.positions[latest[left]], around.lowest[left])


def first_ends(segments: Segments, event: np.ndarray) -> np.ndarray:
    """Where the ends of each segment begin, given all ends in ascending order; and their number."""
    return np.append(np.searchsorted(event, segments.report), len(event))


def ends_of(segments: Segments, found: Ends) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ends that some segments report: where those of each segment begin, their events, lowest starts."""
    low, high = np.searchsorted(found.event, [segments.report[0], segments.stop[-1]])
    event = found.event[low:high]
    return first_ends(segments, event), event, found.lowest[low:high]
