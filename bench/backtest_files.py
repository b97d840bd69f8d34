"""Many queries over Parquet files: what is shared, what the kernels take, and the memory of a process.

`python -m bench.backtest_files WHAT PATH ...` measures in this process and prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import cer_gpu as cer
from bench.answers import must
from bench.backtest_queries import others, sweep_of, ticks
from bench.figures import Figure, Target, duration
from bench.fresh import in_fresh_process, peak_bytes
from bench.measure import Times
from bench.sizes import Sizes, large

FILES = 10

FIRST = 2
"""With so many of the files memory is measured, too."""

VARIANTS = 16
"""Thresholds of each of two columns, and four windows."""

LIMIT_S = 3600

CHECKED = 2
"""Queries that are counted one by one, too."""


def backtest_files(sizes: Sizes, many: int) -> Iterator[Figure]:
    """`many` queries over files against reading these alone, with the kernels' time apart; and memory."""
    with tempfile.TemporaryDirectory() as folder:
        paths = _written(sizes.filed // FILES, Path(folder))
        what = f"{large(sizes.filed // FILES * FILES)} events in {FILES} Parquet files"
        runs: dict[str, list[dict[str, Any]]] = {}
        for _ in range(min(sizes.runs, 3)):
            for name in ("read", "queries", "kernels"):
                found = in_fresh_process("bench.backtest_files", (name, many, *paths), LIMIT_S)
                runs.setdefault(name, []).append(found)
        few = in_fresh_process("bench.backtest_files", ("queries", many, *paths[:FIRST]), LIMIT_S)
        sweep = in_fresh_process("bench.backtest_files", ("sweep", VARIANTS, *paths), LIMIT_S)
        _check(runs["queries"][0]["matches"], others(many), paths)
        variants = sweep_of(VARIANTS)
        which = range(0, len(variants), len(variants) // CHECKED)
        for number in which:
            wanted = variants.query.count(paths, order_by="ts", params=variants.variants[number])
            must(sweep["matches"][number] == wanted, f"variant {number} over files")
    read, whole, kernels = (
        Times(tuple(one["seconds"] for one in runs[name])) for name in ("read", "queries", "kernels")
    )
    yield duration("backtest", f"{what}: read and decoded by pyarrow alone", read)
    note = f"{many} queries over the same events in memory"
    yield duration("backtest", f"{what}: kernels", kernels, note=note)
    yield duration("backtest", f"{what}: {many} queries", whole, note="some checked by count")
    parts = [(a, 2 * b + c) for a, b, c in zip(whole.seconds, read.seconds, kernels.seconds)]
    times = [a / b for a, b in parts]
    yield Figure(
        "backtest",
        f"{what}: time of {many} queries / (twice reading + kernels)",
        whole.median / (2 * read.median + kernels.median),
        "times",
        min(times),
        max(times),
        Target(1.0, most=True),
        "",
        (("read", read), ("kernels", kernels), ("queries", whole)),
    )
    peak = max(one["peak"] for one in runs["queries"])
    most = Target(2.0, most=True)
    yield Figure(
        "backtest", f"{what}: peak of resident memory, {many} queries", peak / 1e9, "GB", target=most
    )
    case = f"{what}: peak of resident memory, {len(variants):,} variants"
    yield Figure("backtest", case, sweep["peak"] / 1e9, "GB", target=most, note="some checked by count")
    case = f"peak with all {FILES} files / with {FIRST}, {many} queries"
    yield Figure("backtest", case, peak / few["peak"], "times", target=Target(1.5, most=True))


def _written(each: int, folder: Path) -> list[Path]:
    """Files of events that follow one another in time."""
    paths = []
    for number in range(FILES):
        paths.append(folder / f"part-{number}.parquet")
        pq.write_table(ticks(each, number), paths[-1])
    return paths


def _check(matches: list[int], texts: list[str], paths: list[Path]) -> None:
    """The first queries find what they do by themselves."""
    for text, number in list(zip(texts, matches))[:CHECKED]:
        must(cer.compile(text).count(paths, order_by="ts") == number, f"{text} over files")


def _reading(many: str, *paths: str) -> dict[str, Any]:
    begin, rows = time.perf_counter(), 0
    for path in paths:
        for batch in pq.ParquetFile(path).iter_batches(1 << 20, columns=["type", "ts", "price", "size"]):
            rows += len(batch)
    return {"seconds": time.perf_counter() - begin, "rows": rows}


def _queries(many: str, *paths: str) -> dict[str, Any]:
    return _ran(others(int(many)), list(paths))


def _kernels(many: str, *paths: str) -> dict[str, Any]:
    return _ran(others(int(many)), pa.concat_tables([pq.read_table(path) for path in paths]))


def _sweep(thresholds: str, *paths: str) -> dict[str, Any]:
    return _ran(sweep_of(int(thresholds)), list(paths))


def _ran(queries: Any, events: Any) -> dict[str, Any]:
    cer.backtest(queries, ticks(1000), order_by="ts", device="cpu")  # loads the kernels
    begin = time.perf_counter()
    found = cer.backtest(queries, events, order_by="ts", device="cpu")
    seconds = time.perf_counter() - begin
    matches = [int(number) for number in found.to_arrow().column("matches").to_pylist()]
    return {"seconds": seconds, "matches": matches, "peak": peak_bytes()}


MEASURES: dict[str, Callable[..., dict[str, Any]]] = {
    "read": _reading,
    "queries": _queries,
    "kernels": _kernels,
    "sweep": _sweep,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(MEASURES[sys.argv[1]](*sys.argv[2:])) + "\n")
