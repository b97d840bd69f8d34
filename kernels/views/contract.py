"""The contract of rows in lexicographic order, each with its multiplicity, and of what is asked of them.

=========  =======================  ======================================================================
`keys`     int64 [rows, width]      the rows, all different, in lexicographic order
`counts`   int64 [rows]             how often each row is there; 0 after its last copy was deleted
`sums`     int64 [sums]             the sums of each `BLOCK` neighbouring counts, then of each `BLOCK` of
                                    these; int64 [0] where no sums are kept
=========  =======================  ======================================================================

Kernels that read, change or merge such rows also take them narrow: `keys` int32 and `counts` int16. Where
the counts are those of other rows, they are int64 beside narrow keys. Whoever changes narrow counts makes
sure that they fit.

Values are codes above `NULL` and below `TOP`, in the order of what they stand for; `NULL` stands for no
value.

Rows of one array ask for rows of another: those that have the same first values (`shared` many) and satisfy
`RowTests`. Row v asks for row x if `v[values[t]] OP x[columns[t]]` holds for each test t, with the operator
of the code `ops[t]`. Nothing holds for `NULL`. Where there is a test, `columns[0]`, and `values[0]` of rows
in order, is the first column after the shared ones; a test by `!=` comes after all others.
"""

from typing import NamedTuple

import numpy as np

NULL = -(2**63)
TOP = 2**63 - 1

OPS = ("<", "<=", ">", ">=", "=", "!=")
"""The operators, by their codes."""

UNEQUAL = 5
"""The code of `!=`."""

MIXER, WORD = 0x9E3779B97F4A7C15, 2**64 - 1
"""What `mark_of` multiplies by; and all bits of a word."""

EQUAL, DIFFERENT = 1, 2
"""Rows in order, some of which are equal; and rows in order that are all different."""


SHIFT = 7
BLOCK = 1 << SHIFT
"""How many counts each sum is of."""


def sums_of(rows):
    """How many sums are kept for `rows` rows."""
    blocks = (rows + BLOCK - 1) >> SHIFT
    return blocks + ((blocks + BLOCK - 1) >> SHIFT)


class CountedRows(NamedTuple):
    """Rows with multiplicities: `keys`, `counts`, `sums` as above."""

    keys: np.ndarray
    counts: np.ndarray
    sums: np.ndarray


class RowTests(NamedTuple):
    """Tests as above: `ops`, `values`, `columns` int64 [tests]."""

    ops: np.ndarray
    values: np.ndarray
    columns: np.ndarray


def _listed(keys):
    return [tuple(row) for row in keys.tolist()]


def _holds(op, left, right):
    if NULL in (left, right):
        return False
    order = (left > right) - (left < right)
    return order in ((-1,), (-1, 0), (1,), (0, 1), (0,), (-1, 1))[op]


def _joins(asking, asked, shared, tests):
    """Whether a row asks for another."""
    return asking[:shared] == asked[:shared] and all(
        _holds(op, asking[value], asked[column])
        for op, value, column in zip(*(array.tolist() for array in tests))
    )


def put_reference(rows, keys, amounts, missing):
    """Add `amounts` int64 [m] to the multiplicities of the rows `keys` int64 [m, width], which are in order.

    `missing` uint8 [m]: in/out, 0 for a row to leave out; the rows that are found become 0.
    Gives how many more rows have the multiplicity 0 than before.
    """
    before = int((rows.counts == 0).sum())
    where = {row: place for place, row in enumerate(_listed(rows.keys))}
    for number, row in enumerate(_listed(keys)):
        if missing[number] and row in where:
            rows.counts[where[row]] += amounts[number]
            missing[number] = 0
    if len(rows.sums):
        sum_reference(rows.counts, rows.sums)
    return int((rows.counts == 0).sum()) - before


def find_reference(keys, probes, places):
    """Write where each row of `probes` int64 [m, width] is to `places` int64 [m]; -1: nowhere."""
    where = {row: place for place, row in enumerate(_listed(keys))}
    places[:] = [where.get(row, -1) for row in _listed(probes)]


def noted_reference(keys, taken, marks, found):
    """Write 1 to `found` uint8 [m] for each row whose mark is there already, and 0 for the others.

    `taken` uint8 [m]: 0 for a row to leave out; the others are marked. `marks` uint8 [2^b]: in/out, a bit for
    each value of `mark_of`. A row that is not marked has never been taken. Gives how many rows are found.
    """
    found[:] = 0
    for number, row in enumerate(_listed(keys)):
        if taken[number]:
            mark = mark_of(row, len(marks))
            found[number] = marks[mark >> 3] >> (mark & 7) & 1
            marks[mark >> 3] |= 1 << (mark & 7)
    return int(found.sum())


def mark_of(row, size):
    """The mark of a row: one of 8 * `size`, a power of two."""
    mixed = 0
    for value in row:
        mixed = (mixed ^ (value & WORD)) * MIXER & WORD
        mixed ^= mixed >> 32
    return mixed & (8 * size - 1)


def sum_reference(counts, sums):
    """Fill `sums` for `counts`."""
    blocks = [counts[k : k + BLOCK].sum() for k in range(0, len(counts), BLOCK)]
    sums[:] = [*blocks, *(sum(blocks[k : k + BLOCK]) for k in range(0, len(blocks), BLOCK))]


def merge_reference(one, other, keys, counts):
    """Merge two `CountedRows`, in order: equal rows become one, and rows of multiplicity 0 are left out.

    `keys` and `counts`: out, as long as both together. Gives how many rows there are.
    """
    return _written([row for row in _sums_of(one, other) if row[1]], keys, counts)


def unite_reference(one, other, keys, counts):
    """As `merge`, but rows of multiplicity 0 stay."""
    return _written(_sums_of(one, other), keys, counts)


def _sums_of(one, other):
    found = dict(zip(_listed(one.keys), one.counts.tolist()))
    for row, count in zip(_listed(other.keys), other.counts.tolist()):
        found[row] = found.get(row, 0) + count
    return sorted(found.items())


def _written(found, keys, counts):
    for place, (key, count) in enumerate(found):
        keys[place] = key
        counts[place] = count
    return len(found)


def chosen_reference(keys, counts, taken, made_keys, made_counts):
    """Write the rows whose `taken` uint8 [m] is not 0, and their counts; as many rows as that are out."""
    there = taken != 0
    made_keys[:], made_counts[:] = keys[there], counts[there]


def narrow_reference(keys, counts, made_keys, made_counts):
    """Write rows to `made_keys` int32 [rows, width] and counts to `made_counts` int16 [rows].

    Gives whether all of them fit; what is written is not read otherwise.
    """
    made_keys[:], made_counts[:] = keys, counts
    return bool((made_keys == keys).all() and (made_counts == counts).all())


def insert_reference(keys, counts, size, others, amounts):
    """Put the rows `others` int64 [m, width], in order and new, with `amounts` among the first `size` rows.

    `keys` and `counts`: in/out, at least size + m long.
    """
    both = [*zip(_listed(keys[:size]), counts[:size].tolist()), *zip(_listed(others), amounts.tolist())]
    _written(sorted(both), keys, counts)


def spans_reference(keys, low, high):
    """Write the least and the greatest value of each column to `low`, `high` int64 [width]."""
    low[:], high[:] = keys.min(axis=0), keys.max(axis=0)


def pack_reference(keys, low, room, packed):
    """Write each row as one number, in the order of the rows, to `packed` int64 [rows].

    `low` int64 [width] has the least value of each column, `room` how many values there may be from it on.
    """
    packed[:] = 0
    for column in range(keys.shape[1]):
        packed[:] = packed * room[column] + (keys[:, column] - low[column])


def sort_reference(values, bits, starts, others, order, spare):
    """Write the order of `values` int64 [m], of at most `bits` bits each, to `order` int64 [m]; stable.

    `starts` int64 [2048], `others` and `spare` int64 [m] are scratch, and `values` is overwritten.
    """
    order[:] = np.argsort(values, kind="stable")


def multiply_reference(one, other, made):
    """Write the products of two arrays int64 [m] to `made`; gives whether all of them fit in 62 bits."""
    found = [a * b for a, b in zip(one.tolist(), other.tolist())]
    if any(abs(value) > 2**62 for value in found):
        return False
    made[:] = found
    return True


def collapse_reference(keys, counts, made_keys, made_counts):
    """Make equal neighbouring rows one, with the sum of their counts; gives how many rows there are."""
    found = {}
    for row, count in zip(_listed(keys), counts.tolist()):
        found[row] = found.get(row, 0) + count
    return _written(list(found.items()), made_keys, made_counts)


def ascending_reference(keys):
    """`DIFFERENT` or `EQUAL` where rows are in order, 0 where they are not."""
    rows = _listed(keys)
    if rows != sorted(rows):
        return 0
    return DIFFERENT if len(set(rows)) == len(rows) else EQUAL


def bounds_reference(keys, asking, shared, op, ranges):
    """For each row of `asking` int64 [m, any], the rows that have its first `shared` values, and whose next
    value x satisfies `asking[i, shared] OP x`.

    `op` is the code of the operator; -1 compares no further value. `ranges` int64 [m, 2]: out, they are rows
    ranges[i, 0] .. ranges[i, 1] - 1, none where both are equal.
    """
    rows = _listed(keys)
    for i, row in enumerate(_listed(asking)):
        tests = RowTests(*(np.array([] if op < 0 else [one], np.int64) for one in (op, shared, shared)))
        found = [place for place, other in enumerate(rows) if _joins(row, other, shared, tests)]
        ranges[i] = (found[0], found[-1] + 1) if found else (ranges[i, 0], ranges[i, 0])


def totals_reference(rows, asking, shared, tests, limits, found, touched):
    """Add to `found` int64 [m] the multiplicities of the rows that each row of `asking` asks for.

    `asking` int64 [m, any]: its first `shared` values are compared with those of the rows. `touched` uint8
    [m]: out, 1 where it asks for some row, even one of multiplicity 0. `limits` int64 [tests, 2] is scratch.
    """
    for i, row in enumerate(_listed(asking)):
        for other, count in zip(_listed(rows.keys), rows.counts.tolist()):
            if _joins(row, other, shared, tests):
                found[i] += count
                touched[i] = 1


def reach_reference(keys, others, shared, tests, ranges):
    """For each group of rows `others` int64 [m, any] with equal shared values, the rows that it may ask for.

    `tests` are those of `others`; only the first is used, and for `=` all values between the least and the
    greatest that some row of the group asks for. `ranges` int64 [m, 4]: out, the first row of `keys` and one
    past the last, and the same for the group; only where there is such a row. Gives how many groups there
    are.
    """
    groups = {}
    for number, row in enumerate(_listed(others)):
        groups.setdefault(row[:shared], []).append((number, row))
    first = RowTests(*(array[:1] if UNEQUAL not in tests.ops[:1] else array[:0] for array in tests))
    bounds = [first]
    if 4 in first.ops:
        bounds = [RowTests(np.array([op]), first.values, first.columns) for op in (1, 3)]
    found = []
    rows = _listed(keys)
    for group in groups.values():
        asked = [
            place
            for place, row in enumerate(rows)
            if all(any(_joins(o, row, shared, bound) for _, o in group) for bound in bounds)
        ]
        if asked:
            found.append((asked[0], asked[-1] + 1, group[0][0], group[-1][0] + 1))
    for number, row in enumerate(found):
        ranges[number] = row
    return len(found)


def affected_reference(rows, others, shared, tests, turned, ranges, limits, keys, amounts):
    """Write the rows that some row of `others` joins, with the sum of the products of both multiplicities.

    `tests` are those of a row of `rows` that asks for `others`, `turned` the same in the other direction.
    `ranges` int64 [groups, 4]: as `reach` finds them. `keys` int64 [most, any] and `amounts` int64 [most]:
    out; `most` is the number of rows in all ranges, and of each row as many first values are written as
    `keys` has. Rows of multiplicity 0 are left out; then neighbouring rows that are equal become one.
    `limits` int64 [tests, 2] is scratch. Gives how many rows are written; -1 where a product does not fit.
    """
    found = {}
    for low, high, first, last in ranges.tolist():
        for row, count in zip(_listed(rows.keys[low:high]), rows.counts[low:high].tolist()):
            amount = [
                theirs
                for other, theirs in zip(_listed(others.keys[first:last]), others.counts[first:last].tolist())
                if _joins(row, other, shared, tests)
            ]
            if count and amount:
                key = row[: keys.shape[1]]
                found[key] = found.get(key, 0) + count * sum(amount)
                if abs(count * sum(amount)) > 2**62:
                    return -1
    return _written(list(found.items()), keys, amounts)


def matching_reference(keys, asking, shared, tests, ranges, at, limits, parents, places):
    """Write, for each row of `asking`, the rows of `keys` in its range that it asks for: the numbers of both.

    `asking` int64 [m, any] and `ranges` int64 [m, 2]: in. `at` int64 [2]: in/out, the row of `asking` to
    begin with and the row of its range, counted from the first; `parents` and `places` int64 [most]: out.
    `limits` int64 [tests, 2] is scratch. Gives how many pairs are written; fewer than `most` only at the end.
    """
    found = []
    most = len(parents)
    for i in range(at[0], len(asking)):
        low, high = ranges[i].tolist()
        for place in range(low + (at[1] if i == at[0] else 0), high):
            if _joins(tuple(asking[i].tolist()), tuple(keys[place].tolist()), shared, tests):
                if len(found) == most:
                    at[:] = i, place - low
                    return most
                found.append((i, place))
                parents[len(found) - 1], places[len(found) - 1] = i, place
    at[:] = len(asking), 0
    return len(found)


def ended_reference(parents, ends):
    """Write where each number ends in `parents` int64 [m], in order, to `ends` int64 [numbers + 1], 0 first.

    Gives whether they are in order; only then is what is written read.
    """
    ends[0] = 0
    ends[1:] = [(parents <= number).sum() for number in range(len(ends) - 1)]
    return bool((parents[1:] >= parents[:-1]).all())


def spread_reference(ranges, parents, places):
    """Write, for each row of each of `ranges` int64 [m, 2], the number of the range and of the row.

    `parents` and `places` int64 [rows in all ranges] out.
    """
    parents[:], places[:] = _all_of(ranges)


def _all_of(ranges):
    pairs = [(i, place) for i, (low, high) in enumerate(ranges.tolist()) for place in range(low, high)]
    return np.array(pairs, np.int64).reshape(-1, 2).T


def expand_reference(ranges, first, held, rows, own, counted, made):
    """Write columns of the rows of all ranges beside those of the rows that ask for them.

    `held` int64 [columns, any]: row first + i of it asks for range i. `own` int64 [n] are columns of the keys
    of `rows`. `made` int64 [columns + n, rows in all ranges]: out, first the columns `own`, then those held;
    if `counted`, the last is multiplied by the counts of `rows`.
    """
    parents, places = _all_of(ranges)
    for number, column in enumerate(own.tolist()):
        made[number] = rows.keys[places, column]
    made[len(own) :] = held[:, first + parents]
    if counted:
        made[-1] *= rows.counts[places]
