"""The exploration that builds every derived automaton: breadth-first, numbered in order, with a budget."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass

State = TypeVar("State", bound=Hashable)
Edge = TypeVar("Edge")


@dataclass(frozen=True, slots=True)
class Exploration(Generic[State, Edge]):
    """The result of `explore`.

    Attributes
    ----------
    states : tuple
        The states in the order in which they were reached; `states[0]` is the initial one, and the number
        of a state is its place here.
    edges : tuple of (int, edge, int)
        By source, then in the order in which `follow` gave them.
    final : frozenset of int
    """

    states: tuple[State, ...]
    edges: tuple[tuple[int, Edge, int], ...]
    final: frozenset[int]


STEPS = 20
"""Steps that may be spent for each state or edge of the budget: so many take about a second in all."""


class Effort:
    """Counts the steps of an exploration: its budget bounds the result, this bounds the time.

    Parameters
    ----------
    budget : int
        The budget of the exploration.
    """

    def __init__(self, budget: int) -> None:
        self.left = STEPS * budget

    def spend(self, steps: int) -> None:
        """Count steps that were taken."""
        self.left -= steps


def explore(
    initial: State,
    follow: Callable[[State], Iterable[tuple[Edge, State]]],
    final: Callable[[State], bool],
    budget: int | None,
    what: str,
    effort: Effort | None = None,
) -> Exploration[State, Edge]:
    """Build the machine that is reachable from `initial`.

    Parameters
    ----------
    initial : hashable
    follow : callable
        The edges that leave a state, each with the state it leads to, in an order that depends on the state
        alone: then the numbering does too.
    final : callable
        Whether a state is final.
    budget : int or None
        How many states and edges may be built together; None where the size is known to be bounded.
    what : str
        The operator or the step, for the message.
    effort : Effort or None
        Counts the steps that `follow` spends, if these are bounded as well.

    Raises
    ------
    LimitError
        When the budget is exceeded, or the effort is spent; the message estimates the size from what has been
        explored.
    """
    number = {initial: 0}
    states = [initial]
    edges: list[tuple[int, Edge, int]] = []
    for source, state in enumerate(states):  # `states` grows while it is read
        for edge, target in follow(state):
            if target not in number:
                number[target] = len(states)
                states.append(target)
            edges.append((source, edge, number[target]))
            if budget is not None and len(states) + len(edges) > budget:
                raise _over_budget(what, budget, source + 1, len(states), len(edges))
            if effort is not None and effort.left < 0:
                raise _over_effort(what, source + 1, len(states), len(edges))
    return Exploration(
        tuple(states), tuple(edges), frozenset(n for n, state in enumerate(states) if final(state))
    )


def coreachable(n_states: int, edges: Iterable[tuple[int, int]], final: Iterable[int]) -> frozenset[int]:
    """The states from which a final state is reached, along edges (source, target)."""
    root = n_states
    backward: list[list[int]] = [[] for _ in range(n_states)]
    for source, target in edges:
        backward[target].append(source)
    backward.append(sorted(final))
    found = explore(
        root, lambda state: [(None, before) for before in backward[state]], lambda _: False, None, "trimming"
    )
    return frozenset(found.states) - {root}


def _over_effort(what: str, explored: int, states: int, edges: int) -> LimitError:
    return LimitError(
        f"{what} takes too long to construct, since each of its states stands for many at once: about "
        f"{_estimate(explored, states, edges):,} states and transitions or more are needed ({explored:,} "
        f"states were explored, {states - explored:,} more were found). {_ADVICE}"
    )


def _over_budget(what: str, budget: int, explored: int, states: int, edges: int) -> LimitError:
    return LimitError(
        f"{what} is too large: at most {budget:,} states and transitions are allowed, and about "
        f"{_estimate(explored, states, edges):,} or more are needed ({explored:,} states were explored, "
        f"{states - explored:,} more were found). {_ADVICE}"
    )


_ADVICE = (
    "Shorten the pattern, use fewer filters, let fewer alternatives and repetitions match the same events, "
    "or keep more of their marks in the SELECT list"
)


def _estimate(explored: int, states: int, edges: int) -> int:
    """The size of the whole, if the states that wait have as many edges as those explored."""
    return states + edges * states // explored
