"""Sorted rows with multiplicities on the CPU."""

from ..jit import SELDOM, inline, jit
from .contract import TOP


@inline
def _compare(keys, row, probes, probe, width):
    """-1, 0 or 1: how a row compares with a probe, by the first `width` values."""
    for column in range(width):
        own, other = keys[row, column], probes[probe, column]
        if own != other:
            return -1 if own < other else 1
    return 0


@inline
def _first(keys, probes, probe, width, limit, low):
    """The first row from `low` that is not before a probe's prefix followed by `limit`."""
    high = keys.shape[0]
    wide = keys.shape[1] > width
    while low < high:
        middle = (low + high) >> 1
        order = _compare(keys, middle, probes, probe, width)
        if order < 0 or (order == 0 and wide and keys[middle, width] < limit):
            low = middle + 1
        else:
            high = middle
    return low


@inline
def _past(keys, probes, probe, width, low):
    """The first row from `low` that is after all with a probe's prefix."""
    high = keys.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if _compare(keys, middle, probes, probe, width) <= 0:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def find(keys, probes, places, halt):
    """`contract.find_reference`. `halt` uint8 [1] in: see `jit`."""
    rows, width = keys.shape
    for i in range(probes.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        place = _first(keys, probes, i, width, TOP, 0)
        there = place < rows and _compare(keys, place, probes, i, width) == 0
        places[i] = place if there else -1


@jit
def bounds(keys, prefixes, limits, ranges, halt):
    """`contract.bounds_reference`. `halt` uint8 [1] in: see `jit`."""
    width = prefixes.shape[1]
    limited = limits.shape[1] > 0
    for i in range(prefixes.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        if limited:
            low = _first(keys, prefixes, i, width, limits[i, 0], 0)
            ranges[i, 0] = low
            ranges[i, 1] = _first(keys, prefixes, i, width, limits[i, 1], low)
        else:
            low = _first(keys, prefixes, i, width, -TOP - 1, 0)
            ranges[i, 0] = low
            ranges[i, 1] = _past(keys, prefixes, i, width, low)


@inline
def _before(sums, place):
    """The multiplicities of all rows before one."""
    total = 0
    while place > 0:
        total += sums[place]
        place &= place - 1
    return total


@jit
def total(rows, ranges, totals, halt):
    """`contract.total_reference`. `halt` uint8 [1] in: see `jit`."""
    for i in range(ranges.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        low, high = ranges[i, 0], ranges[i, 1]
        if low < high:
            totals[i] += _before(rows.sums, high) - _before(rows.sums, low)


@jit
def sum_up(counts, sums, halt):
    """`contract.sum_reference`. `halt` uint8 [1] in: see `jit`."""
    rows = counts.shape[0]
    sums[0] = 0
    for i in range(rows):
        sums[i + 1] = counts[i]
    for i in range(1, rows + 1):
        if i % SELDOM == 0 and halt[0]:
            return
        above = i + (i & -i)
        if above <= rows:
            sums[above] += sums[i]


@jit
def add(rows, places, amounts):
    """`contract.add_reference`. It cannot be interrupted: what it changes stays."""
    emptied = 0
    size = rows.counts.shape[0]
    for i in range(places.shape[0]):
        place, amount = places[i], amounts[i]
        if place < 0 or amount == 0:
            continue
        emptied -= rows.counts[place] == 0
        rows.counts[place] += amount
        emptied += rows.counts[place] == 0
        node = place + 1
        while node <= size:
            rows.sums[node] += amount
            node += node & -node
    return emptied


@jit
def merge(one, other, keys, counts):
    """`contract.merge_reference`. It cannot be interrupted, as it is part of an update."""
    first, second = one.keys.shape[0], other.keys.shape[0]
    width = keys.shape[1]
    i = j = made = 0
    while i < first or j < second:
        takes = j >= second or (i < first and _compare(one.keys, i, other.keys, j, width) < 0)
        count = one.counts[i] if takes else other.counts[j]
        if count:
            for column in range(width):
                keys[made, column] = one.keys[i, column] if takes else other.keys[j, column]
            counts[made] = count
            made += 1
        i += takes
        j += not takes
    return made


@jit
def spread(ranges, parents, places, halt):
    """`contract.spread_reference`. `halt` uint8 [1] in: see `jit`."""
    at = 0
    for i in range(ranges.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        for place in range(ranges[i, 0], ranges[i, 1]):
            parents[at] = i
            places[at] = place
            at += 1
