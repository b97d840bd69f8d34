"""Determinisation on the concrete stream: configurations of a timed automaton, which are shapes and slots.

A **configuration** stands for all runs that have given the same labels to the same events so far. It is the
set of the states that these runs are in, the subset construction, with clocks in the states. A **shape** is
such a set with slots in the place of clock values: slot 0 is the clock that was reset first. Clocks that were
reset at the same time are one slot; those that nothing asks for any more have none. So a configuration is a
shape and the times of its slots.

What an event does to a shape depends on the symbol of the event and on what the tests say of the ages of the
slots. `Shapes.step` finds it for the tests that are asked on the way, one after another: they make a decision
tree, which grows only where the stream leads.

Determinisation ends on every stream, also where no timed automaton is equivalent that is deterministic: n
events make at most n moments, and a state has boundedly many clocks. The number of members is bounded by that
of the states of the operators with all ways to put the open moments into their clocks; a member is open up to
the upper bound of its clocks. Members that can do no more than another one (`slots.best`) are left out, and
a clock without an upper bound is dropped once it is above the lower one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, TypeAlias

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.formulas import Stepped
from cer_gpu.automata.configurations.members import END
from cer_gpu.automata.configurations.slots import NOW, Ages, State, best, renamed, slots_of
from cer_gpu.automata.match import BEFORE, UNMARKED
from cer_gpu.errors import LimitError
from cer_gpu.frozen import dataclass

TICK = -1
"""In the place of a symbol: time has passed, and nothing is read."""

SHAPES = 20_000
"""Shapes that a query may come to on a stream."""

SLOTS = 255
"""Clocks that a shape may have."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A set of states whose clocks are slots.

    Attributes
    ----------
    started : bool
        Whether the complex events have started. Otherwise it is what the events before the start have left.
    states : frozenset of State
    measures : tuple of int
        What each slot measures.
    """

    started: bool
    states: frozenset[State]
    measures: tuple[int, ...]


class Outcome(NamedTuple):
    """One of the things that an event does to a configuration: it gives the event a label.

    Attributes
    ----------
    label : int
        0: the event is unmarked.
    starts : bool
        Whether complex events start at the event.
    accepts : bool
        Whether complex events end at it.
    target : int
        The shape of the complex events that go on, -1 if none does.
    slots : tuple of int
        For each slot of the target the slot of the configuration that it was; `NOW - measure` for the event.
    """

    label: int
    starts: bool
    accepts: bool
    target: int
    slots: tuple[int, ...]


class Asked(NamedTuple):
    """A test of a slot, and what it said."""

    slot: int
    test: int
    holds: bool


Path: TypeAlias = tuple[Asked, ...]


class _WithoutRegisters:
    """Only clocks are asked for: no value of an event."""

    def _none(self, *about: object) -> Any:
        raise TypeError("a shape has no values")

    value = missing = less = same = spans = satisfies = holds_of = _none


class _Noting(_WithoutRegisters):
    """Ages tests, each once, and notes them."""

    def __init__(self, symbol: int, answers: Ages) -> None:
        self.symbol = symbol
        self._answers = answers
        self._known: dict[tuple[int, int], bool] = {}
        self.path: list[Asked] = []

    def holds(self, slot: int, test: int) -> bool:
        key = int(slot), test
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._answers.holds(key[0], test)
            self.path.append(Asked(*key, found))
        return found


class _AsksNothing(_WithoutRegisters):
    """Says whether anything is asked, by an error."""

    def __init__(self, symbol: int) -> None:
        self.symbol = symbol

    def holds(self, slot: int, test: int) -> bool:
        raise _AskedError


class _AskedError(Exception):
    """Something was asked."""


class Shapes:
    """The shapes of an automaton, as a stream comes to them.

    Parameters
    ----------
    automaton : Stepped

    Attributes
    ----------
    all : list of Shape
        By number; 0 is that of a stream without events.
    labels : tuple of frozenset of str
        By number; 0 is `UNMARKED`.
    """

    def __init__(self, automaton: Stepped) -> None:
        self._member = automaton.member
        self._tests = automaton.tests.all
        self.all: list[Shape] = []
        self._number: dict[Hashable, int] = {}
        self.labels = automaton.labels
        self._label = {label: number for number, label in enumerate(self.labels)}
        self._shape(False, frozenset(automaton.member.begin()), ())

    def put(self, shape: Shape) -> int:
        """The number of a shape that another run has come to."""
        return self._shape(shape.started, shape.states, shape.measures)

    def _shape(self, started: bool, states: frozenset[State], measures: tuple[int, ...]) -> int:
        key = started, states, measures
        found = self._number.get(key)
        if found is None:
            if len(self.all) == SHAPES:
                raise LimitError(self.about(f"its partial matches have more than {SHAPES:,} shapes"))
            found = self._number[key] = len(self.all)
            self.all.append(Shape(started, states, measures))
        return found

    def about(self, what: str) -> str:
        """The message of a limit: the operators whose clocks are open, and what to do."""
        asked = {test.about for test in self._tests if test.about}
        operators = "; ".join(sorted(asked))
        return (
            f"{what}: they keep the times at which their clocks were set, of {operators}. Give these a "
            "narrower interval, filter more, or part the stream (PARTITION BY)"
        )

    def stays(self, number: int, symbol: int) -> bool:
        """Whether an event with a symbol changes nothing of a shape but the ages of its slots."""
        shape = self.all[number]
        event = _AsksNothing(symbol)
        found: set[State] = set()
        try:
            for state in shape.states:
                for label, target, _ in self._member.follow(state, event):
                    if label != (UNMARKED if shape.started else BEFORE):
                        return False
                    found.add(target)
        except _AskedError:
            return False
        return found == shape.states

    def step(self, number: int, symbol: int, answers: Ages) -> tuple[Path, tuple[Outcome, ...]]:
        """What an event does to a configuration.

        Parameters
        ----------
        number : int
            Its shape.
        symbol : int
            `TICK` if time has passed, and nothing else.
        answers : Ages
            Of the ages of its slots.

        Returns
        -------
        path : tuple of Asked
            What was asked, in order: whoever gives the same answers has the same outcomes.
        outcomes : tuple of Outcome

        Raises
        ------
        LimitError
            Past the budget of shapes.
        """
        shape = self.all[number]
        event = _Noting(symbol, answers)
        reached: dict[Label, set[State]] = {}
        if symbol == TICK:
            reached[UNMARKED if shape.started else BEFORE] = set(shape.states)
        else:
            for state in sorted(shape.states, key=repr):
                for label, target, _ in self._member.follow(state, event):
                    reached.setdefault(label, set()).add(target)
        outcomes = []
        for label in sorted(reached, key=sorted):
            before = label == BEFORE
            accepts = END in reached[label]
            target, slots = self._aged(shape, reached[label] - {END}, event, started=not before)
            if accepts or target >= 0:
                starts = not before and not shape.started
                shown = 0 if before else self._label[label]
                outcomes.append(Outcome(shown, starts, accepts, target, slots))
        return tuple(event.path), tuple(outcomes)

    def _aged(
        self, shape: Shape, states: Iterable[State], event: _Noting, started: bool
    ) -> tuple[int, tuple[int, ...]]:
        """The shape of some states, with those slots that are still asked for, and what these were."""
        kept = []
        for state in sorted(states, key=repr):
            one = self._member.aged(state, event)
            if one is not None:
                kept.append(one)
        used = {int(slot) for state in kept for slot in slots_of(state)}
        if not kept:
            return -1, ()
        same: dict[int, int] = {}
        for now in sorted(slot for slot in used if slot < 0):
            measure = NOW - now
            old = [slot for slot, own in enumerate(shape.measures) if own == measure]
            # A clock that was set at this very time, by an event before, is the same clock.
            if old and old[-1] in used and event.holds(old[-1], measure):
                same[now] = old[-1]
        if same:
            kept = [renamed(state, lambda slot: same.get(slot, slot)) for state in kept]
            used = {same.get(slot, slot) for slot in used}
        chosen = best(kept)
        used = {int(slot) for state in chosen for slot in slots_of(state)}
        order = sorted(slot for slot in used if slot >= 0) + sorted((s for s in used if s < 0), reverse=True)
        if len(order) > SLOTS:
            raise LimitError(self.about(f"a partial match keeps more than {SLOTS} clocks"))
        place = {slot: number for number, slot in enumerate(order)}
        measures = tuple(shape.measures[slot] if slot >= 0 else NOW - slot for slot in order)
        canonical = frozenset(renamed(state, place.__getitem__) for state in chosen)
        return self._shape(started, canonical, measures), tuple(order)
