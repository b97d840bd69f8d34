"""What is asked of trades by MATCH_RECOGNIZE, by window functions and in CEQL; and patterns that are hard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from bench import row_pattern_checks as checks
from bench.row_pattern_checks import FULL, GAP, LARGE
from bench.trades import Trades

STATEMENT = """SELECT * FROM trades MATCH_RECOGNIZE (
PARTITION BY key ORDER BY ts MEASURES {measures} ONE ROW PER MATCH AFTER MATCH SKIP {skip}
PATTERN ({pattern}) DEFINE {define}) AS m"""

WITHIN_GAP = f"ts < PREV(ts) + INTERVAL '{GAP // 1000}' SECOND"
AFTER_GAP = f"ts >= PREV(ts) + INTERVAL '{GAP // 1000}' SECOND"

DOWN = "(trades AS down FILTER down[price < PREV(price)])"
UP = "(trades AS up FILTER up[price > PREV(price)])"
DONE = "(trades AS done FILTER done[price <= PREV(price)])"


@dataclass(frozen=True, slots=True)
class RowPatternQuestion:
    """A question about trades.

    Attributes
    ----------
    name, sql : str
    checked : callable
        A second method: the columns of the answer, in any order of rows.
    flink : bool
        Whether Flink SQL takes the statement.
    duckdb : str or None
        By window functions.
    ceql : mapping of str to str
        By what is asked, `hits` or `run`, a query with as many answers as there are matches. With `run` its
        measures are those of the statement.
    """

    name: str
    sql: str
    checked: Callable[[Trades], list[np.ndarray]]
    flink: bool = True
    duckdb: str | None = None
    ceql: Mapping[str, str] = field(default_factory=dict)


ISLANDS = """WITH steps AS (SELECT key, ts, price, lag(price) OVER keyed AS before,
  sign(price - lag(price) OVER keyed) AS way FROM trades WINDOW keyed AS (PARTITION BY key ORDER BY ts)),
turns AS (SELECT *, CASE WHEN way IS DISTINCT FROM lag(way) OVER keyed THEN 1 ELSE 0 END AS turn
  FROM steps WINDOW keyed AS (PARTITION BY key ORDER BY ts)),
runs AS (SELECT *, sum(turn) OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING) AS run FROM turns),
legs AS (SELECT key, run, any_value(way) AS way, arg_min(before, ts) AS before, arg_max(price, ts) AS price,
  count(*) AS length FROM runs GROUP BY key, run),
"""
"""Runs of rows whose prices go the same way."""

V_ISLANDS = (
    ISLANDS
    + """shapes AS (SELECT key, way, before AS top, price AS low, length AS falls, lead(way) OVER next AS up,
  lead(price) OVER next AS high, lead(way, 2) OVER next AS done
  FROM legs WINDOW next AS (PARTITION BY key ORDER BY run))
SELECT key, top, low, high, falls FROM shapes WHERE way = -1 AND up = 1 AND done IS NOT NULL"""
)

STREAK_ISLANDS = (
    ISLANDS
    + """ended AS (SELECT *, lead(run) OVER (PARTITION BY key ORDER BY run) AS done FROM legs)
SELECT key, before AS low, price AS high, length AS rises FROM ended
WHERE way = 1 AND length >= 3 AND done IS NOT NULL"""
)

SESSION_ISLANDS = f"""WITH gaps AS (SELECT key, ts,
  CASE WHEN ts < lag(ts) OVER (PARTITION BY key ORDER BY ts) + INTERVAL {GAP} MILLISECONDS THEN 0 ELSE 1 END
  AS begins FROM trades),
numbered AS (SELECT key, ts, sum(begins) OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING)
  AS session FROM gaps),
sessions AS (SELECT key, session, min(ts) AS began, max(ts) AS ended, count(*) - 1 AS more
  FROM numbered GROUP BY key, session)
SELECT key, began, CASE WHEN more > 0 THEN ended END AS ended, more FROM sessions"""

QUESTIONS = (
    RowPatternQuestion(
        "V shapes",
        STATEMENT.format(
            measures="s.price AS top, LAST(down.price) AS low, LAST(up.price) AS high, "
            "COUNT(down.price) AS falls",
            skip="TO LAST up",
            pattern="s down+ up+ done",
            define="down AS price < PREV(price), up AS price > PREV(price), done AS price <= PREV(price)",
        ),
        checks.v_shapes,
        duckdb=V_ISLANDS,
        ceql={
            "hits": f"SELECT * FROM trades WHERE trades AS s : {DOWN} :+ : {UP} :+ : {DONE} PARTITION BY key",
            "run": "SELECT MAX NONE, FIRST(s.price) AS top, LAST(down.price) AS low, LAST(up.price) AS high, "
            f"COUNT(down) AS falls FROM trades WHERE trades AS s : {DOWN} :+ : {UP} :+ : {DONE} "
            "PARTITION BY key",
        },
    ),
    RowPatternQuestion(
        "sessions",
        STATEMENT.format(
            measures="a.ts AS began, LAST(b.ts) AS ended, COUNT(b.ts) AS more",
            skip="PAST LAST ROW",
            pattern="a b*",
            define=f"b AS {WITHIN_GAP}",
        ),
        checks.sessions,
        flink=False,
        duckdb=SESSION_ISLANDS,
        ceql={
            "run": "SELECT MAX NONE, FIRST(a.ts) AS began, LAST(a.ts) AS ended, COUNT(a) AS rows FROM trades "
            f"WHERE (trades AS a)+[< {GAP} ms] NOT FOLLOWED BY [< {GAP} ms] trades PARTITION BY key"
        },
    ),
    RowPatternQuestion(
        "sessions that another one follows",
        STATEMENT.format(
            measures="a.ts AS began, LAST(b.ts) AS ended, COUNT(b.ts) AS more",
            skip="TO LAST c",
            pattern="a b* c",
            define=f"b AS {WITHIN_GAP}, c AS {AFTER_GAP}",
        ),
        checks.ended_sessions,
    ),
    RowPatternQuestion(
        "streaks of three and more rises",
        STATEMENT.format(
            measures="s.price AS low, LAST(up.price) AS high, COUNT(up.price) AS rises",
            skip="TO LAST up",
            pattern="s up{3,} done",
            define="up AS price > PREV(price), done AS price <= PREV(price)",
        ),
        checks.streaks,
        duckdb=STREAK_ISLANDS,
        ceql={
            "hits": f"SELECT * FROM trades WHERE trades AS s : {UP} :{{3,}} : {DONE} PARTITION BY key",
            "run": "SELECT MAX NONE, FIRST(s.price) AS low, LAST(up.price) AS high, COUNT(up) AS rises "
            f"FROM trades WHERE trades AS s : {UP} :{{3,}} : {DONE} PARTITION BY key",
        },
    ),
    RowPatternQuestion(
        "bins up to a sum",
        STATEMENT.format(
            measures="FIRST(b.ts) AS began, SUM(b.volume) AS total, COUNT(b.volume) AS amount",
            skip="TO LAST c",
            pattern="b+ c",
            define=f"b AS SUM(b.volume) <= {FULL}, c AS SUM(b.volume) + c.volume > {FULL}",
        ),
        checks.bins,
    ),
    RowPatternQuestion(
        "optional steps",
        STATEMENT.format(
            measures="big.ts AS began, dip.price AS dip, level.price AS level, rise.price AS rise",
            skip="PAST LAST ROW",
            pattern="big dip? level? rise",
            # Of rows that could be several steps, Flink does not take the first one.
            define=f"big AS volume > {LARGE}, dip AS price < PREV(price), level AS price = PREV(price), "
            "rise AS price > PREV(price)",
        ),
        checks.optional_steps,
    ),
)


@dataclass(frozen=True, slots=True)
class HardPattern:
    """A pattern that has exponentially many ways to match some rows.

    Attributes
    ----------
    pattern : str
        Of the variables a, b and c, each of which takes the rows of its letter.
    title : str
        What the rows are.
    letters : str
        The letters of the rows, again and again.
    last : str
        The letter of the last row.
    matches : callable
        The number of matches and of the rows in them, by the number of rows.
    skip : str
        Where the search goes on behind a match.
    """

    pattern: str
    title: str
    letters: str
    last: str
    matches: Callable[[int], tuple[int, int]]
    skip: str = "PAST LAST ROW"

    @property
    def name(self) -> str:
        """The pattern and its rows."""
        skip = "" if self.skip == "PAST LAST ROW" else f", SKIP {self.skip}"
        return f"PATTERN ({self.pattern}){skip}, {self.title}"

    @property
    def sql(self) -> str:
        """The statement: the number of rows of each match."""
        variables = [one for one in "abc" if one in self.pattern]
        defined = ", ".join(f"{one} AS letter = '{one}'" for one in variables)
        return (
            "SELECT * FROM given MATCH_RECOGNIZE (ORDER BY place MEASURES COUNT(*) AS amount ONE ROW PER "
            f"MATCH AFTER MATCH SKIP {self.skip} PATTERN ({self.pattern}) DEFINE {defined}) AS m"
        )

    def rows(self, count: int) -> pa.Table:
        """`count` rows with their letters."""
        letters = (self.letters * (count // len(self.letters) + 1))[: count - 1] + self.last
        codes = np.frombuffer(letters.encode(), np.uint8) - ord("a")
        texts = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(list("abc")))
        return pa.table({"place": np.arange(count), "letter": texts})


def _sixties(count: int) -> tuple[int, int]:
    """Of `count` rows of one letter each match takes 60, and the last 30 to 59 if there are as many."""
    left = count % 60 if count % 60 >= 30 else 0
    return count // 60 + bool(left), count // 60 * 60 + left


HARD = (
    HardPattern("(a | a b)* c", "one match", "ab", "c", lambda count: (1, count)),
    HardPattern("(a | a b)* c", "no match", "ab", "b", lambda count: (0, 0)),
    HardPattern("(a?){30} a{30}", "rows of a alone", "a", "a", _sixties),
    HardPattern("(a?){30} a{30}", "a b after 29 of a", "a" * 29 + "b", "b", lambda count: (0, 0)),
    HardPattern("((a*)* b?)* c", "one match", "aab", "c", lambda count: (1, count)),
    HardPattern("((a*)* b?)* c", "no match", "aab", "b", lambda count: (0, 0)),
    HardPattern("a+", "all to the end", "a", "a", lambda n: (n, n * (n + 1) // 2), "TO NEXT ROW"),
)
