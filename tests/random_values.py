"""Random queries whose filters use PREV and functions, as text."""

from __future__ import annotations

from random import Random

NUMBERS = (
    "v", "p", "PREV(v)", "PREV(v, 2)", "PREV(p)", "PREV(p, 3)", "PREV(id)", "ABS(v - PREV(v))", "FLOOR(p)",
    "CEIL(p * 1.5)", "ROUND(p / 2)", "ROUND(v / 4)", "COALESCE(PREV(v), v, 0)", "COALESCE(p, PREV(v))",
    "LENGTH(s)", "LENGTH(PREV(s))", "SECOND(ts)", "MINUTE(ts + 59 min)", "HOUR(ts - 1 s)", "DAY(ts)",
    "MONTH(ts - 20 d)", "YEAR(ts - 1 d)", "WEEKDAY(ts)", "v % 3", "v / id", "v % (id - 1)", "-ABS(p)",
    "FLOOR(-p / 3)", "ABS(FLOOR(p) - CEIL(PREV(p)))", "COALESCE(v, 2.5)",
    "SQRT(v)", "SQRT(p - 2)", "LN(p)", "LN(PREV(v) - 1)", "EXP(v - 3)", "POWER(v, 2)", "POWER(p - 3, v - 2)",
    "SIGN(p - 2)", "SIGN(v - PREV(v))", "GREATEST(v, PREV(v))", "LEAST(p, PREV(p), 3)", "GREATEST(v, p)",
    "LENGTH(s || PREV(s))", "FLOOR(SQRT(v) * 3)", "LENGTH(SUBSTRING(s, v, 2))", "ROUND(POWER(2, v))",
)  # fmt: skip
TEXTS = (
    "s", "PREV(s)", "LOWER(s)", "UPPER(PREV(s, 2))", "COALESCE(s, 'q')", "UPPER(COALESCE(PREV(s), s))",
    "SUBSTRING(s, 2)", "SUBSTRING(s, 1, 3)", "SUBSTRING(s, v - 1, 2)", "REPLACE(s, 'a', '')", "TRIM(s)",
    "REPLACE(s, PREV(s), 'x')", "SPLIT_PART(s, 'a', 2)", "SPLIT_PART(s, 'T', v)", "s || 'a'",
    "LOWER(s) || PREV(s)", "'x' || s", "GREATEST(s, 'beta')", "LEAST(s, PREV(s))", "TRIM(' ' || s)",
)  # fmt: skip
PARTS = ("'a'", "'BE'", "''", "PREV(s)", "SUBSTRING(s, 2)", "LOWER(s)", "SUBSTRING(PREV(s), 1, 1)")
SPANS = ("ts - PREV(ts)", "(ts - PREV(ts, 2)) / 2", "2 * (ts - PREV(ts))", "ABS(PREV(ts) - ts) * 1.5")


SEVERAL = (
    "CONTAINS(x.s, SUBSTRING(y.s, 1, 1))", "NOT STARTS_WITH(x.s, y.s)", "ENDS_WITH(x.s || y.s, 'a')",
    "GREATEST(x.v, y.v) > 4", "LEAST(x.p, y.v) < x.v", "SQRT(x.v * y.v) >= 2", "POWER(x.v - y.v, 2) <= 4",
    "LENGTH(REPLACE(x.s, y.s, '')) < 3", "UPPER(COALESCE(x.s, y.s)) = 'ALPHA'", "x.s || y.s > y.s || x.s",
    "COALESCE(y.p, x.v) <= 4", "MIN(COALESCE(x.p / y.v, 7)) > 1",
    "SIGN(x.v - y.v) = 1", "LN(x.p + y.p) > 1", "EXP(x.v - y.v) < 1", "SPLIT_PART(x.s, y.s, 1) = ''",
)  # fmt: skip
"""Conditions on the events x and y."""


def predicate(rng: Random) -> str:
    """A predicate of one event."""
    op = rng.choice(("=", "!=", "<", "<=", ">", ">="))
    one, two = rng.choice(NUMBERS), rng.choice(NUMBERS)
    text, span = rng.choice(TEXTS), rng.choice(SPANS)
    word = rng.choice(("alpha", "BETA", "gamma", "", "delta"))
    found = rng.choice(
        (
            f"{one} {op} {rng.randrange(8)}",
            f"{one} {op} {two}",
            f"{one} IN {{1, 2, 4..6}}",
            f"{one} IN RANGE ({rng.randrange(4)}, {two})",
            f"{one} IS NULL",
            f"{text} {op} '{word}'",
            f"{text} {op} {rng.choice(TEXTS)}",
            f"{text} LIKE 'a$|^B'",
            f"{text} NOT IN {{'{word}', 'BETA'}}",
            f"{text} IS NULL",
            f"{rng.choice(('CONTAINS', 'STARTS_WITH', 'ENDS_WITH'))}({text}, {rng.choice(PARTS)})",
            f"{span} {op} {rng.choice(('500 ms', '1 s', '750 ms'))}",
            f"DATE(ts - {rng.randrange(3)} d) {op} '1969-12-31'",
            f"ts {op} PREV(ts) + 500 ms",
        )
    )
    return f"NOT ({found})" if rng.random() < 0.25 else found


def condition(rng: Random) -> str:
    """One or two predicates."""
    if rng.random() < 0.6:
        return predicate(rng)
    return f"{predicate(rng)} {rng.choice(('AND', 'OR'))} {predicate(rng)}"


def query(rng: Random) -> str:
    """A query with such conditions."""
    pattern = rng.choice(
        (
            f"A AS x FILTER x[{condition(rng)}]",
            f"(A OR B) AS x ; C AS y FILTER x[{condition(rng)}] AND y[{condition(rng)}]",
            f"(A AS x FILTER x[{condition(rng)}])+",
            f"(A OR C) AS x : (B OR C) AS y FILTER y[{condition(rng)}]",
            f"A AS x ; B AS y FILTER x.{predicate_of_variable(rng)}",
            f"A AS x ; NOT (B FILTER B[{condition(rng)}]) : C AS y",
            f"A AS x ; B AS y FILTER x.id = y.id AND y[{condition(rng)}]",
            "A AS x ; B AS y FILTER ABS(x.v - 4) = COALESCE(PREV(y.v), 2)",
            f"A AS x ; B AS y FILTER {rng.choice(SEVERAL)}",
        )
    )
    parts = [f"SELECT * {rng.choice(('', '', 'FROM S '))}WHERE {pattern}"]
    parts += [rng.choice(("", "", "PARTITION BY [id]", "PARTITION BY [s]", "PARTITION BY [id], [s]"))]
    parts += [rng.choice(("", "WITHIN 4 EVENTS", "WITHIN 2 SECONDS"))]
    return " ".join(parts)


def predicate_of_variable(rng: Random) -> str:
    """What may stand after `x.`."""
    return rng.choice(("v > PREV(x.v)", "p < COALESCE(PREV(x.p), 4)", "s = LOWER(PREV(x.s))"))
