"""Runs of the engine whose answers a second method has checked, ready to be timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench import formula
from bench.figures import WrongAnswerError
from bench.queries import KeyedSteps, ThreeSteps
from bench.streams import codes_of, values_of


def must(holds: bool, what: str) -> None:
    """Stop the benchmark if an answer is not that of the second method.

    Raises
    ------
    WrongAnswerError
    """
    if not holds:
        raise WrongAnswerError(what)


def hits(steps: ThreeSteps, events: pa.Table) -> Callable[[], pa.Table]:
    """`hits`, checked by searches over sorted positions."""
    query = cer.compile(steps.text)
    positions = steps.positions(codes_of(events), values_of(events, "price"))
    ends, starts = formula.hits(*positions, steps.within)
    found = query.hits(events)
    must(np.array_equal(found.column("position").to_numpy(), ends), f"hits of {steps.text}")
    must(np.array_equal(found.column("latest_start").to_numpy(), starts), f"latest starts of {steps.text}")
    return lambda: query.hits(events)


def counts(steps: ThreeSteps, events: pa.Table) -> Callable[[], int]:
    """`count`, checked by the sum of prefix sums over sorted positions; `counts` by them end by end."""
    query = cer.compile(steps.text)
    positions = steps.positions(codes_of(events), values_of(events, "price"))
    number = formula.counts(*positions, steps.within)
    found = query.counts(events)
    must(
        np.array_equal(found.column("position").to_numpy(), positions[2][number > 0])
        and np.array_equal(found.column("count").to_numpy(), number[number > 0]),
        f"counts of {steps.text}",
    )
    must(query.count(events) == sum(number.tolist()), f"count of {steps.text}")
    return lambda: query.count(events)


def enumeration(steps: ThreeSteps, events: pa.Table) -> tuple[Callable[[], int], int]:
    """All complex events to Arrow, batch after batch; and their number.

    Checked row by row: every row is a complex event, the rows ascend strictly (so none comes twice), and
    there are as many as the prefix sums give (so none is missing).
    """
    query = cer.compile(steps.text)
    positions = steps.positions(codes_of(events), values_of(events, "price"))
    wanted = int(formula.counts(*positions, steps.within).sum())
    masks = steps.masks(codes_of(events), values_of(events, "price"))
    rows = sum(checked_rows(steps, masks, query.run(events).batches()))
    must(rows == wanted, f"{rows:,} complex events of {steps.text}, where there are {wanted:,}")
    return lambda: sum(batch.num_rows for batch in query.run(events).batches()), wanted


def checked_rows(
    steps: ThreeSteps, masks: tuple[np.ndarray, ...], batches: pa.RecordBatchReader
) -> Iterator[int]:
    before = np.full((3, 1), -1)
    for batch in batches:
        rows = batch.num_rows
        if not rows:
            continue
        marks = []
        for name, mask in zip("abc", masks, strict=True):
            lists = batch.column(name)
            marked = lists.flatten().to_numpy()
            alone = np.array_equal(lists.offsets.to_numpy(), np.arange(rows + 1) + lists.offsets[0].as_py())
            must(alone and bool(mask[marked].all()), f"marks of {name} in {steps.text}")
            marks.append(marked)
        a, b, c = marks
        start, end = batch.column("start").to_numpy(), batch.column("end").to_numpy()
        inside = (a < b) & (b < c) & (start == a) & (end == c) & (end - start <= steps.within)
        must(bool(inside.all()), f"complex events of {steps.text}")
        keys = np.concatenate((before, np.stack((c, a, b))), axis=1)
        by_c, by_a, by_b = np.diff(keys)
        ascend = (by_c > 0) | (by_c == 0) & ((by_a > 0) | (by_a == 0) & (by_b > 0))
        must(bool(ascend.all()), f"order of the complex events of {steps.text}")
        before = keys[:, -1:]
        yield rows


def keyed(steps: KeyedSteps, events: pa.Table) -> tuple[Callable[[], int], int]:
    """`count` of a keyed sequence, and the number: checked by prefix sums over (key, time)."""
    query = cer.compile(steps.text)
    positions = steps.positions(codes_of(events), values_of(events, "key"), values_of(events, "ts"))
    wanted = int(formula.counts(*positions, steps.within).sum())
    found = query.count(events, order_by="ts")
    must(found == wanted, f"{found:,} complex events of {steps.text}, where there are {wanted:,}")
    return lambda: query.count(events, order_by="ts"), wanted


def new_queries(events: pa.Table, runs: int) -> Callable[[], Any]:
    """A function that, each time it is called, compiles and counts a query that has not occurred before.

    Parameters
    ----------
    events : pyarrow.Table
    runs : int
        How often it may be called.
    """
    queries = [ThreeSteps(shift=number / 100) for number in range(runs)]
    codes, prices = codes_of(events), values_of(events, "price")
    wanted = [int(formula.counts(*steps.positions(codes, prices), steps.within).sum()) for steps in queries]
    left = iter(zip(queries, wanted, strict=True))

    def run() -> None:
        steps, number = next(left)
        must(cer.compile(steps.text).count(events) == number, f"count of {steps.text}")

    return run
