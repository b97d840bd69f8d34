"""The keywords of `read_options` as types: what a type checker knows of `run` and those like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class CommonKeywords(TypedDict, total=False):
    """Those that every function has that reads events."""

    order_by: str | Sequence[str] | None
    order_unit: str | None
    type_column: str
    stream_column: str | None
    ordered: bool
    device: str | Sequence[str]
    engine: str
    delimiter: str | None
    column_types: Mapping[str, Any] | None
    date_format: str | Sequence[str] | None
    decimal_point: str | None
    params: Mapping[str, Any] | None


class FunnelKeywords(CommonKeywords, total=False):
    """Those of a funnel, which lists nothing."""

    sort: bool


class StreamKeywords(CommonKeywords, total=False):
    """Those of a stream, whose batches come in order."""

    limit: int | None
    memory: int | None
    event_id: str | None


class ReadKeywords(FunnelKeywords, StreamKeywords, total=False):
    """All of them."""
