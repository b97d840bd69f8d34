"""Chains in which two steps are compared: `A AS a ; B ; C AS c FILTER c.p > a.p`.

A run of a chain marks one event for each step, and no two runs mark the same events, so the complex events
are the runs. To count those that satisfy the comparison it is enough to know how many ways lead through the
other steps: no partial match has to be kept.
"""

from __future__ import annotations

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.comparisons import OPERATORS, PairTest
from cer_gpu.automata.positions import Constraint, position_automaton
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.signs import CONVERSE

STEPS = 24
"""Steps of a chain at most."""


@dataclass(frozen=True, slots=True)
class StepPairChain:
    """A chain in which two steps are compared.

    Attributes
    ----------
    predicates : tuple of Predicate
        The predicate of the event of each step.
    types : tuple of str
        The event type of each step.
    old, new : int
        The steps that are compared, from 0, the earlier one first.
    tests : frozenset of PairTest
    """

    predicates: tuple[Predicate, ...]
    types: tuple[str, ...]
    old: int
    new: int
    tests: frozenset[PairTest]


def apart_chain(formula: tree.Pattern) -> StepPairChain | str:
    """The chain of a formula, or why it is not one.

    Parameters
    ----------
    formula : Pattern
        In LP-normal form, except for comparisons between its events; with the SELECT list as a projection.

    Raises
    ------
    QueryError
        CER091, when the position automaton does not express the formula.
    LimitError
        When it exceeds the budget.
    """
    found = position_automaton(formula, OPERATORS)
    order = _in_order(found.first, [(step.source, step.target) for step in found.steps], found.last)
    if order is None or len(order) != len(found.positions):
        return "its pattern is not a chain of single events"
    if any(step.contiguous or step.loop is not None for step in found.steps):
        return "its pattern is not a chain of single events with any events between them"
    if len(order) > STEPS:
        return f"its chain has more than {STEPS} steps"
    positions = [found.positions[place] for place in order]
    if not all(position.label for position in positions):
        return "the SELECT list keeps no mark of one of its events"
    step_of = {place: step for step, place in enumerate(order)}
    tests, compared = set(), set()
    for one in found.constraints:
        test = _test(one, step_of)
        if test is None:
            return "a comparison is not of two single events"
        old, new, pair = test
        compared.add((old, new))
        tests.add(pair)
    if len(compared) != 1:
        return "several pairs of its events are compared"
    ((old, new),) = compared
    return StepPairChain(
        tuple(position.predicate for position in positions),
        tuple(position.event_type for position in positions),
        old,
        new,
        frozenset(tests),
    )


def _in_order(first: tuple[int, ...], steps: list[tuple[int, int]], last: frozenset[int]) -> list[int] | None:
    """The positions of a chain in their order; None where they are none."""
    after = dict(steps)
    if len(first) != 1 or len(last) != 1 or len(after) != len(set(steps)):
        return None
    order = [first[0]]
    while order[-1] in after and len(order) <= len(after):
        order.append(after[order[-1]])
    return order if {order[-1]} == last and len(set(order)) == len(order) else None


def _test(one: Constraint, step_of: dict[int, int]) -> tuple[int, int, PairTest] | None:
    """The steps that a comparison speaks of, the earlier one first, and what it asks of them."""
    sides = one.left, one.right
    if one.repeats is not None or any(len(side.positions) != 1 or side.prior for side in sides):
        return None
    left, right = (step_of[next(iter(side.positions))] for side in sides)
    if left == right:
        return None
    if left < right:
        return left, right, PairTest(one.comparison.op, one.left.key, one.right.key)
    return right, left, PairTest(CONVERSE[one.comparison.op], one.right.key, one.left.key)
