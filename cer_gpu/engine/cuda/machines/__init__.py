"""The machines that run over chunks on CUDA devices: a file for each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cer_gpu.engine.cuda.consume import CudaConsumption
from cer_gpu.engine.machines.machine import MachineRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled import CompiledQuery


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
    module: Any = import_module(f"cer_gpu.engine.cuda.machines.{query.machine.engine}")
    runner: MachineRunner = module.runner(query, workers, carries, devices)
    runner.consumption = CudaConsumption(query, devices[0])
    return runner
