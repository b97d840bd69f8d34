"""More of the plain questions in Polars: neighbours, keys, joins and rolling windows."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
from polars import col

from bench.rivals.plain.polars_forms import (
    COUNT,
    HOUR,
    MINUTE,
    SECOND,
    Form,
    Frames,
    asof,
    at,
    both_joined,
    both_ranked,
    carried,
    is_,
    steps_joined,
    steps_ranked,
)


def _sorted(e: Frames, key: str, *columns: str) -> pl.LazyFrame:
    return e["events"].select(key, *columns).sort(key, maintain_order=True)


def _same(key: str, distance: int = 1) -> pl.Expr:
    return col(key).shift(distance) == col(key)


# Neighbours.


def gaps_over(e: Frames) -> pl.LazyFrame:
    """A shift inside each key."""
    rows = e["events"].select(began=col("ts").shift(1).over("user_id"), ended="ts")
    return rows.filter(col("ended") - col("began") > 6 * HOUR)


def gaps_sorted(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = _sorted(e, "user_id", "ts")
    rows = rows.select(began=col("ts").shift(1), ended="ts", same=_same("user_id"))
    return rows.filter(col("same") & (col("ended") - col("began") > 6 * HOUR)).select("began", "ended")


def three_failures_over(e: Frames) -> pl.LazyFrame:
    """Shifts inside each key."""
    kept = is_("fail") & (col("type").shift(1).over("user_id") == "fail")
    kept &= col("type").shift(2).over("user_id") == "fail"
    return e["events"].filter(kept).select("user_id", time="ts")


def three_failures_sorted(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = _sorted(e, "user_id", "ts", "type")
    kept = (
        is_("fail")
        & (col("type").shift(1) == "fail")
        & (col("type").shift(2) == "fail")
        & _same("user_id", 2)
    )
    return rows.filter(kept).select("user_id", time="ts")


def rising_over(e: Frames) -> pl.LazyFrame:
    """Shifts inside each key."""
    prices = [col("price"), *(col("price").shift(k).over("symbol") for k in (1, 2, 3, 4))]
    kept = pl.all_horizontal(a > b for a, b in pairwise(prices))
    return e["events"].filter(kept).select("symbol", time="ts")


def rising_sorted(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = _sorted(e, "symbol", "ts", "price").with_columns(up=col("price") > col("price").shift(1))
    kept = pl.all_horizontal(col("up").shift(k) for k in (0, 1, 2, 3)) & _same("symbol", 4)
    return rows.filter(kept).select("symbol", time="ts")


def sessions_grouped(e: Frames) -> pl.LazyFrame:
    """One sort by key; sessions are numbered and grouped."""
    rows = _sorted(e, "user_id", "ts")
    begins = ~(_same("user_id") & (col("ts") - col("ts").shift(1) <= 30 * MINUTE)).fill_null(False)
    rows = rows.select("ts", s=begins.cum_sum())
    groups = rows.group_by("s").agg(began=col("ts").min(), ended=col("ts").max(), events=pl.len())
    return groups.drop("s")


def sessions_bounds(e: Frames) -> pl.LazyFrame:
    """One sort by key; only the rows where a session begins are kept, and each ends before the next."""
    rows = _sorted(e, "user_id", "ts").with_row_index("row")
    begins = ~(_same("user_id") & (col("ts") - col("ts").shift(1) <= 30 * MINUTE)).fill_null(False)
    rows = rows.select(
        "row", "ts", before=col("ts").shift(1), last=col("ts").last(), n=pl.len(), begins=begins
    )
    rows = rows.filter("begins")
    return rows.select(
        began="ts",
        ended=col("before").shift(-1).fill_null(col("last")),
        events=col("row").shift(-1).fill_null(col("n")) - col("row"),
    )


def next_over(e: Frames) -> pl.LazyFrame:
    """Shifts inside each key."""
    kept = is_("buy") & (col("type").shift(1).over("user_id") == "login")
    kept &= col("ts") - col("ts").shift(1).over("user_id") <= 10 * MINUTE
    return e["events"].filter(kept).select(COUNT)


def next_sorted(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = _sorted(e, "user_id", "ts", "type")
    kept = is_("buy") & (col("type").shift(1) == "login") & _same("user_id")
    return rows.filter(kept & (col("ts") - col("ts").shift(1) <= 10 * MINUTE)).select(COUNT)


# First, last and greatest of each key.


def first_grouped(e: Frames) -> pl.LazyFrame:
    """Grouped by key."""
    return e["buy"].group_by("user_id").agg(time=col("ts").min())


def first_unique(e: Frames) -> pl.LazyFrame:
    """The first row of each key."""
    return e["buy"].select("user_id", time="ts").unique("user_id", keep="first")


def last_grouped(e: Frames) -> pl.LazyFrame:
    """Grouped by key."""
    return e["buy"].group_by("user_id").agg(time=col("ts").max())


def last_unique(e: Frames) -> pl.LazyFrame:
    """The last row of each key."""
    return e["buy"].select("user_id", time="ts").unique("user_id", keep="last")


def top_grouped(e: Frames) -> pl.LazyFrame:
    """Grouped by key."""
    return e["buy"].group_by("user_id").agg(col("price").top_k(3)).explode("price")


def top_sorted(e: Frames) -> pl.LazyFrame:
    """Sorted by key and price."""
    rows = e["buy"].select("user_id", "price").sort("user_id", "price", descending=[False, True])
    return rows.filter(~_same("user_id", 3).fill_null(False))


# Pairs, as-of joins and two tables.


def pairs_joined(e: Frames) -> pl.LazyFrame:
    """All pairs of a user, filtered."""
    found = (
        e["view"].select("user_id", viewed="ts").join(e["buy"].select("user_id", bought="ts"), on="user_id")
    )
    apart = col("bought") - col("viewed")
    return found.filter((apart > 0 * HOUR) & (apart <= 12 * HOUR)).select("viewed", "bought")


def _cells(frame: pl.LazyFrame, wide: pl.Expr, *columns: str) -> pl.LazyFrame:
    rows = frame.select(*columns, "ts", cell=col("ts").to_physical() // wide)
    return pl.concat([rows, rows.with_columns(col("cell") - 1)])


def _pairs(first: pl.LazyFrame, second: pl.LazyFrame, wide: object, key: str, *columns: str) -> pl.LazyFrame:
    micros = pl.lit(int(wide.total_seconds() * 1e6), pl.Int64)  # type: ignore[attr-defined]
    left = first.select(key, *columns, "ts", cell=col("ts").to_physical() // micros)
    found = left.join(_cells(second, micros, key, *columns), on=[key, "cell"], suffix="_b")
    apart = col("ts_b") - col("ts")
    return found.filter((apart > 0 * HOUR) & (apart <= wide))


def pairs_celled(e: Frames) -> pl.LazyFrame:
    """Joined by cells of time."""
    return _pairs(e["view"], e["buy"], 12 * HOUR, "user_id").select(viewed="ts", bought="ts_b")


def rise_pairs(e: Frames) -> pl.LazyFrame:
    """Joined by cells of time."""
    found = _pairs(e["tick"], e["tick"], 30 * MINUTE, "symbol", "price")
    return found.filter(col("price_b") > col("price") + 10).select(COUNT)


def rise_pairs_rolled(e: Frames) -> pl.LazyFrame:
    """A rolling group for each row."""
    rows = (
        e["tick"]
        .select("symbol", "ts", "price")
        .rolling("ts", period="30m", group_by="symbol", closed="both")
    )
    counted = (col("price").last() > col("price") + 10).sum()
    return rows.agg(n=counted).select(col("n").sum().alias("count"))


def rises_celled(e: Frames) -> pl.LazyFrame:
    """Pairs joined by cells of time, then joined again."""
    wide = 10 * MINUTE
    micros = pl.lit(int(wide.total_seconds() * 1e6), pl.Int64)
    a = e["tick"].select("symbol", "price", "ts", cell=col("ts").to_physical() // micros)
    b = _cells(e["tick"], micros, "symbol", "price")
    two = a.join(b, on=["symbol", "cell"], suffix="_b")
    apart = col("ts_b") - col("ts")
    two = two.filter((apart > 0 * HOUR) & (apart <= wide) & (col("price_b") > col("price")))
    three = two.join(b, on=["symbol", "cell"], suffix="_c")
    kept = (col("ts_c") > col("ts_b")) & (col("ts_c") - col("ts") <= wide) & (col("price_c") > col("price_b"))
    return three.filter(kept).select(COUNT)


def quotes_asof(e: Frames) -> pl.LazyFrame:
    """An as-of join."""
    found = asof(e["buy"].select("symbol", "ts"), at(e["tick"], "symbol", "price"), "symbol")
    return found.filter(col("price").is_not_null()).select(time="ts", quoted="price")


def quotes_filled(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = e["events"].filter(col("type").is_in(["tick", "buy"])).select("symbol", "ts", "type", "price")
    rows = rows.sort("symbol", maintain_order=True).with_columns(
        q=carried(is_("tick"), col("price"), "symbol")
    )
    return rows.filter(is_("buy") & col("q").is_not_null()).select(time="ts", quoted="q")


def fresh_quotes_asof(e: Frames) -> pl.LazyFrame:
    """An as-of join."""
    ticks = at(e["tick"], "symbol").with_columns(q=col("at"))
    found = asof(e["buy"].select("symbol", "ts"), ticks, "symbol")
    return found.filter(col("ts") - col("q") <= MINUTE).select(COUNT)


def fresh_quotes_filled(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = e["events"].filter(col("type").is_in(["tick", "buy"])).select("symbol", "ts", "type")
    rows = rows.sort("symbol", maintain_order=True).with_columns(q=carried(is_("tick"), col("ts"), "symbol"))
    return rows.filter(is_("buy") & (col("ts") - col("q") <= MINUTE)).select(COUNT)


def two_tables_asof(e: Frames) -> pl.LazyFrame:
    """An as-of join."""
    carts = at(e["cart rows"], "user_id").with_columns(c=col("at"))
    found = asof(e["buy rows"].select("user_id", "ts"), carts)
    return found.filter(col("ts") - col("c") <= HOUR).select("user_id", time="ts")


def two_tables_filled(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = pl.concat([e[f"{kind} rows"].select("user_id", "ts", "type") for kind in ("cart", "buy")])
    rows = rows.sort("user_id", "ts").with_columns(c=carried(is_("cart"), col("ts")))
    return rows.filter(is_("buy") & (col("ts") - col("c") <= HOUR)).select("user_id", time="ts")


def two_tables_pairs(e: Frames) -> pl.LazyFrame:
    """Joined by cells of time."""
    found = _pairs(e["buy rows"], e["tick rows"], MINUTE, "symbol", "price")
    return found.select(began="ts", paid="price", quoted="price_b")


def _gains(e: Frames) -> pl.LazyFrame:
    found = _pairs(e["tick"], e["tick"], 5 * MINUTE, "symbol", "price")
    return found.select("symbol", gain=(col("price_b") - col("price")).round(2))


def top_gains_grouped(e: Frames) -> pl.LazyFrame:
    """Pairs joined by cells of time, then grouped by key."""
    return _gains(e).group_by("symbol").agg(col("gain").top_k(3)).explode("gain")


def both_celled(e: Frames) -> pl.LazyFrame:
    """Joined by cells of time, in both orders."""
    found = [
        _pairs(e[a], e[b], HOUR, "user_id").select(COUNT) for a, b in (("fail", "tick"), ("tick", "fail"))
    ]
    return pl.concat(found).select(col("count").sum())


def steps_celled(e: Frames) -> pl.LazyFrame:
    """Joined by cells of time, view to cart and cart to buy, and the numbers of both multiplied."""
    before = _pairs(e["view"], e["cart"], 2 * HOUR, "user_id").group_by("user_id", "ts_b").agg(v=pl.len())
    after = _pairs(e["cart"], e["buy"], 2 * HOUR, "user_id").group_by("user_id", "ts").agg(b=pl.len())
    found = before.join(after, left_on=["user_id", "ts_b"], right_on=["user_id", "ts"])
    return found.select((col("v") * col("b")).sum().alias("count"))


# Rolling windows.


def _rolled(e: Frames, kind: str, fold: str, value: str, wide: str) -> pl.LazyFrame:
    rows = e[kind].select("symbol", "ts", value)
    rolled = getattr(col(value), f"rolling_{fold}_by")("ts", wide, closed="both").over("symbol")
    return rows.with_columns(m=rolled)


def _grouped(e: Frames, kind: str, fold: str, value: str, wide: str) -> pl.LazyFrame:
    rows = e[kind].select("symbol", "ts", value).rolling("ts", period=wide, group_by="symbol", closed="both")
    return rows.agg(getattr(col(value), fold)().alias("m"), col(value).last())


def _asked(kept: pl.Expr, *of_rolling: object) -> tuple[Form, ...]:
    def over(e: Frames) -> pl.LazyFrame:
        return _rolled(e, *of_rolling).filter(kept).select("symbol", time="ts")  # type: ignore[arg-type]

    def grouped(e: Frames) -> pl.LazyFrame:
        return _grouped(e, *of_rolling).filter(kept).select("symbol", time="ts")  # type: ignore[arg-type]

    return over, grouped


def near_rise(e: Frames) -> pl.LazyFrame:
    """A rolling minimum without a key."""
    rows = e["tick"].with_columns(m=col("price").rolling_min_by("ts", "10s", closed="both"))
    return rows.filter(col("price") > col("m") + 15).select(time="ts")


def often_over(e: Frames) -> pl.LazyFrame:
    """A shift inside each key."""
    rows = e["fail"].select("user_id", "ts", b=col("ts").shift(3).over("user_id"))
    return rows.filter(col("ts") - col("b") <= 6 * HOUR).select("user_id", time="ts")


def often_sorted(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = e["fail"].select("user_id", "ts").sort("user_id", maintain_order=True)
    kept = _same("user_id", 3) & (col("ts") - col("ts").shift(3) <= 6 * HOUR)
    return rows.filter(kept).select("user_id", time="ts")


def scans_joined(e: Frames) -> pl.LazyFrame:
    """Events with four more of their source in the ten seconds before, joined to these."""
    rows = _sorted(e, "source", "ts", "target")
    five = _same("source", 4) & (col("ts") - col("ts").shift(4) <= 10 * SECOND)
    ends = rows.filter(five).select("source", "ts")
    found = ends.join(rows.rename({"ts": "at"}), on="source")
    found = found.filter((col("at") <= col("ts")) & (col("ts") - col("at") <= 10 * SECOND))
    found = found.group_by("source", "ts").agg(n=col("target").n_unique()).filter(col("n") >= 5)
    return found.group_by("source").agg(time=col("ts").min())


def scans_rolled(e: Frames) -> pl.LazyFrame:
    """A rolling group for each row."""
    rows = (
        e["events"]
        .select("source", "ts", "target")
        .rolling("ts", period="10s", group_by="source", closed="both")
    )
    found = rows.agg(n=col("target").n_unique()).filter(col("n") >= 5)
    return found.group_by("source").agg(time=col("ts").min())


FORMS: dict[str, tuple[Form, ...]] = {
    "gaps": (gaps_over, gaps_sorted),
    "three_failures": (three_failures_over, three_failures_sorted),
    "rising": (rising_over, rising_sorted),
    "sessions": (sessions_grouped, sessions_bounds),
    "next": (next_over, next_sorted),
    "first": (first_grouped, first_unique),
    "last": (last_grouped, last_unique),
    "top": (top_grouped, top_sorted),
    "pairs": (pairs_joined, pairs_celled),
    "rise_pairs": (rise_pairs, rise_pairs_rolled),
    "rises": (rises_celled,),
    "quotes": (quotes_asof, quotes_filled),
    "fresh_quotes": (fresh_quotes_asof, fresh_quotes_filled),
    "two_tables": (two_tables_asof, two_tables_filled),
    "two_tables_pairs": (two_tables_pairs,),
    "top_gains": (top_gains_grouped,),
    "both": (both_joined, both_ranked, both_celled),
    "steps": (steps_joined, steps_ranked, steps_celled),
    "rise": _asked(col("price") > col("m") + 10, "tick", "min", "price", "30m"),
    "fall": _asked(col("price") < 0.85 * col("m"), "tick", "max", "price", "1h"),
    "volume": _asked(col("m") > 350, "buy rows", "sum", "size", "10m"),
    "near_rise": (near_rise,),
    "often": (often_over, often_sorted),
    "scans": (scans_joined, scans_rolled),
}
