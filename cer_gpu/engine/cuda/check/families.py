"""The families of kernels, in the order in which they build on one another, and the check of a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from cer_gpu.engine.cuda.check import (
    columns,
    comparisons,
    configurations,
    joins,
    row_patterns,
    runs,
    steps,
    teams,
)
from cer_gpu.engine.cuda.check.fault import Fault
from cer_gpu.engine.cuda.check.inputs import Answers, ComparedArray, Inputs
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.device.availability import out_of_memory, simulated
from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.kernels.device.jit import KernelLauncher, watching

SIMULATED = Geometry(4, 2)
"""Blocks in the simulator, where each thread is a Python thread: small, and too few for all the work."""


class Family(NamedTuple):
    """Kernels that compute one answer together.

    ===========  =====================================================
    `name`       its name in reports
    `answers`    callable: from `Inputs` to the arrays that are compared
    ===========  =====================================================
    """

    name: str
    answers: Callable[[Inputs], Answers]


FAMILIES = (
    Family("prefix sums", columns.scanned),
    Family("classification", columns.classified),
    Family("hits", runs.windowed_hits),
    Family("windows", runs.lowest_starts),
    Family("counts", runs.windowed_counts),
    Family("hits and counts without a window", runs.carried_counts),
    Family("hits of long segments", runs.long_hits),
    Family("counts of long segments", runs.long_counts),
    Family("hits of joins", joins.joined_hits),
    Family("counts of joins", joins.joined_counts),
    Family("hits of timed steps", steps.stepped_hits),
    Family("counts of timed steps", steps.stepped_counts),
    Family("hits and counts of partial matches", configurations.followed_answers),
    Family("hits of ordered look-ups", comparisons.looked_up_hits),
    Family("counts of ordered look-ups", comparisons.looked_up_counts),
    Family("sums of variants abreast", teams.abreast_sums),
    Family("sums of variants with iterations", teams.masked_sums),
    Family("sums of variants without a window", teams.carried_sums),
    Family("matches of row patterns", row_patterns.preferred_matches),
)
"""A family comes after those whose kernels it launches too, so the first wrong family is to blame."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check.

    Attributes
    ----------
    fault : Fault or None
        None if every answer is the same as the CPU's.
    kernels : tuple of str
        The kernels that were launched, in the order of their first launch.
    """

    fault: Fault | None
    kernels: tuple[str, ...]


class _Watch:
    """Waits for the end of each launch, so that an error can be told of its kernel.

    Attributes
    ----------
    launched : dict of str to None
        The names of the kernels, in the order of their first launch.
    raised : str or None
        The kernel whose launch raised an error.
    """

    def __init__(self) -> None:
        self.launched: dict[str, None] = {}
        self.raised: str | None = None

    def __call__(self, kernel: KernelLauncher, launch: Callable[..., Any]) -> Callable[..., None]:
        return partial(self._launch, kernel.name, launch)

    def _launch(self, name: str, launch: Callable[..., Any], *arguments: Any) -> None:
        self.launched[name] = None
        try:
            launch(*arguments)
            cuda.synchronize()
        except Exception:
            self.raised = name
            raise


def check(inputs: Inputs | None = None, families: Sequence[Family] = FAMILIES) -> CheckResult:
    """Compare the answers of the current device with the CPU's, up to the first wrong one.

    Parameters
    ----------
    inputs : Inputs, optional
        By default inputs for the sizes of blocks that the engine launches.
    families : sequence of Family, optional

    Raises
    ------
    Exception
        Where the device or the host has no memory left, which says nothing about the kernels.
    """
    if inputs is None:
        inputs = Inputs(SIMULATED, SIMULATED) if simulated() else Inputs()
    right: dict[str, None] = {}
    for family in families:
        watch = _Watch()
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
