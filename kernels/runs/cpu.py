"""The first event of a segment that starts a run which is still open after the segment."""

import numpy as np

from ..jit import jit


@jit
def _first_open(tables, symbols, begin, stop, lives, first):
    """`first_open`; `lives` uint8 [2, n_live] scratch, `first` int64 [segments] out."""
    n_states = lives.shape[1]
    for g in range(begin.shape[0]):
        first[g] = stop[g]
        for q in range(n_states):
            lives[0, q] = 1
        for event in range(stop[g] - 1, begin[g] - 1, -1):
            symbol = symbols[event]
            for q in range(n_states):
                lives[1, q] = 0
            for t in range(tables.first[symbol], tables.first[symbol + 1]):
                if tables.target[t] >= 0 and lives[0, tables.target[t]] != 0:
                    lives[1, tables.source[t]] = 1
            if lives[1, 0] != 0:
                first[g] = event
            for q in range(n_states):
                lives[0, q] = lives[1, q]


def first_open(tables, symbols, begin, stop):
    """The first event of each segment that starts a run still open after the segment; `stop` if none.

    Parameters
    ----------
    tables : TransitionTables
    symbols : ndarray, shape (events,), uint8 or uint16
    begin, stop : ndarray, shape (segments,), int64

    Returns
    -------
    ndarray, shape (segments,), int64
    """
    first = np.empty_like(begin)
    _first_open(tables, symbols, begin, stop, np.empty((2, tables.n_live), np.uint8), first)
    return first
