"""Clauses of MATCH_RECOGNIZE written as SQL: a case that fails can be read, and the reader is tried, too."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from cer_gpu.patterns.tree import (
    Alternation,
    Anchor,
    Concatenation,
    Exclusion,
    Field,
    MatchedVariable,
    MatchNumber,
    Navigation,
    Operation,
    Permutation,
    Quantified,
    RowAggregate,
    RowPattern,
    RowPatternClause,
    Scalar,
    ScalarConstant,
    SkipMode,
    Variable,
)

CALLS = {
    "mod": "MOD",
    "nullif": "NULLIF",
    "greatest": "GREATEST",
    "least": "LEAST",
    "coalesce": "COALESCE",
    "abs": "ABS",
    "sign": "SIGN",
    "ceil": "CEIL",
    "floor": "FLOOR",
    "round": "ROUND",
    "sqrt": "SQRT",
    "upper": "UPPER",
    "lower": "LOWER",
    "length": "LENGTH",
    "trim": "TRIM",
    "ltrim": "LTRIM",
    "rtrim": "RTRIM",
    "substring": "SUBSTRING",
    "replace": "REPLACE",
    "starts_with": "STARTS_WITH",
    "ends_with": "ENDS_WITH",
    "contains": "CONTAINS",
    "add_months": "ADD_MONTHS",
    "regexp": "REGEXP_LIKE",
}
AGGREGATE_NAMES = {
    "array": "ARRAY_AGG",
    "text": "LISTAGG",
    "any": "ANY_VALUE",
    "variance": "VAR_POP",
    "sample variance": "VARIANCE",
    "deviation": "STDDEV_POP",
    "sample deviation": "STDDEV",
    "min by": "MIN_BY",
    "max by": "MAX_BY",
}
BETWEEN = {"+": "+", "-": "-", "*": "*", "/": "/", "//": "DIV", "%": "%", "||": "||"}
BETWEEN |= {name: name for name in ("=", "<>", "<", "<=", ">", ">=")}
BETWEEN |= {"and": "AND", "or": "OR", "distinct from": "IS DISTINCT FROM"}


class SqlWriter:
    """Writes expressions of a clause.

    Parameters
    ----------
    names : mapping of frozenset of str to str
        The names of union variables.
    """

    def __init__(self, names: Mapping[frozenset[str], str]) -> None:
        self._names = names

    def scalar(self, node: Scalar, variables: frozenset[str] | None = None) -> str:
        """An expression; columns in it are of rows of `variables`."""
        match node:
            case ScalarConstant(value):
                return constant(value)
            case Field(name):
                return name if variables is None else f"{self._name(variables)}.{name}"
            case MatchedVariable():
                return "CLASSIFIER()" if variables is None else f"CLASSIFIER({self._name(variables)})"
            case MatchNumber():
                return "MATCH_NUMBER()"
            case Operation():
                return self._operation(node, variables)
            case Navigation():
                return self._navigation(node)
            case RowAggregate(function, expression, rows, distinct, final):
                if expression is None:
                    inside = "*" if rows is None else f"{self._name(rows)}.*"
                elif isinstance(expression, Operation) and expression.name == "pair":
                    inside = ", ".join(self.scalar(one, rows) for one in expression.operands)
                else:
                    inside = self.scalar(expression, rows)
                called = AGGREGATE_NAMES.get(function, function.upper())
                return f"{'FINAL ' * final}{called}({'DISTINCT ' * distinct}{inside})"
        raise AssertionError(node)

    def _name(self, variables: frozenset[str]) -> str:
        return self._names[variables] if variables in self._names else "".join(variables)

    def _navigation(self, node: Navigation) -> str:
        inside = self.scalar(node.expression, node.variables)
        bare = isinstance(node.expression, Field | MatchedVariable)
        plain = node.which == "last" and node.skip == 0 and not node.final
        if plain and bare and node.offset == 0:
            return inside
        if not plain or node.offset == 0:
            skip = f", {node.skip}" if node.skip else ""
            inside = f"{'FINAL ' * node.final}{node.which.upper()}({inside}{skip})"
        if node.offset == 0:
            return inside
        return f"{'PREV' if node.offset < 0 else 'NEXT'}({inside}, {abs(node.offset)})"

    def _operation(self, node: Operation, variables: frozenset[str] | None) -> str:
        values = [self.scalar(operand, variables) for operand in node.operands]
        name = node.name
        if name in BETWEEN:
            return f"({f' {BETWEEN[name]} '.join(values)})"
        if name in CALLS:
            return f"{CALLS[name]}({', '.join(values)})"
        match name:
            case "neg":
                return f"(- {values[0]})"
            case "not":
                return f"(NOT {values[0]})"
            case "is null" | "is true":
                return f"({values[0]} {name.upper()})"
            case "in":
                return f"({values[0]} IN ({', '.join(values[1:])}))"
            case "like" | "ilike":
                escape = f" ESCAPE '{node.detail}'" if node.detail else ""
                return f"({values[0]} {name.upper()} {values[1]}{escape})"
            case "case":
                pairs = zip(values[:-1:2], values[1::2])
                whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
                return f"CASE {whens} ELSE {values[-1]} END"
            case "position":
                return f"POSITION({values[0]} IN {values[1]})"
            case "extract":
                return f"EXTRACT({node.detail.upper()} FROM {values[0]})"
            case "date_trunc":
                return f"DATE_TRUNC('{node.detail}', {values[0]})"
            case "date_diff":
                return f"TIMESTAMPDIFF({node.detail.upper()}, {values[0]}, {values[1]})"
        raise AssertionError(name)


def constant(value: Any) -> str:
    """A literal."""
    match value:
        case None | bool():
            return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
        case float():
            return f"{value!r}e0" if "e" not in repr(value) else repr(value)
        case int() | Decimal():
            return str(value)
        case datetime():
            return f"TIMESTAMP '{value}'"
        case date():
            return f"DATE '{value}'"
        case timedelta():
            return f"INTERVAL '{value // timedelta(seconds=1)}' SECOND"
    return "'" + value.replace("'", "''") + "'"


def pattern_sql(pattern: RowPattern) -> str:
    """A row pattern."""
    match pattern:
        case Variable(name):
            return name
        case Concatenation(parts):
            return f"({' '.join(map(pattern_sql, parts))})"
        case Alternation(options):
            return f"({' | '.join(map(pattern_sql, options))})"
        case Permutation(parts):
            return f"PERMUTE({', '.join(map(pattern_sql, parts))})"
        case Exclusion(body):
            return f"{{- {pattern_sql(body)} -}}"
        case Anchor(place):
            return place
        case Quantified(body, least, most, reluctant):
            short = {(0, None): "*", (1, None): "+", (0, 1): "?"}
            bounds = short.get((least, most))
            if bounds is None:
                bounds = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
            return f"{_group(body)}{bounds}{'?' * reluctant}"
    raise AssertionError(pattern)


def _group(body: RowPattern) -> str:
    text = pattern_sql(body)
    return f"({text})" if isinstance(body, Quantified | Anchor | Exclusion) else text


def clause_sql(clause: RowPatternClause) -> str:
    """A statement with a clause."""
    writer = SqlWriter({variables: name for name, variables in clause.subsets.items()})
    lines = []
    if clause.partition_by:
        lines.append(f"PARTITION BY {', '.join(clause.partition_by)}")
    if clause.order_by:
        keys = (
            key.column + " DESC" * key.descending + (" NULLS FIRST" if key.nulls_first else " NULLS LAST")
            for key in clause.order_by
        )
        lines.append(f"ORDER BY {', '.join(keys)}")
    if clause.measures:
        measures = (f"{writer.scalar(one.expression)} AS {one.name}" for one in clause.measures)
        lines.append(f"MEASURES {', '.join(measures)}")
    lines.append(clause.rows.value)
    skip = clause.skip
    to = f" {skip.name}" if skip.mode in (SkipMode.TO_FIRST, SkipMode.TO_LAST) else ""
    lines.append(f"AFTER MATCH {skip.mode.value}{to}")
    within = ""
    if clause.within is not None:
        within = f" WITHIN INTERVAL '{clause.within // timedelta(seconds=1)}' SECOND"
    lines.append(f"PATTERN ({pattern_sql(clause.pattern)}){within}")
    if clause.subsets:
        subsets = (f"{name} = ({', '.join(sorted(of))})" for name, of in clause.subsets.items())
        lines.append(f"SUBSET {', '.join(subsets)}")
    if clause.definitions:
        definitions = (f"{one.variable} AS {writer.scalar(one.condition)}" for one in clause.definitions)
        lines.append(f"DEFINE {', '.join(definitions)}")
    body = "\n  ".join(lines)
    return f"SELECT * FROM {clause.source} MATCH_RECOGNIZE (\n  {body}\n)"
