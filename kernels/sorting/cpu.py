"""Sorting on the CPU: runs that are merged pair by pair."""

from ..jit import SELDOM, inline, jit


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
