"""Units of time, and timestamps written as text: exact, in nanoseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from fractions import Fraction
from functools import lru_cache

NANOSECONDS: Mapping[str, int] = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
"""Nanoseconds in each unit of the language, from the smallest to the largest."""

LONG_NAMES: Mapping[str, str] = {
    "ns": "NANOSECONDS",
    "us": "MICROSECONDS",
    "ms": "MILLISECONDS",
    "s": "SECONDS",
    "min": "MINUTES",
    "h": "HOURS",
    "d": "DAYS",
}
"""The long name of each unit, as WITHIN is written."""

_UNITS: Mapping[str, str] = {
    **{short: short for short in LONG_NAMES},
    **{long.lower(): short for short, long in LONG_NAMES.items()},
    **{long.lower().removesuffix("s"): short for short, long in LONG_NAMES.items()},
}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FRACTION = re.compile(r"(:\d\d)[.,](\d+)")
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")


def unit_named(word: str) -> str | None:
    """The unit (`ns us ms s min h d`) that a word names, short or long, in any case; None if none."""
    return _UNITS.get(word.lower())


def decimal_unit(digits: int) -> str:
    """The unit of decimals with so many digits after the point: `e2` is one hundredth."""
    return f"e{digits}"


def digits_of(unit: str | None) -> int | None:
    """The digits after the point of decimals in a unit; None for a unit of time, and for None."""
    return int(unit[1:]) if unit is not None and unit.startswith("e") else None


def one_in(unit: str) -> Fraction:
    """One of a unit: of time in nanoseconds, of decimals as a number."""
    digits = digits_of(unit)
    return Fraction(NANOSECONDS[unit]) if digits is None else Fraction(10) ** -digits


def exact(value: int | float) -> Fraction:
    """The number as it was written: `0.1` is one tenth, not the float64 that is nearest to it."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def nanoseconds(value: int | float, unit: str) -> Fraction:
    """A quantity of time in nanoseconds, exact.

    Raises
    ------
    KeyError
        The unit is not one of `ns us ms s min h d`.
    """
    return exact(value) * NANOSECONDS[unit]


@lru_cache
def zone_named(name: str) -> tzinfo:
    """A time zone by its name, `Europe/Berlin` or `+05:30`.

    Raises
    ------
    KeyError
        No zone has the name, or this machine has no data of time zones.
    """
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        span = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-span if offset[1] == "-" else span)
    if name in ("UTC", "Z"):
        return UTC
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError) as error:  # no name that a file could have
        raise KeyError(name) from error


def has_offset(text: str) -> bool:
    """Whether a timestamp in ISO 8601 says its offset from UTC.

    Raises
    ------
    ValueError
        The text is not a date or a timestamp of ISO 8601.
    """
    return datetime.fromisoformat(text).tzinfo is not None


def timestamp_nanoseconds(text: str, zone: str = "UTC") -> int:
    """A timestamp in ISO 8601 as nanoseconds since 1970.

    Digits after the ninth of a fraction of a second are cut.

    Parameters
    ----------
    text : str
    zone : str, optional
        The time zone for a text without an offset. If its clocks show the time twice (when summer time ends),
        the first is meant; a time in an hour that they skip stands for the end of that hour.

    Raises
    ------
    ValueError
        The text is not a date or a timestamp of ISO 8601.
    KeyError
        The zone is needed and not known.
    """
    fraction = _FRACTION.search(text)
    digits = fraction.group(2) if fraction else ""
    # `datetime` keeps six digits of a fraction, so the fraction is read apart.
    moment = datetime.fromisoformat(_FRACTION.sub(r"\1", text, count=1))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone_named(zone))
        if moment.utcoffset() != moment.replace(fold=1).utcoffset() and not _is_shown(moment):
            return _set_forward(moment) * 1_000_000_000
    since = moment - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    return (seconds * 1_000_000 + since.microseconds) * 1_000 + int(digits[:9].ljust(9, "0"))


def offsets_of(text: str, zone: str) -> tuple[str, ...]:
    """The offsets from UTC that the clocks of a zone have at a time without one, as `+02:00`.

    There are two for a time that the clocks show twice, and for one that they skip.

    Raises
    ------
    ValueError
        The text is not a date or a timestamp of ISO 8601.
    KeyError
        The zone is needed and not known.
    """
    moment = datetime.fromisoformat(_FRACTION.sub(r"\1", text, count=1))
    if moment.tzinfo is not None:
        return (_offset_text(moment),)
    moment = moment.replace(tzinfo=zone_named(zone))
    return tuple(dict.fromkeys((_offset_text(moment), _offset_text(moment.replace(fold=1)))))


def is_shown(text: str, zone: str) -> bool:
    """Whether the clocks of a zone show a time without an offset; for the exceptions see `offsets_of`."""
    moment = datetime.fromisoformat(_FRACTION.sub(r"\1", text, count=1))
    return _is_shown(moment.replace(tzinfo=zone_named(zone)))


def _is_shown(moment: datetime) -> bool:
    there = moment.astimezone(UTC).astimezone(moment.tzinfo)
    return there.replace(tzinfo=None, fold=0) == moment.replace(tzinfo=None, fold=0)


def _set_forward(moment: datetime) -> int:
    """When clocks were set forward over a time that they left out, in seconds since 1970."""
    zone = moment.tzinfo
    # With the offset before it such a time comes after the change, with the one after it before the change.
    early, late = (int(moment.replace(fold=fold).timestamp()) for fold in (1, 0))
    after = datetime.fromtimestamp(late, zone).utcoffset()
    while late - early > 1:
        middle = (early + late) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == after:
            late = middle
        else:
            early = middle
    return late


def _offset_text(moment: datetime) -> str:
    text = moment.strftime("%z")  # "+0530", and seconds where a zone has them
    return ":".join((text[:3], text[3:5], *([text[5:]] if text[5:] else [])))
