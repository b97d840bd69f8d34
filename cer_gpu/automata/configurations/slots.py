"""Clocks in the states of timed automata: slots, their tests, and the interface that answers the tests.

A clock that was reset at an event has a **slot** in the place of its value: a number in the order of age, or
`now` for the event that is being read. The tests of a query are its intervals, numbered; only who answers
(`Ages.holds`) knows what the slots stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from operator import ge
from typing import Any, Protocol, TypeAlias

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Bound, Interval
from cer_gpu.language.units import exact

TIME, EVENTS = range(2)
"""What a clock measures: the order attribute, or the events of the partition."""


class Slot(int):
    """A clock with an upper and a lower bound: neither a younger nor an older one can replace it.

    A slot equals a slot of its own kind alone. A register holds a count as a plain number or as a slot, and
    a partial match that has counted 0 is not one whose count lies in slot 0.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"


class UpperBoundClock(Slot):
    """A clock with an upper bound alone: a younger one can do whatever an older one can."""

    __slots__ = ()


class LowerBoundClock(Slot):
    """A clock with a lower bound alone: an older one can do whatever a younger one can."""

    __slots__ = ()


NOW = -1
"""The slot of a clock that is reset at the event that is being read: `NOW - measure`."""


@dataclass(frozen=True, slots=True)
class AgeTest:
    """A test of a clock: whether its age lies in an interval.

    Attributes
    ----------
    measure : {TIME, EVENTS}
    interval : Interval or None
        None: whether it was reset at this very time.
    about : str
        The operator that asks, as it is written; for messages.
    """

    measure: int
    interval: Interval | None
    about: str = ""


class AgeTests:
    """The tests of a query, each once, by number; the first ones, one for each measure: is a clock new?"""

    def __init__(self) -> None:
        self.all: list[AgeTest] = []
        self._number: dict[Hashable, int] = {}
        for measure in (TIME, EVENTS):
            self.number(AgeTest(measure, None))

    def number(self, test: AgeTest) -> int:
        """The number of a test."""
        key = test.measure, None if test.interval is None else _key(test.interval)
        found = self._number.get(key)
        if found is None:
            found = self._number[key] = len(self.all)
            self.all.append(test)
        return found


def _key(interval: Interval) -> Hashable:
    return tuple(
        None if bound is None else (exact(bound.value), bound.unit, bound.open)
        for bound in (interval.low, interval.high)
    )


class Clock:
    """A clock of an operator: the interval that it is asked for once, or up to its upper bound again.

    Parameters
    ----------
    interval : Interval
    measure : {TIME, EVENTS}
    tests : AgeTests
        Gets its tests.
    about : str
        The operator, as it is written.

    Attributes
    ----------
    inside : int
        The test whether its age is in the interval.
    """

    __slots__ = ("_in_time", "_kind", "_now", "_zero", "inside")

    def __init__(self, interval: Interval, measure: int, tests: AgeTests, about: str) -> None:
        self.inside = tests.number(AgeTest(measure, interval, about))
        low, high = interval.low, interval.high
        if low is not None and not _has_low(low):
            low = None
        self._in_time = None
        self._kind: type[Slot] = LowerBoundClock
        if high is not None:
            self._in_time = tests.number(AgeTest(measure, Interval(None, high), about))
            self._kind = UpperBoundClock if low is None else Slot
        self._now = NOW - measure
        self._zero = _holds_of_zero(interval)

    def reset(self) -> Slot:
        """The slot of the clock, reset at the event that is being read."""
        return self._kind(self._now)

    def holds(self, slot: Slot, answers: Ages) -> bool:
        """Whether its age is in the interval."""
        return self._zero if slot < 0 else answers.holds(slot, self.inside)

    def late(self, slot: Slot, answers: Ages) -> bool:
        """Whether its age is above the upper bound, and stays so."""
        if self._in_time is None:
            return False
        if slot < 0:
            return not self._zero and self._kind is UpperBoundClock
        return not answers.holds(slot, self._in_time)

    def settled(self, slot: Slot, answers: Ages) -> bool:
        """Whether its age is in the interval, and stays so."""
        return self._in_time is None and self.holds(slot, answers)


def _has_low(bound: Bound) -> bool:
    """Whether a lower bound keeps any age out."""
    return bound.value > 0 or (bound.value == 0 and bound.open)


def _holds_of_zero(interval: Interval) -> bool:
    low, high = interval.low, interval.high
    if low is not None and _has_low(low):
        return False
    return high is None or high.value > 0 or (high.value == 0 and not high.open)


class Ages(Protocol):
    """Answers tests about the event that is being read."""

    symbol: int

    def holds(self, slot: int, test: int) -> bool:
        """Whether a test holds for a clock that was reset at an earlier event."""


State: TypeAlias = Any
"""A state of a composed automaton: tuples, frozen sets, texts, numbers and slots; hashable."""


def slots_of(state: State) -> Iterator[Slot]:
    """The slots in a state, sets included."""
    kind = type(state)
    if kind is tuple or kind is frozenset:
        for part in state:
            yield from slots_of(part)
    elif isinstance(state, Slot):
        yield state


def renamed(state: State, name: Callable[[int], int]) -> State:
    """A state with other slots."""
    kind = type(state)
    if kind is tuple:
        return tuple(renamed(part, name) for part in state)
    if kind is frozenset:
        return frozenset(renamed(part, name) for part in state)
    if isinstance(state, Slot):
        return kind(name(int(state)))
    return state


def best(states: Iterable[State]) -> frozenset[State]:
    """The states without those that another one can replace: it can do whatever they can.

    Two states that differ in clocks with one bound alone are compared clock by clock. Sets inside states
    (runs that UNLESS forbids or a selector prefers) only restrict a state, so they have to be equal.
    """
    states = frozenset(states)
    if len(states) < 2:
        return states
    groups: dict[State, list[tuple[State, tuple[int, ...]]]] = {}
    for state in states:
        ages: list[int] = []
        groups.setdefault(_masked(state, ages), []).append((state, tuple(ages)))
    if len(groups) == len(states):
        return states
    kept = []
    for group in groups.values():
        for state, own in group:
            if not any(other != own and all(map(ge, other, own)) for _, other in group):
                kept.append(state)
    return frozenset(kept)


_LATEST = 1 << 40


def _masked(state: State, ages: list[int]) -> State:
    """A state without its clocks with one bound; puts into `ages` how good each is."""
    kind = type(state)
    if kind is tuple:
        return tuple(_masked(part, ages) for part in state)
    if kind is UpperBoundClock:
        slot = int(state)
        ages.append(_LATEST if slot < 0 else slot)
        return kind
    if kind is LowerBoundClock:
        slot = int(state)
        ages.append(-_LATEST if slot < 0 else -slot)
        return kind
    return state
