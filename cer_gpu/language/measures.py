"""Measures: what an expression of the SELECT list means, and which variables it reads (section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.leaves import attributes
from cer_gpu.language.walk import rebuild, walk
from cer_gpu.language.words import written, written_variable

MOMENTS = ("START_TIME", "END_TIME", "DURATION")
"""What measures know of the time of a complex event."""


def measure_of(expression: t.Expression, findings: Findings) -> t.Expression:
    """The expression of a measure: `x.a` becomes `FIRST(x.a)`. What a measure may not hold is reported."""
    match expression:
        case t.Attribute(variable=None):
            if expression.name.upper() in MOMENTS:
                return t.Moment(expression.name.upper(), span=expression.span)
            name = written(expression.name)
            message = f"`{name}` belongs to no variable"
            hint = f"name the variable whose events are meant: `LAST(x.{name}) AS last`"
            findings.error("CER010", message, expression.span, hint)
        case t.Attribute(variable=str(variable)):
            made = t.Aggregate("FIRST", expression, variable, expression.prior, span=expression.span)
            return measure_of(made, findings)
        case t.Aggregate(prior="PRIOR" | "BEFORE" as word, variable=str(variable)):
            shown = written_variable(variable)
            message = (
                f"{word}({shown}) is for filters inside a repetition; a measure is one value of the whole "
                "match"
            )
            hint = f"write `FIRST({shown}.a)` or `LAST({shown}.a)`"
            if word == "BEFORE":
                hint = f"leave it out: `{expression.function}({shown}{'.a' if expression.argument else ''})`"
            findings.error("CER027", message, expression.span, hint)
        case t.Aggregate(argument=argument) if argument is not None:
            for part in walk(argument):
                if isinstance(part, t.Previous):
                    measure_of(part, findings)
                elif isinstance(part, t.Attribute) and part.prior:
                    measure_of(
                        t.Aggregate("FIRST", part, part.variable, part.prior, span=part.span), findings
                    )
        case t.Previous():
            message = "PREV is a value of one event, and a measure is one value of the whole match"
            name = written(expression.attribute.name)
            hint = (
                f"name both events and select from both: `SELECT a[{name}], b[{name}] ... WHERE T AS a : T "
                "AS b`"
            )
            findings.error("CER038", message, expression.span, hint)
        case t.Arithmetic() | t.Negation() | t.Call():
            return rebuild(expression, lambda part: measure_of(part, findings))
    return expression


def variables_of(measures: Iterable[t.SelectMeasure]) -> Iterator[str]:
    """The variables that measures read, in the order of the text."""
    for node in walk(tuple(measures)):
        if isinstance(node, t.Aggregate):
            if node.variable is not None:
                yield node.variable
            elif node.argument is not None:
                yield from (str(one.variable) for one in attributes(node.argument))
                if node.edge is not None:
                    yield from node.edge.variables


def with_what_is_read(
    items: Iterable[t.SelectItem], measures: Iterable[t.SelectMeasure]
) -> tuple[t.SelectItem, ...]:
    """The items of a SELECT list, and one for each further variable that its measures read."""
    listed = list(items)
    names = {item.variable for item in listed}
    read = dict.fromkeys(name for name in variables_of(measures) if name not in names)
    return (*listed, *map(t.SelectItem, read))
