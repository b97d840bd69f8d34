"""The columns of the nodes of a join tree, their order, and how two nodes join: `ViewLayout`.

The columns of a node are in the order in which it is searched. For the atoms `R(a, b)`, `S(b, c)` and the
comparison `a < c`, with the root {b, c} above both, these are b, a for R and b, c for S: rows with the same b
are neighbours, in the order of what is compared. One order serves updates and listings, because what the
children of a node share is in the node itself (its variables connect them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.views.codes import ValueCodes, ValueKind
from cer_gpu.engine.views.terms import Columns, ComparedSide, TermComparison
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.theta.tree import JoinTree
from cer_gpu.kernels.views.contract import OPS, RowTests
from cer_gpu.language.signs import CONVERSE

KEY = "\0"
"""The beginning of the name of a column that is computed from others."""


@dataclass(frozen=True, slots=True)
class SiblingJoin:
    """How the two children of a node join.

    Attributes
    ----------
    guard, other : int
        The child that has all variables of the node, and its sibling.
    shared : tuple of str
        The variables of both: the first columns of each.
    keys : tuple of TermComparison
        The comparisons between them, with the guard's side on the left; what they compare are the next
        columns of each, so that rows are in the lexicographic order of all of them.
    tests : RowTests
        The same, for a row of the guard that asks for rows of the other child.
    turned : RowTests
        The same, for a row of the other child that asks for rows of the guard.
    rest : tuple of TermComparison
        Comparisons with a side that mixes variables of both, which are evaluated pair by pair.
    aligned : bool
        Whether the node's columns are the first ones of the guard, so that its rows come in order.
    """

    guard: int
    other: int
    shared: tuple[str, ...]
    keys: tuple[TermComparison, ...]
    tests: RowTests
    turned: RowTests
    rest: tuple[TermComparison, ...]
    aligned: bool


@dataclass(frozen=True, slots=True)
class ViewNode:
    """A node of the tree, with the columns of its rows.

    Attributes
    ----------
    variables : frozenset of str
    columns : tuple of str
        Its variables, and computed columns, in the order by which rows are sorted.
    computed : tuple of (str, ComparedSide)
        The expressions of the computed columns.
    atom : int or None
        The atom of a leaf.
    parent : int or None
    known : int
        The number of first columns that are equal in all rows that a row of the parent joins: for a guard or
        a single child all columns of the parent, for the other child the shared ones.
    joined : SiblingJoin or None
        How its two children join.
    child : int or None
        Its single child.
    listed : bool
        Whether it is in the connex set.
    last : bool
        Whether it is in the connex set and none of its children is.
    summed : bool
        Whether multiplicities of ranges of its rows are summed.
    """

    variables: frozenset[str]
    columns: tuple[str, ...]
    computed: tuple[tuple[str, ComparedSide], ...]
    atom: int | None
    parent: int | None
    known: int
    joined: SiblingJoin | None
    child: int | None
    listed: bool
    last: bool
    summed: bool

    @property
    def name(self) -> str:
        """Its name in drawings."""
        return "{" + ", ".join(sorted(self.variables)) + "}"


@dataclass(frozen=True, slots=True)
class ViewLayout:
    """The nodes of a join tree, children before parents, with their columns.

    Attributes
    ----------
    places : tuple of ViewNode
    kinds : mapping of str to ValueKind
        The kinds of the variables.
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
        The comparisons, by their texts in the tree's predicates.
    kinds : mapping of str to ValueKind
    codes : ValueCodes
    """
    sides = {n: _sides(tree, n, comparisons) for n, node in enumerate(tree.nodes) if len(node.edges) == 2}
    parent_of = tree.parent_of
    first: dict[int, tuple[str, ...]] = {}
    computed: dict[int, dict[str, ComparedSide]] = {}
    names: dict[int, tuple[Sequence[str], Sequence[str]]] = {}
    for number, one in sides.items():
        named = []
        for child, compared in ((one.guard, one.left), (one.other, one.right)):
            found: dict[str, ComparedSide] = {}
            taken = [_named(child, side, one.shared, found) for side in compared]
            first[child] = tuple(dict.fromkeys((*one.shared, *taken)))
            computed[child] = found
            named.append(taken)
        names[number] = (named[0], named[1])
    columns: dict[int, tuple[str, ...]] = {}
    known: dict[int, int] = {}
    for number in reversed(range(len(tree.nodes))):
        node = tree.nodes[number]
        own = list(first.get(number, ()))
        parent = parent_of.get(number)
        known[number] = len(sides[parent].shared) if parent in sides else len(own)
        if parent is not None and (parent not in sides or sides[parent].guard == number):
            own += [name for name in columns[parent] if name in node.variables and name not in own]
            known[number] = len(own)
        below = first.get(sides[number].guard, ()) if number in sides else ()
        own += [name for name in below if name in node.variables and name not in own]
        columns[number] = (*own, *sorted(node.variables.difference(own)))
    places = []
    for number, node in enumerate(tree.nodes):
        parent = parent_of.get(number)
        joined = None
        if number in sides:
            joined = _joined(sides[number], names[number], columns, number, computed)
        above = sides.get(parent) if parent is not None else None
        places.append(
            ViewNode(
                node.variables,
                columns[number],
                tuple(computed.get(number, {}).items()),
                node.atom,
                parent,
                known[number],
                joined,
                node.children[0] if len(node.edges) == 1 else None,
                number in tree.connex,
                number in tree.frontier,
                above is not None and above.other == number and len(above.left) < 2 and not above.rest,
            )
        )
    return ViewLayout(tuple(places), kinds, codes)


class _Sides(NamedTuple):
    """How two children join, before their columns are known: the sides of the keys, by their places."""

    guard: int
    other: int
    shared: tuple[str, ...]
    keys: tuple[TermComparison, ...]
    rest: tuple[TermComparison, ...]

    @property
    def left(self) -> tuple[ComparedSide, ...]:
        """The guard's."""
        return tuple(one.left for one in self.keys)

    @property
    def right(self) -> tuple[ComparedSide, ...]:
        """The other child's."""
        return tuple(one.right for one in self.keys)


def _sides(tree: JoinTree, number: int, comparisons: Mapping[str, TermComparison]) -> _Sides:
    node = tree.nodes[number]
    guard = next(c for c in tree.guards(number) if not _predicates(tree, number, c))
    (other,) = (child for child in node.children if child != guard)
    below = tree.nodes[other].variables
    own = tree.nodes[guard].variables
    found = []
    for text in sorted(_predicates(tree, number, other)):
        one = comparisons[text]
        turned = one.left.variables <= below and one.right.variables <= own
        found.append(one.turned if turned else one)
    # An equality leaves the fewest rows; what is only unequal orders nothing.
    found.sort(key=lambda one: (one.op != "=", one.op == "!="))
    keys = [one for one in found if one.left.variables <= own and one.right.variables <= below]
    rest = tuple(one for one in found if one not in keys)
    return _Sides(guard, other, tuple(sorted(below & own)), tuple(keys), rest)


def _named(number: int, side: ComparedSide, shared: Sequence[str], computed: dict[str, ComparedSide]) -> str:
    """The column of a side of a comparison: a variable, or one that is computed."""
    if side.plain is not None and side.plain not in shared:
        return side.plain
    for name, known in computed.items():
        if known == side:
            return name
    name = f"{KEY}{number}.{len(computed)}"
    computed[name] = side
    return name


def _joined(
    sides: _Sides,
    names: tuple[Sequence[str], Sequence[str]],
    columns: Mapping[int, tuple[str, ...]],
    number: int,
    computed: Mapping[int, Mapping[str, ComparedSide]],
) -> SiblingJoin:
    ops = np.array([OPS.index(one.op) for one in sides.keys], np.int64)
    back = np.array([OPS.index(CONVERSE[one.op]) for one in sides.keys], np.int64)
    guards = np.array([columns[sides.guard].index(name) for name in names[0]], np.int64)
    others = np.array([columns[sides.other].index(name) for name in names[1]], np.int64)
    own = columns[number]
    aligned = not computed.get(number) and own == columns[sides.guard][: len(own)]
    tests, turned = RowTests(ops, guards, others), RowTests(back, others, guards)
    return SiblingJoin(sides.guard, sides.other, sides.shared, sides.keys, tests, turned, sides.rest, aligned)


def _predicates(tree: JoinTree, number: int, child: int) -> Sequence[str]:
    return [t.text for e in tree.nodes[number].edges if e.child == child for t in e.predicates]
