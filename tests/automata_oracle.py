"""Random formulas in LP-normal form, random events, and their complex events by definition.

Nothing here uses an automaton: sequences and iterations are evaluated over sets of (start, end, marks).
"""

from __future__ import annotations

import operator
import random
from collections.abc import Mapping
from dataclasses import dataclass

from cer_gpu.automata.cea import CEA, Predicate, TypeTest
from cer_gpu.automata.determinise import predicates
from cer_gpu.language import tree
from cer_gpu.reference.simulate import Marks

TYPES = ("A", "B", "C")
STREAMS = ("S", "R")
VALUES = (0, 1, 2)

A, B, C, D = (tree.EventType(name) for name in "ABCD")

Found = set[tuple[int, int, Marks]]


@dataclass(frozen=True)
class Event:
    type: str
    attributes: Mapping[str, int]
    stream: str = "S"


EVERY_EVENT = [Event(name, {"v": v}, stream) for name in (*TYPES, "D") for stream in STREAMS for v in VALUES]


def holds(predicate: Predicate, event: Event) -> bool:
    match predicate:
        case TypeTest(name, stream):
            return event.type == name and stream in (None, event.stream)
        case tree.Truth(value):
            return value
        case tree.Both(left, right):
            return holds(left, event) and holds(right, event)
        case tree.Either(left, right):
            return holds(left, event) or holds(right, event)
        case tree.Not(operand):
            return not holds(operand, event)
        case tree.Every(_, operand):
            return holds(operand, event)
        case tree.Comparison(op, tree.Attribute(name), tree.Number(constant)):
            compare = {"=": operator.eq, ">": operator.gt, "<=": operator.le, "!=": operator.ne}[op]
            return name in event.attributes and bool(compare(event.attributes[name], constant))
    raise AssertionError(predicate)


def complex_events(pattern: tree.Pattern, events: list[Event]) -> Found:
    match pattern:
        case tree.EventType(name, stream):
            return {
                (i, i, frozenset({(i, frozenset(pattern.variables))}))
                for i, event in enumerate(events)
                if event.type == name and stream in (None, event.stream)
            }
        case tree.Filter(inner, condition):
            return {found for found in complex_events(inner, events) if holds(condition, events[found[0]])}
        case tree.OtherEvent(event_type, condition):
            test = TypeTest(event_type.name, event_type.stream)
            return {
                (i, i, frozenset())
                for i, event in enumerate(events)
                if not (holds(test, event) and (condition is None or holds(condition, event)))
            }
        case tree.As(inner, variable):
            return {
                (start, end, frozenset((i, label | {variable}) for i, label in marks))
                for start, end, marks in complex_events(inner, events)
            }
        case tree.Project(inner, variables):
            return {
                (
                    start,
                    end,
                    frozenset((i, label & set(variables)) for i, label in marks if label & set(variables)),
                )
                for start, end, marks in complex_events(inner, events)
            }
        case tree.Or(left, right):
            return complex_events(left, events) | complex_events(right, events)
        case tree.Sequence(left, right, contiguous):
            return _one_after(complex_events(left, events), complex_events(right, events), contiguous)
        case tree.Iteration(inner, contiguous):
            once = complex_events(inner, events)
            found: Found = set()
            latest = once
            while latest - found:
                found |= latest
                latest = _one_after(latest, once, contiguous)
            return found
    raise AssertionError(pattern)


def _one_after(first: Found, second: Found, contiguous: bool) -> Found:
    return {
        (start, end, marks | more)
        for start, middle, marks in first
        for begin, end, more in second
        if (middle + 1 == begin if contiguous else middle < begin)
    }


def random_events(rng: random.Random, n: int) -> list[Event]:
    """Events of a few kinds, so that formulas match now and then."""
    kinds = rng.sample(EVERY_EVENT, rng.choice((2, 3, 5)))
    return [rng.choice(kinds) for _ in range(n)]


def random_atom(rng: random.Random) -> tree.Pattern:
    event_type = tree.EventType(rng.choice(TYPES), rng.choice((None, None, None, *STREAMS)))
    if rng.random() < 0.2:
        return tree.OtherEvent(event_type, rng.choice((None, random_condition(rng, event_type, 1))))
    atom: tree.Pattern = event_type
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        atom = tree.Filter(atom, random_condition(rng, event_type, 0))
    return atom


def random_condition(rng: random.Random, event_type: tree.EventType, depth: int) -> tree.Condition:
    if depth and rng.random() < 0.5:
        left = random_condition(rng, event_type, depth - 1)
        right = random_condition(rng, event_type, depth - 1)
        return rng.choice((tree.Both(left, right), tree.Either(left, right), tree.Not(left)))
    if rng.random() < 0.05:
        return tree.Every(event_type.name, tree.Truth(rng.random() < 0.5))
    op, constant = rng.choice(("=", ">", "<=", "!=")), tree.Number(rng.choice(VALUES))
    return tree.Every(rng.choice(event_type.variables), tree.Comparison(op, tree.Attribute("v"), constant))


def random_formula(rng: random.Random, depth: int) -> tree.Pattern:
    if depth == 0 or rng.random() < 0.1:
        return random_atom(rng)
    shape = rng.randrange(10)
    inner = random_formula(rng, depth - 1)
    if shape < 2:
        return tree.As(inner, rng.choice("xy"))
    if shape == 2:
        return tree.Project(
            inner, tuple(rng.sample(["A", "B", "C", "x", "y", "S>A"], rng.choice((0, 1, 1, 2))))
        )
    if shape < 5:
        return tree.Iteration(inner, rng.random() < 0.5)
    other = random_formula(rng, depth - 1)
    if shape == 5:
        return tree.Or(inner, other)
    return tree.Sequence(inner, other, rng.random() < 0.5)


def nodes(pattern: tree.Pattern) -> int:
    """The nodes of the syntax tree of patterns."""
    match pattern:
        case tree.Sequence() | tree.Or():
            return 1 + nodes(pattern.left) + nodes(pattern.right)
        case tree.As() | tree.Project() | tree.Iteration() | tree.Filter():
            return 1 + nodes(pattern.pattern)
    return 1


def symbols_of(cea: CEA, events: list[Event] = EVERY_EVENT) -> list[frozenset[int]]:
    """The sets of predicates of a CEA that hold together for some event."""
    tests = predicates(cea)
    return sorted({symbol_set(tests, event) for event in events}, key=sorted)


def symbol_set(tests: tuple[Predicate, ...], event: Event) -> frozenset[int]:
    return frozenset(i for i, test in enumerate(tests) if holds(test, event))
