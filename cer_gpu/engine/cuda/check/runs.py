"""The check of runs over segments: hits, windows, counts, long segments without a window."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from cer_gpu.engine.cuda.check.inputs import (
    NONE,
    WITHIN,
    A,
    Answers,
    B,
    C,
    ComparedArray,
    Inputs,
    mixed,
    there,
)
from cer_gpu.kernels.counts import cpu as on_cpu
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts import cuda_ends as ends
from cer_gpu.kernels.counts.cpu_ends import counted_ends
from cer_gpu.kernels.device.arrays import device_array
from cer_gpu.kernels.device.geometry import lane_geometry
from cer_gpu.kernels.device.scan import neighbours
from cer_gpu.kernels.device.words import copied, to_device, words
from cer_gpu.kernels.hits import cpu as on_cpu_hits
from cer_gpu.kernels.hits import cuda as hits
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.hits.cuda_blocks import HitUnits, SymbolWords, device_program
from cer_gpu.kernels.hits.cuda_units import cut_units
from cer_gpu.kernels.runs.programs import counts_program
from cer_gpu.kernels.windows import cpu as on_cpu_windows
from cer_gpu.kernels.windows import cuda as windows
from cer_gpu.kernels.windows.contract import comparable

LARGE = 70
"""B events of a segment whose count, 2^70 - 1, does not fit into 64 bits: its status says so."""

UNIT = 3
"""The most events of a unit."""

UNITS = 100
"""About how many units long segments have: more than one thread composes."""


def windowed_hits(inputs: Inputs) -> Answers:
    """Hits within a window, with symbols of one byte and of two."""
    keys, size = comparable(inputs.keys, WITHIN)
    bounds = there((inputs.begin, inputs.report, inputs.stop))
    lane = lane_geometry(inputs.program.n_registers, inputs.lane) or inputs.lane
    program = device_program(inputs.program, lane)
    for dtype in (np.uint8, np.uint16):
        symbols = to_device(inputs.symbols.astype(dtype))
        arrays = copied(NONE), copied(keys), size, *bounds, copied(inputs.fresh())
        first, found = hits.hits(program, symbols, *arrays, lane)
        yield ComparedArray("first", first, inputs.ends.first)
        yield from _hits(found, inputs.ends.event, inputs.ends.latest)


def _hits(found: Any, event: np.ndarray, other: np.ndarray) -> Answers:
    """What `cer_gpu.kernels.hits.cuda` finds."""
    rows = found.copy_to_host()
    told = rows[hits.HEAD : hits.HEAD + max(0, min(int(rows[hits.TOTAL, 0]), len(event) + 1))]
    yield ComparedArray("event", told[:, 0], event)
    yield ComparedArray("start", told[:, 1], other)


def hits_in_units(inputs: Inputs) -> Answers:
    """Hits of one lane that the device cuts into units, and counts at them; some events are old."""
    old, rows = 7, len(inputs.symbols)
    bounds = np.array([0]), np.array([old]), np.array([rows])
    keys, size = comparable(inputs.keys, WITHIN)

    def here() -> list[np.ndarray]:
        one = inputs.fresh(1)
        event, latest = on_cpu_hits.hits(
            inputs.program, inputs.symbols, NONE, inputs.keys, WITHIN, *bounds, one
        )
        first = np.array([0, len(event)])
        lowest = on_cpu_windows.lowest_starts(inputs.keys, bounds[0], first, event, WITHIN)
        counted = on_cpu.counts(inputs.tables, *inputs.programs, inputs.symbols, first, event, lowest)
        return [event, latest, lowest, counted]

    event, latest, lowest, counted = inputs.cpu("hits in units", here)
    places = 3 * np.arange(rows) + 100
    lane = lane_geometry(inputs.program.n_registers, inputs.lane) or inputs.lane
    program, none = device_program(inputs.program, lane), copied(NONE)
    events = SymbolWords(words(inputs.there), 1, none, copied(places))
    fresh, tiles = device_array((0, inputs.tables.n_live), np.int64), copied(np.array([0, rows - old]))
    for wanted, columns in ((hits.PLACES, (places[event], places[latest])), (hits.ADMITTED, (event, lowest))):
        found = device_array((hits.HEAD + rows, 2), np.int64)
        units = cut_units(copied(keys), size, tiles, rows, old, 2, UNITS, found, inputs.stream)
        offsets = hits.find_hits(program, events, copied(keys), size, units, fresh, wanted, found, lane)
        yield from _hits(found, *columns)
    yield ComparedArray("events and reach", found[:2].copy_to_host()[:, 1], np.array([rows, 0]))
    reach = np.array([np.flatnonzero(inputs.keys[-1] - inputs.keys <= WITHIN)[0]])
    yield ComparedArray("reached event", found[hits.REACHED, :1], reach)
    listed = counts.ListedHits(offsets, found[hits.HEAD :], units.number)
    for room in (1, rows):  # in too little room nothing is counted
        head = found[: hits.HEAD]
        counts.count_listed(inputs.machine, inputs.there, listed, events.places, head, room, inputs.lane)
    yield from _hits(found, places[event], counted)
    sums = np.array([(counted & counts.LOW).sum(), (counted >> 32).sum()])
    yield ComparedArray("sums", found[hits.SUMS], sums)


def lowest_starts(inputs: Inputs) -> Answers:
    """The lowest start that the window admits at each hit, for keys of integers and of floats."""
    ends = inputs.ends
    first, event = there((ends.first, ends.event))
    begin = copied(inputs.begin)
    for dtype in (np.int64, np.float64):
        keys, size = comparable(inputs.keys.astype(dtype), WITHIN)
        found = windows.lowest_starts(copied(keys), begin, first, event, size, inputs.stream)
        yield ComparedArray("lowest start", found, ends.lowest)


def windowed_counts(inputs: Inputs) -> Answers:
    """Counts within the window; also for a segment whose numbers are too large for a kernel."""
    first, event, _, lowest = inputs.ends
    ends = there((first, np.stack([event, lowest], axis=1)))
    number, status = counts.counts(inputs.machine, inputs.there, *ends, inputs.lane)
    yield ComparedArray("status", status, np.zeros(len(first) - 1, np.uint8))
    yield ComparedArray("count", number, inputs.number)

    symbols = _large()
    lists = np.array([0, 1, 2]), np.array([[41, 0], [len(symbols) - 1, 0]])
    number, status = counts.counts(inputs.machine, to_device(symbols), *there(lists), inputs.lane)
    yield ComparedArray("status of a large count", status, np.array([0, 1], np.uint8))
    yield ComparedArray("a large count", number[:1], np.array([2**40 - 1]))


def carried_counts(inputs: Inputs) -> Answers:
    """Hits and counts without a window: of whole segments, and of segments that continue one another."""
    starts = 3 * np.arange(len(inputs.symbols)) + 100
    bounds = inputs.begin, inputs.begin, inputs.stop
    registers = mixed(len(inputs.begin) * inputs.tables.n_live, 99).reshape(-1, inputs.tables.n_live) - 1

    def hits_here() -> list[np.ndarray]:
        after = registers.copy()
        found = on_cpu_hits.hits(inputs.program, inputs.symbols, starts, NONE, 0, *bounds, after)
        return [*found, after]

    event, latest, after = inputs.cpu("carried hits", hits_here)
    left = copied(registers)
    lane = lane_geometry(inputs.program.n_registers, inputs.lane) or inputs.lane
    program = device_program(inputs.program, lane)
    arrays = copied(starts), copied(NONE.view(np.uint64)), 0, *there(bounds), left
    yield from _hits(hits.hits(program, inputs.there, *arrays, lane)[1], event, latest)
    yield ComparedArray("registers", left, after)

    vectors = np.where(registers < 0, 0, mixed(after.size, 1000).reshape(after.shape) + 1)
    vectors[:, 0] = 0
    given = counts_program(inputs.tables), inputs.symbols, inputs.begin, inputs.stop, vectors
    event, counted, carried = inputs.cpu("carried counts", counted_ends, *given)
    segments = np.arange(len(vectors))
    found, moved, status = _counted(inputs, inputs.there, (inputs.begin, inputs.stop, segments), vectors)
    yield from _hits(found, event, counted)
    yield ComparedArray("open matches", moved, carried)
    yield ComparedArray("status", status, np.zeros(len(vectors), np.uint8))


def _counted(
    inputs: Inputs, symbols: Any, units: tuple[np.ndarray, ...], vectors: np.ndarray
) -> tuple[Any, Any, Any]:
    """What `cer_gpu.kernels.counts.cuda_ends` finds."""
    program = counts_program(inputs.tables)
    lane = ends.ends_geometry(program.n_registers, inputs.tables.n_live, inputs.lane) or inputs.lane
    moved = copied(vectors)
    found: tuple[Any, Any, Any] = ends.counted_ends(
        device_program(program, lane), symbols, *there(units), moved, lane, inputs.stream
    )
    return found


def long_hits(inputs: Inputs) -> Answers:
    """Hits without a window of three long segments cut into units, and the scan over the units' maps."""
    flow, inside = mixed(3 * UNITS, 8).reshape(-1, 3).astype(np.uint64), mixed(3 * UNITS, 99).reshape(-1, 3)
    flow[0] = 0
    size, few = 5, 7  # units of a tile; threads, of which each composes the maps of some tiles
    tiles = UNITS // size
    behind = [
        np.concatenate(parts)
        for parts in zip(
            *(composed_maps(*part) for part in zip(np.split(flow, tiles), np.split(inside, tiles)))
        )
    ]
    maps = flows.Maps(*(copied(part.T.ravel()) for part in behind), UNITS)
    before = device_array((tiles, 3), np.int64)
    some = HitUnits(*there([np.zeros(UNITS, np.int64)] * 3), copied(NONE))
    each, whole = neighbours(tiles, few // 3), flows.new_maps(3, tiles)
    flows.scan_maps_kernel[1, few, 0, 8 * 3](some, size, each, maps, whole, before)
    latest = composed_maps(flow, inside)[1][size - 1 :: size]
    yield ComparedArray("registers before tiles", before, np.concatenate([[[-1, -1, -1]], latest[:-1]]))

    symbols = inputs.symbols[: UNIT * UNITS].copy()
    symbols[(symbols == A) & (mixed(len(symbols), 5) > 0)] = 0  # few starts: they are carried over many units
    bounds = np.array([0, len(symbols) // 5, len(symbols) // 4 + 1, len(symbols)])
    begin, stop = bounds[:-1], bounds[1:]
    units = _units(begin, stop)
    starts = 3 * np.arange(len(symbols)) + 100

    def hits_here() -> list[np.ndarray]:
        after = inputs.fresh(len(begin))
        found = on_cpu_hits.hits(inputs.program, symbols, starts, NONE, 0, begin, begin, stop, after)
        return [*found, after]

    event, latest, after = inputs.cpu("hits of long segments", hits_here)
    registers = copied(inputs.fresh(len(begin)))
    lane = lane_geometry(2 * inputs.program.n_registers, inputs.lane) or inputs.lane
    program = device_program(inputs.program, lane)
    arrays = copied(starts), *there(units), registers
    _, found = flows.long_hits(program, to_device(symbols), *arrays, lane, inputs.stream, placed=True)
    yield from _hits(found, starts[event], latest)
    yield ComparedArray("registers", registers, after)


def long_counts(inputs: Inputs) -> Answers:
    """Counts without a window of long segments cut into units; those of one are too large for a kernel."""
    matrix = mixed(9 * UNITS, 3).reshape(-1, 3, 3)
    matrix[0, :, 1:] = 0
    size, few = 5, 7  # units of a tile; threads, of which each multiplies some tiles
    tiles = UNITS // size
    product = copied(np.concatenate([_products(part) for part in np.split(matrix, tiles)]))
    before, whole = device_array((tiles, 3), np.int64), device_array((tiles, 3, 3), np.int64)
    units = HitUnits(*there([np.zeros(UNITS, np.int64)] * 3), copied(NONE))
    each = neighbours(tiles, few // 3)
    ends.scan_tiles_kernel[1, few, 0, 8 * 3](units, size, each, product, whole, before)
    behind = _products(matrix)[size - 1 :: size, :, 0]
    yield ComparedArray("numbers before tiles", before, np.concatenate([[[1, 0, 0]], behind[:-1]]))

    symbols = np.concatenate([_large(), inputs.symbols[: 40 * UNIT], _large()[:42]])
    stop = np.array([LARGE + 3, LARGE + 3 + 40 * UNIT, len(symbols)])
    begin = np.append(0, stop[:-1])
    vectors = np.array([[0, 0, 0], [0, 1, 5], [0, 2, 0]])
    program, whole = counts_program(inputs.tables), slice(1, 3)
    given = program, symbols, begin[whole], stop[whole], vectors[whole]
    event, counted, carried = inputs.cpu("counts of long segments", counted_ends, *given)
    found, moved, status = _counted(inputs, to_device(symbols), _units(begin, stop), vectors)
    yield ComparedArray("status", status, np.array([1, 0, 0], np.uint8))
    large = np.array([2**40 - 1, 1 << 62])
    number = np.concatenate([large, counted])
    yield from _hits(found, np.concatenate([[41, LARGE + 2], event]), number)
    sums = np.array([(number & counts.LOW).sum(), (number >> 32).sum()])
    yield ComparedArray("sums", found[hits.SUMS], sums)
    yield ComparedArray("open matches", moved.copy_to_host()[whole], carried)


def _large() -> np.ndarray:
    """`A B ... B C`, with a C among the B events too: 2^40 - 1 complex events end at it."""
    symbols = np.full(LARGE + 3, B, np.uint8)
    symbols[[0, 41, -1]] = A, C, C
    return symbols


def composed_maps(flow: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each map behind all before it, composed unit by unit: as `flow` and `inside`."""
    through, behind = flow.copy(), inside.copy()
    for unit in range(1, len(flow)):
        for state, members in enumerate(flow[unit].tolist()):
            own = [p for p in range(flow.shape[1]) if members >> p & 1]
            through[unit, state] = np.bitwise_or.reduce(through[unit - 1, own], initial=0)
            behind[unit, state] = max([inside[unit, state], *behind[unit - 1, own]])
    return through, behind


def _products(matrix: np.ndarray) -> np.ndarray:
    """Each matrix times all before it, in numbers of at most 2^62: as `matrix`."""
    found = [matrix[0].astype(object)]
    for each in matrix[1:]:
        found.append(np.minimum(each.astype(object) @ found[-1], 1 << 62))
    return np.array(found).astype(np.int64)


def _units(begin: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the units of segments begin and stop, and the segment of each unit."""
    found = [
        (low, high, segment)
        for segment, (first, last) in enumerate(zip(begin.tolist(), stop.tolist()))
        for low, high in pairwise([*range(first, last, UNIT), last])
    ]
    low, high, segment = np.array(found).T
    return tuple(np.ascontiguousarray(part) for part in (low, high, segment))  # type: ignore[return-value]
