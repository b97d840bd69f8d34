"""Checks the invariants of the structure of joins, and measures the longest walk between two answers.

For tests: slow, and written from section 5 of the PCEA paper, not from the code that builds the structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from cer_gpu.enumeration.products import Products
from cer_gpu.enumeration.validator import InvariantError
from cer_gpu.kernels.joins.contract import CHILD, CHILDREN, EVENT, LABEL, LATEST, LEFT, RIGHT, WEIGHT

STEPS = 2
"""The most steps between two answers, for each event of the larger one: choices undone, and nodes."""


class WalkedAnswer(NamedTuple):
    """An answer: its marks (event, label) in the order in which they are found, and the steps to find it."""

    marks: tuple[tuple[int, int], ...]
    visited: int


def check(products: Products) -> None:
    """Check every node: the order of nodes, condition double dagger, max-start, events and weights.

    Raises
    ------
    InvariantError
    """
    arena, children = products.arena.tolist(), products.children.tolist()
    for node, row in enumerate(arena):
        gathered = children[row[CHILD] : row[CHILD] + row[CHILDREN]]
        below = [side for side in (row[LEFT], row[RIGHT]) if side >= 0]
        for other in (*gathered, *below):
            if not 0 <= other < node:
                raise InvariantError(f"node {node} refers to {other}, which does not precede it")
        latest = min([row[EVENT], *(arena[child][LATEST] for child in gathered)])
        if row[LATEST] != latest:
            raise InvariantError(f"node {node} has the max-start {row[LATEST]}, its product {latest}")
        for child in gathered:
            if _last(arena, child) >= row[EVENT]:
                raise InvariantError(
                    f"node {node} gathers {child}, which is not before its event {row[EVENT]}"
                )
        for side in below:
            if arena[side][LATEST] > row[LATEST]:
                raise InvariantError(f"node {node} is earlier than {side} below it")
        weight = 1 + sum(arena[side][WEIGHT] for side in below)
        if row[WEIGHT] != weight:
            raise InvariantError(f"node {node} has the weight {row[WEIGHT]}, and {weight} nodes")


def check_answers(products: Products) -> None:
    """Check that the structure is simple and duplicate-free, and that every count is right.

    Simple: no label marks an event twice in one answer (section 3: runs of an unambiguous PCEA are simple).

    Raises
    ------
    InvariantError
    """
    for hit in range(len(products.hits.event)):
        found = [tuple(sorted(answer.marks)) for answer in walked_answers(products, hit)]
        for marks in found:
            if len(set(marks)) != len(marks):
                raise InvariantError(f"hit {hit} has an answer that marks an event twice alike: {marks}")
        if len(set(found)) != len(found):
            raise InvariantError(f"hit {hit} lists an answer twice")
        if len(found) != products.hits.counts[hit]:
            raise InvariantError(f"hit {hit} has {len(found)} answers, counted {products.hits.counts[hit]}")


def walked_answers(products: Products, hit: int) -> Iterator[WalkedAnswer]:
    """The answers of a hit by the definition of the bag of a node, without those that have expired.

    An answer is a node of the root's bag, then one of the bag of each child, and so on, depth first.
    """
    arena, children = products.arena.tolist(), products.children.tolist()
    lowest = int(products.hits.lowest[hit])
    visited = 0
    for root in products.root_node[products.root_first[hit] : products.root_first[hit + 1]].tolist():
        # For each choice: the nodes that may still be taken, and the choices after it.
        choices: list[tuple[list[int], tuple[int, ...]]] = [([root], ())]
        marks: list[tuple[int, int]] = []
        while choices:
            pending, rest = choices[-1]
            visited += 1
            del marks[len(choices) - 1 :]
            if not pending:
                choices.pop()
                continue
            row = arena[pending.pop()]
            pending += [
                side for side in (row[RIGHT], row[LEFT]) if side >= 0 and arena[side][LATEST] >= lowest
            ]
            marks.append((row[EVENT], row[LABEL]))
            agenda = (*children[row[CHILD] : row[CHILD] + row[CHILDREN]], *rest)
            if agenda:
                choices.append(([agenda[0]], agenda[1:]))
            else:
                yield WalkedAnswer(tuple(marks), visited)
                visited = 0


def longest_walk(products: Products, hit: int, most: int | None = None) -> float:
    """The most steps from one answer of a hit to the next, divided by the events of the larger of the two.

    Output-linear delay (Theorem 5.2): at most `STEPS`, whatever the stream and the window. If `most` is
    given, only the first `most` answers are walked through.
    """
    found = islice(walked_answers(products, hit), most)
    sizes = [(answer.visited, len(answer.marks)) for answer in found]
    before = [size for _, size in sizes[:1] + sizes[:-1]]
    return max((steps / max(size, last) for (steps, size), last in zip(sizes, before)), default=0.0)


def _last(arena: list[list[int]], node: int) -> int:
    """The greatest event of a bag, by its definition."""
    last, pending = -1, [node]
    while pending:
        row = arena[pending.pop()]
        last = max(last, row[EVENT])
        pending += [side for side in (row[LEFT], row[RIGHT]) if side >= 0]
    return last
