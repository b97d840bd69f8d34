"""The check of hits and counts of configurations."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.check.inputs import WITHIN, A, Answers, C, ComparedArray, Inputs, mixed
from cer_gpu.engine.machines.configuration_arrays import (
    NO_ENDS,
    room_for,
    room_for_groups,
    room_for_state_ends,
    room_for_touched,
)
from cer_gpu.kernels.configurations import contract as words
from cer_gpu.kernels.configurations import cpu
from cer_gpu.kernels.configurations.contract import Groups, Rules, Steps, TimedEvents
from cer_gpu.kernels.configurations.cpu_groups import arrange
from cer_gpu.kernels.configurations.cuda import (
    BEGIN,
    REPORT,
    STATUS,
    STOP,
    UNIT_COLUMNS,
    OpenRows,
    UnitEnds,
    followed,
)
from cer_gpu.kernels.configurations.cuda_units import device_events, device_steps
from cer_gpu.kernels.streams.contract import NOTHING
from cer_gpu.kernels.windows.contract import comparable

ROOM = 1 << 6
"""A segment has fewer events than this."""


def followed_answers(inputs: Inputs) -> Answers:
    """The ends of `A ; C` whose C has the greater value, within a window, and their numbers."""
    count = len(inputs.begin)
    values = mixed(len(inputs.symbols), 7)[None]
    for dtype in (np.int64, np.float64):
        times, size = comparable(inputs.keys.astype(dtype), WITHIN)
        steps = _steps(times.dtype)
        lanes = np.repeat(np.arange(count), inputs.lengths).astype(np.int32)
        events = TimedEvents(
            inputs.symbols, lanes, times, times[:0], np.arange(len(times)), values,
            values.view(np.float64), np.ones(values.shape, np.uint8), NO_ENDS.astype(times.dtype),
        )  # fmt: skip
        rules = Rules(words.TIME_WINDOW, words.TIME_WINDOW, times.dtype.type(size), NOTHING, 1 << 20)
        units = np.zeros((count, UNIT_COLUMNS), np.int64)
        units[:, BEGIN], units[:, REPORT], units[:, STOP] = inputs.begin, inputs.report, inputs.stop
        nothing = OpenRows(
            np.zeros(count + 1, np.int64), np.empty(0, np.int32), np.empty((0, 1), np.int64),
            np.empty((0, 2), np.int64), times[:0], np.empty((0, 1), np.int64), np.zeros(count, np.int64),
            np.zeros((count, 2), times.dtype),
        )  # fmt: skip
        for limbs in (0, 1):
            there = device_events(events, np.arange(len(times)), times.dtype)
            says, _, ends, behind = followed(
                device_steps(steps, None), there, rules, units, nothing, ROOM, limbs, inputs.lane
            )
            name = f"configurations, {np.dtype(dtype)}, {'counted' if limbs else 'found'}"
            open_here, *found_here = inputs.cpu(name, _here, steps, events, rules, limbs, count)
            wanted = UnitEnds(*found_here)
            reported = wanted.event >= np.repeat(inputs.report, inputs.lengths)[wanted.event]
            yield ComparedArray("status", says[:, STATUS], np.full(count, words.DONE))
            for name, found, own in zip(("event", "least start", "latest start"), ends, wanted, strict=False):
                yield ComparedArray(name, found, own[reported])
            yield ComparedArray("open configurations", np.diff(behind.first), open_here)
            if limbs:
                yield ComparedArray("count", ends.number, wanted.number[reported])


def _steps(dtype: np.dtype) -> Steps:
    """Shape 0 waits for an A, whose value shape 1 keeps; a C with a greater one ends it, and it remains."""
    int32 = np.int32
    root = np.full((2, 5), words.STAYS, int32)
    root[0, A], root[1, C] = -words.FIRST_LEAF, 0
    remains, starts, accepts = words.REMAINS, words.STARTS, words.ACCEPTS
    outcome = [(0, remains, 0, 0, 0), (1, starts, 1, 1, 0)]
    outcome += [(0, remains, 1, 1, 0), (2, accepts, -1, 0, 0), (0, remains, 1, 1, 0)]
    return Steps(
        root=root,
        tree=np.array([(0, -1, 0, -2 - words.FIRST_LEAF, -1 - words.FIRST_LEAF, 0)], int32),
        leaf=np.array([0, 2, 4, 5], int32),
        outcome=np.array(outcome, int32),
        source=np.array([-3], int32),
        started=np.array([0, 1], np.uint8),
        slots=np.array([0, 1], int32),
        indexed=np.full((2, 2), -1, int32),
        completing=np.zeros((2, 2), int32),
        completion=np.zeros(1, int32),
        measure=np.array([words.LESS], np.uint8),
        column=np.zeros((1, 2), int32),
        real=np.zeros(1, np.uint8),
        low=np.zeros(1, dtype),
        high=np.zeros(1, dtype),
    )


def _here(steps: Steps, events: TimedEvents, rules: Rules, limbs: int, partitions: int) -> list[np.ndarray]:
    """How many configurations each partition leaves open on the CPU, and the arrays of what ends."""
    count, dtype = len(events.symbols), events.times.dtype
    room, lanes = 2 * count + 64, int(events.lanes.max()) + 1
    kept = room_for(room, dtype, 1, False, limbs)
    lane = np.zeros((lanes, 3), np.int64)
    groups = Groups(lane, np.zeros((lanes, 2), dtype), room_for_groups(room))
    progress = np.zeros(words.WORDS, np.int64)
    arrange(kept, groups, 0, steps.slots, steps.indexed, progress)
    progress[[words.SWEEP_AT, words.AHEAD_AT]] = 1 << 62
    ends = room_for_state_ends(count, limbs)
    arena = np.empty((0, 4), np.int64)
    status = cpu.follow(
        steps, None, events, count, rules, kept, groups, room_for_touched(room, kept), arena, ends, progress
    )
    assert status == words.DONE
    found = int(progress[words.HIT])
    still_open = np.bincount(kept.lane[kept.shape >= 0], minlength=partitions)
    return [still_open, *(each[:found] for each in ends[:4])]
