"""From the hits of a chunk to record batches of complex events, in order and in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.form import Answers, Found
from cer_gpu.engine.machines.automaton import Executor
from cer_gpu.engine.machines.ends import HITS, Hits
from cer_gpu.engine.machines.joins import JoinExecutor
from cer_gpu.engine.machines.strategies import Listed, Pieces, Single
from cer_gpu.engine.run.chunks import Step
from cer_gpu.engine.workers import FEW, Workers
from cer_gpu.enumeration.products import Answers as JoinedAnswers
from cer_gpu.enumeration.products import RuleBlock
from cer_gpu.enumeration.structure import BULK_COUNT, Structure
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.joins.cpu_order import ascending

GROUP = 1 << 16
"""Complex events that a thread enumerates at a time, about."""

LEAST = 1 << 10
"""The same where little memory is allowed, or few are wanted."""

BYTES_OF_ANSWER = 256
"""What a complex event of a few marks takes on the host, in blocks and in record batches."""

SHARE = 4
"""The part of the memory allowed that complex events may take: a quarter, beside the batch and the chunk."""


def batches_of(step: Step, wanted: int | None = None) -> Iterator[pa.RecordBatch]:
    """The complex events that end at the hits of a step, sorted by (end, start, positions).

    Parameters
    ----------
    step : Step
        How many complex events are found at a time follows from the memory that its run is allowed.
    wanted : int, optional
        So many are asked for at most: of each hit no more are found, and few more in all.
    """
    query, chunk, found = step.run.query, step.chunk, step.hits
    executor, form, workers = step.run.executor, step.run.form, step.run.workers
    order = ascending(chunk.events.positions[found.event])
    limits = [most for most in (query.limit, wanted) if most is not None]
    limit = min(limits, default=None)
    at_once = found_at_once(step.run.runner.memory, wanted)

    def batch(block: Block | RuleBlock) -> pa.RecordBatch:
        end = found.event[block.hit]
        if isinstance(block, RuleBlock):
            return form.answers(chunk.events, Answers(block.start, end, block.event))
        return form.batch(chunk.events, Found(block.start, end, block.first, block.event, block.label))

    structure: Structure | JoinedAnswers | Single | Pieces | Listed
    if isinstance(executor, Executor) and query.selects_later:
        structure = executor.chosen(chunk, found)
    elif isinstance(executor, Executor) and not chunk.monotone:
        yield from map(
            batch, workers.ahead("listing", executor.by_start(chunk, found, order.tolist(), limit))
        )
        return
    elif isinstance(executor, JoinExecutor):
        structure = executor.structure(chunk, found, listed=True)
    else:
        found, order = _first_hits(found, order, wanted)
        structure = executor.structure(chunk, found)
    if isinstance(structure, JoinedAnswers):
        # The threads share every block: their nodes are met in the order in which they lie in memory.
        for block in structure.blocks(order, limit):
            yield from workers.map("listing", batch, _slices(block))
        return
    if isinstance(structure, Structure) and structure.in_bulk:
        for bulk in _one_ahead(structure.blocks(order, limit, at_once)):
            yield from workers.map("listing", batch, _slices(bulk))
        return
    yield from _by_groups(structure, order, limit, at_once, workers, batch)


def _by_groups(
    structure: Structure | Single | Pieces | Listed,
    order: np.ndarray,
    limit: int | None,
    at_once: int | None,
    workers: Workers,
    batch: Callable[[Block], pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """The complex events of hits, those of a few groups of hits at a time, each by a thread."""
    count = structure.count
    counts = np.minimum(count, limit) if limit is not None else count
    ahead, size = 2 * workers.threads, GROUP
    if at_once is not None:
        ahead = min(ahead, at_once // LEAST)
        size = min(size, at_once // ahead)
    groups = _groups(counts[order].astype(np.float64), count[order] > min(BULK_COUNT, size), size)

    def blocks_of(hits: np.ndarray) -> Iterator[Block]:
        if isinstance(structure, Structure):
            return structure.blocks(hits, limit, None if at_once is None else size)
        return structure.blocks(hits, limit)

    def enumerate_group(group: slice) -> list[pa.RecordBatch]:
        return [batch(block) for block in blocks_of(order[group])]

    work = int(np.minimum(counts[order], size).sum()) if len(order) <= FEW else FEW + 1
    waiting: list[slice] = []
    for group, huge in groups:
        if not huge:
            waiting.append(group)
        if waiting and (huge or len(waiting) == ahead):
            for part in workers.map("listing", enumerate_group, waiting, work):
                yield from part
            waiting = []
        if huge:
            # More complex events than are worth holding: they come one block after another.
            yield from map(batch, workers.ahead("listing", blocks_of(order[group])))
    for part in workers.map("listing", enumerate_group, waiting, work):
        yield from part


def found_at_once(memory: int | None, wanted: int | None) -> int | None:
    """How many complex events are found in one go at most, about; None: as many as are worth it.

    Parameters
    ----------
    memory : int or None
        Bytes of host memory that the run may take.
    wanted : int or None
        How many are asked for.
    """
    rooms = [] if memory is None else [memory // (SHARE * BYTES_OF_ANSWER)]
    if wanted is not None:
        rooms.append(wanted)
    return max(LEAST, min(rooms)) if rooms else None


def _first_hits(found: Hits, order: np.ndarray, wanted: int | None) -> tuple[Hits, np.ndarray]:
    """Hits and their order without those that are not reached, since one complex event ends at each."""
    if wanted is None or len(order) <= wanted:
        return found, order
    kept = np.sort(order[:wanted])
    left = Hits(*(getattr(found, name)[kept] for name in HITS))
    return left, np.searchsorted(kept, order[:wanted])


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
