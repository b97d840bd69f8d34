"""Every route that takes a query, side by side: `python -m bench.routes` prints what each question costs.

The planner runs a query on the route that is cheapest for what is asked, by the costs that routes state
(`cer_gpu.plan.cost`). Here each is forced with `engine=`, and the seconds of the one that the planner
takes stand beside those of the fastest. A process that answers nothing for a while is ended, and its route
counts as slower than that.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from cer_gpu.plan.cost import Question

QUERIES = {
    "keyed, short": "SELECT * WHERE A AS a ; B AS b FILTER a.host = b.host WITHIN 100 s",
    "keyed, long": "SELECT * WHERE A AS a ; B AS b FILTER a.host = b.host WITHIN 2000 s",
    "keyed, all": "SELECT * WHERE A AS a ; B AS b FILTER a[v > 90] AND b[v > 90] AND a.key = b.key",
    "regular": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a[v > 90] WITHIN 100 s",
    "keyed": "SELECT * WHERE A AS a ; B AS b FILTER a.key = b.key WITHIN 10000 s",
    "keyed steps": "SELECT * WHERE A AS a ; B AS b ; C AS c "
    "FILTER a.key = b.key AND b.key = c.key WITHIN 50000 s",
    "equal neighbours": "SELECT * WHERE A AS a ; B AS b ; C AS c "
    "FILTER a.key = b.key AND b.host = c.host WITHIN 2000 s",
    "equal, then any": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.key = b.key WITHIN 2000 s",
    "greater": "SELECT * WHERE A AS a ; B AS b FILTER b.v > 1.5 * a.v WITHIN 100 s",
    "greater by key": "SELECT * WHERE A AS a ; B AS b FILTER b.v > a.v AND a.key = b.key WITHIN 10000 s",
    "rising steps": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER b.v > a.v AND c.v > b.v WITHIN 100 s",
    "ends compared": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER c.v > a.v WITHIN 100 s",
    "ends equal": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER c.key = a.key WITHIN 2000 s",
    "different values": "SELECT NONE WHERE (A AS a) :+ FILTER COUNT(DISTINCT a.host) >= 5 WITHIN 200 s",
    "gap": "SELECT * WHERE A ;[<= 100 s] B",
    "gaps": "SELECT * WHERE A ;[<= 50 s] B ;[<= 50 s] C",
    "least gaps": "SELECT * WHERE A ;[>= 10 s] B ;[>= 10 s] C WITHIN 100 s",
    "gap by key": "SELECT * WHERE A ;[<= 10000 s] B PARTITION BY key",
    "span, then any": "SELECT * WHERE (A ; B) WITHIN [<= 50 s] ; C WITHIN 200 s",
    "long span": "SELECT * WHERE (A ; B) WITHIN [<= 1000 s] ; C",
    "long gap": "SELECT * WHERE A ;[<= 1000 s] B ; C",
    "long span, rare end": "SELECT * WHERE (A AS a ; B) WITHIN [<= 1000 s] ; C AS c "
    "FILTER c[v > 99] AND a[v > 99]",
    "repeated span": "SELECT * WHERE (A ; B+ ; C) WITHIN [<= 40 s] ; D WITHIN 100 s",
    "span of three": "SELECT * WHERE (A ; B ; C) WITHIN [<= 100 s] ; D WITHIN 150 s",
    "rule": "Q(x) <- A(key = x), B(key = x) WITHIN 10000 s",
    "rule of three": "Q(x, y) <- A(key = x), B(key = x, host = y), C(key = x, host = y) WITHIN 50000 s",
}  # fmt: skip
"""Questions that two or more routes answer."""

UNLISTED = {"long span", "long gap"}
"""Queries with far more complex events than can be listed."""

SIZES = (10_000, 100_000, 1_000_000)

BATCH = 1000
"""Events of a push."""


def events(rows: int, seed: int = 7) -> pa.Table:
    """Events of ten types, one a second, with a value and two keys."""
    rng = np.random.default_rng(seed)
    kinds = pa.DictionaryArray.from_arrays(rng.integers(0, 10, rows, np.int32), pa.array(list("ABCDEFGHIJ")))
    return pa.table(
        {
            "type": kinds,
            "ts": pa.array(np.arange(rows) * 1000, pa.timestamp("ms")),
            "v": rng.random(rows) * 100,
            "key": rng.integers(0, 1000, rows),
            "host": rng.integers(0, 30, rows),
        }
    )


def _pushed(query: Any, table: pa.Table, engine: str) -> int:
    found = 0
    with query.stream(order_by="ts", engine=engine, limit=200_000) as stream:
        for low in range(0, len(table), BATCH):
            found += len(stream.push(table.slice(low, BATCH)).to_arrow())
    return found


QUESTIONS: dict[str, Callable[[Any, pa.Table, str], int]] = {
    "hits": lambda query, table, engine: len(query.hits(table, order_by="ts", engine=engine)),
    "count": lambda query, table, engine: query.count(table, order_by="ts", engine=engine),
    "run": lambda query, table, engine: len(
        query.run(table, order_by="ts", engine=engine, limit=2_000_000).to_arrow()
    ),
    "pushes": _pushed,
}

ASKED: dict[str, Question] = {"hits": "hits", "count": "counts", "run": "lists", "pushes": "pushes"}
"""What the planner calls the questions."""


def _answers(
    pipe: Connection, query: str, engine: str, question: str, sizes: list[int], runs: int, most: float
) -> None:
    """Answer a question in a process of its own, the small sizes first."""
    compiled, asked = cer.compile(QUERIES[query]), QUESTIONS[question]
    asked(compiled, events(2000), engine)  # compiles kernels, makes plans
    for rows in sizes:
        pipe.send((rows, 0.0))
        table, times = events(rows), []
        while len(times) < runs and sum(times) < most / 2:
            begun = time.perf_counter()
            asked(compiled, table, engine)
            times.append(time.perf_counter() - begun)
        pipe.send((rows, min(times)))
        if min(times) * 5 > most:
            break
    pipe.send(None)


def timed(
    query: str, engine: str, question: str, sizes: list[int], runs: int, most: float
) -> Iterator[tuple[int, float]]:
    """Numbers of events and seconds of a route; `most`: for how long a process may answer nothing."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_answers, args=(there, query, engine, question, sizes, runs, most))
    process.start()
    there.close()
    rows = 0
    try:
        while here.poll(most + 60 * (rows == 0)):
            said = here.recv()
            if said is None:
                return
            rows, seconds = said
            if seconds:
                yield rows, seconds
        yield rows, float("inf")
    finally:
        process.kill()
        process.join()


def main() -> None:
    """Print a row for each query, question and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("queries", nargs="*", default=[], metavar="QUERY")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most", type=float, default=20)
    given = parser.parse_args()
    for query in given.queries or QUERIES:
        taking = [name for name, refusal in cer.compile(QUERIES[query])._plan.said if refusal is None]
        print(f"{query}: {QUERIES[query]}  ({', '.join(taking)})", flush=True)
        for question in QUESTIONS:
            if query in UNLISTED and question in ("run", "pushes"):
                continue
            found: dict[int, dict[str, float]] = {}
            for engine in taking:
                for rows, seconds in timed(query, engine, question, given.sizes, given.runs, given.most):
                    found.setdefault(rows, {})[engine] = seconds
            for rows, each in found.items():
                print(_row(query, question, rows, each), flush=True)


def _row(query: str, question: str, rows: int, seconds: dict[str, float]) -> str:
    """A row of the table: the seconds of each route, and how much slower the chosen one is than the best."""
    chosen = cer.compile(QUERIES[query])._plan.chosen.engine_for(ASKED[question])
    each = ", ".join(f"{name} {one:.4f}" for name, one in seconds.items())
    ratio = seconds.get(chosen, float("inf")) / min(seconds.values())
    return f"{query:20} {question:7}{rows:>10,}  {chosen:8}{ratio:5.2f}  {each}"


if __name__ == "__main__":
    main()
