"""Match automata: complex event automata that also read the events before the start of a complex event.

The match automata of the thesis (chapter 6) read a stream from position i on, where i is what `;`, an
iteration or the beginning of the stream says. The choice of a selector depends on all events from i on, so
its automaton also reads those before the start, with the label `BEFORE`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from cer_gpu.automata.cea import CEA, DeterministicCEA, Label, Predicate, Step, Transition
from cer_gpu.automata.determinise import START, assemble, determinise, members_of
from cer_gpu.automata.explore import Effort, explore
from cer_gpu.automata.minimise import minimise
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Truth

State = TypeVar("State", bound=Hashable)

UNMARKED: Label = frozenset()

BEFORE: Label = frozenset({""})
"""The label of an event before the start. No variable has an empty name."""

Leaving: TypeAlias = "Iterable[tuple[Label, State]]"


def marks(label: Label) -> bool:
    """Whether an event with this label is in the set M that selectors compare."""
    return bool(label) and label is not BEFORE and label != BEFORE


@dataclass(frozen=True, slots=True)
class MatchAutomaton:
    """An I/O-deterministic match automaton, over classes of symbols that it does not tell apart.

    Attributes
    ----------
    automaton : DeterministicCEA
        Over the classes. A run takes `BEFORE` transitions up to the start of the complex event, and none
        after it.
    class_of : tuple of int
        The class of each symbol.
    """

    automaton: DeterministicCEA
    class_of: tuple[int, ...]

    def leaving(self) -> list[list[list[tuple[Label, int]]]]:
        """For each state and class the labels and targets of the transitions."""
        machine = self.automaton
        found: list[list[list[tuple[Label, int]]]] = [
            [[] for _ in range(machine.n_symbols)] for _ in range(machine.n_states)
        ]
        for source, symbol, label, target in machine.transitions:
            found[source][symbol].append((machine.labels[label], target))
        return found


COMPOSED_BUDGET = 50_000
"""States and transitions that the operators of one formula may build: so many take less than a second."""


class Budget:
    """The number of states, transitions and steps that the operators of one formula may take together.

    Raises
    ------
    LimitError
        By `built`, when they take more.
    """

    def __init__(self, size: int = COMPOSED_BUDGET) -> None:
        self.left = size
        self.effort = Effort(size)

    def built(self, automaton: DeterministicCEA) -> None:
        """Subtract the size of an operator's automaton from the budget."""
        self.left = max(self.left - automaton.size, 1)


def of_cea(
    cea: CEA, symbols: Sequence[frozenset[int]], predicates: Sequence[Predicate], budget: Budget
) -> MatchAutomaton:
    """The match automaton of a CEA: it waits, then runs.

    Parameters
    ----------
    cea : CEA
    symbols, predicates
        As for `determinise`; `Truth(True)` has to be among the predicates.

    Raises
    ------
    LimitError
        When the automaton is over the budget.
    """
    waiting = cea.n_states
    waits = CEA(
        waiting + 1,
        waiting,
        cea.final,
        (*cea.transitions, Transition(waiting, Truth(True), BEFORE, waiting)),
        (*cea.epsilon, (waiting, cea.initial)),
    )
    found = determinise(waits, symbols, predicates, budget.left)
    budget.built(found)
    return reduced(found, tuple(range(len(symbols))))


def of_deterministic(automaton: DeterministicCEA) -> MatchAutomaton:
    """The match automaton of a deterministic CEA over the same symbols."""
    labels = tuple(sorted({*automaton.labels, BEFORE}, key=sorted))
    number = [labels.index(label) for label in automaton.labels]
    before, waiting = labels.index(BEFORE), automaton.n_states
    steps = [step._replace(label=number[step.label]) for step in automaton.transitions]
    steps += [step._replace(source=waiting) for step in steps if step.source == 0]
    for symbol in range(automaton.n_symbols):
        steps += [Step(source, symbol, before, waiting) for source in (0, waiting)]
    steps.sort(key=lambda step: (step.symbol, step.source, step.label))
    whole = DeterministicCEA(waiting + 1, automaton.n_symbols, labels, tuple(steps), automaton.final)
    return reduced(whole, tuple(range(automaton.n_symbols)))


def with_barred_starts(automaton: DeterministicCEA) -> DeterministicCEA:
    """The automaton with each symbol s a second time, as `n_symbols` + s, at which no run starts."""
    more = [
        step._replace(symbol=step.symbol + automaton.n_symbols)
        for step in automaton.transitions
        if step.source != 0
    ]
    return replace(automaton, n_symbols=2 * automaton.n_symbols, transitions=(*automaton.transitions, *more))


def reduced(automaton: DeterministicCEA, class_of: Sequence[int]) -> MatchAutomaton:
    """The least automaton, over the coarsest classes.

    Parameters
    ----------
    automaton : DeterministicCEA
    class_of : sequence of int
        For each symbol the symbol of `automaton` that it becomes.
    """
    least = minimise(automaton)
    columns: list[list[tuple[int, int, int]]] = [[] for _ in range(least.n_symbols)]
    for source, symbol, label, target in least.transitions:
        columns[symbol].append((source, label, target))
    numbers: dict[tuple[tuple[int, int, int], ...], int] = {}
    merged = [numbers.setdefault(tuple(column), len(numbers)) for column in columns]
    steps = [Step(source, number, label, target) for steps, number in numbers.items()
             for source, label, target in steps]  # fmt: skip
    small = DeterministicCEA(least.n_states, len(numbers), least.labels, tuple(steps), least.final)
    return MatchAutomaton(small, tuple(merged[number] for number in class_of))


def refined(*class_of: Sequence[int]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The classes that refine several partitions of the symbols.

    Returns
    -------
    class_of : tuple of int
        The joint class of each symbol.
    parts : list of tuple of int
        For each joint class, its class in each partition.
    """
    numbers: dict[tuple[int, ...], int] = {}
    joined = tuple(numbers.setdefault(parts, len(numbers)) for parts in zip(*class_of, strict=True))
    return joined, list(numbers)


def build(
    starts: Iterable[State],
    follow: Callable[[State, int], Leaving[State]],
    final: Callable[[State], bool],
    class_of: Sequence[int],
    n_classes: int,
    budget: Budget,
    what: str,
) -> MatchAutomaton:
    """The I/O-deterministic automaton of a nondeterministic one that is given by its steps.

    The subset construction (thesis, Proposition 6.1), by the one exploration; every operator is a call.

    Parameters
    ----------
    starts : iterable of hashable
        The initial states.
    follow : callable
        `follow(state, symbol class)`: the labels and targets of the transitions.
    final : callable
    class_of : sequence of int
        The class of each symbol.
    n_classes : int
    budget : Budget
    what : str
        What is being built, for the message.

    Raises
    ------
    LimitError
        When it exceeds the rest of the budget.
    """
    numbers: dict[State, int] = {}
    states: list[State] = []
    labels: dict[Label, int] = {UNMARKED: 0}
    known: dict[tuple[int, int], list[tuple[int, int]]] = {}
    accepting = 0

    def number(state: State) -> int:
        nonlocal accepting
        found = numbers.get(state)
        if found is None:
            found = numbers[state] = len(states)
            states.append(state)
            accepting |= final(state) << found
        return found

    def moves(member: int, symbol: int) -> list[tuple[int, int]]:
        found = known.get((member, symbol))
        if found is None:
            found = known[member, symbol] = [
                (labels.setdefault(label, len(labels)), 1 << number(target))
                for label, target in follow(states[member], symbol)
            ]
            budget.effort.spend(len(found))
        return found

    def subsets(subset: int) -> Iterator[tuple[tuple[int, int], int]]:
        # The initial subset is a copy that nothing enters.
        members = first if subset == START else [*members_of(subset)]
        for symbol in range(n_classes):
            reached: dict[int, int] = {}
            budget.effort.spend(len(members))
            for member in members:
                for label, target in moves(member, symbol):
                    reached[label] = reached[label] | target if label in reached else target
            for label, targets in reached.items():
                yield (symbol, label), targets

    first = [number(state) for state in starts]
    found = explore(
        START,
        subsets,
        lambda subset: subset != START and bool(subset & accepting),
        budget.left,
        what,
        budget.effort,
    )
    order = sorted(labels, key=sorted)
    place = {labels[label]: i for i, label in enumerate(order)}
    edges = tuple((source, (symbol, place[label]), target) for source, (symbol, label), target in found.edges)
    built = assemble(type(found)(found.states, edges, found.final), n_classes, tuple(order))
    budget.built(built)
    return reduced(built, class_of)
