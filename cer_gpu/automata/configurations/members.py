"""The operators of patterns as automata that are stepped lazily, with clocks in their states.

What `cer_gpu.automata.operators` builds whole, over symbols, is followed here state by state, as events come:
a state may hold clocks, and there are as many as moments at which these were reset. As there, a run first
reads the events before the start of a complex event, with the label `BEFORE`; its last event takes it to
`END`. A state that waits for what may come later keeps the clock by which it is late.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.owed import NOTHING_OWED, Formula, Owed, all_of, negated
from cer_gpu.automata.configurations.registers import Seen
from cer_gpu.automata.configurations.slots import Clock, Slot, State, best
from cer_gpu.automata.match import BEFORE, UNMARKED

END = "end"
"""In the place of a state: the complex event ends at the event that is being read."""

START, INSIDE, BETWEEN = range(3)
"""Where a run of a sequence is: before its start, inside an element, or before the next one."""

Step: TypeAlias = "tuple[Label, State, Owed]"
"""The label of the event, the target, and what is owed from now on; see `owed`."""


class Member(ABC):
    """An automaton that is stepped lazily."""

    @abstractmethod
    def begin(self) -> list[State]:
        """The states before the first event."""

    @abstractmethod
    def follow(self, state: State, event: Seen) -> Iterable[Step]:
        """The transitions from a state."""

    @abstractmethod
    def aged(self, state: State, event: Seen) -> State | None:
        """A state without what is late and without clocks that are settled; None if it is late itself."""

    @abstractmethod
    def labels(self) -> frozenset[Label]:
        """The labels of its transitions: all, and maybe more."""

    def ahead(self, state: State) -> frozenset[Label]:
        """The labels of the transitions that may follow a state: all, and maybe more."""
        return self.labels()

    @abstractmethod
    def relaxed(self) -> Member:
        """An automaton without clocks, comparisons and what is forbidden or preferred: it accepts more."""

    @abstractmethod
    def relaxing(self, state: State) -> Iterator[State]:
        """The states of `relaxed` that a state stands for: where it may end, one of these may end too."""


class Phased(Member):
    """A pattern around another one: its states are a phase and a state of the other."""

    _operand: Member

    def aged(self, state: State, event: Seen) -> State | None:
        phase, inner = state
        inner = self._operand.aged(inner, event)
        return None if inner is None else (phase, inner)

    def labels(self) -> frozenset[Label]:
        return self._operand.labels()

    def ahead(self, state: State) -> frozenset[Label]:
        return self._operand.ahead(state[1])

    def relaxed(self) -> Member:
        return self._operand.relaxed()

    def relaxing(self, state: State) -> Iterator[State]:
        return self._operand.relaxing(state[1])


class OneEvent(Member):
    """One event that satisfies a predicate.

    Parameters
    ----------
    symbols : sequence of bool
        Which symbols satisfy it.
    label : frozenset of str
    """

    def __init__(self, symbols: Sequence[bool], label: Label) -> None:
        self._symbols = symbols
        self._label = label

    def begin(self) -> list[State]:
        return [START]

    def follow(self, state: State, event: Seen) -> Iterator[Step]:
        yield BEFORE, START, NOTHING_OWED
        if self._symbols[event.symbol]:
            yield self._label, END, NOTHING_OWED

    def aged(self, state: State, event: Seen) -> State:
        return state

    def labels(self) -> frozenset[Label]:
        return frozenset([self._label])

    def relaxed(self) -> Member:
        return self

    def relaxing(self, state: State) -> Iterator[State]:
        yield state


class Joint:
    """What stands before an element of a sequence: `;`, `:`, `;[I]` or `:[I]`."""

    def __init__(self, contiguous: bool, clock: Clock | None) -> None:
        self.contiguous = contiguous
        self.clock = clock

    def relaxed(self) -> Joint:
        """The same without a clock."""
        return Joint(self.contiguous, None)

    def reset(self) -> Slot | None:
        """The clock of the state before the element, None if nothing is asked."""
        return None if self.clock is None else self.clock.reset()

    def admits(self, slot: Slot | None, event: Seen) -> bool:
        """Whether the element may begin."""
        return slot is None or self.clock is None or self.clock.holds(slot, event)

    def aged(self, slot: Slot | None, event: Seen) -> tuple[bool, Slot | None]:
        """Whether the element may still begin, now or later, and the clock that is left."""
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

    def follow(self, state: State, event: Seen) -> Iterator[Step]:
        number = state[0]
        for label, target, owed in _inside(self._elements[number], self._joints[number], state, event):
            if target != END:
                yield label, target, owed
                continue
            if self._over[number]:
                yield label, END, owed
            for following in self._next[number]:
                after = self._joints[following].reset()
                for first in self._elements[following].begin():
                    yield label, (following, BETWEEN, after, first), owed

    def aged(self, state: State, event: Seen) -> State | None:
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


def _inside(member: Member, joint: Joint, state: State, event: Seen) -> Iterator[Step]:
    """The steps of an element that `joint` stands before; where it ends, the target is `END`.

    `state` is (which element, phase, clock, state of the element).
    """
    which, phase, slot, inner = state
    admitted: bool | None = True if phase != BETWEEN else None
    for label, target, owed in member.follow(inner, event):
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


class Repeated(Member):
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

    def follow(self, state: State, event: Seen) -> Iterator[Step]:
        ended, joint = state[0], self._joint
        for label, target, owed in _inside(self._body, joint, state, event):
            if target != END:
                yield label, target, owed
                continue
            if ended + 1 >= self._least:
                yield label, END, owed
            if self._goes_on(ended):
                after = joint.reset()
                for again in self._body.begin():
                    yield label, (min(ended + 1, self._enough), BETWEEN, after, again), owed

    def aged(self, state: State, event: Seen) -> State | None:
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
        return Repeated(self._body.relaxed(), self._joint.relaxed(), self._least, self._most)

    def relaxing(self, state: State) -> Iterator[State]:
        ended, phase, _, inner = state
        for one in self._body.relaxing(inner):
            yield ended, phase, None, one


class OneOf(Member):
    """`p OR q`: a state is (side, its state)."""

    def __init__(self, sides: Sequence[Member]) -> None:
        self._sides = sides

    def begin(self) -> list[State]:
        return [(number, state) for number, side in enumerate(self._sides) for state in side.begin()]

    def follow(self, state: State, event: Seen) -> Iterator[Step]:
        number, inner = state
        for label, target, owed in self._sides[number].follow(inner, event):
            yield label, target if target == END else (number, target), owed

    def aged(self, state: State, event: Seen) -> State | None:
        number, inner = state
        inner = self._sides[number].aged(inner, event)
        return None if inner is None else (number, inner)

    def labels(self) -> frozenset[Label]:
        return frozenset().union(*(side.labels() for side in self._sides))

    def ahead(self, state: State) -> frozenset[Label]:
        number, inner = state
        return self._sides[number].ahead(inner)

    def relaxed(self) -> Member:
        return OneOf([side.relaxed() for side in self._sides])

    def relaxing(self, state: State) -> Iterator[State]:
        number, inner = state
        for one in self._sides[number].relaxing(inner):
            yield number, one


class Conjoined(Member):
    """`p AND q`: a state is a pair of states that the same labels have led to."""

    def __init__(self, left: Member, right: Member) -> None:
        self._left = left
        self._right = right

    def begin(self) -> list[State]:
        return list(product(self._left.begin(), self._right.begin()))

    def follow(self, state: State, event: Seen) -> Iterator[Step]:
        one, two = state
        others: dict[Label, list[tuple[State, Owed]]] = {}
        for label, target, owed in self._right.follow(two, event):
            others.setdefault(label, []).append((target, owed))
        for label, target, owed in self._left.follow(one, event):
            for other, more in others.get(label, ()):
                if target != END and other != END:
                    yield label, (target, other), owed | more
                elif target == other:
                    yield label, END, owed | more

    def aged(self, state: State, event: Seen) -> State | None:
        one, two = state
        one = self._left.aged(one, event)
        two = None if one is None else self._right.aged(two, event)
        return None if two is None else (one, two)

    def labels(self) -> frozenset[Label]:
        return self._left.labels() & self._right.labels()

    def ahead(self, state: State) -> frozenset[Label]:
        return self._left.ahead(state[0]) & self._right.ahead(state[1])

    def relaxed(self) -> Member:
        return Anywhere(self._left.relaxed(), self._right.relaxed())

    def relaxing(self, state: State) -> Iterator[State]:
        one, two = state
        yield from product(self._left.relaxing(one), self._right.relaxing(two))


class Anywhere(Member):
    """`p ALL q`: a state is a pair of states; `END` stands for a side that has ended."""

    def __init__(self, left: Member, right: Member) -> None:
        self._left = left
        self._right = right

    def begin(self) -> list[State]:
        return list(product(self._left.begin(), self._right.begin()))

    def follow(self, state: State, event: Seen) -> Iterator[Step]:
        one, two = state
        if one == END or two == END:
            side, inner = (self._right, two) if one == END else (self._left, one)
            for label, target, owed in side.follow(inner, event):
                shown = UNMARKED if label == BEFORE else label
                if target == END:
                    yield shown, END, owed
                else:
                    yield shown, (END, target) if one == END else (target, END), owed
            return
        theirs = list(self._right.follow(two, event))
        for label, target, owed in self._left.follow(one, event):
            for other, reached, more in theirs:
                shown = _together(label, other)
                yield shown, END if target == reached == END else (target, reached), owed | more

    def aged(self, state: State, event: Seen) -> State | None:
        one, two = state
        if one != END:
            one = self._left.aged(one, event)
        if two != END and one is not None:
            two = self._right.aged(two, event)
        return None if one is None or two is None else (one, two)

    def labels(self) -> frozenset[Label]:
        return _mixed(self._left.labels(), self._right.labels())

    def ahead(self, state: State) -> frozenset[Label]:
        one, two = state
        none: frozenset[Label] = frozenset()
        return _mixed(
            none if one == END else self._left.ahead(one), none if two == END else self._right.ahead(two)
        )

    def relaxed(self) -> Member:
        return Anywhere(self._left.relaxed(), self._right.relaxed())

    def relaxing(self, state: State) -> Iterator[State]:
        one, two = state
        yield from product(
            [END] if one == END else self._left.relaxing(one),
            [END] if two == END else self._right.relaxing(two),
        )


def _mixed(left: frozenset[Label], right: frozenset[Label]) -> frozenset[Label]:
    """The labels of two sides, together or alone."""
    return frozenset(one | other for one, other in product(left | {UNMARKED}, right | {UNMARKED}))


def _together(label: Label, other: Label) -> Label:
    if label == BEFORE and other == BEFORE:
        return BEFORE
    return (label | other) - BEFORE


class Without(Member):
    """`p UNLESS q`: a state is (state of p, states of q that has not started, of q that started since p did).

    The states of q are sets: no run of it may end before p does.
    """

    def __init__(self, left: Member, right: Member) -> None:
        self._left = left
        self._right = right

    def begin(self) -> list[State]:
        waiting = frozenset(self._right.begin())
        return [(state, waiting, frozenset()) for state in self._left.begin()]

    def follow(self, state: State, event: Seen) -> Iterator[Step]:
        inner, waiting, running = state
        still: set[State] = set()
        reached: set[State] = set()
        forbidden: set[Formula] = set()
        for one in waiting | running:
            for label, target, owed in self._right.follow(one, event):
                if target == END:
                    forbidden.add(all_of(owed))
                else:
                    (still if label == BEFORE else reached).add(target)
        # What is owed by a complex event of q must not hold.
        more = frozenset(map(negated, forbidden))
        for label, target, owed in self._left.follow(inner, event):
            if label == BEFORE:
                yield BEFORE, (target, frozenset(still), frozenset()), owed
            elif True not in forbidden:
                inside = target if target == END else (target, frozenset(still), frozenset(reached))
                yield label, inside, owed | more

    def aged(self, state: State, event: Seen) -> State | None:
        inner, waiting, running = state
        inner = self._left.aged(inner, event)
        if inner is None:
            return None
        return inner, all_aged(self._right, waiting, event), all_aged(self._right, running, event)

    def labels(self) -> frozenset[Label]:
        return self._left.labels()

    def ahead(self, state: State) -> frozenset[Label]:
        return self._left.ahead(state[0])

    def relaxed(self) -> Member:
        return self._left.relaxed()

    def relaxing(self, state: State) -> Iterator[State]:
        return self._left.relaxing(state[0])


def all_aged(member: Member, states: Iterable[State], event: Seen) -> frozenset[State]:
    """Those of some states that are not late, and of these the best."""
    found = [member.aged(state, event) for state in sorted(states, key=repr)]
    return best(state for state in found if state is not None)
