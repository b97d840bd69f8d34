"""The check of counts abreast: a few sequences in groups, with two windows, with iterations, and without."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.check.inputs import NONE, WITHIN, A, Answers, B, C, ComparedArray, Inputs
from cer_gpu.engine.machines import masked_sums as on_cpu
from cer_gpu.kernels.teams import cpu, cuda, cuda_masks
from cer_gpu.kernels.teams.contract import AbreastEvents, Edges, GroupSums, Spans, no_sums
from cer_gpu.kernels.teams.cpu_masks import beginnings
from cer_gpu.kernels.windows.contract import MeasuredWindow, comparable
from cer_gpu.plan.automaton_masks import MaskedTeam, Moves, masked_of

Bounds = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Where segments begin, are reported from, and stop."""

NODES, GROUP = 3, 50
"""Nodes of `A ; B ; C`, and events of a group of sums."""


def abreast_sums(inputs: Inputs) -> Answers:
    """Hits, matches, first and last time of `A ; B ; C`, and of members that leave one of its edges out."""
    edges, begin = _edges(), np.array([0, 3, 5])
    bounds = inputs.begin, inputs.report, inputs.stop
    floats = inputs.keys.astype(np.float64)
    for keys, at in ((inputs.keys, inputs.keys), (floats, floats), (inputs.keys, floats)):
        window = comparable(keys, WITHIN)
        sizes = np.array([window.size // 2, window.size], window.keys.dtype)
        group = NONE if at is inputs.keys else np.arange(len(at)) // GROUP
        events = AbreastEvents(inputs.symbols, window.keys, at, group)
        groups = 1 if not len(group) else int(group[-1]) + 1
        empty = no_sums(groups, edges.masks.shape[1], at.dtype)
        case = f"sums of variants abreast, {keys.dtype} and {at.dtype}"
        here = inputs.cpu(case, _abreast_here, edges, Spans(begin, sizes), events, bounds, empty)
        team, units = cuda.device_team(edges, begin, NODES), cuda.AbreastUnits(*bounds)
        _, there = cuda.abreast(team, sizes, cuda.device_events(events), units, groups, inputs.lane)
        yield from map(ComparedArray, there._fields, there, here)


def masked_sums(inputs: Inputs) -> Answers:
    """The same of `A : B+ ; C`, and of members for which another symbol continues it."""
    masked = _masked()
    many, bounds = masked.ends.masks.shape[1], (inputs.begin, inputs.report, inputs.stop)
    team = cuda_masks.device_masked(
        masked.forward, masked.backward, masked.ends, masked.nodes, masked.registers
    )
    floats = inputs.keys.astype(np.float64)
    for keys, at in ((inputs.keys, inputs.keys), (floats, floats), (inputs.keys, floats)):
        window = comparable(keys, WITHIN)
        group = NONE if at is inputs.keys else np.arange(len(at)) // GROUP
        events = AbreastEvents(inputs.symbols, window.keys, at, group)
        groups = 1 if not len(group) else int(group[-1]) + 1
        empty = no_sums(groups, many, at.dtype)
        case = f"sums of variants with iterations, {keys.dtype} and {at.dtype}"
        most, *here = inputs.cpu(case, _masked_here, masked, window, events, bounds, empty)
        size, units = np.array([window.size], window.keys.dtype), cuda.AbreastUnits(*bounds)
        there = cuda.device_events(events)
        _, found = cuda_masks.abreast_masked(team, size, there, units, int(most), groups, inputs.lane)
        yield from map(ComparedArray, found._fields, found, here)


def carried_sums(inputs: Inputs) -> Answers:
    """The same without a window: also what is carried on from each segment."""
    masked = _masked()
    many, lanes = masked.ends.masks.shape[1], len(inputs.begin)
    team = cuda_masks.device_masked(
        masked.forward, masked.backward, masked.ends, masked.nodes, masked.registers
    )
    for at in (inputs.keys, inputs.keys.astype(np.float64)):
        events = AbreastEvents(inputs.symbols, np.empty(0, np.uint64), at, NONE)
        runs = np.zeros((lanes, masked.nodes, many), np.int64)
        bounds = inputs.begin, inputs.stop
        _, carried, found = cuda_masks.abreast_carried(
            team, cuda.device_events(events), *bounds, runs, 1, inputs.lane
        )
        case = f"sums of variants without a window, {at.dtype}"
        empty = no_sums(1, many, at.dtype)
        after, *here = inputs.cpu(case, _carried_here, masked, events, bounds, runs, empty)
        yield ComparedArray("carried", carried, after)
        yield from map(ComparedArray, found._fields, found, here)


def _abreast_here(
    edges: Edges, spans: Spans, events: AbreastEvents, bounds: Bounds, sums: GroupSums
) -> GroupSums:
    cpu.abreast(edges, spans, NODES, events, *bounds, sums)
    return sums


def _masked_here(
    masked: MaskedTeam,
    window: MeasuredWindow,
    events: AbreastEvents,
    bounds: Bounds,
    sums: GroupSums,
) -> list[np.ndarray]:
    """One more than the most events at which the runs of a window begin, and the sums."""
    begin, _, stop = bounds
    size = window.keys.dtype.type(window.size)
    most = beginnings(masked.ends.begins, events.cells, window.keys, size, begin, stop)
    on_cpu.masked_sums(masked, size, events, *bounds, sums)
    return [np.array(int(most) + 1), *sums]


def _carried_here(
    masked: MaskedTeam,
    events: AbreastEvents,
    bounds: tuple[np.ndarray, np.ndarray],
    runs: np.ndarray,
    sums: GroupSums,
) -> list[np.ndarray]:
    """The numbers of runs that are carried on, and the sums."""
    after = runs.copy()
    on_cpu.carried_sums(masked, events, *bounds, np.arange(len(runs)), after, sums)
    return [after, *sums]


def _masked() -> MaskedTeam:
    """After an A, or a B, in node 1 only a B goes on; it is taken, or taken and left; a C ends."""
    moves, ends = np.zeros((4, 3, 3), np.uint8), np.zeros((4, 3), np.uint8)
    moves[:, 0, 0] = 1
    moves[0] = np.eye(3)
    moves[A, 0, 1] = moves[B, 1, 2] = moves[C, 2, 2] = moves[A, 2, 2] = 1
    moves[B, 2, 2] = 2
    ends[C, 2] = 1
    cells = [np.array([0, *order]) for order in ((A, B, C), (B, A, C), (A, C, B), (0, B, C), (A, B, A))]
    masked = masked_of([Moves(moves, ends)] * len(cells), cells, always=True)
    assert masked is not None
    return masked


def _edges() -> Edges:
    """An A leads from node 0 to 1, a B to 2, and a C ends; the other members each lack an edge, or none."""
    first, places = np.array([0, 0, 1, 2, 3], np.int32), np.arange(3, dtype=np.int32)
    has = np.array([[1, 0, 1, 1, 1], [1, 1, 0, 1, 1], [1, 1, 1, 0, 1]])
    return Edges(first, places, places + np.int32(1), places, places, -has)
