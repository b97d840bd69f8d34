"""Units of a chunk: segments, cut where the window allows it until there is work for a device's threads."""

from __future__ import annotations

from typing import Any

from cer_gpu.engine.cuda.machines.one_device import cut_early
from cer_gpu.engine.cuda.pool import DevicePool
from cer_gpu.engine.devices import on, with_memory
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.plan.compiled import WindowPlan

LEAST_UNIT = 256
"""A unit has at least so many events; with fewer, the cost of starting a unit would show."""

LEAST = 1 << 10
"""A device is used for at least so many units, or lists of hits: with fewer threads the CPU is faster."""


def units_of(
    pool: DevicePool[Any], chunk: Chunk, window: WindowPlan | None, stream: Geometry
) -> Segments | None:
    """The segments of a chunk, cut where the window allows it; None if they are too few or too large.

    Parameters
    ----------
    pool : DevicePool
        What it copies of a chunk has `measured`: a device array of what the window measures.
    chunk : Chunk
    window : WindowPlan or None
    stream : Geometry
    """
    segments = chunk.segments
    if len(segments) + int((segments.stop - segments.report).sum()) // LEAST_UNIT < LEAST:
        return None
    if window is None:
        return segments if len(segments) >= LEAST else None

    def cut() -> Segments:
        with on(pool.numbers[0]):
            return cut_early(segments, pool.copied(0, chunk).there.measured, window.size, stream)

    units = pool.or_none(with_memory(cut))
    return units if units is not None and len(units) >= LEAST else None
