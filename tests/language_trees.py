"""Hypothesis strategies for queries and rules: every tree that the grammar can say."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import strategies as st

from cer_gpu.language import tree as t
from cer_gpu.language.builder import with_stream_marks
from cer_gpu.language.chains import chain_of, leftward
from cer_gpu.language.functions import AGGREGATES, FUNCTIONS, OF_EXPRESSIONS, VALUES
from cer_gpu.language.measures import MOMENTS, with_what_is_read
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

PARAMETERS = st.builds(t.Parameter, st.sampled_from(["p", "Größe", "select", "_1"]))
_CONSTANTS = st.builds(t.Number, NUMBERS) | st.builds(t.Text, STRINGS) | st.builds(t.Boolean, st.booleans())
LITERALS = _CONSTANTS | st.builds(t.Quantity, NUMBERS, UNITS)


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    signed = inner.filter(lambda operand: not isinstance(operand, t.Number | t.Quantity))
    return (
        st.builds(t.Arithmetic, st.sampled_from("+-*/%"), inner, inner)
        | st.builds(t.Negation, signed)
        | st.builds(t.Call, st.sampled_from(sorted(set(FUNCTIONS) - set(VALUES))), st.tuples(inner))
        | st.builds(t.Call, st.sampled_from(["POWER", "LEAST", "SUBSTRING", "||"]), st.tuples(inner, inner))
        | st.builds(t.Call, st.just("COALESCE"), st.tuples(inner, inner) | st.tuples(inner, inner, inner))
    )


EARLIER: st.SearchStrategy[t.Earlier] = st.sampled_from(("", "PRIOR", "BEFORE"))


def _read(variable: str | None, prior: t.Earlier) -> st.SearchStrategy[Any]:
    attributes = st.builds(t.Attribute, ATTRIBUTES, st.just(variable), st.just(prior))
    return (
        attributes
        | attributes
        | st.builds(t.Previous, attributes, st.integers(1, 3))
        | st.builds(t.Previous, attributes, st.just(1), PARAMETERS)
    )


def expressions(variable: str | None, prior: t.Earlier = "") -> st.SearchStrategy[Any]:
    """Arithmetic and functions over the attributes of one variable, or of the event in brackets."""
    return st.recursive(LITERALS | PARAMETERS | _read(variable, prior), _around, max_leaves=5)


@st.composite
def aggregates(draw: st.DrawFn, prior: t.Earlier | None = None) -> t.Aggregate:
    """Aggregates over a variable, or over PRIOR or BEFORE of one."""
    name, before = draw(VARIABLES), draw(EARLIER) if prior is None else prior
    function = draw(st.sampled_from(AGGREGATES))
    if function == "COUNT" and draw(st.booleans()):
        return t.Aggregate(function, None, name, before)
    distinct = function == "COUNT" and draw(st.booleans())
    if function in OF_EXPRESSIONS and draw(st.booleans()):
        inner = t.Arithmetic(
            draw(st.sampled_from("+-*/%")), *(t.Attribute(draw(ATTRIBUTES), name, before) for _ in "ab")
        )
        return t.Aggregate(function, inner, name, before)
    return t.Aggregate(function, t.Attribute(draw(ATTRIBUTES), name, before), name, before, distinct)


BARE = expressions(None)
# Without functions and parameters, as in a rule.
PLAIN = st.recursive(
    LITERALS | st.builds(t.Attribute, ATTRIBUTES),
    lambda inner: (
        st.builds(t.Arithmetic, st.sampled_from("+-*/%"), inner, inner)
        | st.builds(t.Negation, inner.filter(lambda operand: not isinstance(operand, t.Number | t.Quantity)))
    ),
    max_leaves=5,
)
COMPARATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
_ENDS = st.builds(t.Number, NUMBERS) | st.builds(t.Quantity, NUMBERS, UNITS) | PARAMETERS

_RANGES = st.tuples(_ENDS, _ENDS | st.none()) | st.tuples(st.none(), _ENDS)
MEMBERS = st.builds(
    lambda constants, ranges: t.Members.of(*constants, ranges=ranges),
    st.lists(LITERALS | PARAMETERS, min_size=1, max_size=3),
    st.lists(_RANGES, max_size=2),
)

TESTS = (
    st.builds(t.Comparison, COMPARATORS, BARE, BARE)
    | st.builds(t.Like, BARE, STRINGS)
    | st.builds(t.Like, BARE, st.just(""), PARAMETERS)
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
    """Comparisons over several variables, on the two sides or on one, and with aggregates."""
    owners = draw(st.lists(st.tuples(VARIABLES, EARLIER), min_size=2, max_size=3, unique=True))
    values = [
        t.Arithmetic("+", draw(expressions(*owner)), t.Attribute(draw(ATTRIBUTES), *owner))
        if draw(st.booleans())
        else t.Attribute(draw(ATTRIBUTES), *owner)
        for owner in owners
    ]
    if draw(st.booleans()):
        values.insert(draw(st.integers(0, len(values))), draw(aggregates()))
    if draw(st.booleans()):
        return t.Comparison(draw(COMPARATORS), values[0], chain_of(partial(t.Arithmetic, "-"), values[1:]))
    function = t.Call("ABS", (chain_of(partial(t.Arithmetic, "*"), values),))
    return t.Comparison(draw(COMPARATORS), function, draw(LITERALS | PARAMETERS | aggregates()))


CONDITIONS = _combined(
    st.builds(t.Every, VARIABLES, PREDICATES, EARLIER)
    | correlations()
    | st.builds(t.Comparison, COMPARATORS, aggregates(), LITERALS | PARAMETERS | aggregates())
)

_BOUNDS = st.builds(t.Bound, NUMBERS, st.none() | UNITS, st.booleans()) | st.builds(
    t.Bound, st.just(0), st.none() | UNITS, st.booleans(), PARAMETERS
)
_COUNTED = st.builds(t.Bound, INT64, st.just("events"), st.booleans()) | st.builds(
    t.Bound, st.just(0), st.just("events"), st.booleans(), PARAMETERS
)


def _intervals(bounds: st.SearchStrategy[t.Bound]) -> st.SearchStrategy[t.Interval]:
    return (
        st.builds(t.Interval, bounds, bounds)
        | st.builds(t.Interval, bounds, st.none())
        | st.builds(t.Interval, st.none(), bounds)
    )


INTERVALS = _intervals(_BOUNDS)

EVENT_TYPES = st.builds(t.EventType, NAMES, st.none() | NAMES)
_GAPS = st.none() | INTERVALS
_SELECTORS = st.sampled_from([t.Strategy.NEXT, t.Strategy.LAST, t.Strategy.MAX, t.Strategy.STRICT])


_TIMES = (
    st.tuples(st.integers(1, 5), st.integers(0, 3)).map(lambda two: t.Times(two[0], sum(two)))
    | st.builds(t.Times, st.integers(1, 2**40), st.none())
    | st.builds(lambda most: t.Times(1, most, unsaid=True), st.integers(1, 9))
    | st.builds(lambda least: t.Times(1, None, least), PARAMETERS)
    | st.builds(lambda least, most: t.Times(1, 1, least, most), PARAMETERS, PARAMETERS)
    | st.builds(lambda most: t.Times(1, 1, None, most, True), PARAMETERS)
)


@st.composite
def _elements(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> t.Sequence:
    """A sequence in which some elements are optional."""
    parts = draw(st.lists(inner, min_size=2, max_size=4))
    there = draw(st.integers(0, len(parts) - 1))
    out = [place != there and draw(st.booleans()) for place in range(len(parts))]
    out[draw(st.sampled_from([place for place in range(len(parts)) if place != there]))] = True
    made = [t.Optional(part) if left_out else part for part, left_out in zip(parts, out)]
    return leftward(made, lambda _, left, right: t.Sequence(left, right, draw(st.booleans()), draw(_GAPS)))


def _joined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.sampled_from([t.Sequence, t.And, t.All, t.Or, t.Unless]).flatmap(
            lambda kind: st.builds(kind, inner, inner)
        )
        | st.builds(t.Sequence, inner, inner, st.booleans(), _GAPS)
        | _elements(inner)
    )


def _patterns(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    # Precedence is what goes wrong, so operators that stand between patterns come more often than others.
    return (
        _joined(inner)
        | _joined(inner)
        | _joined(inner)
        | st.builds(t.As, inner, NAMES)
        | st.builds(t.Iteration, inner, st.booleans(), _GAPS)
        | st.builds(t.Iteration, inner, st.booleans(), _GAPS, _TIMES)
        | st.builds(t.Beside, inner, inner, st.booleans(), st.booleans(), _GAPS | _intervals(_COUNTED))
        | st.builds(t.Filter, inner, CONDITIONS)
        | st.builds(t.Project, inner, st.lists(VARIABLES, min_size=1, max_size=2).map(tuple))
        | st.builds(t.Selector, _SELECTORS, inner)
        | st.builds(t.Timed, inner, INTERVALS)
    )


PATTERNS = st.recursive(
    EVENT_TYPES | st.builds(t.OtherEvent, EVENT_TYPES, st.none() | CONDITIONS), _patterns, max_leaves=8
)

_ITEMS = st.builds(t.SelectItem, VARIABLES, st.lists(ATTRIBUTES, max_size=2).map(tuple)) | st.builds(
    t.SelectItem, VARIABLES, st.just(()), st.just(True)
)
MEASURE_EXPRESSIONS = st.recursive(
    LITERALS | PARAMETERS | aggregates(prior="") | st.builds(t.Moment, st.sampled_from(MOMENTS)),
    _around,
    max_leaves=4,
)
_MEASURES = st.lists(st.builds(t.SelectMeasure, MEASURE_EXPRESSIONS, ATTRIBUTES), max_size=2).map(tuple)
_WINDOWS = (
    st.builds(t.Window, INT64, st.just("events"))
    | st.builds(t.Window, NUMBERS, st.just("time"), UNITS)
    | st.builds(t.Window, NUMBERS, st.just("attribute"), st.none(), ATTRIBUTES)
)
_GIVEN_WINDOWS = (
    st.builds(t.Window, st.just(0), st.just("parameter"), st.none(), st.none(), PARAMETERS)
    | st.builds(t.Window, st.just(0), st.just("events"), st.none(), st.none(), PARAMETERS)
    | st.builds(t.Window, st.just(0), st.just("time"), UNITS, st.none(), PARAMETERS)
    | st.builds(t.Window, st.just(0), st.just("attribute"), st.none(), ATTRIBUTES, PARAMETERS)
)


_LENGTHS = st.builds(t.Bound, NUMBERS, st.none() | UNITS) | st.builds(
    t.Bound, st.just(0), st.none() | UNITS, st.just(False), PARAMETERS
)
_SUPPRESSED = st.builds(
    t.Suppress, _LENGTHS, st.none() | st.sampled_from([t.Consume.ANY, t.Consume.PARTITION])
)


def _query(
    items: tuple[t.SelectItem, ...] | None, measures: tuple[t.SelectMeasure, ...], query: t.SelectQuery
) -> t.SelectQuery:
    # A list, but neither * nor NONE, has what its measures read.
    select = with_what_is_read(items, measures) if items else items
    return with_stream_marks(replace(query, select=select, measures=measures))


QUERIES = st.builds(
    _query,
    st.none() | st.lists(_ITEMS, max_size=2).map(tuple),
    st.just(()) | _MEASURES,
    st.builds(
        t.SelectQuery,
        PATTERNS,
        st.sampled_from(t.Strategy),
        st.none(),
        st.lists(NAMES, max_size=2).map(tuple),
        st.lists(st.lists(ATTRIBUTES, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
        st.none() | _WINDOWS | _GIVEN_WINDOWS,
        st.sampled_from(t.Consume),
        st.none() | INT64,
        suppress=st.none() | _SUPPRESSED,
    ),
)

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
_OVER_A_VARIABLE = _VALUES | st.builds(t.Arithmetic, st.sampled_from("+-*/%"), PLAIN, _VALUES)
_RULE_COMPARISONS = st.builds(t.Comparison, COMPARATORS, PLAIN, _OVER_A_VARIABLE) | st.builds(
    t.Comparison, COMPARATORS, _OVER_A_VARIABLE, PLAIN
)
_AGGREGATES = st.just(t.Aggregate("COUNT", None)) | st.builds(
    t.Aggregate, st.sampled_from(["SUM", "MIN", "MAX", "AVG"]), PLAIN
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
