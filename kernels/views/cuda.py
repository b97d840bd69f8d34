"""`cpu_search`, `cpu_climb` and `cpu_list` on the device: the same bodies, one thread for each row that asks.

Where the CPU continues each search from where the last one ended, a thread of the device searches from the
first row on, in O(log n) steps.
"""

import numpy as np
from numba import cuda

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.geometry import STREAM
from ..device.jit import kernel
from ..device.scan import offsets_of
from ..device.words import copied
from ..windows.cuda import segment_of
from . import cpu_climb, cpu_search

MOST = 2**62
"""Multiplicities stay below this number."""

alike, around, following, limited, find, bounds = map(
    on_device,
    (
        *(cpu_search.alike, cpu_search.around, cpu_search.following, cpu_search.limited),
        *(cpu_search.find, cpu_search.bounds),
    ),
)
totals = on_device(cpu_climb.totals)


@kernel
def view_find_kernel(keys, probes, places, halt):
    """`contract.find_reference`. `halt` uint8 [1]: 0, as in all kernels here."""
    for i in range(cuda.grid(1), probes.shape[0], cuda.gridsize(1)):
        find(keys, probes[i : i + 1], places[i : i + 1], halt)


@kernel
def view_bounds_kernel(keys, asking, shared, op, ranges, halt):
    """`contract.bounds_reference`."""
    for i in range(cuda.grid(1), asking.shape[0], cuda.gridsize(1)):
        bounds(keys, asking[i : i + 1], shared, op, ranges[i : i + 1], halt)


@kernel
def view_totals_kernel(rows, asking, shared, tests, limits, found, touched, halt):
    """`contract.totals_reference`. `limits` int64 [threads, tests, 2] is scratch."""
    for i in range(cuda.grid(1), asking.shape[0], cuda.gridsize(1)):
        part = slice(i, i + 1)
        own = limits[cuda.grid(1)]
        totals(rows, asking[part], shared, tests, own, found[part], touched[part], halt)


@kernel
def view_affected_kernel(
    rows, ranges, starts, others, shared, tests, limits, found, touched, kept, halt, status
):
    """Find what `contract.affected_reference` finds, for each row of all ranges; no two ranges overlap.

    =========  =========================  =================================================================
    `rows`     CountedRows                in: of the guard
    `ranges`   int64 [ranges, 2]          in: rows ranges[g, 0] .. ranges[g, 1] - 1
    `starts`   int64 [ranges + 1]         in: where each range begins if they are stored one after another
    `others`   CountedRows                in: the changed rows of the other child
    `tests`    RowTests                   in: of a row of `rows` that asks for `others`
    `limits`   int64 [threads, tests, 2]  scratch
    `found`    int64 [n]                  in: 0; out: the sum of products of multiplicities
    `touched`  uint8 [n]                  in: 0; scratch
    `kept`     int64 [n]                  out: 1 where the row is there and joins a changed one
    `status`   uint8 [1]                  out: 1 where a product does not fit
    =========  =========================  =================================================================
    """
    for i in range(cuda.grid(1), found.shape[0], cuda.gridsize(1)):
        group = segment_of(starts, i)
        row = ranges[group, 0] + i - starts[group]
        count = rows.counts[row]
        kept[i] = 0
        if count == 0:
            continue
        asking, part = rows.keys[row : row + 1], slice(i, i + 1)
        own = limits[cuda.grid(1)]
        totals(others, asking, shared, tests, own, found[part], touched[part], halt)
        kept[i] = touched[i]
        if abs(found[i]) > MOST // abs(count):
            status[0] = 1
        found[i] *= count


@kernel
def view_chosen_kernel(rows, ranges, starts, offsets, found, keys, amounts):
    """Write the first values of the rows that `view_affected_kernel` keeps, next to each other.

    `offsets` int64 [n + 1]: of the rows that are kept.
    """
    for i in range(cuda.grid(1), found.shape[0], cuda.gridsize(1)):
        at = offsets[i]
        if offsets[i + 1] > at:
            group = segment_of(starts, i)
            row = ranges[group, 0] + i - starts[group]
            for column in range(keys.shape[1]):
                keys[at, column] = rows.keys[row, column]
            amounts[at] = found[i]


@kernel
def view_expand_kernel(ranges, starts, first, held, rows, own, counted, made):
    """`contract.expand_reference`. `starts` int64 [ranges + 1]: as in `view_affected_kernel`."""
    many, before = held.shape[0], own.shape[0]
    for i in range(cuda.grid(1), made.shape[1], cuda.gridsize(1)):
        group = segment_of(starts, i)
        row = ranges[group, 0] + i - starts[group]
        for number in range(before):
            made[number, i] = rows.keys[row, own[number]]
        for number in range(many):
            made[before + number, i] = held[number, first + group]
        if counted:
            made[before + many - 1, i] *= rows.counts[row]


@kernel
def view_many_kernel(keys, asking, shared, tests, ranges, limits, numbers):
    """Write how many rows `contract.matching_reference` finds for each asking row: `numbers` int64 [m]."""
    for i in range(cuda.grid(1), asking.shape[0], cuda.gridsize(1)):
        own, many = limits[cuda.grid(1)], 0
        if limited(tests, asking, i, own):
            end = ranges[i, 1]
            row = following(keys, ranges[i, 0], end, shared, tests, own)
            while row < end:
                many += 1
                row = following(keys, row + 1, end, shared, tests, own)
        numbers[i] = many


@kernel
def view_matching_kernel(keys, asking, shared, tests, ranges, limits, starts, low, parents, places):
    """Write the pairs low .. low + len(parents) - 1 of `contract.matching_reference`.

    `starts` int64 [m + 1]: the first pair of each row of `asking`.
    """
    end_pair = low + parents.shape[0]
    for i in range(cuda.grid(1), asking.shape[0], cuda.gridsize(1)):
        at = starts[i]
        if starts[i + 1] <= low or at >= end_pair:
            continue
        own, end = limits[cuda.grid(1)], ranges[i, 1]
        if limited(tests, asking, i, own):
            row = following(keys, ranges[i, 0], end, shared, tests, own)
            while row < end and at < end_pair:
                if at >= low:
                    parents[at - low] = i
                    places[at - low] = row
                at += 1
                row = following(keys, row + 1, end, shared, tests, own)


def _threads(units, geometry):
    """Blocks and threads for `units` units."""
    return geometry.blocks(units), geometry.threads


def _limits(units, tests, geometry):
    """Scratch of all threads of a launch."""
    blocks, threads = _threads(units, geometry)
    return device_array((blocks * threads, max(1, tests.ops.shape[0]), 2), np.int64)


def _never():
    """`halt`: on a device nothing is interrupted."""
    return copied(np.zeros(1, np.uint8))


def places_of(keys, probes, geometry=STREAM):
    """`find` for device arrays: device array int64 [m]."""
    places = device_array(probes.shape[0], np.int64)
    view_find_kernel[_threads(probes.shape[0], geometry)](keys, probes, places, _never())
    return places


def ranges_asked(keys, asking, shared, op, geometry=STREAM):
    """`bounds` for device arrays: device array int64 [m, 2]."""
    ranges = device_array((asking.shape[0], 2), np.int64)
    view_bounds_kernel[_threads(asking.shape[0], geometry)](keys, asking, shared, op, ranges, _never())
    return ranges


def totals_of(rows, asking, shared, tests, geometry=STREAM):
    """`totals` for device arrays, from 0 on: device arrays int64 [m] and uint8 [m]."""
    units = asking.shape[0]
    found, touched = copied(np.zeros(units, np.int64)), copied(np.zeros(units, np.uint8))
    limits = _limits(units, tests, geometry)
    view_totals_kernel[_threads(units, geometry)](
        rows, asking, shared, tests, limits, found, touched, _never()
    )
    return found, touched


def affected_rows(rows, ranges, others, shared, tests, width, geometry=STREAM):
    """The rows of ranges that some of `others` joins, with the sums of the products of multiplicities.

    Parameters
    ----------
    rows, others : CountedRows
        Of device arrays.
    ranges : ndarray, shape (ranges, 2), int64
        On the host; none of them overlap, and at least one of them has a row.
    shared : int
    tests : RowTests
        Of a row of `rows`, of device arrays.
    width : int
        How many first values of a row are written.
        How many first values of each row are written.
    Returns
    -------
    keys : device array, shape (n, width), int64
        In order; equal ones are neighbours.
    amounts : device array, shape (n,), int64
    fits : bool
        Whether all products fit.
    """
    sizes = ranges[:, 1] - ranges[:, 0]
    units = int(sizes.sum())
    there, starts = copied(ranges), copied(np.append(0, np.cumsum(sizes)))
    found, touched = copied(np.zeros(units, np.int64)), copied(np.zeros(units, np.uint8))
    kept, status = device_array(units, np.int64), _never()
    limits, launch = _limits(units, tests, geometry), _threads(units, geometry)
    view_affected_kernel[launch](
        rows, there, starts, others, shared, tests, limits, found, touched, kept, _never(), status
    )
    offsets = offsets_of(kept, geometry)
    size = int(offsets[units])
    keys, amounts = device_array((size, width), np.int64), device_array(size, np.int64)
    if size:
        view_chosen_kernel[launch](rows, there, starts, offsets, found, keys, amounts)
    return keys, amounts, not status.copy_to_host()[0]


def expanded(ranges, first, held, rows, own, counted, geometry=STREAM):
    """`expand` for `ranges` on the host, of which at least one has a row, and device arrays.

    Returns
    -------
    device array, shape (columns, n), int64
    """
    sizes = ranges[:, 1] - ranges[:, 0]
    made = device_array((own.shape[0] + held.shape[0], int(sizes.sum())), np.int64)
    starts = copied(np.append(0, np.cumsum(sizes)))
    launch = _threads(made.shape[1], geometry)
    view_expand_kernel[launch](copied(ranges), starts, first, held, rows, own, counted, made)
    return made


def pairs_found(keys, asking, shared, tests, ranges, most, geometry=STREAM):
    """The pairs of `matching`, at most `most` at a time: device arrays int64 [n] for the rows of both."""
    units = asking.shape[0]
    numbers, limits = device_array(units, np.int64), _limits(units, tests, geometry)
    launch = _threads(units, geometry)
    view_many_kernel[launch](keys, asking, shared, tests, ranges, limits, numbers)
    starts = offsets_of(numbers, geometry)
    total = int(starts[units])
    for low in range(0, total, most):
        size = min(most, total - low)
        parents, places = device_array(size, np.int64), device_array(size, np.int64)
        view_matching_kernel[launch](
            keys, asking, shared, tests, ranges, limits, starts, low, parents, places
        )
        yield parents, places
