"""Rows written beside the rows that ask for them: ranges of rows become columns."""

from ..jit import SELDOM, jit
from .cpu_search import following, limited


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


@jit
def expand(ranges, first, held, rows, own, counted, made, halt):
    """`contract.expand_reference`. `halt` uint8 [1] in: see `jit`."""
    at = 0
    before = own.shape[0]
    many = held.shape[0]
    for i in range(ranges.shape[0]):
        if i % SELDOM == 0 and halt[0]:
            return
        low, size = ranges[i, 0], ranges[i, 1] - ranges[i, 0]
        for number in range(before):
            values = rows.keys[low : low + size, own[number]]
            column = made[number, at : at + size]
            for k in range(size):
                column[k] = values[k]
        for number in range(many - 1 if counted else many):
            value = held[number, first + i]
            column = made[before + number, at : at + size]
            for k in range(size):
                column[k] = value
        if counted:
            value = held[many - 1, first + i]
            counts = rows.counts[low : low + size]
            column = made[before + many - 1, at : at + size]
            for k in range(size):
                column[k] = value * counts[k]
        at += size
