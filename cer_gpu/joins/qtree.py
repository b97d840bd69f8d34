"""q-trees of hierarchical queries (section 4 and Appendix B of the PCEA paper), flat and in a fixed order.

The tree of `Q(x, y) <- T(x), S(x, y), R(x, y)` has the root x, below it atom 0 and y, and atoms 1 and 2 below
y: the variables on the way from the root to an atom are the variables of that atom.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.hierarchy import NotHierarchicalError, witness
from cer_gpu.joins.query import ConjunctiveQuery, JoinError

Label: TypeAlias = str | int
"""A variable, or the number of an atom."""


class NotATreeError(JoinError):
    """Labels repeat, or a node does not stand below one that comes before it."""


@dataclass(frozen=True, slots=True)
class QTree:
    """A labelled tree whose inner nodes are variables and whose leaves are atoms.

    Attributes
    ----------
    labels : tuple of Label
        Every node before those below it; each label is there once.
    parents : tuple of int
        For each node the place of the one above it; -1 for the root, the first.

    Raises
    ------
    NotATreeError
    """

    labels: tuple[Label, ...]
    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(set(self.labels)) != len(self.labels) or len(self.parents) != len(self.labels):
            raise NotATreeError(
                f"labels {self.labels} with parents {self.parents}: one parent for each label"
            )
        for node, parent in enumerate(self.parents):
            if parent >= node or (parent < 0) != (node == 0):
                raise NotATreeError(f"node {self.labels[node]} stands below none of those before it")

    @property
    def root(self) -> Label:
        """The label of the root."""
        return self.labels[0]

    @property
    def parent_of(self) -> Mapping[Label, Label]:
        """The label above each but the root."""
        return {label: self.labels[parent] for label, parent in zip(self.labels, self.parents) if parent >= 0}

    @property
    def children_of(self) -> Mapping[Label, tuple[Label, ...]]:
        """The labels right below each, in order."""
        found: dict[Label, tuple[Label, ...]] = dict.fromkeys(self.labels, ())
        for label, parent in self.parent_of.items():
            found[parent] += (label,)
        return found

    @property
    def paths(self) -> Mapping[Label, tuple[Label, ...]]:
        """For each label those from the root to it, both included."""
        found: dict[Label, tuple[Label, ...]] = {}
        for label, parent in zip(self.labels, self.parents):
            found[label] = (*(found[self.labels[parent]] if parent >= 0 else ()), label)
        return found

    @property
    def leaves(self) -> tuple[Label, ...]:
        """The labels with nothing below them."""
        inner = set(self.parents)
        return tuple(label for node, label in enumerate(self.labels) if node not in inner)


def tree_of(paths: Iterable[Sequence[Label]]) -> QTree:
    """The tree of the paths from one root to each leaf; children come in the order of the paths."""
    below: dict[Label, dict[Label, None]] = {}
    root: Label | None = None
    for path in paths:
        root = path[0]
        for above, label in pairwise(path):
            below.setdefault(above, {})[label] = None
    labels: list[Label] = []
    parents: list[int] = []
    pending: list[tuple[Label, int]] = [] if root is None else [(root, -1)]
    while pending:
        label, parent = pending.pop()
        pending += [(child, len(labels)) for child in reversed(below.get(label, {}))]
        labels.append(label)
        parents.append(parent)
    return QTree(tuple(labels), tuple(parents))


def fresh_variable(query: ConjunctiveQuery) -> str | None:
    """A variable that is given to every atom to connect the query; None where one connects it already."""
    if len(query.atoms) < 2 or any(len(atoms) == len(query.atoms) for atoms in query.atoms_of.values()):
        return None
    name = "*"
    while name in query.atoms_of:
        name += "*"
    return name


def q_tree(query: ConjunctiveQuery) -> QTree:
    """The q-tree of a hierarchical query; if it is disconnected, with a fresh variable as its root.

    Variables with more atoms come first, then those that occur first: the way to an atom is then its
    variables in that order. Children stand in the order of the first atom below them.

    Raises
    ------
    NotHierarchicalError
    """
    found = witness(query)
    if found is not None:
        raise NotHierarchicalError(found)
    atoms_of = query.atoms_of
    ranked = sorted(atoms_of, key=lambda name: -len(atoms_of[name]))
    fresh = fresh_variable(query)
    top = () if fresh is None else (fresh,)
    return tree_of(
        [*top, *(name for name in ranked if name in atom.attribute_of), atom.id] for atom in query.atoms
    )


def compact(tree: QTree) -> QTree:
    """The compact q-tree: without the inner nodes that have a single child (Figure 4).

    If variables below one another have the same atoms, the topmost is kept; a variable of a single atom is
    left out.
    """
    paths = tree.paths
    below: dict[Label, int] = dict.fromkeys(tree.labels, 0)
    for leaf in tree.leaves:
        for label in paths[leaf]:
            below[label] += 1
    parent_of = tree.parent_of
    kept = {
        label
        for label in tree.labels
        if below[label] > 1 and (label == tree.root or below[parent_of[label]] != below[label])
    }
    return tree_of([*(label for label in paths[leaf] if label in kept), leaf] for leaf in tree.leaves)


def draw(tree: QTree, query: ConjunctiveQuery | None = None) -> str:
    """The tree as text, one node a line; atoms are their numbers, with their text where a query is given.

    ::

        x
        ├─ 0: T(x)
        └─ y
           ├─ 1: S(x, y)
           └─ 2: R(x, y)
    """
    children_of = tree.children_of
    lines = []
    pending: list[tuple[Label, str, str]] = [(tree.root, "", "")]
    while pending:
        label, first, rest = pending.pop()
        shown = f"{label}: {query.atoms[label].text}" if query and isinstance(label, int) else str(label)
        lines.append(first + shown)
        children = children_of[label]
        for child in reversed(children):
            last = child == children[-1]
            pending.append((child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")))
    return "\n".join(lines)
