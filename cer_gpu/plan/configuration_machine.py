"""Makes the machine of configurations of a formula: its measures, and how it holds and compares values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor
from typing import Any

from cer_gpu.automata.cea import Predicate
from cer_gpu.automata.configurations.comparisons import subpatterns
from cer_gpu.automata.configurations.formulas import AttributeSpanWindow, SteppedAutomaton
from cer_gpu.automata.configurations.registers import ComparedEvents
from cer_gpu.automata.configurations.slots import TIME
from cer_gpu.automata.configurations.value_words import ComparisonProgram, HeldWords, Word
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import Schema
from cer_gpu.language.units import exact
from cer_gpu.plan.constants import ConstantReader
from cer_gpu.plan.general import GeneralMachine
from cer_gpu.plan.reaches import reach_of
from cer_gpu.plan.stack_programs import BeyondWordsError, StackKind, StackTyping, word_of

REMEMBERING = (tree.Strategy.NEXT, tree.Strategy.LAST, tree.Strategy.MAX)
"""The selectors of which what they choose depends on events before the start."""


def machine_of(
    automaton: SteppedAutomaton,
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
        Has the order attribute and its unit, for intervals.
    """
    asked = [test for test in automaton.tests.all if test.interval is not None]
    measures = {test.measure for test in asked}
    reaches = tuple(
        None if test.interval is None else reach_of(test.interval, schema) for test in automaton.tests.all
    )
    held = held_of(automaton, formula, schema)
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
        held=held if isinstance(held, HeldWords) else None,
        beyond=held if isinstance(held, str) else "",
    )


def remembers(formula: Any) -> bool:
    """Whether a selector of a formula depends on events before the start."""
    return any(
        isinstance(node, tree.Selector) and node.strategy in REMEMBERING for node in subpatterns(formula)
    )


def held_of(automaton: SteppedAutomaton, formula: Any, schema: Schema) -> HeldWords | str:
    """How the values of partial matches are held in words of 64 bits, or why they cannot be."""
    typing = StackTyping(ConstantReader(schema), automaton.columns)
    words: dict[int, Word] = {}
    workings: list[ComparisonProgram | None] = []
    pairs: list[ComparedEvents] = []
    try:
        joint = tuple(map(typing.joint, automaton.joint))
        for column in {column for one in automaton.joint for part in one.parts for column in part.columns}:
            words[column] = word_of(typing.kind_of(column))
        for one in automaton.comparisons:
            working = None
            if isinstance(one.condition, tree.Comparison):
                if one.is_of_two and _is_pair(one, automaton.columns, typing):
                    pairs.append(one)
                else:
                    working = typing.working(one)
                    for column in _columns_of(one):
                        words[column] = word_of(typing.kind_of(column))
            workings.append(working)
        for one in pairs:
            left, right = (own for (own,) in one.columns)
            kinds = typing.kinds_of(left, right)
            exact = any(kind is None or kind.exact for kind in kinds)
            word: Word = "rank" if exact or kinds[0] is None else word_of(kinds[0])
            if exact and kinds[0] == kinds[1] and "whole" in (words.get(left), words.get(right)):
                word = "whole"
            for column in (left, right):
                if words.setdefault(column, word) != word:
                    raise BeyondWordsError(f"`{to_text(one.condition)}` compares numbers of two types")
        spanned = next((node for node in subpatterns(formula) if isinstance(node, AttributeSpanWindow)), None)
        spans = None
        if spanned is not None:
            column = automaton.columns.index(spanned.attribute)
            kind = typing.kind_of(column)
            words.setdefault(column, word_of(kind))
            if words[column] == "rank":
                raise BeyondWordsError(f"the window over `{to_text(spanned.attribute)}`")
            spans = column, _in_words(spanned.size, kind)
        for column in range(len(automaton.columns)):
            if column not in words:
                (other,) = typing.kinds_of(column)
                words[column] = "rank" if other is None or other.exact else word_of(other)
    except BeyondWordsError as error:
        return str(error)
    every = tuple(words[column] for column in range(len(automaton.columns)))
    return HeldWords(every, tuple(workings), tuple(typing.texts), spans, joint)


def _is_pair(one: ComparedEvents, columns: Sequence[tree.Expression], typing: StackTyping) -> bool:
    """Whether the words of the two sides of a comparison can be compared as they are."""
    left, right = (own for (own,) in one.columns)
    kinds = typing.kinds_of(left, right)
    if kinds[0] == kinds[1]:
        return True
    try:
        typing.working(one)
    except BeyondWordsError:
        return None in kinds or all(kind is not None and kind.name == "number" for kind in kinds)
    return False


def _columns_of(one: ComparedEvents) -> Iterator[int]:
    """The columns that a comparison works with; what COUNT counts is of any type."""
    for own in one.columns:
        yield from own
    for fold in one.folds:
        if fold.column >= 0 and fold.function != "COUNT":
            yield fold.column


def _in_words(size: int | float, kind: StackKind) -> int | float:
    """The size of a window over an attribute among the words of its values."""
    if kind.real:
        return size
    return floor(exact(size) / kind.one) if kind.exact else floor(exact(size))
