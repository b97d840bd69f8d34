"""Ordered enumeration of the complex events of one end: lazily, in canonical order, in bounded memory.

For ends with more complex events than are worth holding (a Kleene query may have 10^15 at one event), and for
windows that no structure orders by start. The method is that of `cer_gpu.kernels.ordered.cpu`: it needs the
symbols of the admitted events and nothing that was built before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from cer_gpu.enumeration.blocks import joined
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.ordered import cpu as kernel
from cer_gpu.kernels.ordered.contract import Ahead, Choices
from cer_gpu.kernels.runs.contract import TransitionTables


@dataclass(frozen=True, slots=True)
class AttributeWindow:
    """`WITHIN size [attribute]` over an attribute that may be null or go down.

    Attributes
    ----------
    keys : ndarray, shape (events,), int64 or float64
    valid : ndarray, shape (events,), uint8
        0 where the attribute is null.
    size : int or float
    """

    keys: np.ndarray
    valid: np.ndarray
    size: int | float

    def admits(self, lowest: int, end: int) -> np.ndarray:
        """For each event from `lowest` to `end`, whether a complex event that ends at `end` may start there.

        Returns
        -------
        ndarray, shape (end - lowest + 1,), uint8
        """
        return self.keeps(slice(lowest, end + 1), slice(end, end + 1)).astype(np.uint8)

    def keeps(self, start: slice | np.ndarray, end: slice | np.ndarray) -> np.ndarray:
        """Whether complex events from `start` to `end` are in the window, as bool.

        Parameters
        ----------
        start, end : slice or ndarray of int64
            Events; of one length, or one end.
        """
        keys, last = self.keys[start], self.keys[end]
        with np.errstate(over="ignore", invalid="ignore"):
            if keys.dtype.kind == "i":
                # the difference is positive where it is looked at, and exact without a sign
                most = np.uint64(2**64 - 1 if self.size >= 2**64 else int(self.size))
                near = (last - keys).astype(np.int64).view(np.uint64) <= most
            else:
                near = last - keys <= self.size
        valid = self.valid[start] & self.valid[end]
        return np.asarray(((last <= keys) | near) & (valid != 0))


_NO_MASK = np.zeros(0, dtype=np.uint8)


def ordered_blocks(
    tables: TransitionTables,
    symbols: np.ndarray,
    hit: int,
    lowest: int,
    end: int,
    *,
    admissible: np.ndarray = _NO_MASK,
    limit: int | None = None,
    size: int = 1 << 16,
) -> Iterator[Block]:
    """The complex events that end at one event, in canonical order (start, marked events, labels).

    Parameters
    ----------
    tables : TransitionTables
    symbols : ndarray, shape (events,), uint8 or uint16
        From `lowest` to `end` one segment.
    hit : int
        The number that the blocks give for the hit.
    lowest, end : int
        The least event at which a complex event may start, and the event at which it ends.
    admissible : ndarray, shape (end - lowest + 1,) or (0,), uint8
        Further restricts the starts; empty where it does not.
    limit : int, optional
        Stop after so many.
    size : int
        At most so many in a block.

    Yields
    ------
    Block
        None of them empty. Memory: 9 bytes for each admitted event and state, and one block.
    """
    n_rows = end - lowest + 1
    shape = (n_rows, tables.n_live)
    ahead = Ahead(np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.uint8))
    kernel.prepare(tables, symbols, lowest, end, ahead)
    choices = _choices(None, 256)
    progress = np.zeros(7, dtype=np.int64)
    progress[kernel.START] = lowest
    left = limit
    n_marks = max(n_rows, 4 * size)
    status = kernel.BLOCK_FULL
    while status != kernel.DONE and (left is None or left > 0):
        wanted = size if left is None else min(size, left)
        start = np.empty(wanted, dtype=np.int64)
        first = np.empty(wanted + 1, dtype=np.int64)
        event = np.empty(n_marks, dtype=np.int64)
        label = np.empty(n_marks, dtype=np.int32)
        arguments = (tables, symbols, admissible, lowest, end, ahead)
        status = kernel.walk(*arguments, choices, progress, start, first, event, label)
        n, m = int(progress[kernel.WRITTEN]), int(progress[kernel.MARKS])
        if status == kernel.STACK_FULL:
            choices = _choices(choices, 2 * choices.event.size)
        if n:
            yield Block(np.full(n, hit, dtype=np.int64), start[:n], first[: n + 1], event[:m], label[:m])
        if left is not None:
            left -= n


def ordered_hits(
    tables: TransitionTables,
    symbols: np.ndarray,
    hit_event: np.ndarray,
    hit_lowest: np.ndarray,
    window: AttributeWindow,
    *,
    order: Iterable[int] | None = None,
    limit: int | None = None,
    size: int = 1 << 16,
) -> Iterator[Block]:
    """The complex events of many hits under an attribute window, hit after hit, in canonical order.

    `order` gives the hits to enumerate (all, by number, if None); the other arguments are as above.
    """
    waiting: list[Block] = []
    n_waiting = 0
    for hit in range(hit_event.size) if order is None else order:
        lowest, end = int(hit_lowest[hit]), int(hit_event[hit])
        admissible = window.admits(lowest, end)
        for block in ordered_blocks(
            tables, symbols, int(hit), lowest, end, admissible=admissible, limit=limit, size=size
        ):
            waiting.append(block)
            n_waiting += block.start.size
            if n_waiting >= size:
                yield joined(waiting)
                waiting, n_waiting = [], 0
    if waiting:
        yield joined(waiting)


def _choices(before: Choices | None, capacity: int) -> Choices:
    """Empty stacks, or larger ones with the same content."""
    fields = {
        "event": np.int64,
        "state_first": np.int64,
        "edge_first": np.int64,
        "taken": np.int64,
        "state": np.int32,
        "next": np.int32,
        "at": np.int32,
        "live": np.uint8,
        "source": np.int64,
        "target": np.int64,
        "label": np.int32,
    }
    stacks = {name: np.zeros(capacity, dtype=dtype) for name, dtype in fields.items()}
    if before is not None:
        for name, stack in stacks.items():
            old = getattr(before, name)
            stack[: old.size] = old
    return Choices(**stacks)
