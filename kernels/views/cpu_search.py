"""Search in sorted rows by steps that double, from where the last search ended.

Where what is sought comes in order, or nearly so, m searches of n rows take O(m log(n / m)) together.
"""

from ..jit import SELDOM, inline, jit
from .contract import NULL, TOP, UNEQUAL

FROM, LIMITED, PAST = 0, 1, 2
"""What is sought: the first row that is not before a prefix; that is not before a prefix and a limit; that is
after all rows with a prefix."""


@inline
def short(keys, row, probes, probe, width, limit, sought):
    """Whether a row comes before the one that is sought."""
    for column in range(width):
        own, other = keys[row, column], probes[probe, column]
        if own != other:
            return own < other
    if sought == LIMITED:
        return keys[row, width] < limit
    return sought == PAST


@inline
def alike(keys, row, probes, probe, width):
    """Whether a row begins with a prefix."""
    same = True
    for column in range(width):
        same = same and keys[row, column] == probes[probe, column]
    return same


@inline
def onward(keys, low, end, probes, probe, width, limit, sought):
    """The row that is sought, from `low` on; `end` if it is not before that."""
    high, step = end, 1
    while low + step - 1 < end:
        if short(keys, low + step - 1, probes, probe, width, limit, sought):
            low += step
            step += step
        else:
            high = low + step - 1
            break
    while low < high:
        middle = (low + high) >> 1
        if short(keys, middle, probes, probe, width, limit, sought):
            low = middle + 1
        else:
            high = middle
    return low


@inline
def around(keys, near, probes, probe, width, limit, sought):
    """The row that is sought, searched from `near` in both directions."""
    end = keys.shape[0]
    low, high, step = 0, near, 1
    if near < end and short(keys, near, probes, probe, width, limit, sought):
        return onward(keys, near + 1, end, probes, probe, width, limit, sought)
    while high - step >= 0:
        if short(keys, high - step, probes, probe, width, limit, sought):
            low = high - step + 1
            break
        high -= step
        step += step
    while low < high:
        middle = (low + high) >> 1
        if short(keys, middle, probes, probe, width, limit, sought):
            low = middle + 1
        else:
            high = middle
    return low


@inline
def least(op, value):
    """The least code x with `value OP x`; for `!=` the value."""
    if op == 0:
        return value + 1
    if op == 1 or op >= 4:
        return value
    return NULL + 1


@inline
def beyond(op, value):
    """The code after the greatest x with `value OP x`."""
    if op < 2:
        return TOP
    return value if op == 2 else value + 1


@inline
def limited(tests, asking, row, limits):
    """Write the limits that the tests of a row set to `limits`; gives whether it may ask for any row."""
    for t in range(tests.ops.shape[0]):
        value = asking[row, tests.values[t]]
        if value == NULL:
            return False
        limits[t, 0] = least(tests.ops[t], value)
        limits[t, 1] = beyond(tests.ops[t], value)
    return True


@inline
def following(keys, at, end, shared, tests, limits):
    """The first row from `at` on that satisfies tests whose limits are known; `end` if none before it does.

    The rows agree in the first `shared` values. Where the tests are of the columns after these, rows that
    fail are skipped by search: all rows with one value, up to the next value that can satisfy the failed
    test.
    """
    while at < end:
        failing, value, lexical = -1, 0, True
        for t in range(tests.ops.shape[0]):
            column = tests.columns[t]
            value = keys[at, column]
            lexical = lexical and column == shared + t
            if tests.ops[t] == UNEQUAL:
                fails = value == limits[t, 0] or value == NULL
            else:
                fails = value < limits[t, 0] or value >= limits[t, 1]
            if fails:
                failing = t
                break
        if failing < 0:
            return at
        if not lexical:
            at += 1
        elif tests.ops[failing] == UNEQUAL:
            at = onward(keys, at + 1, end, keys, at, shared + failing, value + 1, LIMITED)
        elif value < limits[failing, 0]:
            at = onward(keys, at + 1, end, keys, at, shared + failing, limits[failing, 0], LIMITED)
        else:
            at = onward(keys, at + 1, end, keys, at, shared + failing, 0, PAST)
    return end


@jit
def find(keys, probes, places, halt):
    """`contract.find_reference`. `halt` uint8 [1] in: see `jit`."""
    rows, width = keys.shape
    place = 0
    for i in range(probes.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        place = around(keys, place, probes, i, width, 0, FROM)
        there = place < rows and alike(keys, place, probes, i, width)
        places[i] = place if there else -1


@jit
def bounds(keys, asking, shared, op, ranges, halt):
    """`contract.bounds_reference`. `halt` uint8 [1] in: see `jit`."""
    low = high = 0
    known = False
    for i in range(asking.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        same = i > 0 and alike(asking, i, asking, i - 1, shared)
        if same and (op < 0 or asking[i, shared] == asking[i - 1, shared]):
            # Rows that were put beside others ask for the same over and over.
            ranges[i, 0], ranges[i, 1] = ranges[i - 1, 0], ranges[i - 1, 1]
            continue
        if op >= 0:
            value = asking[i, shared]
            if value == NULL:
                ranges[i, 0] = ranges[i, 1] = low
                known = known and same
                continue
            # One end of what is less or greater is that of all rows with the prefix.
            if not (same and known and (op == 2 or op == 3)):
                low = around(keys, low, asking, i, shared, least(op, value), LIMITED)
            if not (same and known and op < 2):
                high = around(keys, max(low, high), asking, i, shared, beyond(op, value), LIMITED)
            known = True
        else:
            low = around(keys, low, asking, i, shared, 0, FROM)
            high = onward(keys, low, keys.shape[0], asking, i, shared, 0, PAST)
        ranges[i, 0] = low
        ranges[i, 1] = max(low, high)
