"""Hypergraph triplets: what the reduction of a query rewrites (Definitions 9 to 11)."""

from __future__ import annotations

from collections.abc import Iterable

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.theta.gcq import GCQ, Hyperedge, Theta, union


@dataclass(frozen=True, slots=True)
class Triplet:
    """(hypergraph, output variables, predicates).

    Attributes
    ----------
    hyperedges : frozenset of Hyperedge
        None of them is the empty set.
    output : Hyperedge
    predicates : frozenset of Theta
    """

    hyperedges: frozenset[Hyperedge]
    output: Hyperedge
    predicates: frozenset[Theta]

    @property
    def variables(self) -> Hyperedge:
        """Those of the hyperedges."""
        return union(self.hyperedges)

    @property
    def equijoin(self) -> Hyperedge:
        """The variables in the output or in at least two hyperedges."""
        seen: set[str] = set()
        twice = set(self.output)
        for edge in self.hyperedges:
            twice |= seen & edge
            seen |= edge
        return frozenset(twice)

    @property
    def residual(self) -> Triplet:
        """The same without output variables."""
        return Triplet(self.hyperedges, frozenset(), self.predicates)

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return not (self.hyperedges or self.output or self.predicates)

    def isolated(self, edge: Hyperedge) -> Hyperedge:
        """The variables of `edge` that are neither equijoin variables nor mentioned by a predicate."""
        return edge - self.equijoin - union(theta.variables for theta in self.predicates)

    def extended(self, variables: Iterable[str]) -> Hyperedge:
        """The other variables of the predicates that mention one of these."""
        own = frozenset(variables)
        return union(theta.variables for theta in self.predicates if theta.variables & own) - own

    def conditional_subset(self, edge: Hyperedge, other: Hyperedge) -> bool:
        """Whether `other` has the equijoin variables of `edge`, and all that its others are compared with."""
        return edge & self.equijoin <= other and self.extended(edge - other) <= other


def triplet_of(query: GCQ) -> Triplet:
    """The triplet of a query (Definition 11)."""
    edges = frozenset(frozenset(atom.variables) for atom in query.atoms if atom.variables)
    return Triplet(edges, query.output, frozenset(query.predicates))
