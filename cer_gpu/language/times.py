"""Time in a query: intervals, windows, the order attribute, times that no clock showed (sections 3, 8)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from cer_gpu.errors import Span
from cer_gpu.language import sets
from cer_gpu.language import tree as t
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.findings import Findings
from cer_gpu.language.leaves import attributes
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import exact, is_shown, nanoseconds, offsets_of
from cer_gpu.language.walk import parts, walk
from cer_gpu.language.words import quoted_text, written

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


def note_clock_times(statement: t.Statement, schema: Schema, findings: Findings) -> None:
    """Note each such text without an offset that is compared with a column in a time zone.

    Parameters
    ----------
    statement : SelectQuery or Rule
    schema : Schema
        Its `zones` has the columns with a zone.
    findings : Findings
    """
    zones = dict(schema.zones)
    if isinstance(statement, t.Rule):
        zones = _of_variables(statement, schema)
    for node in walk(statement):
        match node:
            case t.Comparison(left=left, right=right):
                compared: tuple[t.Expression, ...] = (left, right)
            case t.InRange():
                compared = parts(node)
            case t.InSet(operand=operand, members=members):
                zone = _zone_of((operand,), zones)
                if zone is not None:
                    _note_members(members, zone, findings)
                continue
            case _:
                continue
        texts = [one for one in compared if isinstance(one, t.Text)]
        zone = _zone_of(compared, zones) if texts else None
        if zone is not None:
            for one in texts:
                _note(one, zone, findings)


def _of_variables(rule: t.Rule, schema: Schema) -> dict[str, str]:
    """The zones of the variables of a rule that stand for a column with one."""
    found = {}
    for atom in rule.atoms:
        names = schema.attributes_in_order(atom.type.name) if atom.names is None else atom.names
        for name, term in zip(names, atom.terms, strict=False):  # of a wrong number the check tells
            if isinstance(term, t.RuleVariable) and name in schema.zones:
                found[term.name] = schema.zones[name]
    return found


def _zone_of(compared: tuple[t.Expression, ...], zones: Mapping[str, str]) -> str | None:
    """The zone in which a text that is compared with these is read; a DATE has none."""
    if any(isinstance(one, t.Call) and one.function == "DATE" for one in compared):
        return None
    return next((zones[one.name] for one in attributes(*compared) if one.name in zones), None)


def _note_members(members: t.Members, zone: str, findings: Findings) -> None:
    """Note the first such text of a set: one stands for all."""
    for index, text in enumerate(members.texts):
        if _said(text, zone) is not None:
            _note(t.Text(text, span=sets.place_of_text(members, index)), zone, findings)
            return


def _note(text: t.Text, zone: str, findings: Findings) -> None:
    said = _said(text.value, zone)
    if said is not None:
        hint = f"write the offset: {quoted_text(text.value + offsets_of(text.value, zone)[0])}"
        findings.note("CER112", f"{quoted_text(text.value)} {said}", text.span, hint)


def _said(text: str, zone: str) -> str | None:
    try:
        offsets = offsets_of(text, zone)
    except (ValueError, KeyError, OverflowError):  # of which others tell
        return None
    if len(offsets) == 1:
        return None
    if is_shown(text, zone):
        return f"was shown twice by clocks of {zone}, which were set back: the first of the two is taken"
    if len(text) == len("2024-01-31"):  # a day begins where its clocks do
        return None
    return (
        f"was never shown by clocks of {zone}, which were set forward: it is read as the end of the hour "
        "that was skipped"
    )
