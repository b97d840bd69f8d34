"""Where complex events end and how many end there: the answers of a run that does not list them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.machine import MachineRunner, SummingRunner
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.sources.columns import numbers_at
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.plan.compiled_query import CompiledQuery, Product

Asked = Literal["hits", "counts", "count"]
"""What a run is asked for: ends with their latest start, ends with their counts, or the sum of counts."""

More = Callable[[EventArrays, np.ndarray], tuple[pa.Array, ...]]
"""Gives further columns for some events of a chunk, by their numbers."""


class ReportedEnds(NamedTuple):
    """Ends, ascending by position.

    Attributes
    ----------
    position : ndarray, shape (ends,), int64
        None where only the sum is asked for.
    value : ndarray, shape (ends,), int64
        The latest start or the count of each; Python integers where a count is 2^62 or more. Where only the
        sum is asked for it may have the sum alone.
    more : tuple of pyarrow.Array
        Further columns.
    """

    position: np.ndarray
    value: np.ndarray
    more: tuple[pa.Array, ...] = ()

    def some(self, count: int) -> ReportedEnds:
        """The first `count` ends."""
        more = tuple(column.slice(0, count) for column in self.more)
        return ReportedEnds(self.position[:count], self.value[:count], more)


def reported(
    runner: MachineRunner, chunk: Chunk, asked: Asked, limit: int | None, more: More | None
) -> ReportedEnds:
    """The ends of a chunk, as the runner of a machine finds them.

    Parameters
    ----------
    runner : MachineRunner
    chunk : Chunk
    asked : {"hits", "counts", "count"}
    limit : int or None
        The most complex events of each end that are counted.
    more : callable or None
        Gives the further columns.
    """
    if (
        asked == "count"
        and isinstance(runner, SummingRunner)
        and (number := runner.number(chunk)) is not None
    ):
        return ReportedEnds(np.empty(0, np.int64), np.array([number]))
    if asked == "hits":
        found = runner.ends(chunk, bounded=False)
        event, value = found.event, found.latest
    else:
        event, value = runner.counts(chunk)
        if limit is not None:
            value = np.minimum(value, limit)
    if asked == "count":
        return ReportedEnds(np.empty(0, np.int64), value)
    position = numbers_at(chunk.events.positions, event)
    if not (position[1:] >= position[:-1]).all():
        order = ascending(position)
        position, value, event = position[order], value[order], event[order]
    return ReportedEnds(position, value, () if more is None else more(chunk.events, event))


def sum_exactly(number: np.ndarray) -> int:
    """The sum of counts as a Python integer, whatever their size."""
    if number.dtype != object and (len(number) == 0 or int(number.max()) < (1 << 62) // len(number)):
        return int(number.sum())
    return sum(number.tolist())


class RunKind(NamedTuple):
    """The purpose of a run, which decides the kernels that it needs: `automaton count events keyed`."""

    query: CompiledQuery
    product: Product

    def __str__(self) -> str:
        query = self.query
        asked = "count" if self.product == "counts" else self.product
        measured = "whole" if query.window is None else query.window.kind
        more = {
            "keyed": query.reading.partition,
            "consuming": query.consume != "NONE",
            "suppressing": query.suppress is not None,
            "chosen": query.machine is not query.hits_machine,
            "prefix": "prefix" in query.traits.columns,
            "looking": bool(query.outlooks),
        }
        named = (name for name, true in more.items() if true)
        return " ".join([query.machine.engine, asked, measured, *named])
