"""The plain questions in Polars: several forms of each, of which the fastest counts.

A form takes the frames, `events` and one for each type, in the order of time, and gives a lazy frame. Each is
collected by both engines of Polars. A frame of several steps is sorted by key once (the sort keeps the order
of time), and values are carried forward over all rows, together with the key that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import polars as pl
from polars import col

Frames = Mapping[str, pl.LazyFrame]
Form = Callable[[Frames], pl.LazyFrame]

SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=one) for one in (1, 60, 3600, 86400))

COUNT = pl.len().alias("count")


def of(e: Frames, *types: str) -> pl.LazyFrame:
    """The events of some types, by user and time."""
    return e["events"].filter(col("type").is_in(types)).sort("user_id", maintain_order=True)


def carried(when: pl.Expr, value: pl.Expr, key: str = "user_id") -> pl.Expr:
    """The value of the last row that meets a condition, if it has the key of this row."""
    found = pl.when(when).then(value).forward_fill()
    return pl.when(pl.when(when).then(col(key)).forward_fill() == col(key)).then(found)


def is_(kind: str) -> pl.Expr:
    """Whether an event has a type."""
    return col("type") == kind


def asof(
    left: pl.LazyFrame, right: pl.LazyFrame, by: str | None = "user_id", forward: bool = False
) -> pl.LazyFrame:
    """Each row of the left with the nearest row of the right before it, or after it."""
    return left.join_asof(
        right,
        left_on="ts",
        right_on="at",
        by=by,
        strategy="forward" if forward else "backward",
        allow_exact_matches=False,
        check_sortedness=False,
    )


def at(frame: pl.LazyFrame, *others: str) -> pl.LazyFrame:
    """The right side of `asof`."""
    return frame.select(col("ts").alias("at"), *others)


# Steps one after another.


def _carted(e: Frames) -> pl.LazyFrame:
    carts = asof(e["cart"].select("user_id", "ts"), at(e["view"], "user_id").with_columns(v=col("at")))
    carts = carts.filter(col("v").is_not_null())
    return asof(e["buy"].select("user_id", "ts"), carts.select("user_id", "v", at=col("ts")))


def _filled(e: Frames) -> pl.LazyFrame:
    rows = of(e, "view", "cart", "buy").select("user_id", "ts", "type")
    rows = rows.with_columns(v=carried(is_("view"), col("ts")))
    return rows.with_columns(c=carried(is_("cart") & col("v").is_not_null(), col("v"))).filter(is_("buy"))


def funnel_asof(e: Frames) -> pl.LazyFrame:
    """Two as-of joins."""
    return _carted(e).filter(col("ts") - col("v") <= 6 * HOUR).select("user_id", time=col("ts"))


def funnel_filled(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    return _filled(e).filter(col("ts") - col("c") <= 6 * HOUR).select("user_id", time=col("ts"))


def buyers_asof(e: Frames) -> pl.LazyFrame:
    """As `funnel_asof`."""
    return _carted(e).filter(col("ts") - col("v") <= DAY).select(col("user_id").unique())


def buyers_filled(e: Frames) -> pl.LazyFrame:
    """As `funnel_filled`."""
    return _filled(e).filter(col("ts") - col("c") <= DAY).select(col("user_id").unique())


def abandoned_asof(e: Frames) -> pl.LazyFrame:
    """An as-of join forward."""
    found = asof(
        e["cart"].select("user_id", "ts"), at(e["buy"], "user_id").with_columns(n=col("at")), forward=True
    )
    return found.filter(col("n").is_null() | (col("n") - col("ts") > 2 * HOUR)).select(COUNT)


def abandoned_filled(e: Frames) -> pl.LazyFrame:
    """One sort by key, from the end."""
    rows = of(e, "cart", "buy").select("user_id", "ts", "type").reverse()
    rows = rows.with_columns(n=carried(is_("buy"), col("ts"))).filter(is_("cart"))
    return rows.filter(col("n").is_null() | (col("n") - col("ts") > 2 * HOUR)).select(COUNT)


def unseen_asof(e: Frames) -> pl.LazyFrame:
    """An as-of join."""
    found = asof(e["login"].select("user_id", "ts"), at(e["view"], "user_id").with_columns(n=col("at")))
    return found.filter(col("n").is_null() | (col("ts") - col("n") > 2 * HOUR)).select(COUNT)


def unseen_filled(e: Frames) -> pl.LazyFrame:
    """One sort by key."""
    rows = of(e, "view", "login").select("user_id", "ts", "type")
    rows = rows.with_columns(n=carried(is_("view"), col("ts"))).filter(is_("login"))
    return rows.filter(col("n").is_null() | (col("ts") - col("n") > 2 * HOUR)).select(COUNT)


def failures_asof(e: Frames) -> pl.LazyFrame:
    """A shift inside each key, then an as-of join."""
    fails = e["fail"].select("user_id", "ts", f=col("ts").shift(4).over("user_id"))
    found = asof(e["login"].select("user_id", "ts"), fails.select("user_id", "f", at=col("ts")))
    return found.filter(col("ts") - col("f") <= DAY).select("user_id", time=col("ts"))


def failures_filled(e: Frames) -> pl.LazyFrame:
    """One sort by key; the fifth failure back is a shift of the failures alone."""
    rows = of(e, "fail", "login").select("user_id", "ts", "type").with_row_index("row")
    fails = rows.filter(is_("fail"))
    fails = fails.with_columns(f=pl.when(col("user_id").shift(4) == col("user_id")).then(col("ts").shift(4)))
    found = rows.filter(is_("login")).join_asof(
        fails.select("row", "f", fu=col("user_id")), on="row", strategy="backward"
    )
    kept = (col("fu") == col("user_id")) & (col("ts") - col("f") <= DAY)
    return found.filter(kept).select("user_id", time=col("ts"))


def near_filled(e: Frames) -> pl.LazyFrame:
    """Values carried forward, without a key."""
    rows = e["events"].filter(col("type").is_in(["view", "cart", "buy"])).select("ts", "type")
    rows = rows.with_columns(v=pl.when(is_("view")).then(col("ts")).forward_fill())
    rows = rows.with_columns(c=pl.when(is_("cart")).then(col("v")).forward_fill())
    return rows.filter(is_("buy") & (col("ts") - col("c") <= 10 * SECOND)).select(time=col("ts"))


def near_asof(e: Frames) -> pl.LazyFrame:
    """Two as-of joins without a key."""
    carts = asof(e["cart"].select("ts"), at(e["view"]).with_columns(v=col("at")), None)
    carts = carts.filter(col("v").is_not_null())
    found = asof(e["buy"].select("ts"), carts.select("v", at=col("ts")), None)
    return found.filter(col("ts") - col("v") <= 10 * SECOND).select(time=col("ts"))


def return_asof(e: Frames) -> pl.LazyFrame:
    """The first log-in two hours later, by an as-of join."""
    logins = e["login"].select("user_id", ts=col("ts") + 2 * HOUR)
    found = logins.join_asof(
        e["login"].select("user_id", at=col("ts"), n=col("ts")),
        left_on="ts",
        right_on="at",
        by="user_id",
        strategy="forward",
        check_sortedness=False,
    )
    return found.filter(col("n") - col("ts") <= 4 * HOUR).select(COUNT)


def return_joined(e: Frames) -> pl.LazyFrame:
    """All pairs of a user, filtered."""
    logins = e["login"].select("user_id", "ts")
    found = logins.join(logins.rename({"ts": "n"}), on="user_id")
    found = found.filter((col("n") - col("ts")).is_between(2 * HOUR, 6 * HOUR))
    return found.select(pl.struct("user_id", "ts").n_unique().alias("count"))


def first_after_asof(e: Frames) -> pl.LazyFrame:
    """An as-of join forward."""
    found = asof(
        e["login"].select("user_id", "ts"), at(e["buy"], "user_id").with_columns(n=col("at")), forward=True
    )
    return found.filter(col("n") - col("ts") <= 6 * HOUR).select(began="ts", ended="n")


def first_after_filled(e: Frames) -> pl.LazyFrame:
    """One sort by key, from the end."""
    rows = of(e, "login", "buy").select("user_id", "ts", "type").reverse()
    rows = rows.with_columns(n=carried(is_("buy"), col("ts"))).filter(is_("login"))
    return rows.filter(col("n") - col("ts") <= 6 * HOUR).select(began="ts", ended="n")


def unless_joined(e: Frames) -> pl.LazyFrame:
    """The buys so far are numbered, and a log-in joined to the views since."""
    rows = of(e, "view", "login", "buy").with_columns(n=is_("buy").cum_sum())
    views, logins = (rows.filter(is_(kind)).select("user_id", "n", "ts") for kind in ("view", "login"))
    found = views.join(logins, on=["user_id", "n"], suffix="_l")
    kept = (col("ts_l") > col("ts")) & (col("ts_l") <= col("ts") + 6 * HOUR)
    return found.filter(kept).select(COUNT)


def unless_searched(e: Frames) -> pl.LazyFrame:
    """Views so far, minus those before the last buy or before the window: no pair is made."""
    rows = of(e, "view", "login", "buy").select("user_id", "ts", "type")
    rows = rows.with_columns(n=is_("view").cum_sum().cast(pl.Int64))
    rows = rows.with_columns(past=carried(is_("buy"), col("n")))
    first = pl.when(col("user_id") != col("user_id").shift(1, fill_value=-1)).then(col("n") - is_("view"))
    rows = rows.with_columns(past=pl.max_horizontal("past", first.forward_fill()))
    logins = rows.filter(is_("login")).with_columns(since=col("ts") - 6 * HOUR).sort("since")
    views = rows.filter(is_("view")).select("user_id", "ts", old="n").sort("ts")
    found = logins.join_asof(
        views, left_on="since", right_on="ts", by="user_id", allow_exact_matches=False, check_sortedness=False
    )
    return found.select((col("n") - pl.max_horizontal("past", "old")).sum().alias("count"))


def steps_joined(e: Frames) -> pl.LazyFrame:
    """A cart with the views before it, and the buys after it."""
    carts = e["cart"].select("user_id", "ts")
    v = carts.join(e["view"].select("user_id", v="ts"), on="user_id")
    v = v.filter((col("ts") > col("v")) & (col("ts") - col("v") <= 2 * HOUR))
    b = v.join(e["buy"].select("user_id", b="ts"), on="user_id")
    return b.filter((col("b") > col("ts")) & (col("b") - col("ts") <= 2 * HOUR)).select(COUNT)


def _ranked(e: Frames, left: str, right: str, wide: timedelta, exact: bool = False) -> pl.LazyFrame:
    """For each event of a type, how many of another of its user came up to a time apart from it."""
    others = e[right].select("user_id", "ts", n=pl.int_range(1, pl.len() + 1).over("user_id"))
    moved = e[left].select("user_id", "ts", there=col("ts") + wide)
    return moved.join_asof(
        others.rename({"ts": "at"}),
        left_on="there",
        right_on="at",
        by="user_id",
        allow_exact_matches=exact,
        check_sortedness=False,
    ).select(col("n").fill_null(0))


def steps_ranked(e: Frames) -> pl.LazyFrame:
    """Events are numbered in each key, and numbers at both ends of a window subtracted: no pair is made."""
    zero = timedelta(0)
    v = [_ranked(e, "cart", "view", one).rename({"n": f"v{k}"}) for k, one in enumerate((zero, -2 * HOUR))]
    b = [
        _ranked(e, "cart", "buy", one, one > zero).rename({"n": f"b{k}"})
        for k, one in enumerate((zero, 2 * HOUR))
    ]
    found = pl.concat([*v, *b], how="horizontal")
    return found.select(((col("v0") - col("v1")) * (col("b1") - col("b0"))).sum().alias("count"))


def either_joined(e: Frames) -> pl.LazyFrame:
    """All pairs of a log-in and a buy of a user, and what came before both."""
    first = e["events"].filter(col("type").is_in(["view", "cart"])).select("user_id", a="ts")
    found = e["login"].select("user_id", "ts").join(e["buy"].select("user_id", b="ts"), on="user_id")
    found = found.filter((col("b") > col("ts")) & (col("b") - col("ts") <= DAY)).join(first, on="user_id")
    return found.filter((col("ts") > col("a")) & (col("b") - col("a") <= DAY)).select(COUNT)


def either_rolled(e: Frames) -> pl.LazyFrame:
    """Sums over the day before each buy, from running sums at its two ends: no pair is made."""
    rows = of(e, "view", "cart", "login", "buy").select("user_id", "ts", "type")
    step, login = col("type").is_in(["view", "cart"]), is_("login")
    rows = rows.with_columns(n=step.cum_sum().cast(pl.Int64))
    rows = rows.with_columns(
        k=login.cum_sum().cast(pl.Int64), s=pl.when(login).then("n").otherwise(0).cum_sum()
    )
    first = col("user_id") != col("user_id").shift(1, fill_value=-1)
    bases = [pl.when(first).then(col(one).shift(1, fill_value=0)).forward_fill() for one in "nks"]
    rows = rows.with_columns(**{f"{one}0": base for one, base in zip("nks", bases, strict=True)})
    buys = rows.filter(is_("buy")).with_columns(since=col("ts") - DAY).sort("since")
    past = rows.select("user_id", "ts", pn="n", pk="k", ps="s").sort("ts")
    found = buys.join_asof(
        past, left_on="since", right_on="ts", by="user_id", allow_exact_matches=False, check_sortedness=False
    )
    found = found.with_columns(pl.coalesce(f"p{one}", f"{one}0").alias(f"p{one}") for one in "nks")
    counted = (col("s") - col("ps")) - (col("k") - col("pk")) * col("pn")
    return found.select(counted.sum().alias("count"))


def both_joined(e: Frames) -> pl.LazyFrame:
    """All pairs of a user, filtered."""
    found = e["fail"].select("user_id", "ts").join(e["tick"].select("user_id", t="ts"), on="user_id")
    return found.filter((col("ts") - col("t")).is_between(-HOUR, HOUR)).select(COUNT)


def both_ranked(e: Frames) -> pl.LazyFrame:
    """As `steps_ranked`."""
    low = _ranked(e, "fail", "tick", -HOUR).rename({"n": "a"})
    high = _ranked(e, "fail", "tick", HOUR, exact=True).rename({"n": "b"})
    return pl.concat([low, high], how="horizontal").select((col("b") - col("a")).sum().alias("count"))


FORMS: dict[str, tuple[Form, ...]] = {
    "funnel": (funnel_asof, funnel_filled),
    "buyers": (buyers_asof, buyers_filled),
    "abandoned": (abandoned_asof, abandoned_filled),
    "unseen": (unseen_asof, unseen_filled),
    "failures": (failures_asof, failures_filled),
    "near": (near_filled, near_asof),
    "return": (return_asof, return_joined),
    "first_after": (first_after_asof, first_after_filled),
    "unless": (unless_joined, unless_searched),
    "either": (either_joined, either_rolled),
}
