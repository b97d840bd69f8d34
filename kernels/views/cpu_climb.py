"""How a change of one child changes the rows of its sibling's parent."""

import numpy as np

from ..jit import SELDOM, inline, jit
from .contract import BLOCK, NULL, SHIFT, TOP, UNEQUAL
from .cpu_levels import MOST
from .cpu_search import FROM, LIMITED, PAST, alike, around, beyond, following, least, limited, onward

NEAR = 8
"""Rows that are looked at one by one before others are passed by search."""


@inline
def added(values, low, high):
    """The sum of values[low:high]."""
    total = 0
    for value in values[low:high]:
        total += value
    return total


@inline
def summed(rows, low, high):
    """The sum of the multiplicities of rows low .. high - 1, by the sums that are kept."""
    if high - low <= 2 * BLOCK:
        return added(rows.counts, low, high)
    first, last = (low + BLOCK - 1) >> SHIFT, high >> SHIFT
    total = added(rows.counts, low, first << SHIFT) + added(rows.counts, last << SHIFT, high)
    if last - first <= 2 * BLOCK:
        return total + added(rows.sums, first, last)
    blocks = (rows.counts.shape[0] + BLOCK - 1) >> SHIFT
    low, high = (first + BLOCK - 1) >> SHIFT, last >> SHIFT
    total += added(rows.sums, first, low << SHIFT) + added(rows.sums, high << SHIFT, last)
    return total + added(rows.sums, blocks + low, blocks + high)


@inline
def climbing(keys, low, near, end, column, limit):
    """The first row of `low` .. `end` - 1, in order of a column, that reaches a limit; sought from `near`."""
    if near > low and keys[near - 1, column] >= limit:
        near = low
    step = 1
    while near + step - 1 < end and keys[near + step - 1, column] < limit:
        near += step
        step += step
    end = min(end, near + step - 1)
    while near < end:
        middle = (near + end) >> 1
        if keys[middle, column] < limit:
            near = middle + 1
        else:
            end = middle
    return near


@jit
def totals(rows, asking, shared, tests, limits, found, touched, halt):
    """`contract.totals_reference`. `halt` uint8 [1] in: see `jit`."""
    keys = rows.keys
    size = keys.shape[0]
    many = tests.ops.shape[0]
    sliding = many == 1 and tests.ops[0] != UNEQUAL
    begin = end = low = high = total = 0
    asked = -1
    for i in range(asking.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        if not limited(tests, asking, i, limits):
            continue
        if asked < 0 or not alike(asking, i, asking, asked, shared):
            # All rows with the shared values.
            begin = around(keys, end, asking, i, shared, 0, FROM)
            end = onward(keys, begin, size, asking, i, shared, 0, PAST)
            low = high = begin
            total = 0
        asked = i
        if begin == end:
            continue
        if many == 0:
            if low == high:
                total = summed(rows, begin, end)
                low, high = begin, end
            touched[i] = 1
            found[i] += total
        elif sliding:
            least_value, bound = limits[0, 0], limits[0, 1]
            if (low > begin and keys[low - 1, shared] >= least_value) or (
                high > begin and keys[high - 1, shared] >= bound
            ):
                low = high = begin
                total = 0
            # Both ends move forward with the value where the rows that ask are in order, mostly by few rows.
            near = min(end, high + NEAR)
            while high < near and keys[high, shared] < bound:
                total += rows.counts[high]
                high += 1
            if high == near and high < end:
                last = climbing(keys, high, high, end, shared, bound)
                total += summed(rows, high, last)
                high = last
            near = min(high, low + NEAR)
            while low < near and keys[low, shared] < least_value:
                total -= rows.counts[low]
                low += 1
            if low == near and low < high:
                first = climbing(keys, low, low, high, shared, least_value)
                total -= summed(rows, low, first)
                low = first
            if low < high:
                touched[i] = 1
                found[i] += total
        elif many == 1:
            # All with a value, without those that are equal.
            first = climbing(keys, begin, begin, end, shared, NULL + 1)
            low = climbing(keys, first, first, end, shared, limits[0, 0])
            high = climbing(keys, low, low, end, shared, limits[0, 0] + 1)
            if end - first > high - low:
                touched[i] = 1
                found[i] += summed(rows, first, end) - summed(rows, low, high)
        else:
            first, last = begin, end
            if tests.ops[0] != UNEQUAL:
                first = climbing(keys, begin, begin, end, shared, limits[0, 0])
                last = climbing(keys, first, first, end, shared, limits[0, 1])
            at = following(keys, first, last, shared, tests, limits)
            while at < last:
                touched[i] = 1
                found[i] += rows.counts[at]
                at = following(keys, at + 1, last, shared, tests, limits)


@jit
def reach(keys, others, shared, tests, ranges, halt):
    """`contract.reach_reference`. `halt` uint8 [1] in: see `jit`."""
    size, many = keys.shape[0], others.shape[0]
    tested = tests.ops.shape[0] > 0 and tests.ops[0] != UNEQUAL
    made = first = at = 0
    while first < many:
        if halt[0]:
            return 0
        last = onward(others, first + 1, many, others, first, shared, 0, PAST)
        low, high = TOP, NULL
        if tested:
            # The rows of a group are in the order of the value, `NULL` first.
            j = first
            while j < last and others[j, shared] == NULL:
                j += 1
            if j < last:
                values = others[j, shared], others[last - 1, shared]
                low = min(least(tests.ops[0], values[0]), least(tests.ops[0], values[1]))
                high = max(beyond(tests.ops[0], values[0]), beyond(tests.ops[0], values[1]))
            if low < high:
                at = onward(keys, at, size, others, first, shared, low, LIMITED)
                end = onward(keys, at, size, others, first, shared, high, LIMITED)
            else:
                end = at
        else:
            at = onward(keys, at, size, others, first, shared, 0, FROM)
            end = onward(keys, at, size, others, first, shared, 0, PAST)
        if at < end:
            ranges[made, 0], ranges[made, 1] = at, end
            ranges[made, 2], ranges[made, 3] = first, last
            made += 1
        first = last
    return made


@inline
def _write(rows, row, amount, keys, amounts, made):
    """Write a row, or add to the last one if that is the same; gives how many rows are written then."""
    width = keys.shape[1]
    # Whole rows are all different.
    if made and width < rows.keys.shape[1] and alike(rows.keys, row, keys, made - 1, width):
        amounts[made - 1] += amount
        return made
    for column in range(width):
        keys[made, column] = rows.keys[row, column]
    amounts[made] = amount
    return made + 1


@inline
def _slid(rows, row, end, others, first, last, column, beside, op, keys, amounts, made):
    """Write the rows `row` .. `end` - 1 that join some of the rows `first` .. `last` - 1 by one comparison.

    `column` is compared with the column `beside` of the others. Both are in order, so that one end of what
    joins moves forward with the value, and the other end is that of all. Gives how many rows are written
    then; -1 where a product does not fit.
    """
    own, counts = rows.keys, rows.counts
    theirs, times = others.keys, others.counts
    width = keys.shape[1]
    whole = width == 2 and own.shape[1] == 2
    down = op < 2
    start, stop = np.uint64(first), np.uint64(last)
    step = np.uint64(1)
    while start < stop and theirs[start, beside] == NULL:
        start += step
    total, most = 0, 0
    for k in range(start, stop):
        most = max(most, abs(times[k]))
        if down:
            total += times[k]
    # No sum is above this, so that the products are looked at one by one only where one may not fit.
    large = float(most) * float(last - first)
    past = 1 if op == 0 or op == 3 else 0
    at = start
    for place in range(np.uint64(row), np.uint64(end)):
        value, count = own[place, column], counts[place]
        if value == NULL:
            continue
        bound = value + past
        while at < stop and theirs[at, beside] < bound:
            if down:
                total -= times[at]
            else:
                total += times[at]
            at += step
        if down and at == stop:
            break
        if count == 0 or (not down and at == start):
            continue
        if large * abs(float(count)) > MOST and abs(float(count) * float(total)) > MOST:
            return -1
        if whole:
            spot = np.uint64(made)
            keys[spot, 0], keys[spot, 1] = own[place, 0], own[place, 1]
            amounts[spot] = count * total
            made += 1
        else:
            made = _write(rows, place, count * total, keys, amounts, made)
    return made


@jit
def affected(rows, others, shared, tests, turned, ranges, limits, keys, amounts, halt):
    """`contract.affected_reference`. `halt` uint8 [1] in: see `jit`."""
    many = tests.ops.shape[0]
    ordered, equal = many == 1 and tests.ops[0] < 4, many == 1 and tests.ops[0] == 4
    made = 0
    for group in range(ranges.shape[0]):
        if halt[0]:
            return 0
        first, last = ranges[group, 2], ranges[group, 3]
        row, end = ranges[group, 0], ranges[group, 1]
        if ordered:
            column, beside, op = tests.values[0], tests.columns[0], tests.ops[0]
            made = _slid(rows, row, end, others, first, last, column, beside, op, keys, amounts, made)
            if made < 0:
                return -1
            continue
        total, low, high = 0, first, first
        if many == 0:
            for j in range(first, last):
                total += others.counts[j]
        single = not equal and many > 0 and last - first == 1
        if single and not limited(turned, others.keys, first, limits):
            continue
        if single:
            total = others.counts[first]
            row = following(rows.keys, row, end, shared, turned, limits)
        while row < end:
            count = rows.counts[row]
            touched = count != 0
            if touched and equal:
                # Both ends of what joins move forward with the value.
                value = rows.keys[row, tests.values[0]]
                touched = value != NULL
                if touched:
                    column = tests.columns[0]
                    while high < last and others.keys[high, column] <= value:
                        total += others.counts[high]
                        high += 1
                    while low < high and others.keys[low, column] < value:
                        total -= others.counts[low]
                        low += 1
                    touched = low < high
            elif touched and many > 0 and not single:
                total, touched = 0, False
                if limited(tests, rows.keys, row, limits):
                    at = following(others.keys, first, last, shared, tests, limits)
                    while at < last:
                        touched = True
                        total += others.counts[at]
                        at = following(others.keys, at + 1, last, shared, tests, limits)
            if touched:
                if abs(float(count) * float(total)) > MOST:
                    return -1
                made = _write(rows, row, count * total, keys, amounts, made)
            row += 1
            if single:
                row = following(rows.keys, row, end, shared, turned, limits)
    return made
