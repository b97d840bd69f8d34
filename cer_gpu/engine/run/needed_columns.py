"""The columns and the event types that a run needs."""

from __future__ import annotations

from typing import NamedTuple

from cer_gpu.engine.read.join_keys import columns_read
from cer_gpu.engine.read.lookahead import SourceLookahead
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.options import Options
from cer_gpu.plan.axes import computes
from cer_gpu.plan.compiled_query import RowReading


class NeededColumns(NamedTuple):
    """The columns of the data that a run reads.

    Attributes
    ----------
    all : list of str
        Each once.
    classified_alone : set of str
        Those that only tell which class an event is of.
    """

    all: list[str]
    classified_alone: set[str]


def needed_columns(reading: RowReading, options: Options, payload: tuple[str, ...]) -> NeededColumns:
    """The columns that a run reads if its results are made of the columns of `payload`."""
    behind = sorted({name for one in reading.derived for name in one.read})
    kept = list(options.order_by)
    if reading.keys.columns or reading.keys.values:
        kept += columns_read(reading.keys)
    kept += [name for part in reading.partition for name in part]
    if reading.window is not None and reading.window.attribute is not None:
        kept.append(reading.window.attribute)
    if reading.streams and options.stream_column is not None:
        kept.append(options.stream_column)
    kept += payload
    derived = {one.name for one in reading.derived}
    every = dict.fromkeys([*options.order_by, *reading.classified, *behind, *kept])
    return NeededColumns(
        [name for name in every if name not in derived], set(reading.classified).difference(kept, behind)
    )


def lacks_a_type(reading: RowReading, source: Source) -> bool:
    """Whether dictionaries tell that an event type which every match has occurs nowhere.

    Only the order of rows has to be checked then. False where it is not known, and where reading the rows may
    find more that is wrong with them, as values that do not fit.
    """
    names = None if source.type_column is None else source.names_in(source.type_column)
    if names is None or reading.needed <= names:
        return False
    plain = not (reading.partition or reading.derived or reading.keys.columns or reading.keys.values)
    return plain and not any(map(computes, reading.axes))


def foresight_of(source: Source, reading: RowReading, options: Options) -> SourceLookahead | None:
    """Reads the times of partitions ahead; None where that is not possible or not needed."""
    if not options.order_by or options.ordered:
        return None
    if not (source.ordered or source.repeats):
        return None
    keys = [name for part in reading.partition for name in part]
    if reading.streams and options.stream_column is not None:
        keys.append(options.stream_column)
    time, *ties = options.order_by
    return SourceLookahead(source, [*keys, *ties], time)
