"""The user's own folder for what can be made again: compiled kernels, the grammar, the check of a device."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

NAME = "cer-gpu"

FOR_OTHERS = stat.S_IWGRP | stat.S_IWOTH
"""What the permissions of a safe folder or file do not have: others write there."""


def cache_folder() -> Path | None:
    """The folder of the user's cache, made where it is missing.

    It is `cer-gpu` in `$XDG_CACHE_HOME`, `~/.cache`, `~/Library/Caches` or `%LOCALAPPDATA%`, whichever the
    system has; where that cannot be written (a container, a read-only image), `cer-gpu-1000` (the number of
    the user) in the folder for temporary files.

    Returns
    -------
    Path or None
        A folder that belongs to the user and that nobody else can write to; None where there is none.
    """
    return next((folder for folder in _candidates() if _usable(folder)), None)


def safe(path: Path) -> bool:
    """Whether a file or folder is no link, belongs to this user, and can be written by nobody else."""
    try:
        found = path.lstat()
    except OSError:
        return False
    if stat.S_ISLNK(found.st_mode):
        return False
    # Windows has neither: there the folders of a user are protected by their access control lists.
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & FOR_OTHERS)


def _candidates() -> Iterator[Path]:
    home = _home()
    if home is not None:
        yield home / NAME
    user = f"-{os.geteuid()}" if hasattr(os, "geteuid") else ""
    try:
        yield Path(tempfile.gettempdir()) / f"{NAME}{user}"
    except OSError:  # not even a temporary file can be written
        return


def _home() -> Path | None:
    """Where the system keeps the caches of a user."""
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    if named and os.path.isabs(named):
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:  # a user without a name
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return home / ".cache"


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return folder.is_dir() and safe(folder) and os.access(folder, os.W_OK | os.X_OK)
