"""The reference of MATCH_RECOGNIZE on cases worked out by hand; the engine gives the same.

The examples are those that the documentation of Oracle, Snowflake, Trino and Flink explains, over data and in
words of our own.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pyarrow as pa
import pytest

pytest.importorskip("sqlglot", reason="SQL is read by sqlglot, of the extra sql")

from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.errors import DataError, LimitError
from cer_gpu.patterns.columns import resolved
from cer_gpu.patterns.statement import read_statement
from cer_gpu.reference.row_pattern_matches import row_pattern_answers


def answers(body, **columns):
    """The rows that a clause gives over a table, as tuples, by the reference and by the engine."""
    table = pa.table(columns)
    text = f"SELECT * FROM events MATCH_RECOGNIZE (\n{body}\n)"
    clause = resolved(read_statement(text).clauses[0], table.schema.names, text)
    answer = RowPatternAnswer(clause, table.schema, text)

    def engine():
        batches = answer.over(answer.ordered(table.select(answer.columns)))
        return pa.Table.from_batches(batches, answer.schema).to_pylist()

    try:
        found = row_pattern_answers(clause, table.to_pylist(), table.schema.names)
    except DataError:
        with pytest.raises(DataError):
            engine()
        raise
    assert engine() == found
    return [tuple(row.values()) for row in found]


def numbered(letters, **columns):
    """A table with a letter in each row, numbered from 1."""
    return {"n": list(range(1, len(letters) + 1)), "v": list(letters), **columns}


DEFINE = "DEFINE a AS v = 'a', b AS v = 'b', c AS v = 'c'"


def mapped(pattern, letters, more=""):
    """For each match the rows that it takes, and their variables."""
    conditions = {"a": "v IN ('a', 'x')", "b": "v IN ('b', 'x')", "c": "v = 'c'"}
    used = [f"{name} AS {conditions[name]}" for name in conditions if re.search(rf"\b{name}\b", pattern)]
    define = f"DEFINE {', '.join(used)}" if used else ""
    rows = answers(
        f"""ORDER BY n MEASURES MATCH_NUMBER() AS match, CLASSIFIER() AS taken ALL ROWS PER MATCH {more}
        PATTERN ({pattern}) {define}""",
        **numbered(letters),
    )
    found = {}
    for number, match, taken, _ in rows:
        found.setdefault(match, []).append(f"{number}{taken or '-'}")
    return [" ".join(taken) for taken in found.values()]


def test_levels_that_fall_and_rise():
    """A dip: a row, rows that fall, rows that rise; two of one station, one of the other."""
    levels = {
        "station": ["N", "N", "S", "N", "N", "S", "N", "S", "N", "N", "S"],
        "day": [1, 2, 1, 3, 4, 2, 5, 3, 6, 7, 4],
        "level": [12, 9, 7, 8, 11, 7, 13, 5, 10, 14, 6],
    }
    body = """PARTITION BY station ORDER BY day
        MEASURES top.day AS begun, LAST(down.day) AS lowest, LAST(up.day) AS ended, MATCH_NUMBER() AS dip
        {rows} AFTER MATCH SKIP TO LAST up
        PATTERN (top down+ up+) DEFINE down AS level < PREV(level), up AS level > PREV(level)"""
    # N: 12 9 8 11 13 10 14. S: 7 7 5 6, where the second 7 does not fall.
    assert answers(body.format(rows="ONE ROW PER MATCH"), **levels) == [
        ("N", 1, 3, 5, 1),
        ("N", 5, 6, 7, 2),
        ("S", 2, 3, 4, 1),
    ]
    # Running values: LAST(up.day) is null until a row is mapped to up.
    assert answers(body.format(rows="ALL ROWS PER MATCH"), **levels)[:5] == [
        ("N", 1, 1, None, None, 1, 12),
        ("N", 2, 1, 2, None, 1, 9),
        ("N", 3, 1, 3, None, 1, 8),
        ("N", 4, 1, 3, 4, 1, 11),
        ("N", 5, 1, 3, 5, 1, 13),
    ]


def test_sessions_with_a_pause():
    """Visits of a user are one session until ten minutes pass without one."""
    minutes = [0, 4, 13, 24, 25, 60]
    start = datetime(2024, 5, 1, 8)
    clicks = {"user": ["u"] * 6, "at": [start + timedelta(minutes=one) for one in minutes]}
    found = answers(
        """PARTITION BY user ORDER BY at
        MEASURES MATCH_NUMBER() AS session, COUNT(*) AS clicks, LAST(at) - FIRST(at) AS lasted
        ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
        PATTERN (first_one more*) DEFINE more AS at - PREV(at) <= INTERVAL '10' MINUTE""",
        **clicks,
    )
    assert found == [
        ("u", 1, 3, timedelta(minutes=13)),
        ("u", 2, 2, timedelta(minutes=1)),
        ("u", 3, 1, timedelta(0)),
    ]


@pytest.mark.parametrize(
    ("pattern", "letters", "taken"),
    [
        ("a b", "abab", ["1A 2B", "3A 4B"]),
        ("a+", "aaba", ["1A 2A", "4A"]),
        ("a+?", "aab", ["1A", "2A"]),
        ("a+? b", "aab", ["1A 2A 3B"]),
        ("a{2}", "aaaaa", ["1A 2A", "3A 4A"]),
        ("a{2,}", "aaaaa", ["1A 2A 3A 4A 5A"]),
        ("a{,2} c", "aaac", ["2A 3A 4C"]),
        ("a{1,2}?", "aaa", ["1A", "2A", "3A"]),
        ("a | a b", "ab", ["1A"]),  # the first option, although the second takes more
        ("a b | a", "ab", ["1A 2B"]),
        ("(a | b)+", "xx", ["1A 2A"]),
        ("(b | a)+", "xx", ["1B 2B"]),
        ("a* b", "xxx", ["1A 2A 3B"]),
        ("a*? b", "xxx", ["1B", "2B", "3B"]),
        ("(a? b?)+", "xx", ["1A 2B"]),
        ("PERMUTE(a, b, c)", "cba", ["1C 2B 3A"]),
        ("PERMUTE(a, b)", "xx", ["1A 2B"]),  # a b before b a
        ("PERMUTE(b, a)", "xx", ["1B 2A"]),
        ("^ a", "aa", ["1A"]),
        ("a $", "aa", ["2A"]),
        ("^ a+ $", "aaa", ["1A 2A 3A"]),
        ("^ a+ $", "aab", []),
        ("a b ^ c", "abc", []),
    ],
)
def test_the_preferred_match(pattern, letters, taken):
    assert mapped(pattern, letters) == taken


def test_a_repetition_takes_a_row_or_ends():
    """`(a?)*` does not repeat nothing for ever; `(a??)*` takes a row, as it refuses to repeat nothing."""
    for pattern in ("(a?)*", "(a??)*", "((a?)*)*"):
        assert mapped(pattern, "aab") == ["1A 2A", "3-"]
    # Up to the least number a repetition may be empty, and with `??` it is: both are.
    assert mapped("(a??){2}", "aa") == ["1-", "2-"]
    assert mapped("(a?){3}", "aa") == ["1A 2A"]


def test_empty_matches_and_rows_in_no_match():
    """b* is empty at the rows that are no b; with a+ the other rows are in no match."""
    body = (
        "ORDER BY n MEASURES MATCH_NUMBER() AS m, COUNT(*) AS k, FIRST(n) AS f {rows} PATTERN ({p}) " + DEFINE
    )
    table = numbered("abba")
    body = body.replace(DEFINE, "DEFINE {v} AS v = '{v}'")

    def rows(mode, pattern, variable):
        return answers(body.format(rows=mode, p=pattern, v=variable), **table)

    assert rows("ONE ROW PER MATCH", "b*", "b") == [(1, 0, None), (2, 2, 2), (3, 0, None)]
    shown = [(1, 1, 0, None, "a"), (2, 2, 1, 2, "b"), (3, 2, 2, 2, "b"), (4, 3, 0, None, "a")]
    assert rows("ALL ROWS PER MATCH", "b*", "b") == shown
    assert rows("ALL ROWS PER MATCH SHOW EMPTY MATCHES", "b*", "b") == shown
    assert rows("ALL ROWS PER MATCH OMIT EMPTY MATCHES", "b*", "b") == shown[1:3]
    # The row of an empty match is not unmatched.
    assert rows("ALL ROWS PER MATCH WITH UNMATCHED ROWS", "b*", "b") == shown
    assert rows("ALL ROWS PER MATCH WITH UNMATCHED ROWS", "b+", "b") == [
        (1, None, None, None, "a"),
        (2, 1, 1, 2, "b"),
        (3, 1, 2, 2, "b"),
        (4, None, None, None, "a"),
    ]
    assert rows("ONE ROW PER MATCH", "()  | b", "b") == [
        (1, 0, None),
        (2, 0, None),
        (3, 0, None),
        (4, 0, None),
    ]


def test_rows_that_are_excluded_still_count():
    found = answers(
        """ORDER BY n MEASURES COUNT(*) AS k, FINAL LAST(b.n) AS last_b ALL ROWS PER MATCH
        PATTERN (a {- b+ -} c) DEFINE a AS v = 'a', b AS v = 'b', c AS v = 'c'""",
        **numbered("abbc"),
    )
    assert found == [(1, 1, 3, "a"), (4, 4, 3, "c")]


@pytest.mark.parametrize(
    ("skip", "taken"),
    [
        ("PAST LAST ROW", ["1A 2A 3B", "4A 5B"]),
        ("TO NEXT ROW", ["1A 2A 3B", "2A 3B", "4A 5B"]),
        ("TO FIRST b", ["1A 2A 3B", "4A 5B"]),
        ("TO LAST a", ["1A 2A 3B", "2A 3B", "4A 5B"]),
    ],
)
def test_where_the_search_goes_on(skip, taken):
    if skip == "TO LAST a":  # the last a of the second match is its first row
        with pytest.raises(DataError, match="endless loop"):
            mapped("a+ b", "aabab", f"AFTER MATCH SKIP {skip}")
    else:
        assert mapped("a+ b", "aabab", f"AFTER MATCH SKIP {skip}") == taken


def test_skips_that_lead_nowhere():
    with pytest.raises(DataError, match="no row of a match is mapped to c"):
        mapped("a c?", "ab", "AFTER MATCH SKIP TO LAST c")
    with pytest.raises(DataError, match="endless loop"):
        mapped("a b", "ab", "AFTER MATCH SKIP TO FIRST a")


def test_bins_up_to_a_sum():
    """A bin takes rows until the next one would make it more than ten."""
    found = answers(
        """ORDER BY n MEASURES MATCH_NUMBER() AS bin, FIRST(n) AS f, LAST(n) AS l, SUM(size) AS full
        ONE ROW PER MATCH PATTERN (item+) DEFINE item AS SUM(size) <= 10""",
        n=[1, 2, 3, 4, 5, 6],
        size=[4, 6, 3, None, 8, 11],
    )
    # A null adds nothing. Row 6 alone is more than ten: it is in no bin.
    assert found == [(1, 1, 2, 10), (2, 3, 4, 3), (3, 5, 5, 8)]


def test_running_and_final():
    found = answers(
        """ORDER BY n MEASURES RUNNING LAST(b.x) AS r, FINAL LAST(b.x) AS f, FIRST(b.x, 1) AS second,
            PREV(x) AS before, NEXT(x, 2) AS after, FINAL COUNT(b.*) AS bs, PREV(FIRST(b.x), 1) AS early
        ALL ROWS PER MATCH PATTERN (a b+) DEFINE a AS v = 'a', b AS v = 'b'""",
        **numbered("cabbc", x=[10, 20, 30, 40, 50]),
    )
    assert found == [
        (2, None, 40, None, 10, 40, 2, None, "a", 20),
        (3, 30, 40, None, 20, 50, 2, 20, "b", 30),
        (4, 40, 40, 40, 30, None, 2, 20, "b", 40),
    ]


def test_a_union_of_variables():
    """Prices that rise and then fall, and the average of both parts."""
    found = answers(
        """ORDER BY n MEASURES AVG(both.x) AS mean, AVG(up.x) AS rising, CLASSIFIER(both) AS last_one,
            COUNT(DISTINCT both.x) AS different, MAX(down.x) AS most
        ONE ROW PER MATCH PATTERN (base up+ down+) SUBSET both = (up, down)
        DEFINE up AS x > PREV(x), down AS x < PREV(x)""",
        n=[1, 2, 3, 4, 5],
        x=[5, 8, 12, 8, 4],
    )
    assert found == [(8.0, 10.0, "DOWN", 3, 8)]


def test_conditions_on_the_match_so_far():
    """b is above the mean of the a before it; c comes back to the first a."""
    found = answers(
        """ORDER BY n MEASURES FIRST(a.n) AS f, b.n AS at_b, c.n AS at_c ONE ROW PER MATCH
        PATTERN (a+ b c) DEFINE b AS x > AVG(a.x) * 2, c AS c.x = FIRST(a.x)""",
        n=[1, 2, 3, 4, 5, 6],
        x=[2, 4, 3, 7, 2, 9],
    )
    # From row 1: a a a (mean 3), b = 7, c = 2 is the first a.
    assert found == [(1, 4, 5)]


def test_constants_of_different_types_are_different():
    """Half of 3 is 1 for whole numbers and 1.5 for floats, also where one condition has both."""
    found = answers(
        """ORDER BY n MEASURES b.n AS n ONE ROW PER MATCH PATTERN (a b)
        DEFINE b AS FIRST(x) < x DIV 2e0 AND FIRST(x) >= x DIV 2""",
        n=[1, 2],
        x=[1, 3],
    )
    assert found == [(2,)]


def test_a_null_without_a_type():
    """What is always null takes no row, in conditions on one row and on several."""
    columns = {"n": [1, 2], "x": [1, 3], "nothing": [None, None]}
    for condition in ("NULL", "nothing IS NULL AND NULL", "FIRST(x) = nothing", "SUM(x) > nothing"):
        body = f"ORDER BY n MEASURES b.n AS n ONE ROW PER MATCH PATTERN (a b) DEFINE b AS {condition}"
        assert answers(body, **columns) == []
    body = "ORDER BY n MEASURES b.nothing AS m ONE ROW PER MATCH PATTERN (a b) DEFINE b AS {}"
    for condition in ("FIRST(nothing) IS NULL", "COALESCE(nothing, FIRST(x)) = 1"):
        assert answers(body.format(condition), **columns) == [(None,)]


def test_within_is_less_than_its_length():
    """As in Flink: the last row lies less than three seconds behind the first."""
    start = datetime(2024, 1, 1)
    found = answers(
        """ORDER BY t MEASURES FIRST(x) AS f, LAST(x) AS l ONE ROW PER MATCH
        PATTERN (a+ b) WITHIN INTERVAL '3' SECOND DEFINE a AS x < 5, b AS x >= 5""",
        t=[start + timedelta(seconds=one) for one in (0, 1, 3, 4)],
        x=[1, 2, 5, 6],
    )
    assert found == [(2, 5)]  # from 1 to 5 it is three seconds


def test_nulls():
    """A condition that is null takes no row; nulls come last; a null key is a partition of its own."""
    columns = {"k": ["u", None, "u", None, "u"], "n": [2, 1, None, 2, 1], "x": [1, 2, 3, None, 5]}
    body = """PARTITION BY k ORDER BY n {more} MEASURES CLASSIFIER() AS c ALL ROWS PER MATCH
        PATTERN (a | b) DEFINE a AS x > 2, b AS NOT x > 2"""
    assert answers(body.format(more=""), **columns) == [
        ("u", 1, "A", 5),
        ("u", 2, "B", 1),
        ("u", None, "A", 3),
        (None, 1, "B", 2),
    ]
    first = [row[1] for row in answers(body.format(more="DESC NULLS FIRST"), **columns)]
    assert first == [None, 2, 1, 1]


def test_rows_that_tie_keep_their_order():
    found = answers(
        "ORDER BY n MEASURES FIRST(v) AS f, LAST(v) AS l ONE ROW PER MATCH PATTERN (a a)",
        n=[2, 1, 2, 1],
        v=["p", "q", "r", "s"],
    )
    assert found == [("q", "s"), ("p", "r")]


def test_a_variable_without_a_condition_takes_any_row():
    assert mapped("z", "q") == ["1Z"]
    assert mapped("a z* c", "aqxc") == ["1A 2Z 3Z 4C"]


def test_the_reference_gives_up_where_it_is_told_to():
    rows = [{"n": number, "v": "a"} for number in range(20)]
    clause = read_statement(
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n PATTERN ((a*)* b) DEFINE a AS v = 'a', b AS v = 'b')"
    ).clauses[0]
    with pytest.raises(LimitError, match="too many rows"):
        row_pattern_answers(clause, rows, ["n", "v"], 10_000)
