"""Pushes files of events to the stream of a query, whose state after the last file is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BATCH, BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.stream import stream_over
from cer_gpu.progress import begun


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
