"""Hypothesis strategies for queries and rules: every tree that the grammar can say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cer_gpu.language import tree as t
from cer_gpu.language.units import NANOSECONDS

INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = INT64 | FLOATS
UNITS = st.sampled_from(sorted(NANOSECONDS))
STRINGS = st.text(max_size=6) | st.sampled_from(["it's", "--", "/* */", "\n", "`", "\uffff", "\0"])

# Names that need back-ticks and names that do not; attributes may hold `>`, the others may not.
ATTRIBUTES = st.sampled_from(
    ["a", "price", "Größe", "last", "select", "NULL", "two words", "a`b", "a>b", "7", "--", "s", "é", " "]
) | st.text(min_size=1, max_size=4)
NAMES = ATTRIBUTES.filter(lambda name: ">" not in name)
VARIABLES = NAMES | st.builds(lambda stream, name: f"{stream}>{name}", NAMES, NAMES)

LITERALS = (
    st.builds(t.Number, NUMBERS)
    | st.builds(t.Quantity, NUMBERS, UNITS)
    | st.builds(t.Text, STRINGS)
    | st.builds(t.Boolean, st.booleans())
)


def expressions(variable: str | None) -> st.SearchStrategy[Any]:
    """Arithmetic over the attributes of one variable, or of the event in brackets."""
    leaves = LITERALS | st.builds(t.Attribute, ATTRIBUTES, st.just(variable))
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(t.Arithmetic, st.sampled_from("+-*/%"), inner, inner)
            | st.builds(
                t.Negation, inner.filter(lambda operand: not isinstance(operand, t.Number | t.Quantity))
            )
        ),
        max_leaves=5,
    )


BARE = expressions(None)
COMPARATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
_ENDS = st.builds(t.Number, NUMBERS) | st.builds(t.Quantity, NUMBERS, UNITS)

_RANGES = st.tuples(_ENDS, _ENDS | st.none()) | st.tuples(st.none(), _ENDS)
MEMBERS = st.builds(
    lambda constants, ranges: t.Members.of(*constants, ranges=ranges),
    st.lists(LITERALS, min_size=1, max_size=3),
    st.lists(_RANGES, max_size=2),
)

TESTS = (
    st.builds(t.Comparison, COMPARATORS, BARE, BARE)
    | st.builds(t.Like, BARE, STRINGS)
    | st.builds(t.InSet, BARE, MEMBERS)
    | st.builds(t.InRange, BARE, BARE, BARE)
    | st.builds(t.InRange, BARE, _ENDS, st.none())
    | st.builds(t.InRange, BARE, st.none(), _ENDS)
    | st.builds(t.IsNull, BARE)
)


def _combined(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(t.Both, inner, inner) | st.builds(t.Either, inner, inner) | st.builds(t.Not, inner)
        ),
        max_leaves=4,
    )


PREDICATES = _combined(TESTS)


@st.composite
def correlations(draw: st.DrawFn) -> t.Comparison:
    """Comparisons of arithmetic over one variable with arithmetic over another."""
    names = draw(st.lists(VARIABLES, min_size=2, max_size=2, unique=True))
    sides = [
        t.Arithmetic("+", draw(expressions(name)), t.Attribute(draw(ATTRIBUTES), name))
        if draw(st.booleans())
        else t.Attribute(draw(ATTRIBUTES), name)
        for name in names
    ]
    return t.Comparison(draw(COMPARATORS), *sides)


CONDITIONS = _combined(st.builds(t.Every, VARIABLES, PREDICATES) | correlations())

_BOUNDS = st.builds(t.Bound, NUMBERS, st.none() | UNITS, st.booleans())
INTERVALS = (
    st.builds(t.Interval, _BOUNDS, _BOUNDS)
    | st.builds(t.Interval, _BOUNDS, st.none())
    | st.builds(t.Interval, st.none(), _BOUNDS)
)

EVENT_TYPES = st.builds(t.EventType, NAMES, st.none() | NAMES)
_GAPS = st.none() | INTERVALS
_SELECTORS = st.sampled_from([t.Strategy.NEXT, t.Strategy.LAST, t.Strategy.MAX, t.Strategy.STRICT])


def _joined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from([t.Sequence, t.And, t.All, t.Or, t.Unless]).flatmap(
        lambda kind: st.builds(kind, inner, inner)
    ) | st.builds(t.Sequence, inner, inner, st.booleans(), _GAPS)


def _patterns(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    # Precedence is what goes wrong, so operators that stand between patterns come more often than others.
    return (
        _joined(inner)
        | _joined(inner)
        | _joined(inner)
        | st.builds(t.As, inner, NAMES)
        | st.builds(t.Iteration, inner, st.booleans(), _GAPS)
        | st.builds(t.Filter, inner, CONDITIONS)
        | st.builds(t.Project, inner, st.lists(VARIABLES, min_size=1, max_size=2).map(tuple))
        | st.builds(t.Selector, _SELECTORS, inner)
        | st.builds(t.Timed, inner, INTERVALS)
    )


PATTERNS = st.recursive(
    EVENT_TYPES | st.builds(t.OtherEvent, EVENT_TYPES, st.none() | CONDITIONS), _patterns, max_leaves=8
)

_ITEMS = st.builds(t.SelectItem, VARIABLES, st.lists(ATTRIBUTES, max_size=2).map(tuple))
_WINDOWS = (
    st.builds(t.Window, INT64, st.just("events"))
    | st.builds(t.Window, NUMBERS, st.just("time"), UNITS)
    | st.builds(t.Window, NUMBERS, st.just("attribute"), st.none(), ATTRIBUTES)
)

QUERIES = st.builds(
    t.SelectQuery,
    PATTERNS,
    st.sampled_from(t.Strategy),
    st.none() | st.lists(_ITEMS, max_size=2).map(tuple),
    st.lists(NAMES, max_size=2).map(tuple),
    st.lists(st.lists(ATTRIBUTES, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
    st.none() | _WINDOWS,
    st.sampled_from(t.Consume),
    st.none() | INT64,
)

_CONSTANTS = st.builds(t.Number, NUMBERS) | st.builds(t.Text, STRINGS) | st.builds(t.Boolean, st.booleans())
_RULE_VARIABLES = st.builds(t.RuleVariable, ATTRIBUTES)
_ARGUMENTS = st.lists(st.tuples(ATTRIBUTES, _RULE_VARIABLES | _CONSTANTS), max_size=3)


@st.composite
def atoms(draw: st.DrawFn) -> t.RuleAtom:
    """Atoms by name and by position; one without terms is by name."""
    arguments = draw(_ARGUMENTS)
    by_name = not arguments or draw(st.booleans())
    names = tuple(name for name, _ in arguments) if by_name else None
    return t.RuleAtom(draw(EVENT_TYPES), tuple(term for _, term in arguments), names)


_VALUES = st.builds(t.Attribute, ATTRIBUTES)
_OVER_A_VARIABLE = _VALUES | st.builds(t.Arithmetic, st.sampled_from("+-*/%"), BARE, _VALUES)
_RULE_COMPARISONS = st.builds(t.Comparison, COMPARATORS, BARE, _OVER_A_VARIABLE) | st.builds(
    t.Comparison, COMPARATORS, _OVER_A_VARIABLE, BARE
)
_AGGREGATES = st.just(t.Aggregate("COUNT", None)) | st.builds(
    t.Aggregate, st.sampled_from(["SUM", "MIN", "MAX", "AVG"]), BARE
)

RULES = st.builds(
    t.Rule,
    ATTRIBUTES,
    st.lists(_RULE_VARIABLES, max_size=3).map(tuple),
    st.lists(atoms(), min_size=1, max_size=4).map(tuple),
    st.lists(_RULE_COMPARISONS, max_size=3).map(tuple),
    st.lists(_AGGREGATES, max_size=2).map(tuple),
    st.none() | _WINDOWS,
)
