"""What is asked of two neighbours is asked of the later one, with PREV.

`A AS a : B AS b FILTER b.v > a.v` is `A AS a : B AS b FILTER b[v > PREV(v)]`, and `A :[> 6 h] B` over the
order `ts` is `A : (B FILTER B[ts - PREV(ts) > 6 h])`. As comparisons and intervals these follow partial
matches; as predicates of single events they leave the pattern regular.

The law: in a complex event of `p : q`, end(C1) + 1 = start(C2), by position in the stream that the pattern
runs on (LANGUAGE 3). PREV is of the event before in the same stream, whatever its type (LANGUAGE 4). So
PREV(a) of the first event of C2 is a of the last event of C1, also where it is null; and PREV(a, n) of an
event is a of the event n positions before. Both forms put the same values in the same comparison, so they
have the same truth value, under NOT and OR too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any, TypeAlias

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.repetitions import has_optional
from cer_gpu.language.scalar_functions import nearest_float
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.scope import variables
from cer_gpu.language.units import NANOSECONDS, nanoseconds
from cer_gpu.language.walk import is_one_event, leaves_of, marking, rebuild, walk
from cer_gpu.logic.binding import reads
from cer_gpu.logic.boolean import conjunction, replace_literals

Gap: TypeAlias = Callable[[t.Interval], "t.Condition | None"]
"""The predicate that the time since the event before is in an interval; None where there is no such one."""


def comparisons_with_previous(pattern: t.Pattern) -> t.Pattern:
    """Replace comparisons of events whose distance is fixed by predicates of the last of them.

    Each variable marks exactly one event, and a comparison, which speaks of every choice of events, speaks of
    these. `A AS a : B AS b : C AS c FILTER c.v > a.v` becomes `... FILTER c[v > PREV(v, 2)]`.
    """
    made = _inside(pattern, comparisons_with_previous)
    if not isinstance(made, t.Filter) or not any(map(_is_compared, leaves_of(made.condition))):
        return made
    known = distances(made.pattern)
    condition = replace_literals(made.condition, lambda one: _of_latest(one, known))
    return made if condition == made.condition else replace(made, condition=condition)


def intervals_with_previous(pattern: t.Pattern, gap: Gap, unrolls: bool = True) -> t.Pattern:
    """Replace intervals of `:` by predicates of the first event of what comes after.

    Those of iterations stay: sessions, `E :+[<= 30 min]`, are found a session at a time.

    Parameters
    ----------
    pattern : Pattern
    gap : callable
    unrolls : bool
        Whether a repetition may be taken out of its iteration, as in `p (p')+`. It may not where an aggregate
        gives a value for each repetition.
    """
    made = _inside(pattern, lambda part: intervals_with_previous(part, gap, unrolls))
    if not isinstance(made, t.Sequence) or not made.contiguous or made.gap is None:
        return made
    after = gap(made.gap)
    if after is None or has_optional(made):
        return made
    right = _beginning(made.right, after, unrolls)
    return made if right is None else replace(made, right=right, gap=None)


def since_previous(interval: t.Interval, schema: Schema) -> t.Condition | None:
    """That the time since the event before is in an interval; None where no predicate says that exactly.

    Parameters
    ----------
    interval : Interval
    schema : Schema
        With an order.
    """
    assert schema.order is not None
    time = t.Attribute(schema.order)
    since = t.Arithmetic("-", time, t.Previous(time))
    found: list[t.Condition] = []
    for bound, op in ((interval.low, ">"), (interval.high, "<")):
        if bound is not None:
            value = _constant(bound, schema)
            if value is None:
                return None
            found.append(t.Comparison(op if bound.open else f"{op}=", since, value))
    return conjunction(found)


def _constant(bound: t.Bound, schema: Schema) -> t.Expression | None:
    """A bound as a constant that compares with a difference of times; None where there is none."""
    kind, own = schema.attributes.get(schema.order or ""), schema.units.get(schema.order or "")
    if bound.parameter is not None:
        return None
    if kind in (ValueType.TIMESTAMP, ValueType.DURATION):
        unit = bound.unit or own
        return None if unit is None else t.Quantity(bound.value, unit)
    if kind not in (ValueType.INT64, ValueType.FLOAT64):
        return None
    if bound.unit is None:
        return t.Number(bound.value)
    if schema.order_unit is None:
        return None
    scaled = nanoseconds(bound.value, bound.unit) / NANOSECONDS[schema.order_unit]
    if kind is ValueType.FLOAT64:
        return t.Number(nearest_float(scaled))
    return t.Number(scaled.numerator) if scaled.denominator == 1 else None


def _inside(pattern: t.Pattern, change: Callable[[t.Pattern], t.Pattern]) -> t.Pattern:
    """The pattern with its parts changed, but for what is looked for beside it, a query of its own."""
    if isinstance(pattern, t.Beside):
        left = change(pattern.left)
        return pattern if left is pattern.left else replace(pattern, left=left)
    return rebuild(pattern, change)


def _beginning(pattern: t.Pattern, predicate: t.Condition, unrolls: bool) -> t.Pattern | None:
    """The complex events of a pattern whose first event satisfies a predicate; None where that is not known.

    A selector chooses among all complex events of its operand, so nothing is put inside.
    """

    def begun(part: t.Pattern) -> t.Pattern | None:
        return _beginning(part, predicate, unrolls)

    match pattern:
        case t.EventType(name=name):
            return t.Filter(pattern, t.Every(name, predicate))
        case (
            t.As(pattern=inner) | t.Filter(pattern=inner) | t.Timed(pattern=inner) | t.Project(pattern=inner)
        ):
            made = begun(inner)
            return None if made is None else replace(pattern, pattern=made)
        case t.Or(left=left, right=right):
            one, other = begun(left), begun(right)
            return None if one is None or other is None else replace(pattern, left=one, right=other)
        case t.Sequence(left=left) | t.And(left=left) | t.Unless(left=left) | t.Beside(left=left):
            if isinstance(pattern, t.Sequence) and has_optional(pattern):
                return None
            made = begun(left)
            return None if made is None else replace(pattern, left=made)
        case t.Iteration(pattern=body) if unrolls:
            made = begun(body)
            return None if made is None else _unrolled(pattern, made)
    return None


def _unrolled(iteration: t.Iteration, first: t.Pattern) -> t.Pattern | None:
    """An iteration whose first repetition is another pattern; None where that changes what it means.

    A filter inside speaks of its own repetition, so that it must read no variable that the repetition defines
    outside the filtered part; and PRIOR would look for a repetition before.
    """
    body, times = iteration.pattern, iteration.times
    if times is not None and (times.least_parameter or times.most_parameter):
        return None
    if reads(body) & variables(body) or any(getattr(node, "prior", "") for node in walk(body)):
        return None
    most = None if iteration.most is None else iteration.most - 1
    if most == 0:
        return first
    rest = replace(iteration, times=t.Times(max(iteration.least - 1, 1), most))
    longer = t.Sequence(first, rest, iteration.contiguous, iteration.gap)
    return longer if iteration.least > 1 else t.Or(first, longer)


def _is_compared(leaf: t.Condition) -> bool:
    """Whether a condition compares events of several variables, and nothing of them but their values."""
    if isinstance(leaf, t.Every | t.Truth):
        return False
    names: set[str | None] = set()
    for node in walk(leaf):
        if isinstance(node, t.Aggregate) or (isinstance(node, t.Previous) and node.parameter is not None):
            return False
        if isinstance(node, t.Attribute):
            if node.prior:
                return False
            names.add(node.variable)
    return len(names) > 1 and None not in names


def _of_latest(leaf: t.Condition, known: Distances) -> t.Condition:
    """A comparison as a predicate of the last of its events; the comparison where their distances differ."""
    if not _is_compared(leaf):
        return leaf
    names = {str(node.variable) for node in walk(leaf) if isinstance(node, t.Attribute)}
    offsets = known.of(names)
    if offsets is None:
        return leaf
    latest = max(names, key=lambda name: (offsets[name], name))
    return t.Every(latest, _from(leaf, offsets, offsets[latest]), span=leaf.span)


def _from(node: Any, offsets: Offsets, place: int) -> Any:
    """A condition over values of several events as one over those of the event at `place`."""
    match node:
        case t.Attribute(name=name, variable=str() as variable):
            attribute = t.Attribute(name, span=node.span)
            behind = place - offsets[variable]
            return t.Previous(attribute, behind, span=node.span) if behind else attribute
        case t.Previous(attribute=t.Attribute(name=name, variable=str() as variable), distance=distance):
            return t.Previous(t.Attribute(name), distance + place - offsets[variable], span=node.span)
    return rebuild(node, lambda part: _from(part, offsets, place))


Offsets: TypeAlias = Mapping[str, int]
"""The positions of the single events that variables mark, counted from one event of the pattern."""

NONE: Offsets = {}


@dataclass(frozen=True, slots=True)
class Distances:
    """What a pattern says of the positions in each of its complex events.

    In `A AS a : B AS b ; C+ ; D AS d : E AS e` the event of b is the next one after that of a, and the event
    of e the next one after that of d. Nothing is known of b and d.

    Attributes
    ----------
    front, back : Offsets
        Of the variables whose event is so many positions after the first event, and after the last one
        (so these are at most 0). Each of them marks exactly one event.
    inner : tuple of Offsets
        The same of other variables, counted from some event between.
    length : int or None
        How many positions there are from the first event to the last; None if that differs.
    """

    front: Offsets = field(default_factory=dict)
    back: Offsets = field(default_factory=dict)
    inner: tuple[Offsets, ...] = ()
    length: int | None = None

    def of(self, names: Iterable[str]) -> Offsets | None:
        """Offsets that have all these variables; None where their distances are not known."""
        wanted = set(names)
        return next((one for one in (self.front, self.back, *self.inner) if wanted <= one.keys()), None)

    def limited(self, change: Iterable[str], keep: bool = False) -> Distances:
        """The same without some variables, or with these alone."""
        names = frozenset(change)

        def rest(one: Offsets) -> Offsets:
            return {name: place for name, place in one.items() if (name in names) is keep}

        return Distances(rest(self.front), rest(self.back), tuple(map(rest, self.inner)), self.length)


def distances(pattern: t.Pattern) -> Distances:
    """The distances that a pattern fixes.

    By the semantics of `:`, end(C1) + 1 = start(C2): positions add up along contiguous sequences. A variable
    that two steps define may mark two events, and is left out.
    """
    match pattern:
        case t.EventType():
            found = dict.fromkeys(pattern.variables, 0)
            return Distances(found, found, (), 1)
        case t.OtherEvent():
            return Distances(length=1)
        case t.As(pattern=inner, variable=name):
            known = distances(inner).limited([name])
            if known.length != 1:
                return known
            # What is one event and has no mark, `NOT (T)`, gets none by AS.
            is_marked = bool(known.front) or is_one_event(inner)
            alone = {**known.front, name: 0} if is_marked else NONE
            return Distances(alone, alone, known.inner, 1)
        case t.Project(pattern=inner, variables=kept):
            return distances(inner).limited(kept, keep=True)
        case t.Sequence():
            return _of_sequence(pattern)
        case t.Or(left=left, right=right):
            return _of_both(distances(left), distances(right))
        case t.All(left=left, right=right):
            one, other = _apart(left, right)
            return Distances(inner=(*_every(one), *_every(other)))
        case t.And(left=left):
            return distances(left)
        case t.Filter() | t.Timed() | t.Unless() | t.Beside() | t.Selector():
            (inner,) = marking(pattern)
            return distances(inner)
    # An iteration repeats its events, and what is optional may be left out.
    return Distances()


def _of_sequence(pattern: t.Sequence) -> Distances:
    one, other = _apart(pattern.left, pattern.right)
    if not pattern.contiguous:
        return Distances(one.front, other.back, (*_every(one), *_every(other)))
    joined = {**one.back, **{name: 1 + place for name, place in other.front.items()}}
    front, back = one.front, other.back
    if one.length is not None:
        front = {**front, **{name: one.length + place for name, place in other.front.items()}}
    if other.length is not None:
        back = {**{name: place - other.length for name, place in one.back.items()}, **back}
    length = None if one.length is None or other.length is None else one.length + other.length
    return Distances(front, back, (joined, *one.inner, *other.inner), length)


def _apart(left: t.Pattern, right: t.Pattern) -> tuple[Distances, Distances]:
    """Those of two patterns, without the variables that both define."""
    shared = variables(left) & variables(right)
    return distances(left).limited(shared), distances(right).limited(shared)


def _of_both(one: Distances, other: Distances) -> Distances:
    """What two patterns agree in."""
    length = one.length if one.length == other.length else None
    return Distances(_agreed(one.front, other.front), _agreed(one.back, other.back), (), length)


def _agreed(one: Offsets, other: Offsets) -> Offsets:
    return {name: place for name, place in one.items() if other.get(name) == place}


def _every(known: Distances) -> tuple[Offsets, ...]:
    return known.front, known.back, *known.inner
