"""Builds the run trees of a PCEA one by one: the meaning of the automaton, which tests compare with."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, product
from typing import TypeAlias

from cer_gpu.automata.cea import OutlookTest, Predicate, TypeTest
from cer_gpu.automata.pcea import PCEA, Equality, GatherTransition, Keys
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.reference.conditions import compare, of_event, predicate_holds, value_of
from cer_gpu.reference.events import Event, Value

Valuation: TypeAlias = frozenset[tuple[Hashable, int]]
"""The pairs (label, position) of what a run marks."""


@dataclass(frozen=True, slots=True)
class RunTree:
    """A run tree (section 3 of the PCEA paper): its root's configuration (q, i, L), and what it gathers.

    Attributes
    ----------
    state : int
    position : int
        Greater than the positions of all children.
    label : frozenset
    children : tuple of RunTree
        One for each source of the transition.
    """

    state: int
    position: int
    label: frozenset[Hashable]
    children: tuple[RunTree, ...] = ()

    def nodes(self) -> Iterator[RunTree]:
        """The tree itself and every tree inside it."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += node.children

    @property
    def valuation(self) -> Valuation:
        """What the run marks: its output."""
        return frozenset((name, node.position) for node in self.nodes() for name in node.label)

    @property
    def is_simple(self) -> bool:
        """Whether no two of its nodes mark one event with one label."""
        return all(
            one.position != other.position or not one.label & other.label
            for one, other in combinations(self.nodes(), 2)
        )


def accepting_runs(pcea: PCEA, events: Sequence[Event]) -> list[tuple[RunTree, ...]]:
    """The accepting run trees at each position, by the definition: exponential.

    Parameters
    ----------
    pcea : PCEA
    events : sequence of Event

    Returns
    -------
    list of tuple of RunTree
        At index n the run trees whose root reads event n; a valuation occurs once for each of its runs.
    """
    runs: list[RunTree] = []
    accepting = []
    for position, event in enumerate(events):
        new = [
            RunTree(move.target, position, move.label, children)
            for move in pcea.transitions
            if satisfies(event, move.predicate)
            for children in product(*_gathered(move, runs, events, position))
        ]
        runs += new
        accepting.append(tuple(run for run in new if run.state in pcea.final))
    return accepting


def is_unambiguous_on(pcea: PCEA, events: Sequence[Event]) -> bool:
    """Whether every accepting run on a stream is simple, and no two have one valuation."""
    found = [run for runs in accepting_runs(pcea, events) for run in runs]
    return all(run.is_simple for run in found) and len({run.valuation for run in found}) == len(found)


def satisfies(event: Event, predicate: Predicate) -> bool:
    """Whether an event satisfies the unary predicate of a transition."""
    match predicate:
        case TypeTest(name=name, stream=stream):
            return event.is_a(name, stream)
        case t.Both(left=left, right=right):
            return satisfies(event, left) and satisfies(event, right)
        case t.Either(left=left, right=right):
            return satisfies(event, left) or satisfies(event, right)
        case t.Not(operand=operand):
            return not satisfies(event, operand)
        case OutlookTest():
            raise TypeError("what follows an event is no property of the event alone")
        case _:
            return predicate_holds(predicate, event)


def are_equal(equality: Equality, earlier: Event, later: Event) -> bool:
    """Whether two events satisfy an equality, contiguity aside."""
    left = dict(equality.left).get(earlier.type)
    if left is None:
        return False
    pairs = zip(_values(left, earlier), _values(equality.right, later), strict=True)
    return all(compare("=", one, other) for one, other in pairs)


def _gathered(
    move: GatherTransition, runs: Sequence[RunTree], events: Sequence[Event], position: int
) -> list[list[RunTree]]:
    return [
        [
            run
            for run in runs
            if run.state == source
            and (run.position == position - 1 or not equality.next)
            and are_equal(equality, events[run.position], events[position])
        ]
        for source, equality in zip(move.sources, move.joins, strict=True)
    ]


def _values(keys: Keys, event: Event) -> list[Value]:
    return [value_of(key, lambda node: of_event(node, event)) for key in keys]
