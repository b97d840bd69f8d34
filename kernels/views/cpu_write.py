"""Rows of a sorted array, or of a table, written beside the rows that ask for them, as columns of answers."""

import numpy as np

from ..jit import SELDOM, inline, jit
from .contract import NULL, TOP
from .cpu_climb import climbing
from .cpu_search import FROM, PAST, alike, around, beyond, least, onward

FEW, MANY = 8, 64
"""Values that are written together where `MANY` follow each other at most. Some that follow them are written
too, before they get their own, where there is room. Places are unsigned: a signed one may count from the end,
and values would be written one by one."""

AHEAD = 1 << 10
"""Rows whose multiplicities are looked at together."""

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
def _eight(column, place, source, row):
    """Write `FEW` values of an array."""
    # All are read before any is written, as nothing says that they lie apart.
    a, b = source[row], source[row + np.uint64(1)]
    c, d = source[row + np.uint64(2)], source[row + np.uint64(3)]
    e, f = source[row + np.uint64(4)], source[row + np.uint64(5)]
    g, h = source[row + np.uint64(6)], source[row + np.uint64(7)]
    column[place], column[place + np.uint64(1)] = a, b
    column[place + np.uint64(2)], column[place + np.uint64(3)] = c, d
    column[place + np.uint64(4)], column[place + np.uint64(5)] = e, f
    column[place + np.uint64(6)], column[place + np.uint64(7)] = g, h


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
        _eight(column, place, source, row)
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
def _each_copied(column, at, source, begin, sources, takes, found, roomy):
    """Write values of an array that begins with value `begin`, from each of `sources` on as many as `takes`.

    `roomy`: there is room for `FEW` more values after the last, in both.
    """
    if not roomy:
        for k in range(found):
            _copied(column, at, at + takes[k], source, sources[k] - begin)
            at += takes[k]
        return
    start = np.uint64(at)
    for k in range(found):
        place, row, end = start, np.uint64(sources[k] - begin), start + np.uint64(takes[k])
        while place < end:
            _eight(column, place, source, row)
            place, row = place + np.uint64(FEW), row + np.uint64(FEW)
        start = end


@inline
def _each_filled(column, at, values, first, takes, found, total, roomy):
    """Write values from row `first` on, each as often as `takes` says, which is `total` times in all."""
    same = 1
    while same < found and values[first + same] == values[first]:
        same += 1
    if same == found:
        part = column[at : at + total]
        for k in range(total):
            part[k] = values[first]
    elif not roomy:
        for k in range(found):
            _filled(column, at, at + takes[k], values[first + k])
            at += takes[k]
    else:
        start = np.uint64(at)
        for k in range(found):
            place, end, value = start, start + np.uint64(takes[k]), values[first + k]
            while place < end:
                for number in range(FEW):
                    column[place + np.uint64(number)] = value
                place += np.uint64(FEW)
            start = end


@inline
def _all_once(counts, low, high):
    """Whether some rows are there once each."""
    found = 0
    for count in counts[low:high]:
        found += count != 1
    return not found


@inline
def _alike_up_to(keys, begin, end, probes, probe, width):
    """The first row from `begin` on that does not begin with a prefix; `end` if none before it does not."""
    for column in range(width):
        value, row = probes[probe, column], begin
        while row < end and keys[row, column] == value:
            row += 1
        end = row
    return end


@inline
def _passed(values, near, limit):
    """The first of values 1, 2, ... in order, that reaches a limit, sought from `near`.

    Value 0 is `NULL`, and `NEXT` values after the last are `TOP`.
    """
    if values[np.uint64(near - 1)] >= limit:
        near = 1
    place, passed = np.uint64(near), 0
    for k in range(NEXT):
        passed += values[place + np.uint64(k)] < limit
    near += passed
    if passed == NEXT:
        while values[near] < limit:
            near += 1
    return near


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


@inline
def _all_taken(values, near, begin, last, asking, start, many, shared, op, sources, takes):
    """Write the ranges of rows with one prefix that ask by an order, as far as the end of all that they ask.

    `values` are those of rows `begin`, ... from 1 on, `last` is the end of the last of them. Gives the place
    from which the next is sought, and how many rows are in all ranges.
    """
    total = 0
    row, own = np.uint64(start), np.uint64(shared)
    if op < 2:
        for k in range(np.uint64(many)):
            value = asking[row + k, own]
            near = _passed(values, near, least(op, value))
            take = 0 if value == NULL else last - begin + 1 - near
            sources[k], takes[k] = begin - 1 + near, take
            total += take
    else:
        for k in range(np.uint64(many)):
            near = _passed(values, near, beyond(op, asking[row + k, own]))
            take = max(begin - 1 + near - last, 0)
            sources[k], takes[k] = last, take
            total += take
    return near, total


@jit
def joined(rows, asking, shared, op, held, own, counted, at, near, made, halt):
    """`contract.joined_reference`, for some rows with one prefix at a time: their ranges are found, and then
    they are written column by column. `halt` uint8 [1] in: see `jit`.

    Among rows with one prefix, in the order of what is compared, the ends of the range move forward. Columns
    of rows with one prefix are copied to `near` where there is room, so that values lie next to each other.
    """
    keys, counts = rows.keys, rows.counts
    size, many, most = keys.shape[0], asking.shape[0], made.shape[1]
    before, beside = own.shape[0], held.shape[0] - 1
    times, multiplied = held[beside], made[before + beside]
    sources, takes, values = near[0], near[1], near[2]
    room = near.shape[1] - NEXT - FEW - 1
    i, past = at[0], at[1]
    begin = end = first = low = high = 0
    begun = ended = there = 0  # rows begun .. ended - 1 are written from `there` on
    ones = checked = 0  # rows ones .. checked - 1 are there once
    plain = i  # rows that ask before this one have the multiplicity 1
    known = -1
    several = close = unequal = False
    written = 0
    while i < many and written < most:
        if halt[0]:
            return 0
        if known < 0 or not alike(asking, i, asking, known, shared):
            begin = around(keys, end, asking, i, shared, 0, FROM)
            stop = min(size, begin + max(room, 0))
            end = _alike_up_to(keys, begin, stop, asking, i, shared)
            close = room > 0 and (end < stop or end == size)
            if not close:
                end = onward(keys, end, size, asking, i, shared, 0, PAST)
            low, high, known = begin, end, i
            if op == 2 or op == 3:
                first = low = high = climbing(keys, begin, begin, end, shared, NULL + 1)
            if close:
                values[0] = NULL
                for k in range(end - begin if op >= 0 else 0):
                    values[1 + k] = keys[begin + k, shared]
                for k in range(NEXT):
                    values[1 + end - begin + k] = TOP
                for number in range(before):
                    if op < 0 or own[number] != shared:
                        part = near[3 + number]
                        for k in range(end - begin):
                            part[1 + k] = keys[begin + k, own[number]]
                unequal = False
                if counted and (begin < ones or end > checked):
                    ones, checked = begin, min(size, max(end, begin + AHEAD))
                    if not _all_once(counts, begin, checked):
                        checked = end
                        unequal = not _all_once(counts, begin, end)
                        if unequal:
                            ones = checked = 0
        start, found, total = i, 0, 0
        stop = _alike_up_to(asking, i + 1, min(many, i + takes.shape[0]), asking, known, shared)
        if close and 0 <= op < 4 and past == 0 and (stop - start) * (end - begin) < most - written:
            # All of it has room: no range is cut.
            found, edge = stop - start, end if op < 2 else low
            place = (low if op < 2 else high) - begin + 1
            place, total = _all_taken(
                values, place, begin, edge, asking, start, found, shared, op, sources, takes
            )
            if op < 2:
                low = begin - 1 + place
            else:
                high = begin - 1 + place
            i = stop
        while i < stop and written + total < most:
            value = asking[i, shared] if op >= 0 else 0
            if op >= 0 and value == NULL:
                left = 0
            else:
                if op >= 0 and close:
                    if op < 2:
                        low = begin - 1 + _passed(values, low - begin + 1, least(op, value))
                    elif op < 4:
                        high = begin - 1 + _passed(values, high - begin + 1, beyond(op, value))
                    else:
                        low = begin - 1 + _passed(values, low - begin + 1, value)
                        high = begin - 1 + _passed(values, low - begin + 1, value + 1)
                elif op >= 4:
                    low = _reaching(keys, begin, low, end, shared, value)
                    high = climbing(keys, low, low, end, shared, value + 1)
                elif op >= 2:
                    high = _reaching(keys, first, high, end, shared, beyond(op, value))
                elif op >= 0:
                    low = _reaching(keys, begin, low, end, shared, least(op, value))
                left = max(high - low - past, 0)
            take = min(left, most - written - total)
            sources[found], takes[found] = low + past, take
            found, total = found + 1, total + take
            if take == left:
                i, past = i + 1, 0
            else:
                past += take
        if close:
            roomy = written + total + FEW <= most
            for number in range(before):
                source = near[2 if op >= 0 and own[number] == shared else 3 + number]
                _each_copied(made[number], written, source, begin - 1, sources, takes, found, roomy)
            for number in range(beside):
                column = made[before + number]
                _each_filled(column, written, held[number], start, takes, found, total, roomy)
            if not (unequal or several):
                if plain < start + found:
                    plain = min(many, start + found + AHEAD)
                    if not _all_once(times, start, plain):
                        plain = start
                if start + found <= plain or _all_once(times, start, start + found):
                    written += total
                    continue
        differ = close and unequal
        for k in range(found):
            take, source, last = takes[k], sources[k], written + takes[k]
            if not take:
                continue
            if not close:
                for number in range(before):
                    _taken(made[number], written, last, keys[:, own[number]], source, begun, ended, there)
                for number in range(beside):
                    _filled(made[before + number], written, last, held[number, start + k])
                begun, ended, there = source, source + take, written
                differ = counted and (source < ones or ended > checked)
                if differ and not several:
                    differ = not _all_once(counts, source, ended)
                    ones, checked = (0, 0) if differ else (source, ended)
            if differ or several or times[start + k] != 1:
                if not several:
                    several = True
                    part = multiplied[:written]
                    for other in range(written):
                        part[other] = 1
                _filled(multiplied, written, last, times[start + k])
                if differ:
                    part, theirs = multiplied[written:last], counts[source : source + take]
                    for other in range(take):
                        part[other] *= theirs[other]
            written = last
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
