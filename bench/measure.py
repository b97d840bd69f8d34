"""Times of functions, and the machine that they were taken on."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("numpy", "numba", "pyarrow", "duckdb", "chdb", "polars", "pyspark")


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of several runs of one thing, without the runs that warm up.

    Attributes
    ----------
    seconds : tuple of float
        By the clock.
    processor : tuple of float
        Processor seconds of all threads of the process; empty if they were not measured.
    """

    seconds: tuple[float, ...]
    processor: tuple[float, ...] = ()

    @property
    def on_processor(self) -> Times:
        """The same runs by processor time, which other work on the machine changes less."""
        return Times(self.processor)

    @property
    def median(self) -> float:
        """The median run."""
        return median(self.seconds)

    @property
    def least(self) -> float:
        """The fastest run."""
        return min(self.seconds)

    @property
    def most(self) -> float:
        """The slowest run."""
        return max(self.seconds)


def measure(functions: Mapping[str, Callable[[], Any]], runs: int, warm: int = 1) -> dict[str, Times]:
    """Time functions side by side: one run of each in turn, so that noise affects all of them.

    Parameters
    ----------
    functions : mapping of name to function
    runs : int
        Runs that are timed.
    warm : int
        Rounds before them that are not timed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    processor: dict[str, list[float]] = {name: [] for name in functions}
    for number in range(warm + runs):
        for name, function in functions.items():
            begin, used = time.perf_counter(), time.process_time()
            result = function()
            taken, used = time.perf_counter() - begin, time.process_time() - used
            del result  # not while the next one is timed
            if number >= warm:
                seconds[name].append(taken)
                processor[name].append(used)
    return {name: Times(tuple(seconds[name]), tuple(processor[name])) for name in functions}


def environment() -> dict[str, Any]:
    """Machine, versions and commit."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "commit": _git("rev-parse", "--short", "HEAD") or None,
        "changed": bool(_git("status", "--porcelain", "--untracked-files=no")),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    return next(
        (line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine()
    )


def version(package: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()
