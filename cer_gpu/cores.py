"""How many cores the process may use, by its affinity and by the share of the machine of its container."""

from __future__ import annotations

import os
from functools import cache
from math import ceil
from pathlib import Path

ROOT = Path("/")
"""Where `proc` and `sys` lie."""


@cache
def usable_cores() -> int:
    """How many cores this process may keep busy.

    Those that it may run on, or fewer where its control group grants it less time than they have: with a
    quota of one and a half cores, two threads use all of it.
    """
    pinned = hasattr(os, "sched_getaffinity")
    allowed = len(os.sched_getaffinity(0)) if pinned else os.cpu_count() or 1
    granted = granted_cores(ROOT)
    return allowed if granted is None else max(1, min(allowed, ceil(granted)))


def granted_cores(root: Path) -> float | None:
    """The share of time that Linux's control groups grant this process, in cores; None without a limit.

    Parameters
    ----------
    root : Path
        The folder of `proc` and `sys`.
    """
    shares = [
        share
        for folder, unified in groups(root, "cpu")
        if (share := _unified(folder) if unified else _split(folder)) is not None
    ]
    return min(shares, default=None)


def groups(root: Path, controller: str) -> list[tuple[Path, bool]]:
    """The folders of the process's control groups and of those around them, and whether each is version 2.

    Parameters
    ----------
    root : Path
        The folder of `proc` and `sys`.
    controller : {"cpu", "memory"}
        Which of their limits is read.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    mounted = root / "sys/fs/cgroup"
    found = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            tops = [mounted, mounted / "unified"]
        elif controller in controllers.split(","):
            tops = [mounted / controllers, mounted / controller]
        else:
            continue
        for top in dict.fromkeys(tops):
            # A container sees its own group as the root of the tree, or the path of the machine that is not
            # there: then the root is what holds.
            inside = top / path.strip("/")
            while inside != top.parent:
                found.append((inside, not controllers))
                inside = inside.parent
    return found


def _unified(folder: Path) -> float | None:
    """The share that a group of version 2 grants: `50000 100000` is half a core, `max 100000` no limit."""
    words = _words(folder / "cpu.max")
    return _share(words[0], words[1]) if len(words) == 2 else None


def _split(folder: Path) -> float | None:
    """The share that a group of version 1 grants: -1 without a limit."""
    quota, period = _words(folder / "cpu.cfs_quota_us"), _words(folder / "cpu.cfs_period_us")
    return _share(quota[0], period[0]) if quota and period else None


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").split()
    except OSError:
        return []


def _share(quota: str, period: str) -> float | None:
    if not (quota.isdigit() and period.isdigit()) or not int(quota) or not int(period):
        return None
    return int(quota) / int(period)
