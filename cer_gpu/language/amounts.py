"""Numbers and amounts of time as they are written: literals, intervals, windows."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.findings import Findings
from cer_gpu.language.tree import Bound, Interval, Parameter, Window
from cer_gpu.language.units import LONG_NAMES, NANOSECONDS, nanoseconds, unit_named
from cer_gpu.language.words import written

EVENTS = "events"
"""The unit of a window that counts events, as `Amount.unit` has it."""

_LARGEST = 2**63 - 1
_MOST_UNSIGNED = 2**64 - 1

_GUESSES = {
    "m": ("min", "ms"),
    "sec": ("s",),
    "secs": ("s",),
    "mins": ("min",),
    "hr": ("h",),
    "hrs": ("h",),
    "hs": ("h",),
    "msec": ("ms",),
    "millis": ("ms",),
    "micros": ("us",),
    "nanos": ("ns",),
    "week": ("7 d",),
    "weeks": ("7 d",),
    "w": ("7 d",),
}

_LONG = tuple(long.lower().removesuffix("s") for long in LONG_NAMES.values())

_UNLIKE = {
    "month": "months differ in length: write days, such as `30 d`",
    "quarter": "quarters differ in length: write days, such as `90 d`",
    "year": "years differ in length: write days, such as `365 d`",
}
"""Spans of the calendar, by their name in the singular."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, or spans of time added up: `1 MINUTES 30 SECONDS` is 90 `s`.

    Attributes
    ----------
    value : int or float
    unit : str or None
        One of `ns us ms s min h d`, `EVENTS`, or None for a bare number.
    span : Span
    parameter : Parameter or None
        The parameter that stands in place of the number (without a unit: of the whole amount); `value` is
        then 0.
    """

    value: int | float
    unit: str | None
    span: Span
    parameter: Parameter | None = None


@dataclass(frozen=True, slots=True)
class WrittenBound:
    """A bound of an interval as it is written: its comparator, or None, and its amount."""

    comparator: str | None
    amount: Amount


class WrittenFloat(float):
    """A float64 that keeps the digits it was written with, which decimals are compared with exactly.

    Parameters
    ----------
    digits : str
        `12345678901234567890.12`.
    """

    digits: str

    def __new__(cls, digits: str) -> WrittenFloat:
        """The float64 that is nearest to some digits."""
        made = super().__new__(cls, digits)
        made.digits = digits
        return made

    @staticmethod
    def of(digits: str) -> float:
        """The number that is written: a plain float64 if its shortest form has the same digits."""
        plain = float(digits)
        if math.isinf(plain) or Fraction(repr(plain)) == Fraction(digits):
            return plain
        return WrittenFloat(digits)

    def __repr__(self) -> str:
        return self.digits

    def __neg__(self) -> WrittenFloat:
        return WrittenFloat(self.digits.removeprefix("-") if self < 0 else f"-{self.digits}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WrittenFloat):
            return self.digits == other.digits
        return super().__eq__(other)

    __hash__ = float.__hash__

    def __reduce__(self) -> tuple[type[WrittenFloat], tuple[str]]:
        return WrittenFloat, (self.digits,)


def number_of(
    written_number: str, span: Span, findings: Findings, *, negative: bool = False, unsigned: bool = False
) -> int | float:
    """The value of a numeric literal: an int64, or a float64 where a point or an exponent is written.

    With `unsigned` it may also be a uint64.
    """
    value: int | float
    most = _MOST_UNSIGNED if unsigned and not negative else _LARGEST + negative
    if written_number.isdigit():
        # Python refuses to read very long integers, so their length is looked at first.
        value = int(written_number) if len(written_number.lstrip("0")) <= 20 else _MOST_UNSIGNED + 1
        outside = value > most
        hint = "to make it a float64 write it with a decimal point or an exponent"
    else:
        value = WrittenFloat.of(written_number)
        outside = math.isinf(value)
        hint = "the largest float64 is about 1.8e308"
    if outside:
        kind = "a float64"
        if isinstance(value, int):
            kind = "a uint64" if most == _MOST_UNSIGNED else "an int64"
        findings.error("CER005", f"the number does not fit into {kind}", span, hint)
        value = 0
    return -value if negative else value


def unit_of(word: str, span: Span, findings: Findings) -> str:
    """The unit that a word names. If it names none, report that and assume seconds."""
    unit = unit_named(word)
    if unit is not None:
        return unit
    from difflib import get_close_matches  # a query without a slip need not load it

    meant = _GUESSES.get(word.lower()) or get_close_matches(word.lower(), _LONG, 1, 0.7)
    guesses = " or ".join(f"`{guess}`" for guess in meant)
    hints = (f"did you mean {guesses}?",) if guesses else ()
    if (unlike := _UNLIKE.get(word.lower().removesuffix("s"))) is not None:
        hints = (unlike,)
    if unit_named(re.split(r"\d", word)[0]) is not None:
        hints = ("leave a space after each unit: `1 h 30 min`",)
    units = ", ".join(f"`{short}`" for short in NANOSECONDS)
    findings.error("CER015", f"`{word}` is not a unit of time", span, *hints, f"the units are {units}")
    return "s"


def is_events(word: str) -> bool:
    """Whether the word after a number is EVENTS, so that the number counts events."""
    return word.lower() in ("events", "event")


def counts_events(interval: Interval) -> bool:
    """Whether an interval counts events; otherwise it measures time."""
    return any(bound is not None and bound.unit == EVENTS for bound in (interval.low, interval.high))


def sum_of(parts: Sequence[Amount], span: Span, findings: Findings, *, negative: bool = False) -> Amount:
    """Add up spans exactly, in the smallest unit that is written: `1 min 30 s` is 90 s."""
    sign = -1 if negative else 1
    given = next((part.parameter for part in parts if part.parameter is not None), None)
    if given is not None and (negative or len(parts) > 1):
        hint = f"write the parameter alone, `${written(given.name)}`, and give it the whole length of time"
        findings.error(
            "CER016",
            "a parameter stands for the whole length of time: it can have no sign, and nothing can be added",
            span,
            hint,
        )
    if len(parts) == 1:
        return Amount(sign * parts[0].value, parts[0].unit, span, given)
    if any(part.unit == EVENTS for part in parts):
        findings.error("CER016", "a window can count events or measure time, not both", span)
        return Amount(0, EVENTS, span)
    units = [part.unit for part in parts if part.unit is not None]
    smallest = min(units, key=NANOSECONDS.__getitem__)
    spans = (nanoseconds(part.value, unit) for part, unit in zip(parts, units))
    total = sum(spans, Fraction(0)) / NANOSECONDS[smallest]
    if total > _LARGEST:
        findings.error("CER005", "the lengths of time add up to more than 64 bits hold", span)
        return Amount(0, smallest, span)
    value = int(total) if total.denominator == 1 else float(total)
    return Amount(sign * value, smallest, span)


def interval_of(bounds: Sequence[WrittenBound], span: Span, findings: Findings) -> Interval:
    """The interval of one or two bounds. If they make none, report that and assume no bound."""
    forms = "`[<= 5 s]`, `[> 2 s]`, `[= 1 s]`, `[2 s, 5 s]`, `[> 2 s, <= 5 s]`"
    for bound in bounds:
        if bound.amount.unit == EVENTS and not isinstance(bound.amount.value, int):
            findings.error("CER014", "an interval counts whole events", bound.amount.span)
    amounts = [bound.amount for bound in bounds]
    closed = [Bound(one.value, one.unit, False, one.parameter, span=one.span) for one in amounts]
    comparators = [bound.comparator for bound in bounds]
    if comparators == [None]:
        number = _shown(bounds[0].amount)
        findings.error(
            "CER014",
            "an interval with one bound needs a comparison sign",
            span,
            f"at most: `[<= {number}]`; at least: `[>= {number}]`; exactly: `[= {number}]`",
        )
        return Interval(closed[0], closed[0], span=span)
    if comparators in ([None, None], ["="]):
        return Interval(closed[0], closed[-1], span=span)
    low: list[Bound] = []
    high: list[Bound] = []
    for bound, place in zip(bounds, closed):
        side = {">": low, ">=": low, "<": high, "<=": high}.get(bound.comparator or "")
        if side is not None:
            is_open = bound.comparator in ("<", ">")
            side.append(replace(place, open=is_open))
    if len(low) + len(high) < len(bounds) or len(low) > 1 or len(high) > 1:
        findings.error(
            "CER014", "the two bounds do not make an interval", span, f"intervals look like {forms}"
        )
    return Interval(low[0] if low else None, high[0] if high else None, span=span)


def measures_time(interval: Interval, findings: Findings) -> Interval:
    """The interval, whose bounds measure time; bounds that count events are reported."""
    for bound in (interval.low, interval.high):
        if bound is not None and bound.unit == EVENTS:
            hint = (
                "events can be counted by WITHIN n EVENTS, and in the intervals of FOLLOWED BY and PRECEDED "
                "BY"
            )
            findings.error("CER014", "this interval cannot count events: it measures time", bound.span, hint)
    return interval


def _shown(amount: Amount) -> str:
    number = f"{amount.value}" if amount.parameter is None else f"${written(amount.parameter.name)}"
    return number if amount.unit is None else f"{number} {amount.unit}"


def suppressed_for(amount: Amount, findings: Findings) -> Bound:
    """The time of SUPPRESS FOR; a number of events is reported."""
    if amount.unit == EVENTS:
        hint = (
            "write a length of time, such as `SUPPRESS FOR 1 h`; to keep some matches of each end write LIMIT"
        )
        findings.error("CER016", "SUPPRESS measures time: it cannot count events", amount.span, hint)
    return Bound(amount.value, amount.unit, False, amount.parameter, span=amount.span)


def window_of(amount: Amount, attribute: str | None, span: Span, findings: Findings) -> Window | None:
    """The window of WITHIN; None, and reported, if the amount is not a window."""
    if attribute is not None:
        if amount.unit is not None:
            findings.error(
                "CER016",
                "a window can have a unit or name an attribute, not both",
                span,
                f"leave the unit out: the number is in the unit of `{written(attribute)}`",
            )
        return Window(amount.value, "attribute", None, attribute, amount.parameter, span=span)
    if amount.unit is None and amount.parameter is not None:
        return Window(0, "parameter", parameter=amount.parameter, span=span)
    if amount.unit is None:
        findings.error(
            "CER016",
            f"the window does not say what the number {amount.value} counts",
            span,
            f"write `{amount.value} EVENTS`, `{amount.value} SECONDS` or, in the unit of an attribute,"
            f" `{amount.value} [attribute]`",
        )
        return None
    if amount.unit == EVENTS:
        if not isinstance(amount.value, int):
            findings.error("CER016", "a window counts whole events", amount.span)
            return None
        return Window(amount.value, "events", parameter=amount.parameter, span=span)
    return Window(amount.value, "time", amount.unit, parameter=amount.parameter, span=span)
