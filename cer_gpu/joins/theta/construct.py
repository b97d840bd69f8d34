"""Algorithm 3: the generalized join tree of a query with its connex set, built by the reduction's steps.

Each step puts new nodes above the roots of a forest. Roots with one label are merged first. What stands above
the roots when the first stage ends is the connex set; its variables are the output variables where the query
is free-connex, and as few more as any tree allows otherwise (Theorem 6.2).
"""

from __future__ import annotations

from collections.abc import Iterable

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.query import JoinError
from cer_gpu.joins.theta.gcq import GCQ, Hyperedge, Theta
from cer_gpu.joins.theta.reduction import (
    Choose,
    ConditionalSubset,
    FilterElimination,
    IsolatedElimination,
    Step,
    after,
    first_step,
    steps,
)
from cer_gpu.joins.theta.shape import binary, contracted, sibling_closed
from cer_gpu.joins.theta.tree import JoinNode, JoinTree, TreeEdge, arranged
from cer_gpu.joins.theta.triplet import Triplet, triplet_of


class CyclicError(JoinError):
    """A query has no join tree.

    Attributes
    ----------
    remaining : tuple of Hyperedge
        The hyperedges that no step of the reduction removes.
    """

    def __init__(self, remaining: Iterable[Hyperedge]) -> None:
        self.remaining = tuple(sorted(remaining, key=sorted))
        listed = ", ".join("{" + ", ".join(sorted(edge)) + "}" for edge in self.remaining)
        super().__init__(f"the query is cyclic: its reduction ends with {listed}")


@dataclass(frozen=True, slots=True)
class BinaryJoinTree:
    """A join tree that is sibling-closed and binary, and whether its query is free-connex.

    Attributes
    ----------
    tree : JoinTree
    free_connex : bool
        Whether the variables of the connex set are exactly the output variables; otherwise it has more.
    """

    tree: JoinTree
    free_connex: bool


def join_tree(query: GCQ, choose: Choose = first_step) -> JoinTree:
    """A generalized join tree with a sibling-closed connex set, whose variables are the output or minimal.

    Parameters
    ----------
    query : GCQ
    choose : callable
        Picks one of the steps that are allowed: other choices give other trees.

    Raises
    ------
    CyclicError
    """
    forest = _Forest(query)
    triplet = forest.reduce(triplet_of(query), choose)
    first = set(forest.roots)
    triplet = forest.reduce(triplet.residual, choose)
    if not triplet.empty:
        raise CyclicError(triplet.hyperedges)
    root = forest.above(forest.roots, frozenset())
    forest.roots = {root}
    return forest.tree(root, first)


def planned(query: GCQ, choose: Choose = first_step) -> BinaryJoinTree:
    """The join tree that a view is kept by: `join_tree` made sibling-closed and binary.

    Raises
    ------
    CyclicError
    """
    tree = join_tree(query, choose)
    shaped = contracted(binary(sibling_closed(tree)))
    return BinaryJoinTree(shaped, shaped.output == query.output)


class _Forest:
    """Disjoint trees that grow upwards."""

    def __init__(self, query: GCQ) -> None:
        self.nodes: dict[int, JoinNode] = {
            atom.id: JoinNode(frozenset(atom.variables), atom.id) for atom in query.atoms
        }
        self.roots = set(self.nodes)

    def reduce(self, triplet: Triplet, choose: Choose) -> Triplet:
        """Take steps until none is allowed; enact each."""
        while allowed := list(steps(triplet)):
            step = choose(allowed)
            self.enact(step)
            triplet = after(triplet, step)
        return triplet

    def enact(self, step: Step) -> None:
        match step:
            case IsolatedElimination(edge, removed):
                self.above([self.merged(edge)], edge - removed)
            case ConditionalSubset(edge, into, predicates):
                part, whole = self.merged(edge), self.merged(into)
                self.above([whole, part], into, {part: predicates})
            case FilterElimination(edge, predicates):
                roots = self.labelled(edge)
                self.above(roots, edge, dict.fromkeys(roots[:1], predicates))

    def labelled(self, edge: Hyperedge) -> list[int]:
        return [root for root in sorted(self.roots) if self.nodes[root].variables == edge]

    def merged(self, edge: Hyperedge) -> int:
        """The one root of a label: where there are several, a new node above them."""
        roots = self.labelled(edge)
        return roots[0] if len(roots) == 1 else self.above(roots, edge)

    def above(
        self, roots: Iterable[int], label: Hyperedge, predicates: dict[int, frozenset[Theta]] | None = None
    ) -> int:
        """A new root over some roots."""
        listed = sorted(roots)
        on = predicates or {}
        made = len(self.nodes)
        edges = tuple(TreeEdge(one, on.get(one, frozenset())) for one in listed)
        self.nodes[made] = JoinNode(label, None, edges)
        self.roots = self.roots.difference(listed) | {made}
        return made

    def tree(self, root: int, below: set[int]) -> JoinTree:
        """The tree; its connex set is some nodes with everything above them."""
        parent_of = {child: place for place, node in self.nodes.items() for child in node.children}
        connex = set()
        for one in below:
            while one not in connex:
                connex.add(one)
                one = parent_of.get(one, root)
        return arranged(self.nodes, root, connex)
