"""Expressions of MEASURES and DEFINE are read: navigations, aggregates, operators, functions of dialects."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from row_pattern_texts import condition_of, measure_of


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("price", "last(price)"),
        ("a.price", "last[A](price)"),
        ("u.price", "last[A,B](price)"),
        ("LAST(a.price)", "last[A](price)"),
        ("LAST(price, 2)", "last2(price)"),
        ("FIRST(a.price)", "first[A](price)"),
        ("FIRST(b.price + b.size, 1)", "first1[B]((+ price size))"),
        ("PREV(price)", "last(price)-1"),
        ("PREV(a.price, 0)", "last[A](price)"),
        ("NEXT(a.price, 3)", "last[A](price)+3"),
        ("PREV(FIRST(a.price))", "first[A](price)-1"),
        ("NEXT((LAST(u.price * 2, 4)), 5)", "last4[A,B]((* price 2))+5"),
        ("FINAL LAST(a.price)", "last[A](price) final"),
        ("RUNNING LAST(a.price)", "last[A](price)"),
        ("final first(price, 1)", "first1(price) final"),
        ("PREV(FINAL LAST(b.price), 2)", "last[B](price)-2 final"),
        ("FINAL LAST(a.price) - RUNNING LAST(a.price)", "(- last[A](price) final last[A](price))"),
        ("CLASSIFIER()", "last(classifier)"),
        ("CLASSIFIER(b)", "last[B](classifier)"),
        ("FIRST(CLASSIFIER())", "first(classifier)"),
        ("PREV(CLASSIFIER(), 2)", "last(classifier)-2"),
        ("LAST(CLASSIFIER(u), 1)", "last1[A,B](classifier)"),
        ("LAST(a.price + LENGTH(CLASSIFIER(a)))", "last[A]((+ price (length classifier)))"),
        ("MATCH_NUMBER() * 2", "(* match number 2)"),
        ("COUNT(*)", "count(*)"),
        ("COUNT()", "count(*)"),
        ("COUNT(u.*)", "count[A,B](*)"),
        ("FINAL COUNT(a.*)", "count[A](*) final"),
        ("COUNT(a.price)", "count[A](price)"),
        ("COUNT(DISTINCT a.price)", "count[A](distinct price)"),
        ("COUNT(1)", "count(1)"),
        ("SUM(price * size)", "sum((* price size))"),
        ("AVG(DISTINCT b.price)", "avg[B](distinct price)"),
        ("FINAL MIN(b.price) + MAX(price)", "(+ min[B](price) final max(price))"),
        ("MAX(CLASSIFIER())", "max(classifier)"),
        ("COUNT_IF(a.price > 1)", "count[A]((case (> price 1) 1 None))"),
        ("final", "last(final)"),
        ("running + 1", "(+ last(running) 1)"),
    ],
)
def test_navigations_and_aggregates(text, read):
    assert measure_of(text) == read


def test_define_knows_navigations_too():
    assert condition_of("MATCH_NUMBER() < 3 AND CLASSIFIER() = 'B' AND RUNNING SUM(a.x) < 10") == (
        "(and (< match number 3) (= last(classifier) 'B') (< sum[A](x) 10))"
    )


def test_snowflake_has_functions_of_its_own():
    assert measure_of("MATCH_SEQUENCE_NUMBER()", "snowflake") == "count(*)"
    assert measure_of("CLASSIFIER", "snowflake") == "last(classifier)"
    assert measure_of("classifier") == "last(classifier)"  # a column


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1", "1"),
        ("1.50", "Decimal('1.50')"),
        ("2e3", "2000.0"),
        ("-3", "-3"),
        ("-(x)", "(neg last(x))"),
        ("'it''s'", '"it\'s"'),
        ("TRUE AND NOT FALSE", "(and True (not False))"),
        ("NULL", "None"),
        ("DATE '2024-02-29'", "datetime.date(2024, 2, 29)"),
        ("TIMESTAMP '2024-02-29 10:00'", "datetime.datetime(2024, 2, 29, 10, 0)"),
        (
            "TIMESTAMP '2024-02-29 10:00:00.250 UTC'",
            "datetime.datetime(2024, 2, 29, 10, 0, 0, 250000, tzinfo=zoneinfo.ZoneInfo(key='UTC'))",
        ),
        ("CAST('2024-02-29' AS DATE)", "datetime.date(2024, 2, 29)"),
        ("INTERVAL '5' MINUTE", "datetime.timedelta(seconds=300)"),
        ("INTERVAL '-5' MINUTE", "datetime.timedelta(days=-1, seconds=86100)"),
        ("INTERVAL 2 WEEK", "datetime.timedelta(days=14)"),
        ("INTERVAL '1 day 2 hours'", "datetime.timedelta(days=1, seconds=7200)"),
        (
            "INTERVAL '1 02:03:04.5' DAY TO SECOND",
            "datetime.timedelta(days=1, seconds=7384, microseconds=500000)",
        ),
        ("INTERVAL '2:30' HOUR TO MINUTE", "datetime.timedelta(seconds=9000)"),
        ("INTERVAL '2:30' MINUTE TO SECOND", "datetime.timedelta(seconds=150)"),
        ("3 * INTERVAL '1.5' HOUR", "datetime.timedelta(seconds=16200)"),
        ("ts + INTERVAL '1' DAY", "(+ last(ts) datetime.timedelta(days=1))"),
        ("ts - INTERVAL '3' MONTH", "(add_months last(ts) -3)"),
        ("INTERVAL '1' YEAR + ts", "(add_months last(ts) 12)"),
        ("ts + INTERVAL '1-2' YEAR TO MONTH", "(add_months last(ts) 14)"),
        ("ts + INTERVAL '1 month 2 days'", "(+ (add_months last(ts) 1) datetime.timedelta(days=2))"),
    ],
)
def test_constants(text, read):
    assert measure_of(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("x + y - z * 2", "(- (+ last(x) last(y)) (* last(z) 2))"),
        ("(x + y) * 2", "(* (+ last(x) last(y)) 2)"),
        ("x / 2", "(/ last(x) 2)"),
        ("x % 2", "(% last(x) 2)"),
        ("x = 1 OR x <> 2 OR x < 3", "(or (= last(x) 1) (<> last(x) 2) (< last(x) 3))"),
        ("x <= 1 AND x > 2 AND x >= y", "(and (<= last(x) 1) (> last(x) 2) (>= last(x) last(y)))"),
        ("x IS NULL", "(is null last(x))"),
        ("x IS NOT NULL", "(not (is null last(x)))"),
        ("x IS TRUE", "(is true last(x))"),
        ("x IS FALSE", "(is true (not last(x)))"),
        ("x IS NOT TRUE", "(not (is true last(x)))"),
        ("x IS DISTINCT FROM y", "(distinct from last(x) last(y))"),
        ("x IS NOT DISTINCT FROM y", "(not (distinct from last(x) last(y)))"),
        ("x BETWEEN 1 AND 2", "(and (>= last(x) 1) (<= last(x) 2))"),
        ("x NOT BETWEEN 1 AND 2", "(not (and (>= last(x) 1) (<= last(x) 2)))"),
        ("x IN (1, 2)", "(in last(x) 1 2)"),
        ("x NOT IN ('a')", "(not (in last(x) 'a'))"),
        ("x LIKE 'a%'", "(like last(x) 'a%')"),
        ("x NOT LIKE 'a%'", "(not (like last(x) 'a%'))"),
        ("x LIKE 'a!%' ESCAPE '!'", "(like:! last(x) 'a!%')"),
        ("x NOT LIKE 'a!%' ESCAPE '!'", "(not (like:! last(x) 'a!%'))"),
        ("x ILIKE 'a'", "(ilike last(x) 'a')"),
        ("x NOT ILIKE 'a'", "(not (ilike last(x) 'a'))"),
        ("x RLIKE 'a+'", "(regexp last(x) 'a+')"),
        ("NOT x RLIKE 'a+'", "(not (regexp last(x) 'a+'))"),
        ("x || 'a'", "(|| last(x) 'a')"),
        ("CASE WHEN x > 1 THEN 2 WHEN y THEN 3 ELSE 4 END", "(case (> last(x) 1) 2 last(y) 3 4)"),
        ("CASE x WHEN 1 THEN 'a' END", "(case (= last(x) 1) 'a' None)"),
        ("CAST(x AS BIGINT)", "(cast:int64 last(x))"),
        ("x::DOUBLE PRECISION", "(cast:double last(x))"),
        ("TRY_CAST(x AS DECIMAL(10, 2))", "(try cast:decimal128(10, 2) last(x))"),
        ("CAST(x AS VARCHAR)", "(cast:string last(x))"),
        ("CAST(x AS VARCHAR(3))", "(substring (cast:string last(x)) 1 3)"),
        ("CAST(x AS TIMESTAMP(3))", "(cast:timestamp[ms] last(x))"),
        ("CAST(x AS TIMESTAMP WITH TIME ZONE)", "(cast:timestamp[us, tz=UTC] last(x))"),
        ("EXTRACT(HOUR FROM ts)", "(extract:hour last(ts))"),
        ("EXTRACT(DAYOFWEEK FROM ts)", "(extract:dow last(ts))"),
        ("TRIM(x)", "(trim last(x))"),
        ("TRIM(TRAILING FROM x)", "(rtrim last(x))"),
        ("SUBSTRING(x FROM 2 FOR 3)", "(substring last(x) 2 3)"),
        ("POSITION('a' IN x)", "(position 'a' last(x))"),
        ("FLOOR(x) + CEIL(y)", "(+ (floor last(x)) (ceil last(y)))"),
        ("PREV(x + 1) > COALESCE(FIRST(a.y), 0)", "(> last((+ x 1))-1 (coalesce first[A](y) 0))"),
    ],
)
def test_operators(text, read):
    assert measure_of(text) == read


@pytest.mark.parametrize(
    ("dialect", "text", "read"),
    [
        (None, "ROUND(ABS(x), 2)", "(round (abs last(x)) 2)"),
        (None, "SIGN(SQRT(EXP(LN(LOG10(x)))))", "(sign (sqrt (exp (ln (log10 last(x))))))"),
        (None, "POWER(x, 2) + MOD(x, 3)", "(+ (power last(x) 2) (mod last(x) 3))"),
        (None, "UPPER(LOWER(x))", "(upper (lower last(x)))"),
        (None, "REPLACE(x, 'a', 'b')", "(replace last(x) 'a' 'b')"),
        (None, "NULLIF(x, 0)", "(nullif last(x) 0)"),
        (None, "GREATEST(x, y)", "(greatest last(x) last(y))"),
        (None, "IF(x > 1, 2, 3)", "(case (> last(x) 1) 2 3)"),
        ("oracle", "NVL(x, 0)", "(coalesce last(x) 0)"),
        ("oracle", "NVL2(x, 1, 2)", "(case (is null last(x)) 2 1)"),
        ("oracle", "DECODE(x, 1, 'a', 'b')", "(case (not (distinct from last(x) 1)) 'a' 'b')"),
        ("oracle", "INSTR(x, 'a')", "(position 'a' last(x))"),
        ("oracle", "SUBSTR(x, 2)", "(substring last(x) 2)"),
        ("oracle", "TRUNC(ts, 'HH24')", "(date_trunc:hour last(ts))"),
        ("oracle", "ADD_MONTHS(ts, 2)", "(add_months last(ts) 2)"),
        ("oracle", "ts + NUMTODSINTERVAL(5, 'MINUTE')", "(+ last(ts) datetime.timedelta(seconds=300))"),
        ("oracle", "CAST(x AS NUMBER(10, 2))", "(cast:decimal128(10, 2) last(x))"),
        ("oracle", "DATE '2024-01-31'", "datetime.date(2024, 1, 31)"),
        ("oracle", "TIMESTAMP '2024-01-31 10:00:00'", "datetime.datetime(2024, 1, 31, 10, 0)"),
        ("snowflake", "IFF(x > 1, 2, 3)", "(case (> last(x) 1) 2 3)"),
        ("snowflake", "CONTAINS(x, 'a')", "(contains last(x) 'a')"),
        ("snowflake", "x::NUMBER", "(cast:decimal128(38, 0) last(x))"),
        ("snowflake", "x::FLOAT", "(cast:double last(x))"),
        ("snowflake", "x::INT", "(cast:int64 last(x))"),
        ("snowflake", "REGEXP_LIKE(x, 'a|b')", "(regexp last(x) '^(?:a|b)$')"),
        ("snowflake", "x RLIKE y", "(regexp last(x) (|| '^(?:' last(y) ')$'))"),
        (
            "snowflake",
            "DATEDIFF(minute, a.ts, b.ts)",
            "(date_diff:minute (date_trunc:minute last[A](ts)) (date_trunc:minute last[B](ts)))",
        ),
        ("snowflake", "DATEADD('day', -2, ts)", "(+ last(ts) datetime.timedelta(days=-2))"),
        ("snowflake", "DATEADD(month, x, ts)", "(add_months last(ts) (* last(x) 1))"),
        (
            "duckdb",
            "date_diff('hour', a.ts, b.ts)",
            "(date_diff:hour (date_trunc:hour last[A](ts)) (date_trunc:hour last[B](ts)))",
        ),
        ("duckdb", "GREATEST(x, y)", "(greatest (coalesce last(x) last(y)) (coalesce last(y) last(x)))"),
        ("duckdb", "LOG(x)", "(log10 last(x))"),
        ("duckdb", "CONCAT(x, 'a')", "(|| (coalesce last(x) '') (coalesce 'a' ''))"),
        ("duckdb", "CAST(x AS VARCHAR(3))", "(cast:string last(x))"),
        ("duckdb", "x // 2", "(// last(x) 2)"),
        ("duckdb", "x ** 2", "(power last(x) 2)"),
        ("duckdb", "regexp_full_match(x, 'a')", "(regexp last(x) '^(?:a)$')"),
        ("duckdb", "epoch(ts)", "(extract:epoch last(ts))"),
        ("trino", "x / 2", "(// last(x) 2)"),
        ("trino", "date_diff('hour', a.ts, b.ts)", "(date_diff:hour last[A](ts) last[B](ts))"),
        ("trino", "date_add('hour', 2, ts)", "(+ last(ts) datetime.timedelta(seconds=7200))"),
        ("trino", "date_trunc('day', ts)", "(date_trunc:day last(ts))"),
        ("trino", "strpos(x, 'a')", "(position 'a' last(x))"),
        ("trino", "CONCAT(x, 'a')", "(|| last(x) 'a')"),
        ("trino", "TIMESTAMP '2024-01-31 10:00:00'", "datetime.datetime(2024, 1, 31, 10, 0)"),
        ("flink", "x / 2", "(// last(x) 2)"),
        ("flink", "TIMESTAMPDIFF(MINUTE, a.ts, b.ts)", "(date_diff:minute last[A](ts) last[B](ts))"),
        ("flink", "FLOOR(ts TO HOUR)", "(date_trunc:hour last(ts))"),
        ("flink", "TIMESTAMPADD(DAY, 1, ts)", "(+ last(ts) datetime.timedelta(days=1))"),
        ("flink", "CHAR_LENGTH(x)", "(length last(x))"),
        ("spark", "x / 2", "(/ last(x) 2)"),
        ("spark", "x DIV 2", "(// last(x) 2)"),
        ("spark", "CAST(x AS INT)", "(cast:int32 last(x))"),
        ("spark", "TRY_CAST(x AS INT)", "(try cast:int32 last(x))"),
        (
            "spark",
            "DATEDIFF(b.d, a.d)",
            "(date_diff:day (date_trunc:day last[A](d)) (date_trunc:day last[B](d)))",
        ),
        ("spark", "x <=> y", "(not (distinct from last(x) last(y)))"),
        ("spark", "LOG(x)", "(ln last(x))"),
        ("postgres", "x ~ 'a'", "(regexp last(x) 'a')"),
        ("postgres", "x / 2", "(// last(x) 2)"),
        ("bigquery", "TIMESTAMP_DIFF(b.ts, a.ts, SECOND)", "(date_diff:second last[A](ts) last[B](ts))"),
        ("bigquery", "DATE_ADD(d, INTERVAL 2 DAY)", "(+ last(d) datetime.timedelta(days=2))"),
        ("bigquery", "COUNTIF(a.x > 1)", "count[A]((case (> x 1) 1 None))"),
        ("bigquery", "STARTS_WITH(x, 'a')", "(starts_with last(x) 'a')"),
        ("mysql", "x || y", "(or last(x) last(y))"),
        ("tsql", "LEN(LEFT(x, 2))", "(length (substring last(x) 1 2))"),
        ("tsql", "CHARINDEX('a', x)", "(position 'a' last(x))"),
    ],
)
def test_functions_of_dialects(dialect, text, read):
    assert measure_of(text, dialect) == read


def test_right_takes_at_most_the_text():
    assert measure_of("RIGHT(x, 2)") == ("(substring last(x) (+ (greatest (- (length last(x)) 2) 0) 1))")


def test_a_long_chain_is_read():
    chain = " AND ".join(f"x <> {number}" for number in range(2_000))
    assert condition_of(chain).count("(<> last(x)") == 2_000
