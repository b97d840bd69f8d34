"""The stream of a query that is bound to a source: the source's events are pushed, file by file."""

from __future__ import annotations

import pyarrow as pa

from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.stream import Stream


def stream_over(bound: BoundQuery, source: Source, options: Options, state: bytes | None) -> Stream:
    """The stream of a query; it takes tables with columns of the source.

    Parameters
    ----------
    bound : BoundQuery
    source : Source
    options : Options
    state : bytes or None
        From `Stream.snapshot`, to go on.
    """
    there = options.stream_column in source.arrow_schema.names
    stream_column = options.stream_column if there else None

    def bind(given: pa.Table) -> BoundQuery:
        opened = open_source(
            given,
            order_by=options.order_by,
            type_column=options.type_column,
            stream_column=stream_column,
        )
        return bound.over(opened, 0)

    return Stream(bind, {}, state)
