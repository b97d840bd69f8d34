"""The check of counts abreast: a few sequences, in groups, with two windows over the same segments."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.check.inputs import NONE, WITHIN, Answers, Compared, Inputs
from cer_gpu.kernels.abreast import cpu, cuda
from cer_gpu.kernels.abreast.contract import AbreastEvents, Edges, Spans, no_sums
from cer_gpu.kernels.windows.contract import comparable

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
        here = no_sums(groups, edges.masks.shape[1], at.dtype)
        cpu.abreast(edges, Spans(begin, sizes), NODES, events, *bounds, here)
        team, units = cuda.device_team(edges, begin, NODES), cuda.AbreastUnits(*bounds)
        _, there = cuda.abreast(team, sizes, cuda.device_events(events), units, groups, inputs.lane)
        yield from map(Compared, here._fields, there, here)


def _edges() -> Edges:
    """An A leads from node 0 to 1, a B to 2, and a C ends; the other members each lack an edge, or none."""
    first, places = np.array([0, 0, 1, 2, 3], np.int32), np.arange(3, dtype=np.int32)
    has = np.array([[1, 0, 1, 1, 1], [1, 1, 0, 1, 1], [1, 1, 1, 0, 1]])
    return Edges(first, places, places + np.int32(1), places, places, -has)
