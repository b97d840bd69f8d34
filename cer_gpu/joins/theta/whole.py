"""All answers of a rule as a generalized conjunctive query, counted without a latest event: `whole_query`.

`Q(x, y, z) <- R(x), S(y), T(z), x < y, y < z` over a stream without a window has as many answers as a view of
it. Lookups find every pair of R and S first; a join tree sums multiplicities, in O(n log n).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from cer_gpu.joins.lookups import LookupPlan
from cer_gpu.joins.theta.cost import THIRD, AtomStatistics
from cer_gpu.joins.theta.gcq import GCQ, Relational, Theta
from cer_gpu.joins.theta.reduction import decide
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text

LANE = "lane"
"""The variable that all atoms have of which events meet in one lane alone."""


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
    atoms = []
    for path in plan.paths:
        names = [joined_name(n) for n, one in enumerate(plan.joined) if path.latest in one.attribute_of]
        for number, one in enumerate(plan.compared):
            names += [name for name, atom in zip(side_names(number), one.atoms) if atom == path.latest]
        names += [LANE] if by_lane else []
        atoms.append(Relational(path.latest, f"A{path.latest}", tuple(names)))
    thetas = [
        Theta(text, frozenset(side_names(number))) for number, text in enumerate(whole_comparisons(plan))
    ]
    query = GCQ(tuple(atoms), tuple(thetas), frozenset())
    return query if decide(query).acyclic else None


def partial_answers(plan: LookupPlan, known: Sequence[AtomStatistics]) -> float:
    """An estimate of how many partial answers lookups list to count all answers.

    Parameters
    ----------
    plan : LookupPlan
    known : sequence of AtomStatistics
        Statistics of the atoms of `whole_query`.
    """
    total = 0.0
    for path in plan.paths:
        found = known[path.latest].rows
        for step in path.steps[: path.apart]:
            own = known[step.atom]
            alike = prod(max(own.different[joined_name(number)], 1.0) for number, _ in step.equal)
            ordered = sum(plan.compared[number].op not in ("=", "!=") for number in step.compared)
            found *= own.rows / alike * THIRD**ordered
        total += found
    return total
