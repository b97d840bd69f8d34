"""The right sides of FOLLOWED BY and PRECEDED BY that have intervals or compare events.

FOLLOWED BY asks for the hits of q: among the complex events that end at an event the latest start decides,
since the reach bounds the time of the end only. PRECEDED BY bounds the start: q precedes an event within
reach if `(q ; any event) WITHIN [I]` has a complex event that ends there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.automata.cea import OutlookTest, Predicate
from cer_gpu.automata.configurations.formulas import predicates_of, stepped
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.schema import Schema
from cer_gpu.language.scope import variables
from cer_gpu.logic.binding import reads
from cer_gpu.logic.formulas import first_type
from cer_gpu.logic.outer_predicates import without
from cer_gpu.plan.configuration_machine import machine_of
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.symbols import Diagram


def without_marks(pattern: tree.Pattern) -> tree.Pattern:
    """A pattern in LP-normal form without marks: its complex events differ only in start and end."""
    return tree.Project(without(pattern, reads(pattern) - variables(pattern)), ())


def followed(test: OutlookTest) -> Any:
    """The formula whose hits tell whether q lies within reach of an event."""
    looked_for = without_marks(test.pattern)
    if not test.before:
        return looked_for
    kind = first_type(test.pattern)
    whole = tree.Sequence(looked_for, tree.OtherEvent(kind, tree.Truth(False)))
    return whole if test.interval is None else tree.Timed(whole, test.interval)


def asked(test: OutlookTest) -> tuple[Predicate, ...]:
    """The distinct predicates of events that the formula reads."""
    return predicates_of(followed(test))


@dataclass(frozen=True, slots=True)
class OutlookPattern:
    """The machine of q over the classes of events that a diagram tells apart.

    Attributes
    ----------
    machine : GeneralMachine
    columns : tuple of Expression
        The values of events that it compares.
    symbol_of : ndarray, shape (outcomes,), int64
        For each outcome the symbol that the machine reads.
    idle : ndarray, shape (outcomes,), bool
        The outcomes whose events change nothing for q, so that they are read only if they are asked.
    """

    machine: GeneralMachine
    columns: tuple[tree.Expression, ...]
    symbol_of: np.ndarray
    idle: np.ndarray


def looked_for(
    test: OutlookTest, tests: tuple[Predicate, ...], diagram: Diagram, schema: Schema
) -> OutlookPattern:
    """Make the machine of q.

    Parameters
    ----------
    test : OutlookTest
    tests : tuple of Predicate
        From `asked`.
    diagram : Diagram
        The diagram of these tests.
    schema : Schema
        Has the order attribute and its unit, for intervals.
    """
    numbers: dict[frozenset[int], int] = {}
    formula = followed(test)
    idle = np.array(stepped(without_marks(test.pattern), diagram.outcomes, tests).idle, bool)
    symbol_of = np.array(
        [
            0 if still and not test.before else numbers.setdefault(outcome, len(numbers) + 1)
            for outcome, still in zip(diagram.outcomes, idle, strict=True)
        ]
    )
    symbols = (frozenset[int](), *numbers)
    automaton = stepped(formula, symbols, tests)
    return OutlookPattern(
        machine_of(automaton, formula, symbols, tests, schema), automaton.columns, symbol_of, idle
    )
