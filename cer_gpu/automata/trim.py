"""Trimming: the part of an automaton that accepting runs use."""

from __future__ import annotations

from cer_gpu.automata.cea import CEA, Label, Predicate, Transition
from cer_gpu.automata.explore import coreachable, explore
from cer_gpu.language.tree import Truth


def trim(cea: CEA) -> CEA:
    """The states that are reached from the initial state and reach a final one, numbered breadth-first.

    Transitions on `Truth(False)` never fire and are dropped. The initial state stays, as state 0, also when
    no run accepts.
    """
    moves: list[list[tuple[tuple[Predicate, Label] | None, int]]] = [[] for _ in range(cea.n_states)]
    for move in cea.transitions:
        if move.predicate != Truth(False):
            moves[move.source].append(((move.predicate, move.label), move.target))
    for source, target in cea.epsilon:
        moves[source].append((None, target))

    arcs = ((source, target) for source, leaving in enumerate(moves) for _, target in leaving)
    useful = coreachable(cea.n_states, arcs, cea.final)
    found = explore(
        cea.initial,
        lambda state: [(edge, target) for edge, target in moves[state] if target in useful],
        cea.final.__contains__,
        None,
        "trimming",
    )
    return CEA(
        len(found.states),
        0,
        found.final,
        tuple(Transition(source, *edge, target) for source, edge, target in found.edges if edge is not None),
        tuple((source, target) for source, edge, target in found.edges if edge is None),
    )
