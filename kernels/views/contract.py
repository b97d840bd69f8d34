"""The contract of rows in lexicographic order, each with its multiplicity.

=========  =======================  ======================================================================
`keys`     int64 [rows, width]      the rows, all different, in lexicographic order
`counts`   int64 [rows]             how often each is there; 0 after its last copy was deleted
`sums`     int64 [rows + 1]         a Fenwick tree over `counts`: `sums[i]` is the sum of the `i & -i` counts
                                    that end before row i; `sums[0]` is 0
=========  =======================  ======================================================================

Values are codes above `NULL` and below `TOP`, in the order of what they stand for; `NULL` stands for none.
"""

from typing import NamedTuple

import numpy as np

NULL = -(2**63)
TOP = 2**63 - 1


class CountedRows(NamedTuple):
    """Rows with multiplicities: `keys`, `counts`, `sums` as above."""

    keys: np.ndarray
    counts: np.ndarray
    sums: np.ndarray


def _listed(keys):
    return [tuple(row) for row in keys.tolist()]


def _before(rows, bound):
    return sum(row < bound for row in rows)


def find_reference(keys, probes, places):
    """Where each row of `probes` int64 [m, width] is: `places` int64 [m] out, -1 for nowhere."""
    where = {row: place for place, row in enumerate(_listed(keys))}
    places[:] = [where.get(row, -1) for row in _listed(probes)]


def bounds_reference(keys, prefixes, limits, ranges):
    """The rows that begin with each prefix and whose next value is within limits.

    `prefixes` int64 [m, p] and `limits` int64 [m, 2] in: rows with the p values and then one of
    limits[i, 0] .. limits[i, 1] - 1; `limits` int64 [m, 0] asks for no more than the prefix.
    `ranges` int64 [m, 2] out: they are rows ranges[i, 0] .. ranges[i, 1] - 1, none where the second is not
    larger.
    """
    rows = _listed(keys)
    width = prefixes.shape[1]
    for i, prefix in enumerate(_listed(prefixes)):
        if limits.shape[1]:
            shorter = [row[: width + 1] for row in rows]
            low, high = ((*prefix, limit) for limit in limits[i].tolist())
            ranges[i] = _before(shorter, low), _before(shorter, high)
        else:
            shorter = [row[:width] for row in rows]
            low = _before(shorter, prefix)
            ranges[i] = low, low + shorter.count(prefix)


def total_reference(rows, ranges, totals):
    """Add to `totals` int64 [m] the multiplicities of each of `ranges` int64 [m, 2]."""
    for i, (low, high) in enumerate(ranges.tolist()):
        totals[i] += rows.counts[low : max(low, high)].sum()


def sum_reference(counts, sums):
    """Fill `sums` for `counts`."""
    sums[0] = 0
    for i in range(1, len(sums)):
        sums[i] = counts[i - (i & -i) : i].sum()


def add_reference(rows, places, amounts):
    """Add `amounts` int64 [m] to the multiplicities at `places` int64 [m]; those at -1 are left alone.

    Returns how many more rows are 0 than before.
    """
    before = int((rows.counts == 0).sum())
    for place, amount in zip(places.tolist(), amounts.tolist()):
        if place >= 0:
            rows.counts[place] += amount
    sum_reference(rows.counts, rows.sums)
    return int((rows.counts == 0).sum()) - before


def merge_reference(one, other, keys, counts):
    """The rows of two `CountedRows` without a common one, in order and without those of multiplicity 0.

    `keys` and `counts` out, as long as both together. Returns how many rows there are.
    """
    both = [*zip(_listed(one.keys), one.counts.tolist()), *zip(_listed(other.keys), other.counts.tolist())]
    kept = sorted(row for row in both if row[1])
    for place, (key, count) in enumerate(kept):
        keys[place] = key
        counts[place] = count
    return len(kept)


def spread_reference(ranges, parents, places):
    """Write for each row of each of `ranges` int64 [m, 2] the number of the range and of the row.

    `parents` and `places` int64 [rows in all ranges] out.
    """
    at = 0
    for i, (low, high) in enumerate(ranges.tolist()):
        for place in range(low, high):
            parents[at], places[at] = i, place
            at += 1
