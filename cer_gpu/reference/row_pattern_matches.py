"""MATCH_RECOGNIZE as SQL:2016 defines it: of all matches from a row on, in order of preference, the first.

Slow and obvious: patterns are walked by recursion, conditions are evaluated one row after the other, and
nothing is remembered. The time may double with each row.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import cmp_to_key
from itertools import count, permutations
from typing import Any, NamedTuple, TypeAlias

from cer_gpu.errors import DataError, LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.tree import (
    Alternation,
    Anchor,
    Concatenation,
    Exclusion,
    Field,
    MatchedVariable,
    MatchNumber,
    Navigation,
    Operation,
    Permutation,
    Quantified,
    RowAggregate,
    RowPattern,
    RowPatternClause,
    RowsPerMatch,
    Scalar,
    SkipMode,
    SortKey,
    Variable,
)
from cer_gpu.reference.row_expressions import value_of

Row: TypeAlias = Mapping[str, Any]


class TakenRow(NamedTuple):
    """A row of a match: its place in the partition, its variable, and whether `{- -}` stands around it."""

    place: int
    variable: str
    excluded: bool


Taken: TypeAlias = tuple[TakenRow, ...]


def row_pattern_answers(
    clause: RowPatternClause, rows: Sequence[Row], columns: Sequence[str], most_tries: int | None = None
) -> list[dict[str, Any]]:
    """The answer of a clause over a table.

    Parameters
    ----------
    clause : RowPatternClause
    rows : sequence of mapping of str to object
        The table; None stands for null.
    columns : sequence of str
        Its columns in order.
    most_tries : int, optional
        How many rows may be tried as one of a variable; without end by default.

    Returns
    -------
    list of dict of str to object
        Partitions in the order of their first rows, matches in theirs. Rows that are in no match stand where
        a match that began with them would.

    Raises
    ------
    DataError
        A skip to a row that is not there or leads nowhere, or an error of an expression.
    LimitError
        More rows were tried than `most_tries`.
    """
    tries = count() if most_tries is None else iter(range(most_tries))
    partitions: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        partitions.setdefault(tuple(row[name] for name in clause.partition_by), []).append(row)
    answers: list[dict[str, Any]] = []
    for partition in partitions.values():
        answers += PartitionRows(clause, in_order(partition, clause.order_by), columns, tries).answers()
    return answers


def in_order(rows: Sequence[Row], keys: Sequence[SortKey]) -> list[Row]:
    """Rows in the order of some keys; those that tie stay as they are."""

    def compare(one: Row, two: Row) -> int:
        for key in keys:
            left, right = one[key.column], two[key.column]
            if left == right or (left is None and right is None):
                continue
            if left is None or right is None:
                return -1 if (left is None) == key.nulls_first else 1
            return -1 if (left < right) != key.descending else 1
        return 0

    return sorted(rows, key=cmp_to_key(compare))


@dataclass
class PartitionRows:
    """The rows of a partition in order, and what a clause finds in them."""

    clause: RowPatternClause
    rows: list[Row]
    columns: Sequence[str]
    tries: Iterator[int]

    def answers(self) -> list[dict[str, Any]]:
        """The rows of the answer."""
        mode, answers = self.clause.rows, []
        found = list(self.matches())
        for number, (start, match) in enumerate(found, 1):
            if mode is RowsPerMatch.ONE:
                answers.append(self._answer(start, match, match, number))
            elif match:
                for index, taken in enumerate(match):
                    if not taken.excluded:
                        answers.append(self._answer(taken.place, match[: index + 1], match, number))
            elif mode is not RowsPerMatch.ALL_OMIT_EMPTY:
                answers.append(self._answer(start, (), (), number))
        if mode is RowsPerMatch.ALL_WITH_UNMATCHED:
            places = [start for start, match in found for _ in range(max(len(match), 1))]
            matched = {taken.place for _, match in found for taken in match}
            matched |= {start for start, _ in found}
            for place in range(len(self.rows)):
                if place not in matched:
                    answers.append(self._row(place, dict.fromkeys(one.name for one in self.clause.measures)))
                    places.append(place)
            answers = [answers[number] for number in sorted(range(len(answers)), key=places.__getitem__)]
        return answers

    def _answer(self, place: int, visible: Taken, match: Taken, number: int) -> dict[str, Any]:
        at = MatchState(self, visible, match, number)
        measures = {one.name: at.value(one.expression) for one in self.clause.measures}
        return self._row(place, measures)

    def _row(self, place: int, measures: dict[str, Any]) -> dict[str, Any]:
        row, clause = self.rows[place], self.clause
        first = dict.fromkeys(clause.partition_by)
        if clause.rows is not RowsPerMatch.ONE:
            first |= dict.fromkeys(key.column for key in clause.order_by)
        answer = {name: row[name] for name in first} | measures
        if clause.rows is not RowsPerMatch.ONE:
            answer |= {name: row[name] for name in self.columns if name not in first}
        return answer

    # Matching

    def matches(self) -> Iterator[tuple[int, Taken]]:
        """The matches with the places where they start; number n is the n-th of them."""
        start, number = 0, 1
        while start < len(self.rows):
            state = MatchState(self, (), (), number)
            match = next(self._ways(self.clause.pattern, start, (), state, False), None)
            if match is None:
                start += 1
                continue
            yield start, match
            number += 1
            start = self._next_start(start, match)

    def _next_start(self, start: int, match: Taken) -> int:
        skip = self.clause.skip
        if not match or skip.mode is SkipMode.TO_NEXT_ROW:
            return start + 1
        if skip.mode is SkipMode.PAST_LAST_ROW:
            return match[-1].place + 1
        places = [taken.place for taken in match if taken.variable in skip.variables]
        if not places:
            raise DataError(f"AFTER MATCH SKIP: no row of a match is mapped to {skip.name}")
        place = places[0] if skip.mode is SkipMode.TO_FIRST else places[-1]
        if place == start:
            raise DataError(f"AFTER MATCH SKIP: {skip.name} is the first row of a match, an endless loop")
        return place

    def _ways(
        self, pattern: RowPattern, start: int, taken: Taken, state: MatchState, excluded: bool
    ) -> Iterator[Taken]:
        """All ways to go on from `taken` through a pattern, the preferred ones first."""
        match pattern:
            case Variable(name):
                place = start + len(taken)
                if place < len(self.rows):
                    if next(self.tries, None) is None:
                        raise LimitError("too many rows were tried")
                    tried = (*taken, TakenRow(place, name, excluded))
                    if self._in_time(tried) and replace(state, visible=tried).holds(name):
                        yield tried
            case Concatenation(parts):
                if not parts:
                    yield taken
                    return
                for way in self._ways(parts[0], start, taken, state, excluded):
                    yield from self._ways(Concatenation(parts[1:]), start, way, state, excluded)
            case Alternation(options):
                for option in options:
                    yield from self._ways(option, start, taken, state, excluded)
            case Permutation(parts):
                for order in permutations(parts):
                    yield from self._ways(Concatenation(order), start, taken, state, excluded)
            case Exclusion(body):
                yield from self._ways(body, start, taken, state, True)
            case Anchor("^"):
                if start + len(taken) == 0:
                    yield taken
            case Anchor():
                if start + len(taken) == len(self.rows):
                    yield taken
            case Quantified():
                yield from self._repeated(pattern, 0, start, taken, state, excluded)

    def _repeated(
        self, pattern: Quantified, done: int, start: int, taken: Taken, state: MatchState, excluded: bool
    ) -> Iterator[Taken]:
        enough = done >= pattern.least
        if enough and pattern.reluctant:
            yield taken
        if pattern.most is None or done < pattern.most:
            for way in self._ways(pattern.body, start, taken, state, excluded):
                if len(way) > len(taken) or not enough:
                    yield from self._repeated(pattern, done + 1, start, way, state, excluded)
        if enough and not pattern.reluctant:
            yield taken

    def _in_time(self, tried: Taken) -> bool:
        within = self.clause.within
        if within is None:
            return True
        key = self.clause.order_by[0]
        first, last = (_moment(self.rows[one.place][key.column]) for one in (tried[0], tried[-1]))
        return abs(last - first) < within


def _moment(value: date) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time())


@dataclass(frozen=True)
class MatchState:
    """What an expression sees of a match: its rows up to the current one, and with FINAL all of them."""

    partition: PartitionRows
    visible: Taken
    match: Taken
    number: int

    def holds(self, variable: str) -> bool:
        """Whether the condition of a variable is true for the last visible row."""
        conditions = [one.condition for one in self.partition.clause.definitions if one.variable == variable]
        return all(self.value(condition) is True for condition in conditions)

    def value(self, expression: Scalar) -> Any:
        """The value of an expression of the clause."""
        return value_of(expression, self._leaf)

    def _leaf(self, leaf: Scalar) -> Any:
        if isinstance(leaf, MatchNumber):
            return self.number
        if isinstance(leaf, Navigation):
            return self._navigation(leaf)
        assert isinstance(leaf, RowAggregate)
        return self._aggregate(leaf)

    def _seen(self, final: bool, variables: frozenset[str] | None) -> list[TakenRow]:
        rows = self.match if final else self.visible
        return [one for one in rows if variables is None or one.variable in variables]

    def _navigation(self, navigation: Navigation) -> Any:
        rows = self._seen(navigation.final, navigation.variables)
        if navigation.which == "last":
            rows.reverse()
        if navigation.skip >= len(rows):
            return None
        place = rows[navigation.skip].place + navigation.offset
        if not 0 <= place < len(self.partition.rows):
            return None
        return self._at(navigation.expression, place, navigation.final)

    def _at(self, expression: Scalar, place: int, final: bool) -> Any:
        """The value of an expression of columns at a row of the partition."""

        def leaf(node: Scalar) -> Any:
            if isinstance(node, MatchNumber):
                return self.number
            if isinstance(node, MatchedVariable):
                return next((one.variable for one in self._seen(final, None) if one.place == place), None)
            assert isinstance(node, Field)
            return self.partition.rows[place][node.name]

        return value_of(expression, leaf)

    def _aggregate(self, aggregate: RowAggregate) -> Any:
        rows = self._seen(aggregate.final, aggregate.variables)
        if aggregate.expression is None:
            return len(rows)
        expression = aggregate.expression
        if isinstance(expression, Operation) and expression.name == "pair":
            first, second = expression.operands
            pairs = [
                tuple(self._at(each, one.place, aggregate.final) for each in (first, second)) for one in rows
            ]
            return folded_pairs(aggregate.function, pairs, aggregate.distinct)
        values = [self._at(expression, one.place, aggregate.final) for one in rows]
        if aggregate.function == "array" and not aggregate.distinct:
            return values or None
        values = [value for value in values if value is not None]
        if aggregate.distinct:
            values = [value for index, value in enumerate(values) if value not in values[:index]]
        if aggregate.function == "count":
            return len(values)
        return folded(aggregate.function, values) if values else None


def folded(function: str, values: list[Any]) -> Any:
    """SUM, AVG, MIN or MAX of some values; there is one at least, and none is null."""
    if function in ("array", "values"):
        return values
    if function == "any":
        return values[0]
    if function.endswith(("variance", "deviation")):
        sample = function.startswith("sample")
        if len(values) == 1:
            return None if sample else 0.0
        exact = list(map(float, values))
        found = (statistics.variance if sample else statistics.pvariance)(exact)
        return math.sqrt(found) if function.endswith("deviation") else found
    if function in ("min", "max"):
        # NaN, which differs from itself, is greater than all numbers.
        return (min if function == "min" else max)(values, key=lambda value: (value != value, value))
    total = values[0]
    for value in values[1:]:
        total = total + value
    if function == "whole avg" and isinstance(total, int):
        return abs(total) // len(values) * (1 if total >= 0 else -1)
    if function.endswith("avg"):
        return total / len(values) if not isinstance(total, Decimal) else float(total) / len(values)
    if isinstance(total, int) and not -(2**63) <= total < 2**63:
        raise DataError("SUM does not fit 64 bits")
    return total


def folded_pairs(function: str, pairs: list[tuple[Any, Any]], distinct: bool) -> Any:
    """What is aggregated of two expressions: texts joined, or the first where the second is an extreme."""
    if function == "text":
        texts = [text for text, _ in pairs if text is not None]
        texts = list(dict.fromkeys(texts)) if distinct else texts
        return pairs[0][1].join(texts) if texts else None
    there = [pair for pair in pairs if pair[1] is not None]
    if not there:
        return None
    chosen = folded(function.removesuffix(" by"), [second for _, second in there])
    odd = chosen != chosen
    return next(value for value, second in there if second == chosen or (odd and second != second))
