"""The types of functions, aggregates and measures (sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.functions import PREDICATES, TEXTS
from cer_gpu.language.leaves import attributes
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.words import written_variable

_NUMBERS = frozenset({ValueType.INT64, ValueType.FLOAT64, ValueType.DECIMAL})
_DATES = frozenset({ValueType.TIMESTAMP})
_WHOLE = frozenset({ValueType.INT64})
_TEXT = frozenset({ValueType.STRING})
_ORDERED = frozenset(ValueType) - {ValueType.BOOL}


def of_call(
    function: str, arguments: Sequence[t.Expression], kinds: Sequence[ValueType | None], findings: Findings
) -> ValueType | None:
    """The type of a function of one event; None where it is not known or has been reported to be wrong.

    Parameters
    ----------
    function : str
        In capitals.
    arguments : sequence of Expression
    kinds : sequence of ValueType or None
        The type of each argument.
    findings : Findings
    """
    also: tuple[_Taken, ...] = ()
    match function:
        case "COALESCE" | "GREATEST" | "LEAST":
            return _of_one_type(function, arguments, kinds, findings)
        case "ABS":
            takes, what = _NUMBERS | {ValueType.DURATION}, "a number or a duration"
            gives = kinds[0]
        case "FLOOR" | "CEIL" | "ROUND":
            takes, what, gives = _NUMBERS, "a number", ValueType.INT64
        case "SQRT" | "EXP" | "LN" | "SIGN" | "POWER":
            takes, what, gives = _NUMBERS, "a number", ValueType.FLOAT64
            also = ((_NUMBERS, "a number"),)
        case "LENGTH":
            takes, what, gives = _TEXT, "a string", ValueType.INT64
        case _ if function in TEXTS or function in PREDICATES:
            takes, what = _TEXT, "a string"
            gives = ValueType.STRING if function in TEXTS else ValueType.BOOL
            also = _AFTER_TEXT.get(function, ((_TEXT, "a string"),))
        case "DATE":
            takes, what, gives = _DATES, "a timestamp", ValueType.TIMESTAMP
        case _:
            takes, what, gives = _DATES, "a timestamp", ValueType.INT64
    fits = True
    for place, (taken, called) in enumerate(((takes, what), *also)[: len(arguments)]):
        argument, kind = arguments[place], kinds[place]
        if kind is not None and kind not in taken:
            where = f" as its {_PLACES[place]} value" if place else ""
            message = f"{function} takes {called}{where}, and `{to_text(argument)}` is of type {kind.value}"
            findings.error("CER029", message, argument.span)
            fits = False
    return gives if fits else None


_Taken: TypeAlias = tuple[frozenset[ValueType], str]
"""The types that a function takes in one place, and what to call them."""

_PLACES = ("first", "second", "third")

_AFTER_TEXT: Mapping[str, tuple[_Taken, ...]] = {
    "SUBSTRING": ((_WHOLE, "a whole number"), (_WHOLE, "a whole number")),
    "REPLACE": ((_TEXT, "a string"), (_TEXT, "a string")),
    "SPLIT_PART": ((_TEXT, "a string"), (_WHOLE, "a whole number")),
}
"""What functions of a text take behind it."""


def _of_one_type(
    function: str, arguments: Sequence[t.Expression], kinds: Sequence[ValueType | None], findings: Findings
) -> ValueType | None:
    known = [(kind, argument) for kind, argument in zip(kinds, arguments) if kind is not None]
    if len({kind.numeric or kind for kind, _ in known}) > 1:
        what = " and ".join(f"`{to_text(argument)}` is {kind.value}" for kind, argument in known)
        findings.error("CER029", f"the values of {function} must have one type: {what}", arguments[0].span)
        return None
    if function != "COALESCE" and ValueType.BOOL in (kind for kind, _ in known):
        findings.error(
            "CER029", f"{function} takes values with an order, and bools have none", arguments[0].span
        )
        return None
    if len(known) < len(kinds):
        return None
    found = {kind for kind, _ in known}
    return ValueType.FLOAT64 if len(found) > 1 else found.pop()


def of_aggregate(aggregate: t.Aggregate, kind: ValueType | None, findings: Findings) -> ValueType | None:
    """The type of an aggregate, whose argument is of type `kind`; None as in `of_call`."""
    function, argument = aggregate.function, aggregate.argument
    if function == "COUNT":
        return ValueType.INT64
    takes, what = (
        (frozenset(ValueType), "") if function in ("FIRST", "LAST") else (_ORDERED, "values with an order")
    )
    if function == "AVG":
        takes, what = _NUMBERS, "numbers"
    elif function == "SUM":
        takes, what = _NUMBERS | {ValueType.DURATION}, "numbers and lengths of time"
    if kind is not None and kind not in takes and argument is not None:
        message = f"{function} takes {what}, and `{to_text(argument)}` is of type {kind.value}"
        hints: list[str] = []
        if function == "AVG" and kind is ValueType.DURATION and (read := next(attributes(argument), None)):
            counted = written_variable(read.variable or "x")
            hints = [f"divide the sum: `SUM({to_text(argument)}) / COUNT({counted})`"]
        findings.error("CER037", message, argument.span, *hints)
        return None
    return ValueType.FLOAT64 if function == "AVG" else kind


def of_moment(name: str, time: ValueType | None) -> ValueType | None:
    """The type of START_TIME, END_TIME and DURATION where the order attribute is of type `time`."""
    return ValueType.DURATION if name == "DURATION" and time is ValueType.TIMESTAMP else time
