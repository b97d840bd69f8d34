"""The operators on one pattern, AS, FILTER, WITHIN and FOLLOWED BY, as automata that are stepped lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.member import END, INSIDE, START, Member, PatternWrapper, Step
from cer_gpu.automata.configurations.registers import EventFacts
from cer_gpu.automata.configurations.slots import Clock, State
from cer_gpu.automata.match import BEFORE


class ContextOperator(PatternWrapper):
    """`p FOLLOWED BY q`: those complex events whose last event (`first`: first one) has a property.

    A state is (whether the first event has been read, state of p).
    """

    _at = 1

    def __init__(self, operand: Member, symbols: Sequence[bool], first: bool) -> None:
        self._operand = operand
        self._symbols = symbols
        self._first = first

    def begin(self) -> list[State]:
        return [(START, state) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        phase, inner = state
        held = self._symbols[event.symbol]
        for label, target, owed in self._operand.follow(inner, event):
            if label == BEFORE:
                yield label, (START, target), owed
            elif self._first and phase == START and not held:
                continue
            elif target != END:
                yield label, (INSIDE, target), owed
            elif self._first or held:
                yield label, END, owed

    def relaxed(self) -> Member:
        return ContextOperator(self._operand.relaxed(), self._symbols, self._first)

    def relaxing(self, state: State) -> Iterator[State]:
        for one in self._operand.relaxing(state[1]):
            yield state[0], one


class LabelOperator(Member):
    """AS and PROJECT."""

    def __init__(self, operand: Member, relabel: Callable[[Label], Label]) -> None:
        self._operand = operand
        self._relabel = relabel

    def begin(self) -> list[State]:
        return self._operand.begin()

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        for label, target, owed in self._operand.follow(state, event):
            yield label if label == BEFORE else self._relabel(label), target, owed

    def aged(self, state: State, event: EventFacts) -> State | None:
        return self._operand.aged(state, event)

    def labels(self) -> frozenset[Label]:
        return frozenset(map(self._relabel, self._operand.labels()))

    def ahead(self, state: State) -> frozenset[Label]:
        return frozenset(map(self._relabel, self._operand.ahead(state)))

    def relaxed(self) -> Member:
        return self._operand.relaxed()

    def relaxing(self, state: State) -> Iterator[State]:
        return self._operand.relaxing(state)


class VariableFilter(PatternWrapper):
    """`p FILTER c` where c combines conditions on all events that a variable marks.

    A state is (state of p, which of the conditions some event has violated).
    """

    def __init__(
        self,
        operand: Member,
        literals: Sequence[tuple[str, Sequence[bool]]],
        holds: Callable[[Sequence[bool]], bool],
    ) -> None:
        self._operand = operand
        self._literals = literals
        self._holds = holds

    def begin(self) -> list[State]:
        return [(state, frozenset()) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        inner, violated = state
        for label, target, owed in self._operand.follow(inner, event):
            now = violated
            for number, (variable, satisfied) in enumerate(self._literals):
                if variable in label and not satisfied[event.symbol]:
                    now = now | {number}
            if target != END:
                yield label, (target, now), owed
            elif self._holds([number not in now for number in range(len(self._literals))]):
                yield label, END, owed


class DurationWindow(PatternWrapper):
    """`(p) WITHIN [I]`: a state is (phase, clock that was reset at the start, state of p)."""

    _at = 2

    def __init__(self, operand: Member, clock: Clock) -> None:
        self._operand = operand
        self._clock = clock

    def begin(self) -> list[State]:
        return [(START, None, state) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        phase, slot, inner = state
        for label, target, owed in self._operand.follow(inner, event):
            if label == BEFORE:
                yield BEFORE, (START, None, target), owed
                continue
            now = self._clock.reset() if phase == START else slot
            if target != END:
                yield label, (INSIDE, now, target), owed
            elif now is None or self._clock.holds(now, event):
                yield label, END, owed

    def aged(self, state: State, event: EventFacts) -> State | None:
        phase, slot, inner = state
        if slot is not None:
            if self._clock.late(slot, event):
                return None
            if self._clock.settled(slot, event):
                slot = None
        inner = self._operand.aged(inner, event)
        return None if inner is None else (phase, slot, inner)


class AttributeSpan(PatternWrapper):
    """`(p) WITHIN n [attr]`: a state is (value of the attribute at the start, state of p).

    The attribute may fall, so that no start is ever late.
    """

    _at = 1

    def __init__(self, operand: Member, column: int, size: int | float) -> None:
        self._operand = operand
        self._column = column
        self._size = size

    def begin(self) -> list[State]:
        return [((), state) for state in self._operand.begin()]

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        first, inner = state
        for label, target, owed in self._operand.follow(inner, event):
            if label == BEFORE:
                yield BEFORE, ((), target), owed
                continue
            here = first or (event.value(self._column),)
            if event.missing(here[0]):
                continue
            if target != END:
                yield label, (here, target), owed
            elif event.spans(self._column, here[0], event.value(self._column), self._size):
                yield label, END, owed
