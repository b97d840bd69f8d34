"""Generalized conjunctive queries: atoms, predicates between them, and output variables (section 2)."""

from __future__ import annotations

from collections.abc import Iterable

from cer_gpu.frozen_dataclass import dataclass

Hyperedge = frozenset[str]
"""A set of variables."""


@dataclass(frozen=True, slots=True)
class RelationalAtom:
    """An atom `R(a, b)`.

    Attributes
    ----------
    id : int
        Its place in the query: two atoms may be of one relation.
    relation : str
    variables : tuple of str
        Without repetitions, in the order of the relation's columns.
    """

    id: int
    relation: str
    variables: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(self.variables)})"


@dataclass(frozen=True, slots=True)
class Theta:
    """A predicate: in the theory, a name for a set of tuples over its variables.

    Attributes
    ----------
    text : str
        Such as `a < d`.
    variables : frozenset of str
        At least one.
    """

    text: str
    variables: Hyperedge

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class GCQ:
    """The natural join of the atoms, restricted to tuples that satisfy all predicates, projected to `output`.

    `Q(a, d) <- R(a, b), S(b, c), U(d), a < d` has three atoms, one predicate and two output variables.

    Attributes
    ----------
    atoms : tuple of Relational
        `atoms[i].id == i`.
    predicates : tuple of Theta
    output : frozenset of str
    """

    atoms: tuple[RelationalAtom, ...]
    predicates: tuple[Theta, ...]
    output: Hyperedge

    @property
    def variables(self) -> Hyperedge:
        """All variables of the atoms."""
        return union(atom.variables for atom in self.atoms)


def union(sets: Iterable[Iterable[str]]) -> Hyperedge:
    """The variables that any of the sets has."""
    return frozenset(name for one in sets for name in one)
