"""A query that shares no run with others, over the batches that others read: nothing is read twice."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from cer_gpu.engine.machines.asked import Reported, reported
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.read.events import Relevant
from cer_gpu.engine.run.bound import BoundQuery
from cer_gpu.engine.run.chunks import Inside
from cer_gpu.engine.run.followed import Followed, reported_in


class BesideRun:
    """Counts the complex events of a query, batch by batch; the same tables as `BoundQuery.counts`.

    Parameters
    ----------
    bound : BoundQuery
        A query on the CPU whose answers differ by more than their measures.
    least : int
        The least number of new events of a chunk.

    Attributes
    ----------
    columns : list of str
        The columns of the data that it reads.
    """

    def __init__(self, bound: BoundQuery, least: int) -> None:
        self._bound = bound
        self._run = bound.begin("counts")
        self._rows = bound.most_rows(self._run)
        self._run.chunker.have_at_least(least)
        self._inside = Inside(self._run.chunker.resume, bound.halo, bound.stop)
        follows = self._run.query.traits.follows
        self._followed = Followed(self._run, bound.halo, bound.stop) if follows else None
        self.columns = bound.columns(self._run.intake.payload)

    def read(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        """Add the next batch of the stream; yields what ends there, in parts of the table of `counts`."""
        own = batch.select(self.columns)
        for first in range(0, len(own), self._rows):
            for extended in self._run.intake.extended([own.slice(first, self._rows)]):
                for part in self._run.relevant(iter([extended]), pushed=True):
                    yield from self._told(self._ends(part))

    def rest(self) -> Iterator[pa.Table]:
        """Yields what ends at the events that are left."""
        for part in self._run.rest():
            yield from self._told(self._ends(part))
        yield from self._told(self._ran(self._run.chunker.rest()))
        self._bound.say_read(self._run)

    def _ends(self, part: Relevant) -> Iterator[Reported]:
        run = self._run
        if self._followed is not None:
            for found in self._followed.pushed(part):
                yield reported_in(found, "counts", run.query.limit, run.more)
            return
        inside = self._inside(part)
        if inside is not None:
            yield from self._ran(run.chunker.add(inside))

    def _ran(self, chunk: Chunk | None) -> Iterator[Reported]:
        run = self._run
        if chunk is not None:
            yield reported(run.runner, chunk, "counts", run.query.limit, run.more)

    def _told(self, parts: Iterator[Reported]) -> Iterator[pa.Table]:
        assert self._run.ends is not None
        for part in parts:
            if len(part.position):
                yield self._run.ends.table([part], None)
