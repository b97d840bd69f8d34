"""Ordered enumeration of the complex events of one end: lazily, in canonical order, in bounded memory.

For ends with too many complex events to hold (a query with iterations may have 10^15 at one event). The
method is that of `cer_gpu.kernels.ordered_enumeration.cpu`: it reads the symbols of the admitted events and
needs no structure.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.ordered_enumeration import cpu as kernel
from cer_gpu.kernels.ordered_enumeration.contract import Choices, Continuations, OrderedAnswers
from cer_gpu.kernels.runs.contract import TransitionTables

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
        The events from `lowest` to `end` are one segment.
    hit : int
        The number of the hit, which the blocks contain.
    lowest, end : int
        The least event at which a complex event may start, and the event at which it ends.
    admissible : ndarray, shape (end - lowest + 1,) or (0,), uint8
        0 for a start that is not admitted; empty if all are.
    limit : int, optional
        The most complex events.
    size : int
        The most complex events of a block.

    Yields
    ------
    Block
        No block is empty. In memory are 9 bytes for each admitted event and state, and one block.
    """
    n_rows = end - lowest + 1
    shape = (n_rows, tables.n_live)
    ahead = Continuations(np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.uint8))
    kernel.prepare(tables, symbols, lowest, end, ahead)
    choices = _choices(None, 256)
    progress = np.zeros(7, dtype=np.int64)
    progress[kernel.START] = lowest
    left = limit
    n_marks = max(n_rows, 4 * size)
    status = kernel.BLOCK_FULL
    while status != kernel.DONE and (left is None or left > 0):
        wanted = size if left is None else min(size, left)
        start, first = np.empty(wanted, np.int64), np.empty(wanted + 1, np.int64)
        event, label = np.empty(n_marks, np.int64), np.empty(n_marks, np.int32)
        out = OrderedAnswers(start, first, event, label)
        status = kernel.walk(tables, symbols, admissible, lowest, end, ahead, choices, progress, out)
        n, m = int(progress[kernel.WRITTEN]), int(progress[kernel.MARKS])
        if status == kernel.STACK_FULL:
            choices = _choices(choices, 2 * choices.event.size)
        if n:
            yield Block(np.full(n, hit, dtype=np.int64), start[:n], first[: n + 1], event[:m], label[:m])
        if left is not None:
            left -= n


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
