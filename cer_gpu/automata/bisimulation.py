"""The coarsest bisimulation: states that go on alike, before subsets are explored, and in what is made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

Leaving: TypeAlias = Sequence[tuple[Any, ...]]
"""What leaves a state: each transition a tuple that ends with its target."""


def steps_of(leaving: Leaving, block: Sequence[int]) -> frozenset[tuple[Any, ...]]:
    """The transitions of a state, with the blocks of their targets."""
    return frozenset([(*step[:-1], block[step[-1]]) for step in leaving])


def merged_moves(leaving: Leaving, block: Sequence[int]) -> dict[tuple[int, int], int]:
    """The symbols by which a state reaches each block: (label, block) to symbols.

    Its transitions are (symbols, label, target), the symbols being the bits of an int.
    """
    found: dict[tuple[int, int], int] = {}
    for symbols, label, target in leaving:
        key = label, block[target]
        found[key] = found.get(key, 0) | symbols
    return found


def symbols_of(leaving: Leaving, block: Sequence[int]) -> frozenset[tuple[tuple[int, int], int]]:
    """As `steps_of`, for transitions as those of `merged_moves`."""
    return frozenset(merged_moves(leaving, block).items())


def coarsest(
    kinds: Sequence[Hashable],
    moves: Sequence[Leaving],
    signature: Callable[[Leaving, Sequence[int]], Hashable] = steps_of,
) -> list[int]:
    """The block of each state in the coarsest partition of which the automaton has a quotient.

    Two states of a block are of one kind, and by each transition they reach the same blocks; so they accept
    the same. A normal form copies a subformula once for each of its conditions: most states of the copies are
    bisimilar, and blocks have far fewer subsets than states have.

    A state is looked at again only when a target of it has left its block, and when a block is split the
    largest share keeps its number: a state moves O(log n) times. (Hopcroft's algorithm needs deterministic
    automata.)

    Parameters
    ----------
    kinds : sequence of hashable
        What must be equal of two states of a block, as whether they are final.
    moves : sequence of Leaving
        For each state.
    signature : callable
        Gives what two states of a block have in common, of what leaves a state and the blocks so far.

    Returns
    -------
    list of int
        Blocks are numbered in the order of their first state.
    """
    entering: list[list[int]] = [[] for _ in moves]
    for source, leaving in enumerate(moves):
        for step in leaving:
            entering[step[-1]].append(source)
    block = numbered(kinds)
    sizes = [0] * (max(block, default=-1) + 1)
    for own in block:
        sizes[own] += 1
    of_block: list[Hashable] = [None] * len(sizes)
    pending = set(range(len(moves)))
    while pending:
        parts: dict[int, dict[Hashable, list[int]]] = {}
        for state in sorted(pending):
            of_state = signature(moves[state], block)
            parts.setdefault(block[state], {}).setdefault(of_state, []).append(state)
        changed: list[int] = []
        for old, found in parts.items():
            # States that are not pending have the signature of their block.
            rest = sizes[old] - sum(map(len, found.values()))
            if not rest:
                of_block[old] = max(found, key=lambda one: len(found[one]))
            for one, states in found.items():
                if one != of_block[old]:
                    sizes[old] -= len(states)
                    for state in states:
                        block[state] = len(sizes)
                    sizes.append(len(states))
                    of_block.append(one)
                    changed += states
        pending = {source for state in changed for source in entering[state]}
    return numbered(block)


def numbered(keys: Sequence[Hashable]) -> list[int]:
    """The number of each key, in the order in which they occur first."""
    number: dict[Hashable, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]
