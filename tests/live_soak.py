"""Kill a live query on Spark as often as time allows: `python tests/live_soak.py --seconds 600`.

Files of events come in, some with rows that are late and some with rows that are too late. Meanwhile the
whole application, an executor or a Python worker is killed at random moments, and each application is started
with another number of threads or executors. At times another stream, with other partitions and buckets and a
checkpoint of its own, goes on after the one before. In the end the rows that were written have to be those of
one run over all rows that were not too late. What is killed and when depends on the seed; the exit status is
1 where a row is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from processes import started
from test_spark_streams import STEPS, committed, written

import cer_gpu as cer

LATE = 100_000
"""Microseconds by which rows may be late."""

ROWS, KEYS = 4000, 300

NAMES = ["start", "end", "k", "a", "b", "c"]

SECOND = 1_000_000

AHEAD = 20
"""Files that may wait: whoever is killed too often does not fall behind without end."""

MASTERS = ("local[2, 4]", "local[1, 4]", "local[3, 4]", "local-cluster[2, 1, 1024]")
"""With repeated tasks: without, a worker that is killed ends the query."""

VICTIMS = {"application": "", "executor": "CoarseGrainedExecutorBackend", "worker": "pyspark.daemon"}
"""What is killed, and what its command line has."""


def part(rng: np.random.Generator, number: int) -> pa.Table:
    """Events of a second; each seventh part has some of the second before, which are too late."""
    begin = 1_700_000_000 * SECOND + number * SECOND
    times = begin + np.sort(rng.integers(0, SECOND, ROWS))
    if number % 7 == 6:
        times[rng.integers(0, ROWS, ROWS // 20)] -= SECOND
    table = pa.table(
        {
            "type": rng.choice(list("ABC"), ROWS),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "k": rng.integers(0, KEYS, ROWS),
            "x": rng.random(ROWS),
            "id": np.arange(number * ROWS, (number + 1) * ROWS),
        }
    )
    come = np.argsort(times + rng.integers(0, LATE // 2, ROWS), kind="stable")
    return table.take(pa.array(come))


OVERLAP = 3
"""Files that a stream reads again which goes on after another: the watermark is in one of the last two."""


class Streams:
    """The streams of a folder, each of which goes on after the one before, and what they are to write.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.parts: list[pa.Table] = []
        self._first = [0]
        self._known = [0]
        self._begin = [0]
        (folder / "in0").mkdir()

    @property
    def number(self) -> int:
        """Of the stream that runs."""
        return len(self._first) - 1

    def drop(self, table: pa.Table) -> None:
        """Give the stream that runs another file."""
        self.parts.append(table)
        written(table, self._folder / f"in{self.number}", len(self.parts))

    def commits(self) -> int:
        """How many micro-batches of the stream that runs are committed."""
        paths = (self._folder / f"state{self.number}" / "commits").glob("[0-9]*")
        return max((int(path.name) + 1 for path in paths), default=0)

    def waiting(self) -> int:
        """How many files it has not read yet, about."""
        return len(self.parts) - self._first[-1] - self.commits()

    def go_on(self) -> None:
        """Begin another stream, after one that has ended by itself."""
        log = self._folder / f"state{self.number}" / "offsets" / str(self.commits() - 1)
        self._begin.append(1000 * json.loads(log.read_text().splitlines()[1])["batchWatermarkMs"])
        self._known.append(len(self.parts))
        self._first.append(len(self.parts) - OVERLAP)
        for folder, first in ((f"history{self.number}", 0), (f"in{self.number}", self._first[-1])):
            (self._folder / folder).mkdir()
            for one in range(first, len(self.parts)):
                written(self.parts[one], self._folder / folder, one + 1)

    def rows(self) -> list[dict[str, Any]]:
        """What was written."""
        found = [committed(self._folder / f"out{number}") for number in range(self.number + 1)]
        return [row for table in found for row in table.select(NAMES).to_pylist()]

    def wanted(self) -> list[dict[str, Any]]:
        """What had to be written."""
        found: list[dict[str, Any]] = []
        stops = [*self._known[1:], len(self.parts)]
        for number, (first, begin) in enumerate(zip(self._first, self._begin, strict=True)):
            live, end = _in_time(self.parts[first : stops[number]], begin)
            if number < self.number:
                end = self._begin[number + 1]
            known = self._known[number]
            before = [table.filter(pa.array(_times(table) < begin)) for table in self.parts[:known]]
            whole = pa.concat_tables([*before, *live]).sort_by([("ts", "ascending"), ("id", "ascending")])
            table = cer.compile(STEPS).run(whole, order_by=["ts", "id"], event_id="id").to_arrow()
            ends = table["end_time"].cast(pa.int64()).to_numpy()
            found += table.filter(pa.array((ends >= begin) & (ends < end))).select(NAMES).to_pylist()
        return found


def _times(table: pa.Table) -> np.ndarray:
    times: np.ndarray = table["ts"].cast(pa.int64()).to_numpy()
    return times


def _in_time(parts: list[pa.Table], begin: int) -> tuple[list[pa.Table], int]:
    """The rows that are not too late where each part is a micro-batch, and the last watermark."""
    kept, latest = [], 0
    for table in parts:
        kept.append(table.filter(pa.array(_times(table) >= max(latest - LATE, begin))))
        latest = max(latest, int(_times(table).max()) // 1000 * 1000)
    return kept, latest - LATE


def descendants(process: int) -> dict[int, str]:
    """The processes that a process has started, and those that these have, with their command lines."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(entry.name))
    found, waiting = {}, [process]
    while waiting:
        for one in children.get(waiting.pop(), []):
            try:
                found[one] = Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            waiting.append(one)
    return found


def kill(process: int, victim: str, rng: Random) -> bool:
    """Kill an application with all that it has started, or one process of it, if there is one."""
    there = descendants(process)
    chosen = [one for one, line in there.items() if VICTIMS[victim] in line]
    if victim != "application":
        chosen = [rng.choice(chosen)] if chosen else []
    else:
        chosen.append(process)
    for one in chosen:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return bool(chosen)


def soak(folder: Path, seconds: float, seed: int) -> bool:
    """Drop files and kill for some time; whether the rows are right in the end."""
    rng, numbers = Random(seed), np.random.default_rng(seed)
    streams = Streams(folder)
    app = str(Path(__file__).with_name("live_app.py"))
    killed: Counter[str] = Counter()
    log = (folder / "log").open("a")
    partitions = "4"
    end = time.monotonic() + seconds

    def command(how: str, master: str) -> list[str]:
        return [sys.executable, app, str(folder), STEPS, how, master, str(streams.number), partitions]

    while time.monotonic() < end:
        if streams.commits() > 2 * OVERLAP and rng.random() < 0.4:
            subprocess.run(command("once", "local[2]"), check=True, stdout=log, stderr=log)
            streams.go_on()
            partitions = str(rng.choice([1, 2, 3, 5]))
            print(f"stream {streams.number} goes on with {partitions} partitions", flush=True)
        master = rng.choice(MASTERS)
        with started(command("on", master), start_new_session=True, stdout=log, stderr=log) as process:
            stop = time.monotonic() + rng.uniform(25, 60)
            again = time.monotonic() + rng.uniform(10, 40)
            while time.monotonic() < min(stop, end) and process.poll() is None:
                if streams.waiting() < AHEAD:
                    streams.drop(part(numbers, len(streams.parts)))
                time.sleep(rng.uniform(0.2, 1.5))
                if time.monotonic() > again:
                    victim = rng.choice(["executor" if "cluster" in master else "worker", "worker"])
                    killed[victim] += kill(process.pid, victim, rng)
                    again = time.monotonic() + rng.uniform(5, 20)
            killed["ended by itself"] += process.poll() is not None
            killed["application"] += kill(process.pid, "application", rng)
            process.wait()
    subprocess.run(command("once", "local[2]"), check=True, stdout=log, stderr=log)
    rows = [Counter(map(str, one)) for one in (streams.wanted(), streams.rows())]
    print(
        f"{len(streams.parts)} files, {streams.number + 1} streams, {dict(killed)}, "
        f"{rows[0].total()} matches wanted",
        flush=True,
    )
    missing, further = rows[0] - rows[1], rows[1] - rows[0]
    if missing or further:
        print(f"{missing.total()} missing, {further.total()} too many:", [*missing][:3], [*further][:3])
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return int(not soak(Path(folder), asked.seconds, asked.seed))


if __name__ == "__main__":
    sys.exit(main())
