"""Chooses the join tree that a view is kept by among several: `cheapest`.

The cost of a tree is the number of rows of its nodes that change when a row is inserted, on average over the
relations by their sizes. A changed row of a guard changes one row of the node above. A changed row of its
sibling changes all rows of the guard that it joins: those with equal shared variables, a third of them for
each inequality. Among trees of equal cost the one whose nodes have fewer rows is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from random import Random

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.theta.construct import BinaryJoinTree, planned
from cer_gpu.joins.theta.gcq import GCQ, Theta
from cer_gpu.joins.theta.reduction import Step, first_step

TRIES = 16
"""Orders of the reduction's steps that are tried."""

THIRD = 1 / 3
"""The share of pairs that satisfy an inequality."""

ROWS, DIFFERENT = 1000.0, 100.0
"""Rows of a relation, and different values of a column of it, where nothing is known."""


@dataclass(frozen=True, slots=True)
class AtomStatistics:
    """Statistics of the rows of an atom.

    Attributes
    ----------
    rows : float
    different : mapping of str to float
        The number of different values of each variable.
    """

    rows: float
    different: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TreeCost:
    """The cost of a tree; less is better, compared by `changed` first.

    Attributes
    ----------
    changed : float
        Rows of nodes that change for each inserted row.
    rows : float
        Rows that all nodes hold.
    """

    changed: float
    rows: float


@dataclass(frozen=True, slots=True)
class ChosenTree:
    """The tree that was chosen.

    Attributes
    ----------
    plan : Planned
    cost : TreeCost
    trees : int
        The number of different trees that it was chosen from.
    """

    plan: BinaryJoinTree
    cost: TreeCost
    trees: int


def unknown(query: GCQ) -> tuple[AtomStatistics, ...]:
    """Statistics that are assumed where nothing is known of the atoms."""
    return tuple(AtomStatistics(ROWS, dict.fromkeys(atom.variables, DIFFERENT)) for atom in query.atoms)


def cheapest(query: GCQ, known: Sequence[AtomStatistics] | None = None) -> ChosenTree:
    """The tree of least cost.

    Parameters
    ----------
    query : GCQ
        Acyclic.
    known : sequence of AtomStatistics, optional
        For each atom.

    Raises
    ------
    CyclicError
    """
    statistics = unknown(query) if known is None else known
    found = different(query)
    costs = [tree_cost(one, query, statistics) for one in found]
    best = min(range(len(found)), key=lambda number: (costs[number].changed, costs[number].rows, number))
    return ChosenTree(found[best], costs[best], len(found))


@lru_cache(maxsize=64)
def different(query: GCQ) -> tuple[BinaryJoinTree, ...]:
    """The different trees among `candidates`: the same for all views of a rule."""
    return tuple(dict.fromkeys(candidates(query)))


def candidates(query: GCQ) -> Iterator[BinaryJoinTree]:
    """Trees of a query, by several orders of the reduction's steps; the first is that of `planned`.

    Raises
    ------
    CyclicError
    """
    yield planned(query, first_step)
    for number in range(TRIES):
        rng = Random(number)

        def chosen(allowed: Sequence[Step], rng: Random = rng) -> Step:
            return rng.choice(allowed)

        yield planned(query, chosen)


def tree_cost(plan: BinaryJoinTree, query: GCQ, known: Sequence[AtomStatistics]) -> TreeCost:
    """The cost of a tree."""
    tree = plan.tree
    total = sum(max(one.rows, 1.0) for one in known)
    rows: list[float] = []
    changed: list[float] = []
    different: list[dict[str, float]] = []
    for node in tree.nodes:
        if node.atom is not None:
            own = known[node.atom]
            rows.append(max(own.rows, 1.0))
            changed.append(rows[-1] / total)
            different.append({name: max(own.different[name], 1.0) for name in node.variables})
            continue
        number = len(rows)
        # As the layout does: the guard is a child without predicates on its edge.
        plain = [edge.child for edge in node.edges if not edge.predicates]
        guard = next((c for c in tree.guards(number) if c in plain), node.children[0])
        values = {name: different[guard][name] for name in node.variables}
        grown = changed[guard]
        for edge in node.edges:
            if edge.child == guard:
                continue
            shared = tree.nodes[guard].variables & tree.nodes[edge.child].variables
            groups = min(rows[guard], prod(different[guard][name] for name in shared))
            grown += changed[edge.child] * rows[guard] / groups * _share(edge.predicates, different)
        rows.append(min(rows[guard], prod(values.values())))
        changed.append(min(grown, rows[-1]))
        different.append(values)
    return TreeCost(sum(changed), sum(rows))


def _share(predicates: frozenset[Theta], different: Sequence[Mapping[str, float]]) -> float:
    """The share of pairs that satisfy all predicates."""
    found = 1.0
    for theta in predicates:
        equal = " = " in theta.text
        most = max((one[name] for one in different for name in theta.variables if name in one), default=3.0)
        found *= 1 / most if equal else 1.0 if " != " in theta.text else THIRD
    return found
