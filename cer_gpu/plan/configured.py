"""The machine of configurations of a formula: what it measures, and how the values that it keeps compare."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.configurations.compared import parts_of
from cer_gpu.automata.configurations.formulas import Stepped
from cer_gpu.automata.configurations.slots import TIME
from cer_gpu.language import tree
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.plan.constants import ConstantReader, Measure
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.reaches import reach_of

REMEMBERING = (tree.Strategy.NEXT, tree.Strategy.LAST, tree.Strategy.MAX)
"""The selectors of which what they choose depends on events before the start."""


def machine_of(
    automaton: Stepped,
    formula: Any,
    symbols: tuple[frozenset[int], ...],
    tests: tuple[Predicate, ...],
    schema: Schema,
) -> GeneralMachine:
    """The machine that finds where complex events of a formula end.

    Parameters
    ----------
    automaton : Stepped
        Of the formula over the symbols.
    formula : Pattern
        In LP-normal form.
    symbols : tuple of frozenset of int
        For each symbol the numbers of the tests that hold.
    tests : tuple of Predicate
    schema : Schema
        What intervals are measured by.
    """
    asked = [test for test in automaton.tests.all if test.interval is not None]
    measures = {test.measure for test in asked}
    reaches = tuple(
        None if test.interval is None else reach_of(_in_units(test.interval, test.measure), schema)
        for test in automaton.tests.all
    )
    return GeneralMachine(
        "hits",
        formula,
        symbols,
        tests,
        reaches,
        timed=TIME in measures,
        placed=1 - TIME in measures,
        prefix=remembers(formula),
        registers=bool(automaton.comparisons or automaton.columns),
        reals=reals_of(automaton, schema),
    )


def remembers(formula: Any) -> bool:
    """Whether what a formula chooses depends on events before the start."""
    return any(isinstance(node, tree.Selector) and node.strategy in REMEMBERING for node in parts_of(formula))


def _in_units(interval: tree.Interval, measure: int) -> tree.Interval:
    """An interval of events as one that says so."""
    if measure == TIME:
        return interval
    low, high = (None if one is None else replace(one, unit=EVENTS) for one in (interval.low, interval.high))
    return tree.Interval(low, high)


def reals_of(automaton: Stepped, schema: Schema) -> tuple[bool, ...] | None:
    """Which values are floats, where all comparisons are of two numbers of one type; else None."""
    reader = ConstantReader(schema)
    found: dict[int, bool] = {}
    for one in automaton.comparisons:
        if isinstance(one.condition, tree.Every):
            continue
        if not one.is_of_two:
            return None
        columns = [own for (own,) in one.columns]
        try:
            kinds = [reader.type_of(automaton.columns[column]) for column in columns]
        except KeyError:
            kinds = [Measure(ValueType.FLOAT64)] * 2  # nothing is known of the data yet
        if kinds[0][:2] != kinds[1][:2] or kinds[0].type not in NUMBERS:
            return None
        found |= dict.fromkeys(columns, kinds[0].type is ValueType.FLOAT64)
    return tuple(found.get(column, False) for column in range(len(automaton.columns)))


NUMBERS = (ValueType.INT64, ValueType.FLOAT64, ValueType.TIMESTAMP, ValueType.DURATION)
"""The types whose values are numbers of 64 bits."""
