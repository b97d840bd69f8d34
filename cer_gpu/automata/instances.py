"""What can still happen to an equality before the present instance of its scope ends.

`(A AS x)+ ; (C AS y OR D AS z) FILTER x.id = y.id`: from A a C may follow, or the end without one; from C and
D nothing more. A run whose guess cannot come true is not begun, and what is settled is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cer_gpu.automata.explore import coreachable
from cer_gpu.automata.positions import PositionAutomaton, Side, Step


@dataclass(frozen=True, slots=True)
class Outlook:
    """Of one side of an equality, from where in the position automaton it may still mark an event.

    Attributes
    ----------
    ahead : frozenset of int
        The positions after which some position of the side can be read in the same instance.
    avoidable : frozenset of int
        Those after which the instance can end without one.
    """

    ahead: frozenset[int]
    avoidable: frozenset[int]


def outlooks(automaton: PositionAutomaton) -> tuple[tuple[Outlook, Outlook], ...]:
    """The outlook of the left and of the right side of each equality."""
    found = []
    for one in automaton.constraints:
        inside = [step for step in automaton.steps if step.loop not in one.resets]
        ends = automaton.last.union(step.source for step in automaton.steps if step.loop in one.resets)
        left, right = (_outlook(len(automaton.positions), inside, ends, side) for side in (one.left, one.right))
        found.append((left, right))
    return tuple(found)


def _outlook(n_positions: int, inside: Iterable[Step], ends: frozenset[int], side: Side) -> Outlook:
    steps = {(step.source, step.target) for step in inside}
    around = [(source, target) for source, target in steps if target not in side.positions]
    reaching = {source for source, target in steps if target in side.positions}
    return Outlook(
        coreachable(n_positions, sorted(steps), reaching), coreachable(n_positions, sorted(around), ends)
    )
