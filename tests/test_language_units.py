"""Units of time and timestamps as text are exact."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cer_gpu.language.units import (
    LONG_NAMES,
    NANOSECONDS,
    exact,
    nanoseconds,
    timestamp_nanoseconds,
    unit_named,
)


@pytest.mark.parametrize(
    ("word", "unit"),
    [("s", "s"), ("SECONDS", "s"), ("second", "s"), ("Min", "min"), ("days", "d"), ("ms", "ms"), ("m", None)],
)
def test_units_have_short_and_long_names(word: str, unit: str | None) -> None:
    assert unit_named(word) == unit


def test_every_unit_has_a_long_name() -> None:
    assert LONG_NAMES.keys() == NANOSECONDS.keys()
    assert all(unit_named(name) == unit for unit, name in LONG_NAMES.items())


def test_amounts_are_what_was_written() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(2**63 - 1) == 2**63 - 1
    assert nanoseconds(0.1, "ms") == 100_000
    assert nanoseconds(1.5, "ns") == Fraction(3, 2)
    assert nanoseconds(2, "d") == 172_800_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01", 1_000_000_000),
        ("1970-01-01 00:00:00.5", 500_000_000),
        ("1970-01-01T00:00:00.123456789", 123_456_789),
        ("1970-01-01T00:00:00,1234567891", 123_456_789),
        ("1970-01-01T00:00:00.25+00:00", 250_000_000),
        ("1970-01-01T02:00:00.000000001+02:00", 1),
        ("1969-12-31T23:59:59.999999999", -1),
        ("2024-02-29T12:30:00Z", 1_709_209_800_000_000_000),
        ("0001-01-01", -62_135_596_800_000_000_000),
    ],
)
def test_timestamps_are_read_to_the_nanosecond(text: str, expected: int) -> None:
    assert timestamp_nanoseconds(text) == expected


@pytest.mark.parametrize("text", ["", "noon", "2024-13-01", "2023-02-29", "12:30", "2024-01-01T25:00:00"])
def test_what_is_no_timestamp(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        timestamp_nanoseconds(text)
