"""The check of hits and counts of timed steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cer_gpu.engine.cuda.check.inputs import NONE, WITHIN, A, Answers, B, C, ComparedArray, Inputs, mixed
from cer_gpu.kernels.device.words import copied, to_device
from cer_gpu.kernels.loop.contract import ANY_PLACE, APART, NEIGHBOUR, LoopSegments
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.steps import cpu_counts as on_cpu_counts
from cer_gpu.kernels.steps import cpu_hits as on_cpu_hits
from cer_gpu.kernels.steps import cuda_counts as step_counts
from cer_gpu.kernels.steps import cuda_hits as step_hits
from cer_gpu.kernels.steps.contract import StepEvents, StepTables, short_tables
from cer_gpu.kernels.steps.cuda_units import DeviceSteps, device_steps
from cer_gpu.kernels.windows import cpu as windows
from cer_gpu.kernels.windows.contract import comparable


class _DeviceInput(NamedTuple):
    """Events with times of one dtype, its name: on the host, on the device, and the automaton there."""

    name: str
    events: StepEvents
    there: StepEvents
    tables: StepTables
    steps: DeviceSteps


def stepped_hits(inputs: Inputs) -> Answers:
    """The ends of timed steps within a window, with the latest start and with the earliest one."""
    units = _units(inputs)
    for timed in _timed(inputs, chained_tables):
        own = timed.tables, timed.events
        for keys in (inputs.keys, inputs.keys.astype(np.float64)):
            name = f"hits of timed steps, {timed.name} and {keys.dtype}"
            event, latest = inputs.cpu(name, on_cpu_hits.hits, *own, keys, WITHIN, units)
            wide, size = comparable(keys, WITHIN)
            arrays = timed.there, copied(wide), size, units
            _, *found = step_hits.hits(timed.steps, *arrays, False, inputs.lane, inputs.stream)
            yield ComparedArray("event", found[0], event)
            yield ComparedArray("latest start", found[1], latest)
        name = f"earliest hits of timed steps, {timed.name}"
        event, earliest = inputs.cpu(name, on_cpu_hits.early_hits, *own, units)
        none, size = comparable(NONE, 0)
        arrays = timed.there, copied(none), size, units
        _, *found = step_hits.hits(timed.steps, *arrays, True, inputs.lane, inputs.stream)
        yield ComparedArray("event without a window", found[0], event)
        yield ComparedArray("earliest start", found[1], earliest)


def stepped_counts(inputs: Inputs) -> Answers:
    """How many complex events of timed steps end at each hit: of all, and of those in a window."""
    units = _units(inputs)
    for timed in _timed(inputs, chained_tables):
        own, name = (timed.tables, timed.events), f"counts of timed steps, {timed.name}"
        event, number = inputs.cpu(name, on_cpu_counts.counted_ends, *own, units)
        launch: dict[str, Any] = {"geometry": inputs.lane, "stream": inputs.stream}
        _, *found = step_counts.counts(timed.steps, timed.there, units, **launch)
        yield ComparedArray("event", found[0], event)
        yield ComparedArray("count", found[1], number)
    for timed in _timed(inputs, short_chain):
        *ends, number = inputs.cpu(f"counts of a short chain, {timed.name}", _short_here, inputs, timed)
        short = short_tables(timed.tables)
        counted = step_counts.short_counts(
            timed.steps, short, timed.there, units, *ends, inputs.lane, inputs.stream
        )
        yield ComparedArray("count of a short chain", counted, number)


def _short_here(inputs: Inputs, timed: _DeviceInput) -> list[np.ndarray]:
    """The hits of a short chain by segment, their events, the lowest starts and the counts, on the CPU."""
    units = _units(inputs)
    event, _ = on_cpu_hits.hits(timed.tables, timed.events, inputs.keys, WITHIN, units)
    first = np.append(np.searchsorted(event, inputs.report), len(event))
    lowest = windows.lowest_starts(inputs.keys, inputs.begin, first, event, WITHIN)
    ends = first, event, lowest
    return [*ends, on_cpu_counts.counts(timed.tables, timed.events, units, SegmentHits(*ends))]


def short_chain(bound: type) -> StepTables:
    """`A ;[1, 9] B ;[<= 7] C`: states 0, 1 and 2 are entered by an A, a B and a C."""
    return _tables(bound, [(A, 0, True, []), (B, 1, False, [0]), (C, 2, False, [1])], [0, 1], [ANY_PLACE] * 2)


def chained_tables(bound: type) -> StepTables:
    """`A ;[1, 9] B+[..] ;[<= 7] C`, whose B events follow one another at once within 7, or apart within 9."""
    views, near = [0, 1, 1, 1], [ANY_PLACE, ANY_PLACE, NEIGHBOUR, APART]
    return _tables(bound, [(A, 0, True, []), (B, 1, False, [0, 2, 3]), (C, 2, False, [1])], views, near)


def _tables(
    bound: type, groups: list[tuple[int, int, bool, list[int]]], sources: list[int], near: list[int]
) -> StepTables:
    symbols, states, starts, reads = zip(*groups)
    int32, count = np.int32, len(sources)
    return StepTables(
        first=np.searchsorted(symbols, np.arange(5)).astype(int32),
        group_state=np.array(states, int32),
        group_starts=np.array(starts, np.uint8),
        read_first=np.append(0, np.cumsum([len(own) for own in reads])).astype(int32),
        read_view=np.array([view for own in reads for view in own], int32),
        accepting=np.array([0, 0, 1], np.uint8),
        state_label=np.array([1, 2, 4], int32),
        view_state=np.array(sources, int32),
        view_low=np.array([1, 0, 0, 2][:count], bound),
        view_high=np.array([9, 7, 7, 9][:count], bound),
        view_near=np.array(near, np.uint8),
        view_timed=np.ones(count, np.uint8),
        view_loose=np.zeros(count, np.uint8),
        view_rises=np.array([1, 0, 0, 0][:count], np.uint8),
    )


def _timed(inputs: Inputs, tables_of: Any) -> Iterator[_DeviceInput]:
    """The events with integer times and with floating ones."""
    moments = np.cumsum(mixed(len(inputs.symbols), 4))
    places = np.cumsum(1 + (mixed(len(inputs.symbols), 5) == 0))
    for bound, times in ((np.uint64, moments.view(np.uint64)), (np.float64, moments / 2)):
        tables = tables_of(bound)
        there = StepEvents(to_device(inputs.symbols.astype(np.uint16)), copied(times), copied(places))
        here = StepEvents(inputs.symbols, times, places)
        yield _DeviceInput(str(times.dtype), here, there, tables, device_steps(tables))


def _units(inputs: Inputs) -> LoopSegments:
    return LoopSegments(inputs.begin, inputs.report, inputs.stop)
