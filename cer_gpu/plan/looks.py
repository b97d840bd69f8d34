"""Patterns that have to follow or precede others -> outlooks: derived columns of one bit.

`Logon NOT FOLLOWED BY [<= 8 h] Logoff` asks of the last event of its left side whether a Logoff is in reach.
The predicates of both sides are folded into one diagram, whose last axes are the bits. So the classification
tells apart what either side does, and the two rows of a state on the level of a bit say what it becomes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from cer_gpu.automata import compose
from cer_gpu.automata.cea import CEA, OutlookTest, Predicate, identity
from cer_gpu.automata.compose import Composed
from cer_gpu.automata.construct import construct
from cer_gpu.automata.determinise import predicates
from cer_gpu.automata.trim import trim
from cer_gpu.frozen import dataclass
from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.plan.deterministic import deterministic, tables
from cer_gpu.plan.drawing_text import beside_text
from cer_gpu.plan.outlook import Outlook, Reach
from cer_gpu.plan.symbols import Diagram


@dataclass(frozen=True, slots=True)
class Look:
    """The right side of FOLLOWED BY or PRECEDED BY before any data is known.

    Attributes
    ----------
    test : OutlookTest
    formula : Pattern
        The pattern that is looked for, without marks.
    automaton : CEA or Composed
    tests : tuple of Predicate
        The distinct predicates of its transitions.
    """

    test: OutlookTest
    formula: tree.Pattern
    automaton: CEA | Composed
    tests: tuple[Predicate, ...]

    @property
    def written(self) -> str:
        """`FOLLOWED BY [<= 8 h] Logoff`."""
        return beside_text(self.test.pattern, self.test.before, self.test.interval)


def looks_of(tests: Iterable[Predicate]) -> tuple[Look, ...]:
    """What predicates look for, each once; what is looked for inside another one comes before it."""
    found: dict[tuple[object, ...], Look] = {}

    def visit(predicate: Predicate) -> None:
        for test in _outlook_tests(predicate):
            if identity(test) not in found:
                look = _look(test)
                for inner in look.tests:
                    visit(inner)
                found[identity(test)] = look

    for one in tests:
        visit(one)
    return tuple(found.values())


def _outlook_tests(predicate: Predicate) -> Iterator[OutlookTest]:
    waiting = [predicate]
    while waiting:
        match waiting.pop():
            case OutlookTest() as test:
                yield test
            case tree.Both(left, right) | tree.Either(left, right):
                waiting += [right, left]
            case tree.Not(operand):
                waiting.append(operand)


def _look(test: OutlookTest) -> Look:
    formula = tree.Project(test.pattern, ())
    if compose.is_extended(formula):
        return Look(test, formula, Composed(formula), compose.tests(formula))
    automaton = trim(construct(formula))
    return Look(test, formula, automaton, predicates(automaton))


@dataclass(frozen=True, slots=True)
class PartOfDiagram:
    """The part of a diagram that some of its predicates make.

    Attributes
    ----------
    diagram : Diagram
        Its outcomes speak of these predicates alone, numbered from 0; it has no levels.
    outcome_of : tuple of int
        For each outcome of the whole diagram the one of this part.
    """

    diagram: Diagram
    outcome_of: tuple[int, ...]


def part_of(diagram: Diagram, first: int, count: int) -> PartOfDiagram:
    """The part of the predicates `first .. first + count - 1`."""
    numbers: dict[frozenset[int], int] = {}
    outcome_of = tuple(
        numbers.setdefault(
            frozenset(one - first for one in outcome if first <= one < first + count), len(numbers)
        )
        for outcome in diagram.outcomes
    )
    return PartOfDiagram(Diagram((), tuple(numbers)), outcome_of)


@dataclass(frozen=True, slots=True)
class Woven:
    """The outlooks of a query, and what the classification gives for them.

    Attributes
    ----------
    outlooks : tuple of Outlook
    classified : Diagram
        Of the axes that are no bits.
    symbols : ndarray, shape (outcomes of `classified`,), int64
        The symbols that the first outlook reads.
    n_symbols : int
        One more than the greatest symbol that an outlook or the machine reads.
    """

    outlooks: tuple[Outlook, ...]
    classified: Diagram
    symbols: np.ndarray
    n_symbols: int


def woven(
    looks: Sequence[Look], diagram: Diagram, before: int, symbols: Sequence[int], schema: Schema
) -> Woven:
    """The outlooks of a query.

    Parameters
    ----------
    looks : sequence of Look
        From `looks_of`.
    diagram : Diagram
        Of all predicates: first the machine's, then those of each look; the last axes are the bits of the
        looks, in their order.
    before : int
        How many predicates the machine has.
    symbols : sequence of int
        For each outcome of the diagram the symbol that the machine reads.
    schema : Schema

    Raises
    ------
    LimitError
        When the automaton of a look is over its budget.
    """
    count = len(looks)
    plain, bits = diagram.levels[: len(diagram.levels) - count], diagram.levels[len(diagram.levels) - count :]
    heard, found = [], []
    for look in looks:
        part = part_of(diagram, before, len(look.tests))
        before += len(look.tests)
        automata = deterministic(look.formula, look.automaton, look.tests, part.diagram)
        found.append(automata)
        heard.append(np.array([automata.symbol_of[one] for one in part.outcome_of]))
    # What an outlook reads of a state is the same whatever the bits that it and later ones find.
    outcome = np.arange(len(diagram.outcomes))
    machine = np.asarray(symbols, np.int64)
    outlooks: list[Outlook] = []
    greatest = int(machine.max(initial=0))
    for look, automata, read, level in reversed(list(zip(looks, found, heard, bits, strict=True))):
        outcome = outcome[level[:, 0]]
        rows = np.stack([read[outcome], machine[level[:, 0]], machine[level[:, 1]]], axis=1)
        distinct, machine = _numbered(rows)
        greatest = max(greatest, len(distinct) - 1)
        outlooks.append(
            Outlook(
                look.written,
                look.test.before,
                reach_of(look.test.interval, schema),
                tables(automata.automaton),
                automata.monitor,
                distinct[:, 0].astype(np.uint16),
                distinct[:, 1:],
            )
        )
    n_states = bits[0].shape[0]
    classified = Diagram(plain, tuple(frozenset({state}) for state in range(n_states)))
    return Woven(tuple(reversed(outlooks)), classified, machine, greatest + 1)


def asked_before(outlooks: Sequence[Outlook], asked: np.ndarray) -> np.ndarray:
    """By which columns of a join an event is compared, whatever outlooks make of its symbol.

    Parameters
    ----------
    outlooks : sequence of Outlook
    asked : ndarray, shape (symbols, columns), bool
        Of the symbols that the machine reads.

    Returns
    -------
    ndarray, shape (symbols, columns), bool
        Of those that the first outlook reads.
    """
    for outlook in reversed(outlooks):
        asked = asked[outlook.becomes].any(axis=1)
    return asked


def _numbered(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows, that of zeros the first whether or not it occurs; and the number of each row."""
    numbers: dict[tuple[int, ...], int] = {(0,) * rows.shape[1]: 0}
    number = [numbers.setdefault(tuple(row), len(numbers)) for row in rows.tolist()]
    return np.array(list(numbers), np.int64), np.array(number, np.int64)


def reach_of(interval: tree.Interval | None, schema: Schema) -> Reach:
    """The reach of an interval, in the units of the data, both ends in."""
    if interval is None:
        return Reach(None)
    bounds = [bound for bound in (interval.low, interval.high) if bound is not None]
    counts = any(bound.unit == EVENTS for bound in bounds)
    unit, kind = None, ValueType.INT64
    if not counts:
        assert schema.order is not None
        kind = schema.attributes[schema.order]
        unit = schema.units.get(schema.order, schema.order_unit)
    whole = kind is not ValueType.FLOAT64

    def size(bound: tree.Bound) -> Fraction:
        value = exact(bound.value)
        if counts or bound.unit is None:
            return value
        assert unit is not None
        return value * Fraction(NANOSECONDS[bound.unit], NANOSECONDS[unit])

    low, high = interval.low, interval.high
    return Reach(
        "events" if counts else "time",
        0 if low is None else _least(size(low), low.open, whole),
        None if high is None else -_least(-size(high), high.open, whole),
    )


def _least(size: Fraction, beyond: bool, whole: bool) -> int | float:
    """The least number from a bound on, or beyond it."""
    if whole:
        return math.floor(size) + 1 if beyond else math.ceil(size)
    nearest = float(size)
    return math.nextafter(nearest, math.inf) if beyond else nearest
