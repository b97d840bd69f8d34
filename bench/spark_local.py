"""The local engine on files, in a process of its own, measured in the same way as Spark.

`python -m bench.spark_local ASKED` takes a JSON object `{"runs": ..., "queries": {name: {"product": "count"
or "run", "text": ..., "paths": [...], "order_by": ...}}}` and prints for each name what the runs took, and
the answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import cer_gpu as cer
from bench.cpu_seconds import measure_cpu

PRIMES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)


def checksum(found: pa.Table) -> tuple[int, int]:
    """The number of complex events, and a checksum that does not depend on their order.

    Parameters
    ----------
    found : pyarrow.Table
        With a list of one position in each of `a`, `b` and `c`.
    """
    mixed = np.zeros(len(found), np.uint64)
    for name, prime in zip(("start", "end", "a", "b", "c"), (*PRIMES, PRIMES[0] ^ PRIMES[1])):
        column = found.column(name).combine_chunks()
        values = column.flatten() if pa.types.is_list(column.type) else column
        mixed = (mixed ^ values.to_numpy().astype(np.uint64)) * np.uint64(prime)
        mixed ^= mixed >> np.uint64(29)
    return len(found), int(mixed.sum(dtype=np.uint64))


def _answer(query: cer.Query, product: str, paths: list[str], order_by: str | None) -> Any:
    if product == "count":
        return query.count(paths, order_by=order_by)
    return checksum(query.run(paths, order_by=order_by).to_arrow())


def _drained(query: cer.Query, paths: list[str], order_by: str | None) -> None:
    for batch in query.run(paths, order_by=order_by).batches():
        del batch


def measured(asked: dict[str, Any]) -> dict[str, Any]:
    """What the runs of each query took, and their answers."""
    functions: dict[str, Callable[[], Any]] = {}
    answers = {}
    for name, one in asked["queries"].items():
        query = cer.compile(one["text"])
        answers[name] = _answer(query, one["product"], one["paths"], one["order_by"])
        if one["product"] == "count":
            functions[name] = partial(query.count, one["paths"], order_by=one["order_by"])
        else:
            functions[name] = partial(_drained, query, one["paths"], one["order_by"])
    taken = measure_cpu(functions, asked["runs"])
    return {name: {"answer": answers[name], **taken[name].to_json()} for name in functions}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured(json.loads(sys.argv[1]))) + "\n")
