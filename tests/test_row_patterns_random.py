"""MATCH_RECOGNIZE against the reference on random clauses and small tables, as trees and as SQL."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest
from random_row_patterns import SCHEMA, ClauseDraft, primaries, random_rows, random_table

from cer_gpu.engine.rows import match_finder, ordered_rows
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.shared_matches import can_share
from cer_gpu.errors import DataError, LimitError, QueryError
from cer_gpu.patterns.tree import (
    Concatenation,
    Definition,
    Field,
    Navigation,
    Operation,
    Quantified,
    RowAggregate,
    RowMeasure,
    RowsPerMatch,
    ScalarConstant,
    Skip,
    SkipMode,
    Variable,
)
from cer_gpu.reference.row_pattern_matches import row_pattern_answers

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from row_pattern_sql import clause_sql

from cer_gpu.patterns.columns import resolved
from cer_gpu.patterns.statement import read_statement

TRIES = 20_000


def by_partition(rows, clause):
    """The rows of an answer, those of a partition together; partitions have no order."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in clause.partition_by), []).append(row)
    return found


def same_value(one, two):
    if one is None or two is None:
        return one is two
    if isinstance(one, list):
        return isinstance(other := two, list) and len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, float | Decimal) or isinstance(two, float | Decimal):
        one, two = float(one), float(two)
        return (one != one and two != two) or math.isclose(one, two, rel_tol=1e-12, abs_tol=1e-12)
    return one == two


def same_answer(one, two):
    """Whether two answers have the same rows and columns in the same order."""
    return one.keys() == two.keys() and all(
        len(one[key]) == len(two[key])
        and all(
            list(left) == list(right) and all(map(same_value, left.values(), right.values()))
            for left, right in zip(one[key], two[key])
        )
        for key in one
    )


def answer_of(clause, table, text=""):
    """The answer of the engine; the class of its error where it has one."""
    try:
        answer = RowPatternAnswer(clause, table.schema, text)
        batches = list(answer.over(answer.ordered(table.select(answer.columns))))
    except DataError:
        return None
    rows = pa.Table.from_batches(batches, answer.schema)
    for place, one in enumerate(rows.schema):
        if one.type == pa.timestamp("ns"):
            rows = rows.set_column(place, one.name, rows[one.name].cast(pa.timestamp("us")))
    return by_partition(rows.to_pylist(), clause)


def case_of(seed):
    """A random clause with its rows and their table."""
    rng = Random(seed)
    rows = random_rows(rng, rng.choice((4, 8, 12)))
    return ClauseDraft(rng).clause(), rows, random_table(rng, rows)


def expected_of(clause, rows):
    """The answer of the reference; None where it has an error."""
    try:
        answers = row_pattern_answers(clause, rows, SCHEMA.names, TRIES)
    except DataError:
        return None
    return by_partition(answers, clause)


def overlapping(clause, rng):
    """The variables of a clause one after the other, with plain conditions; matches start at every row."""
    names = list(dict.fromkeys(primaries(clause.pattern)))
    rng.shuffle(names)
    bounds = ((0, None), (1, None), (0, 1), (1, 1), (0, 3))
    parts = [Quantified(Variable(name), *rng.choice(bounds), rng.random() < 0.3) for name in names]
    here = Navigation(Field("x"))
    conditions = [
        Definition(name, Operation(rng.choice(("<", ">=")), (here, ScalarConstant(rng.randrange(4)))))
        for name in names
        if rng.random() < 0.6
    ]
    own = frozenset({rng.choice(names)})
    place = Navigation(Field("i"), own, rng.choice(("first", "last")), rng.choice((0, 0, 1, 2)))
    total = RowAggregate(rng.choice(("sum", "count", "min", "max")), Field("i"), own)
    return replace(
        clause,
        skip=Skip(SkipMode.TO_NEXT_ROW),
        rows=RowsPerMatch.ONE,
        within=None,
        measures=(*clause.measures[:1], RowMeasure("place", place), RowMeasure("total", total)),
        pattern=Concatenation(tuple(parts)),
        definitions=tuple(conditions),
    )


def compared(seed, change=lambda clause, rng: clause):
    """Compare one case; whether the reference could answer it."""
    clause, rows, table = case_of(seed)
    clause = change(clause, Random(seed))
    text = clause_sql(clause)
    try:
        expected = expected_of(clause, rows)
    except LimitError:
        return False
    told = f"{text}\n{rows}\n{table.schema}"
    for one in (clause, resolved(read_statement(text).clauses[0], table.schema.names, text)):
        try:
            found = answer_of(one, table, text)
        except QueryError as error:
            # Some functions the search computes for one row alone.
            if "over several rows of the match" not in str(error) and "of one row only" not in str(error):
                raise
            return True
        if found is None or expected is None:
            assert found == expected, f"{told}\n{found}\n{expected}"
        else:
            assert same_answer(found, expected), f"{told}\nfound {found}\nexpected {expected}"
    return True


@pytest.mark.draws("seed", 1500)
def test_answers_are_those_of_the_reference(seed, monkeypatch):
    if seed % 2:  # texts become codes
        monkeypatch.setattr(ordered_rows, "MANY", 1)
        monkeypatch.setattr(ordered_rows, "FEW", 100)
        monkeypatch.setattr(match_finder, "PART", 3)  # matches that overlap come in parts
    compared(seed)


@pytest.mark.draws("seed", 300)
def test_matches_that_share_rows_are_those_of_the_reference(seed):
    compared(f"shared {seed}", overlapping)


def test_many_matches_share_rows():
    seeds = [f"shared {seed}" for seed in range(40)]
    clauses = [overlapping(case_of(seed)[0], Random(seed)) for seed in seeds]
    assert sum(map(can_share, clauses)) > 20


def test_few_cases_are_too_large_for_the_reference():
    done = 0
    for seed in range(60):
        clause, rows, _ = case_of(seed)
        try:
            expected_of(clause, rows)
        except LimitError:
            continue
        done += 1
    assert done > 50
