"""Tells whether a conjunctive query is hierarchical, and finds two variables that show why not."""

from __future__ import annotations

from itertools import combinations

from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.query import ConjunctiveQuery, JoinError


@dataclass(frozen=True, slots=True)
class Witness:
    """Two variables of which neither has all atoms of the other, though one atom has both.

    Attributes
    ----------
    left, right : str
    both, only_left, only_right : int
        An atom with both variables, one with `left` alone, and one with `right` alone.
    """

    left: str
    right: str
    both: int
    only_left: int
    only_right: int


class NotHierarchicalError(JoinError):
    """A query is not hierarchical.

    Attributes
    ----------
    witness : Witness
    """

    def __init__(self, witness: Witness) -> None:
        self.witness = witness
        super().__init__(f"not hierarchical: {witness}")


def witness(query: ConjunctiveQuery) -> Witness | None:
    """The first witness, by the order of variables and atoms; None for a hierarchical query.

    A query is hierarchical (section 4 of the paper) iff of any two variables x and y, atoms(x) and atoms(y)
    are disjoint or one contains the other.
    """
    atoms_of = query.atoms_of
    for left, right in combinations(atoms_of, 2):
        both = atoms_of[left] & atoms_of[right]
        only_left, only_right = atoms_of[left] - both, atoms_of[right] - both
        if both and only_left and only_right:
            return Witness(left, right, min(both), min(only_left), min(only_right))
    return None


def is_acyclic(query: ConjunctiveQuery) -> bool:
    """Whether the query has a join tree, that is, whether the GYO reduction removes all of it.

    GYO removes variables that only one atom has, and atoms whose variables another atom has, until neither is
    left.
    """
    edges = [set(atom.attribute_of) for atom in query.atoms]
    size = -1
    while size != sum(map(len, edges)):
        size = sum(map(len, edges))
        for place, edge in enumerate(edges):
            others = edges[:place] + edges[place + 1 :]
            edge &= set().union(*others)
            if any(edge <= other for other in others):
                edge.clear()
    return size == 0


def diagnose(query: ConjunctiveQuery) -> Diagnostic | None:
    """The error CER091 of a query that is not hierarchical, at the atom with both variables; else None."""
    found = witness(query)
    if found is None:
        return None
    left, right = found.left, found.right
    both, only_left, only_right = (
        query.atoms[number].text for number in (found.both, found.only_left, found.only_right)
    )
    kind = "acyclic but not hierarchical" if is_acyclic(query) else "cyclic, so not hierarchical"
    return Diagnostic(
        NOT_TAKEN,
        f"the rule is {kind}: `{left}` and `{right}` meet in `{both}`, "
        f"but `{only_left}` has no `{right}` and `{only_right}` no `{left}`",
        query.atoms[found.both].span,
        hints=(
            "if two variables are in one `T(...)`, one of them must be in every `T(...)` that has the other: "
            f"here `{left}` where `{right}` is, or `{right}` where `{left}` is",
        ),
    )
