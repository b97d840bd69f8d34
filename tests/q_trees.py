"""Q-trees by their definition (PCEA paper, section 4)."""

from __future__ import annotations

from cer_gpu.joins.qtree import QTree, fresh_variable
from cer_gpu.joins.query import ConjunctiveQuery


def is_q_tree(tree: QTree, query: ConjunctiveQuery) -> bool:
    """Whether a tree is a q-tree of a query, by the definition.

    Each variable is one inner node, each atom one leaf, and the inner nodes on the way to an atom are its
    variables; the root of a disconnected query is the fresh variable, which all its atoms are given.
    """
    fresh = fresh_variable(query)
    given = frozenset() if fresh is None else frozenset((fresh,))
    atoms = {atom.id for atom in query.atoms}
    if set(tree.labels) != atoms | query.atoms_of.keys() | given or set(tree.leaves) != atoms:
        return False
    paths = tree.paths
    return all(set(paths[atom.id][:-1]) == atom.attribute_of.keys() | given for atom in query.atoms)
