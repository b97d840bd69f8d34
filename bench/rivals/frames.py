"""The questions as code for data frames: joins by buckets in pandas and Polars, and shifts inside a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.rivals.questions import DAY, GAP, REACH, Joined, Many, Nearest, Neighbours, Question, Sequence

Count = Callable[[Question], int]


def open_pandas(path: str) -> Count:
    """Load a file into pandas; gives the function that answers a question."""
    import pandas as pd

    events = pd.read_parquet(path).astype({"type": "category"})
    last = int(events["ts"].max()) if len(events) else 0

    def count(question: Question) -> int:
        if isinstance(question, Many):
            return sum(map(count, question.questions))
        if isinstance(question, Neighbours):
            return _beside(events, events.groupby("key", sort=False), question.frame)
        if isinstance(question, Nearest):
            return _pandas_nearest(events, question)
        if isinstance(question, Joined):
            return sum(_pandas_join(pd, events, question, bound) for bound in question.bounds(last))
        assert isinstance(question, Sequence)
        return _pandas_sequence(pd, events, question)

    return count


def _pandas_sequence(pd: Any, events: Any, question: Sequence) -> int:
    whole, within = events, question.within
    if question.numbered is not None:
        whole = events.assign(n=(events["type"] == question.numbered).cumsum())
    found = None
    for k, step in enumerate(question.steps):
        rows = whole[whole["type"].isin(step.split("|"))].drop(columns="type")
        if k == 0 and question.above is not None:
            rows = rows[rows["price"] > question.above]
        rows = rows.assign(cell=rows["ts"] // max(within, 1))
        if k:
            rows = pd.concat([rows, rows.assign(cell=rows["cell"] - 1)])
        rows = rows.rename(columns={name: f"{name}{k}" for name in ("ts", "price", "n", "place")})
        by = ["cell", "key"] if question.keyed else ["cell"]
        rows = rows if question.keyed else rows.drop(columns="key")
        if found is None:
            found = rows
            continue
        found = found.merge(rows, on=by)
        kept = found[f"{question.order}{k}"] > found[f"{question.order}{k - 1}"]
        kept &= found[f"ts{k}"] <= found["ts0"] + within
        if question.gap is not None:
            kept &= found[f"ts{k}"] <= found[f"ts{k - 1}"] + question.gap
        for low, high in question.rises:
            if high == k:
                kept &= found[f"price{low}"] < found[f"price{high}"]
        found = found[kept]
    assert found is not None
    if question.numbered is None:
        return len(found)
    between = found[f"n{len(question.steps) - 1}"] - found["n0"]
    if question.unless is not None:
        return int((between == 0).sum())
    return int((between > 0).sum() if question.longest else (2**between - 1).sum())


def _pandas_nearest(events: Any, question: Nearest) -> int:
    rows = events if question.ends else events[::-1]
    *steps, asked = question.steps if question.ends else question.steps[::-1]
    near = rows["ts"]
    for step in steps:
        near = near.where(rows["type"] == step).groupby(rows["key"]).ffill().groupby(rows["key"]).shift(1)
    return int(((rows["ts"] - near).abs() <= question.within)[rows["type"] == asked].sum())


def _pandas_join(pd: Any, events: Any, question: Joined, bound: int) -> int:
    found, times = None, []
    for k, name in enumerate(question.relations):
        kept = (events["type"] == name) & (events["ts"] <= bound)
        rows = events.loc[kept, ["ts", "key"]].rename(columns={"ts": f"ts{k}"})
        times.append(f"ts{k}")
        by = ["key"]
        if question.within is not None:
            by = ["key", "cell"]
            rows = rows.assign(cell=rows[f"ts{k}"] // question.within)
            if k:
                rows = pd.concat([rows.assign(cell=rows["cell"] + offset) for offset in (-1, 0, 1)])
        found = rows if found is None else found.merge(rows, on=by)
        if question.within is not None and k:
            found = found[found[times].max(axis=1) - found[times].min(axis=1) <= question.within]
    assert found is not None
    return len(found)


def _beside(events: Any, groups: Any, frame: str) -> int:
    if frame == "rises":
        prices = [events["price"], *(groups["price"].shift(k) for k in (1, 2, 3))]
        kept = (prices[0] > prices[1]) & (prices[1] > prices[2]) & (prices[2] > prices[3])
    elif frame == "strict":
        types = [events["type"], groups["type"].shift(1), groups["type"].shift(2)]
        kept = (types[0] == "C") & (types[1] == "B") & (types[2] == "A")
    elif frame == "late":
        kinds = ["Departure", "Arrival"] * 3
        kept = events["ts"] - groups["ts"].shift(5) <= DAY
        for k, kind in enumerate(kinds):
            types = groups["type"].shift(k) if k else events["type"]
            delays = groups["price"].shift(k) if k else events["price"]
            kept &= (types == kind) & (delays >= 30)
    else:
        later = groups["ts"].shift(-1)
        kept = later.isna() | (later - events["ts"] > (GAP if frame == "sessions" else REACH))
    return int(kept.sum())


def open_polars(path: str) -> Count:
    """Load a file into Polars; as `open_pandas`."""
    import polars as pl
    from polars import col

    events = pl.read_parquet(path).with_columns(col("type").cast(pl.Categorical))
    last = int(events["ts"].max() or 0)  # type: ignore[arg-type]

    def count(question: Question) -> int:
        if isinstance(question, Many):
            return sum(map(count, question.questions))
        if isinstance(question, Neighbours):
            kept = _polars_condition(col, question.frame)
            return int(events.lazy().select(kept.fill_null(False).sum()).collect().item())
        if isinstance(question, Nearest):
            return _polars_nearest(pl, col, events.lazy(), question)
        if isinstance(question, Joined):
            joined = (_polars_join(pl, col, events.lazy(), question, one) for one in question.bounds(last))
            return sum(joined)
        assert isinstance(question, Sequence)
        return _polars_sequence(pl, col, events.lazy(), question)

    return count


def _polars_sequence(pl: Any, col: Any, whole: Any, question: Sequence) -> int:
    within = question.within
    if question.numbered is not None:
        whole = whole.with_columns((col("type") == question.numbered).cum_sum().cast(pl.Int64).alias("n"))
    found = None
    for k, step in enumerate(question.steps):
        rows = whole.filter(col("type").is_in(step.split("|"))).drop("type")
        if k == 0 and question.above is not None:
            rows = rows.filter(col("price") > question.above)
        rows = rows.with_columns((col("ts") // max(within, 1)).alias("cell"))
        if k:
            rows = pl.concat([rows, rows.with_columns(col("cell") - 1)])
        names = ["ts", "price", *["n"] * bool(question.numbered), *["place"] * (question.order == "place")]
        rows = rows.rename({name: f"{name}{k}" for name in names})
        by = ["cell", "key"] if question.keyed else ["cell"]
        rows = rows if question.keyed else rows.drop("key")
        if found is None:
            found = rows
            continue
        order = question.order
        kept = (col(f"{order}{k}") > col(f"{order}{k - 1}")) & (col(f"ts{k}") <= col("ts0") + within)
        if question.gap is not None:
            kept &= col(f"ts{k}") <= col(f"ts{k - 1}") + question.gap
        for low, high in question.rises:
            if high == k:
                kept &= col(f"price{low}") < col(f"price{high}")
        found = found.join(rows, on=by).filter(kept)
    assert found is not None
    number = pl.len()
    if question.numbered is not None:
        between = col(f"n{len(question.steps) - 1}") - col("n0")
        number = (between == 0).sum() if question.unless else (between > 0).sum()
        if question.between and not question.longest:
            number = (pl.lit(2, pl.Int64).pow(between) - 1).sum()
    return int(found.select(number).collect().item() or 0)


def _polars_nearest(pl: Any, col: Any, events: Any, question: Nearest) -> int:
    rows = events if question.ends else events.reverse()
    *steps, asked = question.steps if question.ends else question.steps[::-1]
    rows = rows.with_columns(near=col("ts"))
    for step in steps:
        near = pl.when(col("type") == step).then(col("near")).forward_fill().shift(1).over("key")
        rows = rows.with_columns(near=near)
    kept = (col("type") == asked) & ((col("ts") - col("near")).abs() <= question.within)
    return int(rows.select(kept.fill_null(False).sum()).collect().item())


def _polars_join(pl: Any, col: Any, events: Any, question: Joined, bound: int) -> int:
    found, times, by = None, [], ["key"] if question.within is None else ["key", "cell"]
    for k, name in enumerate(question.relations):
        rows = events.filter((col("type") == name) & (col("ts") <= bound))
        rows = rows.select("key", col("ts").alias(f"ts{k}"))
        times.append(f"ts{k}")
        if question.within is not None:
            cell = col(f"ts{k}") // question.within
            offsets = (-1, 0, 1) if k else (0,)
            rows = pl.concat([rows.with_columns((cell + offset).alias("cell")) for offset in offsets])
        found = rows if found is None else found.join(rows, on=by)
        if question.within is not None and k:
            found = found.filter(pl.max_horizontal(times) - pl.min_horizontal(times) <= question.within)
    assert found is not None
    return int(found.select(pl.len()).collect().item())


def _polars_condition(col: Any, frame: str) -> Any:
    if frame == "rises":
        prices = [col("price"), *(col("price").shift(k).over("key") for k in (1, 2, 3))]
        return (prices[0] > prices[1]) & (prices[1] > prices[2]) & (prices[2] > prices[3])
    if frame == "strict":
        types = (col("type").shift(k).over("key") for k in (1, 2))
        return (col("type") == "C") & (next(types) == "B") & (next(types) == "A")
    if frame == "late":
        kept = col("ts") - col("ts").shift(5).over("key") <= DAY
        for k, kind in enumerate(["Departure", "Arrival"] * 3):
            kept &= (col("type").shift(k).over("key") == kind) & (col("price").shift(k).over("key") >= 30)
        return kept
    later = col("ts").shift(-1).over("key")
    return later.is_null() | (later - col("ts") > (GAP if frame == "sessions" else REACH))
