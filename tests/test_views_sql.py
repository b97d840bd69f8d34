"""Views written as SQL give what DuckDB gives for the same text."""

from __future__ import annotations

from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import cer_gpu
from cer_gpu.errors import QueryError
from cer_gpu.views import JoinView

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

TEXTS = [
    "SELECT R.a, S.c FROM R, S WHERE R.b = S.b AND S.c < R.a",
    "SELECT R.a AS x, other.a FROM R JOIN R AS other ON R.b = other.b WHERE R.a < other.a + 2",
    "select S.c, count(*) as n, sum(R.a) from R, S where R.b = S.b and (R.a between 2 and 15) group by S.c",
    "SELECT COUNT(*) AS n, MIN(S.c - R.a) AS m FROM R CROSS JOIN S WHERE NOT_USED",
    "SELECT a FROM R WHERE b <> 3 AND a >= -2",
    "SELECT S.c FROM R, S",
    "SELECT R.b AS k, AVG(S.c * 2) AS m FROM R INNER JOIN S ON R.a > S.c AND R.b = S.b GROUP BY k",
]
TEXTS[3] = TEXTS[3].replace("NOT_USED", "R.a != S.c")


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_as_duckdb(text: str) -> None:
    rng = np.random.default_rng(len(text))
    tables = {
        "R": pa.table({"a": rng.integers(0, 20, 40), "b": rng.integers(0, 5, 40), "z": ["z"] * 40}),
        "S": pa.table({"b": rng.integers(0, 5, 30), "c": rng.integers(0, 20, 30)}),
    }
    view = cer_gpu.maintain(text)
    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register(name, table)
        if name in view._kept.wanted:
            view.insert(name, table)
    view = JoinView.restore(view.snapshot())
    wanted = connection.sql(text)
    found: Counter[tuple[object, ...]] = Counter()
    answers = view.enumerate().to_arrow()
    for *row, count in zip(*(column.to_pylist() for column in answers.columns)):
        found[tuple(row)] += count
    assert found == Counter(wanted.fetchall())
    if " AS n" in text:
        assert answers.schema.names[:-1] == wanted.columns


def test_times(capsys: pytest.CaptureFixture[str]) -> None:
    view = cer_gpu.maintain("SELECT R.t FROM R, S WHERE S.u < R.t + INTERVAL 1 HOUR AND R.k = 'x'")
    times = pa.array([0, 3_600_000, 9_000_000], pa.timestamp("ms"))
    view.insert("R", pa.table({"t": times, "k": ["x", "y", "x"]}))
    view.insert("S", pa.table({"u": times}))
    assert view.count() == 4


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("SELECT * WHERE A", "CER095.*a query over a stream"),
        ("SELECT * FROM R", "neither a column nor an aggregate"),
        ("SELECT DISTINCT R.a FROM R", "cannot have DISTINCT"),
        ("SELECT R.a FROM R ORDER BY R.a LIMIT 3", "cannot have (ORDER|LIMIT)"),
        ("SELECT R.a FROM R LEFT JOIN S ON R.b = S.b", "inner joins"),
        ("SELECT R.a FROM R JOIN S USING (b)", "inner joins"),
        ("SELECT R.a FROM R, S WHERE R.b = S.b OR R.a = 1", "cannot keep the condition"),
        ("SELECT a FROM R, S", "several tables"),
        ("SELECT X.a FROM R", "names a table that is not in FROM: R"),
        ("SELECT R.a FROM R, R", "two tables"),
        ("SELECT R.a, R.a AS b FROM R", r"`R\.a` is selected twice(.|\n)*leave one of them out"),
        ("SELECT COUNT(*), COUNT(*) AS n FROM R", r"`COUNT\(\*\)` is selected twice(.|\n)*leave one"),
        ("SELECT R.a, S.a FROM R, S", r"two columns are called `a`(.|\n)*rename one: S\.a AS other"),
        ("SELECT R.a AS n, COUNT(*) AS n FROM R GROUP BY n", r"called `n`(.|\n)*COUNT\(\*\) AS other"),
        ("SELECT R.a, COUNT(*) FROM R", "GROUP BY a"),
        ("SELECT R.a, COUNT(*) FROM R GROUP BY R.b", r"GROUP BY must name(.|\n)*help: GROUP BY a"),
        ("SELECT R.a FROM R GROUP BY R.a", r"without an aggregate(.|\n)*leave GROUP BY out, or select COUNT"),
        ("SELECT COUNT(R.a) FROM R", "a view cannot keep"),
        ("SELECT R.a FROM R WHERE R.a < ABS(R.b)", "cannot compute `ABS"),
        ("SELECT R.a FROM (SELECT 1 AS a) AS R", "not the name of a relation"),
        ("SELECT R.a FROM R UNION SELECT R.b FROM R", "one SELECT"),
        ("SELECT FROM WHERE", "cannot be read|no FROM|neither a column"),
    ],
)
def test_sql_that_is_refused(text: str, what: str) -> None:
    with pytest.raises(QueryError, match=what):
        cer_gpu.maintain(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT R.a, S.a AS other FROM R, S",
        "SELECT R.a AS n, COUNT(*) AS other FROM R GROUP BY n",
        "SELECT R.a, COUNT(*) FROM R GROUP BY a",
        "SELECT COUNT(*) FROM R",
    ],
)
def test_what_the_errors_say_to_write_is_taken(text: str) -> None:
    view = cer_gpu.maintain(text)
    for name in ("R", "S")[: 1 + ("S" in text.split("FROM")[1])]:
        view.insert(name, pa.table({"a": [1, 2]}))
    assert view.count() > 0
