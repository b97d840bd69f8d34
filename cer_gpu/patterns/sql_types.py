"""Types of CAST as Arrow has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cer_gpu.errors import Span
from cer_gpu.patterns.sql_error import NO_EXPRESSION, SqlError
from cer_gpu.printable_text import name_text

_TYPES: Mapping[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "MEDIUMINT": pa.int32(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "UMEDIUMINT": pa.uint32(),
    "UINT": pa.uint32(),
    "UBIGINT": pa.uint64(),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "DATE32": pa.date32(),
}

_TEXTS = frozenset(
    {"CHAR", "NCHAR", "VARCHAR", "NVARCHAR", "TEXT", "NAME", "MEDIUMTEXT", "LONGTEXT", "TINYTEXT"}
)

_ZONED = frozenset({"TIMESTAMPTZ", "TIMESTAMPLTZ"})

_TIMES: Mapping[str, str] = {
    "TIMESTAMP": "us",
    "TIMESTAMPNTZ": "us",
    "DATETIME": "us",
    "DATETIME2": "us",
    "TIMESTAMPTZ": "us",
    "TIMESTAMPLTZ": "us",
    "TIMESTAMP_S": "s",
    "TIMESTAMP_MS": "ms",
    "TIMESTAMP_NS": "ns",
}

_DECIMALS: Mapping[str, tuple[int, int]] = {
    "duckdb": (18, 3),
    "snowflake": (38, 0),
    "trino": (38, 0),
    "presto": (38, 0),
    "athena": (38, 0),
    "spark": (10, 0),
    "databricks": (10, 0),
    "hive": (10, 0),
    "flink": (10, 0),
    "mysql": (10, 0),
    "tsql": (18, 0),
    "bigquery": (38, 9),
}
"""Digits, and those behind the point, of DECIMAL without numbers."""

_DOUBLE_FLOATS = frozenset({"snowflake", "oracle", "bigquery", "db2"})
"""Dialects whose FLOAT has 64 bits."""

_WIDE_INTEGERS = frozenset({"snowflake", "bigquery", "oracle"})
"""Dialects whose INT has at least 64 bits."""


def type_of(node: Any, language: str, span: Span | None) -> tuple[pa.DataType, int | None]:
    """The Arrow type of a type of SQL.

    Parameters
    ----------
    node : sqlglot.exp.DataType
    language : str
        The name of the dialect: DECIMAL and FLOAT mean different types.
    span : Span or None

    Returns
    -------
    tuple of pyarrow.DataType and int or None
        With the most characters that a text may have.

    Raises
    ------
    SqlError
        When there is no such type of values here.
    """
    kind = getattr(node, "this", None)
    name = str(getattr(kind, "name", kind)).upper()
    numbers = [int(one.name) for one in getattr(node, "expressions", ()) if one.name.isdecimal()]
    if name in _TEXTS:
        return pa.string(), numbers[0] if numbers else None
    if name in ("DECIMAL", "BIGDECIMAL", "DECIMAL32", "DECIMAL64", "DECIMAL128", "MONEY"):
        return _decimal(numbers, language, span), None
    if name == "FLOAT":
        wide = language in _DOUBLE_FLOATS or (bool(numbers) and numbers[0] > 24)
        return pa.float64() if wide else pa.float32(), None
    if name == "INT" and language in _WIDE_INTEGERS:
        return pa.int64(), None
    if name in _TIMES:
        unit = _TIMES[name]
        if numbers and numbers[0] <= 9:
            unit = ("s", "ms", "us", "ns")[-(-numbers[0] // 3)]
        return pa.timestamp(unit, "UTC" if name in _ZONED else None), None
    if name in _TYPES:
        return _TYPES[name], None
    hint = (
        "types are BOOLEAN, SMALLINT, INT, BIGINT, DECIMAL(p, s), FLOAT, DOUBLE, VARCHAR, DATE and TIMESTAMP"
    )
    message = f"a row pattern cannot compute with the type {name_text(node.sql())}"
    raise SqlError(NO_EXPRESSION, message, span, hint)


def _decimal(numbers: list[int], language: str, span: Span | None) -> pa.DataType:
    if not numbers and language in _DECIMALS:
        numbers = list(_DECIMALS[language])
    if not numbers or not 0 < numbers[0] <= 38 or not 0 <= (numbers[1:] or [0])[0] <= numbers[0]:
        message = "DECIMAL needs its number of digits here, and how many are after the point"
        raise SqlError(
            NO_EXPRESSION, message, span, "DECIMAL(18, 4) has 18 digits, 4 of them after the point"
        )
    return pa.decimal128(numbers[0], numbers[1] if len(numbers) > 1 else 0)
