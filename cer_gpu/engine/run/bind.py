"""Binding a query that another process has planned to a part of its stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.portable_query import PortableQuery
from cer_gpu.engine.workers import Workers


def bind(
    portable: PortableQuery,
    events: Any,
    workers: Workers,
    device: Sequence[str] = ("cpu",),
    sort: bool = False,
    halo: int = 0,
    grouped: bool = False,
    stop: int | None = None,
) -> BoundQuery:
    """Bind a query that another process has planned to some events of a stream.

    Parameters
    ----------
    portable : PortableQuery
    events : object
        As for `Query.run`; columns that the query never reads may be missing.
    workers : Workers
    device : sequence of str
        From `cer_gpu.engine.run.device_choice.asked_devices`.
    sort : bool
        Whether to sort the events first.
    halo, grouped, stop
        As for `BoundQuery`.

    Raises
    ------
    DataError
        If the events cannot be read.
    """
    options = replace(portable.options, device=tuple(device), sort=sort)
    source = open_source(
        events,
        order_by=options.order_by,
        type_column=options.type_column,
        stream_column=options.stream_column,
        sort=sort,
        names=portable.columns,
    )
    return BoundQuery(portable.query, source, portable.units, options, workers, halo, True, grouped, stop)
