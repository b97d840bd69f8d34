"""One question for each construct of the language, for `bench.growth`.

None has a WITHIN unless the construct is one: a window of a fixed size makes every cost linear in the number
of events, so that only without one is it seen what a construct keeps.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bench.figures import WrongAnswerError

ORDER = "ts"

FEW = 10
"""Keys, where there are few; where there are many, each has ten events."""

CEQL = {
    "sequence": "SELECT * WHERE A ; B ; C",
    "filters": "SELECT * WHERE A AS a ; B AS b FILTER a[v > 50] AND b[v < 50]",
    "OR": "SELECT * WHERE A ; (B OR C)",
    "AND": "SELECT * WHERE (A ; B ; C) AND (A ; (B OR C)+)",
    "ALL": "SELECT * WHERE A ALL B",
    "optional": "SELECT * WHERE A ; B ? ; C",
    "repetition with gaps": "SELECT * WHERE A ; B+ ; C",
    "repetition in a row": "SELECT * WHERE A ; B :+ ; C",
    "repetition counted": "SELECT * WHERE A {3,5}",
    "contiguous": "SELECT * WHERE A : B : C",
    "NOT (type)": "SELECT * WHERE A : NOT (B) : C",
    "window of rows": "SELECT * WHERE A ; B ; C WITHIN 100 EVENTS",
    "window of time": "SELECT * WHERE A ; B ; C WITHIN 100 s",
    "window of an attribute": "SELECT * WHERE A ; B WITHIN 10 [v]",
    "window inside": "SELECT * WHERE (A ; B) WITHIN [<= 100 s] ; C",
    "gap": "SELECT * WHERE A ;[<= 100 s] B",
    "gap of a long time": "SELECT * WHERE A ;[<= 100000 s] B ; C",
    "gap, at least": "SELECT * WHERE A ;[>= 100 s] B",
    "gap in an iteration": "SELECT * WHERE A +[<= 100 s] ; B",
    "UNLESS": "SELECT * WHERE A ; C UNLESS B",
    "FOLLOWED BY": "SELECT * WHERE A FOLLOWED BY B",
    "FOLLOWED BY, an interval": "SELECT * WHERE A FOLLOWED BY [<= 100 s] B",
    "NOT FOLLOWED BY": "SELECT * WHERE A NOT FOLLOWED BY [<= 100 s] B",
    "NOT PRECEDED BY": "SELECT * WHERE A NOT PRECEDED BY [<= 100 s] B",
    "FOLLOWED BY, a key": "SELECT * WHERE A FOLLOWED BY [<= 100 s] B PARTITION BY key",
    "PARTITION BY": "SELECT * WHERE A ; B ; C PARTITION BY key",
    "= of all": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.key = b.key AND b.key = c.key",
    "= of two": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.key = b.key",
    "= of first and last": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.key = c.key",
    "<": "SELECT * WHERE A AS a ; B AS b FILTER a.v < b.v",
    "< of neighbours": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v < b.v AND b.v < c.v",
    "< of first and last": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v < c.v",
    "< twice": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v < b.v AND a.v < c.v",
    "!=": "SELECT * WHERE A AS a ; B AS b FILTER a.host != b.host",
    "!= of many values": "SELECT * WHERE A AS a ; B AS b FILTER a.v != b.v",
    "arithmetic of three": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.v + b.v < c.v",
    "= of a repetition and a later event": "SELECT * WHERE A+ AS a ; B AS b FILTER a.key = b.key",
    "< of a repetition and a later event": "SELECT * WHERE A+ AS a ; B AS b FILTER a.v < b.v",
    "!= of a repetition and a later event": "SELECT * WHERE A+ AS a ; B AS b FILTER a.v != b.v",
    "!= of an earlier event and a repetition": "SELECT * WHERE B AS b ; A+ AS a FILTER a.v != b.v",
    "!= of a repetition in a row": "SELECT * WHERE A :+ AS a ; B AS b FILTER a.v != b.v",
    "arithmetic over a repetition": "SELECT * WHERE A+ AS a ; B AS b ; C AS c FILTER a.v + b.v < c.v",
    "PRIOR": "SELECT * WHERE (A AS a FILTER a.v > PRIOR(a).v)+",
    "PRIOR in a row": "SELECT * WHERE (A AS a FILTER a.v > PRIOR(a).v):+",
    "BEFORE": "SELECT * WHERE (A AS a FILTER a.v >= MAX(BEFORE(a).v))+",
    "COUNT of a repetition": "SELECT * WHERE A+ AS a ; B FILTER COUNT(a) >= 3",
    "MAX of a repetition": "SELECT * WHERE A+ AS a ; B FILTER MAX(a.v) > 90",
    "LAST over FIRST": "SELECT * WHERE A+ AS a FILTER LAST(a.v) > 1.5 * FIRST(a.v)",
    "SUM of a repetition": "SELECT * WHERE A+ AS a ; B FILTER SUM(a.v) > 200",
    "SUM of a repetition alone": "SELECT * WHERE A+ AS a FILTER SUM(a.v) > 200",
    "AVG of a repetition": "SELECT * WHERE A+ AS a ; B FILTER AVG(a.v) > 60",
    "COUNT DISTINCT": "SELECT * WHERE A+ AS a ; B FILTER COUNT(DISTINCT a.host) >= 3",
    "SUM in a row": "SELECT * WHERE A :+ AS a ; B FILTER SUM(a.v) > 200",
    "SUM of three": "SELECT * WHERE A {3} AS a ; B FILTER SUM(a.v) > 200",
    "measure": "SELECT NONE, LAST(b.v) - FIRST(a.v) AS gain WHERE A AS a ; B AS b WITHIN 100 EVENTS",
    "NEXT": "SELECT NEXT * WHERE A ; B ; C",
    "LAST": "SELECT LAST * WHERE A ; B ; C",
    "MAX": "SELECT MAX * WHERE A ; B+ ; C",
    "STRICT": "SELECT STRICT * WHERE A ; B ; C",
    "MAX, a filter between events": "SELECT MAX * WHERE A AS a ; B+ AS b FILTER a.v < b.v",
    "MAX, SUM of a repetition": "SELECT MAX * WHERE A+ AS a FILTER SUM(a.v) > 200",
    "selector inside": "SELECT * WHERE A ; NXT(B ; C)",
    "CONSUME BY ANY": "SELECT * WHERE A ; B ; C CONSUME BY ANY",
    "CONSUME BY PARTITION": "SELECT * WHERE A ; B ; C PARTITION BY key CONSUME BY PARTITION",
    "SUPPRESS": "SELECT * WHERE A ; B SUPPRESS FOR 100 s",
    "LIMIT": "SELECT * WHERE A ; B ; C LIMIT 1",
    "PROJECT": "SELECT * WHERE PROJECT(A AS a ; B ; C | a)",
    "list of SELECT": "SELECT a WHERE A AS a ; B AS b ; C",
    "rule, a key": "Q(x) <- A(key = x), B(key = x)",
    "rule, two of three": "Q(x, y) <- A(key = x), B(key = x, host = y), C(host = y)",
    "rule, <": "Q(x, y) <- A(v = x), B(v = y), x < y",
    "rule, no common attribute": "Q(x, y) <- A(host = x), B(host = y)",
    "rule, a cycle": "Q(x, y, z) <- A(key = x, host = y), B(host = y, size = z), C(size = z, key = x)",
    "rule, COUNT": "Q(x; COUNT(*)) <- A(key = x), B(key = x)",
}  # fmt: skip

SQL = {
    "MATCH_RECOGNIZE": "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(a.v) AS x "
    "PATTERN (a b+ c) DEFINE a AS type = 'A', b AS type = 'B', c AS type = 'C')",
    "MATCH_RECOGNIZE, a key": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY key ORDER BY ts "
    "MEASURES FIRST(s.v) AS x PATTERN (s d+ u+) DEFINE d AS v < PREV(v), u AS v > PREV(v))",
    "MATCH_RECOGNIZE, any rows": "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(a.v) AS x "
    "PATTERN (a x* b) DEFINE a AS type = 'A', b AS type = 'B' AND b.v > 99.9 AND a.v < 1)",
    "MATCH_RECOGNIZE, SKIP TO NEXT ROW": "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES LAST(u.v) "
    "AS x AFTER MATCH SKIP TO NEXT ROW PATTERN (u+) DEFINE u AS v > 0)",
    "MATCH_RECOGNIZE, aggregate": "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n "
    "PATTERN (u+) DEFINE u AS SUM(u.v) < 1000)",
}

DOUBLING = frozenset(
    {
        "!= of a repetition and a later event",
        "arithmetic over a repetition",
        "SUM of a repetition",
        "SUM of a repetition alone",
        "AVG of a repetition",
        "COUNT DISTINCT",
        "MAX, SUM of a repetition",
    }
)
"""Constructs whose partial matches may double with each event; `explain` says so."""

SQUARED = frozenset(
    {
        "< twice",
        "arithmetic of three",
        "< of a repetition and a later event",
        "!= of an earlier event and a repetition",
        "!= of a repetition in a row",
        "BEFORE",
        "LAST over FIRST",
        "SUM of three",
        "MAX, a filter between events",
    }
)
"""Constructs that compare each event with all before it where there is no window; `explain` says so."""

LOOKED_UP = frozenset({"rule, two of three", "rule, a cycle"})
"""Rules that look up events with all partial matches before them; `explain` says so."""

ANSWERED = ("hits", "count", "list")
"""What is asked of a query; a list of at most `LISTED` matches."""

LISTED = 10_000


def events(rows: int, many: bool, dense: bool, seed: int = 7) -> pa.Table:
    """Events one second apart, with a value, a key, a host and a size.

    Parameters
    ----------
    rows : int
    many : bool
        Whether there is a key for each ten events, else ten keys.
    dense : bool
        Whether A, B and C are a quarter of the events each, else one in fifty.
    seed : int
    """
    rng = np.random.default_rng(seed)
    share = 0.25 if dense else 0.02
    kinds = rng.choice(4, rows, p=[share, share, share, 1 - 3 * share]).astype(np.int32)
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(kinds, pa.array(list("ABCD"))),
            ORDER: pa.array(np.arange(rows) * 1000, pa.timestamp("ms")),
            "v": rng.random(rows) * 100,
            "key": rng.integers(0, rows // 10 if many else FEW, rows),
            "host": rng.integers(0, 30, rows),
            "size": rng.integers(0, 30, rows),
        }
    )


def answered(name: str, asked: str, table: pa.Table) -> int:
    """The number of answers.

    Raises
    ------
    WrongAnswerError
        If a list has more than was asked for.
    """
    import cer_gpu as cer

    if name in SQL:
        return len(cer.match_recognize(SQL[name], t=table).to_arrow())
    query = cer.compile(CEQL[name])
    if asked == "hits":
        return len(query.hits(table, order_by=ORDER))
    if asked == "count":
        return query.count(table, order_by=ORDER)
    found = len(query.run(table, order_by=ORDER, limit=LISTED).to_arrow())
    if found > LISTED:
        raise WrongAnswerError(f"{name}: {found} matches of at most {LISTED}")
    return found
