"""Turns FOLLOWED BY and PRECEDED BY into outlooks: derived columns of one bit for each event.

`Logon NOT FOLLOWED BY [<= 8 h] Logoff` asks of the last event of its left side whether a Logoff is in reach.
The predicates of both sides are folded into one diagram, whose last axes are the bits. So the classification
serves both sides, and on the level of a bit the two entries of a state give its symbols for 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from cer_gpu.automata.cea import CEA, OutlookTest, Predicate, identity, leaf_tests
from cer_gpu.automata.construct import construct, trim
from cer_gpu.automata.determinise import predicates
from cer_gpu.automata.operators.formula import FormulaAutomaton, is_extended, tests_of
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.monitor.contract import Monitor
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
from cer_gpu.language.walk import nodes
from cer_gpu.logic.formulas import correlates, without_besides
from cer_gpu.plan.drawing_text import beside_text
from cer_gpu.plan.outlook import LookingMachine, Outlook
from cer_gpu.plan.reaches import reach_of
from cer_gpu.plan.refusals import is_timed
from cer_gpu.plan.regular_automata import deterministic, tables
from cer_gpu.plan.symbols import Diagram


@dataclass(frozen=True, slots=True)
class Look:
    """The right side of FOLLOWED BY or PRECEDED BY before any data is known.

    Attributes
    ----------
    test : OutlookTest
    formula : Pattern
        The pattern that is looked for, without marks.
    automaton : CEA or Composed or None
        None where the pattern has intervals or compares events: `cer_gpu.plan.outlook_patterns`.
    tests : tuple of Predicate
        The distinct predicates of its transitions.
    """

    test: OutlookTest
    formula: tree.Pattern
    automaton: CEA | FormulaAutomaton | None
    tests: tuple[Predicate, ...]

    @property
    def written(self) -> str:
        """`FOLLOWED BY [<= 8 h] Logoff`."""
        return beside_text(self.test.pattern, self.test.before, self.test.interval)


def looks_of(tests: Iterable[Predicate]) -> tuple[Look, ...]:
    """The looks of some predicates, each once; a nested one comes before the one around it."""
    found: dict[tuple[object, ...], Look] = {}

    def visit(predicate: Predicate) -> None:
        for test in leaf_tests(predicate):
            if isinstance(test, OutlookTest) and identity(test) not in found:
                look = _look(test)
                for inner in look.tests:
                    visit(inner)
                found[identity(test)] = look

    for one in tests:
        visit(one)
    return tuple(found.values())


def _look(test: OutlookTest) -> Look:
    if _is_general(test.pattern):
        from cer_gpu.plan.outlook_patterns import asked  # few queries need it

        return Look(test, test.pattern, None, asked(test))
    formula = tree.Project(test.pattern, ())
    if is_extended(formula):
        return Look(test, formula, FormulaAutomaton(formula), tests_of(formula))
    automaton = trim(construct(formula))
    return Look(test, formula, automaton, predicates(automaton))


def _is_general(pattern: tree.Pattern) -> bool:
    """Whether a pattern has intervals or compares events, beside what it looks for itself."""
    own = without_besides(pattern)
    return correlates(own) or any(map(is_timed, nodes(own)))


@dataclass(frozen=True, slots=True)
class PartOfDiagram:
    """A diagram restricted to some of its predicates.

    Attributes
    ----------
    diagram : Diagram
        Its outcomes have only these predicates, numbered from 0; it has no levels.
    outcome_of : tuple of int
        For each outcome of the whole diagram its outcome here.
    """

    diagram: Diagram
    outcome_of: tuple[int, ...]


def part_of(diagram: Diagram, first: int, count: int) -> PartOfDiagram:
    """The diagram restricted to the predicates `first .. first + count - 1`."""
    numbers: dict[frozenset[int], int] = {}
    outcome_of = tuple(
        numbers.setdefault(
            frozenset(one - first for one in outcome if first <= one < first + count), len(numbers)
        )
        for outcome in diagram.outcomes
    )
    return PartOfDiagram(Diagram((), tuple(numbers)), outcome_of)


@dataclass(frozen=True, slots=True)
class OutlookPlan:
    """The outlooks of a query, and the symbols of the classification for them.

    Attributes
    ----------
    outlooks : tuple of Outlook
    classified : Diagram
        The diagram of the axes that are not bits.
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
    looks: Sequence[Look],
    diagram: Diagram,
    before: int,
    symbols: Sequence[int],
    schema: Schema,
    doubts: Sequence[int | None],
) -> OutlookPlan:
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
    doubts : sequence of int or None
        `Outlook.doubt` of each look.

    Raises
    ------
    LimitError
        When the automaton of a look is over its budget.
    """
    count = len(looks)
    plain, bits = diagram.levels[: len(diagram.levels) - count], diagram.levels[len(diagram.levels) - count :]
    found = []
    for look in looks:
        part = part_of(diagram, before, len(look.tests))
        before += len(look.tests)
        found.append(_machine(look, part, schema))
    # What an outlook reads of a state is the same whatever the bits that it and later ones find.
    outcome = np.arange(len(diagram.outcomes))
    machine = np.asarray(symbols, np.int64)
    outlooks: list[Outlook] = []
    greatest = int(machine.max(initial=0))
    for look, own, level, doubt in reversed(list(zip(looks, found, bits, doubts, strict=True))):
        outcome = outcome[level[:, 0]]
        becomes = machine[level]
        unheard = own.idle[outcome] & (becomes[:, 0] == becomes[:, 1])
        rows = np.column_stack([np.where(unheard, 0, own.heard[outcome]), becomes])
        distinct, machine = _numbered(rows)
        greatest = max(greatest, len(distinct) - 1)
        outlooks.append(
            Outlook(
                look.written,
                look.test.before,
                reach_of(look.test.interval, schema),
                own.tables,
                own.monitor,
                distinct[:, 0].astype(np.uint16),
                distinct[:, 1:],
                own.machine,
                doubt,
            )
        )
    n_states = bits[0].shape[0]
    classified = Diagram(plain, tuple(frozenset({state}) for state in range(n_states)))
    return OutlookPlan(tuple(reversed(outlooks)), classified, machine, greatest + 1)


@dataclass(frozen=True, slots=True)
class _LookMachine:
    """The machine that finds a look in a stream.

    Attributes
    ----------
    heard : ndarray, shape (outcomes,), int64
        For each outcome of the whole diagram the symbol that it reads.
    idle : ndarray, shape (outcomes,), bool
        The outcomes whose events it reads only if they are asked.
    """

    heard: np.ndarray
    idle: np.ndarray
    tables: TransitionTables
    monitor: Monitor | None = None
    machine: LookingMachine | None = None


def _machine(look: Look, part: PartOfDiagram, schema: Schema) -> _LookMachine:
    outcomes = list(part.outcome_of)
    if look.automaton is None:
        from cer_gpu.plan.outlook_patterns import looked_for

        found = looked_for(look.test, look.tests, part.diagram, schema)
        machine = replace(found.machine, columns=found.columns)
        return _LookMachine(found.symbol_of[outcomes], found.idle[outcomes], NO_TABLES, None, machine)
    automata = deterministic(look.formula, look.automaton, look.tests, part.diagram)
    heard = np.array(automata.symbol_of)[outcomes]
    return _LookMachine(heard, np.zeros(len(heard), bool), tables(automata.automaton), automata.monitor)


NO_TABLES = TransitionTables(
    np.zeros(2, np.int32), *(np.empty(0, np.int32) for _ in range(3)), np.empty(0, np.uint8)
)
"""The tables of an outlook whose pattern cannot be written as tables."""


def asked_before(outlooks: Sequence[Outlook], asked: np.ndarray) -> np.ndarray:
    """The columns of a join that an event may be compared by, for any bits of its outlooks.

    Parameters
    ----------
    outlooks : sequence of Outlook
    asked : ndarray, shape (symbols, columns), bool
        For the symbols that the machine reads.

    Returns
    -------
    ndarray, shape (symbols, columns), bool
        For the symbols that the first outlook reads.
    """
    for outlook in reversed(outlooks):
        asked = asked[outlook.becomes].any(axis=1)
    return asked


def _numbered(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows, that of zeros the first whether or not it occurs; and the number of each row."""
    numbers: dict[tuple[int, ...], int] = {(0,) * rows.shape[1]: 0}
    number = [numbers.setdefault(tuple(row), len(numbers)) for row in rows.tolist()]
    return np.array(list(numbers), np.int64), np.array(number, np.int64)
