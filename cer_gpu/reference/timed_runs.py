"""The runs of timed complex event automata, followed one by one (timed CEL paper, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cer_gpu.automata.cea import Identities
from cer_gpu.automata.timed.clocks import satisfied
from cer_gpu.automata.timed.subsets import DeterministicTimedCEA
from cer_gpu.automata.timed.timed_cea import TimedCEA, timed_predicates
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.reference.simulate import Marks


class ClockedRun(NamedTuple):
    """A run so far: its state, the position of the last reset of each set clock, and its marks."""

    state: int
    resets: tuple[tuple[int, int], ...]
    marks: Marks


@dataclass(frozen=True, slots=True)
class ReadEvents:
    """A stream in the form that an automaton reads.

    Attributes
    ----------
    n : int
        Number of events.
    truth : callable
        `truth(i, position)`: whether `timed_predicates(timed)[i]` holds for the event at `position`.
    elapsed : callable
        `elapsed(early, late)`: the time between two positions, in the unit of the automaton's constants; None
        if a time is null.
    """

    n: int
    truth: Callable[[int, int], bool]
    elapsed: Callable[[int, int], Any]


def timed_runs(timed: TimedCEA, events: ReadEvents) -> set[tuple[int, int, Marks]]:
    """The complex events of a timed CEA, by following every run: exponential, the meaning of a timed CEA.

    A valuation is kept as the position of each clock's last reset; the value of a clock is the time since
    then, one subtraction. With rational times this is the paper's sum of differences.

    Returns
    -------
    set of (start, end, marks)
    """
    known = Identities()
    index = {known.of(predicate): i for i, predicate in enumerate(timed_predicates(timed))}
    leaving = timed.leaving()
    found: set[tuple[int, int, Marks]] = set()
    for start in range(events.n):
        active = {ClockedRun(timed.initial, (), frozenset())}
        for position in range(start, events.n):
            following: set[ClockedRun] = set()
            for run in active:
                values = _values(dict(run.resets), position, events)
                for move in leaving[run.state]:
                    if not events.truth(index[known.of(move.predicate)], position):
                        continue
                    if not satisfied(move.condition, values):
                        continue
                    resets = {**dict(run.resets), **dict.fromkeys(move.resets, position)}
                    marks = run.marks | {(position, move.label)} if move.label else run.marks
                    following.add(ClockedRun(move.target, tuple(sorted(resets.items())), marks))
            active = following
            found.update((start, position, run.marks) for run in active if run.state in timed.final)
    return found


def deterministic_runs(
    timed: DeterministicTimedCEA, symbols: Sequence[int], elapsed: Callable[[int, int], Any]
) -> Iterator[tuple[int, int, Marks]]:
    """The complex events of the accepting runs of a deterministic timed CEA, one for each run.

    Parameters
    ----------
    timed : DeterministicTimedCEA
    symbols : sequence of int
        The symbol of each event.
    elapsed : callable
        As in `ReadEvents`.
    """
    events = ReadEvents(len(symbols), lambda i, position: False, elapsed)
    for start in range(len(symbols)):
        active = [ClockedRun(0, (), frozenset())]
        for position in range(start, len(symbols)):
            following = []
            for run in active:
                values = _values(dict(run.resets), position, events)
                for step in timed.steps:
                    if (step.source, step.symbol) != (run.state, symbols[position]):
                        continue
                    if not satisfied(step.condition, values):
                        continue
                    resets = {**dict(run.resets), **dict.fromkeys(step.resets, position)}
                    label = timed.labels[step.label]
                    marks = run.marks | {(position, label)} if label else run.marks
                    following.append(ClockedRun(step.target, tuple(sorted(resets.items())), marks))
            active = following
            yield from ((start, position, run.marks) for run in active if run.state in timed.final)


def _values(resets: Mapping[int, int], position: int, events: ReadEvents) -> dict[int, Any]:
    """The clock valuation at a position; a clock whose time is null compares like one that is unset."""
    values = {clock: events.elapsed(at, position) for clock, at in resets.items()}
    return {clock: value for clock, value in values.items() if value is not None}
