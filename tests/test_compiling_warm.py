"""Where kernels are kept, a process compiles none and does without Numba, whatever it asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

STEPS = "A AS a ; B AS b FILTER a[price > 20 AND n < 90] AND b[price < 80]"

QUERIES = {
    "steps": f"SELECT * WHERE {STEPS} WITHIN 9 EVENTS",
    "steps, no window": f"SELECT * WHERE {STEPS}",
    "loops": "SELECT * WHERE A AS a ; B+ AS b ; C AS c WITHIN 9 SECONDS",
    "alternatives": "SELECT * WHERE A ; (B OR C) WITHIN 9 EVENTS",
    "contiguous": "SELECT * WHERE A : B",
    "keyed": f"SELECT * WHERE {STEPS} PARTITION BY name WITHIN 9 EVENTS",
    "attribute": f"SELECT * WHERE {STEPS} WITHIN 9 [price]",
    "any": f"SELECT ANY * WHERE {STEPS} WITHIN 9 EVENTS",
    "next": f"SELECT NEXT * WHERE {STEPS} WITHIN 9 EVENTS",
    "last": f"SELECT LAST * WHERE {STEPS} WITHIN 9 EVENTS",
    "max": "SELECT MAX * WHERE A AS a ; B+ AS b WITHIN 9 EVENTS",
    "consumed": f"SELECT a[price] WHERE {STEPS} WITHIN 9 EVENTS CONSUME BY ANY",
    "chain": "SELECT * WHERE A AS a ; B AS b FILTER a.name = b.name WITHIN 9 EVENTS",
    "tree": "Q(x, y) <- A(name = x), B(name = x, n = y) WITHIN 9 EVENTS",
    "rule": "Q(x) <- A(name = x, n = y), B(name = x, n = y), C(name = x) WITHIN 9 EVENTS",
}
"""A query for each kind of machine, and those that it runs otherwise."""


def ask(compiles: bool) -> None:
    """In a process of its own: ask every query all that can be asked, and have nothing compiled."""
    import cer_gpu as cer
    from cer_gpu.compiling import kernel
    from cer_gpu.warm import events

    def none(tasks: list) -> None:
        raise AssertionError(f"{tasks[0].kernel.name} for {tasks[0].kinds} is compiled")

    if not compiles:
        kernel.make = none
    data = events()
    for text in QUERIES.values():
        query = cer.compile(text)
        for asked in ("count", "counts", "hits"):
            getattr(query, asked)(data, order_by="ts")
        assert query.run(data, order_by="ts", limit=10).to_arrow().num_rows, text
        stream = query.stream(order_by="ts")
        for batch in data.to_batches(max_chunksize=20):
            stream.push(batch)
    print("numba" in sys.modules)


def asked_in_another_process(how: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HERE / "test_compiling_warm.py"), how],
        env={**os.environ, "PYTHONPATH": f"{HERE.parent}{os.pathsep}{HERE}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def warm() -> None:
    """Kernels that a process has left in the user's cache: those that other tests need too."""
    done = asked_in_another_process("compiles")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("warm")
def test_a_process_that_finds_its_kernels_compiles_none() -> None:
    done = asked_in_another_process("reads")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "False\n", "Numba was imported"


if __name__ == "__main__":
    ask(sys.argv[1] == "compiles")
