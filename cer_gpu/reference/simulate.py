"""Follows the runs of automata one by one: the meaning of an automaton, which tests compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from cer_gpu.automata.cea import CEA, DeterministicCEA, Label, Step, closures, identity
from cer_gpu.automata.determinise import predicates

Marks: TypeAlias = frozenset[tuple[int, Label]]
"""The marked positions of a complex event, each with its (non-empty) label."""


def runs(cea: CEA, truth: Callable[[int, int], bool], n: int) -> set[tuple[int, int, Marks]]:
    """The complex events of a CEA on n events, by following every run: exponential, the meaning of a CEA.

    Parameters
    ----------
    cea : CEA
    truth : callable
        `truth(i, position)`: whether `predicates(cea)[i]` holds for the event at `position`.
    n : int
        Number of events.

    Returns
    -------
    set of (start, end, marks)
    """
    index = {identity(predicate): i for i, predicate in enumerate(predicates(cea))}
    closed = closures(cea)
    found: set[tuple[int, int, Marks]] = set()
    for start in range(n):
        active: set[tuple[int, Marks]] = {(state, frozenset()) for state in closed[cea.initial]}
        for position in range(start, n):
            active = {
                (state, marks | {(position, move.label)} if move.label else marks)
                for at, marks in active
                for move in cea.transitions
                if move.source == at and truth(index[identity(move.predicate)], position)
                for state in closed[move.target]
            }
            found.update((start, position, marks) for state, marks in active if state in cea.final)
    return found


def symbol_runs(det: DeterministicCEA, symbols: Sequence[int]) -> Iterator[tuple[int, int, Marks]]:
    """The complex events of the accepting runs of a deterministic CEA, one for each run.

    Parameters
    ----------
    det : DeterministicCEA
    symbols : sequence of int
        The symbol of each event.

    Yields
    ------
    (start, end, marks)
        None of them twice, since the automaton is I/O-deterministic.
    """
    steps: dict[tuple[int, int], list[Step]] = {}
    for step in det.transitions:
        steps.setdefault((step.source, step.symbol), []).append(step)
    for start in range(len(symbols)):
        active: list[tuple[int, Marks]] = [(0, frozenset())]
        for position in range(start, len(symbols)):
            active = [
                (step.target, marks | {(position, det.labels[step.label])} if step.label else marks)
                for state, marks in active
                for step in steps.get((state, symbols[position]), ())
            ]
            yield from ((start, position, marks) for state, marks in active if state in det.final)
