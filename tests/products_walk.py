"""The answers of joins found one after another by definition, and the longest walk between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from cer_gpu.kernels.joins.contract import CHILD, CHILDREN, EVENT, LABEL, LATEST, LEFT, RIGHT

from cer_gpu.enumeration.products import Products

STEPS = 2
"""The most steps between two answers, for each event of the larger one: choices undone, and nodes."""


class WalkedAnswer(NamedTuple):
    """An answer: its marks (event, label) in the order in which they are found, and the steps to find it."""

    marks: tuple[tuple[int, int], ...]
    visited: int


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
