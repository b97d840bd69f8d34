"""Two checkouts side by side: `python -m bench.pairs OTHER` says what is slower here than there.

Each checkout runs in a process of its own that makes the same events and answers the same questions, with
kernels that are compiled already. The two take turns, run by run, so that other work of the machine affects
both alike. A figure is the ratio of CPU seconds (user and system, all threads), here to there: that of the
least of all runs; and the median of the ratios of neighbouring runs, which decides. The answers are compared
first.

Where the memory of a process lies, and how much of it the allocator keeps, differs from process to process: a
checkout beside itself (`python -m bench.pairs .`) was seen to differ by 9 % in a pair of processes. So
several pairs of fresh processes are asked (`--fresh`), and the least and the greatest of their medians are
shown.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.measure import ROOT

BAND = 1.03
"""From this ratio on something counts as slower."""

WORKER = Path(__file__).with_name("pair_worker.py")


class Side:
    """A process that answers questions with one checkout.

    Parameters
    ----------
    checkout : Path
    scale : float
        Multiplies the numbers of events.
    """

    def __init__(self, checkout: Path, scale: float) -> None:
        self.checkout = checkout
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), str(checkout), str(scale)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
        )
        self.names: list[str] = self._read()["names"]

    def asked(self, name: str, what: str) -> dict[str, Any]:
        """Ask the process: `answer` gives the checksum, `time` the CPU seconds of a run."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([name, what]) + "\n")
        self._process.stdin.flush()
        return self._read()

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.checkout} has ended with status {self._process.wait()}")
        found: dict[str, Any] = json.loads(line)
        return found


def main(arguments: list[str] | None = None) -> int:
    """Compare, print the table, and return 1 if something is slower."""
    parser = argparse.ArgumentParser(prog="python -m bench.pairs", description=__doc__)
    parser.add_argument("other", type=Path, help="the folder of the other checkout")
    parser.add_argument("questions", nargs="*", help="those whose names begin so; all, if none is named")
    parser.add_argument("--runs", type=int, default=9, help="timed runs of each process (9)")
    parser.add_argument("--fresh", type=int, default=3, help="pairs of processes, one after another (3)")
    parser.add_argument("--scale", type=float, default=1.0, help="the numbers of events times this")
    parser.add_argument("--output", type=Path, help="file of the JSON")
    asked = parser.parse_intermixed_args(arguments)
    if not (asked.other / "cer_gpu").is_dir():
        parser.error(f"{asked.other} is no checkout: it has no folder cer_gpu")

    timed: dict[str, list[list[tuple[float, float]]]] = {}
    for _ in range(asked.fresh):
        here, there = Side(ROOT, asked.scale), Side(asked.other.resolve(), asked.scale)
        for name in here.names:
            if not asked.questions or name.startswith(tuple(asked.questions)):
                label, pairs = _timed(name, here, there, asked.runs)
                timed.setdefault(label, []).append(pairs)
        here.end()
        there.end()
    rows = [_compared(label, processes) for label, processes in timed.items()]

    table = Table(caption=f"CPU seconds here / there; {BAND} and more is slower")
    columns = ("question", "here s", "there s", "of the least", "median of pairs", "lowest", "highest")
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(row["question"], *(_shown(value) for value in list(row.values())[1:]))
    Console(width=110).print(table)
    if asked.output is not None:
        asked.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(row["pairs"] is not None and row["pairs"] >= BAND for row in rows))


def _timed(name: str, here: Side, there: Side, runs: int) -> tuple[str, list[tuple[float, float]]]:
    """What a question is called in the table, and the CPU seconds of runs here and there.

    There are none where the other cannot answer it; the name then says why.
    """
    ours, theirs = here.asked(name, "answer"), there.asked(name, "answer")
    if "error" in ours:
        raise SystemExit(f"{name}: {ours['error']}")
    if "error" in theirs:
        return f"{name} (not there: {theirs['error']})", []
    if ours["sum"] != theirs["sum"]:
        raise SystemExit(f"{name}: here the answer is {ours['sum']}, there it is {theirs['sum']}")
    pairs = []
    for number in range(runs):
        order = (here, there) if number % 2 else (there, here)
        took = {side: side.asked(name, "time")["cpu"] for side in order}
        pairs.append((took[here], took[there]))
    return name, pairs


def _compared(label: str, processes: list[list[tuple[float, float]]]) -> dict[str, Any]:
    """The row of a question, of the runs of each pair of processes; nothing but its name without runs."""
    if not all(processes):
        return {"question": label} | dict.fromkeys(("here", "there", "least", "pairs", "lowest", "highest"))
    ratios = [[one / other for one, other in pairs] for pairs in processes]
    here, there = (min(side) for side in zip(*chain(*processes), strict=True))
    medians = [statistics.median(some) for some in ratios]
    return {
        "question": label,
        "here": here,
        "there": there,
        "least": here / there,
        "pairs": statistics.median(chain(*ratios)),
        "lowest": min(medians),
        "highest": max(medians),
    }


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    sys.exit(main())
