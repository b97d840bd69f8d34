"""Sequences and iterations as automata that are stepped lazily, with clocks in their states.

States are followed one by one as events come, since a state may hold clocks, and there are as many states as
moments at which these were reset. Without clocks they are few: `cer_gpu.automata.operators` builds the whole
automaton over symbols of them.
A waiting state keeps the clock that tells when it is late.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.member import BETWEEN, END, INSIDE, START, Member, Step
from cer_gpu.automata.configurations.registers import EventFacts
from cer_gpu.automata.configurations.slots import Clock, Slot, State
from cer_gpu.automata.match import BEFORE, UNMARKED


class Joint:
    """The operator before an element of a sequence: `;`, `:`, `;[I]` or `:[I]`."""

    def __init__(self, contiguous: bool, clock: Clock | None) -> None:
        self.contiguous = contiguous
        self.clock = clock

    def relaxed(self) -> Joint:
        """The operator without its clock."""
        return Joint(self.contiguous, None)

    def reset(self) -> Slot | None:
        """The clock of the state before the element, None without an interval."""
        return None if self.clock is None else self.clock.reset()

    def admits(self, slot: Slot | None, event: EventFacts) -> bool:
        """Whether the element may begin."""
        return slot is None or self.clock is None or self.clock.holds(slot, event)

    def aged(self, slot: Slot | None, event: EventFacts) -> tuple[bool, Slot | None]:
        """Whether the element may still begin, now or later, and the clock that is still needed."""
        if slot is None or self.clock is None:
            return True, None
        if self.clock.late(slot, event):
            return False, None
        return True, None if self.clock.settled(slot, event) else slot


class Elements(Member):
    """A sequence of elements, some of them optional: `a ;[I] b ? : c`.

    A state is (number of the element, phase, clock, state of the element).
    """

    def __init__(
        self, elements: Sequence[Member], joints: Sequence[Joint | None], optional: Sequence[bool]
    ) -> None:
        self._elements = elements
        # What stands before the first one is never asked.
        self._joints = [joint or Joint(False, None) for joint in joints]
        self._optional = optional
        # After element i what may come next, and whether the sequence may be over.
        count = len(elements)
        self._next = [self._reachable(number + 1) for number in range(count)]
        self._over = [all(optional[number + 1 :]) for number in range(count)]

    def _reachable(self, first: int) -> list[int]:
        found = []
        for number in range(first, len(self._elements)):
            found.append(number)
            if not self._optional[number]:
                break
        return found

    def begin(self) -> list[State]:
        return [
            (number, START, None, state)
            for number in self._reachable(0)
            for state in self._elements[number].begin()
        ]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        number = state[0]
        steps = self._elements[number].follow(state[-1], event)
        for label, target, owed in inside(steps, self._joints[number], state, event):
            if target != END:
                yield label, target, owed
                continue
            if self._over[number]:
                yield label, END, owed
            for following in self._next[number]:
                after = self._joints[following].reset()
                for first in self._elements[following].begin():
                    yield label, (following, BETWEEN, after, first), owed

    def aged(self, state: State, event: EventFacts) -> State | None:
        number, phase, slot, inner = state
        if slot is not None:
            alive, slot = self._joints[number].aged(slot, event)
            if not alive:
                return None
        inner = self._elements[number].aged(inner, event)
        return None if inner is None else (number, phase, slot, inner)

    def labels(self) -> frozenset[Label]:
        return frozenset().union(*(element.labels() for element in self._elements))

    def ahead(self, state: State) -> frozenset[Label]:
        number, _, _, inner = state
        later = (element.labels() for element in self._elements[number + 1 :])
        return self._elements[number].ahead(inner).union(*later)

    def relaxed(self) -> Member:
        return Elements(
            [element.relaxed() for element in self._elements],
            [joint.relaxed() for joint in self._joints],
            self._optional,
        )

    def relaxing(self, state: State) -> Iterator[State]:
        number, phase, _, inner = state
        for one in self._elements[number].relaxing(inner):
            yield number, phase, None, one


def inside(steps: Iterable[Step], joint: Joint, state: State, event: EventFacts) -> Iterator[Step]:
    """The steps of an element that `joint` stands before; where it ends, the target is `END`.

    `state` is (which element, phase, clock, state of the element); `steps` are those of the element alone.
    """
    which, phase, slot, _ = state
    admitted: bool | None = True if phase != BETWEEN else None
    for label, target, owed in steps:
        if label == BEFORE:
            if phase == START:
                yield BEFORE, (which, START, None, target), owed
            elif not joint.contiguous:
                yield UNMARKED, (which, BETWEEN, slot, target), owed
            continue
        if admitted is None:
            admitted = joint.admits(slot, event)
        if admitted:
            yield label, END if target == END else (which, INSIDE, None, target), owed


class PatternRepetition(Member):
    """`body+`, `body:+[I]`, `body{n,m}`.

    A state is (repetitions that have ended, as far as that matters, phase, clock, state of the body).
    """

    def __init__(self, body: Member, joint: Joint, least: int, most: int | None) -> None:
        self._body = body
        self._joint = joint
        self._least = least
        self._most = most
        self._enough = max(least - 1, 1) if most is None else max(most - 1, 1)

    def begin(self) -> list[State]:
        return [(0, START, None, state) for state in self._body.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        ended, joint = state[0], self._joint
        for label, target, owed in inside(self._body.follow(state[-1], event), joint, state, event):
            if target != END:
                yield label, target, owed
                continue
            if ended + 1 >= self._least:
                yield label, END, owed
            if self._goes_on(ended):
                after = joint.reset()
                for again in self._body.begin():
                    yield label, (min(ended + 1, self._enough), BETWEEN, after, again), owed

    def aged(self, state: State, event: EventFacts) -> State | None:
        ended, phase, slot, inner = state
        alive, slot = self._joint.aged(slot, event)
        inner = self._body.aged(inner, event) if alive else None
        return None if inner is None else (ended, phase, slot, inner)

    def _goes_on(self, ended: int) -> bool:
        """Whether a repetition may follow the one that comes after so many."""
        return self._most is None or ended + 1 < self._most

    def labels(self) -> frozenset[Label]:
        return self._body.labels()

    def ahead(self, state: State) -> frozenset[Label]:
        return self._body.labels() if self._goes_on(state[0]) else self._body.ahead(state[3])

    def relaxed(self) -> Member:
        return PatternRepetition(self._body.relaxed(), self._joint.relaxed(), self._least, self._most)

    def relaxing(self, state: State) -> Iterator[State]:
        ended, phase, _, inner = state
        for one in self._body.relaxing(inner):
            yield ended, phase, None, one
