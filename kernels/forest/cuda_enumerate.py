"""`cpu_enumerate` on the device: bulk enumeration by count, scan and fill.

Every hit is a unit of work for a thread (`cuda_walks`), and a hit with many complex events is cut into
several, so that a large answer does not wait for one thread. Each thread sorts the complex events of its
unit; the sorted runs of one hit are then merged, two by two, by one thread for each complex event, which
looks up how many of the other run come before it. At last one thread for each complex event writes it where
it belongs.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.geometry import LANE, STREAM, scratch_blocks
from ..device.jit import kernel
from ..device.scan import offsets_of
from ..device.words import copied
from ..windows.cuda import segment_of
from .contract import Block, SortScratch, UnsortedAnswers, WalkStack
from .cuda_walks import (
    FIRST,
    HIT,
    LAST,
    NODE,
    SKIP,
    STOP,
    UNIT_COLUMNS,
    WAYS,
    measure_kernel,
    precedes,
    walk_kernel,
    weigh_kernel,
)

STACK = 64
"""Room of a thread for the marks of a complex event, and for the nodes still to visit."""

RANGE = 256
"""The most complex events of a unit of a hit that is cut: few rounds of merging for the largest hits."""

MOST = (1 << 31) - 1
"""The most complex events, or marks, that are written at once: they are numbered in four bytes."""


class Forest(NamedTuple):
    """A structure on the device: what `cuda_nodes.build` makes, and the hits.

    ==========  ==================  ====================================================
    `arena`     int64 [nodes, 4]    as in `cpu_nodes.build`
    `roots`     Roots
    `event`     int64 [hits]        where complex events end
    `lowest`    int64 [hits]        the least admissible start
    ==========  ==================  ====================================================
    """

    arena: Any
    roots: Any
    event: Any
    lowest: Any


class SegmentContents(NamedTuple):
    """The hits and the nodes of segments, on the device: arrays of int64.

    ============  ================  ================================================================
    `first`       [segments + 1]    where the hits of each segment begin
    `node_first`  [segments + 1]    where the nodes of each segment begin
    `count`       [hits]            how many complex events each hit has, at least 1
    ============  ================  ================================================================
    """

    first: Any
    node_first: Any
    count: Any


class Units(NamedTuple):
    """The units of some hits, on the device: arrays of int64.

    ================  ==================  ==============================================================
    `table`           [units, columns]    as in `cuda_walks`
    `first`           [units + 1]         where the complex events of each unit begin
    `hits`            [m]                 the numbers of the hits
    `answer_first`    [m + 1]             where the complex events of each hit begin
    `wanted_first`    [m + 1]             the same for those within the limit only
    `nodes`           [m + 1]             where the table of nodes of each hit that is cut begins
    `base`            [m]                 the node that it begins with
    `longest`         int                 the most units of a hit
    ================  ==================  ==============================================================
    """

    table: Any
    first: Any
    hits: Any
    answer_first: Any
    wanted_first: Any
    nodes: Any
    base: Any
    longest: int


@kernel
def unit_counts_kernel(hits, lists, size, limit, unit_count, number, wanted, nodes, base, longest):
    """Find how many units each of some hits is cut into, and how many complex events it has.

    =========================  ======================  =================================================
    `hits`                     int64 [m]               in: their numbers
    `lists`                    SegmentContents         in
    `size`                     int64                   in: complex events of a unit, where a hit is cut
    `limit`                    int64                   in: the most complex events that are wanted of a hit
    `unit_count`               int64 [m]               out: into how many units each is cut
    `number`, `wanted`         int64 [m]               out: its complex events, and how many are wanted
    `nodes`                    int64 [m]               out: the nodes of its segment if it is cut, else 0
    `base`                     int64 [m]               out: the first of them
    `longest`                  int64 [1]               in and out: the most units of a hit
    =========================  ======================  =================================================
    """
    for at in range(cuda.grid(1), hits.shape[0], cuda.gridsize(1)):
        segment = segment_of(lists.first, hits[at])
        base[at] = lists.node_first[segment]
        own = lists.node_first[segment + 1] - lists.node_first[segment]
        complex_events = lists.count[hits[at]]
        number[at] = complex_events
        wanted[at] = min(complex_events, limit)
        cut = complex_events > 2 * size and complex_events > own
        nodes[at] = own if cut else 0
        unit_count[at] = (complex_events + size - 1) // size if cut else 1
        if cut:
            cuda.atomic.max(longest, 0, unit_count[at])


@kernel
def units_kernel(hits, of_hit, answer_first, nodes, base, size, table, unit_first):
    """Write the units of some hits, one for each thread.

    ===============  ============================  ==================================================
    `hits`           int64 [m]                     in
    `of_hit`         int64 [m + 1]                 in: where the units of each hit begin
    `answer_first`   int64 [m + 1]                 in: as in `Units`; `nodes` and `base` too
    `size`           int64                         in: as in `unit_counts_kernel`
    `table`          int64 [units, columns]        out
    `unit_first`     int64 [units + 1]             out
    ===============  ============================  ==================================================
    """
    units = table.shape[0]
    for unit in range(cuda.grid(1), units, cuda.gridsize(1)):
        at = segment_of(of_hit, unit)
        first_unit = of_hit[at]
        stop_unit = of_hit[at + 1]
        number = answer_first[at + 1] - answer_first[at]
        low = (unit - first_unit) * size
        high = min(low + size, number) if stop_unit - first_unit > 1 else number
        table[unit, HIT] = hits[at]
        # what is found first stands last, so that the items of a hit are nearly in canonical order
        table[unit, SKIP] = number - high
        table[unit, LAST] = 1 if low == 0 else 0
        table[unit, WAYS] = nodes[at]
        table[unit, NODE] = base[at]
        table[unit, FIRST] = first_unit
        table[unit, STOP] = stop_unit
        unit_first[unit] = answer_first[at] + low
        if unit == units - 1:
            unit_first[units] = answer_first[at + 1]


@kernel
def merge_kernel(unit_first, units, width, found, order, merged):
    """Merge the sorted runs of `width` units each, two by two.

    ============  =======================  ================================================================
    `unit_first`  int64 [units + 1]        in
    `units`       int64 [units, columns]   in
    `width`       int64                    in
    `found`       Unsorted                 in
    `order`       int32 [complex events]   in
    `merged`      int32 [complex events]   out
    ============  =======================  ================================================================
    """
    for at in range(cuda.grid(1), order.shape[0], cuda.gridsize(1)):
        unit = segment_of(unit_first, at)
        first_unit = units[unit, FIRST]
        stop_unit = units[unit, STOP]
        run = (unit - first_unit) // width
        other = run ^ 1
        mine = unit_first[first_unit + run * width]
        low = unit_first[min(first_unit + other * width, stop_unit)]
        high = unit_first[min(first_unit + (other + 1) * width, stop_unit)]
        before = low
        while before < high:
            middle = (before + high) >> 1
            if precedes(found, order[middle], order[at]):
                before = middle + 1
            else:
                high = middle
        merged[min(mine, low) + at - mine + before - low] = order[at]


@kernel
def lengths_kernel(wanted_first, answer_first, order, lengths, out):
    """Write how many marks each wanted complex event has.

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
def write_kernel(hits, lowest, wanted_first, answer_first, order, found, block):
    """Write the wanted complex events into a block, one for each thread.

    `hits` int64 [hits] in: the numbers of the hits; `lowest` as in `Forest`; `found` Unsorted in; `block`
    Block, of which `first` is in and the other arrays are out. The rest as in `lengths_kernel`.
    """
    for at in range(cuda.grid(1), block.hit.shape[0], cuda.gridsize(1)):
        number = segment_of(wanted_first, at)
        hit = hits[number]
        item = order[answer_first[number] + at - wanted_first[number]]
        block.hit[at] = hit
        block.start[at] = lowest[hit] + found.start[item]
        source = found.first[item]
        for mark in range(block.first[at], block.first[at + 1]):
            block.event[mark] = lowest[hit] + found.event[source]
            block.label[mark] = found.label[source]
            source += 1


def units_of(lists, hits, limit=None, size=RANGE, geometry=STREAM):
    """The units of some hits.

    Parameters
    ----------
    lists : SegmentContents
    hits : ndarray, shape (m,), int64
        Their numbers; at least one.
    limit : int, optional
        The most complex events of a hit that are wanted.
    size : int
        The complex events of a unit of a hit that is cut. A hit is cut if it has more than two units and more
        complex events than its segment has nodes; otherwise the table of the nodes would cost more than it
        saves.
    geometry : Geometry

    Returns
    -------
    Units
    """
    there, m = copied(hits), len(hits)
    unit_count, number, wanted, nodes, base = (device_array(m, np.int64) for _ in range(5))
    longest = copied(np.ones(1, np.int64))
    limit = MOST if limit is None else limit
    launch = geometry.blocks(m), geometry.threads
    unit_counts_kernel[launch](there, lists, size, limit, unit_count, number, wanted, nodes, base, longest)
    of_hit, answer_first, wanted_first, node_first = (
        offsets_of(of_each, geometry) for of_each in (unit_count, number, wanted, nodes)
    )
    units = int(of_hit[m])
    table = device_array((units, UNIT_COLUMNS), np.int64)
    first = device_array(units + 1, np.int64)
    launch = geometry.blocks(units), geometry.threads
    units_kernel[launch](there, of_hit, answer_first, node_first, base, size, table, first)
    return Units(table, first, there, answer_first, wanted_first, node_first, base, int(longest[0]))


class Scratch(NamedTuple):
    """Scratch of the threads that walk; made once, since allocating it takes as long as a walk.

    =========  ======================  ===============================================================
    `stack`    WalkStack               one for each thread: arrays of shape [2, stack, threads]
    `tally`    int64 [256, threads]
    `launch`   (int, int)              blocks, and threads of a block
    =========  ======================  ===============================================================
    """

    stack: WalkStack
    tally: Any
    launch: tuple[int, int]


def scratch_of(units, geometry=LANE, stack=STACK):
    """Scratch memory for the walks of about `units` units at a time.

    Parameters
    ----------
    units : int
    geometry : Geometry
    stack : int
        The most marks of a complex event, and the most nodes that wait.
    """
    blocks = scratch_blocks(units, 4 * stack + 256, geometry)
    threads = blocks * geometry.threads
    pending, path = (device_array((2, stack, threads), np.int64) for _ in range(2))
    tally = device_array((256, threads), np.int64)
    return Scratch(WalkStack(pending, path), tally, (blocks, geometry.threads))


class WalkedUnits(NamedTuple):
    """Units whose marks are counted, with the scratch of their walks; see `measure`."""

    marks: Any
    worst: int
    units: Units
    arrays: tuple[Any, ...]
    scratch: Scratch


def measure(forest, units, scratch):
    """Count the marks of units.

    Parameters
    ----------
    forest : Forest
    units : Units
    scratch : Scratch

    Returns
    -------
    Walked
        `marks` is the number of marks of each unit, on the device, or minus the status of `cpu_enumerate`
        of its hit. `worst` is the least of `marks`, or 0 if none is negative; `fill` needs it to be 0.
    """
    ways = device_array(max(int(units.nodes[len(units.hits)]), 1), np.int64)
    if units.longest > 1:
        weigh_kernel[scratch.launch](forest, units.hits, units.nodes, units.base, ways)
    marks, worst = device_array(len(units.table), np.int64), copied(np.zeros(1, np.int64))
    arrays = forest, units.table, units.first, ways, scratch.stack
    measure_kernel[scratch.launch](*arrays, marks, worst)
    return WalkedUnits(marks, int(worst[0]), units, arrays, scratch)


def fill(forest, walked, most=MOST, stream=STREAM):
    """The complex events of hits, as `cpu_enumerate.fill` writes them.

    Parameters
    ----------
    forest : Forest
    walked : Walked
        With `worst` 0, and fewer than 2**31 complex events.
    most : int
        The most marks, fewer than 2**31.
    stream : Geometry

    Returns
    -------
    Block or None
        Of device arrays; None where there are more than `most` marks.
    """
    units = walked.units
    mark_first = offsets_of(walked.marks, stream)
    n_marks = int(mark_first[len(walked.marks)])
    if n_marks > most:
        return None
    total = int(units.answer_first[len(units.hits)])
    start, first, length, order, spare = (device_array(total, np.int32) for _ in range(5))
    event, label = (device_array(n_marks, np.int32) for _ in range(2))
    found = UnsortedAnswers(start, first, length, event, label)
    sorting = SortScratch(order, spare, walked.scratch.tally)
    walk_kernel[walked.scratch.launch](*walked.arrays, mark_first, found, sorting)
    bounds = units.wanted_first, units.answer_first
    merged = _merged(units, found, order, spare, stream)
    return written(units.hits, forest.lowest, bounds, found, merged, stream)


def _merged(units, found, order, spare, stream):
    """The canonical order of all complex events of each hit."""
    width = 1
    while width < units.longest:
        launch = stream.blocks(order.shape[0]), stream.threads
        merge_kernel[launch](units.first, units.table, width, found, order, spare)
        order, spare = spare, order
        width *= 2
    return order


def written(hits, lowest, bounds, found, order, stream=STREAM):
    """The complex events of hits in their order, a `Block` of device arrays.

    Parameters
    ----------
    hits : device array, shape (m,), int64
        The numbers of the hits.
    lowest : device array, shape (all hits,), int64
        What the events of each hit are numbered from.
    bounds : (device array, device array), shape (m + 1,), int64
        Where the complex events of each hit go, and where they are in `order`.
    found : Unsorted
    order : device array, shape (complex events,), int32
    stream : Geometry
    """
    total = int(bounds[0][hits.shape[0]])
    launch = stream.blocks(total), stream.threads
    out_lengths = device_array(total, np.int64)
    lengths_kernel[launch](*bounds, order, found.length, out_lengths)
    out_first = offsets_of(out_lengths, stream)
    n_marks = int(out_first[total])
    out_hit, out_start = device_array(total, np.int64), device_array(total, np.int64)
    out_event, out_label = device_array(n_marks, np.int64), device_array(n_marks, np.int32)
    block = Block(out_hit, out_start, out_first, out_event, out_label)
    write_kernel[launch](hits, lowest, *bounds, order, found, block)
    return block
