"""The results of the check of each device: kept in memory, and on disk for later processes.

A result is valid for one device and for the versions of the project, its kernels, Python, Numba, CuPy, the
driver and the CUDA libraries. It is stored as a JSON file in the user's cache folder; without such a folder
each process checks again. A device that was wrong stays wrong until a version changes or `cer device` finds
it right.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING

from numba import cuda

from cer_gpu.cache_folder import cache_folder, safe
from cer_gpu.engine.cuda.check.fault import Fault
from cer_gpu.engine.devices import tried_on
from cer_gpu.engine.versions import all_versions
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.device.availability import simulated

if TYPE_CHECKING:
    from cer_gpu.engine.cuda.check.families import CheckResult

FOLDER = "devices"
"""A folder in the user's cache folder, with a file for each device and set of versions, named by a digest."""

LARGEST = 1 << 16
"""A file of more bytes is not read."""

_ONE_AT_A_TIME = Lock()


class _NoMemoryError(Exception):
    """There was no memory on the device for the check: nothing is known about its kernels."""


def fault_of(number: int) -> Fault | None:
    """What is wrong with a device; None if nothing is known to be wrong.

    Where no result is stored the device is checked now. The simulator is not checked, since it is for tests
    of the kernels themselves.

    Parameters
    ----------
    number : int
        The number of a CUDA device of this machine.
    """
    if simulated():
        return None
    with _ONE_AT_A_TIME:
        try:
            return _fault(number)
        except _NoMemoryError:
            return None  # the run itself will say what it has no memory for


def checked_anew(number: int) -> CheckResult | None:
    """Check a device, even if a result is stored, and store the new result.

    Returns
    -------
    Checked or None
        None where the device has no memory left for the check.
    """
    with _ONE_AT_A_TIME:
        forget()
        found = _checked(number)
        if found is not None and not simulated():
            _remember(_versions_with(number), found.fault)
        return found


def forget() -> None:
    """Forget the results in memory; those on disk stay."""
    _fault.cache_clear()


@cache
def _fault(number: int) -> Fault | None:
    versions = _versions_with(number)
    remembered = _remembered(versions)
    if remembered is not None:
        return remembered.fault
    found = _checked(number)
    if found is None:
        raise _NoMemoryError
    _remember(versions, found.fault)
    return found.fault


def _checked(number: int) -> CheckResult | None:
    from cer_gpu.engine.cuda.check.families import check

    if sys.stderr is not None:
        print(
            f"cer-gpu: cuda:{number} is checked before its first use, which compiles all kernels for it",
            file=sys.stderr,
        )
    return tried_on(number, check)


# ---------------------------------------------------------------------------------------------- on disk


@dataclass(frozen=True, slots=True)
class _StoredFindings:
    fault: Fault | None


def _versions_with(number: int) -> dict[str, str]:
    """The device and the versions that a result is valid for."""
    device = cuda.gpus[number]
    own = {name: str(getattr(device, name, None)) for name in ("name", "compute_capability", "uuid")}
    return {
        **all_versions(),
        "kernels": _digest_of_kernels(),
        **{f"device: {name}": value for name, value in own.items()},
    }


@cache
def _digest_of_kernels() -> str:
    """The digest of the source of all kernels: in a checkout it changes more often than the version."""
    folder = Path(str(files("cer_gpu.kernels")))
    digest = sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _file_of(versions: dict[str, str]) -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    return folder / FOLDER / f"{sha256(json.dumps(versions, sort_keys=True).encode()).hexdigest()}.json"


def _remembered(versions: dict[str, str]) -> _StoredFindings | None:
    """The result of an earlier process; None where there is no file, or one that cannot be trusted."""
    path = _file_of(versions)
    if path is None or not safe(path.parent) or not safe(path):
        return None
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(LARGEST))
        if told["versions"] != versions:
            return None
        fault = told["fault"]
        return _StoredFindings(None if fault is None else Fault.from_dict(fault))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _remember(versions: dict[str, str], fault: Fault | None) -> None:
    """Store a result, where there is a folder for it and a kernel has answered or failed."""
    path = _file_of(versions)
    if path is None or (fault is not None and not fault.kernels):
        return
    told = json.dumps({"versions": versions, "fault": None if fault is None else fault.to_dict()}, indent=1)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        # It is written under another name and renamed, so that other processes see the whole file or none.
        with TemporaryDirectory(dir=path.parent) as folder:
            written = Path(folder) / path.name
            written.write_text(told, encoding="utf-8")
            os.replace(written, path)
    except OSError:
        return  # the next process checks again
