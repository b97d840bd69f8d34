"""`cer_gpu.kernels.paths` on the device: bulk enumeration by count, scan and fill.

Every hit is a unit of work for a thread (`cer_gpu.kernels.cuda.walks`), and a hit with many complex events is
cut into several, so that a large answer does not wait for one thread. Each unit's complex events are sorted
by its thread; the sorted runs of one hit are then merged, two by two, by one thread for each complex event,
which looks up how many of the other run come before it. At last one thread for each complex event writes it
where it belongs.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..paths import Block
from .geometry import LANE, STREAM, scratch_blocks
from .jit import kernel
from .scan import offsets_of
from .walks import (
    HIT,
    LAST,
    NODE,
    SKIP,
    UNIT_COLUMNS,
    WAYS,
    measure_kernel,
    precedes,
    walk_kernel,
    weigh_kernel,
)
from .windows import segment_of

STACK = 64
"""Marks of a complex event at most, and nodes that wait while one is found: what a thread has room for."""

RANGE = 256
"""Complex events of a unit at most, where a hit is cut: some rounds of merging for the largest hits."""


class Forest(NamedTuple):
    """A structure on the device: what `cer_gpu.kernels.cuda.nodes.build` makes, and the hits.

    ============  =====================  ====================================================
    `arena`       int64 [nodes, 4]       as in `cer_gpu.kernels.nodes.build`
    `root_first`  int64 [hits + 1]
    `root_label`  int32 [roots]
    `root_node`   int64 [roots]
    `event`       int64 [hits]           where complex events end
    `lowest`      int64 [hits]           the least admissible start
    ============  =====================  ====================================================
    """

    arena: Any
    root_first: Any
    root_label: Any
    root_node: Any
    event: Any
    lowest: Any


class Units(NamedTuple):
    """The units of some hits, on the host: arrays of int64.

    ==========  =====================  ==================================================================
    `table`     [units, columns]       as in `cer_gpu.kernels.cuda.walks`
    `first`     [units + 1]            where the complex events of each begin
    `of_hit`    [hits + 1]             the units of each hit
    `cut`       [cut hits]             the numbers of the hits that have several
    `nodes`     [cut hits + 1]         where the table of each begins
    `base`      [cut hits]             the node that it begins with
    ==========  =====================  ==================================================================
    """

    table: np.ndarray
    first: np.ndarray
    of_hit: np.ndarray
    cut: np.ndarray
    nodes: np.ndarray
    base: np.ndarray


@kernel
def merge_kernel(unit_first, runs, width, starts, firsts, lengths, events, labels, order, merged):
    """Merge the sorted runs of `width` units each, two by two.

    ============  =======================  ================================================================
    `unit_first`  int64 [units + 1]        in
    `runs`        int64 [units, 2]         in: the first unit of the same hit, and one past its last
    `width`       int64                    in
    `starts` ...                           in: as in `walk_kernel`
    `order`       int32 [complex events]   in
    `merged`      int32 [complex events]   out
    ============  =======================  ================================================================
    """
    for at in range(cuda.grid(1), order.shape[0], cuda.gridsize(1)):
        unit = segment_of(unit_first, at)
        first_unit = runs[unit, 0]
        stop_unit = runs[unit, 1]
        run = (unit - first_unit) // width
        other = run ^ 1
        mine = unit_first[first_unit + run * width]
        low = unit_first[min(first_unit + other * width, stop_unit)]
        high = unit_first[min(first_unit + (other + 1) * width, stop_unit)]
        before = low
        while before < high:
            middle = (before + high) >> 1
            if precedes(order[middle], order[at], starts, firsts, lengths, events, labels):
                before = middle + 1
            else:
                high = middle
        merged[min(mine, low) + at - mine + before - low] = order[at]


@kernel
def lengths_kernel(wanted_first, answer_first, order, lengths, out):
    """How many marks each wanted complex event has.

    ==============  =======================  ==============================================================
    `wanted_first`  int64 [hits + 1]         in: where those of each hit go
    `answer_first`  int64 [hits + 1]         in: where they are in `order`
    `order`         int32 [complex events]   in
    `lengths`       int32 [complex events]   in
    `out`           int64 [wanted]           out
    ==============  =======================  ==============================================================
    """
    for at in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        hit = segment_of(wanted_first, at)
        out[at] = lengths[order[answer_first[hit] + at - wanted_first[hit]]]


@kernel
def write_kernel(
    hits, lowest, wanted_first, answer_first, order, starts, firsts, events, labels, out_hit, out_start,
    out_first, out_event, out_label,
):  # fmt: skip
    """Write the wanted complex events into a block, one for each thread.

    `hits` int64 [hits] in: the numbers of the hits; `lowest` as in `Forest`; `out_first` int64 [wanted + 1]
    in, the other fields of the `Block` out. The rest as in `lengths_kernel`.
    """
    for at in range(cuda.grid(1), out_hit.shape[0], cuda.gridsize(1)):
        number = segment_of(wanted_first, at)
        hit = hits[number]
        item = order[answer_first[number] + at - wanted_first[number]]
        out_hit[at] = hit
        out_start[at] = lowest[hit] + starts[item]
        source = firsts[item]
        for mark in range(out_first[at], out_first[at + 1]):
            out_event[mark] = lowest[hit] + events[source]
            out_label[mark] = labels[source]
            source += 1


def units_of(hits, count, base, nodes, size):
    """The units of some hits.

    Parameters
    ----------
    hits : ndarray, shape (m,), int64
        Their numbers.
    count : ndarray, shape (m,), int64
        How many complex events each has, at least 1.
    base, nodes : ndarray, shape (m,), int64
        The first node of each one's segment, and how many the segment has.
    size : int
        A hit is cut into ranges of so many, where it has more than two of them and more complex events than
        its segment has nodes: else the table of the nodes costs more than is saved.
    """
    large = (count > 2 * size) & (count > nodes)
    if not large.any():
        return _whole(hits, count)
    parts = np.where(large, -(-count // size), 1)
    of_hit = np.append(0, np.cumsum(parts))
    at = np.repeat(np.arange(len(hits)), parts)
    low = (np.arange(len(at)) - of_hit[at]) * size
    high = np.where(large[at], np.minimum(low + size, count[at]), count[at])
    cut = np.flatnonzero(large)
    tables = np.append(0, np.cumsum(nodes[cut]))
    table = np.zeros((len(at), UNIT_COLUMNS), np.int64)
    table[:, HIT] = hits[at]
    # what is found first stands last, so that the items of a hit are nearly in canonical order
    table[:, SKIP] = count[at] - high
    table[:, LAST] = low == 0
    ways = np.zeros(len(hits), np.int64)
    ways[cut] = tables[:-1]
    table[:, WAYS], table[:, NODE] = ways[at], base[at]
    return Units(table, np.append(0, np.cumsum(high - low)), of_hit, hits[cut], tables, base[cut])


def _whole(hits, count):
    """Units that are hits: what there mostly is, without the tables that ranges need."""
    table = np.zeros((len(hits), UNIT_COLUMNS), np.int64)
    table[:, HIT], table[:, LAST] = hits, 1
    none = np.zeros(0, np.int64)
    return Units(
        table, np.append(0, np.cumsum(count)), np.arange(len(hits) + 1), none, np.zeros(1, np.int64), none
    )


class Scratch(NamedTuple):
    """What the threads that walk need: made once, since to get memory takes as long as a walk.

    =========  ==========================  =========================================
    `pending`  int64 [2, stack, threads]
    `path`     int64 [2, stack, threads]
    `tally`    int64 [256, threads]
    `launch`   (int, int)                  blocks, and threads of a block
    =========  ==========================  =========================================
    """

    pending: Any
    path: Any
    tally: Any
    launch: tuple[int, int]


def scratch_of(units, geometry=LANE, stack=STACK):
    """Scratch memory for the walks of about so many units at a time.

    Parameters
    ----------
    units : int
    geometry : Geometry
    stack : int
        Marks of a complex event at most, and nodes that wait.
    """
    blocks = scratch_blocks(units, 4 * stack + 256, geometry)
    threads = blocks * geometry.threads
    pending, path = (cuda.device_array((2, stack, threads), np.int64) for _ in range(2))
    return Scratch(pending, path, cuda.device_array((256, threads), np.int64), (blocks, geometry.threads))


class Walked(NamedTuple):
    """Units whose marks are counted, with what their walks need: see `measure`."""

    marks: np.ndarray
    units: Units
    arrays: tuple[Any, ...]
    scratch: Scratch


def measure(forest, units, scratch):
    """Count the marks of units.

    Parameters
    ----------
    forest : Forest
    units : Units
        Of at least one hit.
    scratch : Scratch

    Returns
    -------
    Walked
        In `marks` the number of each unit, or minus the status of `cer_gpu.kernels.paths` that its hit has;
        what is enumerated by `fill` has no such unit.
    """
    table, first = cuda.to_device(units.table), cuda.to_device(units.first)
    ways = cuda.device_array(max(int(units.nodes[-1]), 1), np.int64)
    if len(units.cut):
        arrays = (cuda.to_device(part) for part in (units.cut, units.nodes, units.base))
        weigh_kernel[scratch.launch](tuple(forest), *arrays, ways)
    marks = cuda.device_array(len(units.table), np.int64)
    arrays = tuple(forest), table, first, ways, scratch.pending, scratch.path
    measure_kernel[scratch.launch](*arrays, marks)
    return Walked(marks.copy_to_host(), units, arrays, scratch)


def fill(forest, walked, hits, limit=None, stream=STREAM):
    """The complex events of hits, as `cer_gpu.kernels.paths.fill` writes them.

    Parameters
    ----------
    forest : Forest
    walked : Walked
        Of the units of `hits`, all of them counted, less than 2**31 complex events and marks in all.
    hits : ndarray, shape (m,), int64
    limit : int, optional
        At most so many of each hit.
    stream : Geometry

    Returns
    -------
    Block
        Of device arrays.
    """
    units = walked.units
    total = int(units.first[-1])
    mark_first = np.append(0, np.cumsum(walked.marks))
    starts, firsts, lengths, order, spare = (cuda.device_array(total, np.int32) for _ in range(5))
    events, labels = (cuda.device_array(int(mark_first[-1]), np.int32) for _ in range(2))
    walk_kernel[walked.scratch.launch](
        *walked.arrays,
        cuda.to_device(mark_first),
        starts,
        firsts,
        lengths,
        events,
        labels,
        order,
        spare,
        walked.scratch.tally,
    )
    found = starts, firsts, lengths, events, labels
    order = _merged(units, walked.arrays[2], found, order, spare, stream)
    return _written(forest, units, hits, limit, found, order, stream)


def _merged(units, first, found, order, spare, stream):
    """The canonical order of all complex events of each hit."""
    parts = np.diff(units.of_hit)
    longest = int(parts.max())
    if longest == 1:
        return order
    runs = np.stack([np.repeat(units.of_hit[:-1], parts), np.repeat(units.of_hit[1:], parts)], axis=1)
    runs = cuda.to_device(runs)
    width = 1
    while width < longest:
        launch = stream.blocks(order.shape[0]), stream.threads
        merge_kernel[launch](first, runs, width, *found, order, spare)
        order, spare = spare, order
        width *= 2
    return order


def _written(forest, units, hits, limit, found, order, stream):
    starts, firsts, lengths, events, labels = found
    answers = units.first[units.of_hit]
    wanted = np.diff(answers)
    if limit is not None:
        wanted = np.minimum(wanted, limit)
    wanted_first = np.append(0, np.cumsum(wanted))
    total = int(wanted_first[-1])
    bounds = cuda.to_device(wanted_first), cuda.to_device(answers)
    launch = stream.blocks(total), stream.threads
    out_lengths = cuda.device_array(total, np.int64)
    lengths_kernel[launch](*bounds, order, lengths, out_lengths)
    out_first = offsets_of(out_lengths, stream)
    n_marks = int(out_first[total])
    out_hit, out_start = cuda.device_array(total, np.int64), cuda.device_array(total, np.int64)
    out_event, out_label = cuda.device_array(n_marks, np.int64), cuda.device_array(n_marks, np.int32)
    block = Block(out_hit, out_start, out_first, out_event, out_label)
    write_kernel[launch](
        cuda.to_device(hits), forest.lowest, *bounds, order, starts, firsts, events, labels, *block
    )
    return block
