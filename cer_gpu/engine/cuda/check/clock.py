"""The check of hits and counts of automata with one clock."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.check.inputs import NONE, WITHIN, Answers, ComparedArray, Inputs
from cer_gpu.engine.machines.chunk import Segments
from cer_gpu.engine.machines.one_clock_stream import ClockRuns
from cer_gpu.engine.machines.open_runs import FollowedEvents
from cer_gpu.enumeration.clock_structure import exact_counts, latest_starts
from cer_gpu.kernels.clock.contract import ClockTables
from cer_gpu.kernels.clock.cuda_ends import clocked_ends
from cer_gpu.kernels.clock.cuda_units import device_clock
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.kernels.windows.contract import comparable

UPPER = ClockTables(
    first=np.array([0, 0, 2, 4, 6], np.int32),
    source=np.array([0, 1, 1, 2, 1, 2], np.int32),
    label=np.array([1, 0, 2, 0, 0, 3], np.int32),
    target=np.array([1, 1, 2, 2, 1, -1], np.int32),
    accepting=np.array([0, 0, 0, 0, 0, 1], np.uint8),
    check=np.array([-1, -1, 0, -1, -1, 1], np.int32),
    resets=np.array([1, 0, 0, 0, 0, 0], np.uint8),
    useful=np.array([1, 0, 1], np.int32),
    sense=1,
)
"""`(A ; B) WITHIN [<= 4]`, then C at most 7 after the A; each event but C may be passed over."""

LOWER = UPPER._replace(useful=np.full(3, -1, np.int32), sense=-1)
"""The same with `>=` in place of `<=`."""


def clocked_answers(inputs: Inputs) -> Answers:
    """The ends within a window, with the latest start and the number of complex events of each."""
    units = Segments(inputs.begin, inputs.report, inputs.stop, np.arange(len(inputs.begin)))
    for sense, tables in (("<=", UPPER), (">=", LOWER)):
        for dtype in (np.int64, np.float64):
            times, size = comparable(inputs.keys.astype(dtype), WITHIN)
            constants = np.array([4, 7], times.dtype)
            clock = device_clock(tables, constants, inputs.symbols, times, times)
            ends = [_ends(tables, constants, times, size, inputs, unit) for unit in range(len(units))]
            for place, name in ((1, "latest start"), (2, "count")):
                status, *found = clocked_ends(
                    clock, units, size, place == 2, geometry=inputs.lane, stream=inputs.stream
                )
                yield ComparedArray(f"status, {sense}", np.array([status]), np.zeros(1, np.int64))
                event, value = (np.concatenate([one[column] for one in ends]) for column in (0, place))
                yield ComparedArray(f"event, {sense}", found[0], event)
                yield ComparedArray(f"{name}, {sense}", found[1], value)


def _ends(
    tables: ClockTables,
    constants: np.ndarray,
    times: np.ndarray,
    size: int | float,
    inputs: Inputs,
    unit: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ends that a unit reports on the CPU, their latest starts and numbers."""
    begin, report, stop = (int(bound[unit]) for bound in (inputs.begin, inputs.report, inputs.stop))
    own, count = times[begin:stop], stop - begin
    nothing = np.empty((0, count), np.int32)
    read = StreamEvents(inputs.symbols[begin:stop], np.empty(0, np.int32), own, NONE, nothing, NONE)
    low = np.full(1, -1, np.int64)
    bounds = LaneBounds(low, low.copy(), np.zeros(1, np.int64), np.zeros(1, np.int64))
    runs, size = ClockRuns(tables, constants, "NONE", True), times.dtype.type(size)
    ending = runs.follow(FollowedEvents(read, size, bounds, 0, count, NONE, own, NONE))
    event = ending.ends.event + begin
    kept = event >= report
    latest, number = latest_starts(runs.arena, ending), exact_counts(runs.arena, ending)
    return event[kept], latest[kept] + begin, number[kept]
