"""Rows of a sorted array, or of a table, written beside the rows that ask for them, as columns of answers."""

import numpy as np

from ..jit import SELDOM, inline, jit
from .contract import NULL
from .cpu_climb import climbing
from .cpu_search import FROM, PAST, alike, around, beyond, least, onward

FEW, MANY = 8, 64
"""Values that are written together where `MANY` follow each other at most. Some that follow them are written
too, before they get their own, where there is room. Places are unsigned: a signed one may count from the end,
and values would be written one by one."""

NEXT = 4
"""Rows that are looked at together where an end of a range moves forward, mostly by few rows."""


@inline
def _filled(column, at, end, value):
    """Write a value from `at` on."""
    if end - at > MANY or end + FEW > column.shape[0]:
        part = column[at:end]
        for k in range(end - at):
            part[k] = value
        return
    place, stop = np.uint64(at), np.uint64(end)
    while place < stop:
        for k in range(FEW):
            column[place + np.uint64(k)] = value
        place += np.uint64(FEW)


@inline
def _copied(column, at, end, source, first):
    """Write values of an array from `at` on."""
    size = end - at
    if size > MANY or end + FEW > column.shape[0] or first + size + FEW > source.shape[0]:
        part, theirs = column[at:end], source[first : first + size]
        for k in range(size):
            part[k] = theirs[k]
        return
    place, row = np.uint64(at), np.uint64(first)
    for _ in range(0, size, FEW):
        # All are read before any is written, as nothing says that they lie apart.
        a, b = source[row], source[row + np.uint64(1)]
        c, d = source[row + np.uint64(2)], source[row + np.uint64(3)]
        e, f = source[row + np.uint64(4)], source[row + np.uint64(5)]
        g, h = source[row + np.uint64(6)], source[row + np.uint64(7)]
        column[place], column[place + np.uint64(1)] = a, b
        column[place + np.uint64(2)], column[place + np.uint64(3)] = c, d
        column[place + np.uint64(4)], column[place + np.uint64(5)] = e, f
        column[place + np.uint64(6)], column[place + np.uint64(7)] = g, h
        place, row = place + np.uint64(FEW), row + np.uint64(FEW)


@inline
def _taken(column, at, end, source, first, begun, ended, there):
    """Write values of an array from `at` on; values begun .. ended - 1 are written from `there` on."""
    last = first + end - at
    low, high = max(first, begun), min(last, ended)
    if low >= high:
        low = high = last
    part, theirs = column[at : at + low - first], source[first:low]
    for k in range(low - first):
        part[k] = theirs[k]
    part, again = (
        column[at + low - first : at + high - first],
        column[there + low - begun : there + high - begun],
    )
    for k in range(high - low):
        part[k] = again[k]
    part, theirs = column[at + high - first : end], source[high:last]
    for k in range(last - high):
        part[k] = theirs[k]


@inline
def _once(counts, low, high):
    """How many of some rows are there once."""
    found = 0
    for count in counts[low:high]:
        found += count == 1
    return found


@inline
def _reaching(keys, low, near, end, column, limit):
    """`climbing`, where mostly few rows are passed: these are looked at without a branch for each."""
    if near + NEXT > end or (near > low and keys[near - 1, column] >= limit):
        return climbing(keys, low, near, end, column, limit)
    row, own = np.uint64(near), np.uint64(column)
    passed = 0
    for k in range(NEXT):
        passed += keys[row + np.uint64(k), own] < limit
    if passed == NEXT:
        return climbing(keys, low, near + NEXT, end, column, limit)
    return near + passed


@jit
def joined(rows, asking, shared, op, held, own, counted, at, near, made, halt):
    """`contract.joined_reference`, row by row. `halt` uint8 [1] in: see `jit`.

    Among rows with one prefix, in the order of what is compared, the ends of the range move forward. Columns
    of rows with one prefix are copied to `near` where there is room, so that values lie next to each other.
    """
    keys, counts = rows.keys, rows.counts
    size, many, most = keys.shape[0], asking.shape[0], made.shape[1]
    before, beside = own.shape[0], held.shape[0] - 1
    times, multiplied = held[beside], made[before + beside]
    i, past = at[0], at[1]
    begin = end = first = low = high = 0
    begun = ended = there = 0  # rows begun .. ended - 1 are written from `there` on
    ones = checked = 0  # rows ones .. checked - 1 are there once
    known = -1
    several = close = unequal = False
    written = 0
    while i < many and written < most:
        if i % SELDOM == 0 and halt[0]:
            return 0
        if known < 0 or not alike(asking, i, asking, known, shared):
            begin = around(keys, end, asking, i, shared, 0, FROM)
            end = onward(keys, begin, size, asking, i, shared, 0, PAST)
            low, high, known = begin, end, i
            if op == 2 or op == 3:
                first = low = high = climbing(keys, begin, begin, end, shared, NULL + 1)
            close = end - begin <= near.shape[1]
            if close:
                for number in range(before):
                    part = near[number]
                    for k in range(end - begin):
                        part[k] = keys[begin + k, own[number]]
            unequal = counted and close and _once(counts, begin, end) < end - begin
        if op >= 0:
            value = asking[i, shared]
            if value == NULL:
                i, past = i + 1, 0
                continue
            if op < 2:
                low = _reaching(keys, begin, low, end, shared, least(op, value))
            elif op < 4:
                high = _reaching(keys, first, high, end, shared, beyond(op, value))
            else:
                low = _reaching(keys, begin, low, end, shared, value)
                high = climbing(keys, low, low, end, shared, value + 1)
        take = min(high - low - past, most - written)
        if take > 0:
            source, last = low + past, written + take
            for number in range(before):
                if close:
                    _copied(made[number], written, last, near[number], source - begin)
                else:
                    _taken(made[number], written, last, keys[:, own[number]], source, begun, ended, there)
            for number in range(beside):
                _filled(made[before + number], written, last, held[number, i])
            if not close:
                begun, ended, there = source, source + take, written
                unequal = counted and (source < ones or ended > checked)
                if unequal and not several:
                    unequal = _once(counts, source, ended) < take
                    ones, checked = (0, 0) if unequal else (source, ended)
            if unequal or several or times[i] != 1:
                if not several:
                    several = True
                    part = multiplied[:written]
                    for k in range(written):
                        part[k] = 1
                _filled(multiplied, written, last, times[i])
                if unequal:
                    part, theirs = multiplied[written:last], counts[source : source + take]
                    for k in range(take):
                        part[k] *= theirs[k]
            written, past = last, past + take
        if low + past >= high:
            i, past = i + 1, 0
    at[0], at[1], at[2] = i, past, several
    return written


@jit
def repeated(ranges, held, columns, counted, at, made, halt):
    """`contract.repeated_reference`, column by column. `halt` uint8 [1] in: see `jit`.

    Neighbouring rows that ask often have the same value, which is written for all of them at once.
    """
    many, most = ranges.shape[0], made.shape[1]
    beside, before = held.shape[0], columns.shape[0] - counted
    start, skipped = at[0], at[1]
    stop, past, written = start, skipped, 0
    while stop < many and written < most:
        if stop % SELDOM == 0 and halt[0]:
            return 0
        size = ranges[stop, 1] - ranges[stop, 0] - past
        take = min(size, most - written)
        written, past = written + take, past + take
        if take == size:
            stop, past = stop + 1, 0
    for number in range(before):
        i, end = start, 0
        low = ranges[start, 0] + skipped if written else 0
        while end < written:
            begin, end = end, min(end + ranges[i, 1] - low, written)
            _copied(made[number], begin, end, columns[number], low)
            i += 1
            low = ranges[i, 0] if i < many else 0
    for number in range(beside):
        column, source = made[before + number], held[number]
        i, begin, end = start, 0, -skipped
        while end < written:
            value = source[i]
            while end < written and source[i] == value:
                end = min(end + ranges[i, 1] - ranges[i, 0], written)
                i = min(i + 1, many - 1)
            _filled(column, begin, end, value)
            begin = end
    if counted:
        counts, column = columns[before], made[before + beside - 1]
        i, end = start, 0
        low = ranges[start, 0] + skipped if written else 0
        while end < written:
            begin, end = end, min(end + ranges[i, 1] - low, written)
            some, part = counts[low : low + end - begin], column[begin:end]
            for k in range(end - begin):
                part[k] *= some[k]
            i += 1
            low = ranges[i, 0] if i < many else 0
    at[0], at[1] = stop, past
    return written
