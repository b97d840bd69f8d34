"""The interface of automata that are stepped lazily: `Member`, and `PatternWrapper` for those around another
one.

A run first reads the events before the start of a complex event, with the label `BEFORE`; its last event
takes it to `END`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, TypeAlias

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.debts import NOTHING_OWED, Owed
from cer_gpu.automata.configurations.registers import EventFacts
from cer_gpu.automata.configurations.slots import State, best
from cer_gpu.automata.match import BEFORE

END = "end"
"""In the place of a state: the complex event ends at the event that is being read."""

START, INSIDE, BETWEEN = range(3)
"""Where a run of a sequence is: before its start, inside an element, or before the next one."""

Step: TypeAlias = "tuple[Label, State, Owed]"
"""The label of the event, the target, and what is owed from now on; see `owed`."""


class PlainSymbol:
    """An event of which only the symbol is read."""

    def __init__(self, symbol: int) -> None:
        self.symbol = symbol


class Member(ABC):
    """An automaton that is stepped lazily; without operands, clocks and comparisons unless it says so."""

    @abstractmethod
    def begin(self) -> list[State]:
        """The states before the first event."""

    @abstractmethod
    def follow(self, state: State, event: EventFacts) -> Iterable[Step]:
        """The transitions from a state."""

    def aged(self, state: State, event: EventFacts) -> State | None:
        """A state without late members and settled clocks; None if it is late itself."""
        return state

    @abstractmethod
    def labels(self) -> frozenset[Label]:
        """A superset of the labels of its transitions."""

    def ahead(self, state: State) -> frozenset[Label]:
        """A superset of the labels of the transitions that may follow a state."""
        return self.labels()

    def relaxed(self) -> Member:
        """The automaton without clocks, comparisons, UNLESS and selectors: it accepts more."""
        return self

    def relaxing(self, state: State) -> Iterator[State]:
        """The states of `relaxed` for a state: if it may end, one of these may end too."""
        yield state


class PatternWrapper(Member):
    """A pattern around another one: its states are tuples, in which the other's state stands at `_at`."""

    _operand: Member
    _at: ClassVar[int] = 0

    def aged(self, state: State, event: EventFacts) -> State | None:
        at = self._at
        inner = self._operand.aged(state[at], event)
        return None if inner is None else (*state[:at], inner, *state[at + 1 :])

    def labels(self) -> frozenset[Label]:
        return self._operand.labels()

    def ahead(self, state: State) -> frozenset[Label]:
        return self._operand.ahead(state[self._at])

    def relaxed(self) -> Member:
        return self._operand.relaxed()

    def relaxing(self, state: State) -> Iterator[State]:
        return self._operand.relaxing(state[self._at])


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

    def follow(self, state: State, event: EventFacts) -> Iterator[Step]:
        yield BEFORE, START, NOTHING_OWED
        if self._symbols[event.symbol]:
            yield self._label, END, NOTHING_OWED

    def labels(self) -> frozenset[Label]:
        return frozenset([self._label])


def all_aged(member: Member, states: Iterable[State], event: EventFacts) -> frozenset[State]:
    """The states that are not late and that no other of them can replace."""
    found = [member.aged(state, event) for state in sorted(states, key=repr)]
    return best(state for state in found if state is not None)
