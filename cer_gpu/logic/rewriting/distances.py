"""How far apart the events are that variables mark, where the pattern says so.

In `A AS a : B AS b ; C+ ; D AS d : E AS e` the event of b is the next one after that of a, and the event of e
the next one after that of d. Nothing is known of b and d.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.language.walk import is_one_event, marking

Offsets: TypeAlias = Mapping[str, int]
"""The positions of the single events that variables mark, counted from one event of the pattern."""

NONE: Offsets = {}


@dataclass(frozen=True, slots=True)
class Distances:
    """What a pattern says of the positions in each of its complex events.

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
