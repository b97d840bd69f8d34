"""Sorting on the CPU: runs that are merged pair by pair, and numbers by their digits."""

from ..jit import SELDOM, ahead, inline, jit, prefetch
from .contract import DIGIT

DIGITS = 1 << DIGIT


@inline
def _before(keys, one, other):
    """Whether the keys of one row are less than those of another."""
    for column in range(keys.shape[0]):
        if keys[column, one] != keys[column, other]:
            return keys[column, one] < keys[column, other]
    return False


@jit
def merge(keys, runs, spare, low, middle, high, halt):
    """`contract.merge_reference`; `spare` SortedRuns is scratch from `low` to `middle - 1`.

    `halt` uint8 [1] in: see `jit`.
    """
    order, first = runs
    if not _before(keys, order[middle], order[middle - 1]):
        return
    single = keys.shape[0] == 1
    for k in range(low, middle):
        spare.order[k] = order[k]
        spare.first[k] = first[k]
    one, other, k = low, middle, low
    while one < middle and other < high:
        if k % SELDOM == 0 and halt[0]:
            return
        # Both are read and one is kept, since a branch on the data would be mispredicted.
        left, right = spare.first[one], first[other]
        row, late = spare.order[one], order[other]
        takes = right < left
        if left == right and not single:
            takes = _before(keys, late, row)
        order[k] = late if takes else row
        first[k] = right if takes else left
        one += not takes
        other += takes
        k += 1
    for rest in range(one, middle):
        order[k] = spare.order[rest]
        first[k] = spare.first[rest]
        k += 1


@jit
def order_of(values, low, bits, shift, packed, starts, order):
    """`contract.order_of_reference`."""
    count = values.shape[0]
    for place in range(count):
        packed[0, place] = (values[place] - low) << shift | place
    here = 0
    done = 0
    while done < bits:
        starts[:] = 0
        for k in range(count):
            starts[(packed[here, k] >> (shift + done)) & (DIGITS - 1)] += 1
        total = 0
        for digit in range(DIGITS):
            many = starts[digit]
            starts[digit] = total
            total += many
        for k in range(count):
            item = packed[here, k]
            digit = (item >> (shift + done)) & (DIGITS - 1)
            coming = (packed[here, ahead(k, count)] >> (shift + done)) & (DIGITS - 1)
            prefetch(packed, (1 - here, min(starts[coming], count - 1)))
            packed[1 - here, starts[digit]] = item
            starts[digit] += 1
        here = 1 - here
        done += DIGIT
    for k in range(count):
        order[k] = packed[here, k] & ((1 << shift) - 1)
