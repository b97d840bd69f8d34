"""Answers the questions of `bench.pairs` with the checkout that is its first argument."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKOUT, SCALE = Path(sys.argv[1]), float(sys.argv[2])
sys.path[0] = str(CHECKOUT)

import cer_gpu as cer  # noqa: E402

cer.__path__.insert(0, str(CHECKOUT))  # where `kernels` lies, before what is installed

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402

SEED = 20_261_122

KEPT = "FILTER a[price < 10] AND b[price < 10] AND c[price < 10]"
STEPS = "A AS a ; B AS b ; C AS c"

Answer = Callable[[], int]


def stream(count: int) -> pa.Table:
    """Ten types, a price, keys, and attributes that ascend, start again, and go up and down."""
    count = max(int(count * SCALE), 1000)
    rng = np.random.default_rng(SEED)
    types = pa.array([*"ABC", *(f"T{k}" for k in range(7))])
    codes = pa.array(rng.integers(0, 10, count).astype(np.int8))
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(codes, types),
            "price": rng.random(count) * 100,
            "key": rng.integers(0, 1000, count),
            "many": rng.integers(0, 200_000, count),
            "name": pa.array([f"k{k}" for k in range(500)]).take(pa.array(rng.integers(0, 500, count))),
            "ts": np.cumsum(rng.integers(0, 3, count)),
            "up": np.cumsum(rng.random(count)),
            "waves": np.cumsum(rng.random(count) - 0.5),
        }
    )


def listed(matches: Any) -> int:
    """A checksum of complex events."""
    total = 0
    for batch in matches.batches():
        total += batch.num_rows + int(
            (np.asarray(batch.column(0)) % 997 * (np.asarray(batch.column(1)) % 991)).sum()
        )
    return total


def asked(text: str, data: pa.Table, product: str, **more: Any) -> Answer:
    """A question whose answer is a number."""
    order = more.pop("order_by", "ts")
    query = cer.compile(text)
    if product == "run":
        return lambda: listed(query.run(data, order_by=order, **more))
    if product == "hits":
        return lambda: int(np.asarray(query.hits(data, order_by=order, **more)["latest_start"]).sum())
    return lambda: int(getattr(query, product)(data, order_by=order, **more))


def pushed(text: str, data: pa.Table, product: str, size: int) -> Answer:
    """A question to a stream that gets a table a few rows at a time."""
    query, parts = cer.compile(text), list(data.to_batches(max_chunksize=size))

    def answer() -> int:
        with query.stream(order_by="ts") as opened:
            return sum(listed(opened.push(pa.Table.from_batches([part]))) for part in parts)

    assert product == "run"
    return answer


def questions() -> dict[str, Callable[[], Answer]]:
    """Every question, by its name; its events are made when it is asked."""
    large, middle, small = stream(8_000_000), stream(1_000_000), stream(200_000)
    found: dict[str, Callable[[], Answer]] = {}

    def add(name: str, text: str, data: pa.Table, *products: str, **more: Any) -> None:
        for product in products:
            found[f"{name} {product}"] = lambda product=product: asked(text, data, product, **more)

    where = f"SELECT * FROM S WHERE {STEPS} {KEPT}"
    plain = "SELECT * FROM S WHERE A ; B ; C"
    add("filtered events", f"{where} WITHIN 1000 EVENTS", large, "hits", "count")
    add("filtered time", f"{where} WITHIN 1000 [ts]", large, "hits", "count")
    add("filtered whole", f"{where} LIMIT 1", middle, "hits")
    add("plain", f"{plain} WITHIN 100 EVENTS", middle, "hits", "count", "run")
    add("narrow", f"{plain} WITHIN 20 [ts]", middle, "hits", "count", "run")
    add("iteration", "SELECT * FROM S WHERE A ; B+ ; C WITHIN 12 EVENTS", middle, "hits", "count", "run")
    add("contiguous", "SELECT * FROM S WHERE A : B : C", large, "hits", "count", "run")
    add("either", "SELECT * FROM S WHERE (A OR B) ; C ; (T1 OR T2) WITHIN 40 EVENTS", middle, "count", "run")
    add("unless", "SELECT * FROM S WHERE (A ; B) UNLESS C WITHIN 100 EVENTS", middle, "count", "run")
    add("keyed few", f"{plain} PARTITION BY key WITHIN 20000 [ts]", large, "hits", "count")
    add("keyed many", f"{plain} PARTITION BY many WITHIN 4000000 [ts]", large, "hits", "count")
    add("keyed text", f"{plain} PARTITION BY name WITHIN 20000 [ts]", large, "count", "run")
    add("keyed two", f"{plain} PARTITION BY key, name WITHIN 9000000 [ts]", middle, "count")
    add("keyed events", f"{plain} PARTITION BY key WITHIN 100 EVENTS", large, "count")
    for strategy in ("NEXT", "LAST", "MAX", "STRICT", "ANY"):
        text = plain.replace("SELECT *", f"SELECT {strategy} *")
        add(f"strategy {strategy}", f"{text} WITHIN 100 EVENTS", middle, "hits", "count", "run")
    add("consume", f"{plain} WITHIN 100 EVENTS CONSUME BY ANY", middle, "hits", "count", "run")
    add("attribute up", "SELECT * FROM S WHERE A ; B WITHIN 30 [up]", middle, "hits", "count", "run")
    add("attribute waves", "SELECT * FROM S WHERE A ; B WITHIN 1 [waves]", small, "hits", "count", limit=None)
    star = "SELECT * FROM S WHERE A AS a ; B AS b ; C AS c FILTER a.key = b.key AND a.key = c.key"
    chain = "SELECT * FROM S WHERE A AS a ; B AS b ; C AS c FILTER a.key = b.key AND b.many = c.many"
    add("join star", f"{star} WITHIN 20000 [ts]", middle, "hits", "count", "run")
    add("join chain", f"{chain} WITHIN 400000 [ts]", middle, "hits", "count", "run")
    for size in (1000, 10):
        found[f"stream of {size} run"] = lambda size=size: pushed(
            f"{where} WITHIN 1000 EVENTS", small.slice(0, 1000 * size), "run", size
        )
    return found


def main() -> None:
    """Answer the questions that come as lines of standard input."""
    known, ready = questions(), {}
    print(json.dumps({"names": list(known)}), flush=True)
    for line in sys.stdin:
        name, what = json.loads(line)
        try:
            if what == "answer":
                ready = {name: known[name]()}
                said = {"sum": ready[name]()}
            else:
                begin = time.process_time()
                ready[name]()
                said = {"cpu": time.process_time() - begin}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
