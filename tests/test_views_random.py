"""Random views under random batches: their answers, changes and counts are those of the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from random_views import apply, random_deletes, random_rows, random_rule, table
from view_oracle import Database, Row, answers, check_reducts

import cer_gpu
from cer_gpu.engine import workers
from cer_gpu.engine.views import answer_columns as listed_rows
from cer_gpu.engine.views import levels, reducts, subtrees
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.views import JoinView


def listed(found: Iterable[pa.RecordBatch]) -> Counter[Row]:
    """Answers with their multiplicities; each is listed once."""
    counts: Counter[Row] = Counter()
    for batch in found:
        for row in zip(*(column.to_pylist() for column in batch.columns)):
            assert row[:-1] not in counts
            assert row[-1] != 0
            counts[row[:-1]] = row[-1]
    return counts


@pytest.mark.draws("seed", 40)
def test_answers_of_random_views(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    if seed % 2:
        # As if there were many rows: they are marked.
        for module, name, value in (
            (levels, "MARKED", 1),
            (levels, "MANY", 1),
            (levels, "LEAST_MARKS", rng.choice([1, 8])),
            (levels, "SAMPLE", rng.choice([1, 64])),
        ):
            monkeypatch.setattr(module, name, value)
    for _ in range(2):
        text, relations = random_rule(rng, rng.randint(1, 4))
        run(cer_gpu.maintain(text), text, relations, rng)


def run(view: JoinView, text: str, relations: dict[str, list[str]], rng: Random) -> None:
    rule = parse(text)
    assert isinstance(rule, t.Rule)
    database: Database = {name: Counter() for name in relations}
    before: Counter[Row] = Counter()
    for step in range(7):
        batch: dict[int, dict[str, list[Row]]] = {1: {}, -1: {}}
        for name, kinds in relations.items():
            if step == 0 or rng.random() < 0.4:
                batch[1][name] = random_rows(rng, kinds, rng.randint(0, 6))
            if rng.random() < 0.4:
                batch[-1][name] = random_deletes(rng, database[name], 5)
        for sign, found in batch.items():
            for name, rows in found.items():
                apply(database, name, rows, sign)
        tables = {
            sign: {name: table(rows, relations[name]) for name, rows in found.items()}
            for sign, found in batch.items()
        }
        view.update(inserts=tables[1], deletes=tables[-1])
        wanted = answers(rule, database)
        assert listed(view.enumerate()) == wanted, text
        assert view.count() == wanted.total(), text
        change = {row: wanted[row] - before[row] for row in wanted | before}
        assert listed(view.delta()) == {row: n for row, n in change.items() if n}, text
        for tree in view._kept.trees:
            check_reducts(tree)
        before = wanted


KEYED = (
    "Q(a, k, c, d) <- R(a, k), S(k, c), T(k, d), a < c, c < d",
    "Q(a, k, c, d) <- R(a, k), S(k, c), T(k, d), a < c, c != d",
    "Q(a, c, e, k) <- R(a, k, b), S(k, c, b), T(k, e), U(e, f), a < c, c <= e",
    "Q(a, c, e) <- R(a), S(c), T(e), a < c, c < e",
)


@pytest.mark.parametrize("text", KEYED)
def test_answers_listed_from_tables_of_what_is_below(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sum(tables_made(text, Random(f"{text} {seed}"), monkeypatch) for seed in range(6))
    assert made


def tables_made(text: str, rng: Random, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many tables the listings of a random view made; its answers are checked."""
    monkeypatch.setattr(levels, "ROOM", rng.choice([2, 8]))
    monkeypatch.setattr(levels, "RATIO", rng.choice([1, 4]))
    monkeypatch.setattr(subtrees, "FIRST_ASKING", rng.choice([2, 1024]))
    monkeypatch.setattr(subtrees, "OFTEN_ASKED", rng.choice([0, 1]))
    monkeypatch.setattr(listed_rows, "SELDOM_SEVERAL", rng.choice([1, 16]))
    made: list[subtrees.SubtreeTable] = []
    table_of = subtrees.SubtreeTables.of

    def counted(*arguments: Any) -> subtrees.SubtreeTable | None:
        found = table_of(*arguments)
        made.extend([] if found is None else [found])
        return found

    monkeypatch.setattr(subtrees.SubtreeTables, "of", counted)
    rule = parse(text)
    assert isinstance(rule, t.Rule)
    view, database = cer_gpu.maintain(text), {atom.type.name: Counter[Row]() for atom in rule.atoms}
    for step in range(4):
        for atom in rule.atoms:
            name, kinds = atom.type.name, ["int"] * len(atom.terms)
            rows = random_rows(rng, kinds, rng.randint(3, 9))
            apply(database, name, rows, 1)
            view.insert(name, table(rows, kinds))
            if step % 2:
                gone = random_deletes(rng, database[name], 3)
                apply(database, name, gone, -1)
                view.delete(name, table(gone, kinds))
        wanted = answers(rule, database)
        for rows in (1 << 16, rng.choice([1, 3, 40])):
            found: Counter[Row] = Counter()
            for batch in view.enumerate().batches(rows):
                assert 0 < len(batch) <= rows
                for *row, times in zip(*(column.to_pylist() for column in batch.columns)):
                    assert tuple(row) not in found
                    found[tuple(row)] = times
            assert found == wanted
    monkeypatch.undo()
    return len(made)


@pytest.mark.draws("seed", 8)
def test_several_threads_share_what_a_batch_does(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"threads {seed}")
    shared: list[str] = []
    by_threads = workers.Workers.map

    def counted(self: workers.Workers, phase: str, function: Any, items: Any, events: int = 0) -> Any:
        work = list(items)
        shared.extend([phase] * (len(work) > 1))
        return by_threads(self, phase, function, work, events)

    monkeypatch.setattr(workers, "usable_cores", lambda: 3)
    monkeypatch.setattr(workers.Workers, "map", counted)
    monkeypatch.setattr(levels, "LEAST_UNITED", rng.randint(1, 3))
    monkeypatch.setattr(reducts, "LEAST", 1)
    for _ in range(2):
        text, relations = random_rule(rng, rng.randint(2, 4))
        run(cer_gpu.maintain(text), text, relations, rng)
    assert "updating" in shared


def test_rows_are_united_by_several_threads_as_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "usable_cores", lambda: 3)
    monkeypatch.setattr(levels, "LEAST_UNITED", 1)
    rng = np.random.default_rng(1)
    for rows in (0, 1, 5, 40):
        for width in (0, 1, 2):
            one, other = (
                levels.rows_of(
                    *levels.collapsed(rng.integers(0, 6, (many, width)), rng.integers(-2, 3, many))
                )
                for many in (rows, 20)
            )
            expected = levels.united(one, other, 1)
            for found, part in zip(levels.united(one, other, 3), expected):
                assert np.array_equal(found, part)
