"""Generalized join trees, and connex sets of their nodes (Definitions 1 to 5).

A tree holds its nodes in one tuple, children before parents, the root last ::

    R(a, b)   S(b, c)          0, 1
          \\   / a < c
         {b, c}                2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.theta.gcq import Hyperedge, Theta, union


@dataclass(frozen=True, slots=True)
class TreeEdge:
    """From a parent to a child.

    Attributes
    ----------
    child : int
    predicates : frozenset of Theta
        Over variables of the parent and of the child.
    """

    child: int
    predicates: frozenset[Theta] = frozenset()


@dataclass(frozen=True, slots=True)
class JoinNode:
    """A node of a generalized join tree.

    Attributes
    ----------
    variables : Hyperedge
    atom : int or None
        Of a leaf, the atom of the query.
    edges : tuple of TreeEdge
        To its children; at least one unless it is a leaf.
    """

    variables: Hyperedge
    atom: int | None = None
    edges: tuple[TreeEdge, ...] = ()

    @property
    def children(self) -> tuple[int, ...]:
        """The numbers of the children."""
        return tuple(edge.child for edge in self.edges)

    @property
    def predicates(self) -> frozenset[Theta]:
        """Those on the edges to the children."""
        return frozenset(theta for edge in self.edges for theta in edge.predicates)


@dataclass(frozen=True, slots=True)
class JoinTree:
    """A generalized join tree with a connex set: what the paper calls a GJT pair.

    Attributes
    ----------
    nodes : tuple of JoinNode
        Children before parents; the last is the root.
    connex : frozenset of int
        Holds the root, and with each other node its parent.
    """

    nodes: tuple[JoinNode, ...]
    connex: frozenset[int]

    @property
    def root(self) -> int:
        """The last node."""
        return len(self.nodes) - 1

    @property
    def parent_of(self) -> Mapping[int, int]:
        """For each node but the root its parent."""
        return {child: place for place, node in enumerate(self.nodes) for child in node.children}

    @property
    def frontier(self) -> frozenset[int]:
        """The nodes of the connex set without children in it."""
        return frozenset(n for n in self.connex if not self.connex.intersection(self.nodes[n].children))

    @property
    def output(self) -> Hyperedge:
        """The variables of the connex set."""
        return union(self.nodes[place].variables for place in self.connex)

    @property
    def violators(self) -> tuple[int, ...]:
        """The nodes with some, but not all, children in the connex set."""
        found = []
        for place in sorted(self.connex):
            children = self.nodes[place].children
            if 0 < len(self.connex.intersection(children)) < len(children):
                found.append(place)
        return tuple(found)

    @property
    def sibling_closed(self) -> bool:
        """Whether the siblings of all nodes of the connex set are in it."""
        return not self.violators

    @property
    def binary(self) -> bool:
        """Whether no node has more than two children."""
        return all(len(node.edges) <= 2 for node in self.nodes)

    def guards(self, place: int) -> tuple[int, ...]:
        """The children that have all variables of a node."""
        own = self.nodes[place].variables
        return tuple(child for child in self.nodes[place].children if own <= self.nodes[child].variables)


def arranged(nodes: Mapping[int, JoinNode], root: int, connex: Iterable[int]) -> JoinTree:
    """The tree of nodes that have any numbers: it numbers them anew, children before parents.

    Parameters
    ----------
    nodes : mapping of int to JoinNode
        Those that the root does not reach are left out.
    root : int
    connex : iterable of int
    """
    order: list[int] = []
    todo = [root]
    while todo:
        order.append(todo.pop())
        todo += nodes[order[-1]].children
    number = {old: new for new, old in enumerate(reversed(order))}
    made = []
    for old in reversed(order):
        node = nodes[old]
        edges = tuple(TreeEdge(number[edge.child], edge.predicates) for edge in node.edges)
        made.append(JoinNode(node.variables, node.atom, edges))
    return JoinTree(tuple(made), frozenset(number[one] for one in connex))
