"""Types of Arrow that Spark has too."""

from __future__ import annotations

import pyarrow as pa


def plain_type(arrow: pa.DataType) -> pa.DataType:
    """Without dictionaries, and with times in the one unit that Spark has."""
    if pa.types.is_dictionary(arrow):
        return plain_type(arrow.value_type)
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us", arrow.tz)
    if pa.types.is_duration(arrow):
        return pa.duration("us")
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(plain_type(arrow.value_type)))
    if pa.types.is_struct(arrow):
        return pa.struct([member.with_type(plain_type(member.type)) for member in arrow])
    return pa.string() if pa.types.is_null(arrow) else arrow
