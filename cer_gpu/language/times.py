"""Time in a query: intervals, windows and the order attribute (sections 3 and 8)."""

from __future__ import annotations

from fractions import Fraction

from cer_gpu.errors import Span
from cer_gpu.language import tree as t
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.findings import Findings
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import exact, nanoseconds
from cer_gpu.language.words import written

_MEASURED = (ValueType.INT64, ValueType.FLOAT64, ValueType.DECIMAL, ValueType.TIMESTAMP, ValueType.DURATION)


class TimeChecker:
    """Checks amounts of time against the order attribute of a schema.

    Parameters
    ----------
    schema : Schema or None
        Without it the order attribute is not known, and only the amounts are checked.
    findings : Findings
    """

    def __init__(self, schema: Schema | None, findings: Findings) -> None:
        self._schema = schema
        self._findings = findings

    def check_reach(self, interval: t.Interval) -> None:
        """Report an interval of FOLLOWED BY or PRECEDED BY that is empty, or mixes events and time."""
        counting = {
            bound.unit == EVENTS for bound in _bounds(interval) if bound.parameter is None or bound.unit
        }
        if counting == {True, False}:
            message = "one bound counts events and the other measures time"
            self._findings.error("CER042", message, interval.span, "give both in EVENTS, or both in time")
        elif counting == {True}:
            self._check_bounds(interval, "events are counted from 0")
        else:
            self.check_interval(interval)

    def check_interval(self, interval: t.Interval) -> None:
        """Report an interval that is empty, or whose unit does not fit the order attribute."""
        bounds = self._check_bounds(interval, "time does not go backwards")
        self._check_order("an interval", interval.span)
        for bound in bounds:
            self._check_unit(bound)

    def _check_bounds(self, interval: t.Interval, why: str) -> list[t.Bound]:
        bounds = [bound for bound in _bounds(interval) if bound.parameter is None]
        for bound in bounds:
            if bound.value < 0:
                self._findings.error("CER041", "the bound is negative", bound.span, why)
        if len({bound.unit is None for bound in bounds}) > 1:
            message = "one bound has a unit and the other has none"
            self._findings.error("CER042", message, interval.span, "give both a unit: `[1 s, 5 s]`")
            return bounds
        known = len(bounds) == len(_bounds(interval)) and all(bound.value >= 0 for bound in bounds)
        if known and _empty(interval):
            what = "number of events" if bounds[0].unit == EVENTS else "time"
            self._findings.error("CER040", f"no {what} lies in this interval", interval.span)
        return bounds

    def check_window(self, window: t.Window) -> None:
        """Report a window of negative size, or a window over time where the time column is not known."""
        if window.size < 0:
            self._findings.error("CER041", "the window is negative", window.span)
        if window.kind == "time":
            self._check_order("a window over time", window.span)
            if window.unit is not None:
                self._plain_number(window.span, "or write the window in the column's own unit: WITHIN n [{}]")

    def check_suppressed(self, length: t.Bound) -> None:
        """Report a length of SUPPRESS that is negative, or whose unit does not fit the order attribute."""
        if length.parameter is None and length.value < 0:
            self._findings.error("CER041", "the length of time is negative", length.span, "write 0 or more")
            return
        self._check_order("SUPPRESS", length.span)
        if length.parameter is None or length.unit is not None:
            self._check_unit(length, "the length")

    def check_distance(self, attribute: str, kind: ValueType | None, place: Span | None) -> None:
        """Report `WITHIN n [attribute]` of an attribute whose values have no distance."""
        if kind is not None and kind not in _MEASURED:
            message = f"`{written(attribute)}` is a {kind.value}: a window cannot be measured in it"
            hint = "name a column of numbers, timestamps or durations"
            self._findings.error("CER043", message, place, hint)

    def _check_order(self, what: str, span: Span | None) -> None:
        if self._schema is not None and self._schema.order is None:
            self._findings.error(
                "CER044",
                f"{what} needs to know which column is the time",
                span,
                "name it: order_by='ts' (--order-by ts)",
            )

    def _order_type(self) -> ValueType | None:
        if self._schema is None or self._schema.order is None:
            return None
        return self._schema.attributes.get(self._schema.order)

    def _check_unit(self, bound: t.Bound, what: str = "the bound") -> None:
        if bound.unit is not None:
            self._plain_number(bound.span, "or write a plain number, in the column's own unit")
            return
        kind = self._order_type()
        if kind in (ValueType.TIMESTAMP, ValueType.DURATION):
            message = f"{what} has no unit, and the column of time is a {kind.value}"
            self._findings.error("CER042", message, bound.span, f"write the unit: `{bound.value} s`")

    def _plain_number(self, span: Span | None, hint: str) -> None:
        # A unit says nothing about a plain number, unless the caller has said the number's own unit.
        kind = self._order_type()
        if self._schema is None or kind is None or not kind.numeric or self._schema.order_unit is not None:
            return
        order = written(self._schema.order or "")
        message = f"`{order}` holds plain numbers, and their unit of time is not known"
        hints = ("give its unit: order_unit='ms' (--order-unit ms)", hint.format(order))
        self._findings.error("CER045", message, span, *hints)


def _bounds(interval: t.Interval) -> list[t.Bound]:
    return [bound for bound in (interval.low, interval.high) if bound is not None]


def _empty(interval: t.Interval) -> bool:
    low, high = interval.low, interval.high
    if high is None:
        return False
    # Time does not go backwards: without a bound below, 0 is one.
    least, least_open = (Fraction(0), False) if low is None else (_size(low), low.open)
    return least > _size(high) or (least == _size(high) and (least_open or high.open))


def _size(bound: t.Bound) -> Fraction:
    if bound.unit is None or bound.unit == EVENTS:
        return exact(bound.value)
    return nanoseconds(bound.value, bound.unit)
