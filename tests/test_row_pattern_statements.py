"""Statements with MATCH_RECOGNIZE are read: their clauses, what these read, and the SELECT around them."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from row_pattern_texts import clause_of, pattern_text, scalar_text

from cer_gpu.errors import QueryError
from cer_gpu.patterns.columns import resolved
from cer_gpu.patterns.statement import read_statement
from cer_gpu.patterns.tree import RowPatternStatement, RowsPerMatch, SkipMode

ONE = "MATCH_RECOGNIZE (PATTERN (a) DEFINE a AS x > 1)"
DIALECTS = [
    *(None, "oracle", "snowflake", "trino", "flink", "duckdb", "spark", "bigquery", "postgres", "databricks"),
    *("mysql", "clickhouse", "tsql", "hive", "presto", "redshift", "athena", "sqlite", "db2", "teradata"),
]

DIFFERENCES = {"oracle": "-:numbers of days"} | dict.fromkeys(
    ("snowflake", "duckdb", "postgres", "redshift"), "-:days"
)
"""How a difference is read where that of two dates is a number of days."""


def sources(statement: RowPatternStatement) -> list[tuple[str, str]]:
    """What each clause reads."""
    return [(clause.kind, clause.source) for clause in statement.clauses]


# The clause


def test_all_subclauses():
    clause = clause_of(
        """
        PARTITION BY symbol, trades.venue
        ORDER BY ts DESC NULLS FIRST, seq
        MEASURES MATCH_NUMBER() AS n, FINAL LAST(up.price) AS top, "price" p
        ALL ROWS PER MATCH OMIT EMPTY MATCHES
        AFTER MATCH SKIP TO FIRST move
        PATTERN (start (up | down)+ "Big")
        WITHIN INTERVAL '5' MINUTE
        SUBSET move = (up, down), flat = (start)
        DEFINE up AS up.price > PREV(up.price), down AS price < PREV(price), "Big" AS size > 10
        """
    )
    assert clause.partition_by == ("symbol", "venue")
    assert [(key.column, key.descending, key.nulls_first) for key in clause.order_by] == [
        ("ts", True, True),
        ("seq", False, False),
    ]
    assert {one.name: scalar_text(one.expression) for one in clause.measures} == {
        "n": "match number",
        "top": "last[UP](price) final",
        "p": "last(price)",
    }
    assert clause.rows is RowsPerMatch.ALL_OMIT_EMPTY
    assert (clause.skip.mode, clause.skip.variables, clause.skip.name) == (
        SkipMode.TO_FIRST,
        frozenset({"UP", "DOWN"}),
        "move",
    )
    assert pattern_text(clause.pattern) == "(START (UP | DOWN){1,} Big)"
    assert clause.within == timedelta(minutes=5)
    assert clause.subsets == {"MOVE": frozenset({"UP", "DOWN"}), "FLAT": frozenset({"START"})}
    assert {one.variable: scalar_text(one.condition) for one in clause.definitions} == {
        "UP": "(> last[UP](price) last[UP](price)-1)",
        "DOWN": "(< last(price) last(price)-1)",
        "Big": "(> last(size) 10)",
    }


def test_defaults():
    clause = clause_of("PATTERN (a b)")
    assert (clause.partition_by, clause.order_by, clause.measures, clause.definitions) == ((), (), (), ())
    assert (clause.rows, clause.skip.mode, clause.within) == (RowsPerMatch.ONE, SkipMode.PAST_LAST_ROW, None)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("ONE ROW PER MATCH", RowsPerMatch.ONE),
        ("all rows per match", RowsPerMatch.ALL_SHOW_EMPTY),
        ("ALL ROWS PER MATCH SHOW EMPTY MATCHES", RowsPerMatch.ALL_SHOW_EMPTY),
        ("ALL ROWS PER MATCH OMIT EMPTY MATCHES", RowsPerMatch.ALL_OMIT_EMPTY),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", RowsPerMatch.ALL_WITH_UNMATCHED),
    ],
)
def test_rows_per_match(text, rows):
    assert clause_of(f"{text} PATTERN (a)").rows is rows


@pytest.mark.parametrize(
    ("text", "mode", "variables"),
    [
        ("PAST LAST ROW", SkipMode.PAST_LAST_ROW, set()),
        ("TO NEXT ROW", SkipMode.TO_NEXT_ROW, set()),
        ("TO FIRST b", SkipMode.TO_FIRST, {"B"}),
        ("TO LAST b", SkipMode.TO_LAST, {"B"}),
        ("TO b", SkipMode.TO_LAST, {"B"}),
        ("TO FIRST", SkipMode.TO_LAST, {"FIRST"}),
        ("TO u", SkipMode.TO_LAST, {"A", "B"}),
    ],
)
def test_skip(text, mode, variables):
    skip = clause_of(f"AFTER MATCH SKIP {text} PATTERN (a b first) SUBSET u = (a, b)").skip
    assert (skip.mode, skip.variables) == (mode, variables)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a b c", "(A B C)"),
        ("a|b c|d", "(A | (B C) | D)"),
        ("a* b+ c? d{3} e{2,} f{1,4} g{,5}", "(A{0,} B{1,} C{0,1} D{3,3} E{2,} F{1,4} G{0,5})"),
        (
            "a*? b+? c?? d{3}? e{2,}? f{1,4}? g{,5}?",
            "(A{0,}? B{1,}? C{0,1}? D{3,3}? E{2,}? F{1,4}? G{0,5}?)",
        ),
        ("(a (b | c)+)*", "(A (B | C){1,}){0,}"),
        ("PERMUTE(a, b c, d+)", "permute(A, (B C), D{1,})"),
        ("permute(a)", "A"),
        ("^ a b+ $", "(^ A B{1,} $)"),
        ("^a$", "(^ A $)"),
        ("a {- b+ -} c", "(A {- B{1,} -} C)"),
        ("{-a|b-}{2}", "{- (A | B) -}{2,2}"),
        ("()", "()"),
        ("a (() | b)", "(A (() | B))"),
        ("(((a)))", "A"),
        ("end order date left", "(END ORDER DATE LEFT)"),
    ],
)
def test_patterns_are_read_alike_in_every_dialect(text, pattern, dialect):
    assert pattern_text(clause_of(f"PATTERN ({text})", dialect).pattern) == pattern


@pytest.mark.parametrize("dialect", DIALECTS)
def test_expressions_are_read_alike_in_every_dialect(dialect):
    clause = clause_of(
        """ORDER BY ts
        MEASURES LAST(end.date) - FIRST(order.price, 1) AS x, FINAL SUM(end.group) AS s, COUNT(*) AS n,
            COUNT(DISTINCT price) AS d, classifier() AS c, PREV(LAST(end.x, 2), 3) AS y,
            RUNNING MAX(end.x) AS z
        PATTERN (end order) WITHIN INTERVAL '1' HOUR SUBSET u = (end, order)
        DEFINE end AS price > PREV(price, 1) AND NOT (u.x IS NULL) OR COUNT(u.*) BETWEEN 1 AND $top""",
        dialect,
        top=5,
    )
    assert [scalar_text(one.expression) for one in clause.measures] == [
        f"({DIFFERENCES.get(dialect, '-')} last[END](date) first1[ORDER](price))",
        "sum[END](group) final",
        "count(*)",
        "count(distinct price)",
        "last(classifier)",
        "last2[END](x)-3",
        "max[END](x)",
    ]
    assert scalar_text(clause.definitions[0].condition) == (
        "(or (and (> last(price) last(price)-1) (not (is null last[END,ORDER](x))))"
        " (and (>= count[END,ORDER](*) 1) (<= count[END,ORDER](*) 5)))"
    )
    assert clause.within == timedelta(hours=1)


def test_names_in_quotes_keep_their_case():
    clause = clause_of(
        'MEASURES "up".price AS "First Price", UP.price AS p, CLASSIFIER("up") AS c PATTERN ("up" Up)'
    )
    assert pattern_text(clause.pattern) == "(up UP)"
    assert [(one.name, scalar_text(one.expression)) for one in clause.measures] == [
        ("First Price", "last[up](price)"),
        ("p", "last[UP](price)"),
        ("c", "last[up](classifier)"),
    ]
    quoted = clause_of("MEASURES `up`.`my price` AS m PATTERN (`up`)", "flink")
    assert scalar_text(quoted.measures[0].expression) == "last[up](my price)"


def test_a_measure_may_be_named_without_as():
    clause = clause_of(
        "MEASURES a.x + 1 y, CASE WHEN x > 1 THEN 2 END z, COUNT(*) n, x IS NULL nul PATTERN (a)"
    )
    assert [one.name for one in clause.measures] == ["y", "z", "n", "nul"]


def test_words_of_subclauses_may_be_columns():
    clause = clause_of(
        "MEASURES a.pattern AS measures, define AS subset PATTERN (a) DEFINE a AS a.within > 1"
    )
    assert [(one.name, scalar_text(one.expression)) for one in clause.measures] == [
        ("measures", "last[A](pattern)"),
        ("subset", "last(define)"),
    ]


def test_comments_and_texts_are_passed_over():
    statement = read_statement(
        """SELECT '( MATCH_RECOGNIZE (' AS s -- MATCH_RECOGNIZE (
        FROM t /* ( */ MATCH_RECOGNIZE ( -- )
          PATTERN (a /* b */ c) DEFINE a AS x = ')''(' )"""
    )
    assert pattern_text(statement.clauses[0].pattern) == "(A C)"
    assert scalar_text(statement.clauses[0].definitions[0].condition) == '(= last(x) ")\'(")'


# What clauses read


@pytest.mark.parametrize(
    ("source", "kind", "read"),
    [
        ("trades", "table", "trades"),
        ("trades AS t", "table", "trades"),
        ("trades t", "table", "trades"),
        ('db."My Trades"', "table", "db.My Trades"),
        ("(trades)", "table", "trades"),
        ("'trades.parquet'", "file", "trades.parquet"),
        ("(SELECT * FROM 'trades.parquet' x)", "file", "trades.parquet"),
        ("(SELECT * FROM trades)", "table", "trades"),
        ("(SELECT * FROM trades) AS t", "table", "trades"),
        ("(SELECT *, x + 1 AS y FROM trades) t", "query", "SELECT *, x + 1 AS y FROM trades"),
        ("read_parquet('a.parquet', 1)", "query", "SELECT * FROM read_parquet('a.parquet', 1)"),
        ("(VALUES (1), (2)) AS v(x)", "query", "SELECT * FROM (VALUES (1), (2)) AS v(x)"),
        ("(VALUES (1), (2))", "query", "VALUES (1), (2)"),
        ("TABLE(f(1))", "query", "SELECT * FROM TABLE(f(1))"),
        ("(t JOIN u USING (k))", "query", "SELECT * FROM t JOIN u USING (k)"),
    ],
)
def test_sources(source, kind, read):
    statement = read_statement(f"SELECT * FROM {source} {ONE} AS m WHERE m.x > 1")
    assert sources(statement) == [(kind, read)]
    assert statement.outer == "SELECT * FROM __match_1 AS m WHERE m.x > 1"
    assert (statement.tables, statement.clauses[0].alias) == (("__match_1",), "m")


@pytest.mark.parametrize(
    ("behind", "alias"),
    [
        ("", None),
        ("AS m", "m"),
        ("m (p, q)", "m"),
        ("WHERE x > 1", None),
        ("LEFT JOIN u ON TRUE", None),
        (";", None),
    ],
)
def test_aliases(behind, alias):
    statement = read_statement(f"SELECT * FROM t {ONE} {behind}")
    assert statement.clauses[0].alias == alias
    assert statement.outer == f"SELECT * FROM __match_1 {behind}"


def test_several_clauses():
    statement = read_statement(f"SELECT a.x FROM t {ONE} AS a, u {ONE} b UNION ALL SELECT x FROM t {ONE}")
    assert sources(statement) == [("table", "t"), ("table", "u"), ("table", "t")]
    assert statement.outer == (
        "SELECT a.x FROM __match_1 AS a, __match_2 b UNION ALL SELECT x FROM __match_3"
    )


def test_a_clause_in_the_subquery_of_another_is_read_first():
    statement = read_statement(f"SELECT * FROM (SELECT * FROM t {ONE} i WHERE i.x > 2) o {ONE} m")
    assert sources(statement) == [("table", "t"), ("query", "SELECT * FROM __match_1 i WHERE i.x > 2")]
    assert statement.outer == "SELECT * FROM __match_2 m"
    statement = read_statement(f"SELECT * FROM (SELECT * FROM t {ONE}) {ONE}")
    assert sources(statement) == [("table", "t"), ("table", "__match_1")]


def test_tables_of_with():
    statement = read_statement(
        f"WITH q AS (SELECT * FROM t WHERE y), r(x) AS MATERIALIZED (SELECT x FROM Q), z AS (SELECT 1)"
        f" SELECT * FROM r {ONE} JOIN z ON TRUE"
    )
    assert sources(statement) == [
        (
            "query",
            "WITH q AS (SELECT * FROM t WHERE y), r(x) AS MATERIALIZED (SELECT x FROM Q) SELECT * FROM r",
        )
    ]
    statement = read_statement(
        f"WITH q AS (SELECT * FROM t {ONE}), p AS (SELECT * FROM q {ONE}) SELECT * FROM p"
    )
    assert sources(statement) == [
        ("table", "t"),
        ("query", "WITH q AS (SELECT * FROM __match_1) SELECT * FROM q"),
    ]
    assert statement.outer == (
        "WITH q AS (SELECT * FROM __match_1), p AS (SELECT * FROM __match_2) SELECT * FROM p"
    )


# Parameters


@pytest.mark.parametrize(
    ("given", "constant", "literal"),
    [
        (5, "5", "5"),
        (-5, "-5", "(-5)"),
        (2.5, "2.5", "CAST('2.5' AS DOUBLE)"),
        (Decimal("2.50"), "Decimal('2.50')", "2.50"),
        (True, "True", "TRUE"),
        (None, "None", "NULL"),
        ("it's", '"it\'s"', "'it''s'"),
        (date(2024, 1, 31), "datetime.date(2024, 1, 31)", "CAST('2024-01-31' AS DATE)"),
        (np.int64(7), "7", "7"),
        (
            np.datetime64("2024-01-31T10:00"),
            "datetime.datetime(2024, 1, 31, 10, 0)",
            "CAST('2024-01-31 10:00:00' AS TIMESTAMP)",
        ),
        (
            datetime(2024, 1, 31),
            "datetime.datetime(2024, 1, 31, 0, 0)",
            "CAST('2024-01-31 00:00:00' AS TIMESTAMP)",
        ),
        (
            timedelta(seconds=1.5),
            "datetime.timedelta(seconds=1, microseconds=500000)",
            "INTERVAL '1.5' SECOND",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("dialect", [None, "snowflake", "postgres", "spark"])
def test_parameters(given, constant, literal, dialect):
    text = (
        "SELECT * FROM (SELECT * FROM t WHERE x <> $from) MATCH_RECOGNIZE ("
        "PATTERN (a$) DEFINE a AS x > $from) WHERE y < $from AND z = '$from'"
    )
    statement = read_statement(text, dialect, {"from": given})
    clause = statement.clauses[0]
    assert scalar_text(clause.definitions[0].condition) == f"(> last(x) {constant})"
    assert clause.source == f"SELECT * FROM t WHERE x <> {literal}"
    assert statement.outer == f"SELECT * FROM __match_1 WHERE y < {literal} AND z = '$from'"


# Columns


def test_columns_are_found_in_any_case():
    clause = clause_of("PARTITION BY SYMBOL ORDER BY Ts MEASURES LAST(price) + SUM(a.size) AS s PATTERN (a)")
    found = resolved(clause, ["symbol", "ts", "Price", "price", "SIZE"])
    assert (found.partition_by, found.order_by[0].column) == (("symbol",), "ts")
    assert scalar_text(found.measures[0].expression) == "(+ last(price) sum[A](SIZE))"
    with pytest.raises(QueryError, match='`PRICE` may be "Price" and "price"'):
        resolved(clause_of("MEASURES PRICE AS p PATTERN (a)"), ["Price", "price"])
    exact = clause_of("MEASURES price AS p PATTERN (a)")
    assert scalar_text(resolved(exact, ["Price", "price"]).measures[0].expression) == "last(price)"


def test_unknown_columns_are_all_told_with_their_places():
    text = (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY symbl ORDER BY tz\n"
        "MEASURES LAST(prise) AS p PATTERN (a) DEFINE a AS prise > 1)"
    )
    with pytest.raises(QueryError) as raised:
        resolved(read_statement(text).clauses[0], ["symbol", "ts", "price"], text)
    assert str(raised.value) == (
        """error[CER021]: there is no column `symbl`
 --> query:1:47
  |
1 | SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY symbl ORDER BY tz
  |                                               ^^^^^
  = help: did you mean `symbol`? the columns are `symbol`, `ts`, `price`

error[CER021]: there is no column `tz`
 --> query:1:62
  |
1 | SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY symbl ORDER BY tz
  |                                                              ^^
  = help: the columns are `symbol`, `ts`, `price`

error[CER021]: there is no column `prise`
 --> query:2:15
  |
2 | MEASURES LAST(prise) AS p PATTERN (a) DEFINE a AS prise > 1)
  |               ^^^^^
  = help: did you mean `price`? the columns are `symbol`, `ts`, `price`

error[CER021]: there is no column `prise`
 --> query:2:51
  |
2 | MEASURES LAST(prise) AS p PATTERN (a) DEFINE a AS prise > 1)
  |                                                   ^^^^^
  = help: did you mean `price`? the columns are `symbol`, `ts`, `price`"""
    )


def test_a_measure_of_all_rows_is_named_apart_from_the_columns():
    text = "MEASURES LAST(a.price) AS PRICE {} PATTERN (a)"
    assert resolved(clause_of(text.format("")), ["price"])
    with pytest.raises(QueryError, match="two columns are named `PRICE`"):
        resolved(clause_of(text.format("ALL ROWS PER MATCH")), ["price"])


def test_there_is_no_such_dialect():
    with pytest.raises(ValueError, match="there is no dialect 'klingon'; some are oracle, snowflake"):
        read_statement("SELECT 1", "klingon")
