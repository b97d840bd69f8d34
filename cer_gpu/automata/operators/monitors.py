"""Splits a match automaton to run it: a monitor reads every event, a CEA reads the monitor's output symbols.

Before the start of a complex event a match automaton is deterministic: only the prefix of the stream decides.
That half becomes the monitor, whose state enters the symbol of each event; from the start on an ordinary CEA
runs. Most formulas need no monitor, since none of their choices depends on events before the start.
"""

from __future__ import annotations

from cer_gpu.automata.cea import DeterministicCEA, Label, Step
from cer_gpu.automata.match import BEFORE, Budget, MatchAutomaton
from cer_gpu.automata.minimise import merge_symbols, minimise
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass

MONITORED_SYMBOLS = 65_535
"""Symbols that a monitor may give: they are 16 bits."""


@dataclass(frozen=True, slots=True)
class MonitorSplit:
    """A monitor and the automaton that reads its output symbols.

    Attributes
    ----------
    symbol_of : tuple of int
        For each symbol of the events the symbol that the monitor reads; 0 can be dropped.
    follow : tuple of tuple of int
        For each state of the monitor and each symbol that it reads the next state; 0 is initial.
    symbol : tuple of tuple of int
        For each state of the monitor and each symbol that it reads the output symbol; 0 can be dropped.
    automaton : DeterministicCEA
        Over the output symbols of the monitor; minimal.
    """

    symbol_of: tuple[int, ...]
    follow: tuple[tuple[int, ...], ...]
    symbol: tuple[tuple[int, ...], ...]
    automaton: DeterministicCEA

    @property
    def needed(self) -> bool:
        """Whether the monitor has more than one state."""
        return len(self.follow) > 1


def monitored(match: MatchAutomaton, budget: Budget) -> MonitorSplit:
    """Split a match automaton into a monitor and a CEA.

    Parameters
    ----------
    match : MatchAutomaton
    budget : Budget

    Raises
    ------
    LimitError
        When the CEA is over the budget.
    """
    waiting, follow = _prefixes(match)
    leaving = match.leaving()
    machine = match.automaton
    labels = tuple(label for label in machine.labels if label != BEFORE)
    place = {label: number for number, label in enumerate(labels)}

    def begins(state: int, symbol: int) -> tuple[tuple[int, int], ...]:
        """The transitions on which a run starts: label and target."""
        if state < 0:
            return ()
        return tuple((place[label], target) for label, target in leaving[state][symbol] if label != BEFORE)

    # A symbol is a class with what starts there; what goes on there is the class's.
    numbers: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    symbol = [
        [numbers.setdefault((k, begins(state, k)), len(numbers)) for k in range(machine.n_symbols)]
        for state in waiting
    ]
    inside = _inside(leaving, place)
    steps = []
    for (k, starting), number in numbers.items():
        steps += [Step(0, number, label, target) for label, target in starting]
        steps += [Step(source, number, label, target) for source, label, target in inside[k]]
        if len(steps) > budget.left:
            raise LimitError(
                "the automaton over the events before a match takes more than "
                f"{budget.left:,} transitions: repeat less in what is not marked, or mark its first event"
            )
    cea = DeterministicCEA(machine.n_states, len(numbers), labels, tuple(steps), machine.final)
    merged = merge_symbols(minimise(cea))
    if merged.automaton.n_symbols > MONITORED_SYMBOLS:
        raise LimitError(
            f"the filters on events before a match divide the events into {merged.automaton.n_symbols:,} "
            f"classes, and at most {MONITORED_SYMBOLS:,} are possible: use fewer filters"
        )
    renamed = [[merged.symbol[number] for number in row] for row in symbol]
    return _with_classes(match, renamed, follow, merged.automaton)


def _prefixes(match: MatchAutomaton) -> tuple[list[int], list[list[int]]]:
    """The states before the start, and the transitions between them.

    Returns
    -------
    waiting : list of int
        States of the automaton; -1 where nothing can start any more.
    follow : list of list of int
        For each of them and each class the next one, by its place.
    """
    leaving, n_classes = match.leaving(), match.automaton.n_symbols

    def after(state: int, symbol: int) -> int:
        found = leaving[state][symbol] if state >= 0 else []
        return next((target for label, target in found if label == BEFORE), -1)

    rows: dict[int, tuple[int, ...]] = {}
    pending = [0]
    while pending:
        state = pending.pop()
        if state not in rows:
            rows[state] = tuple(after(state, symbol) for symbol in range(n_classes))
            pending += rows[state]
    # The initial state is a copy of another one wherever both do the same.
    same = next((s for s in rows if s > 0 and leaving[s] == leaving[0]), 0)
    if same:
        del rows[0]
    waiting = [same, *(state for state in rows if state != same)]
    place = {state: number for number, state in enumerate(waiting)}
    return waiting, [[place[target] for target in rows[state]] for state in waiting]


def _inside(
    leaving: list[list[list[tuple[Label, int]]]], place: dict[Label, int]
) -> list[list[tuple[int, int, int]]]:
    """For each class the transitions of runs that have started: source, label, target."""
    reached: set[int] = set()
    pending = [target for row in leaving for column in row for label, target in column if label != BEFORE]
    while pending:
        state = pending.pop()
        if state not in reached:
            reached.add(state)
            pending += [target for column in leaving[state] for _, target in column]
    n_classes = len(leaving[0])
    return [
        [(source, place[label], target) for source in sorted(reached) for label, target in leaving[source][k]]
        for k in range(n_classes)
    ]


def _with_classes(
    match: MatchAutomaton, symbol: list[list[int]], follow: list[list[int]], automaton: DeterministicCEA
) -> MonitorSplit:
    """Merge the classes that the monitor does not tell apart; 0 is what it can do without."""
    numbers: dict[tuple[tuple[int, int], ...], int] = {}
    nothing = tuple((state, 0) for state in range(len(follow)))
    numbers[nothing] = 0
    class_of = [
        numbers.setdefault(
            tuple((row[k], renamed[k]) for row, renamed in zip(follow, symbol, strict=True)), len(numbers)
        )
        for k in range(match.automaton.n_symbols)
    ]
    return MonitorSplit(
        tuple(class_of[k] for k in match.class_of),
        tuple(tuple(key[state][0] for key in numbers) for state in range(len(follow))),
        tuple(tuple(key[state][1] for key in numbers) for state in range(len(follow))),
        automaton,
    )
