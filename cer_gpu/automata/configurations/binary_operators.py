"""The operators on two patterns, OR, AND, ALL and UNLESS, as automata that are stepped lazily."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.debts import Formula, Owed, all_of, negated
from cer_gpu.automata.configurations.member import END, Member, PatternWrapper, Step, all_aged
from cer_gpu.automata.configurations.registers import EventFacts
from cer_gpu.automata.configurations.slots import State
from cer_gpu.automata.match import BEFORE, UNMARKED


class Alternative(Member):
    """`p OR q`: a state is (side, its state)."""

    def __init__(self, sides: Sequence[Member]) -> None:
        self._sides = sides

    def begin(self) -> list[State]:
        return [(number, state) for number, side in enumerate(self._sides) for state in side.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        number, inner = state
        for label, target, owed in self._sides[number].follow(inner, event):
            yield label, target if target == END else (number, target), owed

    def aged(self, state: State, event: EventFacts) -> State | None:
        number, inner = state
        inner = self._sides[number].aged(inner, event)
        return None if inner is None else (number, inner)

    def labels(self) -> frozenset[Label]:
        return frozenset().union(*(side.labels() for side in self._sides))

    def ahead(self, state: State) -> frozenset[Label]:
        number, inner = state
        return self._sides[number].ahead(inner)

    def relaxed(self) -> Member:
        return Alternative([side.relaxed() for side in self._sides])

    def relaxing(self, state: State) -> Iterator[State]:
        number, inner = state
        for one in self._sides[number].relaxing(inner):
            yield number, one


class PatternPair(Member):
    """Two patterns that are followed together: a state is a pair of states."""

    def __init__(self, left: Member, right: Member) -> None:
        self._left = left
        self._right = right

    def begin(self) -> list[State]:
        return list(product(self._left.begin(), self._right.begin()))

    def relaxed(self) -> Member:
        return UnorderedPair(self._left.relaxed(), self._right.relaxed())


class PatternConjunction(PatternPair):
    """`p AND q`: a state is a pair of states that the same labels have led to."""

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
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

    def aged(self, state: State, event: EventFacts) -> State | None:
        one, two = state
        one = self._left.aged(one, event)
        two = None if one is None else self._right.aged(two, event)
        return None if two is None else (one, two)

    def labels(self) -> frozenset[Label]:
        return self._left.labels() & self._right.labels()

    def ahead(self, state: State) -> frozenset[Label]:
        return self._left.ahead(state[0]) & self._right.ahead(state[1])

    def relaxing(self, state: State) -> Iterator[State]:
        one, two = state
        yield from product(self._left.relaxing(one), self._right.relaxing(two))


class UnorderedPair(PatternPair):
    """`p ALL q`: a state is a pair of states; `END` stands for a side that has ended."""

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
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

    def aged(self, state: State, event: EventFacts) -> State | None:
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


class UnlessOperator(PatternWrapper):
    """`p UNLESS q`: a state is (state of p, states of q that has not started, of q that started since p did).

    The states of q are sets: no run of it may end before p does.
    """

    def __init__(self, operand: Member, right: Member) -> None:
        self._operand = operand
        self._right = right

    def begin(self) -> list[State]:
        waiting = frozenset(self._right.begin())
        return [(state, waiting, frozenset()) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
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
        for label, target, owed in self._operand.follow(inner, event):
            if label == BEFORE:
                yield BEFORE, (target, frozenset(still), frozenset()), owed
            elif True not in forbidden:
                inside = target if target == END else (target, frozenset(still), frozenset(reached))
                yield label, inside, owed | more

    def aged(self, state: State, event: EventFacts) -> State | None:
        inner, waiting, running = state
        inner = self._operand.aged(inner, event)
        if inner is None:
            return None
        return inner, all_aged(self._right, waiting, event), all_aged(self._right, running, event)
