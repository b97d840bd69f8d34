"""What the nodes of a join tree hold, in which order, and how two of them join: `ViewLayout`.

The columns of a node are in the order in which it is looked into. For the atoms `R(a, b)`, `S(b, c)` and
the comparison `a < c`, with the root {b, c} above both, these are b, a for R and b, c for S: rows with one
b are next to each other, in the order of what is compared. One order serves both what an update and what a
listing asks, since what the children of a node share is in the node itself (its variables connect them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cer_gpu.engine.views.codes import ValueCodes, ValueKind
from cer_gpu.engine.views.terms import Columns, ComparedSide, TermComparison
from cer_gpu.frozen import dataclass
from cer_gpu.joins.theta.tree import JoinTree

KEY = "\0"
"""Begins the name of a column that is computed from others."""


@dataclass(frozen=True, slots=True)
class SiblingJoin:
    """How the two children of a node join.

    Attributes
    ----------
    guard, other : int
        The child that has all variables of the node, and its sibling.
    shared : tuple of str
        The variables of both: the first columns of each.
    key : TermComparison or None
        One of the comparisons between them, the guard's side on the left; what it compares is the next
        column of each.
    rest : tuple of TermComparison
        Those that are looked at pair by pair.
    """

    guard: int
    other: int
    shared: tuple[str, ...]
    key: TermComparison | None
    rest: tuple[TermComparison, ...]


@dataclass(frozen=True, slots=True)
class ViewNode:
    """A node of the tree, as it is kept.

    Attributes
    ----------
    variables : frozenset of str
    columns : tuple of str
        Its variables, and perhaps one column that is computed, in the order that rows are in.
    computed : ComparedSide or None
        What that column is.
    atom : int or None
        Of a leaf.
    parent : int or None
    known : int
        The number of first columns that are equal in all rows that a row of the parent joins: of a guard and
        of a single child all that the parent has, of the other child those that it shares.
    joined : SiblingJoin or None
        Of a node with two children.
    child : int or None
        Of a node with one.
    listed : bool
        Whether it is in the connex set.
    last : bool
        Whether it is there and no child of it is.
    """

    variables: frozenset[str]
    columns: tuple[str, ...]
    computed: ComparedSide | None
    atom: int | None
    parent: int | None
    known: int
    joined: SiblingJoin | None
    child: int | None
    listed: bool
    last: bool

    @property
    def name(self) -> str:
        """How drawings call it."""
        return "{" + ", ".join(sorted(self.variables)) + "}"


@dataclass(frozen=True, slots=True)
class ViewLayout:
    """The nodes, children before parents, and what their columns are.

    Attributes
    ----------
    places : tuple of ViewNode
    kinds : mapping of str to ValueKind
        Of the variables.
    codes : ValueCodes
    """

    places: tuple[ViewNode, ...]
    kinds: Mapping[str, ValueKind]
    codes: ValueCodes

    def values(self, side: ComparedSide, columns: Columns, rows: int) -> np.ndarray:
        """The codes of a side of a comparison on some rows."""
        return side.codes(columns, self.kinds, self.codes, rows)


def layout_of(
    tree: JoinTree,
    comparisons: Mapping[str, TermComparison],
    kinds: Mapping[str, ValueKind],
    codes: ValueCodes,
) -> ViewLayout:
    """The layout of a binary, sibling-closed join tree.

    Parameters
    ----------
    tree : JoinTree
    comparisons : mapping of str to TermComparison
        What the texts of the tree's predicates say.
    kinds : mapping of str to ValueKind
    codes : ValueCodes
    """
    joins = {n: _joined(tree, n, comparisons) for n, node in enumerate(tree.nodes) if len(node.edges) == 2}
    parent_of = tree.parent_of
    places = []
    for number, node in enumerate(tree.nodes):
        parent = parent_of.get(number)
        first, side, known = _first_columns(tree, number, parent, joins)
        rest = sorted(node.variables.difference(first))
        places.append(
            ViewNode(
                node.variables,
                (*first, *rest),
                side if side is not None and side.plain is None else None,
                node.atom,
                parent,
                known,
                joins.get(number),
                node.children[0] if len(node.edges) == 1 else None,
                number in tree.connex,
                number in tree.frontier,
            )
        )
    return ViewLayout(tuple(places), kinds, codes)


def _first_columns(
    tree: JoinTree, number: int, parent: int | None, joins: Mapping[int, SiblingJoin]
) -> tuple[tuple[str, ...], ComparedSide | None, int]:
    """The first columns of a node, the side that one of them is, and how many the parent determines."""
    if parent is None:
        return (), None, 0
    above = tree.nodes[parent].variables
    if parent not in joins:
        first = tuple(sorted(above))
        return first, None, len(first)
    join = joins[parent]
    guarding = join.guard == number
    side = None if join.key is None else join.key.left if guarding else join.key.right
    first = join.shared
    if side is not None:
        first = (*first, side.plain or KEY + str(number))
    if not guarding:
        return first, side, len(join.shared)
    first = (*first, *sorted(above.difference(first)))
    return first, side, len(first)


def _joined(tree: JoinTree, number: int, comparisons: Mapping[str, TermComparison]) -> SiblingJoin:
    node = tree.nodes[number]
    guard = next(c for c in tree.guards(number) if not _predicates(tree, number, c))
    (other,) = (child for child in node.children if child != guard)
    below = tree.nodes[other].variables
    own = tree.nodes[guard].variables
    shared = tuple(sorted(below & own))
    found = []
    for text in sorted(_predicates(tree, number, other)):
        one = comparisons[text]
        turned = one.left.variables <= below and one.right.variables <= own
        found.append(one.turned if turned else one)
    # An equality leaves the fewest rows; what is only unequal, or mixes both children, orders nothing.
    keys = [
        one
        for one in sorted(found, key=lambda one: one.op != "=")
        if one.op != "!=" and one.left.variables <= own and one.right.variables <= below
    ]
    key = keys[0] if keys else None
    rest = tuple(one for one in found if one is not key)
    return SiblingJoin(guard, other, shared, key, rest)


def _predicates(tree: JoinTree, number: int, child: int) -> Sequence[str]:
    return [t.text for e in tree.nodes[number].edges if e.child == child for t in e.predicates]
