"""Machine code that nobody has used for a month: `mark` says that a file is used, `prune` deletes the others.

The time of a file is that of its last use, to the day: most processes read files that are marked already, and
write nothing. A process whose file is deleted compiles it again.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from cer_gpu.cache_folder import safe

DAY_S = 86_400

MONTH_S = 30 * DAY_S
"""Seconds for which a file is kept without being used."""

OURS = (".kernel", ".lock", ".new")
"""How the names of files end that may be deleted: code, locks, and what was never written to its end."""


def mark(path: Path) -> None:
    """Say that a file is used today."""
    with suppress(OSError):  # nobody may write there
        if time.time() - path.stat().st_mtime > DAY_S:
            os.utime(path)


def prune(folder: Path) -> None:
    """Delete what nobody has used for a month from the folders in a folder, whatever version it is for.

    A link is not followed, and what others could have written is left alone. Other processes may read, write
    and prune meanwhile: what has gone is gone.
    """
    since = time.time() - MONTH_S
    for version in _inside(folder):
        if safe(version) and version.is_dir():
            unused = _before(version, since)
            for path in _inside(version):
                if path.name.endswith(OURS) and safe(path) and _before(path, since):
                    with suppress(OSError):
                        path.unlink()
            if unused:
                with suppress(OSError):  # something is in it
                    version.rmdir()


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir()) if safe(folder) else []
    except OSError:
        return []


def _before(path: Path, since: float) -> bool:
    try:
        return path.lstat().st_mtime < since
    except OSError:
        return False
