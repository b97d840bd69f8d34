"""The questions asked of data frames: joins by buckets in pandas and Polars, and shifts inside a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.rivals.questions import DAY, GAP, REACH, Many, Neighbours, Question, Sequence

Count = Callable[[Question], int]


def open_pandas(path: str) -> Count:
    """Load a file into pandas; gives the function that answers a question."""
    import pandas as pd

    events = pd.read_parquet(path).astype({"type": "category"})

    def count(question: Question) -> int:
        if isinstance(question, Many):
            return sum(map(count, question.questions))
        if isinstance(question, Neighbours):
            return _beside(events, events.groupby("key", sort=False), question.frame)
        assert isinstance(question, Sequence)
        return _pandas_sequence(pd, events, question)

    return count


def _pandas_sequence(pd: Any, events: Any, question: Sequence) -> int:
    whole, within = events, question.within
    if question.unless is not None:
        whole = events.assign(n=(events["type"] == question.unless).cumsum())
    found = None
    for k, step in enumerate(question.steps):
        rows = whole[whole["type"].isin(step.split("|"))].drop(columns="type")
        if k == 0 and question.above is not None:
            rows = rows[rows["price"] > question.above]
        rows = rows.assign(cell=rows["ts"] // within)
        if k:
            rows = pd.concat([rows, rows.assign(cell=rows["cell"] - 1)])
        rows = rows.rename(columns={name: f"{name}{k}" for name in ("ts", "price", "n")})
        by = ["cell", "key"] if question.keyed else ["cell"]
        rows = rows if question.keyed else rows.drop(columns="key")
        if found is None:
            found = rows
            continue
        found = found.merge(rows, on=by)
        kept = (found[f"ts{k}"] > found[f"ts{k - 1}"]) & (found[f"ts{k}"] <= found["ts0"] + within)
        for low, high in question.rises:
            if high == k:
                kept &= found[f"price{low}"] < found[f"price{high}"]
        found = found[kept]
    assert found is not None
    if question.unless is not None:
        found = found[found["n0"] == found[f"n{len(question.steps) - 1}"]]
    return len(found)


def _beside(events: Any, groups: Any, frame: str) -> int:
    if frame == "rises":
        prices = [events["price"], *(groups["price"].shift(k) for k in (1, 2, 3))]
        kept = (prices[0] > prices[1]) & (prices[1] > prices[2]) & (prices[2] > prices[3])
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

    def count(question: Question) -> int:
        if isinstance(question, Many):
            return sum(map(count, question.questions))
        if isinstance(question, Neighbours):
            kept = _polars_condition(col, question.frame)
            return int(events.lazy().select(kept.fill_null(False).sum()).collect().item())
        assert isinstance(question, Sequence)
        return _polars_sequence(pl, col, events.lazy(), question)

    return count


def _polars_sequence(pl: Any, col: Any, whole: Any, question: Sequence) -> int:
    within = question.within
    if question.unless is not None:
        whole = whole.with_columns((col("type") == question.unless).cum_sum().alias("n"))
    found = None
    for k, step in enumerate(question.steps):
        rows = whole.filter(col("type").is_in(step.split("|"))).drop("type")
        if k == 0 and question.above is not None:
            rows = rows.filter(col("price") > question.above)
        rows = rows.with_columns((col("ts") // within).alias("cell"))
        if k:
            rows = pl.concat([rows, rows.with_columns(col("cell") - 1)])
        names = [name for name in ("ts", "price", "n") if name != "n" or question.unless is not None]
        rows = rows.rename({name: f"{name}{k}" for name in names})
        by = ["cell", "key"] if question.keyed else ["cell"]
        rows = rows if question.keyed else rows.drop("key")
        if found is None:
            found = rows
            continue
        kept = (col(f"ts{k}") > col(f"ts{k - 1}")) & (col(f"ts{k}") <= col("ts0") + within)
        for low, high in question.rises:
            if high == k:
                kept &= col(f"price{low}") < col(f"price{high}")
        found = found.join(rows, on=by).filter(kept)
    assert found is not None
    if question.unless is not None:
        found = found.filter(col("n0") == col(f"n{len(question.steps) - 1}"))
    return int(found.select(pl.len()).collect().item())


def _polars_condition(col: Any, frame: str) -> Any:
    if frame == "rises":
        prices = [col("price"), *(col("price").shift(k).over("key") for k in (1, 2, 3))]
        return (prices[0] > prices[1]) & (prices[1] > prices[2]) & (prices[2] > prices[3])
    if frame == "late":
        kept = col("ts") - col("ts").shift(5).over("key") <= DAY
        for k, kind in enumerate(["Departure", "Arrival"] * 3):
            kept &= (col("type").shift(k).over("key") == kind) & (col("price").shift(k).over("key") >= 30)
        return kept
    later = col("ts").shift(-1).over("key")
    return later.is_null() | (later - col("ts") > (GAP if frame == "sessions" else REACH))
