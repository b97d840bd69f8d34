"""Shared by the processes that time a count by another engine."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any


def number_of_duckdb(connection: Any) -> Callable[[str], int]:
    """The function that runs a query of one number on a connection to DuckDB."""

    def run(text: str) -> int:
        row = connection.execute(text).fetchone()
        return int(row[0]) if row is not None and row[0] is not None else 0

    return run


def number_of_chdb(session: Any) -> Callable[[str], int]:
    """The function that runs a query of one number on a session of chdb."""

    def run(text: str) -> int:
        return int(str(session.query(text, "TSV")).split()[0])

    return run


def print_counted(engine: str, count: Callable[[], int], runs: int) -> None:
    """Count once to warm up and `runs` times more, and print the number and the seconds of each run.

    Raises
    ------
    ValueError
        If two runs give different numbers.
    """
    number = count()
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        again = count()
        seconds.append(time.perf_counter() - begin)
        if again != number:
            raise ValueError(f"{engine} says {number} and then {again}")
    sys.stdout.write(json.dumps({"number": number, "seconds": seconds}) + "\n")
