"""The results of the check of each device: kept in memory, and on disk for later processes.

A query asks for the families of kernels that it launches. Their result is valid for one device and for the
versions of the project, its kernels, Python, Numba, CuPy, the driver and the CUDA libraries. It is stored as
a JSON file in the user's cache folder; without such a folder each process checks again. A device that was
wrong stays wrong until a version changes or `cer device` finds it right.
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

from numba import cuda

from cer_gpu.cache_folder import cache_folder, safe
from cer_gpu.engine.cuda.check.checker import check_here, check_in_process
from cer_gpu.engine.cuda.check.families import FAMILIES, families_of
from cer_gpu.engine.cuda.check.fault import CheckResult, Fault
from cer_gpu.engine.cuda.check.speed import DeviceSpeed
from cer_gpu.engine.device_loss import device_loss
from cer_gpu.engine.versions import all_versions
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.device.availability import simulated

FOLDER = "devices"
"""A folder in the user's cache folder, with a file for each device and set of versions, named by a digest."""

LARGEST = 1 << 16
"""A file of more bytes is not read."""

_ONE_AT_A_TIME = Lock()


def fault_of(number: int, *engines: str) -> Fault | None:
    """What is wrong with a device; None if nothing is known to be wrong.

    The families of kernels that some engines launch are checked now, as far as no result of theirs is stored.
    The simulator is not checked, since it is for tests of the kernels themselves.

    Parameters
    ----------
    number : int
        The number of a CUDA device of this machine.
    engines : str
        As in `Family.engines`.
    """
    if simulated() or device_loss() is not None:
        return None
    with _ONE_AT_A_TIME:
        known = _found_before(number)
        names = [family.name for family in families_of(engines) if family.name not in known.right]
        if known.fault is not None or not names:
            return known.fault
        found = _checked(number, names)
        if found is None:
            return None  # the run itself will say what it has no memory for
        versions = _versions_with(number)
        also = _remembered(versions) or known  # of other processes, meanwhile
        right = known.right | also.right | (frozenset(names) if found.fault is None else frozenset())
        known = _known[number] = _StoredFindings(found.fault or also.fault, right, found.speed or also.speed)
        _remember(versions, known)
        return known.fault


def is_checked(number: int, *engines: str) -> bool:
    """Whether the results for the kernels of some engines are stored, so that nothing is checked now."""
    with _ONE_AT_A_TIME:
        known = _found_before(number)
        return known.fault is not None or all(one.name in known.right for one in families_of(engines))


def speed_of(number: int) -> DeviceSpeed | None:
    """How fast a device is, as its check has measured; None where it was not checked."""
    with _ONE_AT_A_TIME:
        return _found_before(number).speed


def checked_anew(number: int) -> CheckResult | None:
    """Check all families of a device, even if results are stored, and store the new result.

    Returns
    -------
    CheckResult or None
        None where the device has no memory left for the check.
    """
    names = [family.name for family in FAMILIES]
    if simulated():
        return check_here(number, names)
    with _ONE_AT_A_TIME:
        forget()
        found = _checked(number, names)
        if found is not None:
            right = frozenset(names) if found.fault is None else frozenset[str]()
            _known[number] = _StoredFindings(found.fault, right, found.speed)
            _remember(_versions_with(number), _known[number])
        return found


def forget() -> None:
    """Forget the results in memory; those on disk stay."""
    _known.clear()


def _checked(number: int, names: list[str]) -> CheckResult | None:
    if sys.stderr is not None:
        print(
            f"cer-gpu: cuda:{number} is checked before its first use, which compiles the kernels for it",
            file=sys.stderr,
        )
    return check_in_process(number, names)


# ---------------------------------------------------------------------------------------------- on disk


@dataclass(frozen=True, slots=True)
class _StoredFindings:
    """What is known of a device: a fault, the names of the families that were right, and how fast it is."""

    fault: Fault | None
    right: frozenset[str]
    speed: DeviceSpeed | None


_known: dict[int, _StoredFindings] = {}
"""What this process knows, by the numbers of devices."""


def _found_before(number: int) -> _StoredFindings:
    """What this process, or an earlier one, knows of a device."""
    if number not in _known:
        nothing = _StoredFindings(None, frozenset(), None)
        _known[number] = _remembered(_versions_with(number)) or nothing
    return _known[number]


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
    """The results of earlier processes; None where there is no file, or one that cannot be trusted."""
    path = _file_of(versions)
    if path is None or not safe(path.parent) or not safe(path):
        return None
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(LARGEST))
        if told["versions"] != versions:
            return None
        fault, right, speed = told["fault"], told["right"], told["speed"]
        if not isinstance(right, list) or not all(isinstance(name, str) for name in right):
            return None
        return _StoredFindings(
            None if fault is None else Fault.from_dict(fault),
            frozenset(right),
            None if speed is None else DeviceSpeed.from_dict(speed),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _remember(versions: dict[str, str], findings: _StoredFindings) -> None:
    """Store a result, where there is a folder for it and a kernel has answered or failed."""
    path, fault = _file_of(versions), findings.fault
    if path is None or (fault is not None and not fault.kernels):
        return
    told = json.dumps(
        {
            "versions": versions,
            "fault": None if fault is None else fault.to_dict(),
            "right": sorted(findings.right),
            "speed": None if findings.speed is None else findings.speed.to_dict(),
        },
        indent=1,
    )
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        # It is written under another name and renamed, so that other processes see the whole file or none.
        with TemporaryDirectory(dir=path.parent) as folder:
            written = Path(folder) / path.name
            written.write_text(told, encoding="utf-8")
            os.replace(written, path)
    except OSError:
        return  # the next process checks again
