"""From the hits of a chunk to record batches of complex events, in order and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow as pa

from cer_gpu.engine.execute import Executor
from cer_gpu.engine.join_execute import JoinExecutor
from cer_gpu.engine.results import Answers, Found
from cer_gpu.engine.runner import Step
from cer_gpu.engine.select import Listed, Pieces, Single
from cer_gpu.enumeration.products import Answers as JoinedAnswers
from cer_gpu.enumeration.products import RuleBlock
from cer_gpu.enumeration.structure import BULK_COUNT, Structure
from cer_gpu.kernels.gather_order import ascending
from cer_gpu.kernels.paths import Block

GROUP = 1 << 16
"""Complex events that a thread enumerates at a time, about."""


def batches_of(step: Step) -> Iterator[pa.RecordBatch]:
    """The complex events that end at the hits of a step, sorted by (end, start, positions)."""
    query, chunk, found = step.run.query, step.chunk, step.hits
    executor, form, workers = step.run.executor, step.run.form, step.run.workers
    order = ascending(chunk.events.positions[found.event])

    def batch(block: Block | RuleBlock) -> pa.RecordBatch:
        end = found.event[block.hit]
        if isinstance(block, RuleBlock):
            return form.answers(chunk.events, Answers(block.start, end, block.event))
        return form.batch(chunk.events, Found(block.start, end, block.first, block.event, block.label))

    structure: Structure | JoinedAnswers | Single | Pieces | Listed
    if isinstance(executor, Executor) and query.selects_later:
        structure = executor.chosen(chunk, found)
    elif isinstance(executor, Executor) and not chunk.monotone:
        yield from map(batch, executor.by_start(chunk, found, order.tolist(), query.limit))
        return
    elif isinstance(executor, JoinExecutor):
        structure = executor.structure(chunk, found, listed=True)
    else:
        structure = executor.structure(chunk, found)
    if isinstance(structure, JoinedAnswers):
        # The threads share every block: their nodes are met in the order in which they lie in memory.
        for block in structure.blocks(order, query.limit):
            yield from workers.map("batch", batch, _slices(block))
        return
    if isinstance(structure, Structure) and structure.in_bulk:
        for bulk in _one_ahead(structure.blocks(order, query.limit)):
            yield from workers.map("batch", batch, _slices(bulk))
        return
    count = structure.count
    counts = np.minimum(count, query.limit) if query.limit is not None else count
    groups = _groups(counts[order].astype(np.float64), count[order] > BULK_COUNT, GROUP)

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


def _one_ahead(blocks: Iterator[Block]) -> Iterator[Block]:
    """Blocks, the next one of which is made meanwhile: by a device, while the host makes batches of one."""
    with ThreadPoolExecutor(1) as maker:
        coming = maker.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = maker.submit(next, blocks, None)
            yield block


def _slices(block: Block | RuleBlock) -> Iterator[Block | RuleBlock]:
    """A block in parts of `GROUP` complex events."""
    for low in range(0, len(block.hit), GROUP):
        part = slice(low, low + GROUP)
        hit, start = block.hit[part], block.start[part]
        if isinstance(block, RuleBlock):
            yield RuleBlock(hit, start, block.event[part])
        else:
            first = block.first[low : low + GROUP + 1]
            marks = slice(first[0], first[-1])
            yield Block(hit, start, first - first[0], block.event[marks], block.label[marks])


def _groups(counts: np.ndarray, huge: np.ndarray, size: int) -> Iterator[tuple[slice, bool]]:
    """Ranges of hits with about `size` complex events each, the huge ones by themselves."""
    edges = {0, len(counts)}
    alone = np.flatnonzero(huge)
    edges.update(alone.tolist(), (alone + 1).tolist())
    running = np.cumsum(np.where(huge, 0.0, counts))
    if len(counts):
        edges.update((np.searchsorted(running, np.arange(size, running[-1], size)) + 1).tolist())
    single = frozenset(alone.tolist())
    for start, stop in pairwise(sorted(edges)):
        yield slice(start, stop), start in single
