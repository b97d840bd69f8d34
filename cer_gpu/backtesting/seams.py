"""Files that are added after finished ones: how far back a query has to read, and streams that take them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.table import moments_of
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BATCH, BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.stream import stream_over
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.progress import begun


class SeamQuery(NamedTuple):
    """A query over new files and the files before them that its window reaches back to.

    It reports only what ends in the new files.

    Attributes
    ----------
    bound : BoundQuery
    before : int
        How many events come before those that it reads.
    """

    bound: BoundQuery
    before: int


class Seams:
    """Where the new files of a source begin.

    Parameters
    ----------
    source : Source
        The events of all files.
    spans : list
        For each of the first files the number of its events, its first and its last time (None if it has no
        events). Files that are looked up are added to the list.
    """

    def __init__(self, source: Source, spans: list[Any]) -> None:
        self._source, self._spans = source, spans

    def behind(self, bound: BoundQuery, files: int) -> SeamQuery | None:
        """A query over all files but the first `files`; None if it has to read all of them."""
        if not self.tell(bound):
            return None
        found = self._first(bound.compiled, files)
        before, halo = (
            sum(rows for rows, _, _ in some) for some in (self._spans[:found], self._spans[found:files])
        )
        return SeamQuery(bound.over(self._source.behind(found), halo), before)

    def tell(self, bound: BoundQuery) -> bool:
        """Whether the window of a query says how far back it has to read."""
        query = bound.compiled
        if not self._source.order_by or query.looks_ahead or query.hidden or not query.cuttable:
            return False
        assert query.window is not None
        # Of events, a partition may have its last ones anywhere.
        return query.window.kind != "events" or not query.reading.partition

    def _first(self, query: CompiledQuery, files: int) -> int:
        """The first of the finished files that a window which ends behind them reaches."""
        assert query.window is not None
        reached = query.reached
        assert reached is not None
        spans = self._known()
        if query.window.kind == "events":
            while files and reached > 0:
                files -= 1
                reached -= spans[files][0]
            return files
        new = [least for _, least, _ in spans[files:] if least is not None]
        if not new:
            return files
        edge = min(new) - (reached if isinstance(min(new), float) else math.floor(reached))
        if isinstance(edge, float):
            edge = float(np.nextafter(edge - abs(min(new)) * 1e-15, -np.inf))  # a difference is rounded
        late = [
            number for number in range(files) if spans[number][2] is not None and spans[number][2] >= edge
        ]
        return min(late, default=files)

    def _known(self) -> list[Any]:
        """The spans of all files."""
        for part in self._source.parts()[len(self._spans) :]:
            rows, least, most = 0, None, None
            for batch in part.batches(self._source.order_by[:1], BATCH, set()):
                rows += len(batch)
                times = moments_of(batch.column(0).drop_null())
                if len(times):
                    low, high = times.min().item(), times.max().item()
                    least = low if least is None else min(least, low)
                    most = high if most is None else max(most, high)
            self._spans.append([rows, least, most])
        return self._spans


More = Callable[[list[pa.Table], int], "list[pa.Table] | None"]
"""Given the tables of the first files and the number of these files, makes the tables of all files.

None where this is impossible."""


def pushed(
    bound: BoundQuery,
    source: Source,
    options: Options,
    state: Any,
    files: int,
    take: Callable[[Matches], None],
) -> tuple[Any, Matches | None]:
    """Push all files but the first ones; return the state after them, and what the end of the events decides.

    Parameters
    ----------
    bound : BoundQuery
    source : Source
        The events of all files.
    options : Options
    state : array of uint8, or None
        The state after the first `files` files.
    files : int
    take : callable
        Takes the matches of each push, in their order.
    """
    stream = stream_over(bound, source, options, None if state is None else state.tobytes())
    columns = bound.columns(bound.begin("run").intake.payload)
    progress = begun(None)

    def batches() -> Iterable[pa.RecordBatch]:
        for part in source.parts()[files:]:
            yield from progress.watch(part.batches(columns, BATCH, set()))

    for batch in progress.over(iter(batches())):
        take(stream.push(pa.Table.from_batches([batch])))
    return np.frombuffer(stream.snapshot(), np.uint8), stream.close()
