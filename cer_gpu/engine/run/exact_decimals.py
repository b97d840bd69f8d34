"""Changes a query so that it compares decimals of any size exactly, in case some do not fit 64 bits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from cer_gpu.engine.read.sources.decimals import FITTING, widened
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes_of
from cer_gpu.plan.compiled_query import CompiledQuery, RowReading
from cer_gpu.plan.derived_columns import written_out
from cer_gpu.plan.machine import Machine

_FITS = pa.decimal128(FITTING, 0)


def exactly(query: CompiledQuery, schema: pa.Schema) -> CompiledQuery:
    """The query with decimals that may not fit 64 bits compared as numbers of any size.

    Parameters
    ----------
    query : CompiledQuery
    schema : pyarrow.Schema
        Of the data.
    """
    ordered = _ordered(query.reading, schema)
    if ordered and getattr(query.hits_machine, "aggregates", False):
        # The places of numbers of any size in their order have no sums: the machine of streams keeps these.
        hits = getattr(query.hits_machine, "streamed", query.hits_machine)
        keys = replace(query.reading.keys, values=(), asked=query.reading.keys.asked[:, :0])
        query = replace(query, hits_machine=hits, reading=replace(query.reading, keys=keys))
    elif ordered:
        keys = replace(query.reading.keys, exact=ordered)
        query = replace(query, reading=replace(query.reading, keys=keys))
    outlooks = tuple(
        replace(one, machine=getattr(one.machine, "exact", one.machine))
        if _any_far(getattr(one.machine, "whole", ()), query.reading, schema)
        else one
        for one in query.outlooks
    )
    if outlooks:
        query = replace(query, outlooks=outlooks)
    if not _any_far(getattr(query.machine, "whole", ()), query.reading, schema):
        return query

    def exact(one: Machine) -> Machine:
        found: Machine = getattr(one, "exact", one)
        return found

    counts = query.counts_machine
    return replace(
        query,
        machine=exact(query.machine),
        hits_machine=exact(query.hits_machine),
        counts_machine=None if counts is None else exact(counts),
    )


def _ordered(reading: RowReading, schema: pa.Schema) -> frozenset[int]:
    """The numbers of the values of ordered look-ups of which some may not fit, with what is compared with."""
    groups: dict[tree.Expression, list[int]] = {}
    for number, one in enumerate(reading.keys.values):
        groups.setdefault(one.among, []).append(number)
    values = reading.keys.values
    far = (
        own
        for among, own in groups.items()
        if _any_far([among, *(values[one].value for one in own)], reading, schema)
    )
    return frozenset(number for own in far for number in own)


def _any_far(values: Iterable[tree.Expression], reading: RowReading, schema: pa.Schema) -> bool:
    """Whether some values are decimals of a type that has more digits than 64 bits."""
    for value in values:
        written = written_out(value, reading.derived)
        kinds = [schema.field(name).type for name in attributes_of(written) if name in schema.names]
        if any(map(pa.types.is_uint64, kinds)):
            return True
        if not any(map(pa.types.is_decimal, kinds)):
            continue
        if isinstance(written, tree.Attribute | tree.Previous):
            if kinds[0].precision > FITTING:
                return True
        elif widened(_FITS, written, schema) != _FITS:
            return True
    return False
