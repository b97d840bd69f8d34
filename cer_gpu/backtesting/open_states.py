"""What is open at the end of the events of a backtest: the states from which streams of its queries go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.queries import AskedQuery, in_query, values_for
from cer_gpu.engine.read.sources.arrow_types import whole_type, without_dictionary
from cer_gpu.engine.read.sources.caller_times import after, moment_in
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BATCH
from cer_gpu.engine.run.options import Options
from cer_gpu.errors import DataError, RowError
from cer_gpu.printable_text import brief
from cer_gpu.progress import begun


def check_states(asked: Sequence[AskedQuery], source: Source, options: Options) -> None:
    """Refuse to keep states where no stream could go on.

    Raises
    ------
    ValueError
        For a statement with MATCH_RECOGNIZE, names that are not unique, or events that have no time.
    DataError
        When the events can be read only once.
    """
    names = [one.name for one in asked]
    for one in asked:
        if not isinstance(one.query, Query):
            raise ValueError(f"state=True is for queries of CEQL, and {brief(one.name)} is SQL: leave it out")
        if names.count(one.name) > 1:
            raise ValueError(
                f"state=True needs a name for each query, and {brief(one.name)} is that of several"
            )
    if not options.order_by:
        raise ValueError("state=True needs order_by, the column of time")
    if not source.rewindable:
        raise DataError("the events can be read only once, and their states need them again: pass a table")


def open_states(
    asked: Sequence[AskedQuery], source: Source, options: Options, keywords: Mapping[str, Any]
) -> dict[str, bytes]:
    """The state of the stream of each query after all events; `keywords` are those of the streams."""
    found = {}
    for one in asked:
        with in_query(one.name):
            found[one.name] = _state_of(one, source, options, keywords)
    return found


def _state_of(one: AskedQuery, source: Source, options: Options, keywords: Mapping[str, Any]) -> bytes:
    query = one.ceql
    plain = replace(options, params=values_for(query, options.params, one.values), sort=False, late=None)
    bound = query.bound_to(source, plain, "pushes", once=True)
    if bound.compiled.looks_ahead and options.until is None:
        raise ValueError(
            f"{brief(one.name)} depends on what comes after a match (FOLLOWED BY): pass until=, the time up "
            "to which the events are known; the stream then decides the matches that are still open"
        )
    own: dict[str, Any] = {
        "order_by": list(options.order_by),
        "order_unit": options.order_unit,
        "type_column": options.type_column,
        "stream_column": options.stream_column,
        "params": dict(plain.params),
        "event_id": None,
        "late": "0 s" if pa.types.is_temporal(source.arrow_schema.field(options.order_by[0]).type) else 0,
    }
    own |= keywords
    stream = query.stream(**own)
    told = {options.type_column, options.stream_column, own["event_id"], *query.names} - {None}
    read = {*options.order_by, *told, *bound.columns(bound.begin("run").intake.payload)}
    names = [name for name in source.arrow_schema.names if name in read]
    schema = pa.schema([_as_pushed(source.arrow_schema.field(name), source) for name in names])
    progress, last = begun(None), options.until
    time = schema.field(options.order_by[0])
    for batch in progress.over(progress.watch(source.batches(names, BATCH))):
        rows = pa.Table.from_batches([batch]).cast(schema)
        try:
            stream.push(rows)
        except RowError as error:
            raise DataError(
                f"{error}: state=True needs events in the order of time, over all partitions: pass sort=True"
            ) from None
        if options.until is None:
            last = rows.column(time.name)[-1]
    if last is not None:  # what comes at that time or before is of the backtest, also if it comes again
        number = whole_type(time.type) if pa.types.is_temporal(time.type) else time.type
        whole = last.cast(number).as_py() if isinstance(last, pa.Scalar) else None
        moment = moment_in("until", last, schema, [time.name]) if whole is None else whole
        stream.advance(_shown(after(moment), time.type))
    return stream.hand_over()


def _as_pushed(field: pa.Field, source: Source) -> pa.Field:
    """A column as the tables of a stream have it: texts of files are read as dictionaries."""
    return field.with_type(without_dictionary(field.type)) if source.parts() else field


def _shown(moment: int | float, kind: pa.DataType) -> Any:
    """A time as a caller gives it, from the number that the order column holds."""
    if not pa.types.is_temporal(kind):
        return moment
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        kind = pa.timestamp(kind.unit, "UTC")
    return pa.scalar(moment, whole_type(kind)).cast(kind).cast(pa.string()).as_py()
