"""The states in which a live query begins: empty, those after a history, or one that was handed over."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa
from cer_gpu.spark.bucket_keeper import in_order, restored
from cer_gpu.spark.stream_task import BUCKET, PER_SECOND, StreamTask, from_blob, moment_of

from cer_gpu.engine.run.snapshot import StoredState, from_bytes, to_bytes
from cer_gpu.engine.run.stream_identity import OF_READING
from cer_gpu.errors import DataError
from cer_gpu.printable_text import brief

STATES = pa.schema([pa.field(BUCKET, pa.int32()), pa.field("state", pa.binary())])
"""A state for each bucket."""

LENIENT = 3
"""Microseconds after a time at which it is over, also where a float is rounded."""


def empty_states(live: StreamTask) -> list[tuple[int, bytes]]:
    """Each bucket, and the state in which it begins where nothing came before.

    All begin with one, so that a changed query is refused, whichever bucket has rows.
    """
    return [(bucket, to_bytes(StoredState(live.about, None))) for bucket in range(live.buckets)]


def handed_state(live: StreamTask, state: bytes) -> tuple[list[tuple[int, bytes]], int | None]:
    """The state of the only bucket, from that of a stream over all keys, and where it continues.

    Returns
    -------
    states : list of tuple
    begin : int or None
        In microseconds since 1970, not after the time before which the stream takes no row; None where there
        is no such time.

    Raises
    ------
    DataError
        When there are several buckets, or the state is of another query or other keywords, or is none that
        was handed over.
    """
    if live.buckets > 1:
        raise DataError(
            f"initial is the state of one stream, and the keys are dealt to {live.buckets} buckets: pass the "
            "history itself, as a DataFrame, or buckets=1"
        )
    stored = from_bytes(state)
    if stored.state is None or not stored.state["handed"]:
        raise DataError(
            "initial is a state from cer_gpu.backtest(..., state=True), or Stream.hand_over(): a snapshot is "
            "of a stream that reads its rows in another way"
        )
    for what, other in stored.about.items():
        own = live.about.get(what)
        if what not in OF_READING and own != other:
            raise DataError(
                f"initial was stored with another {what}: {brief(other)}, and here it is {brief(own)}"
            )
    return [(0, to_bytes(StoredState(live.about, stored.state)))], _begin(live, stored.state)


def _begin(live: StreamTask, state: Mapping[str, Any]) -> int | None:
    """The microsecond at which a stored stream continues."""
    rows = state["order"]["rows"]
    floor = None if rows is None else rows["floor"]
    return None if floor is None else math.floor(floor * Fraction(1_000_000) / _per_second(live))


def _per_second(live: StreamTask) -> int | Fraction:
    """How many units of the time column a second has."""
    options = live.task.query.options
    kind = live.task.query.schema.field(options.order_by[0]).type
    if pa.types.is_date(kind):
        return Fraction(1, 86_400)
    unit = kind.unit if pa.types.is_temporal(kind) else options.order_unit
    return PER_SECOND[unit or "us"]


def reach(live: StreamTask) -> int | None:
    """How far back a later match may need rows, in microseconds; None: all of them."""
    query = live.task.query.query
    window = query.window
    if not live.task.cuttable or window is None or window.kind != "time" or query.reached is None:
        return None
    size = query.reached + (query.sight or 0)  # an end may wait for what follows it, with a window before it
    return int(size * 1_000_000 // _per_second(live)) + LENIENT


def spare(kind: pa.DataType) -> int:
    """By how many microseconds a stream continues after the last time of a history."""
    return LENIENT if pa.types.is_floating(kind) else 1


class HistoryKeeper:
    """A function for `applyInArrow`: the rows of a bucket's history become the state of its stream.

    Parameters
    ----------
    dumped : bytes
        A pickled `StreamTask`.
    end : int
        The time at which the stream continues, in microseconds since 1970: what comes before it is of the
        history, also if it comes again.
    """

    def __init__(self, dumped: bytes, end: int) -> None:
        self._dumped = dumped
        self._end = end

    def __call__(self, packed: pa.Table) -> pa.Table:
        live: StreamTask = pickle.loads(self._dumped)
        bucket = packed.column(BUCKET)[0].as_py()
        stream = restored(live, to_bytes(StoredState(live.about, None)))
        blobs = [from_blob(blob) for blob in packed.column("rows").to_pylist() if blob]
        if blobs:
            stream.push(in_order(blobs, live))
        query = live.task.query
        kind = query.schema.field(query.options.order_by[0]).type
        stream.advance(moment_of(self._end, kind, query.options.order_unit))
        return pa.table([[bucket], [stream.snapshot()]], schema=STATES)
