"""How much memory this process may still take: what the machine has free, within its container's limit."""

from __future__ import annotations

from pathlib import Path

from cer_gpu.cores import ROOT, groups


def free_memory(root: Path = ROOT) -> int | None:
    """Bytes of memory that this process may still take; None if that is not known.

    The memory that Linux says is available; less if the control group of the process, or one around it,
    allows less.
    """
    found = [size for size in (_available(root),) if size is not None]
    for folder, unified in groups(root, "memory"):
        names = ("memory.max", "memory.current") if unified else _SPLIT
        most, used = (_number(folder / name) for name in names)
        if most is not None and used is not None:
            found.append(max(most - used + _reclaimable(folder, unified), 0))
    return min(found, default=None)


_SPLIT = ("memory.limit_in_bytes", "memory.usage_in_bytes")


def _available(root: Path) -> int | None:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return None


def _reclaimable(folder: Path, unified: bool) -> int:
    """Bytes of files that are in memory only because nothing else needs it."""
    name = "inactive_file " if unified else "total_inactive_file "
    return next((int(line.split()[1]) for line in _lines(folder / "memory.stat") if line.startswith(name)), 0)


def _number(file: Path) -> int | None:
    words = [line.strip() for line in _lines(file)]
    return int(words[0]) if words and words[0].isdigit() else None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
