"""How partial matches may end: the automaton of a pattern without its comparisons and clocks.

`A AS a ; B ; C AS c FILTER c.p > a.p` relaxed is `A ; B ; C`. Every continuation of a partial match is also a
run of the relaxed automaton from one of its states. So if no such run ends within the window, the partial
match can be dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cer_gpu.automata.configurations.formulas import SteppedAutomaton
from cer_gpu.automata.configurations.member import END, PlainSymbol
from cer_gpu.automata.configurations.slots import State
from cer_gpu.frozen_dataclass import dataclass

STATES = 64
"""States that the relaxed automaton may have: each is looked at for every event."""

ENDS = -1
"""In the place of a target: a complex event ends."""


@dataclass(frozen=True, slots=True)
class Completions:
    """The relaxed automaton of a pattern, over symbols.

    Attributes
    ----------
    edges : tuple of tuple of (int, int)
        For each symbol the source and the target (`ENDS`) of each transition.
    number : dict of State to int
        The states.
    """

    edges: tuple[tuple[tuple[int, int], ...], ...]
    number: dict[State, int]

    def numbers(self, automaton: SteppedAutomaton, states: Iterable[State]) -> list[int]:
        """The relaxed states for some states of the automaton; empty if they are not known."""
        found = {self.number.get(one) for state in states for one in automaton.member.relaxing(state)}
        return [] if None in found else sorted(one for one in found if one is not None)


def completions(automaton: SteppedAutomaton) -> Completions | None:
    """The relaxed automaton, or None if it has more than `STATES` states."""
    relaxed = automaton.member.relaxed()
    number = {state: at for at, state in enumerate(relaxed.begin())}
    waiting = list(number)
    edges: list[dict[tuple[int, int], None]] = [{} for _ in automaton.idle]
    for state in waiting:  # it grows
        for symbol, own in enumerate(edges):
            seen: Any = PlainSymbol(symbol)
            for _, target, _ in relaxed.follow(state, seen):
                if target != END and target not in number:
                    if len(number) == STATES:
                        return None
                    number[target] = len(number)
                    waiting.append(target)
                own[number[state], ENDS if target == END else number[target]] = None
    return Completions(tuple(tuple(own) for own in edges), number)
