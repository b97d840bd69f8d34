"""Kill a live query on Spark as often as time allows: `python tests/live_soak.py --seconds 600`.

Files of events come in, some with rows that are late and some with rows that are too late. Meanwhile the
whole application, an executor or a Python worker is killed at random moments, and each application is started
with another number of threads or executors. In the end the rows that were written have to be those of one run
over all rows that were not too late. What is killed and when depends on the seed; the exit status is 1 where
a row is wrong.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from processes import started
from test_spark_streams import STEPS, committed, written

import cer_gpu as cer

LATE = 100_000
"""Microseconds by which rows may be late."""

ROWS, KEYS = 4000, 300

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


def in_time(parts: list[pa.Table]) -> tuple[pa.Table, int]:
    """The rows that are not too late where each part is a micro-batch, and the last watermark."""
    kept, latest = [], 0
    for table in parts:
        times = table["ts"].cast(pa.int64()).to_numpy()
        kept.append(table.filter(pa.array(times >= latest - LATE)))
        latest = max(latest, int(times.max()) // 1000 * 1000)
    return pa.concat_tables(kept), latest - LATE


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


def last_commit(folder: Path) -> int:
    """How many micro-batches are committed."""
    return max((int(path.name) + 1 for path in (folder / "state" / "commits").glob("[0-9]*")), default=0)


def soak(folder: Path, seconds: float, seed: int) -> bool:
    """Drop files and kill for some time; whether the rows are right in the end."""
    rng, numbers = Random(seed), np.random.default_rng(seed)
    (folder / "in").mkdir()
    app = str(Path(__file__).with_name("live_app.py"))
    command = [sys.executable, app, str(folder), STEPS]
    parts: list[pa.Table] = []
    killed: Counter[str] = Counter()
    log = (folder / "log").open("a")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        master = rng.choice(MASTERS)
        with started([*command, "on", master], start_new_session=True, stdout=log, stderr=log) as process:
            stop = time.monotonic() + rng.uniform(25, 60)
            again = time.monotonic() + rng.uniform(10, 40)
            while time.monotonic() < min(stop, end) and process.poll() is None:
                if len(parts) < last_commit(folder) + AHEAD:
                    parts.append(part(numbers, len(parts)))
                    written(parts[-1], folder / "in", len(parts))
                time.sleep(rng.uniform(0.2, 1.5))
                if time.monotonic() > again:
                    victim = rng.choice(["executor" if "cluster" in master else "worker", "worker"])
                    killed[victim] += kill(process.pid, victim, rng)
                    again = time.monotonic() + rng.uniform(5, 20)
            killed["ended by itself"] += process.poll() is not None
            killed["application"] += kill(process.pid, "application", rng)
            process.wait()
    subprocess.run([*command, "once", "local[2]"], check=True, stdout=log, stderr=log)
    whole, watermark = in_time(parts)
    query = cer.compile(STEPS)
    options = {"order_by": ["ts", "id"], "event_id": "id"}
    wanted = query.run(whole.sort_by([("ts", "ascending"), ("id", "ascending")]), **options).to_arrow()
    wanted = wanted.filter(pc.less(wanted["end_time"].cast(pa.int64()), watermark))
    names = ["start", "end", "k", "a", "b", "c"]
    rows = [sorted(map(str, one.select(names).to_pylist())) for one in (wanted, committed(folder / "out"))]
    print(
        f"{len(parts)} files, {last_commit(folder)} commits, {dict(killed)}, {len(rows[0])} matches wanted",
        flush=True,
    )
    if rows[0] != rows[1]:
        missing, further = Counter(rows[0]) - Counter(rows[1]), Counter(rows[1]) - Counter(rows[0])
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
