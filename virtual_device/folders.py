"""The folders that the virtual device reads and writes: NVIDIA's libraries, and the user's cache."""

from __future__ import annotations

import os
import stat
from importlib.util import find_spec
from pathlib import Path


def cache_folder(name: str) -> Path:
    """A folder for what can be made again, under `~/.cache/virtual-device`, made where it is missing.

    Raises
    ------
    PermissionError
        Where others can write to it: what lies there is run.
    """
    home = os.environ.get("XDG_CACHE_HOME")
    top = Path(home) if home and os.path.isabs(home) else Path.home() / ".cache"
    folder = top / "virtual-device" / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{folder} can be written by others")
    return folder


def cuda_folder() -> Path | None:
    """The folder of CUDA's headers and libraries that pip has installed; None where there is none."""
    try:
        spec = find_spec("nvidia")
    except ValueError:
        return None
    for top in (spec.submodule_search_locations or []) if spec else []:
        for folder in sorted(Path(top).glob("cu*"), reverse=True):
            if (folder / "include" / "cuda.h").exists() and linker(folder) is not None:
                return folder
    return None


def linker(folder: Path) -> Path | None:
    """The library nvJitLink of a folder."""
    return next(iter(sorted((folder / "lib").glob("libnvJitLink.so.*"))), None)
