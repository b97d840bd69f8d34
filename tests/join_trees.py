"""Generalized join trees by their definition, and queries in short (IEDyn paper, section 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cer_gpu.joins.theta.gcq import GCQ, RelationalAtom, Theta, union
from cer_gpu.joins.theta.tree import JoinTree


class NotJoinTreeError(Exception):
    """A tree is no generalized join tree of a query."""


def gcq(
    atoms: Iterable[tuple[str, str]], predicates: Iterable[tuple[str, str]] = (), output: str | None = None
) -> GCQ:
    """A query whose variables are single letters: `gcq([("R", "ab"), ("S", "bc")], [("a<c", "ac")], "ab")`.

    Parameters
    ----------
    atoms : iterable of (str, str)
        The relation, and its variables.
    predicates : iterable of (str, str)
        The text, and its variables.
    output : str or None
        None for all variables.
    """
    listed = tuple(
        RelationalAtom(place, name, tuple(variables)) for place, (name, variables) in enumerate(atoms)
    )
    everything = union(atom.variables for atom in listed)
    thetas = tuple(Theta(text, frozenset(variables)) for text, variables in predicates)
    return GCQ(listed, thetas, everything if output is None else frozenset(output))


def check(tree: JoinTree, query: GCQ) -> None:
    """Check that a tree is one of a query, with a connex set (Definitions 1 to 3).

    Raises
    ------
    NotJoinTreeError
        When it is not; the message says which node violates which condition.
    """
    parents = Counter(child for node in tree.nodes for child in node.children)
    if any(parents[place] != (place != tree.root) for place in range(len(tree.nodes))):
        raise NotJoinTreeError("the nodes are not one tree")
    for place, node in enumerate(tree.nodes):
        if not node.edges:
            if node.atom is None or node.variables != frozenset(query.atoms[node.atom].variables):
                raise NotJoinTreeError(f"leaf {place} is no atom")
        elif node.atom is not None or not tree.guards(place):
            raise NotJoinTreeError(f"node {place} has no guard")
        for edge in node.edges:
            for theta in edge.predicates:
                if not theta.variables <= node.variables | tree.nodes[edge.child].variables:
                    raise NotJoinTreeError(f"`{theta}` is not over the edge from {place} to {edge.child}")
    leaves = sorted(node.atom for node in tree.nodes if node.atom is not None)
    if leaves != [atom.id for atom in query.atoms]:
        raise NotJoinTreeError("the leaves are not the atoms")
    if frozenset(theta for node in tree.nodes for theta in node.predicates) != frozenset(query.predicates):
        raise NotJoinTreeError("the edges do not hold the predicates")
    parent_of = tree.parent_of
    for name in query.variables:
        having = {place for place, node in enumerate(tree.nodes) if name in node.variables}
        if sum(parent_of.get(place) not in having for place in having) != 1:
            raise NotJoinTreeError(f"the nodes with `{name}` are not connected")
    if tree.root not in tree.connex or any(
        parent_of[n] not in tree.connex for n in tree.connex - {tree.root}
    ):
        raise NotJoinTreeError("the set of nodes is not connex")
