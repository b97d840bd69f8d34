"""Merges bisimilar states of a nondeterministic automaton, before its subsets are explored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Moves: TypeAlias = "Sequence[Sequence[tuple[int, int, int]]]"
"""For each state (symbols, label, target): the symbols are the bits of an int."""

_Signature: TypeAlias = "frozenset[tuple[tuple[int, int], int]]"


def bisimilar(moves: Moves, final: Sequence[bool]) -> list[int]:
    """The block of each state in the coarsest partition of which the automaton has a quotient.

    Two states of a block are both final or both not, and by each symbol and label they reach the same blocks;
    so they accept the same. A normal form copies a subformula once for each of its conditions: most states of
    the copies are bisimilar, and blocks have far fewer subsets than states have.

    A state is looked at again only when a target of it has left its block, and when a block is split the
    largest share keeps its number: a state moves O(log n) times. (Hopcroft's algorithm needs deterministic
    automata.)

    Parameters
    ----------
    moves : sequence of sequence of (int, int, int)
    final : sequence of bool

    Returns
    -------
    list of int
        Blocks are numbered in the order of their first state.
    """
    entering: list[list[int]] = [[] for _ in moves]
    for source, leaving in enumerate(moves):
        for _, _, target in leaving:
            entering[target].append(source)
    block = [int(accepts) for accepts in final]
    sizes = [len(block) - sum(block), sum(block)]
    of_block: list[_Signature | None] = [None, None]
    pending = set(range(len(moves)))
    while pending:
        parts: dict[int, dict[_Signature, list[int]]] = {}
        for state in sorted(pending):
            of_state = _signature(moves[state], block)
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
    numbers: dict[int, int] = {}
    return [numbers.setdefault(old, len(numbers)) for old in block]


def _signature(leaving: Sequence[tuple[int, int, int]], block: Sequence[int]) -> _Signature:
    return frozenset(merged_moves(leaving, block).items())


def merged_moves(leaving: Sequence[tuple[int, int, int]], block: Sequence[int]) -> dict[tuple[int, int], int]:
    """The symbols by which a state reaches each block: (label, block) to symbols."""
    found: dict[tuple[int, int], int] = {}
    for symbols, label, target in leaving:
        key = label, block[target]
        found[key] = found.get(key, 0) | symbols
    return found
