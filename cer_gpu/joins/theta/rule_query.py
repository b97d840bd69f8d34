"""All answers of a rule as a generalized conjunctive query, without a latest event.

`Q(x, y, z) <- R(x), S(y), T(z), x < y, y < z` over a stream without a window has as many answers as a view of
it (`whole_query`). Lookups find every pair of R and S first; a join tree sums multiplicities, in O(n log n).
Where events are values too (`listed_query`) the tree lists the answers, and no pair that is in none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

from cer_gpu.joins.lookups import LookupPlan
from cer_gpu.joins.theta.cost import THIRD, AtomStatistics
from cer_gpu.joins.theta.gcq import GCQ, RelationalAtom, Theta, union
from cer_gpu.joins.theta.reduction import decide
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text

LANE = "lane"
"""The variable that all atoms have of which events meet in one lane alone."""

ROW, ANSWER = 24, 2
"""What it costs a view to take an event in and to list an answer, in partial answers of lookups."""


def joined_name(number: int) -> str:
    """The variable of a joined variable of the plan."""
    return f"j{number}"


def side_names(number: int) -> tuple[str, str]:
    """The variables of both sides of a comparison of the plan, each of one atom."""
    return f"x{number}", f"y{number}"


def whole_comparisons(plan: LookupPlan) -> Mapping[str, t.Comparison]:
    """The comparisons between sides, by their texts."""
    found = {}
    for number, one in enumerate(plan.compared):
        left, right = (t.Attribute(name) for name in side_names(number))
        comparison = t.Comparison(one.op, left, right)
        found[to_text(comparison)] = comparison
    return found


def whole_query(plan: LookupPlan, by_lane: bool = False) -> GCQ | None:
    """The query with as many answers as a rule; only their number is asked for.

    Parameters
    ----------
    plan : LookupPlan
    by_lane : bool, optional
        Whether the events of an answer are of one lane.

    Returns
    -------
    GCQ or None
        None if it is cyclic, if a side of a comparison reads events of several atoms, or if lookups can count
        without listing partial answers.
    """
    if plan.checked or not any(path.apart for path in plan.paths):
        return None
    query = query_of(plan, range(len(plan.paths)), by_lane)
    return query if decide(query).acyclic else None


def event_name(atom: int) -> str:
    """The variable that is the event of an atom."""
    return f"e{atom}"


def listed_query(plan: LookupPlan, by_lane: bool = False) -> GCQ | None:
    """The query whose answers are those of a rule, with the events that each is of; parameters as above.

    Returns
    -------
    GCQ or None
        None where it is cyclic, where a side of a comparison reads events of several atoms, or where lookups
        list the answers alone, as those of two atoms.
    """
    if plan.checked or len(plan.paths) < 3:
        return None
    whole = query_of(plan, range(len(plan.paths)), by_lane)
    atoms = tuple(replace(one, variables=(*one.variables, event_name(one.id))) for one in whole.atoms)
    query = GCQ(atoms, whole.predicates, union(atom.variables for atom in atoms))
    return query if decide(query).acyclic else None


def query_of(plan: LookupPlan, atoms: Sequence[int], by_lane: bool = False) -> GCQ:
    """Some atoms of a rule with all that joins and compares these, over nothing but the number of answers.

    Parameters
    ----------
    plan : LookupPlan
    atoms : sequence of int
        Their numbers in the rule, in the order that they have in the query.
    by_lane : bool, optional
        Whether the events of an answer are of one lane.
    """
    inner = [number for number, one in enumerate(plan.compared) if set(one.atoms) <= set(atoms)]
    found = []
    for place, atom in enumerate(atoms):
        names = [
            joined_name(number)
            for number, one in enumerate(plan.joined)
            if atom in one.attribute_of and sum(other in one.attribute_of for other in atoms) > 1
        ]
        for number in inner:
            owners = zip(side_names(number), plan.compared[number].atoms, strict=True)
            names += [name for name, owner in owners if owner == atom]
        names += [LANE] if by_lane else []
        found.append(RelationalAtom(place, f"A{atom}", tuple(names)))
    texts = list(whole_comparisons(plan))
    thetas = tuple(Theta(texts[number], frozenset(side_names(number))) for number in inner)
    return GCQ(tuple(found), thetas, frozenset())


def listed_first(plan: LookupPlan, listed: bool) -> Sequence[tuple[int, ...]]:
    """The sets of atoms whose events lookups list together, before the answers: one for each that is made.

    Parameters
    ----------
    plan : LookupPlan
    listed : bool
        Whether answers are listed, and not counted, which needs no list of the last atoms.
    """
    found = []
    for path in plan.paths:
        stop = len(path.steps) - 1 if listed else path.apart
        atoms = [path.latest, *(step.atom for step in path.steps)]
        found += [tuple(sorted(atoms[: depth + 1])) for depth in range(1, stop + 1)]
    return found


def partial_answers(
    plan: LookupPlan,
    known: Sequence[AtomStatistics],
    share: Callable[[int], float] = lambda steps: 1.0,
    listed: bool = False,
) -> float:
    """An estimate of how many partial answers lookups list to find all answers.

    Parameters
    ----------
    plan : LookupPlan
    known : sequence of AtomStatistics
        Of the atoms of `whole_query`.
    share : callable, optional
        From a number of steps to the share of the choices of so many events that a window leaves.
    listed : bool, optional
        Whether answers are listed, and not counted.
    """
    total = 0.0
    for path in plan.paths:
        found = known[path.latest].rows
        stop = len(path.steps) - 1 if listed else path.apart
        for step in path.steps[:stop]:
            own = known[step.atom]
            alike = prod(max(own.different[joined_name(number)], 1.0) for number, _ in step.equal)
            ordered = sum(plan.compared[number].op not in ("=", "!=") for number in step.compared)
            found *= own.rows / alike * THIRD**ordered
        total += found * share(stop)
    return total
