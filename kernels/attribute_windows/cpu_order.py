"""Ranks: the events of a lane in the order of an attribute, and the starts that each end admits."""

import numpy as np

from ..jit import jit
from .contract import Ranks


@jit
def _sort_lanes(keys, begin, stop, order, spare):
    """Sort order[begin:stop] of each lane by key, stably; ranges in order already are not merged.

    `keys` uint64 or float64 [events], `begin`, `stop` int64 [lanes]: in; `order` int64 [events]: in/out;
    `spare` int64 [events]: scratch.
    """
    for g in range(begin.shape[0]):
        low_of_lane, high_of_lane = begin[g], stop[g]
        width = 1
        while width < high_of_lane - low_of_lane:
            for low in range(low_of_lane, high_of_lane - width, 2 * width):
                middle = low + width
                high = min(middle + width, high_of_lane)
                if keys[order[middle - 1]] <= keys[order[middle]]:
                    continue
                for k in range(low, middle):
                    spare[k] = order[k]
                p, q, k = low, middle, low
                while p < middle:
                    if q < high and keys[order[q]] < keys[spare[p]]:
                        order[k] = order[q]
                        q += 1
                    else:
                        order[k] = spare[p]
                        p += 1
                    k += 1
            width *= 2


@jit
def _admit(keys, size, begin, stop, order, rank, least):
    """The ranks of the events of each lane, and the least rank that each end admits.

    `keys`, `size`, `begin`, `stop`, `order`: in; `rank`, `least` int64 [events]: out. Infinite keys have no
    difference from themselves (it is NaN), and it is not inside any window.
    """
    for g in range(begin.shape[0]):
        low = begin[g]
        for place in range(begin[g], stop[g]):
            event = order[place]
            key = keys[event]
            while low < stop[g] and not (key - keys[order[low]] <= size):
                low += 1
            rank[event] = place
            least[event] = low


def unranked(count):
    """`Ranks` for `count` events of which none is in a lane yet."""
    return Ranks(np.arange(count), np.arange(count), np.zeros(count, np.int64))


def rank_lanes(keys, size, begin, stop, ranks, spare):
    """Put the events of some lanes in the order of their keys.

    Parameters
    ----------
    keys : ndarray, shape (events,), uint64 or float64
        From `unsigned`; no NaN among those of the lanes.
    size : dtype of keys
        The longest difference that is kept, at least 0.
    begin, stop : ndarray, shape (lanes,), int64
    ranks : Ranks
        In: as `unranked` gave them for the events of these lanes. Out: their ranks.
    spare : ndarray, shape (events,), int64
        Scratch; threads that work on different lanes may share it.
    """
    _sort_lanes(keys, begin, stop, ranks.order, spare)
    _admit(keys, size, begin, stop, *ranks)


def unsigned(keys, size):
    """Integer keys in their order and without a sign, so that no difference overflows, and the size."""
    if keys.dtype.kind != "i":
        return keys, keys.dtype.type(size)
    without = keys.astype(np.int64, copy=False).view(np.uint64) ^ np.uint64(2**63)
    return without, np.uint64(2**64 - 1 if size >= 2**64 else int(size))


@jit
def _first_admitted(rank, least, lowest, event, first):
    for h in range(event.shape[0]):
        start = lowest[h]
        while start < event[h] and rank[start] < least[event[h]]:
            start += 1
        first[h] = start


def first_admitted(ranks, lowest, event):
    """The first event that each of some ends admits as a start; the end itself where it admits none.

    Parameters
    ----------
    ranks : Ranks
    lowest, event : ndarray, shape (hits,), int64
    """
    first = np.empty_like(event)
    _first_admitted(ranks.rank, ranks.least, lowest, event, first)
    return first
