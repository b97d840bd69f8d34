"""The plain questions in SQL, for DuckDB and chdb: several forms of each, of which the fastest counts.

Tables: `events` in the order of time, in chdb `by_user` and `by_symbol` in the order of a key and time too;
`views`, `carts`, `buys`, `fails`, `logins` and `ticks` are the events of one type. `t` is `ts` as a number of
microseconds: both tools compare numbers faster than they compare times with intervals.
"""

from __future__ import annotations

from bench.rivals.plain.words import CHDB, DUCKDB, HOUR, MINUTE, SECOND, Words

Forms = dict[str, tuple[str, ...]]
"""The forms of each question."""

DAY = 24 * HOUR


def statements(engine: str) -> Forms:
    """All statements for an engine.

    Parameters
    ----------
    engine : {"duckdb", "chdb"}
    """
    words = {"duckdb": DUCKDB, "chdb": CHDB}[engine]
    return sequences(words) | neighbours(words) | keyed(words) | joined(words) | windowed(words)


def sequences(w: Words) -> Forms:
    """Steps one after another, and what must not follow."""
    bought = f"SELECT user_id, ts, t, type, {w.seen('view')} AS v FROM {w.of('view', 'cart', 'buy')}"
    bought = f"SELECT *, {w.seen('cart', 'v')} AS c FROM ({bought}) AS a"
    asof = (
        "WITH c AS (SELECT carts.user_id AS user_id, carts.t AS t, views.t AS v FROM carts ASOF JOIN "
        "views ON carts.user_id = views.user_id AND carts.t > views.t) SELECT {what} FROM buys ASOF JOIN "
        "c ON buys.user_id = c.user_id AND buys.t > c.t WHERE buys.t - c.v <= {within}"
    )
    hit = "buys.user_id AS user_id, buys.ts AS time"
    funnel = f"SELECT user_id, ts AS time FROM ({bought}) AS b WHERE type = 'buy' AND t - c <= {6 * HOUR}"
    buyers = f"SELECT DISTINCT user_id FROM ({bought}) AS b WHERE type = 'buy' AND t - c <= {DAY}"
    later = f"SELECT type, t, {w.next('buy')} AS n FROM {w.of('cart', 'buy')}"
    fifth = f"(SELECT user_id, ts, t, {w.lag('t', 4)} AS fifth FROM {w.of('fail')})"
    union = (
        f"SELECT user_id, ts, t, type, fifth FROM (SELECT *, 'fail' AS type FROM {fifth} AS f UNION ALL "
        f"SELECT user_id, ts, t, NULL AS fifth, 'login' AS type FROM {w.of('login')}) AS u"
    )
    past = "max(fifth) OVER (PARTITION BY user_id ORDER BY t ROWS UNBOUNDED PRECEDING)"
    unseen = f"SELECT type, t, {w.seen('view')} AS v FROM {w.of('view', 'login')}"
    plain_near = f"SELECT ts, t, type, {w.seen('view', key=None)} AS v FROM events"
    plain_near += " WHERE type IN ('view', 'cart', 'buy')"
    plain_near = f"SELECT *, {w.seen('cart', 'v', key=None)} AS c FROM ({plain_near}) AS a"
    forms = {
        "funnel": (funnel, asof.format(what=hit, within=6 * HOUR)),
        "buyers": (buyers, asof.format(what="DISTINCT buys.user_id AS user_id", within=DAY)),
        "abandoned": (
            f"SELECT count(*) FROM ({later}) AS a WHERE type = 'cart' AND {w.far('n - t', 2 * HOUR, 'n')}",
            f"SELECT count(*) FROM carts {w.asof_left} buys ON carts.user_id = buys.user_id AND carts.t < "
            f"buys.t WHERE {w.far('buys.t - carts.t', 2 * HOUR, 'buys.t')}",
        ),
        "unseen": (
            f"SELECT count(*) FROM ({unseen}) AS a WHERE type = 'login' AND {w.far('t - v', 2 * HOUR, 'v')}",
            f"SELECT count(*) FROM logins {w.asof_left} views ON logins.user_id = views.user_id AND "
            f"logins.t > views.t WHERE {w.far('logins.t - views.t', 2 * HOUR, 'views.t')}",
        ),
        "failures": (
            f"SELECT user_id, ts AS time FROM (SELECT *, {past} AS first FROM ({union}) AS v) AS x WHERE "
            f"type = 'login' AND t - first <= {DAY}",
            f"SELECT logins.user_id AS user_id, logins.ts AS time FROM logins ASOF JOIN {fifth} AS f ON "
            f"logins.user_id = f.user_id AND logins.t > f.t WHERE logins.t - f.fifth <= {DAY}",
        ),
        "near": (
            f"SELECT ts AS time FROM ({plain_near}) AS b WHERE type = 'buy' AND t - c <= {10 * SECOND}",
            near_asof(w),
            near_cells(w),
        ),
        "return": (
            f"SELECT count(*) FROM logins AS a ASOF JOIN (SELECT user_id, t - {2 * HOUR} AS t FROM logins) "
            f"AS b ON a.user_id = b.user_id AND a.t <= b.t WHERE b.t - a.t <= {4 * HOUR}",
            f"SELECT count(*) FROM (SELECT count(*) {w.over(-2 * HOUR, 6 * HOUR)} AS n FROM "
            f"{w.of('login')}) AS a WHERE n > 0",
        ),
        "first_after": (
            "SELECT logins.ts AS began, buys.ts AS ended FROM logins ASOF JOIN buys ON logins.user_id = "
            f"buys.user_id AND logins.t < buys.t WHERE buys.t - logins.t <= {6 * HOUR}",
            f"SELECT ts AS began, {w.time('n')} AS ended FROM (SELECT ts, t, type, {w.next('buy')} AS n "
            f"FROM {w.of('login', 'buy')}) AS a WHERE type = 'login' AND NOT "
            f"({w.far('n - t', 6 * HOUR, 'n')})",
        ),
        "unless": unless(w),
        "steps": steps(w),
        "either": either(w),
        "both": both(w),
    }
    if w is CHDB:
        kinds = "type = 'view', type = 'cart', type = 'buy'"
        levels = f"SELECT user_id FROM {w.of('view', 'cart', 'buy')} GROUP BY user_id "
        forms["buyers"] += (f"{levels} HAVING windowFunnel({DAY})(toUInt64(t), {kinds}) = 3",)
    else:
        forms["abandoned"] += (
            "SELECT count(*) FROM carts WHERE NOT EXISTS (SELECT 1 FROM buys WHERE buys.user_id = "
            f"carts.user_id AND buys.t > carts.t AND buys.t <= carts.t + {2 * HOUR})",
        )
        forms["return"] += (
            "SELECT count(*) FROM logins AS a WHERE EXISTS (SELECT 1 FROM logins AS b WHERE b.user_id = "
            f"a.user_id AND b.t BETWEEN a.t + {2 * HOUR} AND a.t + {6 * HOUR})",
        )
    return forms


def near_asof(w: Words) -> str:
    """Steps without a key, by as-of joins; chdb wants an equality in them."""
    v, c, b = (f"(SELECT ts, t, 1 AS k FROM {kind}) AS {kind[0]}" for kind in ("views", "carts", "buys"))
    alike = "{a}.k = {b}.k AND " if w is CHDB else ""
    c = (
        f"(SELECT c.t AS t, v.t AS v, 1 AS k FROM {c} ASOF JOIN {v} ON {alike.format(a='c', b='v')}c.t > "
        "v.t) AS c"
    )
    return (
        f"SELECT b.ts AS time FROM {b} ASOF JOIN {c} ON {alike.format(a='b', b='c')}b.t > c.t WHERE b.t - "
        f"c.v <= {10 * SECOND}"
    )


def near_cells(w: Words) -> str:
    """Steps without a key, joined by the cells of time that they lie in."""
    wide = 10 * SECOND
    v = f"SELECT t, {w.cell('t', wide)} AS cell FROM views"
    c = f"SELECT t, {w.cells('t', wide)} FROM {w.spread('carts', 't', wide)}"
    b = f"SELECT ts, t, {w.cells('t', wide)} FROM {w.spread('buys', 't', wide)}"
    return (
        f"SELECT DISTINCT b.ts AS time FROM ({v}) AS v JOIN ({c}) AS c ON c.cell = v.cell JOIN ({b}) AS b "
        f"ON b.cell = v.cell WHERE c.t > v.t AND b.t > c.t AND b.t <= v.t + {wide}"
    )


def unless(w: Words) -> tuple[str, ...]:
    """A view and a login of a user with no buy between."""
    bought = f"{w.number('buy')} OVER (PARTITION BY user_id ORDER BY t ROWS UNBOUNDED PRECEDING)"
    rows = f"SELECT user_id, {w.clock}, type, {bought} AS n FROM {w.of('view', 'login', 'buy')}"
    over = w.over(6 * HOUR, key="user_id, n")
    return (
        f"SELECT sum(k) FROM (SELECT type, {w.number('view')} {over} AS k FROM ({rows}) AS r) AS s WHERE "
        "type = 'login'",
        f"WITH r AS ({rows}) SELECT count(*) FROM r AS v JOIN r AS l ON v.user_id = l.user_id AND v.n = "
        f"l.n WHERE v.type = 'view' AND l.type = 'login' AND l.t > v.t AND l.t <= v.t + {6 * HOUR}",
    )


def steps(w: Words) -> tuple[str, ...]:
    """A view, a cart and a buy of a user, each at most two hours after the one before."""
    before, after = w.over(2 * HOUR), w.over(0, 2 * HOUR)
    wide = 2 * HOUR
    c = f"SELECT user_id, t, {w.cell('t', wide)} AS cell FROM carts"
    v = f"SELECT user_id, t, {w.cells('t', wide, (0, 1))} FROM {w.spread('views', 't', wide, (0, 1))}"
    b = f"SELECT user_id, t, {w.cells('t', wide)} FROM {w.spread('buys', 't', wide)}"
    return (
        f"SELECT sum(v * b) FROM (SELECT type, {w.number('view')} {before} AS v, {w.number('buy')} {after} "
        f"AS b FROM {w.of('view', 'cart', 'buy')}) AS a WHERE type = 'cart'",
        "SELECT count(*) FROM carts JOIN views ON carts.user_id = views.user_id JOIN buys ON "
        f"carts.user_id = buys.user_id WHERE carts.t > views.t AND carts.t <= views.t + {2 * HOUR} AND "
        f"buys.t > carts.t AND buys.t <= carts.t + {2 * HOUR}",
        f"SELECT count(*) FROM ({c}) AS c JOIN ({v}) AS v ON c.user_id = v.user_id AND c.cell = v.cell "
        f"JOIN ({b}) AS b ON c.user_id = b.user_id AND c.cell = b.cell WHERE c.t > v.t AND c.t <= v.t + "
        f"{2 * HOUR} AND b.t > c.t AND b.t <= c.t + {2 * HOUR}",
    )


def either(w: Words) -> tuple[str, ...]:
    """A view or a cart, a login, a buy of a user within a day: by sums over windows, and by joins."""
    rows = w.of("view", "cart", "login", "buy")
    first = w.number("view", "cart")
    upto = "OVER (PARTITION BY user_id ORDER BY t ROWS UNBOUNDED PRECEDING)"
    inside = w.over(DAY)
    counted = f"SELECT user_id, {w.clock}, type, {first} {upto} AS n FROM {rows}"
    sums = (
        f"SELECT type, n, sum(CASE WHEN type = 'login' THEN n ELSE 0 END) {inside} AS total, "
        f"{w.number('login')} {inside} AS k, {first} {inside} AS m FROM ({counted}) AS c"
    )
    return (
        f"SELECT sum(total - k * (n - m)) FROM ({sums}) AS d WHERE type = 'buy'",
        "SELECT count(*) FROM logins JOIN buys ON logins.user_id = buys.user_id JOIN (SELECT user_id, t "
        "FROM events WHERE type IN ('view', 'cart')) AS a ON logins.user_id = a.user_id WHERE logins.t > "
        f"a.t AND buys.t > logins.t AND buys.t <= a.t + {DAY}",
    )


def both(w: Words) -> tuple[str, ...]:
    """A failure and a tick of a user within an hour of each other."""
    over = w.over(HOUR, HOUR)
    return (
        f"SELECT sum(n) FROM (SELECT type, {w.number('tick')} {over} AS n FROM {w.of('fail', 'tick')}) AS "
        "a WHERE type = 'fail'",
        "SELECT count(*) FROM fails JOIN ticks ON fails.user_id = ticks.user_id AND ticks.t BETWEEN "
        f"fails.t - {HOUR} AND fails.t + {HOUR}",
        f"SELECT count(*) FROM (SELECT user_id, t, {w.cell('t', HOUR)} AS cell FROM fails) AS f JOIN "
        f"(SELECT user_id, t, {w.cells('t', HOUR, (-1, 0, 1))} FROM "
        f"{w.spread('ticks', 't', HOUR, (-1, 0, 1))}) AS k ON f.user_id = k.user_id AND f.cell = k.cell "
        f"WHERE k.t BETWEEN f.t - {HOUR} AND f.t + {HOUR}",
    )


def neighbours(w: Words) -> Forms:
    """What lies directly beside an event of its key: gaps, streaks, sessions."""
    by, beside = w.by("user_id"), w.lag
    gaps = f"SELECT ts, {beside('ts')} AS before FROM {by}"
    shifts = ", ".join(f"{beside('price', k, 'symbol')} AS p{k}" for k in (1, 2, 3, 4))
    fails = f"SELECT user_id, ts, type, {beside('type', 1)} AS a, {beside('type', 2)} AS b FROM {by}"
    begun = f"SELECT user_id, ts, t, {w.begins(30 * MINUTE)} AS begins FROM {by}"
    numbered = (
        "SELECT user_id, ts, sum(begins) OVER (PARTITION BY user_id ORDER BY t ROWS UNBOUNDED PRECEDING) "
        f"AS s FROM ({begun}) AS b"
    )
    rows = (
        f"SELECT user_id, ts, t, {beside('t')} AS before, row_number() OVER (PARTITION BY user_id ORDER BY "
        f"t) AS r, count(*) OVER (PARTITION BY user_id) AS m, {w.final('t')} AS last FROM {by}"
    )
    starts = f"SELECT * FROM ({rows}) AS r WHERE r = 1 OR t - before > {30 * MINUTE}"
    ends = (
        f"SELECT ts AS began, {w.time(w.lead('before', 'last'))} AS ended, {w.lead('r', 'm + 1')} - r AS "
        f"events FROM ({starts}) AS s"
    )
    following = f"SELECT user_id, type, t, {beside('type')} AS a, {beside('t')} AS s FROM {by}"
    return {
        "gaps": (
            f"SELECT before AS began, ts AS ended FROM ({gaps}) AS a WHERE {w.micros('before')} > 0 AND "
            f"{w.micros('ts')} - {w.micros('before')} > {6 * HOUR}",
            *w.gap_lists(6 * HOUR),
        ),
        "three_failures": (
            f"SELECT user_id, ts AS time FROM ({fails}) AS a WHERE type = 'fail' AND a = 'fail' AND b = "
            "'fail'",
        ),
        "rising": (
            f"SELECT symbol, ts AS time FROM (SELECT symbol, ts, price, {shifts} FROM {w.by('symbol')}) AS "
            f"a WHERE price > p1 AND p1 > p2 AND p2 > p3 AND p3 > p4 AND {w.known('p4')}",
        ),
        "sessions": (
            f"SELECT min(ts) AS began, max(ts) AS ended, count(*) AS events FROM ({numbered}) AS n GROUP "
            "BY user_id, s",
            ends,
        ),
        "next": (
            f"SELECT count(*) FROM ({following}) AS a WHERE type = 'buy' AND a = 'login' AND t - s <= "
            f"{10 * MINUTE}",
        ),
    }


def keyed(w: Words) -> Forms:
    """First, last and greatest of each key."""
    ranked = (
        "SELECT user_id, price FROM (SELECT user_id, price, row_number() OVER (PARTITION BY user_id ORDER "
        f"BY price DESC) AS r FROM {w.of('buy')}) AS a WHERE r <= 3"
    )
    return {
        "first": (f"SELECT user_id, min(ts) AS time FROM {w.of('buy')} GROUP BY user_id",),
        "last": (f"SELECT user_id, max(ts) AS time FROM {w.of('buy')} GROUP BY user_id",),
        "top": (ranked, *w.greatest("user_id", "price", w.of("buy"))),
    }


def joined(w: Words) -> Forms:
    """Pairs, as-of joins and two tables."""
    pairs = (
        "SELECT v.ts AS viewed, b.ts AS bought FROM {v} AS v JOIN {b} AS b ON v.user_id = b.user_id{cell} "
    )
    pairs += f"WHERE b.t > v.t AND b.t <= v.t + {12 * HOUR}"
    wide = 12 * HOUR
    celled = f"(SELECT user_id, ts, t, {w.cell('t', wide)} AS cell FROM views)"
    spread = f"(SELECT user_id, ts, t, {w.cells('t', wide)} FROM {w.spread('buys', 't', wide)})"
    asof = "buys ASOF JOIN ticks ON buys.symbol = ticks.symbol AND buys.t > ticks.t"
    quoted = (
        f"SELECT ts, type, t, {w.filled('tick', 'price', 'symbol')} AS q FROM "
        f"{w.of('tick', 'buy', key='symbol')}"
    )
    seen = f"SELECT type, t, {w.seen('tick', key='symbol')} AS q FROM {w.of('tick', 'buy', key='symbol')}"
    gain = w.ticks(5 * MINUTE, "a.symbol AS symbol, round(b.price - a.price, 2) AS gain", "true")
    up = "b.price > a.price + 10"
    bought = w.pairs(
        "buy_rows", "tick_rows", MINUTE, "a.ts AS began, a.price AS paid, b.price AS quoted", "true"
    )
    return {
        "pairs": (
            pairs.format(v="views", b="buys", cell=""),
            pairs.format(v=celled, b=spread, cell=" AND v.cell = b.cell"),
        ),
        "rise_pairs": (w.ticks(30 * MINUTE, "count(*)", up), w.listed(30 * MINUTE, "price", "p + 10")),
        "rises": (w.rises(10 * MINUTE),),
        "quotes": (
            f"SELECT buys.ts AS time, ticks.price AS quoted FROM {asof}",
            f"SELECT ts AS time, q AS quoted FROM ({quoted}) AS a WHERE type = 'buy' AND {w.known('q')}",
        ),
        "fresh_quotes": (
            f"SELECT count(*) FROM {asof} WHERE buys.t - ticks.t <= {MINUTE}",
            f"SELECT count(*) FROM ({seen}) AS a WHERE type = 'buy' AND t - q <= {MINUTE}",
        ),
        "two_tables": (
            "SELECT b.user_id AS user_id, b.ts AS time FROM buy_rows AS b ASOF JOIN cart_rows AS c ON "
            f"b.user_id = c.user_id AND b.t > c.t WHERE b.t - c.t <= {HOUR}",
            "SELECT DISTINCT b.user_id AS user_id, b.ts AS time FROM buy_rows AS b JOIN cart_rows AS c ON "
            f"b.user_id = c.user_id WHERE b.t > c.t AND b.t - c.t <= {HOUR}",
            f"SELECT user_id, ts AS time FROM (SELECT user_id, ts, t, type, {w.seen('cart')} AS c FROM "
            "(SELECT user_id, ts, t, type FROM cart_rows UNION ALL SELECT user_id, ts, t, type FROM "
            f"buy_rows) AS r) AS a WHERE type = 'buy' AND t - c <= {HOUR}",
        ),
        "two_tables_pairs": (bought,),
        "top_gains": (
            "SELECT symbol, gain FROM (SELECT *, row_number() OVER (PARTITION BY symbol ORDER BY gain "
            f"DESC) AS r FROM ({gain}) AS g) AS h WHERE r <= 3",
            *w.greatest("symbol", "gain", f"({gain}) AS g"),
        ),
    }


def windowed(w: Words) -> Forms:
    """Rolling extremes, sums and counts."""
    least = f"min(price) {w.over(30 * MINUTE, key='symbol')}"
    most = f"max(price) {w.over(HOUR, key='symbol')}"
    total = f"sum(size) {w.over(10 * MINUTE, key='symbol')}"
    whole = f"min(price) {w.over(10 * SECOND, key=None)}"
    ticks, buys = w.of("tick", key="symbol"), "buy_rows"
    said = (
        "SELECT symbol, ts AS time FROM (SELECT symbol, ts, price, {what} AS m FROM {rows}) AS a WHERE {kept}"
    )
    near = f"SELECT ts AS time FROM (SELECT ts, price, {whole} AS m FROM ticks) AS a WHERE price > m + 15"
    near_cells = w.pairs("ticks", "ticks", 10 * SECOND, "DISTINCT b.ts AS time", "b.price > a.price + 15")
    near_cells = near_cells.replace("a.symbol = b.symbol AND ", "")
    fourth = f"SELECT user_id, ts, t, {w.lag('t', 3)} AS b FROM {w.of('fail')}"
    spread = w.over(10 * SECOND, key="source")
    scans = "SELECT source, min(ts) AS time FROM ({rows}) AS a WHERE n >= 5 GROUP BY source"
    fifth = (
        f"SELECT source, ts, t FROM (SELECT source, ts, t, {w.lag('t', 4, 'source')} AS b FROM events) AS c "
    )
    fifth += f"WHERE {w.known('b')} AND t - b <= {10 * SECOND}"
    few = (
        "SELECT e.source AS source, e.t AS t, e.target AS target FROM events AS e WHERE source IN (SELECT "
        "source FROM f)"
    )
    return {
        "rise": (
            said.format(what=least, rows=ticks, kept="price > m + 10"),
            w.ticks(30 * MINUTE, "DISTINCT b.symbol AS symbol, b.ts AS time", "b.price > a.price + 10"),
        ),
        "fall": (
            said.format(what=most, rows=ticks, kept="price < 0.85 * m"),
            w.ticks(HOUR, "DISTINCT b.symbol AS symbol, b.ts AS time", "b.price < 0.85 * a.price"),
        ),
        "near_rise": (near, near_cells),
        "volume": (said.format(what=total, rows=buys, kept="m > 350").replace("price, ", "size, "),),
        "often": (
            f"SELECT user_id, ts AS time FROM ({fourth}) AS a WHERE {w.known('b')} AND t - b <= {6 * HOUR}",
        ),
        "scans": (
            scans.format(rows=f"SELECT source, ts, count(DISTINCT target) {spread} AS n FROM events"),
            f"WITH f AS ({fifth}), e AS ({few}) SELECT source, min(ts) AS time FROM (SELECT f.source AS "
            "source, f.ts AS ts FROM f JOIN e ON e.source = f.source WHERE e.t <= f.t AND e.t >= f.t - "
            f"{10 * SECOND} GROUP BY f.source, f.ts HAVING count(DISTINCT e.target) >= 5) AS g GROUP BY "
            "source",
        ),
    }
