"""Numbers, times and lengths of time as SQL writes them, values of parameters, and the types of CAST."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.parameters import WrittenParameter, bool_or_number
from cer_gpu.patterns.sql_error import NO_EXPRESSION, NO_TIME, UNREADABLE, SqlError
from cer_gpu.printable_text import brief, name_text

_WRITTEN: Mapping[str, str] = {
    **{unit: unit for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")},
    "millisecond": "millisecond",
    "microsecond": "microsecond",
    "dow": "dow",
    "doy": "doy",
    "epoch": "epoch",
    **dict.fromkeys(("yyyy", "yyy", "yy", "yr", "syyyy"), "year"),
    **dict.fromkeys(("q", "qtr"), "quarter"),
    **dict.fromkeys(("mon", "mm"), "month"),
    **dict.fromkeys(("w", "wk", "isoweek", "iw", "ww", "weekofyear"), "week"),
    **dict.fromkeys(("d", "dd", "dayofmonth", "ddd", "j"), "day"),
    **dict.fromkeys(("h", "hh", "hr", "hh24", "hrs"), "hour"),
    **dict.fromkeys(("mi", "min"), "minute"),
    **dict.fromkeys(("s", "ss", "sec"), "second"),
    **dict.fromkeys(("ms", "milli", "msec"), "millisecond"),
    **dict.fromkeys(("us", "micro", "usec"), "microsecond"),
    **dict.fromkeys(("dayofweek", "weekday", "dw"), "dow"),
    **dict.fromkeys(("dayofyear", "dy"), "doy"),
    **dict.fromkeys(("epoch_second", "epoch_seconds"), "epoch"),
}

LENGTHS: Mapping[str, timedelta] = {
    "microsecond": timedelta(microseconds=1),
    "millisecond": timedelta(milliseconds=1),
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
}
"""Units that are always equally long."""

MONTHS: Mapping[str, int] = {"month": 1, "quarter": 3, "year": 12}
"""Units of whole months, with their number."""

_AMOUNT = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)")
_CLOCK = re.compile(r"([+-]?)(?:(\d+)\s+)?(\d+):(\d+)(?::(\d+(?:\.\d+)?))?")
_ZONE = re.compile(r"(.*\d)\s+([A-Za-z]+(?:/[A-Za-z_/+-]+[0-9]*)?)", re.DOTALL)


def unit_of(word: str) -> str | None:
    """The unit of time that a word names, such as "hour" for HOURS or hh24; None for other words."""
    word = word.strip().lower()
    return _WRITTEN.get(word) or (_WRITTEN.get(word[:-1]) if word.endswith("s") else None)


@dataclass(frozen=True, slots=True)
class SqlInterval:
    """A length of time: whole months, and what is exact."""

    months: int
    rest: timedelta


def interval_of(text: str, unit: str | None, span: Span | None) -> SqlInterval:
    """The length that INTERVAL writes.

    Parameters
    ----------
    text : str
        The quantity, with its units if there is no `unit`: "5", "1 02:30:00", "1 day 2 hours".
    unit : str or None
        As it is written behind the text: "MINUTE", "DAY TO SECOND".

    Raises
    ------
    SqlError
        When it is no length of time.
    """
    if found := _CLOCK.fullmatch(text.strip()):
        sign, days, first, second, third = found.groups()
        if third is None and (unit or "").upper().startswith("MINUTE"):
            first, second, third = "0", first, second
        length = timedelta(days=int(days or 0), hours=int(first), minutes=int(second))
        length += _seconds(Decimal(third or 0))
        return SqlInterval(0, -length if sign == "-" else length)
    if unit is not None and (found := re.fullmatch(r"([+-]?)(\d+)-(\d+)", text.strip())):
        months = int(found[2]) * 12 + int(found[3])
        return SqlInterval(-months if found[1] == "-" else months, timedelta(0))
    written = text if unit is None else f"{text} {unit.split()[0]}"
    months, rest, position = 0, timedelta(0), 0
    while position < len(written.rstrip()):
        found = _AMOUNT.match(written, position)
        named = unit_of(found[2]) if found else None
        if found is None or named is None or (named in MONTHS and "." in found[1]):
            break
        if named in MONTHS:
            months += int(found[1]) * MONTHS[named]
        elif named in LENGTHS:
            rest += _seconds(Decimal(found[1]) * (LENGTHS[named] // timedelta(microseconds=1)) / 1_000_000)
        else:
            break
        position = found.end()
    else:
        if position:
            return SqlInterval(months, rest)
    hint = "lengths are written INTERVAL '5' MINUTE, INTERVAL '1 12:00:00' DAY TO SECOND"
    raise SqlError(UNREADABLE, f"{brief(text)} is not a length of time", span, hint)


def _seconds(seconds: Decimal) -> timedelta:
    return timedelta(microseconds=int((seconds * 1_000_000).to_integral_value()))


def number_of(text: str) -> int | Decimal | float:
    """The number that a text writes: with an exponent float, with a point Decimal."""
    if text.isdecimal():
        return int(text)
    return float(text) if "e" in text.lower() else Decimal(text)


def moment_of(text: str, kind: str, span: Span | None) -> date | datetime:
    """The time that a literal writes.

    Parameters
    ----------
    text : str
        As in ISO 8601; a timestamp may end with the name of a time zone.
    kind : {"date", "timestamp"}

    Raises
    ------
    SqlError
        When it is none.
    """
    written = text.strip()
    try:
        if kind == "date":
            return date.fromisoformat(written)
        zone = None
        if found := _ZONE.fullmatch(written):
            written, zone = found[1], ZoneInfo(found[2])
        moment = datetime.fromisoformat(re.sub(r"\s+(?=[+-]\d)", "", written))
        return moment if zone is None else moment.replace(tzinfo=zone)
    except (ValueError, KeyError, OSError):
        pass
    hint = "times are written as in ISO 8601: DATE '2024-01-31', TIMESTAMP '2024-01-31 12:30:00.250'"
    raise SqlError(NO_TIME, f"{brief(text)} is not a {kind}", span, hint)


def parameter_value(given: Any) -> Any:
    """The value of a parameter as a constant has it; NotImplemented for what no constant has."""
    if isinstance(given, WrittenParameter):
        found = bool_or_number(given)
        return str(given) if found is None else found
    if isinstance(given, np.datetime64):
        given = given.astype("datetime64[us]")
    if isinstance(given, np.timedelta64):
        given = given.astype("timedelta64[us]")
    if isinstance(given, np.generic):
        given = given.item()
    if hasattr(given, "to_pydatetime"):  # of pandas
        given = given.to_pydatetime()
    if hasattr(given, "to_pytimedelta"):
        given = given.to_pytimedelta()
    if given is None or isinstance(given, bool | int | float | Decimal | str | date | timedelta):
        return given
    return NotImplemented


def literal_text(value: Any) -> str:
    """A value as standard SQL writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        kind = "TIMESTAMP" if value.tzinfo is None else "TIMESTAMP WITH TIME ZONE"
        return f"CAST('{value.isoformat(sep=' ')}' AS {kind})"
    if isinstance(value, date):
        return f"CAST('{value.isoformat()}' AS DATE)"
    if isinstance(value, timedelta):
        microseconds = value // timedelta(microseconds=1)
        return f"INTERVAL '{Decimal(microseconds) / 1_000_000:f}' SECOND"
    if isinstance(value, str):
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    if isinstance(value, float):
        return f"CAST('{value}' AS DOUBLE)"
    return f"({value})" if value < 0 else str(value)


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
