"""Expressions, predicates and conditions, as nodes of the syntax tree.

They are small frozen values, as all of `cer_gpu.language.tree`, which exports them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SyntaxNode:
    """A node of the syntax tree: `span` is where it stands in the text, which equality and hashing ignore."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Earlier: TypeAlias = Literal["", "PRIOR", "BEFORE"]
"""Whose events of a variable are meant: those of this repetition, of the one before, or of all before."""


# --------------------------------------------------------------------------------- arithmetic


@dataclass(frozen=True, slots=True)
class Number(SyntaxNode):
    """A numeric literal; an `int` stays an int64, a `float` a float64. Negative ones are literals too."""

    value: int | float
    whole: bool = field(init=False, repr=False)
    """Whether it is an int: `1` and `1.0` are different literals."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", isinstance(self.value, int))


@dataclass(frozen=True, slots=True)
class Text(SyntaxNode):
    """A string literal, `'abc'`."""

    value: str


@dataclass(frozen=True, slots=True)
class Boolean(SyntaxNode):
    """`TRUE` or `FALSE` as a value."""

    value: bool


@dataclass(frozen=True, slots=True)
class Quantity(SyntaxNode):
    """A number with a unit of time, `1 h`: a duration. `unit` is one of `ns us ms s min h d`."""

    value: int | float
    unit: str


@dataclass(frozen=True, slots=True)
class Attribute(SyntaxNode):
    """An attribute of an event: `price` inside `x[...]` (variable None), `x.price` in a correlation.

    With `prior`, `PRIOR(x).price` or `BEFORE(x).price`: of the events that x marked in earlier repetitions.
    """

    name: str
    variable: str | None = None
    prior: Earlier = ""


@dataclass(frozen=True, slots=True)
class Previous(SyntaxNode):
    """`PREV(a)`, `PREV(a, n)`: the attribute of the event `distance` before, of whatever type.

    Inside `x[...]` the attribute has no variable; elsewhere it has one, `PREV(x.a)`. With `parameter` the
    distance comes with the call.
    """

    attribute: Attribute
    distance: int = 1
    parameter: Parameter | None = None


@dataclass(frozen=True, slots=True)
class Call(SyntaxNode):
    """A function of the values of one event, `ABS(price - PREV(price))`; `function` is in capitals."""

    function: str
    arguments: tuple[Expression, ...]


class RepetitionEdge(NamedTuple):
    """Where a repetition begins or ends, among the events that some variables mark.

    Attributes
    ----------
    variable : str
        Marks one event of each repetition, and with `after` one or more.
    first : bool
        Whether they come before all others that are asked for; after them otherwise.
    after : str
        If given, an event of `variable` begins a repetition only if one of this has come since the last did.
    """

    variable: str
    first: bool
    after: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables whose events it is seen by."""
        return (self.variable, self.after) if self.after else (self.variable,)


@dataclass(frozen=True, slots=True)
class Aggregate(SyntaxNode):
    """One value over the events that a variable marks or, in the head of a rule, over its answers.

    Attributes
    ----------
    function : str
        `COUNT SUM MIN MAX AVG`, and in a query `FIRST LAST`, in capitals.
    argument : Expression or None
        In a query an expression over `Attribute`s with their variables, for COUNT, FIRST and LAST one of
        these, None in `COUNT(x)`; in a rule an expression over `Attribute`s that name variables of the rule,
        None for `*`.
    variable : str or None
        In a query, the variable whose events are taken together; None for several, and in a rule.
    prior : Earlier
        Whether `PRIOR(variable)` or `BEFORE(variable)` is meant.
    distinct : bool
        `COUNT(DISTINCT x.a)`.
    order : tuple of str
        For MIN and MAX of ordered categories: these, ascending. No text says it, but the data.
    edge : RepetitionEdge or None
        For several variables: what tells the repetitions apart of which each gives values; None where there
        is one. No text says it, but the pattern.
    """

    function: str
    argument: Expression | None
    variable: str | None = None
    prior: Earlier = ""
    distinct: bool = False
    order: tuple[str, ...] = ()
    edge: RepetitionEdge | None = None


@dataclass(frozen=True, slots=True)
class Moment(SyntaxNode):
    """`START_TIME`, `END_TIME` or `DURATION` of a complex event, in capitals: for measures only."""

    name: str


@dataclass(frozen=True, slots=True)
class Parameter(SyntaxNode):
    """`$name`: a value that comes with the call, of the type that its place asks for."""

    name: str


@dataclass(frozen=True, slots=True)
class Arithmetic(SyntaxNode):
    """`left op right`, `op` one of `+ - * / %`."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negation(SyntaxNode):
    """Unary minus of something that is not a literal."""

    operand: Expression


Expression: TypeAlias = (
    Number
    | Text
    | Boolean
    | Quantity
    | Parameter
    | Attribute
    | Previous
    | Call
    | Aggregate
    | Moment
    | Arithmetic
    | Negation
)


# ---------------------------------------------------------------------------------------- sets

End: TypeAlias = "int | float | Quantity | Parameter | None"
"""An end of a range in a set; None where it is open."""

RangeEnd: TypeAlias = "Number | Quantity | Parameter | None"
"""The same as a literal."""


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """What a set holds, `{1, 2.5, 3..7, 'x', TRUE, 5 s}`, by kind, each kind in the order of the text.

    A set may have a hundred thousand members, so they are plain values, not nodes, and the hash is computed
    once. Two sets are equal if each kind has equal values in the same order; `1` equals `1.0` here.

    Attributes
    ----------
    numbers : tuple of int or float
    lows, highs : tuple of End
        The two ends of each range, which belong to it.
    texts : tuple of str
    others : tuple of Boolean, Quantity or Parameter
    written : str
        The set as it stands in the query, with its braces; empty where it was not parsed.
    start : int
        Where `written` begins in the text of the query.
    end_kinds : frozenset of type
        The types of all `lows` and `highs`, so that a search for one type need not look at each.
    """

    numbers: tuple[int | float, ...] = ()
    lows: tuple[End, ...] = ()
    highs: tuple[End, ...] = ()
    texts: tuple[str, ...] = ()
    others: tuple[Boolean | Quantity | Parameter, ...] = ()
    written: str = field(default="", repr=False, kw_only=True)
    start: int = field(default=0, repr=False, kw_only=True)
    end_kinds: frozenset[type] = field(init=False, repr=False)
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "end_kinds", frozenset(map(type, chain(self.lows, self.highs))))
        object.__setattr__(self, "_hash", hash(self._kinds))

    @classmethod
    def of(
        cls,
        *constants: Number | Text | Boolean | Quantity | Parameter,
        ranges: Iterable[tuple[RangeEnd, RangeEnd]] = (),
        written: str = "",
        start: int = 0,
    ) -> Members:
        """The set of some literals and of ranges between literals."""
        pairs = list(ranges)
        return cls(
            tuple(one.value for one in constants if isinstance(one, Number)),
            tuple(_plain(low) for low, _ in pairs),
            tuple(_plain(high) for _, high in pairs),
            tuple(one.value for one in constants if isinstance(one, Text)),
            tuple(one for one in constants if isinstance(one, Boolean | Quantity | Parameter)),
            written=written,
            start=start,
        )

    @property
    def constants(self) -> Iterator[Number | Text | Boolean | Quantity | Parameter]:
        """The members that are no ranges, as literals: numbers, strings, others."""
        yield from map(Number, self.numbers)
        yield from map(Text, self.texts)
        yield from self.others

    @property
    def ranges(self) -> Iterator[tuple[RangeEnd, RangeEnd]]:
        """The ranges with their ends as literals."""
        for low, high in zip(self.lows, self.highs):
            yield _literal(low), _literal(high)

    @property
    def _kinds(self) -> tuple[object, ...]:
        return self.numbers, self.lows, self.highs, self.texts, self.others

    def __len__(self) -> int:
        return len(self.numbers) + len(self.lows) + len(self.texts) + len(self.others)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Members):
            return NotImplemented
        return self is other or (self._hash == other._hash and self._kinds == other._kinds)

    def __hash__(self) -> int:
        return self._hash


def _plain(end: RangeEnd) -> End:
    return end.value if isinstance(end, Number) else end


def _literal(end: End) -> RangeEnd:
    return Number(end) if isinstance(end, int | float) else end


# ------------------------------------------------------------------------ predicates, conditions


@dataclass(frozen=True, slots=True)
class Comparison(SyntaxNode):
    """`left op right`, `op` one of `= != < <= > >=` (`==` reads as `=`, `<>` as `!=`).

    A predicate when no attribute names a variable; a correlation when its attributes name several, on
    either side, or an aggregate stands in it.
    """

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Like(SyntaxNode):
    """`operand LIKE 'regex'`: the regular expression is searched for anywhere in the value.

    With `parameter` it comes with the call, and `pattern` is empty.
    """

    operand: Expression
    pattern: str
    parameter: Parameter | None = None


@dataclass(frozen=True, slots=True)
class InSet(SyntaxNode):
    """`operand IN {v, ...}`; `NOT IN` is `Not(InSet(...))` and prints as `NOT IN`."""

    operand: Expression
    members: Members


@dataclass(frozen=True, slots=True)
class InRange(SyntaxNode):
    """`operand IN {lo..hi}` (literals, None for an open end) or `IN RANGE (lo, hi)`; both ends in."""

    operand: Expression
    low: Expression | None
    high: Expression | None


@dataclass(frozen=True, slots=True)
class IsNull(SyntaxNode):
    """`operand IS NULL`: a null, or an attribute that the event lacks; not a NaN."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Truth(SyntaxNode):
    """A condition that always (never) holds. Not in the grammar as a condition; rewriting makes it."""

    value: bool


@dataclass(frozen=True, slots=True)
class Every(SyntaxNode):
    """`x[predicate]`: every event that `variable` marks satisfies the predicate.

    `x.a op constant` and `x.a op x.b` are parsed to this node. With `prior`, `PRIOR(x)[predicate]` or
    `BEFORE(x)[predicate]`.
    """

    variable: str
    predicate: Condition
    prior: Earlier = ""


@dataclass(frozen=True, slots=True)
class Both(SyntaxNode):
    """`left AND right`, of predicates or of conditions."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Either(SyntaxNode):
    """`left OR right`, of predicates or of conditions."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Not(SyntaxNode):
    """`NOT operand`, of a predicate or of a condition: the complement (two-valued logic)."""

    operand: Condition


Predicate: TypeAlias = "Comparison | Like | InSet | InRange | IsNull | Truth | Both | Either | Not"
Condition: TypeAlias = "Every | Comparison | Like | InSet | InRange | IsNull | Truth | Both | Either | Not"
