"""Counts abreast for automata of any form, in which an event may end runs, double them or lead them back.

An event is a matrix over the nodes, of each member one, and cannot be taken off a product again. So the
product over a window is cut in two at a middle event, as `kernels.counts.cpu` does for one query: suffixes up
to the middle are made once, backwards, and one prefix grows behind it. The suffix of a start differs from
that of the next one only where a run may begin, and only there is it kept. The innermost loops go over the
members, with a mask. Without a window one vector of numbers is all that is carried from event to event.

Sums are int64 and each is looked at: of a member for which one has reached 2**62 nothing that was found is
right, and the caller counts it by itself.
"""

import numpy as np

from ..jit import OFTEN, inline, jit
from .cpu import tally


@inline
def applied(program, masks, registers, cell, over):
    """What an event does to the registers, of shape (registers, r, members)."""
    for k in range(program.first[cell], program.first[cell + 1]):
        into, of, mask = registers[program.into[k]], registers[program.of[k]], masks[program.row[k]]
        for r in range(into.shape[0]):
            sums, more = into[r], of[r]
            if program.adds[k]:
                for v in range(mask.shape[0]):
                    value = sums[v] + (more[v] & mask[v])
                    sums[v] = value
                    over[v] |= value
            else:
                for v in range(mask.shape[0]):
                    sums[v] = more[v] & mask[v]


@inline
def reset(registers):
    """The product over no event."""
    for q in range(registers.shape[0]):
        for r in range(registers.shape[1]):
            registers[q, r, :] = 1 if q == r else 0


@inline
def multiplied(number, one, other, mask, over):
    """Add products to numbers, where the mask says so."""
    wide = np.int64(0)
    for v in range(mask.shape[0]):
        wide |= one[v] | (other[v] & mask[v])
    if wide >> 31:
        for v in range(mask.shape[0]):
            a, b = one[v], other[v] & mask[v]
            if b > 0 and a > 4611686018427387903 // b:
                over[v] |= 4611686018427387904
    for v in range(mask.shape[0]):
        number[v] += one[v] * (other[v] & mask[v])
        over[v] |= number[v]


@inline
def copied(numbers, into):
    """Copy the numbers of all members."""
    for v in range(numbers.shape[0]):
        into[v] = numbers[v]


@inline
def summed(number, at, group, sums, over):
    """Add what ends at an event to the sums of its group, and look at these."""
    tally(number, at, sums.hits[group], sums.matches[group], sums.first[group], sums.last[group])
    for v in range(over.shape[0]):
        over[v] |= sums.matches[group, v]


def masked_body(forward, backward, ends, events, size, begin, report, stop, work, sums, halt):
    """Add up what members with one window find in some segments.

    ==========  ============================  ==========================================================
    `forward`   MaskedProgram                 in: registers hold the runs in each node
    `backward`  MaskedProgram                 in: registers hold the runs from each node
    `ends`      MaskedEnds                    in
    `events`    AbreastEvents                 in
    `size`      dtype of keys                 in: the longest difference of keys that the window keeps
    `begin`     int64 [segments]              in: events begin .. stop - 1 are run
    `report`    int64 [segments]              in: the ends from here on are added up
    `stop`      int64 [segments]              in
    `work`      MaskedWork                    scratch; `over` in/out
    `sums`      GroupSums                     in/out; not right where `over` is past 2^62
    `halt`      uint8 [1]                     in: see `jit`
    ==========  ============================  ==========================================================
    """
    cells, keys, masks = events.cells, events.keys, ends.masks
    prefix, suffix, front, place = work.prefix, work.suffix, work.front, work.place
    number, over = work.number, work.over
    n = prefix.shape[1]
    for g in range(begin.shape[0]):
        low = begin[g]
        middle = begin[g]
        top = -1
        reset(prefix)
        for j in range(begin[g], stop[g]):
            if j % OFTEN == 0 and halt.shape[0] and halt[0]:
                return
            cell = cells[j]
            e, e1 = ends.first[cell], ends.first[cell + 1]
            if e < e1 and j >= report[g]:
                while keys[j] - keys[low] > size:
                    low += 1
                if low > middle:
                    reset(suffix)
                    top = -1
                    for i in range(j - 1, low - 1, -1):
                        if i % OFTEN == 0 and halt.shape[0] and halt[0]:
                            return
                        applied(backward, masks, suffix, cells[i], over)
                        if ends.begins[cells[i]]:
                            top += 1
                            place[top] = i
                            for r in range(1, n):
                                copied(suffix[0, r], front[top, r - 1])
                    reset(prefix)
                    middle = j
                while top >= 0 and place[top] < low:
                    top -= 1
                number[:] = 0
                for k in range(e, e1):
                    source, mask = ends.source[k], masks[ends.row[k]]
                    if source == 0:
                        for v in range(mask.shape[0]):
                            number[v] -= mask[v]
                        continue
                    runs = prefix[source]
                    begun = runs[0]
                    for v in range(mask.shape[0]):
                        number[v] += begun[v] & mask[v]
                        over[v] |= number[v]
                    if top >= 0:
                        for r in range(1, n):
                            multiplied(number, front[top, r - 1], runs[r], mask, over)
                b = events.group[j] if events.group.shape[0] else 0
                summed(number, events.at[j], b, sums, over)
            applied(forward, masks, prefix, cell, over)


def carried_body(forward, ends, events, begin, stop, lane, carried, work, sums, halt):
    """The same without a window: what was carried of each lane goes on.

    ==========  ============================  ==========================================================
    `lane`      int64 [segments]              in: the lane of each segment, different ones
    `carried`   int64 [lanes, n, members]     in/out: the runs in each node
    `work`      MaskedWork                    scratch: `prefix` is of shape (registers, 1, members)
    ==========  ============================  ==========================================================

    The other arguments are those of `masked_body`.
    """
    cells, masks, prefix, number, over = events.cells, ends.masks, work.prefix, work.number, work.over
    n = carried.shape[1]
    for g in range(begin.shape[0]):
        for q in range(n):
            copied(carried[lane[g], q], prefix[q, 0])
        prefix[0, 0, :] = 1
        for j in range(begin[g], stop[g]):
            if j % OFTEN == 0 and halt.shape[0] and halt[0]:
                return
            cell = cells[j]
            e, e1 = ends.first[cell], ends.first[cell + 1]
            if e < e1:
                number[:] = 0
                for k in range(e, e1):
                    runs, mask = prefix[ends.source[k], 0], masks[ends.row[k]]
                    for v in range(mask.shape[0]):
                        number[v] += runs[v] & mask[v]
                        over[v] |= number[v]
                b = events.group[j] if events.group.shape[0] else 0
                summed(number, events.at[j], b, sums, over)
            applied(forward, masks, prefix, cell, over)
        for q in range(n):
            copied(prefix[q, 0], carried[lane[g], q])


def beginnings_body(begins, cells, keys, size, begin, stop, halt):
    """The most events of one window at which a run may begin; arguments as of `masked_body`."""
    most = 0
    for g in range(begin.shape[0]):
        low = begin[g]
        inside = 0
        for j in range(begin[g], stop[g]):
            if j % OFTEN == 0 and halt.shape[0] and halt[0]:
                return most
            while keys[j] - keys[low] > size:
                inside -= begins[cells[low]]
                low += 1
            inside += begins[cells[j]]
            most = max(most, inside)
    return most


masked_kernel = jit(masked_body)
carried_kernel = jit(carried_body)
beginnings = jit(beginnings_body)
