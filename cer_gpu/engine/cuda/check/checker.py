"""The check of a device in a process of its own: `check_in_process`.

A kernel that reads outside of its memory ends the use of CUDA in its process, and a kernel that never ends
keeps its process waiting. Neither is to happen to the process of the user. What the other process compiles
lies in Numba's cache on disk, where this one finds it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cer_gpu.engine.cuda.check.families import families_named
from cer_gpu.engine.cuda.check.fault import CheckResult, Fault
from cer_gpu.engine.cuda.check.speed import DeviceSpeed, measured_speed
from cer_gpu.engine.devices import tried_on
from cer_gpu.kernels.device.availability import simulated

SCRIPT = "from cer_gpu.engine.cuda.check.checker import main; main()"
"""What the other process runs. It imports nothing of the program that asks."""

START_S, FAMILY_S = 60, 30
"""Seconds that the process has in all, and for each family that it checks: most of them are for compiling."""

EXCLUSIVE = 3
"""The compute mode of a device that takes one process at a time: CU_COMPUTEMODE_EXCLUSIVE_PROCESS."""

OWN = "the process of the check"
"""Stands for a family where the process has ended outside of all."""


def check_in_process(number: int, names: Sequence[str]) -> CheckResult | None:
    """Check some families of kernels of a device in a process of its own.

    In a frozen program, and on a device that takes one process at a time, this process checks.

    Parameters
    ----------
    number : int
        The number of a CUDA device of this machine.
    names : sequence of str

    Returns
    -------
    CheckResult or None
        None where the device has no memory left for the check.
    """
    from numba import cuda

    device = cuda.gpus[number]
    if not sys.executable or getattr(sys, "frozen", False) or getattr(device, "COMPUTE_MODE", 0) == EXCLUSIVE:
        return check_here(number, names)
    asked = json.dumps({"device": str(device.uuid), "families": list(names)})
    limit = START_S + FAMILY_S * len(names)
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:] = {json.dumps(sys.path)}; {SCRIPT}"],
            input=asked,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
            start_new_session=True,  # Ctrl-C is for this process; it ends the other one
        )
    except subprocess.TimeoutExpired as late:
        said: Any = late.stdout or ""
        text = said.decode() if isinstance(said, bytes) else said
        return _result(text, None, f"it does not end within {limit} s")
    except OSError:
        return check_here(number, names)
    return _result(done.stdout, done.returncode, _end_of(done.returncode, done.stderr))


def check_here(number: int, names: Sequence[str], tell: Any = None) -> CheckResult | None:
    """The same check in this process; `tell` as for `check`."""
    from cer_gpu.engine.cuda.check.comparison import check

    families = families_named(names)

    def checked() -> CheckResult:
        found = check(None, families) if tell is None else check(None, families, tell)
        wrong = found.fault is not None or simulated()
        return found if wrong else replace(found, speed=measured_speed())

    return tried_on(number, checked)


def _result(said: str, status: int | None, ended: str) -> CheckResult | None:
    """The result that the process has printed, or how it ended without one.

    Parameters
    ----------
    said : str
        What it has printed: a line of JSON for each launch, and one for the result.
    status : int or None
        How it ended; None where it had no time left.
    ended : str
        The same in words.
    """
    last: list[Any] = []
    for line in said.splitlines():
        try:
            last = json.loads(line)
        except ValueError:  # the last line of a process that was ended
            break
    match last:
        case ["result", None]:
            return None
        case ["result", {"fault": fault, "kernels": [*kernels], "speed": speed}]:
            return CheckResult(
                None if fault is None else Fault.from_dict(fault),
                tuple(kernels),
                None if speed is None else DeviceSpeed.from_dict(speed),
            )
        case [str(state), str(family), str(kernel)]:
            # A launch compiles its kernel first, which may take long without any fault.
            crashed = state == "launch" and status not in (None, 0, -signal.SIGINT)
            blamed = status not in _ENDED_BY_OTHERS and (state == "run" or crashed)
            return CheckResult(Fault(family, (kernel,) if blamed else (), ended), (kernel,))
    return CheckResult(Fault(OWN, (), ended), ())


_ENDED_BY_OTHERS = {-int(one) for one in (getattr(signal, "SIGKILL", 9), signal.SIGTERM, signal.SIGINT)}
"""Signals that come from outside, for example for want of main memory: they say nothing about a kernel."""


def _end_of(status: int, errors: str) -> str:
    """How a process ended, in a line."""
    if status < 0:
        try:
            return f"its process was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"its process was ended by signal {-status}"
    lines = [" ".join(line.split()) for line in errors.splitlines() if line.strip()]
    return f"its process ended with status {status}" + (f": {lines[-1][:300]}" if lines else "")


def main() -> None:
    """Check the device that standard input names; print each launch, and the result, as a line of JSON."""
    asked = json.loads(sys.stdin.read())
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is not for the other process

    def tell(*line: Any) -> None:
        print(json.dumps(line), file=told, flush=True)

    from numba import cuda

    numbers = [number for number, gpu in enumerate(cuda.gpus) if str(gpu.uuid) == asked["device"]]
    if not numbers:
        sys.exit(f"the device {asked['device']} is not visible")
    found = check_here(numbers[0], asked["families"], tell)
    tell("result", None if found is None else found.to_dict())
    os._exit(0)  # what is left of a lost context would raise errors, or wait
