"""Arrow types as the language sees them, and the few types that columns of batches have.

A batch that leaves a source holds only columns of these types: bool, integers, float32 and float64,
decimal128 and decimal256, string, large_string and dictionary<int32, string>, timestamps, dates, durations,
and times of day. A column of another type passes through unchanged, and a query cannot use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from cer_gpu.engine.read.sources.text_codes import MANY, encoded
from cer_gpu.errors import DataError
from cer_gpu.language.schema import ValueType
from cer_gpu.language.units import decimal_unit, digits_of
from cer_gpu.lazy_modules import compute as pc

DICTIONARY = pa.dictionary(pa.int32(), pa.string())
"""The type of dictionary-encoded strings; a batch holds less than 2 GiB of them."""

LARGE_DICTIONARY = pa.dictionary(pa.int32(), pa.large_string())
"""The same type without that limit."""

_UNITS = ("s", "ms", "us", "ns")

_WITHOUT_UNIT = {
    kind.id for kind in (pa.int64(), pa.int32(), pa.float64(), pa.string(), pa.bool_(), DICTIONARY)
}
"""The commonest types of batches whose values are in no unit, to see at a glance."""


_TEXTS = frozenset(kind.id for kind in (pa.string(), pa.large_string(), pa.string_view()))

_VALUES = {
    **dict.fromkeys(_TEXTS, ValueType.STRING),
    pa.bool_().id: ValueType.BOOL,
    **{kind.id: ValueType.INT64 for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{kind.id: ValueType.INT64 for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    **{kind.id: ValueType.FLOAT64 for kind in (pa.float16(), pa.float32(), pa.float64())},
    **{
        kind.id: ValueType.DECIMAL
        for kind in (pa.decimal32(1), pa.decimal64(1), pa.decimal128(1), pa.decimal256(1))
    },
    **{kind.id: ValueType.TIMESTAMP for kind in (pa.timestamp("s"), pa.date32(), pa.date64())},
    **{kind.id: ValueType.DURATION for kind in (pa.duration("s"), pa.time32("s"), pa.time64("us"))},
}
"""The type of the language's values for each of Arrow's types that holds values itself."""

_RENAMED = frozenset(
    kind.id
    for kind in (
        pa.run_end_encoded(pa.int32(), pa.string()),
        DICTIONARY,
        pa.string_view(),
        pa.float16(),
        pa.decimal32(1),
        pa.decimal64(1),
    )
)
"""The types whose normal type is another."""


def value_type(arrow: pa.DataType) -> ValueType | None:
    """The type of the language's values that a column of an Arrow type holds.

    Returns
    -------
    ValueType or None
        None for a type that the language cannot use: nested and binary types, and `null`, the type of a
        column without any value.
    """
    if pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow):
        return value_type(arrow.value_type)
    return _VALUES.get(arrow.id)


def is_text(arrow: pa.DataType) -> bool:
    """Whether a type is one of Arrow's plain string types."""
    return arrow.id in _TEXTS


def is_narrow(arrow: pa.DataType) -> bool:
    """Whether a type is of dictionary-encoded strings with codes of 8 or 16 bits."""
    return (
        pa.types.is_dictionary(arrow)
        and pa.types.is_string(arrow.value_type)
        and arrow.index_type.bit_width < 32
    )


def widened(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with all codes in 32 bits, so that its dictionaries have room for those of other batches."""
    fields = [
        pa.field(field.name, DICTIONARY if is_narrow(field.type) else field.type) for field in batch.schema
    ]
    return convert_batch(batch, pa.schema(fields), "the events")


def normal_type(arrow: pa.DataType) -> pa.DataType:
    """The type that a column of an Arrow type has in the batches of a source."""
    if pa.types.is_run_end_encoded(arrow):
        return normal_type(arrow.value_type)
    if pa.types.is_dictionary(arrow):
        if is_text(arrow.value_type):
            return DICTIONARY if pa.types.is_string(arrow.value_type) else LARGE_DICTIONARY
        return normal_type(arrow.value_type)
    if pa.types.is_string_view(arrow):
        return pa.large_string()
    if pa.types.is_float16(arrow):
        return pa.float32()
    if pa.types.is_decimal(arrow) and arrow.bit_width < 128:
        return pa.decimal128(arrow.precision, arrow.scale)
    return arrow


def roomy(arrow: pa.DataType) -> pa.DataType:
    """The type that holds many batches of a type together: strings of 32 bits hold at most 2 GiB of text."""
    if pa.types.is_string(arrow):
        return pa.large_string()
    if pa.types.is_dictionary(arrow) and is_text(arrow.value_type):
        return LARGE_DICTIONARY
    return arrow


def roomy_schema(schema: pa.Schema) -> pa.Schema:
    """`schema` with every field in its roomy type."""
    return pa.schema([field.with_type(roomy(field.type)) for field in schema])


def decoded(texts: pa.Array) -> pa.Array:
    """Strings, dictionary-encoded or not, as large_string."""
    if pa.types.is_dictionary(texts.type):
        # First the dictionary: what is decoded may be larger by far.
        values = texts.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(texts.indices, values).dictionary_decode()
    return texts.cast(pa.large_string())


def normal_schema(schema: pa.Schema, where: str) -> pa.Schema:
    """`schema` with every field in its normal type, without metadata.

    Raises
    ------
    DataError
        If several columns have one name.
    """
    if len(set(schema.names)) < len(schema.names):
        raise _several_named(schema.names, where)
    kinds = [normal_type(kind) if kind.id in _RENAMED else kind for kind in schema.types]
    return pa.schema(zip(schema.names, kinds, strict=True))


def convert(array: pa.Array, target: pa.DataType, where: str) -> pa.Array:
    """Convert an array to another type without losing anything.

    Parameters
    ----------
    array : pyarrow.Array
    target : pyarrow.DataType
        A normal type, or the common type of several files or tables (`common_type`).
    where : str
        What the array is, for the message: "column `price` of trades.csv".

    Raises
    ------
    DataError
        If a value does not fit, e.g. an unsigned integer above 2^63 - 1 beside signed ones.
    """
    if array.type == target:
        return without_null_texts(array) if pa.types.is_dictionary(target) else array
    try:
        if pa.types.is_run_end_encoded(array.type):
            return convert(_run_end_decoded(array), target, where)
        if pa.types.is_dictionary(target):
            return _to_dictionary(array, target)
        if pa.types.is_dictionary(array.type):
            plain = decoded(array) if is_text(target) else array.dictionary_decode()
            return convert(plain, target, where)
        if pa.types.is_float16(array.type) and not pa.types.is_float32(target):
            array = array.cast(pa.float32())
        return array.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"{where} cannot be converted from {array.type} to {target}: {first_line(error)}"
        ) from error


SMALL = 1 << 12
"""The most bytes of an array that are kept for the sake of one of its texts."""

_FIRST = pa.Array.from_buffers(pa.int32(), 1, [None, pa.py_buffer(bytes(4))])


def _to_dictionary(array: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_null(array.type):
        array = array.cast(target.value_type)
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    if not pa.types.is_dictionary(array.type):
        if len(array) == 1 and not array.null_count and array.get_total_buffer_size() <= SMALL:
            # A text that comes alone is a dictionary as it is: to ask Arrow for it takes longer than a push.
            values = array if array.type == target.value_type else array.cast(target.value_type)
            return pa.DictionaryArray.from_arrays(_FIRST, values)
        array = encoded(array) if len(array) >= MANY else array.dictionary_encode()
    indices, values = array.indices, array.dictionary
    if indices.type != target.index_type:
        indices = indices.cast(target.index_type)
    if values.type != target.value_type:
        values = values.cast(target.value_type)
    made = pa.DictionaryArray.from_arrays(indices, values)
    return without_null_texts(made) if values.null_count else made


def without_null_texts(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """A dictionary-encoded array whose nulls have no code: those of others may have one, for a null text."""
    values = array.dictionary
    if not values.null_count:
        return array
    there = values.is_valid()
    places = pc.subtract(pc.cumulative_sum(there.cast(pa.int32())), pa.scalar(1, pa.int32()))
    codes = pc.if_else(there, places, pa.scalar(None, pa.int32())).take(array.indices)
    codes = codes.cast(array.type.index_type)
    return pa.DictionaryArray.from_arrays(codes, values.drop_null(), ordered=array.type.ordered)


def dictionaries(schema: pa.Schema) -> list[int]:
    """The places of the columns that are dictionary-encoded."""
    return [place for place, kind in enumerate(schema.types) if pa.types.is_dictionary(kind)]


def has_null_texts(batch: pa.RecordBatch, places: Sequence[int]) -> bool:
    """Whether one of some dictionary-encoded columns has a code for null, see `without_null_texts`."""
    return any(batch.column(place).dictionary.null_count for place in places)


def _run_end_decoded(array: pa.RunEndEncodedArray) -> pa.Array:
    """An array with a value for each row; Arrow decodes no runs of string_view."""
    values = array.values
    if is_text(values.type) or pa.types.is_dictionary(values.type):
        values = convert(values, pa.large_string(), "the values of runs")
        whole = pa.RunEndEncodedArray.from_arrays(array.run_ends, values)
        array = whole.slice(array.offset, len(array))
    return pc.run_end_decode(array)


def convert_batch(batch: pa.RecordBatch, schema: pa.Schema, where: str) -> pa.RecordBatch:
    """`batch` with its columns in the types of `schema` (same names, same order), see `convert`."""
    encoded = [one for one in batch.columns if isinstance(one, pa.DictionaryArray)]
    if batch.schema.equals(schema) and not any(one.dictionary.null_count for one in encoded):
        return batch
    arrays = [
        convert(column, field.type, f"column `{field.name}` of {where}")
        for column, field in zip(batch.columns, schema)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of both types, or None if they do not go together.

    Integers widen to int64 and to float64 next to a float, floats to float64, times to the finer unit; a
    zone goes only with a zone; `null` goes with everything. Where a value would not fit, `convert` says so.
    """
    left, right = normal_type(left), normal_type(right)
    if left == right or pa.types.is_null(right):
        return left
    if pa.types.is_null(left):
        return right
    if value_type(left) is ValueType.STRING and value_type(right) is ValueType.STRING:
        if pa.types.is_dictionary(left) or pa.types.is_dictionary(right):
            return DICTIONARY if {left, right} <= {DICTIONARY, pa.string()} else LARGE_DICTIONARY
        return pa.large_string()
    if pa.types.is_integer(left) and pa.types.is_integer(right):
        unsigned = pa.types.is_unsigned_integer(left) and pa.types.is_unsigned_integer(right)
        return pa.uint64() if unsigned and pa.uint64() in (left, right) else pa.int64()
    numbers = (ValueType.INT64, ValueType.FLOAT64)
    if value_type(left) in numbers and value_type(right) in numbers:
        return pa.float64()
    if pa.types.is_timestamp(left) and pa.types.is_timestamp(right):
        if (left.tz is None) == (right.tz is None):
            return pa.timestamp(_finer(left.unit, right.unit), left.tz)
        return None
    if pa.types.is_duration(left) and pa.types.is_duration(right):
        return pa.duration(_finer(left.unit, right.unit))
    if pa.types.is_date(left) and pa.types.is_date(right):
        return pa.date64()
    return None


def _finer(left: str, right: str) -> str:
    return max(left, right, key=_UNITS.index)


def usable(schema: pa.Schema) -> tuple[dict[str, ValueType], dict[str, str]]:
    """The columns that the language can use, with their types; and the others, with their Arrow types."""
    attributes: dict[str, ValueType] = {}
    unsupported: dict[str, str] = {}
    for field in schema:
        kind = value_type(field.type)
        if kind is None:
            unsupported[field.name] = str(field.type)
        else:
            attributes[field.name] = kind
    return attributes, unsupported


def merge_fields(parts: Mapping[str, pa.Schema]) -> tuple[pa.Schema, dict[str, str]]:
    """The fields of several tables side by side: every column that one of them has, in its common type.

    Returns
    -------
    pyarrow.Schema
        Columns in the order of their first appearance.
    dict of str to str
        Columns whose types do not go together, with the two types; the schema has them as `null`.
    """
    fields: dict[str, pa.DataType] = {}
    first: dict[str, tuple[str, pa.DataType]] = {}
    clashes: dict[str, str] = {}
    for name, schema in parts.items():
        for field in schema:
            if field.name not in fields:
                fields[field.name] = normal_type(field.type)
                first[field.name] = (name, field.type)
                continue
            common = common_type(fields[field.name], field.type)
            if common is None and field.name not in clashes:
                owner, arrow = first[field.name]
                clashes[field.name] = f"{arrow} in `{owner}`, {field.type} in `{name}`"
            fields[field.name] = fields[field.name] if common is None else common
    schema = pa.schema([(name, pa.null() if name in clashes else arrow) for name, arrow in fields.items()])
    return schema, clashes


def shared_types(
    schemas: Sequence[pa.Schema],
    lacking: Callable[[str, int, int], DataError],
    clashing: Callable[[pa.Field, int], pa.DataType | None],
) -> dict[str, pa.DataType]:
    """The columns that several schemas share, with the common type of each.

    Parameters
    ----------
    schemas : sequence of pyarrow.Schema
    lacking : callable
        Gives the error for a column that the schema of one number has and that of another lacks.
    clashing : callable
        Gives the type of a column whose type, in the schema of a number, has none in common with those
        before; None: theirs.
    """
    types = {field.name: field.type for field in schemas[0]}
    for number, schema in enumerate(schemas):
        odd = sorted(set(types) ^ set(schema.names))
        if odd:
            raise lacking(odd[0], *((0, number) if odd[0] in types else (number, 0)))
        for field in schema:
            common = common_type(types[field.name], field.type)
            own = clashing(field, number) if common is None else common
            types[field.name] = types[field.name] if own is None else own
    return types


def _several_named(names: Sequence[str], where: str) -> DataError:
    """The error about columns whose names occur more than once."""
    twice = sorted({name for name in names if names.count(name) > 1})
    listed = ", ".join(f"`{name}`" for name in twice)
    return DataError(f"{where} has several columns named {listed}: rename all but one of each")


def check_encoded(text: str, what: str) -> None:
    """Raise if a name cannot be encoded as UTF-8, so that Arrow cannot hold it.

    Raises
    ------
    DataError
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{what} {text} is not UTF-8 text: rename it") from error


def first_line(error: BaseException) -> str:
    """The first line of an exception's message; the rest of Arrow's is its own call stack."""
    text = str(error).strip()
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__


def time_zones(schema: pa.Schema) -> dict[str, str]:
    """The time zone of every timestamp column that has one."""
    zones = {field.name: zone_of(normal_type(field.type)) for field in schema}
    return {name: zone for name, zone in zones.items() if zone}


def without_dictionary(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a column, which a dictionary may hold."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def zone_of(kind: pa.DataType) -> str | None:
    """The time zone of a type of timestamps; None for one without, and for other types."""
    return kind.tz if pa.types.is_timestamp(kind) else None


def unit_of(kind: pa.DataType) -> str | None:
    """The unit of values that are stored as whole numbers: of times and of decimals; None for others."""
    if pa.types.is_date32(kind):
        return "d"
    if pa.types.is_date64(kind):
        return "ms"
    if pa.types.is_decimal(kind):
        return decimal_unit(kind.scale)
    return kind.unit if pa.types.is_temporal(kind) and hasattr(kind, "unit") else None


def time_units(schema: pa.Schema) -> dict[str, str]:
    """The unit of every column of times: its values are integers in it."""
    return {name: unit for name, unit in all_units(schema).items() if digits_of(unit) is None}


def all_units(schema: pa.Schema) -> dict[str, str]:
    """The unit of every column whose values are integers in one: of times, and of decimals."""
    units = {
        field.name: unit_of(normal_type(field.type)) for field in schema if field.type.id not in _WITHOUT_UNIT
    }
    return {name: unit for name, unit in units.items() if unit is not None}


def whole_type(kind: pa.DataType) -> pa.DataType:
    """The type of the whole numbers that times of a type are stored as."""
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def whole_numbers(times: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Times as whole numbers of their unit, int64."""
    return times.cast(whole_type(times.type)).cast(pa.int64())
