"""The check of hits and counts of joins."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.engine.cuda.check.inputs import (
    NONE,
    WITHIN,
    Answers,
    ComparedArray,
    Inputs,
    join_tables,
    mixed,
    there,
)
from cer_gpu.enumeration.products import Products
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.joins import cpu_hits as on_cpu
from cer_gpu.kernels.joins import cuda_counts as join_counts
from cer_gpu.kernels.joins import cuda_hits as join_hits
from cer_gpu.kernels.joins import cuda_nodes as join_nodes
from cer_gpu.kernels.joins.contract import KeyedEvents, offsets
from cer_gpu.kernels.joins.cuda_cells import DeviceJoin, cells_of, device_join
from cer_gpu.kernels.windows import cpu as windows
from cer_gpu.kernels.windows.contract import comparable

VALUES = 3
"""How many different values the events have."""

COPIES = 16
"""The most nodes that a union makes on average, so that there is room for all."""


def joined_hits(inputs: Inputs) -> Answers:
    """The ends of the answers of a join, and the latest start of each."""
    events, bounds = _events(inputs), (inputs.begin, inputs.report, inputs.stop)
    event, latest = _hits(inputs, events)
    join = device_join(join_tables())
    keys, size = comparable(inputs.keys, WITHIN)
    cells = cells_of(join, inputs.begin, inputs.stop, int(events.offset[-1]))
    arrays = *_there(inputs, events), copied(keys), size, *bounds, cells
    _, found, found_latest = join_hits.hits(join, *arrays, inputs.lane, inputs.stream)
    yield ComparedArray("event", found, event)
    yield ComparedArray("latest start", found_latest, latest)


def joined_counts(inputs: Inputs) -> Answers:
    """How many answers end at each hit, from the nodes of lists of hits."""
    events = _events(inputs)
    event, _ = _hits(inputs, events)
    first = np.append(np.searchsorted(event, inputs.report), len(event))

    def counted_here() -> list[np.ndarray]:
        lowest = windows.lowest_starts(inputs.keys, inputs.begin, first, event, WITHIN)
        here = Products(join_tables())
        here.build(events, inputs.begin, inputs.stop, first, event, lowest)
        return [lowest, here.hits.counts]

    lowest, here = inputs.cpu("counts of joins", counted_here)
    join: DeviceJoin = device_join(join_tables())
    cells = cells_of(join, inputs.begin, inputs.stop, int(events.offset[-1]))
    rooms = join_nodes.rooms_of(join, cells, inputs.lengths, np.diff(first), COPIES)
    ends = inputs.begin, inputs.stop, first, event, lowest
    number, status = join_counts.counts(join, *_there(inputs, events), *ends, rooms, inputs.lane)
    yield ComparedArray("status", status, np.zeros(len(inputs.begin), np.uint8))
    yield ComparedArray("count", number, here)


def _events(inputs: Inputs) -> KeyedEvents:
    n = len(inputs.symbols)
    slots = np.stack([mixed(n, VALUES), mixed(n + 1, VALUES)[1:]]).astype(np.int32)
    slots[1, mixed(n, 13) == 0] = -1
    space = offsets(join_tables().entry_space, np.array([VALUES, VALUES]))
    return KeyedEvents(inputs.symbols, slots, NONE, space)


def _hits(inputs: Inputs, events: KeyedEvents) -> list[np.ndarray]:
    bounds = inputs.begin, inputs.report, inputs.stop
    return inputs.cpu("hits of joins", on_cpu.hits, join_tables(), events, inputs.keys, WITHIN, *bounds)


def _there(inputs: Inputs, events: KeyedEvents) -> list[Any]:
    return [inputs.there, *there((events.slots, events.places))]
