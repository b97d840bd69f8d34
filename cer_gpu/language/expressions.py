"""Expressions, predicates and conditions: the part of the syntax tree that speaks of events.

Small frozen values, as all of `cer_gpu.language.tree`, which has their names too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from cer_gpu.errors import Span

__all__ = [
    "Arithmetic",
    "Attribute",
    "Boolean",
    "Both",
    "Comparison",
    "Condition",
    "Either",
    "Every",
    "Expression",
    "InRange",
    "InSet",
    "IsNull",
    "Like",
    "Negation",
    "Not",
    "Number",
    "Predicate",
    "Quantity",
    "Text",
    "Truth",
]


def span_field() -> Span | None:
    """Where a node stands in the text: equality and hashing ignore it."""
    return field(default=None, compare=False, repr=False, kw_only=True)


# --------------------------------------------------------------------------------- arithmetic


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric literal; an `int` stays an int64, a `float` a float64. Negative ones are literals too."""

    value: int | float
    span: Span | None = span_field()
    whole: bool = field(init=False, repr=False)
    """Whether it is an int: `1` and `1.0` are different literals."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", isinstance(self.value, int))


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal, `'abc'`."""

    value: str
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Boolean:
    """`TRUE` or `FALSE` as a value."""

    value: bool
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a unit of time, `1 h`: a duration. `unit` is one of `ns us ms s min h d`."""

    value: int | float
    unit: str
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an event: `price` inside `x[...]` (variable None), `x.price` in a correlation."""

    name: str
    variable: str | None = None
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left op right`, `op` one of `+ - * / %`."""

    op: str
    left: Expression
    right: Expression
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Negation:
    """Unary minus of something that is not a literal."""

    operand: Expression
    span: Span | None = span_field()


Expression: TypeAlias = Number | Text | Boolean | Quantity | Attribute | Arithmetic | Negation


# ------------------------------------------------------------------------ predicates, conditions


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`, `op` one of `= != < <= > >=` (`==` reads as `=`, `<>` as `!=`).

    A predicate when no attribute names a variable; a correlation when both sides name (different) ones.
    """

    op: str
    left: Expression
    right: Expression
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Like:
    """`operand LIKE 'regex'`: the regular expression is searched for anywhere in the value."""

    operand: Expression
    pattern: str
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class InSet:
    """`operand IN {v, ...}`; `NOT IN` is `Not(InSet(...))` and prints as `NOT IN`."""

    operand: Expression
    values: tuple[Expression, ...]
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class InRange:
    """`operand IN {lo..hi}` (literals, None for an open end) or `IN RANGE (lo, hi)`; both ends in."""

    operand: Expression
    low: Expression | None
    high: Expression | None
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class IsNull:
    """`operand IS NULL`: a null, or an attribute that the event lacks; not a NaN."""

    operand: Expression
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition that always (never) holds. Not in the grammar as a condition; rewriting makes it."""

    value: bool
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Every:
    """`x[predicate]`: every event that `variable` marks satisfies the predicate.

    `x.a op constant` and `x.a op x.b` are parsed to this node.
    """

    variable: str
    predicate: Condition
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Both:
    """`left AND right`, of predicates or of conditions."""

    left: Condition
    right: Condition
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Either:
    """`left OR right`, of predicates or of conditions."""

    left: Condition
    right: Condition
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Not:
    """`NOT operand`, of a predicate or of a condition: the complement (two-valued logic)."""

    operand: Condition
    span: Span | None = span_field()


Predicate: TypeAlias = "Comparison | Like | InSet | InRange | IsNull | Truth | Both | Either | Not"
Condition: TypeAlias = "Every | Comparison | Like | InSet | InRange | IsNull | Truth | Both | Either | Not"
