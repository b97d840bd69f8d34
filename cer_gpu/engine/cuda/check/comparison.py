"""The check of a device: its answers are compared with the CPU's, family by family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numba import cuda

from cer_gpu.engine.cuda.check.cpu_answers import stored_answers
from cer_gpu.engine.cuda.check.families import FAMILIES, Family
from cer_gpu.engine.cuda.check.fault import CheckResult, Fault
from cer_gpu.engine.cuda.check.inputs import ComparedArray, Inputs
from cer_gpu.kernels.device.availability import out_of_memory, simulated
from cer_gpu.kernels.device.geometry import LANE, STREAM, Geometry
from cer_gpu.kernels.device.jit import KernelLauncher, watching

SIMULATED = Geometry(4, 2)
"""Blocks in the simulator, where each thread is a Python thread: small, and too few for all the work."""

Tell = Callable[[str, str, str], None]
"""Takes "launch", "run" or "done", a family and a kernel: a launch begins, its work begins, and has ended."""


class _Watch:
    """Waits for the end of each launch, so that an error can be told of its kernel.

    Attributes
    ----------
    launched : dict of str to None
        The names of the kernels, in the order of their first launch.
    raised : str or None
        The kernel whose launch raised an error.
    """

    def __init__(self, family: str, tell: Tell) -> None:
        self.launched: dict[str, None] = {}
        self.raised: str | None = None
        self._family, self._tell = family, tell

    def __call__(self, kernel: KernelLauncher, launch: Callable[..., Any]) -> Callable[..., None]:
        return partial(self._launch, kernel.name, launch)

    def _launch(self, name: str, launch: Callable[..., Any], *arguments: Any) -> None:
        self.launched[name] = None
        try:
            self._tell("launch", self._family, name)
            launch(*arguments)
            self._tell("run", self._family, name)
            cuda.synchronize()
            self._tell("done", self._family, name)
        except Exception:
            self.raised = name
            raise


def _silent(*_: str) -> None:
    """Told to nobody."""


def check(
    inputs: Inputs | None = None, families: Sequence[Family] = FAMILIES, tell: Tell = _silent
) -> CheckResult:
    """Compare the answers of the current device with the CPU's, up to the first wrong one.

    Parameters
    ----------
    inputs : Inputs, optional
        By default inputs for the sizes of blocks that the engine launches, with the CPU's stored answers.
    families : sequence of Family, optional
    tell : callable, optional
        Told of each launch.

    Raises
    ------
    Exception
        Where the device or the host has no memory left, which says nothing about the kernels.
    """
    if inputs is None:
        lane, stream = (SIMULATED, SIMULATED) if simulated() else (LANE, STREAM)
        inputs = Inputs(lane, stream, stored_answers(lane.threads))
    right: dict[str, None] = {}
    for family in families:
        watch = _Watch(family.name, tell)
        try:
            with watching(watch):
                difference = next((told for told in map(_difference, family.answers(inputs)) if told), None)
        except Exception as error:
            if isinstance(error, MemoryError) or out_of_memory(error):
                raise
            raised = () if watch.raised is None else (watch.raised,)
            return CheckResult(Fault(family.name, raised, _line(error)), tuple(right | watch.launched))
        if difference is not None:
            blamed = tuple(name for name in watch.launched if name not in right) or tuple(watch.launched)
            return CheckResult(Fault(family.name, blamed, difference), tuple(right | watch.launched))
        right |= watch.launched
    return CheckResult(None, tuple(right))


def _difference(compared: ComparedArray) -> str | None:
    """How an answer differs from the CPU's; None if it is the same."""
    name, there, here = compared
    found = there.copy_to_host() if hasattr(there, "copy_to_host") else np.asarray(there)
    if found.shape != here.shape:
        return f"{name} has the shape {found.shape}, on the CPU {here.shape}"
    wrong = found != here
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    at = tuple(int(axis[0]) for axis in np.nonzero(wrong))
    place = ", ".join(map(str, at))
    return f"{name}[{place}] is {found[at]}, on the CPU {here[at]} ({count:,} of {found.size:,} differ)"


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"it raises {type(error).__name__}: {text[:300]}" if text else f"it raises {type(error).__name__}"
