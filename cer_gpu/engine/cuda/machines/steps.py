"""Timed patterns beside a device: events are classified there, and steps run on the CPU."""

from __future__ import annotations

from cer_gpu.engine.machines.steps import StepRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled import CompiledQuery


def runner(query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]) -> StepRunner:
    """The runner of a timed pattern on the CPU."""
    return StepRunner(query, workers)
