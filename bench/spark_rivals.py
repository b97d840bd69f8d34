"""Three steps counted by Spark SQL, with self-joins and with window functions.

The times are whole microseconds, `{w}` is the window, `{kept}` the percentage that the filters keep.
"""

from __future__ import annotations

SPLIT = """
WITH s AS (SELECT type, key, unix_micros(time) AS ts FROM events
  WHERE (type = 'A' AND price > 100 - {kept}) OR (type = 'B' AND price < {kept})
     OR (type = 'C' AND price > 100 - {kept})),
a AS (SELECT key, ts FROM s WHERE type = 'A'), b AS (SELECT key, ts FROM s WHERE type = 'B'),
c AS (SELECT key, ts FROM s WHERE type = 'C')
"""
JOIN = (
    SPLIT
    + """
SELECT count(*) FROM a JOIN b ON a.key = b.key AND b.ts > a.ts AND b.ts <= a.ts + {w}
JOIN c ON c.key = b.key AND c.ts > b.ts AND c.ts <= a.ts + {w}
"""
)
# Buckets as wide as the window: what a window from `a` holds is in a's bucket or in the next.
BUCKETS = (
    SPLIT
    + """,
x AS (SELECT key, ts, explode(array(ts div {w}, ts div {w} + 1)) AS bucket FROM a),
ab AS (SELECT x.key, x.ts AS first, b.ts AS ts FROM x JOIN b
  ON x.key = b.key AND x.bucket = b.ts div {w} AND b.ts > x.ts AND b.ts <= x.ts + {w}),
y AS (SELECT key, first, ts, explode(array(first div {w}, first div {w} + 1)) AS bucket FROM ab)
SELECT count(*) FROM y JOIN c
  ON y.key = c.key AND y.bucket = c.ts div {w} AND c.ts > y.ts AND c.ts <= y.first + {w}
"""
)
# No self-join: prefix sums by window functions, a formula for this one pattern.
WINDOWS = (
    SPLIT
    + """,
t AS (SELECT key, ts, type, CASE type WHEN 'A' THEN 1L ELSE 0L END AS is_a,
  CASE type WHEN 'B' THEN 1L ELSE 0L END AS is_b,
  sum(CASE type WHEN 'A' THEN 1L ELSE 0L END)
    OVER (PARTITION BY key ORDER BY ts ROWS UNBOUNDED PRECEDING) AS earlier FROM s),
u AS (SELECT type, earlier - sum(is_a) OVER r AS low, sum(is_b * earlier) OVER r AS s, sum(is_b) OVER r AS n
  FROM t WINDOW r AS (PARTITION BY key ORDER BY ts RANGE BETWEEN {w} PRECEDING AND CURRENT ROW))
SELECT sum(s - n * low) FROM u WHERE type = 'C'
"""
)

FORMS = {"self-join": JOIN, "self-join in buckets": BUCKETS, "window functions": WINDOWS}
