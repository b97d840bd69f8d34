"""Checks the invariants of the structure of joins.

Slow, and written from section 5 of the PCEA paper, not from the code that builds the structure.
"""

from __future__ import annotations

from cer_gpu.kernels.joins.contract import CHILD, CHILDREN, EVENT, LATEST, LEFT, RIGHT, WEIGHT
from forest_validator import InvariantError
from products_walk import walked_answers

from cer_gpu.enumeration.products import Products


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


def _last(arena: list[list[int]], node: int) -> int:
    """The greatest event of a bag, by its definition."""
    last, pending = -1, [node]
    while pending:
        row = arena[pending.pop()]
        last = max(last, row[EVENT])
        pending += [side for side in (row[LEFT], row[RIGHT]) if side >= 0]
    return last
