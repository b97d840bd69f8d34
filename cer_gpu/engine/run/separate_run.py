"""Runs a query that cannot be run together with others over the batches that the others read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.reported_ends import ReportedEnds, reported
from cer_gpu.engine.read.events import EventArrays, relevant_of, state_of
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.components import begin_intake, resume_run, run_state
from cer_gpu.engine.run.event_run import EventRun, reported_in
from cer_gpu.engine.run.halo import Halo

if TYPE_CHECKING:
    from cer_gpu.engine.machines.machine import CarryingRunner


class SeparateRun:
    """Counts the complex events of a query, batch by batch; as `BoundQuery.counts`, or `hits`.

    Parameters
    ----------
    bound : BoundQuery
        A query on the CPU whose answers differ by more than their measures.
    least : int
        The least number of new events of a chunk.
    kept : bool, optional
        Whether `state` will be asked for.
    asked : {"counts", "hits"}, optional

    Attributes
    ----------
    columns : list of str
        The columns of the data that it reads.
    """

    def __init__(
        self,
        bound: BoundQuery,
        least: int,
        kept: bool = False,
        asked: Literal["counts", "hits"] = "counts",
    ) -> None:
        self._bound, self._asked = bound, asked
        self._run = bound.begin(asked, pushed=kept)
        self._run.chunker.have_at_least(least)
        self._inside = Halo(self._run.chunker.resume, bound.halo, bound.stop)
        follows = self._run.query.traits.state == "followed"
        self._followed = EventRun(self._run) if follows else None
        self.columns = bound.columns(self._run.intake.payload)

    def read(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        """Add the next batch of the stream; yields what ends there, in parts of the table of `counts`."""
        own = batch.select(self.columns)
        rows = self._run.rows
        for first in range(0, len(own), rows):
            for part in self._run.relevant([own.slice(first, rows)], pushed=True):
                yield from self._told(self._ends(part))

    def nothing(self) -> pa.Table:
        """The table without any end."""
        assert self._run.ends is not None
        return self._run.ends.table([], None)

    def settle(self) -> Iterator[pa.Table]:
        """Yields what ends at the events that have been read, as far as later ones do not decide it."""
        yield from self._told(self._ran(self._run.chunker.rest()))

    def rest(self) -> Iterator[pa.Table]:
        """Yields what ends at the events that are left, at the end of the stream."""
        for part in self._run.rest():
            yield from self._told(self._ends(part))
        yield from self.settle()
        self._bound.say_read(self._run)

    def waiting(self) -> np.ndarray:
        """The positions of events at which something may end that only later ones decide: int64."""
        outlooks = self._run.outlooks
        held = [] if outlooks is None else [events.positions for events in outlooks.waiting()]
        return np.concatenate([np.empty(0, np.int64), *held])

    def state(self) -> dict[str, Any]:
        """All that is kept for later events, after `settle` was called."""
        run = self._run
        begin_intake(run.intake, self._bound.arrow_schema)
        # First of all, events that are no longer open are dropped, and their keys with them.
        followed = None if self._followed is None else self._followed.state()
        held = None if self._followed is not None else run.chunker.held()
        carrying = self._carrying
        return {
            **run_state(run),
            "followed": followed,
            "held": None if held is None else state_of(held),
            "carried": None if carrying is None else carrying.carried(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned, for the same query over the same columns."""
        run = self._run
        resume_run(run, state, self._bound.arrow_schema)
        if self._followed is not None:
            self._followed.resume(state["followed"])
        if self._carrying is not None:
            self._carrying.carry_on(state["carried"])
        if state["held"] is not None:
            run.chunker.resume(relevant_of(state["held"], run.intake.lane_keys))

    @property
    def _carrying(self) -> CarryingRunner | None:
        """The runner, if it carries what the query needs of earlier events."""
        run = self._run
        return cast("CarryingRunner", run.runner) if run.query.carries and self._followed is None else None

    def _ends(self, part: EventArrays) -> Iterator[ReportedEnds]:
        run = self._run
        if self._followed is not None:
            for found in self._followed.pushed(part):
                yield reported_in(found, self._asked, run.query.limit, run.more)
            return
        inside = self._inside(part)
        if inside is not None:
            yield from self._ran(run.chunker.add(inside))

    def _ran(self, chunk: Chunk | None) -> Iterator[ReportedEnds]:
        run = self._run
        if chunk is not None:
            yield reported(run.runner, chunk, self._asked, run.query.limit, run.more)

    def _told(self, parts: Iterator[ReportedEnds]) -> Iterator[pa.Table]:
        assert self._run.ends is not None
        for part in parts:
            if len(part.position):
                yield self._run.ends.table([part], None)
