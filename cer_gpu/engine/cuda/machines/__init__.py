"""The machines that run over chunks on CUDA devices, one in each file; the other machines run on the CPU."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from cer_gpu.engine.machines.machine import MachineRunner, suppressing
from cer_gpu.engine.machines.machine import runner_of as runner_here
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled_query import CompiledQuery


def runner_of(
    query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]
) -> MachineRunner:
    """The runner of a query's machine on CUDA devices.

    Parameters
    ----------
    query, workers, carries
        As for `cer_gpu.engine.machines.machine.runner_of`.
    devices : tuple of int
        The numbers of the devices, at least one.
    """
    name = f"cer_gpu.engine.cuda.machines.{query.machine.engine}"
    if find_spec(name) is None:
        return runner_here(query, workers, carries)  # events are classified by the device
    module: Any = import_module(name)
    runner: MachineRunner = module.runner(query, workers, carries, devices)
    return runner if query.suppress is None else suppressing(runner, query)
