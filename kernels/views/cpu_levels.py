"""Sorted rows with multiplicities on the CPU: changed, merged and summed.

None of these kernels can be interrupted: they are steps of an update, and what they change stays changed.
"""

import numpy as np

from ..jit import inline, jit
from .contract import BLOCK, DIFFERENT, EQUAL, MIXER, SHIFT
from .cpu_search import FROM, alike, onward

MOST = float(2**62)
"""Multiplicities stay below this number."""

SPARSE = 4
"""Where one array is more than this many times as long as another, its rows are passed by search."""


@inline
def order(keys, row, others, other, width):
    """-1, 0 or 1: how a row compares with another."""
    for column in range(width):
        own, theirs = keys[row, column], others[other, column]
        if own != theirs:
            return -1 if own < theirs else 1
    return 0


@jit
def sum_up(counts, sums):
    """`contract.sum_reference`."""
    rows = counts.shape[0]
    blocks = (rows + BLOCK - 1) >> SHIFT
    sums[:] = 0
    for i in range(rows):
        sums[i >> SHIFT] += counts[i]
    for i in range(blocks):
        sums[blocks + (i >> SHIFT)] += sums[i]


@jit
def noted(keys, taken, marks, found):
    """`contract.noted_reference`."""
    rows, width = keys.shape
    most = np.uint64(8 * marks.shape[0] - 1)
    many = 0
    for i in range(rows):
        found[i] = 0
        if not taken[i]:
            continue
        mixed = np.uint64(0)
        for column in range(width):
            mixed = (mixed ^ np.uint64(np.int64(keys[i, column]))) * np.uint64(MIXER)
            mixed ^= mixed >> np.uint64(32)
        mark = mixed & most
        place, bit = mark >> np.uint64(3), np.uint8(1) << np.uint8(mark & np.uint64(7))
        there = marks[place] & bit != 0
        found[i] = there
        many += there
        marks[place] |= bit
    return many


@inline
def _put_one(rows, at, amount):
    """Add to the multiplicity of a row; how many more rows are 0 then."""
    if amount == 0:
        return 0
    emptied = -1 if rows.counts[at] == 0 else 0
    rows.counts[at] += amount
    if rows.sums.shape[0]:
        blocks = (rows.counts.shape[0] + BLOCK - 1) >> SHIFT
        rows.sums[at >> SHIFT] += amount
        rows.sums[blocks + (at >> SHIFT >> SHIFT)] += amount
    return emptied + 1 if rows.counts[at] == 0 else emptied


@jit
def put(rows, keys, amounts, missing):
    """`contract.put_reference`."""
    size, width = rows.keys.shape
    many = keys.shape[0]
    emptied = at = 0
    if size < many >> 1:
        for row in range(size):
            at = onward(keys, at, many, rows.keys, row, width, 0, FROM)
            if at == many:
                break
            if missing[at] and alike(keys, at, rows.keys, row, width):
                missing[at] = 0
                emptied += _put_one(rows, row, amounts[at])
        return emptied
    for i in range(many):
        if not missing[i]:
            continue
        if at == size:
            break
        there = alike(rows.keys, at, keys, i, width)
        if not there:
            at = onward(rows.keys, at, size, keys, i, width, 0, FROM)
            there = at < size and alike(rows.keys, at, keys, i, width)
        if there:
            missing[i] = 0
            emptied += _put_one(rows, at, amounts[i])
            at += 1
    return emptied


@inline
def _copied(rows, row, end, keys, counts, made):
    """Copy rows, except those of multiplicity 0; gives how many are written then."""
    width = keys.shape[1]
    for k in range(row, end):
        count = rows.counts[k]
        if count:
            for column in range(width):
                keys[made, column] = rows.keys[k, column]
            counts[made] = count
            made += 1
    return made


@inline
def _all_copied(rows, row, end, keys, counts, made):
    """Copy rows; gives how many are written then."""
    width, many = keys.shape[1], end - row
    own, theirs = keys[made : made + many], rows.keys[row:end]
    mine, given = counts[made : made + many], rows.counts[row:end]
    for k in range(many):
        mine[k] = given[k]
    if width == 2:
        for k in range(many):
            own[k, 0], own[k, 1] = theirs[k, 0], theirs[k, 1]
    else:
        for k in range(many):
            for column in range(width):
                own[k, column] = theirs[k, column]
    return made + many


@inline
def _unite_pairs(one, other, keys, counts, zeros):
    """`unite` for two columns, without a branch, which would often be mispredicted: both rows are read.

    `zeros`: 1 where rows of multiplicity 0 stay, 0 where they are left out.
    """
    first, second = np.uint64(one.keys.shape[0]), np.uint64(other.keys.shape[0])
    i = j = made = np.uint64(0)
    while i < first and j < second:
        own, beside = one.keys[i, 0], one.keys[i, 1]
        theirs, next_one = other.keys[j, 0], other.keys[j, 1]
        same = theirs == own
        later = (theirs < own) | (same & (next_one < beside))
        same &= next_one == beside
        count = (0 if later else one.counts[i]) + (other.counts[j] if later | same else 0)
        keys[made, 0] = theirs if later else own
        keys[made, 1] = next_one if later else beside
        counts[made] = count
        made += np.uint64((count != 0) | (zeros != 0))
        i += np.uint64(not later)
        j += np.uint64(later | same)
    done, i, j = np.int64(made), np.int64(i), np.int64(j)
    if zeros:
        done = _all_copied(one, i, np.int64(first), keys, counts, done)
        return _all_copied(other, j, np.int64(second), keys, counts, done)
    done = _copied(one, i, np.int64(first), keys, counts, done)
    return _copied(other, j, np.int64(second), keys, counts, done)


@jit
def merge(one, other, keys, counts):
    """`contract.merge_reference`."""
    size, width = one.keys.shape
    many = other.keys.shape[0]
    i = made = 0
    if width == 2 and size < 2 * SPARSE * many:
        return _unite_pairs(one, other, keys, counts, 0)
    for j in range(many):
        end = onward(one.keys, i, size, other.keys, j, width, 0, FROM)
        made = _copied(one, i, end, keys, counts, made)
        i = end
        count = other.counts[j]
        if i < size and alike(one.keys, i, other.keys, j, width):
            count += one.counts[i]
            i += 1
        if count:
            for column in range(width):
                keys[made, column] = other.keys[j, column]
            counts[made] = count
            made += 1
    return _copied(one, i, size, keys, counts, made)


@jit
def unite(one, other, keys, counts):
    """`contract.unite_reference`."""
    first, second = one.keys.shape[0], other.keys.shape[0]
    width = keys.shape[1]
    i = j = made = 0
    if first > SPARSE * second:
        # Most rows lie between two of the shorter: they are copied without being compared.
        for j in range(second):
            end = onward(one.keys, i, first, other.keys, j, width, 0, FROM)
            made = _all_copied(one, i, end, keys, counts, made)
            made = _all_copied(other, j, j + 1, keys, counts, made)
            i = end
            if i < first and alike(one.keys, i, other.keys, j, width):
                counts[made - 1] += one.counts[i]
                i += 1
        return _all_copied(one, i, first, keys, counts, made)
    if width == 2:
        return _unite_pairs(one, other, keys, counts, 1)
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
def chosen(keys, counts, taken, made_keys, made_counts):
    """`contract.chosen_reference`. Every row is written, and the next one over one that is not taken."""
    made, most = np.uint64(0), np.uint64(made_counts.shape[0])
    width = keys.shape[1]
    for i in range(np.uint64(keys.shape[0])):
        if made == most:
            break
        if width == 2:
            made_keys[made, 0], made_keys[made, 1] = keys[i, 0], keys[i, 1]
        else:
            for column in range(width):
                made_keys[made, column] = keys[i, column]
        made_counts[made] = counts[i]
        made += np.uint64(taken[i] != 0)


@jit
def narrow(keys, counts, made_keys, made_counts):
    """`contract.narrow_reference`."""
    rows, width = keys.shape
    odd = 0
    for i in range(rows):
        made_counts[i] = counts[i]
        odd |= made_counts[i] != counts[i]
    for i in range(rows):
        for column in range(width):
            made_keys[i, column] = keys[i, column]
            odd |= made_keys[i, column] != keys[i, column]
        if odd:
            return False
    return True


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
    found = DIFFERENT
    for i in range(1, rows):
        sign = order(keys, i - 1, keys, i, width)
        if sign > 0:
            return 0
        if sign == 0:
            found = EQUAL
    return found


@jit
def spans(keys, low, high):
    """`contract.spans_reference`."""
    for column in range(keys.shape[1]):
        low[column] = high[column] = keys[0, column]
    for i in range(keys.shape[0]):
        for column in range(keys.shape[1]):
            value = keys[i, column]
            low[column] = min(low[column], value)
            high[column] = max(high[column], value)


@jit
def pack(keys, low, room, packed):
    """`contract.pack_reference`."""
    for i in range(keys.shape[0]):
        found = 0
        for column in range(keys.shape[1]):
            found = found * room[column] + (keys[i, column] - low[column])
        packed[i] = found


@jit
def sort(values, bits, starts, others, order, spare):
    """`contract.sort_reference`."""
    size = values.shape[0]
    for i in range(size):
        order[i] = i
    shift = 0
    while shift < bits:
        starts[:] = 0
        for i in range(size):
            starts[(values[i] >> shift) & 2047] += 1
        total = 0
        for digit in range(2048):
            many = starts[digit]
            starts[digit] = total
            total += many
        for i in range(size):
            digit = (values[i] >> shift) & 2047
            at = starts[digit]
            starts[digit] += 1
            others[at] = values[i]
            spare[at] = order[i]
        for i in range(size):
            values[i] = others[i]
            order[i] = spare[i]
        shift += 11


@jit
def multiply(one, other, made):
    """`contract.multiply_reference`."""
    fits = True
    for i in range(one.shape[0]):
        made[i] = one[i] * other[i]
        fits = fits and abs(float(one[i]) * float(other[i])) <= MOST
    return fits
