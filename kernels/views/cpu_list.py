"""Rows written beside the rows that ask for them: ranges of rows become columns."""

from ..jit import SELDOM, inline, jit
from .cpu_search import following, limited

FEW, MANY = 8, 32
"""Values that are written together where `MANY` follow each other at most."""


@jit
def matching(keys, asking, shared, tests, ranges, at, limits, parents, places, halt):
    """`contract.matching_reference`. `halt` uint8 [1] in: see `jit`."""
    most = parents.shape[0]
    made = 0
    for i in range(at[0], asking.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return 0
        low, high = ranges[i, 0], ranges[i, 1]
        row = low + (at[1] if i == at[0] else 0)
        if row >= high or not limited(tests, asking, i, limits):
            continue
        row = following(keys, row, high, shared, tests, limits)
        while row < high:
            if made == most:
                at[0], at[1] = i, row - low
                return most
            parents[made] = i
            places[made] = row
            made += 1
            row = following(keys, row + 1, high, shared, tests, limits)
    at[0], at[1] = asking.shape[0], 0
    return made


@jit
def ended(parents, ends, halt):
    """`contract.ended_reference`. `halt` uint8 [1] in: see `jit`."""
    rows, number = parents.shape[0], 0
    ends[0] = 0
    for i in range(rows):
        if i % SELDOM == 0 and halt[0]:
            return False
        parent = parents[i]
        if parent < number:
            return False
        while number < parent:
            number += 1
            ends[number] = i
    ends[number + 1 :] = rows
    return True


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


@inline
def filled(column, at, end, value):
    """Write a value from `at` on; some that follow `end` may be written too, before they get their own."""
    if end - at > MANY or end + FEW > column.shape[0]:
        part = column[at:end]
        for k in range(end - at):
            part[k] = value
        return
    while at < end:
        part = column[at : at + FEW]
        for k in range(FEW):
            part[k] = value
        at += FEW


@inline
def copied(column, at, end, source):
    """Write the first values of `source` from `at` on, as `filled`."""
    size = end - at
    if size > MANY or end + FEW > column.shape[0] or size + FEW > source.shape[0]:
        part = column[at:end]
        for k in range(size):
            part[k] = source[k]
        return
    k = 0
    while k < size:
        values, part = source[k : k + FEW], column[at + k : at + k + FEW]
        # All are read before any is written, as nothing says that they lie apart.
        a, b, c, d = values[0], values[1], values[2], values[3]
        e, f, g, h = values[4], values[5], values[6], values[7]
        part[0], part[1], part[2], part[3] = a, b, c, d
        part[4], part[5], part[6], part[7] = e, f, g, h
        k += FEW


@jit
def expand(ranges, first, held, rows, own, counted, made, halt):
    """`contract.expand_reference`, column by column. `halt` uint8 [1] in: see `jit`.

    Rows that ask often ask for much the same range as the row before, and have the same values there: what
    both ranges have is copied from what is written, and such a value is written for all of them at once.
    """
    many = ranges.shape[0]
    before, beside = own.shape[0], held.shape[0]
    for number in range(before):
        keys, column = rows.keys[:, own[number]], made[number]
        at = first_row = last_row = 0
        for i in range(many):
            if i % SELDOM == 0 and halt[0]:
                return
            low, high = ranges[i, 0], ranges[i, 1]
            begin, end = max(low, first_row), min(high, last_row)
            if begin < end:
                if low < begin:
                    copied(column, at, at + begin - low, keys[low:])
                copied(column, at + begin - low, at + end - low, column[at + begin - last_row :])
            else:
                end = low
            if end < high:
                copied(column, at + end - low, at + high - low, keys[end:])
            first_row, last_row = low, high
            at += high - low
    for number in range(beside):
        source, column = held[number, first : first + many], made[before + number]
        last = counted and number == beside - 1
        at = begin = value = 0
        for i in range(many):
            if i % SELDOM == 0 and halt[0]:
                return
            if source[i] != value:
                filled(column, begin, at, value)
                begin, value = at, source[i]
            at += ranges[i, 1] - ranges[i, 0]
        filled(column, begin, at, value)
        if last:
            at = 0
            for i in range(many):
                low, size = ranges[i, 0], ranges[i, 1] - ranges[i, 0]
                counts, part = rows.counts[low : low + size], column[at : at + size]
                for k in range(size):
                    part[k] *= counts[k]
                at += size
