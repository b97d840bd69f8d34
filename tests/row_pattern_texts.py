"""Short texts for what a MATCH_RECOGNIZE is read as: a test compares them at a glance."""

from __future__ import annotations

from typing import Any

from cer_gpu.patterns.statement import read_statement
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
    Variable,
)


def clause_of(body: str, dialect: str | None = None, **params: Any) -> RowPatternClause:
    """The clause over `trades` with this text between its parentheses."""
    statement = read_statement(f"SELECT * FROM trades MATCH_RECOGNIZE (\n{body}\n)", dialect, params)
    return statement.clauses[0]


def measure_of(expression: str, dialect: str | None = None, **params: Any) -> str:
    """The text of a measure over the variables a, b and their union u."""
    body = f"MEASURES {expression} AS m PATTERN (a b) SUBSET u = (a, b)"
    return scalar_text(clause_of(body, dialect, **params).measures[0].expression)


def condition_of(expression: str, dialect: str | None = None) -> str:
    """The text of the condition of b."""
    return scalar_text(clause_of(f"PATTERN (a b) DEFINE b AS {expression}", dialect).definitions[0].condition)


def scalar_text(scalar: Scalar) -> str:
    """A scalar: `(+ last[A](price) 1)`; a number of rows that is gone on stands before the bracket, an offset
    behind the parenthesis."""
    match scalar:
        case ScalarConstant(value):
            return repr(value)
        case Field(name):
            return name
        case MatchedVariable():
            return "classifier"
        case MatchNumber():
            return "match number"
        case Operation(name, operands, detail):
            told = "" if detail is None else f":{detail}"
            return f"({' '.join([name + told, *map(scalar_text, operands)])})"
        case Navigation(expression, variables, which, skip, offset, final):
            rows = f"[{','.join(sorted(variables))}]" if variables else ""
            beside = f"{offset:+d}" if offset else ""
            return f"{which}{skip or ''}{rows}({scalar_text(expression)}){beside}{' final' * final}"
        case RowAggregate(function, expression, variables, distinct, final):
            rows = f"[{','.join(sorted(variables))}]" if variables else ""
            inside = "*" if expression is None else scalar_text(expression)
            return f"{function}{rows}({'distinct ' * distinct}{inside}){' final' * final}"
    raise AssertionError(scalar)


def pattern_text(pattern: RowPattern) -> str:
    """A pattern: groups in parentheses, every quantifier in braces."""
    match pattern:
        case Variable(name):
            return name
        case Concatenation(parts):
            return f"({' '.join(map(pattern_text, parts))})"
        case Alternation(options):
            return f"({' | '.join(map(pattern_text, options))})"
        case Permutation(parts):
            return f"permute({', '.join(map(pattern_text, parts))})"
        case Exclusion(body):
            return f"{{- {pattern_text(body)} -}}"
        case Anchor(place):
            return place
        case Quantified(body, least, most, reluctant):
            return f"{pattern_text(body)}{{{least},{'' if most is None else most}}}{'?' * reluctant}"
    raise AssertionError(pattern)
