"""Determinisation on the concrete stream: configurations of a timed automaton, which are shapes and slots.

A **configuration** stands for all runs that have given the same labels to the same events so far. It is the
set of the states that these runs are in, the subset construction, with clocks in the states. A **shape** is
such a set with slots in place of clock values: slot 0 is the clock that was reset first. Clocks that were
reset at the same time share a slot; clocks that are no longer asked have none. So a configuration is a shape
and the times of its slots.

What an event does to a shape depends on the symbol of the event and on the results of tests of the ages of
the slots. `Shapes.step` finds it for the tests that are asked on the way, one after another: they make a
decision tree, which grows only where the stream leads.

This works on every stream, also if no deterministic timed automaton is equivalent: n events have at most n
moments, and a state has boundedly many clocks. A configuration has at most as many members as there are
states of the operators with all ways to put open moments into their clocks; a member stays open up to the
upper bound of its clocks. Members that can do no more than another one (`slots.best`) are left out, and a
clock without an upper bound is dropped once it is above its lower bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from cer_gpu.automata.cea import Label
from cer_gpu.automata.configurations.formulas import SteppedAutomaton
from cer_gpu.automata.configurations.member import END
from cer_gpu.automata.configurations.register_tests import RegisterTests
from cer_gpu.automata.configurations.registers import COUNTED
from cer_gpu.automata.configurations.slots import EVENTS, NOW, Slot, State, best, renamed, slots_of
from cer_gpu.automata.configurations.value_words import HeldWords
from cer_gpu.automata.match import BEFORE, UNMARKED
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.printer import to_text

TICK = -1
"""In the place of a symbol: time has passed, and nothing is read."""

SHAPES = 20_000
"""Shapes after which those that no partial match has are forgotten; it may have half as many at once."""

MEMORY = 1 << 26
"""Bytes that shapes may take, about, with what is known of them."""

BYTES_OF_PART = 64
"""Bytes of a text, a number or a slot in a state, about, with what it costs to lie there."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A set of states whose clocks are slots.

    Attributes
    ----------
    started : bool
        Whether the complex events have started. If not, the states come from the events before the start.
    states : frozenset of State
    measures : tuple of int
        The measure of each slot.
    """

    started: bool
    states: frozenset[State]
    measures: tuple[int, ...]


class Outcome(NamedTuple):
    """One effect of an event on a configuration: a label for the event, and a target.

    Attributes
    ----------
    label : int
        0: the event is unmarked.
    starts : bool
        Whether complex events start at the event.
    accepts : bool
        Whether complex events end at it.
    target : int
        The shape of the complex events that continue, -1 if none does.
    slots : tuple of int
        For each slot of the target the slot of the configuration that it comes from; `NOW - measure` for the
        event.
    """

    label: int
    starts: bool
    accepts: bool
    target: int
    slots: tuple[int, ...]


class SlotTestResult(NamedTuple):
    """A test of one slot, or of two, and its result."""

    slot: int
    other: int
    test: int
    holds: bool


Path: TypeAlias = tuple[SlotTestResult, ...]


class SaysOfSlots(Protocol):
    """Answers the tests of a configuration at an event."""

    symbol: int

    def says(self, slot: int, other: int, test: int) -> bool:
        """Whether a test holds; slots below 0 are the event's (`RegisterTests`)."""


class _TestRecorder:
    """Passes each test on to a `SaysOfSlots` once, and notes its result."""

    def __init__(
        self, symbol: int, answers: SaysOfSlots, tests: RegisterTests, satisfied: Sequence[Sequence[bool]]
    ) -> None:
        self.symbol = symbol
        self._answers = answers
        self._tests = tests
        self._satisfied = satisfied
        self._known: dict[tuple[int, int, int], bool] = {}
        self.path: list[SlotTestResult] = []

    def _says(self, slot: int, other: int, test: int) -> bool:
        key = int(slot), int(other), test
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._answers.says(*key)
            self.path.append(SlotTestResult(*key, found))
        return found

    def holds(self, slot: int, test: int) -> bool:
        return self._says(slot, 0, test)

    def value(self, column: int) -> Slot | None:
        """The register that keeps the value of the event; None for what compares to nothing."""
        return Slot(NOW - 2 - column) if self._says(0, 0, self._tests.known(column)) else None

    def missing(self, value: Slot | None) -> bool:
        return value is None

    def less(self, column: int, one: Slot, other: Slot) -> bool:
        if column < COUNTED:
            return one != other and self._says(self._tests.lesser(column, one, other), 0, self._tests.joints)
        return one != other and self._says(one, other, self._tests.less(column))

    def same(self, column: int, one: Slot, other: Slot) -> bool:
        return one == other or self._says(one, other, self._tests.same(column))

    def satisfies(self, comparison: int) -> bool:
        return self._satisfied[comparison][self.symbol]

    def increased(self, count: Slot | int) -> Slot:
        return self._tests.increased(count)

    def added(self, column: int, total: tuple[Any, ...], value: Slot) -> tuple[Any, ...]:
        return self._tests.added(column, total, value)

    def joint(self, column: int, choice: tuple[Any, ...]) -> Slot | None:
        found = self._tests.joint(column, choice)
        if found is None:
            return None
        value, known = found
        return value if self._says(known, 0, self._tests.joints) else None

    def holds_of(self, comparison: int, rows: tuple[Any, ...], folded: tuple[Any, ...]) -> bool:
        if self._tests.held.workings[comparison] is not None:
            worked = self._tests.asked(comparison, rows, folded)
            return worked is not None and self._says(worked, 0, self._tests.comparison(comparison))
        ((one,), (other,)) = rows
        if one is None or other is None:
            return False
        if self._tests.turned[comparison]:
            one, other = other, one
        return self._says(one, other, self._tests.comparison(comparison))

    def spans(self, column: int, first: Any, last: Any, size: int | float) -> bool:
        if first is None or last is None:
            return False
        return self._says(self._tests.spanned(first, last), 0, self._tests.spans)


class _NoTests(_TestRecorder):
    """Raises an error as soon as a test is asked."""

    def _says(self, slot: int, other: int, test: int) -> bool:
        raise _AskedError


class _AskedError(Exception):
    """A test was asked."""


class _NoAnswers:
    """Answers no test."""

    symbol = TICK

    def says(self, slot: int, other: int, test: int) -> bool:
        raise _AskedError


_NO_ANSWERS = _NoAnswers()


class Shapes:
    """The shapes of an automaton, numbered as a stream reaches them.

    Parameters
    ----------
    automaton : Stepped
    held : Held
    apart : bool
        Whether each state is a shape of its own once complex events have started. Used if only ends are
        wanted: a complex event may then be found several times, and states need no common shape.

    Attributes
    ----------
    all : list of Shape
        By number; 0 is the shape before the first event.
    labels : tuple of frozenset of str
        By number; 0 is `UNMARKED`.
    nbytes : int
        About how many bytes they take.
    """

    def __init__(self, automaton: SteppedAutomaton, held: HeldWords, apart: bool = False) -> None:
        self._automaton = automaton
        self._apart = apart
        self._member = automaton.member
        self._tests = automaton.tests.all
        self._compared = [to_text(one.condition) for one in automaton.comparisons]
        self._satisfied = automaton.satisfied
        self.registers = RegisterTests(automaton, held)
        self.all: list[Shape] = []
        self._states: list[tuple[State, ...]] = []  # of each shape in an order that runs share
        self.nbytes = 0
        self._number: dict[Hashable, int] = {}
        self.labels = automaton.labels
        self._label = {label: number for number, label in enumerate(self.labels)}
        self._shape(False, tuple(dict.fromkeys(automaton.member.begin())), ())

    def put(self, shape: Shape) -> int:
        """The number of a shape that another run has reached."""
        return self._shape(shape.started, tuple(sorted(shape.states, key=repr)), shape.measures)

    def kept(self, numbers: Iterable[int]) -> Shapes:
        """The shapes with some numbers, in this order, after shape 0; all others are forgotten.

        Raises
        ------
        LimitError
            When they are too many, or take too much memory.
        """
        found = Shapes(self._automaton, self.registers.held, self._apart)
        for number in numbers:
            shape = self.all[number]
            found._shape(shape.started, self._states[number], shape.measures)
        if 2 * len(found.all) > SHAPES:
            raise LimitError(
                self.about(f"partial matches of more than {SHAPES // 2:,} kinds are open at once")
            )
        if 2 * found.nbytes > MEMORY:
            raise LimitError(self.about(f"partial matches take more than {MEMORY // 2:,} bytes"))
        return found

    def _shape(self, started: bool, states: tuple[State, ...], measures: tuple[int, ...]) -> int:
        key = started, frozenset(states), measures
        found = self._number.get(key)
        if found is None:
            found = self._number[key] = len(self.all)
            self.all.append(Shape(*key))
            self._states.append(states)
            self.nbytes += BYTES_OF_PART * (sum(map(_parts, states)) + len(measures) + 4)
        return found

    def about(self, what: str) -> str:
        """The message of a limit: the operators whose clocks are open, and what to do."""
        operators = "; ".join(sorted({test.about for test in self._tests if test.about}))
        kept = [f"times for the bounds of {operators}"] if operators else []
        kept += [f"the values that `{text}` compares" for text in self._compared]
        if self._automaton.columns and not self._compared:
            kept.append(f"the values of `{to_text(self._automaton.columns[0])}` that WITHIN measures")
        if not kept:
            return f"{what}: leave `engine` out, as another engine may need less, or filter more"
        said = f"{what}: they keep {', and '.join(kept)}."
        if (subset := self._automaton.subset_value) is not None:
            return (
                f"{said} {subset.growth}. So {subset.remedy}. Otherwise leave fewer events in a window: "
                "a smaller WITHIN, more filters, or PARTITION BY"
            )
        return (
            f"{said} Give these a narrower interval or a smaller WITHIN, filter more, or divide the stream "
            "(PARTITION BY)"
        )

    def stays(self, number: int, symbol: int) -> bool:
        """Whether an event with a symbol changes nothing in a shape except the ages of its slots."""
        shape = self.all[number]
        event = _NoTests(symbol, _NO_ANSWERS, self.registers, self._satisfied)
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

    def step(self, number: int, symbol: int, answers: SaysOfSlots) -> tuple[Path, tuple[Outcome, ...]]:
        """What an event does to a configuration.

        Parameters
        ----------
        number : int
            Its shape.
        symbol : int
            `TICK` if time has passed, and nothing else.
        answers : SaysOfSlots
            Answers tests of the ages of its slots and of the values that they keep.

        Returns
        -------
        path : tuple of Asked
            The tests that were asked, in order: the same results lead to the same outcomes.
        outcomes : tuple of Outcome

        """
        shape, states = self.all[number], self._states[number]
        event = _TestRecorder(symbol, answers, self.registers, self._satisfied)
        reached: dict[Label, dict[State, None]] = {}
        if symbol == TICK:
            reached[UNMARKED if shape.started else BEFORE] = dict.fromkeys(states)
        else:
            for state in states:
                for label, target, _ in self._member.follow(state, event):
                    reached.setdefault(label, {})[target] = None
        outcomes = []
        for label in sorted(reached, key=sorted):
            before = label == BEFORE
            accepts = END in reached[label]
            reached[label].pop(END, None)
            starts = not before and not shape.started
            shown = 0 if before else self._label[label]
            for some in self._parted(reached[label], before):
                target, slots = self._aged(shape, some, event, started=not before)
                if accepts or target >= 0:
                    outcomes.append(Outcome(shown, starts, accepts, target, slots))
                accepts = False
        return tuple(event.path), tuple(outcomes)

    def _parted(self, states: Iterable[State], before: bool) -> list[list[State]]:
        """The states that are one configuration each."""
        if before or not self._apart:
            return [list(states)]
        return [[state] for state in states] or [[]]

    def _aged(
        self, shape: Shape, states: Iterable[State], event: _TestRecorder, started: bool
    ) -> tuple[int, tuple[int, ...]]:
        """The shape of some states, with those slots that are still asked for, and what these were."""
        kept = []
        for state in states:
            one = self._member.aged(state, event)
            if one is not None:
                kept.append(one)
        used = {int(slot) for state in kept for slot in slots_of(state)}
        if not kept:
            return -1, ()
        same: dict[int, int] = {}
        for now in sorted(slot for slot in used if slot < 0):
            measure = self.registers.measure_of(now)
            if measure > EVENTS:
                continue
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
        place = {slot: number for number, slot in enumerate(order)}
        measures = tuple(
            shape.measures[slot] if slot >= 0 else self.registers.measure_of(slot) for slot in order
        )
        canonical = (renamed(state, place.__getitem__) for state in kept if state in chosen)
        return self._shape(started, tuple(dict.fromkeys(canonical)), measures), tuple(order)


def _parts(state: State) -> int:
    """How many texts, numbers and slots a state has, and tuples and sets of them."""
    kind = type(state)
    return 1 + sum(map(_parts, state)) if kind is tuple or kind is frozenset else 1
