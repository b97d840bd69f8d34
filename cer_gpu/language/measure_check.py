"""Checking measures: their variables, types and names (section 2)."""

from __future__ import annotations

from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.measures import variables_of
from cer_gpu.language.names import NameChecker
from cer_gpu.language.places import trailing
from cer_gpu.language.repetition_edges import UnknownRepetitionError, edge_of, is_joint, names_of
from cer_gpu.language.schema import ValueType
from cer_gpu.language.scope import dropped, marks, variables
from cer_gpu.language.types import TypeChecker
from cer_gpu.language.walk import walk
from cer_gpu.language.words import written, written_variable


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
