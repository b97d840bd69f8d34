"""Whether a query has no match because an event type that it needs occurs nowhere."""

from __future__ import annotations

from cer_gpu.engine.read.sources.source import Source
from cer_gpu.plan.axes import computes
from cer_gpu.plan.compiled import Reading


def hopeless(reading: Reading, source: Source) -> bool:
    """Whether dictionaries tell that there is no match, so that only the order of rows has to be checked.

    False where it is not known, and where reading the rows may find more that is wrong with them, as values
    that do not fit.
    """
    plain = not (reading.partition or reading.derived or reading.keys.columns or reading.keys.values)
    if not reading.needed or not plain or any(map(computes, reading.axes)):
        return False
    names = None if source.type_column is None else source.names_in(source.type_column)
    return names is not None and not reading.needed <= names
