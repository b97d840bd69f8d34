"""Matches of stretches of rows, each entered where the one before it is left, are those of all rows."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from random_row_patterns import SCHEMA, ClauseDraft, random_rows

from cer_gpu.engine.rows import start_chains
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.ordered_rows import OrderedRows
from cer_gpu.engine.rows.start_chains import StartRange
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError, LimitError, QueryError
from cer_gpu.patterns.conditions import leaves
from cer_gpu.patterns.tree import MatchNumber, RowsPerMatch, SkipMode


def counts_matches(clause) -> bool:
    """Whether a condition reads how many matches there were."""
    return any(isinstance(leaf, MatchNumber) for one in clause.definitions for leaf in leaves(one.condition))


@pytest.mark.draws("seed", 400)
def test_stretches_give_the_rows_of_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_chains, "FEW", 1 + seed % 3)
    rng = Random(f"stretches {seed}")
    table = pa.Table.from_pylist(random_rows(rng, 40), SCHEMA)
    clause = replace(ClauseDraft(rng).clause(), partition_by=())
    overlap = clause.skip.mode is SkipMode.TO_NEXT_ROW
    if counts_matches(clause) or (overlap and clause.rows is RowsPerMatch.ALL_WITH_UNMATCHED):
        return
    workers = Workers()
    try:
        answer = RowPatternAnswer(clause, SCHEMA, "")
        rows = OrderedRows(table.select(answer.columns or ["i"]), (), clause.order_by)
        expected = pa.Table.from_batches(answer.over(rows, workers), answer.schema).to_pylist()
    except (DataError, LimitError, QueryError):
        return
    cuts = sorted(rng.sample(range(rows.count + 1), min(3, rows.count + 1)))
    found, entry, before = [], 0, 0
    for first, stop in zip([0, *cuts], [*cuts, rows.count]):
        exits = answer.exits(rows, StartRange(first, stop), entry + 1 + rng.randrange(3), workers)
        starts = StartRange(min(first + entry, stop), stop, before)
        found += pa.Table.from_batches(answer.over(rows, workers, None, starts), answer.schema).to_pylist()
        entry, before = int(exits.rows[entry]) - stop, before + int(exits.matches[entry])
    assert list(map(repr, found)) == list(map(repr, expected))
