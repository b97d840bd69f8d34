"""Whole statements in the way of Oracle, Snowflake, Trino and Flink, over data of our own, are read."""

from __future__ import annotations

import random
import re
from datetime import timedelta
from pathlib import Path

import pytest

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from row_pattern_texts import pattern_text, scalar_text

from cer_gpu.errors import QueryError
from cer_gpu.patterns.statement import read_statement
from cer_gpu.patterns.tree import RowPatternClause, RowsPerMatch, SkipMode

DIALECTS = [
    "oracle",
    "snowflake",
    "trino",
    "flink",
    "duckdb",
    "spark",
    "bigquery",
    "postgres",
    "mysql",
    "tsql",
]


def measures(clause: RowPatternClause) -> dict[str, str]:
    """The measures of a clause as texts."""
    return {one.name: scalar_text(one.expression) for one in clause.measures}


def definitions(clause: RowPatternClause) -> dict[str, str]:
    """The conditions of a clause as texts."""
    return {one.variable: scalar_text(one.condition) for one in clause.definitions}


def test_dips_of_water_levels_as_oracle_writes_them():
    statement = read_statement(
        """
        SELECT *
        FROM levels MATCH_RECOGNIZE (
             PARTITION BY station
             ORDER BY measured_on
             MEASURES  BEGIN_.measured_on AS begin_day,
                       FINAL LAST(FALLING.measured_on) AS lowest_day,
                       FINAL LAST(RISING.measured_on) AS end_day,
                       MATCH_NUMBER() AS dip,
                       CLASSIFIER() AS part,
                       RUNNING COUNT(*) AS so_far,
                       FINAL COUNT(FALLING.measured_on) AS days_down
             ALL ROWS PER MATCH
             AFTER MATCH SKIP TO LAST RISING
             PATTERN (BEGIN_ FALLING+ RISING+)
             DEFINE
                FALLING AS FALLING.level < PREV(FALLING.level),
                RISING AS RISING.level > PREV(RISING.level)
             ) DIPS
        ORDER BY DIPS.station, DIPS.dip, DIPS.measured_on
        """,
        "oracle",
    )
    (clause,) = statement.clauses
    assert (clause.alias, clause.rows) == ("DIPS", RowsPerMatch.ALL_SHOW_EMPTY)
    assert (clause.skip.mode, clause.skip.variables) == (SkipMode.TO_LAST, frozenset({"RISING"}))
    assert pattern_text(clause.pattern) == "(BEGIN_ FALLING{1,} RISING{1,})"
    assert measures(clause) == {
        "begin_day": "last[BEGIN_](measured_on)",
        "lowest_day": "last[FALLING](measured_on) final",
        "end_day": "last[RISING](measured_on) final",
        "dip": "match number",
        "part": "last(classifier)",
        "so_far": "count(*)",
        "days_down": "count[FALLING](measured_on) final",
    }
    assert definitions(clause) == {
        "FALLING": "(< last[FALLING](level) last[FALLING](level)-1)",
        "RISING": "(> last[RISING](level) last[RISING](level)-1)",
    }
    assert " ".join(statement.outer.split()) == (
        "SELECT * FROM __match_1 DIPS ORDER BY DIPS.station, DIPS.dip, DIPS.measured_on"
    )


def test_sessions_of_log_lines_with_a_union_as_oracle_writes_them():
    statement = read_statement(
        """
        SELECT host, COUNT(*)
        FROM (SELECT host, logged, TRIM(UPPER(level_name)) AS lvl FROM log_lines WHERE lvl <> 'DEBUG')
        MATCH_RECOGNIZE (
          PARTITION BY host ORDER BY logged
          MEASURES MIN(first_line.logged) AS from_, MAX(every.logged) - MIN(every.logged) AS took,
                   AVG(every.size_of) AS mean_size
          ONE ROW PER MATCH
          PATTERN (first_line more* (bad{2,})?)
          SUBSET every = (first_line, more, bad)
          DEFINE more AS logged - PREV(logged) < NUMTODSINTERVAL(10, 'MINUTE')
                     AND lvl NOT IN ('ERROR', 'FATAL'),
                 bad AS DECODE(lvl, 'ERROR', 1, 'FATAL', 1, 0) = 1 AND NVL(code, 0) >= 500
        )
        GROUP BY host HAVING COUNT(*) > 1
        """,
        "oracle",
    )
    (clause,) = statement.clauses
    assert clause.kind == "query"
    assert clause.source.startswith("SELECT host, logged, TRIM(UPPER(level_name))")
    assert pattern_text(clause.pattern) == "(FIRST_LINE MORE{0,} BAD{2,}{0,1})"
    assert measures(clause) == {
        "from_": "min[FIRST_LINE](logged)",
        "took": "(-:numbers of days max[BAD,FIRST_LINE,MORE](logged) min[BAD,FIRST_LINE,MORE](logged))",
        "mean_size": "avg[BAD,FIRST_LINE,MORE](size_of)",
    }
    assert definitions(clause) == {
        "MORE": "(and (< (-:numbers of days last(logged) last(logged)-1)"
        " datetime.timedelta(seconds=600)) (not (in last(lvl) 'ERROR' 'FATAL')))",
        "BAD": "(and (= (case (not (distinct from last(lvl) 'ERROR')) 1"
        " (not (distinct from last(lvl) 'FATAL')) 1 0) 1) (>= (coalesce last(code) 0) 500))",
    }


def test_busy_days_of_shops_as_snowflake_writes_them():
    statement = read_statement(
        """
        WITH per_day AS (
            SELECT shop, sold_at::DATE AS day, SUM(amount) AS amount FROM sales GROUP BY 1, 2
        )
        SELECT shop, first_day, last_day, n
        FROM per_day
          MATCH_RECOGNIZE(
            PARTITION BY shop
            ORDER BY day
            MEASURES
              MATCH_NUMBER() AS "match_number",
              FIRST(day) AS first_day,
              LAST(day) last_day,
              COUNT(*) AS n,
              COUNT(row_with_rise.*) AS rises,
              MATCH_SEQUENCE_NUMBER() AS seq,
              CLASSIFIER AS cl
            ALL ROWS PER MATCH OMIT EMPTY MATCHES
            AFTER MATCH SKIP TO NEXT ROW
            PATTERN(^ row_before row_with_rise{1,3} {- row_with_fall -}+ $)
            DEFINE
              row_with_fall AS amount < PREV(amount),
              row_with_rise AS amount > PREV(amount) * 1.1 AND DATEDIFF('day', PREV(day), day) = 1
          )
        ORDER BY shop, "match_number"
        """,
        "snowflake",
    )
    (clause,) = statement.clauses
    assert clause.kind == "query"
    assert " ".join(clause.source.split()) == (
        "WITH per_day AS ( SELECT shop, sold_at::DATE AS day, SUM(amount) AS amount FROM sales"
        " GROUP BY 1, 2 ) SELECT * FROM per_day"
    )
    assert (clause.rows, clause.skip.mode) == (RowsPerMatch.ALL_OMIT_EMPTY, SkipMode.TO_NEXT_ROW)
    assert pattern_text(clause.pattern) == "(^ ROW_BEFORE ROW_WITH_RISE{1,3} {- ROW_WITH_FALL -}{1,} $)"
    assert measures(clause) == {
        "match_number": "match number",
        "first_day": "first(day)",
        "last_day": "last(day)",
        "n": "count(*)",
        "rises": "count[ROW_WITH_RISE](*)",
        "seq": "count(*)",
        "cl": "last(classifier)",
    }
    assert definitions(clause)["ROW_WITH_RISE"] == (
        "(and (> last(amount) (* last(amount)-1 Decimal('1.1')))"
        " (= (date_diff:day (date_trunc:day last(day)-1) (date_trunc:day last(day))) 1))"
    )


def test_deliveries_in_any_order_as_trino_writes_them():
    statement = read_statement(
        """
        SELECT m.parcel, m.route, m.hours
        FROM parcels AS p MATCH_RECOGNIZE (
            PARTITION BY parcel
            ORDER BY scanned_at
            MEASURES
                FIRST(depot.place) || '-' || LAST(ship.place) AS route,
                date_diff('hour', FIRST(scanned_at), FINAL LAST(scanned_at)) AS hours,
                LAST(CLASSIFIER(stop), 1) AS before_last,
                PREV(FIRST(ship.weight, 1), 2) AS odd
            ALL ROWS PER MATCH WITH UNMATCHED ROWS
            AFTER MATCH SKIP PAST LAST ROW
            PATTERN (PERMUTE(depot, ship+?, customs??) (other | ()))
            SUBSET stop = (depot, ship)
            DEFINE depot AS kind = 'DEPOT',
                   ship AS kind LIKE 'SHIP%' AND weight IS NOT NULL,
                   customs AS starts_with(kind, 'CUSTOMS') AND CAST(weight AS double) / 2 < 1e3,
                   other AS (kind IS NULL OR kind <> 'LOST') AND MATCH_NUMBER() < 10
        ) AS m
        WHERE m.hours > 24
        """,
        "trino",
    )
    (clause,) = statement.clauses
    assert (clause.source, clause.kind, clause.alias) == ("parcels", "table", "m")
    assert clause.rows is RowsPerMatch.ALL_WITH_UNMATCHED
    assert pattern_text(clause.pattern) == "(permute(DEPOT, SHIP{1,}?, CUSTOMS{0,1}?) (OTHER | ()))"
    assert measures(clause) == {
        "route": "(|| (|| first[DEPOT](place) '-') last[SHIP](place))",
        "hours": "(date_diff:hour first(scanned_at) last(scanned_at) final)",
        "before_last": "last1[DEPOT,SHIP](classifier)",
        "odd": "first1[SHIP](weight)-2",
    }
    assert definitions(clause) == {
        "DEPOT": "(= last(kind) 'DEPOT')",
        "SHIP": "(and (like last(kind) 'SHIP%') (not (is null last(weight))))",
        "CUSTOMS": "(and (starts_with last(kind) 'CUSTOMS') (< (// (cast:double last(weight)) 2) 1000.0))",
        "OTHER": "(and (or (is null last(kind)) (<> last(kind) 'LOST')) (< match number 10))",
    }


def test_warming_sensors_as_flink_writes_them():
    statement = read_statement(
        """
        SELECT T.*
        FROM `sensor readings`
            MATCH_RECOGNIZE (
                PARTITION BY sensor
                ORDER BY rowtime
                MEASURES
                    FIRST(A.rowtime) AS start_tstamp,
                    LAST(A.rowtime) AS end_tstamp,
                    AVG(A.degrees) AS avgDegrees,
                    TIMESTAMPDIFF(SECOND, FIRST(A.rowtime), B.rowtime) AS took
                ONE ROW PER MATCH
                AFTER MATCH SKIP TO FIRST B
                PATTERN (A{2,} B) WITHIN INTERVAL '1' HOUR
                DEFINE
                    A AS AVG(A.degrees) < 15
                        AND (LAST(A.degrees, 1) IS NULL OR A.degrees > LAST(A.degrees, 1)),
                    B AS B.degrees / 2 >= $limit
            ) AS T
        """,
        "flink",
        {"limit": 7},
    )
    (clause,) = statement.clauses
    assert (clause.source, clause.within) == ("sensor readings", timedelta(hours=1))
    assert (clause.skip.mode, clause.skip.variables) == (SkipMode.TO_FIRST, frozenset({"B"}))
    assert measures(clause)["took"] == "(date_diff:second first[A](rowtime) last[B](rowtime))"
    assert definitions(clause) == {
        "A": "(and (< whole avg[A](degrees) 15)"
        " (or (is null last1[A](degrees)) (> last[A](degrees) last1[A](degrees))))",
        "B": "(>= (// last[B](degrees) 2) 7)",
    }


def test_a_card_that_pays_far_apart_in_two_steps():
    statement = read_statement(
        """
        SELECT a.card, b.card
        FROM payments MATCH_RECOGNIZE (
          PARTITION BY card ORDER BY paid NULLS FIRST
          MEASURES SUM(small.amount) AS spent, COUNT(DISTINCT small.shop) AS shops, large.shop AS shop
          PATTERN (small{3,}? large)
          DEFINE small AS amount < 5,
                 large AS amount > 10 * (SUM(small.amount) / COUNT(small.*))
                      AND paid - FIRST(small.paid) <= INTERVAL '1' DAY
        ) a
        JOIN (
          SELECT * FROM 'refunds.parquet' MATCH_RECOGNIZE (PATTERN (r) DEFINE r AS amount > 100) r
        ) b ON a.shop = b.shop
        """
    )
    payments, refunds = statement.clauses
    assert (payments.order_by[0].nulls_first, refunds.kind, refunds.source) == (
        True,
        "file",
        "refunds.parquet",
    )
    assert definitions(payments)["LARGE"] == (
        "(and (> last(amount) (* 10 (/ sum[SMALL](amount) count[SMALL](*))))"
        " (<= (- last(paid) first[SMALL](paid)) datetime.timedelta(days=1)))"
    )
    assert " ".join(statement.outer.split()) == (
        "SELECT a.card, b.card FROM __match_1 a JOIN ( SELECT * FROM __match_2 r ) b ON a.shop = b.shop"
    )


@pytest.mark.draws("seed", 60)
def test_a_damaged_statement_is_read_or_refused(seed):
    rng = random.Random(seed)
    source = Path(__file__).read_text(encoding="utf-8")
    texts = re.findall(r'"""\s*((?:SELECT|WITH).*?)"""', source, re.DOTALL)
    assert len(texts) > 4
    strange = [
        "(",
        ")",
        "'",
        '"',
        "`",
        "$x",
        "??",
        "FINAL ",
        " NULL ",
        " OVER ()",
        "::",
        "/*",
        "--",
        "[",
        "{-",
        "}",
    ]
    for _ in range(10):
        words = re.findall(r"\s+|\w+|'[^']*'|.", rng.choice(texts))
        for _ in range(rng.choice([1, 1, 2, 3])):
            place = rng.randrange(len(words))
            words[place : place + rng.randrange(3)] = rng.sample([*words, *strange], rng.randrange(2))
        text = "".join(words)
        try:
            read_statement(text, rng.choice([None, *DIALECTS]), {"limit": 7} if "$limit" in text else None)
            said = "error[CER"
        except QueryError as error:
            said = str(error)
        assert said.startswith("error[CER")
