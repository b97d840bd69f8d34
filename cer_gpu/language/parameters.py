"""Parameters: `$name` stands for a value that comes with the call, of the type that its place asks for.

A parameter that is only compared, `price > $p`, needs no new plan for a new value. One that gives a number of
repetitions, or an argument of a function, does (`shaping`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np

from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.leaves import attributes_of
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.types import TypeChecker
from cer_gpu.language.units import unit_named
from cer_gpu.language.walk import has_parameter, parts, rebuild_all, walk
from cer_gpu.printable_text import brief

_SPAN = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")
_EVENTS = re.compile(r"\s*(\d+)\s*events?\s*", re.IGNORECASE)

Part = TypeVar("Part")
Kept = TypeVar("Kept")

_LEAVES = (t.Comparison, t.InRange, t.InSet)

REMEMBERED = 1 << 12
"""The most values of a place, of WITHIN and SUPPRESS, or axes of a plan, that are remembered."""

SCALARS = (str, bytes, bool, int, float, complex)
"""Two values of one of these types that are equal mean the same."""


class WrittenParameter(str):
    """The value of a parameter as it was typed in a shell: its place says whether it is a number."""


def told(given: Mapping[str, Any], names: tuple[str, ...]) -> Hashable | None:
    """Something that only equal values of these parameters have; None where their type has no such thing."""
    found = []
    for name in names:
        value = given[name]
        if type(value) not in SCALARS:
            return None
        found += [type(value), value]
    return tuple(found)


def remembered(known: dict[Hashable, Kept], values: Hashable | None, found: Kept) -> Kept:
    """What was found for some values, remembered for the next call with equal ones."""
    if values is not None and len(known) < REMEMBERED:
        known[values] = found
    return found


def parameters(statement: Any) -> dict[str, Span | None]:
    """The parameters of a statement, or of a part of one, with the place where each is first written."""
    found: dict[str, Span | None] = {}
    for node in walk(statement):
        if isinstance(node, t.Parameter):
            found.setdefault(node.name, node.span)
    return found


def free_places(statement: t.Statement) -> tuple[tuple[str, ...], ...]:
    """The parameters of each comparison, of WITHIN and of SUPPRESS, which are checked each by itself.

    All parameters that are not `shaping` are among them.
    """
    found = (tuple(parameters(part)) for part in (*_free_leaves(statement), *clauses(statement).values()))
    return tuple(dict.fromkeys(names for names in found if names))


def clauses(statement: t.Statement) -> dict[str, t.Window | t.Suppress]:
    """WITHIN and SUPPRESS of a statement, by the names of their fields."""
    found = ((name, getattr(statement, name, None)) for name in ("window", "suppress"))
    return {name: clause for name, clause in found if clause is not None}


def clause_parameters(statement: t.Statement) -> tuple[str, ...]:
    """The parameters of WITHIN and of SUPPRESS."""
    return tuple(name for clause in clauses(statement).values() for name in parameters(clause))


def shaping(statement: t.Statement) -> frozenset[str]:
    """The parameters that need a plan for each value: all but those in comparisons and of whole clauses.

    These clauses are WITHIN and SUPPRESS.
    """
    parts = (part for leaf in _free_leaves(statement) for part in walk(leaf))
    free = {part.name for part in parts if isinstance(part, t.Parameter)}
    window = getattr(statement, "window", None)
    if window is not None and window.parameter is not None and not _is_followed(statement):
        free.add(window.parameter.name)
    suppress = getattr(statement, "suppress", None)
    if suppress is not None and suppress.length.parameter is not None:
        free.add(suppress.length.parameter.name)
    return frozenset(parameters(statement)) - (free - _bound_elsewhere(statement))


def _free_leaves(statement: t.Statement) -> Iterator[t.Comparison | t.InRange | t.InSet]:
    for node in walk(statement):
        if isinstance(node, _LEAVES) and _is_free(node):
            yield node


def _is_followed(statement: t.Statement) -> bool:
    """Whether the window may be part of what partial matches keep: beside intervals and comparisons."""
    if isinstance(statement, t.Rule):
        return False
    return any(
        isinstance(part, t.Timed | t.Aggregate)
        or getattr(part, "gap", None) is not None
        or (isinstance(part, t.Attribute) and part.variable is not None)
        for part in walk(getattr(statement, "pattern", None))
    )


def _is_free(leaf: t.Comparison | t.InRange | t.InSet) -> bool:
    inside = any(
        (isinstance(part, t.Call | t.Previous) and has_parameter(part))
        or isinstance(part, t.Aggregate)
        or (isinstance(part, t.Attribute) and part.variable is not None)
        for part in walk(leaf)
    )
    return not inside and any(attributes_of(side) for side in parts(leaf))


def _bound_elsewhere(statement: t.Statement) -> set[str]:
    """The parameters that stand anywhere but in a free leaf, as the window or in SUPPRESS."""
    found: set[str] = set()
    waiting: list[Any] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _LEAVES) and _is_free(node):
            continue
        if isinstance(node, t.Window | t.Suppress):
            continue
        if isinstance(node, t.Parameter):
            found.add(node.name)
        elif isinstance(node, tuple):
            waiting += node
        elif isinstance(node, t.Members):
            waiting += (*node.others, *node.lows, *node.highs)
        elif is_dataclass(node) and not isinstance(node, Span):
            waiting += [getattr(node, field.name) for field in fields(node)]
    return found


def check_given(asked: Mapping[str, Span | None], given: Mapping[str, Any], text: str) -> None:
    """Raise if a parameter has no value, or a value no parameter; `asked` is from `parameters`.

    Raises
    ------
    QueryError
        CER064 or CER065, for each such name.
    """
    findings = [
        Diagnostic(
            "CER064",
            f"the parameter `${name}` has no value",
            span,
            hints=(f"pass it: params={{'{name}': ...}} (--param {name}=...)",),
        )
        for name, span in asked.items()
        if name not in given
    ]
    findings += unknown(asked, given)
    if findings:
        raise QueryError(findings, text)


def check_known(asked: Iterable[str], given: Iterable[str], text: str) -> None:
    """Raise if a value has no parameter; parameters may lack a value.

    Raises
    ------
    QueryError
        CER065, for each such name.
    """
    if findings := unknown(tuple(asked), given):
        raise QueryError(findings, text)


def unknown(
    asked: Collection[str], given: Iterable[str], what: str = "query", example: str = "x[price > $limit]"
) -> list[Diagnostic]:
    """A finding for each value that has no parameter.

    Parameters
    ----------
    asked : collection of str
        The parameters.
    given : iterable of str
        The names of the values.
    what : str
        What has the parameters, in words.
    example : str
        How one is written.
    """
    known = f"it has {', '.join(f'`${name}`' for name in asked)}"
    if not asked:
        known = f"it has no parameters; one is written with a dollar sign, as in `{example}`"
    return [
        Diagnostic("CER065", f"the {what} has no parameter `${name}`", None, hints=(known,))
        for name in given
        if name not in asked
    ]


def with_values(statement: Part, given: Mapping[str, Any], schema: Schema | None, text: str) -> Part:
    """A statement in which values replace some of its parameters.

    Parameters
    ----------
    statement : Query, Rule, or a part of one
    given : mapping of str to object
        Values of the parameters that are replaced; others stay.
    schema : Schema or None
        Decides which type of value a place takes.
    text : str
        The text of the statement, for messages.

    Raises
    ------
    QueryError
        When a value does not fit its place.
    """
    filler = _Filler(given, schema)
    found: Part = filler.filled(statement)
    if filler.errors:
        raise QueryError(filler.errors, text)
    return found


@dataclass(frozen=True, slots=True)
class GivenAmount:
    """A number with a unit, or without."""

    value: int | float
    unit: str | None


class _Filler:
    def __init__(self, given: Mapping[str, Any], schema: Schema | None) -> None:
        self._given = given
        kinds = {} if schema is None else schema.attributes
        self._types = TypeChecker(
            lambda attribute: kinds.get(attribute.name),
            Findings(),
            lambda previous: kinds.get(previous.attribute.name),
        )
        self.errors: list[Diagnostic] = []

    def filled(self, node: Any, beside: t.Expression | None = None) -> Any:
        """A part of the statement with values; `beside` is what an expression in it is compared with."""
        match node:
            case t.Parameter(name=name):
                return self._constant(node, beside) if name in self._given else node
            case t.Comparison(left=left, right=right):
                return replace(node, left=self.filled(left, right), right=self.filled(right, left))
            case t.InRange(operand=operand, low=low, high=high):
                ends = [None if end is None else self.filled(end, operand) for end in (low, high)]
                return replace(node, operand=self.filled(operand, low or high), low=ends[0], high=ends[1])
            case t.InSet(operand=operand, members=members):
                return replace(node, operand=self.filled(operand), members=self._members(members, operand))
            case t.Call(arguments=arguments):
                others = [next((one for one in arguments if one is not own), beside) for own in arguments]
                return replace(node, arguments=tuple(map(self.filled, arguments, others)))
            case t.Like(parameter=t.Parameter(name=name) as parameter) if name in self._given:
                return replace(node, pattern=self._text(parameter), parameter=None)
            case t.Previous(parameter=t.Parameter(name=name) as parameter) if name in self._given:
                return replace(node, distance=self._count(parameter, 1), parameter=None)
            case t.Bound(parameter=t.Parameter(name=name) as parameter) if name in self._given:
                amount = self._amount(parameter, node.unit)
                return replace(node, value=amount.value, unit=amount.unit, parameter=None)
            case t.Window(parameter=t.Parameter(name=name) as parameter) if name in self._given:
                return self._window(node, parameter)
            case t.Times():
                return self._times(node)
        return rebuild_all(node, self.filled)

    # ------------------------------------------------------------------------------------- constants

    def _constant(self, parameter: t.Parameter, beside: t.Expression | None) -> t.Expression:
        kind = None if beside is None or isinstance(beside, t.Parameter) else self._types.type_of(beside)
        value, span = plain_value(self._given[parameter.name]), parameter.span
        if isinstance(value, WrittenParameter) and kind not in (ValueType.STRING, ValueType.TIMESTAMP):
            value = _typed(value)
        if isinstance(value, bool):
            return t.Boolean(value, span=span)
        if isinstance(value, int | float) and -(2**63) <= value < 2**64:
            return t.Number(value, span=span)
        if isinstance(value, GivenAmount):
            return t.Quantity(value.value, value.unit or "ns", span=span)
        if isinstance(value, str):
            amount = amount_of(value) if kind is ValueType.DURATION else None
            if amount is not None:
                return t.Quantity(amount.value, amount.unit or "ns", span=span)
            return t.Text(str(value), span=span)
        self._refuse(parameter, "a number, a text, a bool, a time or a length of time is needed here")
        return parameter

    def _members(self, members: t.Members, operand: t.Expression) -> t.Members:
        if not has_parameter(members):
            return members
        constants = [self.filled(one, operand) for one in members.constants]
        ranges = [tuple(self.filled(end, operand) for end in pair) for pair in members.ranges]
        return t.Members.of(*constants, ranges=ranges, start=members.start)

    def _text(self, parameter: t.Parameter) -> str:
        value = self._given[parameter.name]
        if isinstance(value, str):
            return str(value)
        self._refuse(parameter, "LIKE takes a regular expression, as a text")
        return ""

    # --------------------------------------------------------------------------------------- amounts

    def _count(self, parameter: t.Parameter, least: int) -> int:
        value = plain_value(self._given[parameter.name])
        value = _typed(value) if isinstance(value, WrittenParameter) else value
        if isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31:
            return value
        self._refuse(parameter, f"a whole number of at least {least} is needed here")
        return max(least, 1)

    def _times(self, node: t.Times) -> t.Times:
        least, most = node.least_parameter, node.most_parameter
        if least is not None and least.name in self._given:
            node = replace(node, least=self._count(least, 1), least_parameter=None)
        if most is not None and most.name in self._given:
            node = replace(node, most=self._count(most, 1), most_parameter=None)
        open_ = node.least_parameter is not None or node.most_parameter is not None
        if node.most is not None and node.most < node.least and not open_:
            hint = "the larger number of repetitions must not be below the smaller one"
            self._refuse(most or least or t.Parameter(""), hint)
        return node

    def _amount(self, parameter: t.Parameter, unit: str | None) -> GivenAmount:
        """A number in a unit that the query says, or with its own."""
        value = plain_value(self._given[parameter.name])
        if isinstance(value, str):
            value = amount_of(value) or _typed(WrittenParameter(value))
        if isinstance(value, GivenAmount) and (unit is None or value.unit is None):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
            return GivenAmount(value, unit)
        fit = f"a number of {unit}" if unit is not None else "a length such as '5 min', or a number"
        self._refuse(parameter, f"{fit}, 0 or more, is needed here")
        return GivenAmount(1, unit)

    def _window(self, window: t.Window, parameter: t.Parameter) -> t.Window:
        if window.kind == "events":
            return replace(window, size=self._count(parameter, 0), parameter=None)
        value = self._given[parameter.name]
        events = _EVENTS.fullmatch(value) if isinstance(value, str) else None
        if window.kind == "parameter" and events is not None:
            return replace(window, kind="events", size=int(events[1]), parameter=None)
        amount = self._amount(parameter, None if window.kind == "parameter" else window.unit)
        if window.kind == "attribute":
            return replace(window, size=amount.value, parameter=None)
        if amount.unit is None:
            self._refuse(parameter, "a length such as '5 min' or '100 events' is needed here")
            return replace(window, kind="events", parameter=None)
        return replace(window, kind="time", size=amount.value, unit=amount.unit, parameter=None)

    def _refuse(self, parameter: t.Parameter, hint: str) -> None:
        if any(error.span == parameter.span for error in self.errors):
            return
        value = self._given.get(parameter.name)
        shown = to_text(parameter)
        message = f"the value of `{shown}`, {brief(value)}, does not fit its place"
        self.errors.append(Diagnostic("CER066", message, parameter.span, hints=(hint,)))


def plain_value(value: Any) -> Any:
    """A value of NumPy, pandas or the standard library as a number, a text, or an amount of time."""
    if isinstance(value, np.timedelta64):
        return GivenAmount(int(value.astype("timedelta64[ns]").astype(np.int64)), "ns")
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, timedelta):
        nanoseconds = getattr(value, "nanoseconds", 0)  # of pandas
        whole = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
        return GivenAmount(whole * 1_000 + nanoseconds, "ns")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _typed(value: WrittenParameter) -> Any:
    """What is typed in a shell, where its place asks for no text: a number, a bool, a span, or a text."""
    found = bool_or_number(value)
    return found if found is not None else amount_of(value) or str(value)


def bool_or_number(text: str) -> bool | int | float | None:
    """What is typed in a shell as a bool or a number; None for another text."""
    lower = text.strip().lower()
    if lower in ("true", "false"):
        return lower == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return None


def amount_of(text: str) -> GivenAmount | None:
    """`5 min` as an amount; None for another text."""
    found = _SPAN.fullmatch(text)
    unit = None if found is None else unit_named(found[2])
    if found is None or unit is None:
        return None
    return GivenAmount(float(found[1]) if "." in found[1] else int(found[1]), unit)
