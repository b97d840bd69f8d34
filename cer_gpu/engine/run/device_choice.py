"""Decides whether a run takes place on the CPU or on CUDA devices, and says why."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cer_gpu.engine.device_loss import LostDeviceError, device_loss, say_loss
from cer_gpu.engine.devices import no_driver
from cer_gpu.engine.run.device_estimate import BEGUN, DEAREST, KERNELS, LIBRARIES, engine_of, estimate
from cer_gpu.errors import DeviceError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from cer_gpu.engine.answers.notes import Notes
    from cer_gpu.plan.compiled_query import CompiledQuery

LONG = 0.5
"""Seconds of the CPU from which on `auto` has a device checked, which takes a minute, once."""

SOON = "the CPU, because so few events are done before a GPU has begun"

_NAMES = "give 'auto', 'cpu', 'cuda', or a device by its number, such as 'cuda:1'"

_BECAUSE = "the CPU, because "

_NAME = re.compile(r"auto|cpu|cuda(?::(\d+))?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run takes place.

    Attributes
    ----------
    numbers : tuple of int
        The numbers of the CUDA devices; empty: the CPU.
    reason : str
        Why the run takes place there.
    """

    numbers: tuple[int, ...]
    reason: str

    @property
    def name(self) -> str:
        """The place in the form of `device=`: "cpu", "cuda:0", "cuda:0,cuda:1"."""
        return ",".join(f"cuda:{number}" for number in self.numbers) or "cpu"


def asked_devices(device: str | Sequence[str]) -> tuple[str, ...]:
    """Check what a caller gave as `device`.

    Parameters
    ----------
    device : str or sequence of str
        "auto", "cpu", "cuda" (the first one), "cuda:1"; several CUDA devices as a list, or with commas.

    Returns
    -------
    tuple of str
        `("auto",)`, `("cpu",)`, or the names of CUDA devices with their numbers.

    Raises
    ------
    DeviceError
        For another name, and for a CUDA device that cannot be used: the message says why.
    """
    if not isinstance(device, Sequence):
        raise DeviceError(f"device={brief(device)}: {_NAMES}")
    given = device.split(",") if isinstance(device, str) else list(device)
    names = [name.strip() if isinstance(name, str) else name for name in given]
    for name in names:
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise DeviceError(f"device={brief(device)}: {_NAMES}")
    names = ["cuda:0" if name == "cuda" else name for name in names]
    if len(set(names)) != len(names) or not names or (len(names) > 1 and {"auto", "cpu"} & set(names)):
        raise DeviceError(
            f"device={brief(device)}: give one device, or several CUDA devices, none of them twice"
        )
    if names[0] not in ("auto", "cpu"):
        _refuse_unusable(names)
    return tuple(names)


def _refuse_unusable(names: list[str]) -> None:
    from cer_gpu.kernels.device.availability import cuda_usable

    if (loss := device_loss()) is not None:
        raise DeviceError(
            f"device={brief(','.join(names))} cannot be used: {loss}; start a new process, or use "
            "device='cpu'"
        )
    found = cuda_usable()
    if not found:
        raise DeviceError(
            f"device={brief(','.join(names))} cannot be used: {found.reason}; "
            "device='auto' uses the CPU where there is no GPU"
        )
    missing = [name for name in names if int(name.removeprefix("cuda:")) >= len(found.devices)]
    if missing:
        there = ", ".join(f"cuda:{number} ({name})" for number, name in enumerate(found.devices))
        raise DeviceError(f"device={brief(missing[0])} does not exist: this machine has {there}")


def refuse_wrong(names: Sequence[str], *engines: str) -> None:
    """Refuse CUDA devices that were asked for and fail the check of the kernels of some engines.

    Parameters
    ----------
    names : sequence of str
        From `asked_devices`; "auto" and "cpu" are passed over.
    engines : str
        As for `why_wrong`.

    Raises
    ------
    DeviceError
        The message says what is wrong.
    """
    for name in names:
        fault = _fault_told(int(name.removeprefix("cuda:")), engines) if name.startswith("cuda:") else None
        if fault is not None:
            raise DeviceError(
                f"device={brief(name)} is not used: {fault}; use device='cpu', and run `cer device`, which "
                "checks the GPU again and prints what a bug report needs"
            )


def why_wrong(number: int, *engines: str) -> str | None:
    """Why a CUDA device is not used: it was lost, or its check found a fault; None if it is right.

    Parameters
    ----------
    number : int
    engines : str
        What launches the kernels that are checked: `Machine.engine`, `TEAMS`, `ROW_PATTERNS`.
    """
    if (loss := device_loss()) is not None:
        return str(loss)
    return _fault_told(number, engines)


def _fault_told(number: int, engines: Sequence[str]) -> str | None:
    from cer_gpu.engine.cuda.check.findings import fault_of
    from cer_gpu.engine.versions import all_versions
    from cer_gpu.kernels.device.availability import cuda_usable

    fault = fault_of(number, *engines)
    if fault is None:
        return None
    versions = ", ".join(f"{name} {version}" for name, version in all_versions().items())
    name = cuda_usable().devices[number]
    return f"cuda:{number} ({name}) failed the comparison with the CPU: {fault} (with {versions})"


def place_of(
    asked: tuple[str, ...],
    query: CompiledQuery,
    rows: int | None,
    lying: int | None = None,
    members: int = 1,
    lists: bool = False,
) -> Place:
    """Where a query runs.

    Parameters
    ----------
    asked : tuple of str
        From `asked_devices`.
    query : CompiledQuery
    rows : int or None
        The number of events; None if it is not known.
    lying : int or None
        The number of the device that the events are on; None if they are on the host.
    members : int, optional
        How many variants of the query run together.
    lists : bool, optional
        Whether matches are listed.

    Raises
    ------
    DeviceError
        If the events are on a device that was not asked for, or a device that was asked for fails the check
        of the kernels that the query launches.
    """
    if asked == ("cpu",):
        return Place((), "device='cpu' was asked for")
    if asked != ("auto",):
        if lying is not None and f"cuda:{lying}" not in asked:
            raise DeviceError(
                f"device={brief(','.join(asked))}: the events are in the memory of cuda:{lying}; give that "
                "device, or copy them to the host"
            )
        refuse_wrong(asked, query.machine.engine)
        said = f"device={brief(','.join(asked))} was asked for"
        without = on_host(query)
        return Place(
            tuple(int(name.removeprefix("cuda:")) for name in asked),
            f"{said}; on the CPU: {without}" if without else said,
        )
    if (reason := query.machine.where("auto")) is not None:
        return Place((), reason)
    if lying is not None:
        fault = why_wrong(lying, query.machine.engine)
        return (
            Place((lying,), "the events are in the memory of that device")
            if fault is None
            else Place((), _BECAUSE + fault)
        )
    if rows is None:
        return Place((), "the number of events is not known before the run; device='cuda' uses a GPU anyway")
    if members * rows * DEAREST < (BEGUN if "numba.cuda" in sys.modules else LIBRARIES + KERNELS):
        return Place((), SOON)
    engine, least = engine_of(query, members), estimate(query, rows, None, members, lists)
    if least.cpu <= least.device:
        return Place((), least.told("any GPU"))
    if (loss := device_loss()) is not None:
        return Place((), f"{_BECAUSE}{loss}")
    from cer_gpu.kernels.device.availability import cuda_usable, simulated

    absent = no_driver()
    if absent is not None:
        return Place((), _BECAUSE + absent)
    if simulated():
        return Place((), _BECAUSE + "Numba's CUDA simulator is only for tests")
    found = cuda_usable()
    if not found:
        return Place((), _BECAUSE + found.reason)
    from cer_gpu.engine.cuda.check.findings import is_checked, speed_of

    if least.cpu < LONG and not is_checked(0, engine):
        return Place((), f"{_BECAUSE}cuda:0 is not checked yet, which takes longer than the run")
    if (fault := why_wrong(0, engine)) is not None:
        return Place((), _BECAUSE + fault)
    if (speed := speed_of(0)) is None:
        return Place((), f"{_BECAUSE}cuda:0 has no memory left for its check")
    likely = estimate(query, rows, speed, members, lists)
    return Place((0,) if likely.device < likely.cpu else (), likely.told("cuda:0"))


def left_device(place: Place, lying: int | None, notes: Notes) -> Place:
    """The CPU, in the place of devices that have no memory for a query, or were lost; it says which.

    Parameters
    ----------
    place : Place
    lying : int or None
        As for `place_of`.
    notes : Notes

    Raises
    ------
    LostDeviceError
        If the events were on a device that was lost.
    """
    if (loss := device_loss()) is not None:
        if lying is not None:
            raise LostDeviceError(loss)
        say_loss(loss)
        return Place((), f"{_BECAUSE}{loss}")
    reason = f"{place.name} has no memory left for the tables of the query, so the CPU runs it"
    notes.say(reason)
    return Place((), reason)


def on_host(query: CompiledQuery) -> str | None:
    """The steps of a query that run on the CPU whatever device was asked for; None if there are none."""
    reading, window = query.reading, query.window
    # Configurations are dropped by the thread that follows those of their partition.
    own_lane = query.consume == "PARTITION" and query.traits.state == "followed"
    parts = [
        (reading.makes_lanes, "assigning events to partitions and streams"),
        (query.consume != "NONE" and not own_lane, f"CONSUME BY {query.consume}"),
        (query.suppress is not None, "SUPPRESS"),
        (bool(query.outlooks), "FOLLOWED BY and PRECEDED BY"),
        (
            window is not None and window.kind == "attribute",
            "partitions in which what WITHIN measures falls",
        ),
    ]
    own = query.machine.where("cuda")
    named = [*([] if own is None else [own]), *(name for holds, name in parts if holds)]
    return ", ".join(named) or None
