"""The types of functions, aggregates and measures (sections 2 and 4)."""

from __future__ import annotations

from collections.abc import Sequence

from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType

_NUMBERS = frozenset({ValueType.INT64, ValueType.FLOAT64, ValueType.DECIMAL})
_DATES = frozenset({ValueType.TIMESTAMP})
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
    match function:
        case "COALESCE":
            return _of_coalesce(arguments, kinds, findings)
        case "ABS":
            takes, what = _NUMBERS | {ValueType.DURATION}, "a number or a duration"
            gives = kinds[0]
        case "FLOOR" | "CEIL" | "ROUND":
            takes, what, gives = _NUMBERS, "a number", ValueType.INT64
        case "LOWER" | "UPPER":
            takes, what, gives = frozenset({ValueType.STRING}), "a string", ValueType.STRING
        case "LENGTH":
            takes, what, gives = frozenset({ValueType.STRING}), "a string", ValueType.INT64
        case "DATE":
            takes, what, gives = _DATES, "a timestamp", ValueType.TIMESTAMP
        case _:
            takes, what, gives = _DATES, "a timestamp", ValueType.INT64
    if kinds[0] is None or kinds[0] in takes:
        return gives
    shown = to_text(arguments[0])
    message = f"{function} takes {what}, and `{shown}` is of type {kinds[0].value}"
    findings.error("CER029", message, arguments[0].span)
    return None


def _of_coalesce(
    arguments: Sequence[t.Expression], kinds: Sequence[ValueType | None], findings: Findings
) -> ValueType | None:
    known = [(kind, argument) for kind, argument in zip(kinds, arguments) if kind is not None]
    if len({kind.numeric or kind for kind, _ in known}) > 1:
        what = " and ".join(f"`{to_text(argument)}` is {kind.value}" for kind, argument in known)
        findings.error("CER029", f"the values of COALESCE must have one type: {what}", arguments[0].span)
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
    if function in ("SUM", "AVG"):
        takes, what = _NUMBERS, "numbers"
    if kind is not None and kind not in takes and argument is not None:
        message = f"{function} takes {what}, and `{to_text(argument)}` is of type {kind.value}"
        findings.error("CER037", message, argument.span)
        return None
    return ValueType.FLOAT64 if function == "AVG" else kind


def of_moment(name: str, time: ValueType | None) -> ValueType | None:
    """The type of START_TIME, END_TIME and DURATION where the order attribute is of type `time`."""
    return ValueType.DURATION if name == "DURATION" and time is ValueType.TIMESTAMP else time
