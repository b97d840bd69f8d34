"""The canonical order of the complex events of one end: ascending (start, marked events, labels).

Marked events and labels are compared as tuples. How two complex events are compared depends on how they were
found, so `composed` puts in the piece `precedes(found, one, other)`: whether one comes strictly before the
other; and `sort_slice`, which is `sort_runs` composed with the same piece.
"""

from ..jit import jit

SMALL = 24
"""Slices up to this length are sorted by insertion."""


def sort_runs(order, spare, low, high, found):
    """Sort order[low:high] canonically: insertion into short runs, then merging; `spare` is scratch.

    It is composed as `sort_slice`.
    """
    for begin in range(low, high, SMALL):
        for k in range(begin + 1, min(begin + SMALL, high)):
            item = order[k]
            m = k
            while m > begin and precedes(found, item, order[m - 1]):  # noqa: F821
                order[m] = order[m - 1]
                m -= 1
            order[m] = item
    width = SMALL
    while width < high - low:
        for begin in range(low, high - width, 2 * width):
            middle = begin + width
            stop = min(middle + width, high)
            for k in range(begin, middle):
                spare[k] = order[k]
            p, q, k = begin, middle, begin
            while p < middle:
                if q < stop and precedes(found, order[q], spare[p]):  # noqa: F821
                    order[k] = order[q]
                    q += 1
                else:
                    order[k] = spare[p]
                    p += 1
                k += 1
        width *= 2


@jit
def sort_by_start(order, spare, count, start, tally):
    """Stable radix sort of order[:count] by start, as many bits at a time as `tally` has room for."""
    least = start[0]
    most = start[0]
    ascending = True
    for k in range(1, count):
        ascending = ascending and start[order[k - 1]] <= start[order[k]]
        least = min(least, start[k])
        most = max(most, start[k])
    bits = 0
    while 2 << bits <= tally.shape[0]:
        bits += 1
    mask = (1 << bits) - 1
    shift = 0
    while not ascending and (most - least) >> shift > 0:
        digits = min((most - least) >> shift, mask) + 1
        for digit in range(digits):
            tally[digit] = 0
        for k in range(count):
            tally[((start[k] - least) >> shift) & mask] += 1
        total = 0
        for digit in range(digits):
            number = tally[digit]
            tally[digit] = total
            total += number
        for k in range(count):
            item = order[k]
            digit = ((start[item] - least) >> shift) & mask
            spare[tally[digit]] = item
            tally[digit] += 1
        for k in range(count):
            order[k] = spare[k]
        shift += bits


def sort_found(count, found, sorting):
    """Put complex events 0 .. count - 1 in canonical order.

    `count` int in; `found` NamedTuple in: with `start`, and what `precedes` reads; `sorting` SortScratch
    in/out: order[:count] has them in the order of the walk, and then in canonical order.
    """
    order, spare = sorting.order, sorting.spare
    if count <= SMALL:
        sort_slice(order, spare, 0, count, found)  # noqa: F821
        return
    start = found.start
    sort_by_start(order, spare, count, start, sorting.tally)
    low = 0
    while low < count:
        high = low + 1
        ordered = True
        while high < count and start[order[high]] == start[order[low]]:
            ordered = ordered and not precedes(found, order[high], order[high - 1])  # noqa: F821
            high += 1
        if not ordered:
            sort_slice(order, spare, low, high, found)  # noqa: F821
        low = high
