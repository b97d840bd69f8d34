"""The syntax tree of CEQL: small frozen values.

Equality and hashing are structural and ignore spans, so `parse(to_text(q)) == q`.
The pattern nodes are also the formulas of `cer_gpu.logic`: CEQL's patterns are CEL/CEPL formulas.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TypeAlias

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.expressions import *  # noqa: F403 - one tree in two files
from cer_gpu.language.expressions import (
    Aggregate,
    Boolean,
    Comparison,
    Condition,
    Expression,
    Number,
    Parameter,
    SyntaxNode,
    Text,
)


def _places() -> tuple[Span, ...]:
    # Where the names of a tuple stand, in its order; empty when the node was not parsed.
    return field(default=(), compare=False, repr=False, kw_only=True)


# ------------------------------------------------------------------------------------ patterns


@dataclass(frozen=True, slots=True)
class Bound(SyntaxNode):
    """One bound of an interval: a number, with a unit of time or (None) in the order's own unit.

    `unit` is `events` in an interval of FOLLOWED BY that counts events. With `parameter` the number comes
    with the call (without a unit: a span), and `value` is 0.
    """

    value: int | float
    unit: str | None = None
    open: bool = False
    parameter: Parameter | None = None


@dataclass(frozen=True, slots=True)
class Interval(SyntaxNode):
    """`[> 2 s, <= 5 s]`; `[= 1 s]` is low == high. None means unbounded (never both)."""

    low: Bound | None
    high: Bound | None


@dataclass(frozen=True, slots=True)
class EventType(SyntaxNode):
    """`T` or `S>T`: one event of type `name` (of stream `stream`); marks `T` (and `S>T`)."""

    name: str
    stream: str | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that mark the event: `T`, and `S>T` where a stream is named."""
        return (self.name,) if self.stream is None else (self.name, f"{self.stream}>{self.name}")


@dataclass(frozen=True, slots=True)
class OtherEvent(SyntaxNode):
    """`NOT (T)`, `NOT (T FILTER c)`: one event that is not a T (that satisfies c); marks nothing."""

    type: EventType
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class As(SyntaxNode):
    """`pattern AS variable`: marks everything that the pattern marks with the variable too."""

    pattern: Pattern
    variable: str


@dataclass(frozen=True, slots=True)
class Sequence(SyntaxNode):
    """`left ; right`, or `left : right` when contiguous; `gap` is the timed form's interval."""

    left: Pattern
    right: Pattern
    contiguous: bool = False
    gap: Interval | None = None


@dataclass(frozen=True, slots=True)
class Times(SyntaxNode):
    """How often an iteration repeats: `{n,m}`, from `least` (at least 1) to `most` times (None: no limit).

    Where a parameter gives `least` or `most`, the number here is 1. `unsaid`: no `least` is written.
    """

    least: int
    most: int | None
    least_parameter: Parameter | None = None
    most_parameter: Parameter | None = None
    unsaid: bool = False


@dataclass(frozen=True, slots=True)
class Iteration(SyntaxNode):
    """`pattern +`, or `pattern :+` when contiguous; `gap` is the timed form's interval.

    With `times`, `pattern {n,m}` and `pattern :{n,m}`; None is one or more.
    """

    pattern: Pattern
    contiguous: bool = False
    gap: Interval | None = None
    times: Times | None = None

    @property
    def least(self) -> int:
        """How many repetitions there are at least."""
        return 1 if self.times is None else self.times.least

    @property
    def most(self) -> int | None:
        """How many repetitions there are at most; None for any number."""
        return None if self.times is None else self.times.most


@dataclass(frozen=True, slots=True)
class Optional(SyntaxNode):
    """`pattern ?`: the pattern or nothing. It is always an element of a sequence.

    A sequence with such an element leans to the left, `((a ; b ?) : c)`: the operator of a node stands before
    its right side. An element that is left out is left out with the operator before it; the first one with
    the operator after it. A group in parentheses is one element, so never empty.
    """

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Beside(SyntaxNode):
    """`left FOLLOWED BY right`, `left PRECEDED BY right`: complex events of left with one of right near.

    Attributes
    ----------
    left : Pattern
        The pattern whose complex events are returned.
    right : Pattern
        A scope of its own: it reads no variable of the patterns around it, and marks nothing.
    before : bool
        PRECEDED BY: right ends before left starts; otherwise right starts after left has ended.
    negated : bool
        NOT FOLLOWED BY, NOT PRECEDED BY: there is none.
    interval : Interval or None
        Bounds the time, or the number of positions, from the end of left to the end of right (PRECEDED BY:
        from the start of right to the start of left).
    """

    left: Pattern
    right: Pattern
    before: bool = False
    negated: bool = False
    interval: Interval | None = None

    @property
    def words(self) -> str:
        """The operator as it is written."""
        return f"{'NOT ' if self.negated else ''}{'PRECEDED' if self.before else 'FOLLOWED'} BY"


@dataclass(frozen=True, slots=True)
class And(SyntaxNode):
    """`left AND right`: complex events of left that right has too (with the same start, end and marks)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class All(SyntaxNode):
    """`left ALL right`: one complex event of each, taken together; they come in any order and may overlap."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Or(SyntaxNode):
    """`left OR right`: complex events of left and complex events of right."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Unless(SyntaxNode):
    """`left UNLESS right`: complex events of left inside which right has no complex event."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Filter(SyntaxNode):
    """`pattern FILTER condition`."""

    pattern: Pattern
    condition: Condition


@dataclass(frozen=True, slots=True)
class Project(SyntaxNode):
    """`PROJECT(pattern | x, y)`: keeps only the marks of these variables."""

    pattern: Pattern
    variables: tuple[str, ...]
    places: tuple[Span, ...] = _places()


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


CHOOSING = (Strategy.NEXT, Strategy.LAST, Strategy.MAX)
"""The strategies that choose by the marked positions, so before the SELECT list drops marks."""


@dataclass(frozen=True, slots=True)
class Selector(SyntaxNode):
    """`NXT(p)`, `LAST(p)`, `MAX(p)`, `STRICT(p)`."""

    strategy: Strategy
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Timed(SyntaxNode):
    """`(p) WITHIN [I]`: complex events of p whose duration lies in the interval."""

    pattern: Pattern
    interval: Interval


Pattern: TypeAlias = (
    EventType
    | OtherEvent
    | As
    | Sequence
    | Iteration
    | Optional
    | And
    | All
    | Or
    | Unless
    | Beside
    | Filter
    | Project
    | Selector
    | Timed
)


# ---------------------------------------------------------------------------------------- query


@dataclass(frozen=True, slots=True)
class SelectItem(SyntaxNode):
    """One variable of the SELECT list, with the attributes to return: `x[price, volume]`, `x[*]` for all."""

    variable: str
    attributes: tuple[str, ...] = ()
    whole: bool = False
    places: tuple[Span, ...] = _places()


@dataclass(frozen=True, slots=True)
class SelectMeasure(SyntaxNode):
    """`expression AS name` in the SELECT list: a value of the whole complex event.

    The expression is arithmetic and functions over constants, `Aggregate`s and `Moment`s; `x.a` is parsed to
    `FIRST(x.a)`.
    """

    expression: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Window(SyntaxNode):
    """WITHIN of a query.

    Attributes
    ----------
    size : int or float
        The greatest `value(end) - value(start)` that is allowed.
    kind : {"events", "time", "attribute", "parameter"}
        What is measured: positions, the order attribute, or `attribute`; "parameter" is `WITHIN $w`, which
        the value of the parameter decides.
    unit : str or None
        For kind "time": `size` is in this unit (one of `ns us ms s min h d`). Spans of several units are
        added up by the parser in the smallest unit written, exactly. None where `size` is in the unit of the
        order: no text says so, but an interval may be rewritten to such a window.
    attribute : str or None
        For kind "attribute": the attribute whose difference is bounded, in its own unit.
    parameter : Parameter or None
        The parameter that gives the size; `size` is then 0.
    """

    size: int | float
    kind: str
    unit: str | None = None
    attribute: str | None = None
    parameter: Parameter | None = None


class Consume(Enum):
    """CONSUME BY: what is dropped once complex events are reported."""

    NONE = "NONE"
    ANY = "ANY"
    PARTITION = "PARTITION"


@dataclass(frozen=True, slots=True)
class Suppress(SyntaxNode):
    """`SUPPRESS FOR length [BY ANY | PARTITION]`: no ends are reported for a time after one that was.

    `by` is None where it is not written: PARTITION under PARTITION BY, otherwise the whole stream.
    """

    length: Bound
    by: Consume | None = None


@dataclass(frozen=True, slots=True)
class ClausePlaces:
    """Places in the text of streams, parts of the key and LIMIT's number, which are no nodes of the tree."""

    streams: tuple[Span, ...] = ()
    partition: tuple[tuple[Span, ...], ...] = ()
    limit: Span | None = None


@dataclass(frozen=True, slots=True)
class SelectQuery(SyntaxNode):
    """A whole query.

    Attributes
    ----------
    pattern : Pattern
    strategy : Strategy
    select : tuple of SelectItem, or None
        None is `*`; the empty tuple is `NONE`. A list without `*` and NONE also has every variable that a
        measure reads.
    streams : tuple of str
        The names of FROM; empty where FROM is not written.
    partition : tuple of tuple of str
        One tuple for each part of the key: its alternatives, first that is not null.
        `PARTITION BY a, b` is `(("a",), ("b",))`; `[a], [b, c]` is `(("a",), ("b", "c"))`.
    window : Window or None
    consume : Consume
    limit : int or None
        At most so many complex events for each end position.
    measures : tuple of SelectMeasure
        In the order written.
    suppress : Suppress or None
    """

    pattern: Pattern
    strategy: Strategy = Strategy.ALL
    select: tuple[SelectItem, ...] | None = None
    streams: tuple[str, ...] = ()
    partition: tuple[tuple[str, ...], ...] = ()
    window: Window | None = None
    consume: Consume = Consume.NONE
    limit: int | None = None
    measures: tuple[SelectMeasure, ...] = ()
    suppress: Suppress | None = None
    places: ClausePlaces | None = field(default=None, compare=False, repr=False, kw_only=True)


# ---------------------------------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True)
class RuleVariable(SyntaxNode):
    """A variable of a rule, `x`: stands for one value."""

    name: str


Term: TypeAlias = RuleVariable | Number | Text | Boolean


@dataclass(frozen=True, slots=True)
class RuleAtom(SyntaxNode):
    """`T(x, 3)` or `T(price = x)`: one event of a type, with a term for each attribute.

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


@dataclass(frozen=True, slots=True)
class Rule(SyntaxNode):
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


Statement: TypeAlias = SelectQuery | Rule
