"""A process that does something long, over and over, until it is interrupted: `interrupted_app.py CASE`.

It prints a line when the long run begins. When a KeyboardInterrupt has come out of it, it prints the time,
and the processor time that its threads take in the third of a second after that.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

import cer_gpu as cer

THREES = "(A ; A ; A) ALL (B ; B ; B) ALL (C ; C ; C)"
JOIN = "A AS a ; B AS b ; C AS c FILTER a.k = b.k AND b.k = c.k"

CASES = {
    # Counts of thousands of digits, in Python, with a window and carried; then in kernels.
    "large numbers": ("count", "SELECT * WHERE A ; B+ ; C WITHIN 3000 EVENTS", 400_000),
    "large numbers, carried": ("count", f"SELECT * WHERE {THREES} ALL (D ; D)", 1_500_000),
    "window": ("count", f"SELECT * WHERE {THREES} WITHIN 300000 EVENTS", 1_500_000),
    "hits": ("hits", f"SELECT * WHERE {THREES} WITHIN 300000 EVENTS", 3_000_000),
    # A window over an attribute that falls; and listing under it.
    "attribute": ("count", "SELECT * WHERE A ; B ; C WITHIN 40 [p]", 2_000_000),
    "attribute, listed": ("run", "SELECT * WHERE A ; B ; C WITHIN 40 [p]", 60_000),
    # The structure of complex events, and walking it.
    "built": ("run", "SELECT * WHERE A ; B+ ; C ; D WITHIN 300000 EVENTS", 1_000_000),
    "listed": ("run", "SELECT * WHERE A ; B ; C WITHIN 2000 EVENTS", 500_000),
    "chosen": ("run", "SELECT LAST * WHERE (A ; A) ALL (B ; B) ALL (C ; C) WITHIN 3000 EVENTS", 500_000),
    # What ends in a large batch of a stream is counted when it is listed.
    "pushed": ("stream", "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 100000 EVENTS", 1_000_000),
    "pushed, joined": ("stream", f"SELECT * WHERE {JOIN} WITHIN 100000 EVENTS", 100_000),
    "maximal": ("run", "SELECT MAX * WHERE A ; B+ ; C WITHIN 1000 EVENTS", 100_000),
    "joined": ("run", f"SELECT * WHERE {JOIN} WITHIN 9000 EVENTS", 500_000),
    "sorted": ("count", "SELECT * WHERE A ; B WITHIN 1 EVENTS", 8_000_000),
    "rule": ("count", "Q(x) <- A(k = x), B(k = x), C(k = x), D(k = x) WITHIN 3000000 EVENTS", 3_000_000),
}
"""What is asked of which query, over how many events."""


def events(count: int) -> pa.Table:
    rng = np.random.default_rng(1)
    kinds = pa.DictionaryArray.from_arrays(
        pa.array(rng.integers(0, 4, count).astype(np.int32)), pa.array(list("ABCD"))
    )
    return pa.table({"type": kinds, "p": rng.random(count) * 100, "k": rng.integers(0, 5, count)})


def ask(query: cer.Query, case: str, data: pa.Table) -> None:
    asked = CASES[case][0]
    if asked == "stream":
        for _ in query.stream().push(data).batches():
            pass
        return
    keywords = {"order_by": ["p", "k"], "sort": True} if case == "sorted" else {}
    answer = getattr(query, asked)(data, **keywords)
    if asked == "run":
        for _ in answer.batches():
            pass


def main(case: str) -> None:
    _, text, count = CASES[case]
    query, data = cer.compile(text), events(count)
    ask(query, case, data.slice(0, 40))  # its kernels are compiled
    print("begins", flush=True)
    try:
        while True:  # a fast machine ends a case before it is interrupted
            ask(query, case, data)
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
        before = time.process_time()
        time.sleep(0.3)
        print(time.process_time() - before, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
