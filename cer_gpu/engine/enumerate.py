"""From the hits of a chunk to record batches of complex events, in order and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cer_gpu.engine import execute
from cer_gpu.engine.chunk import Chunk
from cer_gpu.engine.execute import Executor
from cer_gpu.engine.results import Found
from cer_gpu.engine.runner import Step
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.ordered import AttributeWindow, ordered_hits
from cer_gpu.enumeration.structure import BULK_COUNT, Hits, Structure, joined
from cer_gpu.kernels.paths import Block
from cer_gpu.plan.compiled import CompiledQuery

GROUP = 1 << 16
"""Complex events that a thread enumerates at a time, about."""


def batches_of(step: Step) -> Iterator[pa.RecordBatch]:
    """The complex events that end at the hits of a step, sorted by (end, start, positions)."""
    query, chunk, found = step.run.query, step.chunk, step.hits
    executor, form, workers = step.run.executor, step.run.form, step.run.workers
    order = np.argsort(chunk.events.positions[found.event], kind="stable")

    def batch(block: Block) -> pa.RecordBatch:
        block_of = Found(block.start, found.event[block.hit], block.first, block.event, block.label)
        return form.batch(chunk.events, block_of)

    if not chunk.monotone:
        yield from map(batch, _by_start(query, chunk, found, executor, order))
        return
    structure = _structure(chunk, found, executor, workers)
    count = structure.hits.count
    counts = np.minimum(count, query.limit) if query.limit is not None else count
    groups = _groups(counts[order].astype(np.float64), count[order] > BULK_COUNT)

    def enumerate_group(group: slice) -> list[pa.RecordBatch]:
        return [batch(block) for block in structure.blocks(order[group], query.limit)]

    waiting: list[slice] = []
    for group, huge in groups:
        if not huge:
            waiting.append(group)
        if waiting and (huge or len(waiting) == 2 * workers.threads):
            for part in workers.map("enumerate", enumerate_group, waiting):
                yield from part
            waiting = []
        if huge:
            # More complex events than are worth holding: they come one block after another.
            yield from map(batch, structure.blocks(order[group], query.limit))
    for part in workers.map("enumerate", enumerate_group, waiting):
        yield from part


def _groups(counts: np.ndarray, huge: np.ndarray) -> Iterator[tuple[slice, bool]]:
    """Ranges of hits with about `GROUP` complex events each, the huge ones by themselves."""
    start, total = 0, 0.0
    alone = huge.tolist()
    for index, count in enumerate(counts.tolist()):
        if alone[index]:
            if start < index:
                yield slice(start, index), False
            yield slice(index, index + 1), True
            start, total = index + 1, 0.0
            continue
        total += count
        if total >= GROUP:
            yield slice(start, index + 1), False
            start, total = index + 1, 0.0
    if start < len(counts):
        yield slice(start, len(counts)), False


def _structure(chunk: Chunk, found: execute.Hits, executor: Executor, workers: Workers) -> Structure:
    """The persistent structure of a chunk's hits, built by several threads."""

    def build(unit: tuple[int, int]) -> Structure:
        segments = chunk.segments.part(*unit)
        part = Structure(executor.tables)
        first, event, lowest = executor.hits_of(segments, found)
        count = executor.bounded_counts(chunk, first, event, lowest)
        part.build(chunk.events.symbols, segments.begin, segments.stop, Hits(first, event, lowest, count))
        return part

    return joined(workers.map("build", build, chunk.segments.units(workers.threads)))


def _by_start(
    query: CompiledQuery, chunk: Chunk, found: execute.Hits, executor: Executor, order: np.ndarray
) -> Iterator[Block]:
    """For a window that no structure orders by start: each end on its own."""
    assert query.window is not None
    events = chunk.events
    keyed = events.keyed if len(events.keyed) else np.ones(len(events), np.uint8)
    window = AttributeWindow(events.keys, keyed, query.window.size)
    return ordered_hits(
        executor.tables,
        events.symbols,
        found.event,
        found.lowest,
        window,
        order=order.tolist(),
        limit=query.limit,
    )
