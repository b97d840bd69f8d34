"""MATCH_RECOGNIZE over rows that go on coming gives the rows of one run over all of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from random_row_patterns import SCHEMA, ClauseDraft, random_rows

import cer_gpu as cer
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.row_pattern_stream import RowPatternState, RowPatternStream, check_live
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError, LimitError, QueryError
from cer_gpu.patterns.columns import resolved
from cer_gpu.patterns.statement import read_statement
from cer_gpu.patterns.tree import SortKey

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from row_pattern_sql import clause_sql

ORDER = (SortKey("t"), SortKey("i"))


def live_clause(rng):
    """A random clause whose matches time decides."""
    while True:
        clause = ClauseDraft(rng).clause()
        clause = replace(clause, order_by=ORDER, within=timedelta(seconds=rng.choice((2, 5, 9))))
        try:
            check_live(clause, "")
        except QueryError:
            continue
        return clause


def by_partition(rows, clause):
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in clause.partition_by), []).append(repr(row))
    return found


@pytest.mark.draws("seed", 300)
def test_batches_give_the_rows_of_one_run(seed):
    rng = Random(f"live {seed}")
    table = pa.Table.from_pylist(random_rows(rng, 40), SCHEMA)
    clause, workers = live_clause(rng), Workers()
    try:
        answer = RowPatternAnswer(clause, SCHEMA, "")
        read = table.select(answer.columns)
        whole = pa.Table.from_batches(answer.over(answer.ordered(read), workers), answer.schema)
    except (DataError, LimitError, QueryError):
        return
    stream = RowPatternStream(clause, answer, answer.ordered, read.schema)
    moment, at, batches = None, 0, []
    times = np.asarray(table["t"].combine_chunks().view(pa.int64())) if len(table) else np.zeros(0, np.int64)
    order = np.array(sorted(range(len(table)), key=lambda row: times[row] + rng.randrange(3) * 1_000_000))
    while at < len(order):
        size = rng.randrange(1, 9)
        rows = order[at : at + size]
        at += size
        assert stream.push(read.take(pa.array(np.sort(rows)))) == 0
        left = times[order[at:]]
        moment = int(left.min()) if len(left) else int(times.max()) + 60_000_000
        batches += stream.advance(moment, workers)
        if rng.random() < 0.3:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, stream.held.rows.schema) as writer:
                writer.write_table(stream.held.rows)
            stored = RowPatternState(pa.ipc.open_stream(sink.getvalue()).read_all(), moment)
            stream = RowPatternStream(clause, answer, answer.ordered, read.schema, stored)
    found = pa.Table.from_batches(batches, answer.schema).to_pylist()
    assert by_partition(found, clause) == by_partition(whole.to_pylist(), clause), clause_sql(clause)


def test_late_rows_are_left_out_and_old_ones_forgotten():
    sql = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(*) AS n
        PATTERN (a b+) WITHIN INTERVAL '5' SECOND DEFINE b AS x > PREV(x))"""
    schema = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("s")), ("x", pa.int64())])
    clause = resolved(read_statement(sql).clauses[0], schema.names, sql)
    answer = RowPatternAnswer(clause, schema, sql)
    stream = RowPatternStream(clause, answer, answer.ordered, schema)
    count, found = 2000, 0
    for first in range(0, count, 100):
        seconds = np.arange(first, first + 100)
        rows = pa.table([seconds % 3, pa.array(seconds, pa.timestamp("s")), seconds], schema=schema)
        assert stream.push(rows) == 0
        found += sum(map(len, stream.advance(first + 100, Workers())))
        assert len(stream.held.rows) < 30
    assert stream.push(rows) == 100
    assert found > 500


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("ORDER BY t PATTERN (a b)", "a stream needs WITHIN"),
        ("ORDER BY t DESC PATTERN (a b) WITHIN INTERVAL '5' SECOND", "descending"),
        ("ORDER BY t PATTERN (^ a b) WITHIN INTERVAL '5' SECOND", "no last row"),
        ("ORDER BY t PATTERN (a b) WITHIN INTERVAL '5' SECOND DEFINE a AS x > NEXT(x)", "NEXT looks"),
        (
            "ORDER BY t PATTERN (a b) WITHIN INTERVAL '5' SECOND DEFINE a AS MATCH_NUMBER() > 1",
            "can only be a measure",
        ),
        (
            "ORDER BY t ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (a b) WITHIN INTERVAL '5' SECOND",
            "without a match",
        ),
    ],
)
def test_what_time_does_not_decide_is_refused(clause, said):
    sql = f"SELECT * FROM t MATCH_RECOGNIZE ({clause})"
    with pytest.raises(cer.QueryError, match=said):
        check_live(read_statement(sql).clauses[0], sql)
