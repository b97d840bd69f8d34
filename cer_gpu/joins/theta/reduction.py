"""The reduction of a triplet by ISO, CSE and FLT; what it decides (section 6.2).

The order of the steps does not matter (Proposition 7), so `reduced` takes the first, or one that `choose`
picks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.theta.gcq import GCQ, Hyperedge, Theta
from cer_gpu.joins.theta.triplet import Triplet, triplet_of


@dataclass(frozen=True, slots=True)
class IsolatedElimination:
    """ISO: remove isolated variables from a hyperedge, and the hyperedge if nothing is left of it."""

    edge: Hyperedge
    removed: Hyperedge


@dataclass(frozen=True, slots=True)
class ConditionalSubset:
    """CSE: remove a conditional subset of another hyperedge, with the predicates of what it has alone."""

    edge: Hyperedge
    into: Hyperedge
    predicates: frozenset[Theta]


@dataclass(frozen=True, slots=True)
class FilterElimination:
    """FLT: remove predicates over variables of one hyperedge."""

    edge: Hyperedge
    predicates: frozenset[Theta]


Step: TypeAlias = IsolatedElimination | ConditionalSubset | FilterElimination
Choose: TypeAlias = "Callable[[Sequence[Step]], Step]"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the two stages of Theorem 6.1 find.

    Attributes
    ----------
    first : Triplet
        The normal form of the query's triplet.
    second : Triplet
        The normal form of the residual of `first`.
    acyclic : bool
        `second` is empty.
    free_connex : bool
        And the variables of `first` are the output variables.
    """

    first: Triplet
    second: Triplet
    acyclic: bool
    free_connex: bool


def steps(triplet: Triplet) -> Iterator[Step]:
    """The steps that a triplet allows, in a fixed order; each removes as much as it can."""
    edges = sorted(triplet.hyperedges, key=sorted)
    for edge in edges:
        found = frozenset(theta for theta in triplet.predicates if theta.variables <= edge)
        if found:
            yield FilterElimination(edge, found)
    for edge in edges:
        isolated = triplet.isolated(edge)
        if isolated:
            yield IsolatedElimination(edge, isolated)
    for edge in edges:
        for other in edges:
            if edge != other and triplet.conditional_subset(edge, other):
                alone = edge - other
                gone = frozenset(theta for theta in triplet.predicates if theta.variables & alone)
                yield ConditionalSubset(edge, other, gone)


def after(triplet: Triplet, step: Step) -> Triplet:
    """The triplet after a step that it allows."""
    match step:
        case IsolatedElimination(edge, removed):
            rest = edge - removed
            edges = triplet.hyperedges - {edge} | ({rest} if rest else frozenset())
            return Triplet(edges, triplet.output, triplet.predicates)
        case ConditionalSubset(edge, _, gone):
            return Triplet(triplet.hyperedges - {edge}, triplet.output, triplet.predicates - gone)
        case FilterElimination(_, gone):
            return Triplet(triplet.hyperedges, triplet.output, triplet.predicates - gone)


def first_step(allowed: Sequence[Step]) -> Step:
    """The first."""
    return allowed[0]


def reduced(triplet: Triplet, choose: Choose = first_step) -> Triplet:
    """The normal form: no step is allowed any more."""
    while allowed := list(steps(triplet)):
        triplet = after(triplet, choose(allowed))
    return triplet


def decide(query: GCQ, choose: Choose = first_step) -> Decision:
    """Whether a query is acyclic and free-connex (Theorem 6.1)."""
    first = reduced(triplet_of(query), choose)
    second = reduced(first.residual, choose)
    return Decision(first, second, second.empty, second.empty and first.variables == query.output)
