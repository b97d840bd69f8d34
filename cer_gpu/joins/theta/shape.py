"""Propositions 1 to 3: an equivalent join tree that is sibling-closed and binary."""

from __future__ import annotations

from cer_gpu.joins.theta.tree import JoinNode, JoinTree, TreeEdge, arranged


def sibling_closed(tree: JoinTree) -> JoinTree:
    """An equivalent tree whose connex set has all siblings of its nodes (Proposition 2)."""
    while tree.violators:
        tree = without_violator(tree, tree.violators[0])
    return tree


def without_violator(tree: JoinTree, place: int) -> JoinTree:
    """The tree with one violator less (Lemmas 2 and 3).

    Type 1: a child in the connex set has all variables of the node; the children outside of the set move
    down, to a new node above a guard leaf below that child. Type 2: they move to a new child with the node's
    variables, which joins the set.
    """
    nodes = dict(enumerate(tree.nodes))
    connex = set(tree.connex)
    node = nodes[place]
    outside = tuple(edge for edge in node.edges if edge.child not in connex)
    inside = tuple(edge for edge in node.edges if edge.child in connex)
    made = len(nodes)
    guards = [child for child in tree.guards(place) if child in connex]
    if guards:
        leaf = guards[0]
        while nodes[leaf].edges:
            leaf = next(c for c in nodes[leaf].children if node.variables <= nodes[c].variables)
        above = tree.parent_of[leaf]
        nodes[place] = JoinNode(node.variables, None, inside)
        moved = tuple(
            TreeEdge(made, edge.predicates) if edge.child == leaf else edge for edge in nodes[above].edges
        )
        nodes[made] = JoinNode(nodes[leaf].variables, None, (TreeEdge(leaf), *outside))
        nodes[above] = JoinNode(nodes[above].variables, None, moved)
        if leaf in connex:
            connex = connex - {leaf} | {made}
    else:
        nodes[made] = JoinNode(node.variables, None, outside)
        nodes[place] = JoinNode(node.variables, None, (*inside, TreeEdge(made)))
        connex.add(made)
    return arranged(nodes, tree.root, connex)


def binary(tree: JoinTree) -> JoinTree:
    """An equivalent tree in which no node has more than two children (Proposition 3).

    Parameters
    ----------
    tree : JoinTree
        Sibling-closed, as is the result.
    """
    nodes = dict(enumerate(tree.nodes))
    connex = set(tree.connex)
    for place in range(len(tree.nodes)):
        node = nodes[place]
        if len(node.edges) <= 2:
            continue
        guard = tree.guards(place)[0]
        first = next(edge for edge in node.edges if edge.child == guard)
        others = [edge for edge in node.edges if edge.child != guard]
        below = first
        for other in others[:-1]:
            made = len(nodes)
            nodes[made] = JoinNode(node.variables, None, (below, other))
            below = TreeEdge(made)
            if guard in connex:
                connex.add(made)
        nodes[place] = JoinNode(node.variables, None, (below, others[-1]))
    return arranged(nodes, tree.root, connex)


def contracted(tree: JoinTree) -> JoinTree:
    """An equivalent tree without needless nodes that have one child and no predicate to it.

    The child takes the place of its parent, where that changes no answer."""
    while True:
        parent_of = tree.parent_of
        for place, node in enumerate(tree.nodes):
            if len(node.edges) != 1 or node.predicates:
                continue
            (child,) = node.children
            if place in tree.connex and child not in tree.connex:
                continue
            if place == tree.root and place != child:
                tree = arranged(dict(enumerate(tree.nodes)), child, tree.connex - {place})
                break
            above = parent_of[place]
            edges = tuple(
                TreeEdge(child, edge.predicates) if edge.child == place else edge
                for edge in tree.nodes[above].edges
            )
            nodes = dict(enumerate(tree.nodes))
            nodes[above] = JoinNode(nodes[above].variables, None, edges)
            tree = arranged(nodes, tree.root, tree.connex - {place})
            break
        else:
            return tree
