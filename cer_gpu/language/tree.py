"""The syntax tree of CEQL: small frozen values.

Equality and hashing are structural and ignore spans, so `parse(to_text(q)) == q`.
The pattern nodes are also the formulas of `cer_gpu.logic`: CEQL's patterns are CEL/CEPL formulas.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TypeAlias

from cer_gpu.errors import Span
from cer_gpu.frozen import dataclass
from cer_gpu.language.expressions import *  # noqa: F403 - one tree in two files
from cer_gpu.language.expressions import (
    Boolean,
    Comparison,
    Condition,
    Expression,
    Number,
    Text,
    span_field,
)


def _places() -> tuple[Span, ...]:
    # Where the names of a tuple stand, in its order; empty when the node was not parsed.
    return field(default=(), compare=False, repr=False, kw_only=True)


# ------------------------------------------------------------------------------------ patterns


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound of an interval: a number, with a unit of time or (None) in the order's own unit."""

    value: int | float
    unit: str | None = None
    open: bool = False
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Interval:
    """`[> 2 s, <= 5 s]`; `[= 1 s]` is low == high. None means unbounded (never both)."""

    low: Bound | None
    high: Bound | None
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class EventType:
    """`T` or `S>T`: one event of type `name` (of stream `stream`); marks `T` (and `S>T`)."""

    name: str
    stream: str | None = None
    span: Span | None = span_field()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that mark the event: `T`, and `S>T` where a stream is named."""
        return (self.name,) if self.stream is None else (self.name, f"{self.stream}>{self.name}")


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """`NOT (T)`, `NOT (T FILTER c)`: one event that is not a T (that satisfies c); marks nothing."""

    type: EventType
    condition: Condition | None = None
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class As:
    """`pattern AS variable`: marks everything that the pattern marks with the variable too."""

    pattern: Pattern
    variable: str
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Sequence:
    """`left ; right`, or `left : right` when contiguous; `gap` is the timed form's interval."""

    left: Pattern
    right: Pattern
    contiguous: bool = False
    gap: Interval | None = None
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Iteration:
    """`pattern +`, or `pattern :+` when contiguous; `gap` is the timed form's interval."""

    pattern: Pattern
    contiguous: bool = False
    gap: Interval | None = None
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class And:
    """`left AND right`: complex events of left that right has too (with the same start, end and marks)."""

    left: Pattern
    right: Pattern
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class All:
    """`left ALL right`: one complex event of each, taken together; they come in any order and may overlap."""

    left: Pattern
    right: Pattern
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Or:
    """`left OR right`: complex events of left and complex events of right."""

    left: Pattern
    right: Pattern
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Unless:
    """`left UNLESS right`: complex events of left inside which right has no complex event."""

    left: Pattern
    right: Pattern
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Filter:
    """`pattern FILTER condition`."""

    pattern: Pattern
    condition: Condition
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Project:
    """`PROJECT(pattern | x, y)`: keeps only the marks of these variables."""

    pattern: Pattern
    variables: tuple[str, ...]
    places: tuple[Span, ...] = _places()
    span: Span | None = span_field()


class Strategy(Enum):
    """Selection strategies of SELECT and the selectors of patterns (language section 6)."""

    ALL = "ALL"
    ANY = "ANY"
    NEXT = "NEXT"
    LAST = "LAST"
    MAX = "MAX"
    STRICT = "STRICT"

    @property
    def selector(self) -> str:
        """The word of the selector in a pattern."""
        return "NXT" if self is Strategy.NEXT else self.value


@dataclass(frozen=True, slots=True)
class Selector:
    """`NXT(p)`, `LAST(p)`, `MAX(p)`, `STRICT(p)`."""

    strategy: Strategy
    pattern: Pattern
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Timed:
    """`(p) WITHIN [I]`: complex events of p whose duration lies in the interval."""

    pattern: Pattern
    interval: Interval
    span: Span | None = span_field()


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
    span: Span | None = span_field()


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
    span: Span | None = span_field()


class Consume(Enum):
    """CONSUME BY: what is dropped once complex events are reported."""

    NONE = "NONE"
    ANY = "ANY"
    PARTITION = "PARTITION"


@dataclass(frozen=True, slots=True)
class ClausePlaces:
    """Places in the text of what is no node of the tree: streams, parts of the key, LIMIT's number."""

    streams: tuple[Span, ...] = ()
    partition: tuple[tuple[Span, ...], ...] = ()
    limit: Span | None = None


@dataclass(frozen=True, slots=True)
class SelectQuery:
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
    span: Span | None = span_field()


# ---------------------------------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True)
class RuleVariable:
    """A variable of a rule, `x`: stands for one value."""

    name: str
    span: Span | None = span_field()


Term: TypeAlias = RuleVariable | Number | Text | Boolean


@dataclass(frozen=True, slots=True)
class RuleAtom:
    """`T(x, 3)` or `T(price = x)`: one event of a type, with what its attributes are.

    Attributes
    ----------
    type : EventType
    terms : tuple of Term
    names : tuple of str, or None
        The attribute of each term; None where they are given by position, in the schema's order.
    places : tuple of Span
        Where each of `names` stands.
    """

    type: EventType
    terms: tuple[Term, ...]
    names: tuple[str, ...] | None = None
    places: tuple[Span, ...] = _places()
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`COUNT(*)`, `SUM(v)`, `MIN(v)`, `MAX(v)`, `AVG(v)` in the head of a rule.

    `function` is in capitals; `argument` is an expression over `Attribute`s that name variables of the
    rule, None for `*`.
    """

    function: str
    argument: Expression | None
    span: Span | None = span_field()


@dataclass(frozen=True, slots=True)
class Rule:
    """A conjunctive query over a stream (language section 7): `Q(x) <- T(x), S(x, y), y > 3 WITHIN 5 s`.

    Attributes
    ----------
    name : str
        Of the head.
    head : tuple of RuleVariable
    aggregates : tuple of Aggregate
    atoms : tuple of RuleAtom
        In the order written; an atom's place is its identifier.
    comparisons : tuple of Comparison
        Each side an expression over `Attribute`s without `variable`, whose name is a variable of the rule.
    window : Window or None
    """

    name: str
    head: tuple[RuleVariable, ...]
    atoms: tuple[RuleAtom, ...]
    comparisons: tuple[Comparison, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    window: Window | None = None
    span: Span | None = span_field()


Statement: TypeAlias = SelectQuery | Rule
