"""The keywords of `read_options` as types, for type checkers: those of `run` and similar functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class CommonKeywords(TypedDict, total=False):
    """The keywords of every function that reads events."""

    order_by: str | Sequence[str] | None
    order_unit: str | None
    type_column: str | None
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
    """The keywords of a funnel, which lists nothing."""

    sort: bool


class StreamKeywords(CommonKeywords, total=False):
    """The keywords of a stream, whose batches come in order."""

    limit: int | None
    memory: int | None
    event_id: str | None


class ReadKeywords(FunnelKeywords, StreamKeywords, total=False):
    """All keywords."""
