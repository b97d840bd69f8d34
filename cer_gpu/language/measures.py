"""Measures: what an expression of the SELECT list means, what it reads, and its checks (section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.leaves import attributes
from cer_gpu.language.names import NameChecker
from cer_gpu.language.repetition_edges import UnknownRepetitionError, edge_of, is_joint, names_of
from cer_gpu.language.schema import ValueType
from cer_gpu.language.scope import dropped, marks, variables
from cer_gpu.language.types import TypeChecker
from cer_gpu.language.walk import rebuild, walk
from cer_gpu.language.words import trailing, written, written_variable

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


class MeasureChecker:
    """Checks the measures of a query.

    Parameters
    ----------
    query : SelectQuery
    names : NameChecker
    findings : Findings
    """

    def __init__(self, query: t.SelectQuery, names: NameChecker, findings: Findings) -> None:
        self._query = query
        self._names = names
        self._findings = findings
        self._known = marks(query.pattern) if query.measures else {}

    def check(self) -> None:
        """Report what is wrong about the measures."""
        schema = self._names.schema
        time = None if schema is None or schema.order is None else schema.attributes.get(schema.order)
        types = TypeChecker(self._attribute_type, self._findings, time=time)
        for measure in self._query.measures:
            for node in walk(measure.expression):
                if isinstance(node, t.Aggregate):
                    self._check_aggregate(node)
                elif isinstance(node, t.Moment) and schema is not None and schema.order is None:
                    message = f"{node.name} needs to know which column is the time"
                    self._findings.error(
                        "CER044", message, node.span, "name it: order_by='ts' (--order-by ts)"
                    )
            types.type_of(measure.expression)
        self._check_columns()

    def _attribute_type(self, attribute: t.Attribute) -> ValueType | None:
        name = attribute.variable or ""
        place = trailing(attribute.span, attribute.name)
        return self._names.check_attribute(attribute.name, name, self._known.get(name, frozenset()), place)

    def _check_aggregate(self, node: t.Aggregate) -> None:
        if not is_joint(node):
            self._check_variable(node.variable or "", node)
            return
        names = names_of(node)
        for name in sorted(names):
            self._check_variable(name, node)
        if names <= self._known.keys():
            try:
                edge = edge_of(self._query.pattern, names)
            except UnknownRepetitionError as error:
                self._findings.error("CER037", str(error), node.span, error.hint)
            else:
                self._check_edge(edge, node)

    def _check_edge(self, edge: t.RepetitionEdge | None, node: t.Aggregate) -> None:
        """Refuse a list that drops what tells repetitions apart: kept unseen, it would tell answers apart."""
        if edge is None or not self._query.select:
            return
        kept = {item.variable for item in self._query.select} | set(variables_of(self._query.measures))
        for variable in edge.variables:
            if variable not in kept:
                own = written_variable(variable)
                message = f"the repetitions of this measure are told apart by `{own}`, which the list drops"
                hint = f"add `{own}` to the list, or select NONE or * with the measure"
                self._findings.error("CER037", message, node.span, hint)

    def _check_variable(self, variable: str, node: t.Aggregate) -> None:
        if variable in self._known:
            return
        if variable in dropped(self._query.pattern):
            message = f"PROJECT drops `{written_variable(variable)}`: no measure can read it"
            self._findings.error(
                "CER022", message, node.span, f"keep it: `PROJECT(... | {written_variable(variable)})`"
            )
        else:
            self._names.unknown_variable(variable, self._known, self._query.pattern, node.span)

    def _check_columns(self) -> None:
        if not self._query.measures:
            return
        schema, query = self._names.schema, self._query
        taken = {"start": "the first position", "end": "the last position"}
        if schema is not None and schema.order is not None:
            taken |= {"start_time": "the time of the first event", "end_time": "the time of the last event"}
        taken |= {name: "a part of the partition's key" for part in query.partition for name in part[:1]}
        kept = variables(query.pattern) if query.select is None else (item.variable for item in query.select)
        taken |= dict.fromkeys(kept, "the positions of a variable")
        for measure in query.measures:
            if measure.name in taken:
                message = (
                    f"two columns are named `{written(measure.name)}`: the other is {taken[measure.name]}"
                )
                self._findings.error(
                    "CER025", message, trailing(measure.span, measure.name), "give the measure another name"
                )
            taken[measure.name] = "a measure"
