"""Sorted rows with multiplicities on the CPU: changed, merged and summed up.

None of these can be interrupted, as they are steps of an update: what they change stays.
"""

from ..jit import inline, jit
from .cpu_search import FROM, alike, onward

MANY = 8
"""Sums are made anew where more than one row in so many changes."""


@inline
def order(keys, row, others, other, width):
    """-1, 0 or 1: how a row compares with another."""
    for column in range(width):
        own, theirs = keys[row, column], others[other, column]
        if own != theirs:
            return -1 if own < theirs else 1
    return 0


@inline
def _summed(counts, sums):
    rows = counts.shape[0]
    sums[0] = 0
    for i in range(rows):
        sums[i + 1] = counts[i]
    for i in range(1, rows + 1):
        above = i + (i & -i)
        if above <= rows:
            sums[above] += sums[i]


@jit
def sum_up(counts, sums):
    """`contract.sum_reference`."""
    _summed(counts, sums)


@jit
def put(rows, keys, amounts, missing):
    """`contract.put_reference`."""
    size, width = rows.keys.shape
    sums = rows.sums.shape[0] > 0
    anew = sums and keys.shape[0] * MANY > size
    emptied = at = 0
    for i in range(keys.shape[0]):
        if not missing[i]:
            continue
        at = onward(rows.keys, at, size, keys, i, width, 0, FROM)
        if at == size:
            break
        if not alike(rows.keys, at, keys, i, width):
            continue
        missing[i] = 0
        amount = amounts[i]
        if amount == 0:
            continue
        emptied -= rows.counts[at] == 0
        rows.counts[at] += amount
        emptied += rows.counts[at] == 0
        if sums and not anew:
            node = at + 1
            while node <= size:
                rows.sums[node] += amount
                node += node & -node
    if anew:
        _summed(rows.counts, rows.sums)
    return emptied


@jit
def merge(one, other, keys, counts):
    """`contract.merge_reference`."""
    first, second = one.keys.shape[0], other.keys.shape[0]
    width = keys.shape[1]
    i = j = made = 0
    while i < first or j < second:
        takes = j >= second or (i < first and order(one.keys, i, other.keys, j, width) < 0)
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
def unite(one, other, keys, counts):
    """`contract.unite_reference`."""
    first, second = one.keys.shape[0], other.keys.shape[0]
    width = keys.shape[1]
    i = j = made = 0
    while i < first or j < second:
        if j >= second:
            sign = -1
        elif i >= first:
            sign = 1
        else:
            sign = order(one.keys, i, other.keys, j, width)
        count = 0
        if sign <= 0:
            count += one.counts[i]
        if sign >= 0:
            count += other.counts[j]
        for column in range(width):
            keys[made, column] = one.keys[i, column] if sign <= 0 else other.keys[j, column]
        counts[made] = count
        made += 1
        i += sign <= 0
        j += sign >= 0
    return made


@jit
def insert(keys, counts, size, others, amounts):
    """`contract.insert_reference`."""
    width = keys.shape[1]
    i, j = size - 1, others.shape[0] - 1
    while j >= 0:
        at = i + j + 1
        if i >= 0 and order(keys, i, others, j, width) > 0:
            for column in range(width):
                keys[at, column] = keys[i, column]
            counts[at] = counts[i]
            i -= 1
        else:
            for column in range(width):
                keys[at, column] = others[j, column]
            counts[at] = amounts[j]
            j -= 1


@jit
def collapse(keys, counts, made_keys, made_counts):
    """`contract.collapse_reference`."""
    width = keys.shape[1]
    made = -1
    for i in range(keys.shape[0]):
        if made >= 0 and alike(keys, i, made_keys, made, width):
            made_counts[made] += counts[i]
            continue
        made += 1
        for column in range(width):
            made_keys[made, column] = keys[i, column]
        made_counts[made] = counts[i]
    return made + 1


@jit
def ascending(keys):
    """`contract.ascending_reference`."""
    rows, width = keys.shape
    i = 1
    while i < rows and order(keys, i - 1, keys, i, width) <= 0:
        i += 1
    return i >= rows
