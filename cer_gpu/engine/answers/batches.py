"""From the hits of a chunk to record batches of complex events, in order and in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.machine import MachineRunner
from cer_gpu.engine.machines.reported_ends import sum_exactly
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import FEW, Workers
from cer_gpu.enumeration.blocks import BULK_COUNT, AnswerBlock
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.sorting.order import ascending

if TYPE_CHECKING:
    from cer_gpu.engine.answers.room import Room

Made = TypeVar("Made", covariant=True)
Other = TypeVar("Other")

GROUP = 1 << 16
"""About how many complex events a thread enumerates at a time."""

LEAST = 1 << 10
"""The least value of `GROUP`, used where little memory is allowed or few complex events are wanted."""

BYTES_OF_ANSWER = 256
"""Bytes that a complex event of a few marks takes on the host, in blocks and in record batches."""

SHARE = 4
"""Complex events may take this fraction of `memory`: a quarter, beside the batch and the chunk."""


class Form(Protocol[Made]):
    """Makes a result from each block of complex events: rows of a table, Python values."""

    @property
    def payload(self) -> tuple[str, ...]:
        """The columns of the data that the results are made from."""

    def batch(self, events: EventArrays, end: np.ndarray, block: Any) -> Made:
        """The result for one block; for example `ResultForm.batch`."""


@dataclass(frozen=True, slots=True)
class Lister(Generic[Made]):
    """Lists the complex events of the chunks of a run.

    Attributes
    ----------
    runner : MachineRunner
    form : Form
    workers : Workers
    limit : int or None
        The most complex events of each end.
    memory : int or None
        Bytes that the run may take; it decides how many complex events are found at a time.
    room : Room or None
        Is told how many complex events are listed next.
    """

    runner: MachineRunner
    form: Form[Made]
    workers: Workers
    limit: int | None
    memory: int | None
    room: Room | None = None

    def of(self, form: Form[Other], room: Room | None = None) -> Lister[Other]:
        """The same lister with another form."""
        return Lister(self.runner, form, self.workers, self.limit, self.memory, room)

    def batches(self, chunk: Chunk, ends: Ends, wanted: int | None = None) -> Iterator[Made]:
        """The complex events at the ends of a chunk, sorted by (end, start, positions).

        Parameters
        ----------
        chunk : Chunk
        ends : Ends
            From the runner.
        wanted : int, optional
            How many complex events are needed: no end gives more than that, and few more are found in all.
        """
        yield from self.listed(chunk.events, ends, lambda some: self.runner.answers(chunk, some), wanted)

    def listed(
        self,
        events: EventArrays,
        ends: Ends,
        answers_of: Callable[[Ends], Answers],
        wanted: int | None = None,
    ) -> Iterator[Made]:
        """The complex events at some ends, sorted by (end, start, positions).

        Parameters
        ----------
        events : EventArrays
            The events that the ends and the answers refer to by number.
        ends : Ends
        answers_of : callable
            Gives the answers at some of the ends.
        wanted : int, optional
            As for `batches`.
        """
        workers = self.workers
        if not len(ends):
            return
        order = ascending(events.positions[ends.event])
        ends, order = _first_ends(ends, order, wanted)
        limit = min((most for most in (self.limit, wanted) if most is not None), default=None)
        at_once = found_at_once(self.memory, wanted)
        answers = answers_of(ends)
        if self.room is not None:
            expected = answers.count if limit is None else np.minimum(answers.count, limit)
            total = sum_exactly(expected)
            self.room.expect(total if wanted is None else min(total, wanted))

        def batch(block: AnswerBlock) -> Made:
            return self.form.batch(events, ends.event[block.hit], block)

        if answers.sharing == "ends":
            yield from _by_groups(answers, order, limit, at_once, workers, batch)
            return
        for block in answers.blocks(order, limit, at_once):
            yield from workers.map("listing", batch, _slices(block))


def _by_groups(
    answers: Answers,
    order: np.ndarray,
    limit: int | None,
    at_once: int | None,
    workers: Workers,
    batch: Callable[[AnswerBlock], Made],
) -> Iterator[Made]:
    """The complex events of ends: a few groups of ends at a time, each group by one thread."""
    count, steps = answers.count, answers.work(limit)[order]
    ahead, size = 2 * workers.threads, GROUP
    if at_once is not None:
        ahead = max(1, min(ahead, at_once // LEAST))
        size = min(size, at_once // ahead)
    bulk = count > min(BULK_COUNT, size)
    groups = _groups(steps.astype(np.float64), bulk[order] if bulk.any() else bulk, size)

    def blocks_of(ends: np.ndarray) -> Iterator[AnswerBlock]:
        return answers.blocks(ends, limit, None if at_once is None else size)

    def enumerate_group(group: slice) -> list[Made]:
        return [batch(block) for block in blocks_of(order[group])]

    work = int(np.minimum(steps, size).sum()) if len(order) <= FEW else FEW + 1
    waiting: list[slice] = []
    for group, huge in groups:
        if not huge:
            waiting.append(group)
        if waiting and (huge or len(waiting) == ahead):
            for part in workers.map("listing", enumerate_group, waiting, work):
                yield from part
            waiting = []
        if huge:
            # Too many complex events to hold at once: they come one block after another.
            yield from map(batch, workers.ahead("listing", blocks_of(order[group])))
    for part in workers.map("listing", enumerate_group, waiting, work):
        yield from part


def found_at_once(memory: int | None, wanted: int | None) -> int | None:
    """About how many complex events are found in one go; None: neither argument bounds them.

    Parameters
    ----------
    memory : int or None
        Bytes of host memory that the run may take.
    wanted : int or None
        How many complex events are wanted.
    """
    rooms = [] if memory is None else [memory // (SHARE * BYTES_OF_ANSWER)]
    if wanted is not None:
        rooms.append(wanted)
    return max(LEAST, min(rooms)) if rooms else None


def _first_ends(ends: Ends, order: np.ndarray, wanted: int | None) -> tuple[Ends, np.ndarray]:
    """The ends, and their order, that `wanted` complex events can come from: each has at least one."""
    if wanted is None or len(order) <= wanted:
        return ends, order
    kept = np.sort(order[:wanted])
    return ends.some(kept), np.searchsorted(kept, order[:wanted])


def _slices(block: AnswerBlock) -> Iterator[AnswerBlock]:
    """A block cut into slices of `GROUP` complex events."""
    for low in range(0, len(block.hit), GROUP):
        yield block.part(low, min(low + GROUP, len(block.hit)))


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
