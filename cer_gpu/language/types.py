"""Types of expressions, and which values compare (section 4)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from cer_gpu.errors import Span
from cer_gpu.language import function_types, leaves, sets
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.units import timestamp_nanoseconds
from cer_gpu.language.words import quoted_text

_TIMES = (ValueType.TIMESTAMP, ValueType.DURATION)

WITH_ARTICLE: Mapping[ValueType, str] = {
    kind: f"an {kind.value}" if kind is ValueType.INT64 else f"a {kind.value}" for kind in ValueType
}
"""The types of values as messages name them: `an int64`, `a string`."""


class TypeChecker:
    """Checks the leaves of conditions.

    Parameters
    ----------
    attribute_type : callable
        Returns the type of an attribute, or None if it is not known (then nothing is reported about it).
    findings : Findings
    previous_type : callable, optional
        The same for PREV of an attribute.
    time : ValueType or None
        The type of the order attribute, for measures.
    """

    def __init__(
        self,
        attribute_type: Callable[[t.Attribute], ValueType | None],
        findings: Findings,
        previous_type: Callable[[t.Previous], ValueType | None] = lambda _: None,
        time: ValueType | None = None,
    ) -> None:
        self._attribute_type = attribute_type
        self._findings = findings
        self._previous_type = previous_type
        self._time = time

    def check(self, leaf: leaves.Leaf) -> None:
        """Report operands of a leaf whose types do not fit together."""
        match leaf:
            case t.Comparison(op=op, left=left, right=right):
                self._check_pair(op, left, right, leaf.span)
                if left == right and any(leaves.attributes(left)):
                    self._note_itself(leaf)
            case t.Like(operand=operand, pattern=pattern, parameter=parameter):
                kind = self.type_of(operand)
                if kind not in (None, ValueType.STRING):
                    message = f"LIKE takes a string, and `{to_text(operand)}` is {_article(kind)}"
                    self._findings.error("CER033", message, operand.span)
                if parameter is None:
                    self._check_regex(pattern, leaf.span)
                if looks_like_sql(pattern):
                    message = f"LIKE takes a regular expression, in which `%` stands for itself: '{pattern}'"
                    meant = f"SQL's '{pattern}' is `{quoted_text(regex_of(pattern))}` here"
                    hint = "to find a per cent sign itself write `\\%`"
                    self._findings.error("CER107", message, leaf.span, meant, hint)
            case t.InSet(operand=operand, members=members):
                self._check_members(operand, members, leaf.span)
            case t.InRange(operand=operand, low=low, high=high):
                self._check_values("<=", operand, [end for end in (low, high) if end is not None])
                self._check_ends(low, high, leaf.span)
            case t.IsNull(operand=operand):
                self.type_of(operand)

    def _note_itself(self, comparison: t.Comparison) -> None:
        holds = comparison.op in ("=", "<=", ">=")
        what = "is true unless it is null or NaN" if holds else "is never true"
        message = f"`{to_text(comparison.left)}` is compared with itself, which {what}"
        hint = (
            "to compare two events give each its own name: `A AS a ; B AS b FILTER a.id = b.id`; PARTITION "
            "BY matches only events with equal values"
        )
        self._findings.note("CER110", message, comparison.span, hint)

    def type_of(self, expression: t.Expression) -> ValueType | None:
        """The type of an expression; None where it is not known or has been reported to be wrong."""
        match expression:
            case t.Number(value=value):
                return ValueType.INT64 if isinstance(value, int) else ValueType.FLOAT64
            case t.Text():
                return ValueType.STRING
            case t.Boolean():
                return ValueType.BOOL
            case t.Quantity():
                return ValueType.DURATION
            case t.Parameter():
                return None
            case t.Attribute():
                return self._attribute_type(expression)
            case t.Previous():
                return self._previous_type(expression)
            case t.Call(function=function, arguments=arguments):
                kinds = [self.type_of(one) for one in arguments]
                return function_types.of_call(function, arguments, kinds, self._findings)
            case t.Aggregate(argument=argument):
                kind = None if argument is None else self.type_of(argument)
                return function_types.of_aggregate(expression, kind, self._findings)
            case t.Moment(name=name):
                return function_types.of_moment(name, self._time)
            case t.Negation(operand=operand):
                kind = self.type_of(operand)
                if kind is None or kind.numeric or kind is ValueType.DURATION:
                    return kind
                return self._no_arithmetic("-", kind, None, expression.span)
            case t.Arithmetic(op=op, left=left, right=right):
                one, two = self.type_of(left), self.type_of(right)
                hint = _unit_slip(op, (left, right), (one, two))
                return self._arithmetic(op, one, two, expression.span, hint)

    def _arithmetic(
        self, op: str, left: ValueType | None, right: ValueType | None, span: Span | None, hint: str | None
    ) -> ValueType | None:
        known = [kind for kind in (left, right) if kind is not None]
        if any(kind in (ValueType.STRING, ValueType.BOOL) for kind in known):
            return self._no_arithmetic(op, left, right, span)
        if any(kind in _TIMES for kind in known) and op not in "+-" and not _scales(op, left, right):
            return self._no_arithmetic(op, left, right, span)
        if left is None or right is None:
            return None
        match left, op, right:
            case (ValueType.DURATION, ("*" | "/"), _) | (_, "*", ValueType.DURATION):
                return ValueType.DURATION
            case ValueType.TIMESTAMP, "-", ValueType.TIMESTAMP:
                return ValueType.DURATION
            case ValueType.TIMESTAMP, _, ValueType.DURATION:
                return ValueType.TIMESTAMP
            case ValueType.DURATION, "+", ValueType.TIMESTAMP:
                return ValueType.TIMESTAMP
            case ValueType.DURATION, _, ValueType.DURATION:
                return ValueType.DURATION
        if any(kind in _TIMES for kind in known):
            return self._no_arithmetic(op, left, right, span, hint)
        if ValueType.DECIMAL in known and ValueType.FLOAT64 not in known and op != "/":
            return ValueType.DECIMAL
        whole = left is right is ValueType.INT64 and op != "/"
        return ValueType.INT64 if whole else ValueType.FLOAT64

    def _no_arithmetic(
        self,
        op: str,
        left: ValueType | None,
        right: ValueType | None,
        span: Span | None,
        hint: str | None = None,
    ) -> ValueType | None:
        # Reports, and leaves the type unknown so that nothing follows from it.
        kinds = [kind for kind in (left, right) if kind is not None]
        hints = []
        if hint is not None:
            hints.append(hint)
        elif any(kind in _TIMES for kind in kinds):
            hints.append(
                "you can subtract two timestamps, add a duration to a timestamp or subtract it, add and "
                "subtract durations, and multiply or divide a duration by a number; a duration has a unit: "
                "`5 s`"
            )
        elif ValueType.STRING in kinds:
            hints.append("cast a column of texts that hold numbers before the query reads it")
        operands = " and ".join(dict.fromkeys(_article(kind) for kind in kinds))
        self._findings.error("CER030", f"`{op}` cannot be applied to {operands}", span, *hints)
        return None

    def _check_values(self, op: str, operand: t.Expression, values: Sequence[t.Expression]) -> None:
        before = operand
        for value in values:
            # Of an operand whose type is not known, the values must at least fit to one another.
            self._check_pair(op, before, value, value.span)
            if self.type_of(before) is None:
                before = value

    def _check_members(self, operand: t.Expression, members: t.Members, span: Span | None) -> None:
        # One member of each kind speaks for its kind; only timestamps are all read.
        numbers = chain(members.numbers, members.lows, members.highs)
        number = next((one for one in numbers if isinstance(one, int | float)), None)
        quantity = None
        if t.Quantity in members.end_kinds:
            ends = chain(members.lows, members.highs)
            quantity = next(end for end in ends if isinstance(end, t.Quantity))
        some: list[t.Expression] = []
        if number is not None:
            some.append(t.Number(number, span=sets.place_of_number(members)))
        if quantity is not None:
            some.append(quantity)
        if members.texts and self.type_of(operand) is ValueType.TIMESTAMP:
            for index, text in enumerate(members.texts):
                if not _is_timestamp(text):
                    self._check_timestamp(t.Text(text, span=sets.place_of_text(members, index)))
        elif members.texts:
            some.append(t.Text(members.texts[0], span=sets.place_of_text(members, 0)))
        self._check_values("=", operand, [*some, *members.others])
        if sets.has_empty_range(members):
            self._note_empty(span)

    def _check_pair(self, op: str, left: t.Expression, right: t.Expression, span: Span | None) -> None:
        one, two = self.type_of(left), self.type_of(right)
        if one is ValueType.TIMESTAMP and isinstance(right, t.Text):
            self._check_timestamp(right)
        elif two is ValueType.TIMESTAMP and isinstance(left, t.Text):
            self._check_timestamp(left)
        elif one is None or two is None or (one.numeric and two.numeric):
            return
        elif one is not two:
            self._unlike(left, right, one, two, span)
        elif one is ValueType.BOOL and op not in ("=", "!="):
            self._findings.error("CER031", "bools have no order", span, "compare them with `=` or `!=`")

    def _unlike(
        self, left: t.Expression, right: t.Expression, one: ValueType, two: ValueType, span: Span | None
    ) -> None:
        both_attributes = all(any(leaves.attributes(side)) for side in (left, right))
        correlation = both_attributes and any(a.variable is not None for a in leaves.attributes(left, right))
        what = f"`{to_text(left)}` is {_article(one)} and `{to_text(right)}` is {_article(two)}"
        hint = _likely(left, right, one, two) or _likely(right, left, two, one)
        if hint is None and both_attributes:
            hint = "cast one of the two columns before the query reads them, so that both have the same type"
        code = "CER032" if correlation else "CER031"
        self._findings.error(code, f"{what}: they cannot be compared", span, *((hint,) if hint else ()))

    def _check_timestamp(self, literal: t.Text) -> None:
        if not _is_timestamp(literal.value):
            message = f"{quoted_text(literal.value)} is not a timestamp"
            hint = "timestamps are written as in ISO 8601: '2024-01-31', '2024-01-31T12:30:00.250'"
            self._findings.error("CER035", message, literal.span, hint)

    def _check_ends(self, low: t.Expression | None, high: t.Expression | None, span: Span | None) -> None:
        if isinstance(low, t.Number) and isinstance(high, t.Number) and low.value > high.value:
            self._note_empty(span)

    def _note_empty(self, span: Span | None) -> None:
        self._findings.note("CER106", "the range is empty: its first end is larger than its second", span)

    def _check_regex(self, pattern: str, span: Span | None) -> None:
        if span is not None:
            # The pattern is the last word of LIKE, and a string is written in one way only.
            span = Span(max(span.start, span.end - len(quoted_text(pattern))), span.end)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern)
        except re.error as error:
            where = "" if error.pos is None else f" (character {error.pos + 1})"
            message = f"not a regular expression: {error.msg}{where}"
            self._findings.error(
                "CER034", message, span, "write a `\\` before each special character that is meant as itself"
            )
        except (OverflowError, RecursionError):
            self._findings.error("CER034", "the regular expression is too large", span)


def _unit_slip(
    op: str, values: tuple[t.Expression, t.Expression], kinds: Sequence[ValueType | None]
) -> str | None:
    """What was probably meant by a sum of a time and a plain number, or of a number and a duration."""
    if op not in "+-":
        return None
    for (one, other), (kind, _) in zip((values, values[::-1]), (kinds, kinds[::-1])):
        if kind in _TIMES and isinstance(other, t.Number):
            return f"write the unit: `{to_text(other)} s`"
        if kind is not None and kind.numeric and isinstance(other, t.Quantity):
            return (
                f"`{to_text(one)}` is a plain number, so leave the unit out: `{other.value}`, in its own unit"
            )
    return None


def _scales(op: str, left: ValueType | None, right: ValueType | None) -> bool:
    """Whether a duration is multiplied with or divided by what may be a number."""

    def pair(span: ValueType | None, number: ValueType | None) -> bool:
        return span is ValueType.DURATION and (number is None or number.numeric)

    return (op in "*/" and pair(left, right)) or (op == "*" and pair(right, left))


def _article(kind: ValueType | None) -> str:
    return "a value" if kind is None else WITH_ARTICLE[kind]


def _likely(left: t.Expression, right: t.Expression, one: ValueType, two: ValueType) -> str | None:
    # What was probably meant by comparing a `left` of type `one` with a `right` of type `two`.
    if isinstance(left, t.Call) and left.function == "WEEKDAY" and isinstance(right, t.Text):
        return "days of the week are numbers, from 1 for Monday to 7 for Sunday"
    match one, right:
        case ValueType.STRING, t.Number():
            quoted = f"quote it: `{quoted_text(to_text(right))}`"
            if not isinstance(left, t.Attribute):
                return quoted
            shown = to_text(left)
            return (
                f"{quoted}; if `{shown}` should hold numbers, not all of its values are numbers: correct them"
            )
        case (
            (ValueType.INT64 | ValueType.FLOAT64 | ValueType.DECIMAL),
            t.Text(value=value),
        ) if _is_number(value):
            return f"leave the quotes out: `{value.strip()}`"
        case ((ValueType.INT64 | ValueType.FLOAT64 | ValueType.DECIMAL), t.Text(value=value)):
            shown = to_text(left)
            kind = "times" if _is_timestamp(value) else "text"
            return (
                f"`{shown}` holds numbers: compare it with a number, or cast it to {kind} before the query "
                "reads it"
            )
        case ((ValueType.INT64 | ValueType.FLOAT64), t.Quantity(value=number)):
            return f"`{to_text(left)}` is a plain number, so leave the unit out: `{number}`, in its own unit"
        case ValueType.BOOL, (t.Text() | t.Number()):
            return "a bool is `TRUE` or `FALSE`"
        case ValueType.TIMESTAMP, (t.Number() | t.Quantity() | t.Arithmetic()) if not any(
            leaves.attributes(right)
        ):
            return "a timestamp is written as text, as in '2024-01-31T12:30:00'"
        case ValueType.DURATION, t.Number():
            return f"write the unit: `{to_text(right)} s`"
        case ValueType.DURATION, t.Text():
            return "a duration is written as `5 s`"
    return None


def _is_timestamp(text: str) -> bool:
    try:
        timestamp_nanoseconds(text)
    except (ValueError, OverflowError):
        return False
    return True


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().isascii()


# A per cent sign that no backslash stands before.
_PER_CENT = re.compile(r"(?<!\\)(?:\\\\)*%")


def looks_like_sql(pattern: str) -> bool:
    """Whether a regular expression has a `%` that no backslash makes an ordinary character."""
    return _PER_CENT.search(pattern) is not None


def regex_of(pattern: str) -> str:
    """The regular expression for a pattern of SQL's LIKE: `^AB` for `AB%`."""
    begins, ends = pattern.startswith("%"), pattern.endswith("%")
    parts = [
        re.escape(part).replace("\\ ", " ").replace("\\-", "-") for part in pattern.strip("%").split("%")
    ]
    inner = ".*".join(part for part in parts if part)
    return ("" if begins else "^") + inner + ("" if ends else "$")
