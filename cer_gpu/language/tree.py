"""The syntax tree of CEQL: small frozen values.

Equality and hashing are structural and ignore spans, so `parse(to_text(q)) == q`.
The pattern nodes are also the formulas of `cer_gpu.logic`: CEQL's patterns are CEL/CEPL formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from cer_gpu.errors import Span


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False, kw_only=True)


def _places() -> tuple[Span, ...]:
    # Where the names of a tuple stand, in its order; empty when the node was not parsed.
    return field(default=(), compare=False, repr=False, kw_only=True)


# --------------------------------------------------------------------------------- arithmetic


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric literal; an `int` stays an int64, a `float` a float64. Negative ones are literals too."""

    value: int | float
    span: Span | None = _span()
    whole: bool = field(init=False, repr=False)
    """Whether it is an int: `1` and `1.0` are different literals."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", isinstance(self.value, int))


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal, `'abc'`."""

    value: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Boolean:
    """`TRUE` or `FALSE` as a value."""

    value: bool
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a unit of time, `1 h`: a duration. `unit` is one of `ns us ms s min h d`."""

    value: int | float
    unit: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an event: `price` inside `x[...]` (variable None), `x.price` in a correlation."""

    name: str
    variable: str | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left op right`, `op` one of `+ - * / %`."""

    op: str
    left: Expression
    right: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Negation:
    """Unary minus of something that is not a literal."""

    operand: Expression
    span: Span | None = _span()


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
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Like:
    """`operand LIKE 'regex'`: the regular expression is searched for anywhere in the value."""

    operand: Expression
    pattern: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class InSet:
    """`operand IN {v, ...}`; `NOT IN` is `Not(InSet(...))` and prints as `NOT IN`."""

    operand: Expression
    values: tuple[Expression, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class InRange:
    """`operand IN {lo..hi}` (literals, None for an open end) or `IN RANGE (lo, hi)`; both ends in."""

    operand: Expression
    low: Expression | None
    high: Expression | None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class IsNull:
    """`operand IS NULL`: a null, or an attribute that the event lacks; not a NaN."""

    operand: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition that always (never) holds. Not in the grammar as a condition; rewriting makes it."""

    value: bool
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Every:
    """`x[predicate]`: every event that `variable` marks satisfies the predicate.

    `x.a op constant` and `x.a op x.b` are parsed to this node.
    """

    variable: str
    predicate: Condition
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Both:
    """`left AND right`, of predicates or of conditions."""

    left: Condition
    right: Condition
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Either:
    """`left OR right`, of predicates or of conditions."""

    left: Condition
    right: Condition
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Not:
    """`NOT operand`, of a predicate or of a condition: the complement (two-valued logic)."""

    operand: Condition
    span: Span | None = _span()


Predicate: TypeAlias = "Comparison | Like | InSet | InRange | IsNull | Truth | Both | Either | Not"
Condition: TypeAlias = "Every | Comparison | Like | InSet | InRange | IsNull | Truth | Both | Either | Not"


# ------------------------------------------------------------------------------------ patterns


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound of an interval: a number, with a unit of time or (None) in the order's own unit."""

    value: int | float
    unit: str | None = None
    open: bool = False
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Interval:
    """`[> 2 s, <= 5 s]`; `[= 1 s]` is low == high. None means unbounded (never both)."""

    low: Bound | None
    high: Bound | None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class EventType:
    """`T` or `S>T`: one event of type `name` (of stream `stream`); marks `T` (and `S>T`)."""

    name: str
    stream: str | None = None
    span: Span | None = _span()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that mark the event: `T`, and `S>T` where a stream is named."""
        return (self.name,) if self.stream is None else (self.name, f"{self.stream}>{self.name}")


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """`NOT (T)`, `NOT (T FILTER c)`: one event that is not a T (that satisfies c); marks nothing."""

    type: EventType
    condition: Condition | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class As:
    """`pattern AS variable`: marks everything that the pattern marks with the variable too."""

    pattern: Pattern
    variable: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Sequence:
    """`left ; right`, or `left : right` when contiguous; `gap` is the timed form's interval."""

    left: Pattern
    right: Pattern
    contiguous: bool = False
    gap: Interval | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Iteration:
    """`pattern +`, or `pattern :+` when contiguous; `gap` is the timed form's interval."""

    pattern: Pattern
    contiguous: bool = False
    gap: Interval | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class And:
    """`left AND right`: the complex events that both have."""

    left: Pattern
    right: Pattern
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class All:
    """`left ALL right`: unions of one of each, in any order, overlapping or not."""

    left: Pattern
    right: Pattern
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Or:
    """`left OR right`: the complex events that one of them has."""

    left: Pattern
    right: Pattern
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Unless:
    """`left UNLESS right`: those of left with no complex event of right inside."""

    left: Pattern
    right: Pattern
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Filter:
    """`pattern FILTER condition`."""

    pattern: Pattern
    condition: Condition
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Project:
    """`PROJECT(pattern | x, y)`: keeps only the marks of these variables."""

    pattern: Pattern
    variables: tuple[str, ...]
    places: tuple[Span, ...] = _places()
    span: Span | None = _span()


class Strategy(Enum):
    """Selection strategies of SELECT and the selectors of patterns (language section 6)."""

    ALL = "ALL"
    ANY = "ANY"
    NEXT = "NEXT"
    LAST = "LAST"
    MAX = "MAX"
    STRICT = "STRICT"


@dataclass(frozen=True, slots=True)
class Selector:
    """`NXT(p)`, `LAST(p)`, `MAX(p)`, `STRICT(p)`."""

    strategy: Strategy
    pattern: Pattern
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Timed:
    """`(p) WITHIN [I]`: those of p whose duration lies in the interval."""

    pattern: Pattern
    interval: Interval
    span: Span | None = _span()


Pattern: TypeAlias = (
    EventType
    | OtherEvent
    | As
    | Sequence
    | Iteration
    | And
    | All
    | Or
    | Unless
    | Filter
    | Project
    | Selector
    | Timed
)


# ---------------------------------------------------------------------------------------- query


@dataclass(frozen=True, slots=True)
class SelectItem:
    """One variable of the SELECT list, with the attributes to return: `x[price, volume]`."""

    variable: str
    attributes: tuple[str, ...] = ()
    places: tuple[Span, ...] = _places()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Window:
    """WITHIN of a query.

    Attributes
    ----------
    size : int or float
        How much `value(end) - value(start)` may be at most.
    kind : {"events", "time", "attribute"}
        What is measured: positions, the order attribute, or `attribute`.
    unit : str or None
        For kind "time": `size` is in this unit (one of `ns us ms s min h d`). Spans of several units are
        added up by the parser in the smallest unit written, exactly.
    attribute : str or None
        For kind "attribute": whose difference is bounded, in its own unit.
    """

    size: int | float
    kind: str
    unit: str | None = None
    attribute: str | None = None
    span: Span | None = _span()


class Consume(Enum):
    """CONSUME BY: what is dropped once complex events are reported."""

    NONE = "NONE"
    ANY = "ANY"
    PARTITION = "PARTITION"


@dataclass(frozen=True, slots=True)
class ClausePlaces:
    """Where the parts of a query stand that are not nodes: streams, parts of the key, LIMIT's number."""

    streams: tuple[Span, ...] = ()
    partition: tuple[tuple[Span, ...], ...] = ()
    limit: Span | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A whole query.

    Attributes
    ----------
    pattern : Pattern
    strategy : Strategy
    select : tuple of SelectItem, or None
        None is `*`; the empty tuple is `NONE`.
    streams : tuple of str
        The names of FROM; empty where FROM is not written.
    partition : tuple of tuple of str
        One tuple for each part of the key: its alternatives, first that is not null.
        `PARTITION BY a, b` is `(("a",), ("b",))`; `[a], [b, c]` is `(("a",), ("b", "c"))`.
    window : Window or None
    consume : Consume
    limit : int or None
        At most so many complex events for each end position.
    """

    pattern: Pattern
    strategy: Strategy = Strategy.ALL
    select: tuple[SelectItem, ...] | None = None
    streams: tuple[str, ...] = ()
    partition: tuple[tuple[str, ...], ...] = ()
    window: Window | None = None
    consume: Consume = Consume.NONE
    limit: int | None = None
    places: ClausePlaces | None = field(default=None, compare=False, repr=False, kw_only=True)
    span: Span | None = _span()
