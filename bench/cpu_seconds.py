"""CPU seconds (user and system) of a process and of all that it has started.

The kernel adds the times of a child to its parent's when the child has ended and the parent has waited for
it. So the times of the living processes, and of the children that they have waited for, are those of the
whole tree, as long as every process waits: Spark's driver waits for its JVM, the JVM for the daemon of its
Python workers, the daemon for the workers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measure import Times

USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM = range(11, 15)
"""The fields of `/proc/PID/stat` with the times, counted from the state of the process."""
PARENT = 1
TICK = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
"""The unit of these times, in seconds; a run that is shorter counts as one."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What the runs of one thing took: CPU seconds, and seconds by the clock."""

    cpu: Times
    clock: Times

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Taken:
        """Read what `to_json` gave."""
        return cls(Times(tuple(record["cpu"])), Times(tuple(record["clock"])))

    @classmethod
    def joined(cls, parts: Sequence[Taken]) -> Taken:
        """Join runs that were measured at different times."""
        cpu, clock = ([s for part in parts for s in getattr(part, name).seconds] for name in ("cpu", "clock"))
        return cls(Times(tuple(cpu)), Times(tuple(clock)))

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"cpu": list(self.cpu.seconds), "clock": list(self.clock.seconds)}


def can_measure() -> bool:
    """Whether the system tells the times of other processes: Linux does."""
    return Path("/proc/self/stat").exists()


def tree_seconds(root: int | None = None) -> float:
    """CPU seconds of a process, of its descendants, and of those of them that have ended.

    Parameters
    ----------
    root : int, optional
        By default this process.
    """
    found = dict(_processes())
    root = os.getpid() if root is None else root
    children: dict[int, list[int]] = {}
    for process, fields in found.items():
        children.setdefault(int(fields[PARENT]), []).append(process)
    ticks, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        if process in found:
            ticks += sum(map(int, found[process][USER : CHILDREN_SYSTEM + 1]))
    return ticks * TICK


def _processes() -> list[tuple[int, list[str]]]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                text = Path("/proc", entry, "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:  # it has ended meanwhile
                continue
            # The name of the program, in brackets, may have spaces and brackets in it.
            found.append((int(entry), text.rpartition(")")[2].split()))
    return found


def measure_cpu(functions: Mapping[str, Callable[[], Any]], runs: int, warm: int = 1) -> dict[str, Taken]:
    """Measure functions side by side, one run of each in turn; parameters as for `measure`."""
    cpu: dict[str, list[float]] = {name: [] for name in functions}
    clock: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(warm + runs):
        for name, function in functions.items():
            used, begin = tree_seconds(), time.perf_counter()
            function()
            end, most = time.perf_counter(), tree_seconds()
            if number >= warm:
                cpu[name].append(max(most - used, TICK))
                clock[name].append(end - begin)
    return {name: Taken(Times(tuple(cpu[name])), Times(tuple(clock[name]))) for name in functions}
