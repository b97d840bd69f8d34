"""Events at which no run may start, or no run may end: further symbols of an automaton.

`WITHIN n [x]` keeps no complex event that starts or ends where x is null. Such an event may lie inside a
complex event, so the automaton has to read it, but as another symbol: one without the transitions of state 0
and without accepting transitions. An event with an infinite x is barred in one direction: no end is within
reach of a start at -inf, and no start is within reach of an end at +inf.
"""

import numpy as np

from .contract import TransitionTables

NO_START, NO_END = 1, 2
"""Bits that tell what is barred at an event; its symbol s becomes s + bars * symbols."""


def barred(tables):
    """The tables over four times as many symbols: as they are, without starts, without ends, without both.

    Parameters
    ----------
    tables : TransitionTables

    Returns
    -------
    TransitionTables
    """
    parts = []
    symbol = np.repeat(np.arange(tables.first.size - 1), np.diff(tables.first))
    for bars in range(4):
        accepting = tables.accepting if not bars & NO_END else np.zeros_like(tables.accepting)
        kept = (tables.target >= 0) | (accepting != 0)
        if bars & NO_START:
            kept &= tables.source != 0
        count = np.bincount(symbol[kept], minlength=tables.first.size - 1)
        parts.append((count, *(part[kept] for part in (*tables[1:4], accepting))))
    count, *rest = (np.concatenate(columns) for columns in zip(*parts))
    return TransitionTables(np.concatenate([[0], np.cumsum(count)]).astype(np.int32), *rest)


def bars_of(keys, keyed):
    """What is barred at each event.

    Parameters
    ----------
    keys : ndarray, shape (events,), int64 or float64
    keyed : ndarray, shape (events,) or (0,), uint8
        0 where the key is null or NaN; empty where none is.

    Returns
    -------
    ndarray, shape (events,), uint8
    """
    bars = np.zeros(keys.size, np.uint8)
    # Two reductions are faster than two comparisons of all, and say the same of most arrays.
    if keys.dtype.kind == "f" and keys.size and not (keys.min() > -np.inf and keys.max() < np.inf):
        bars[keys == -np.inf] = NO_START
        bars[keys == np.inf] = NO_END
    if keyed.size:
        bars[keyed == 0] = NO_START | NO_END
    return bars


def with_bars(symbols, bars, n_symbols):
    """The symbols of events of which some are barred.

    Parameters
    ----------
    symbols : ndarray, shape (events,), uint8 or uint16
        Some may be barred already.
    bars : ndarray, shape (events,), uint8
    n_symbols : int
        Of the tables before they were `barred`.

    Returns
    -------
    ndarray, shape (events,), uint8, uint16 or uint32
        `symbols` itself where no event is barred.
    """
    if not bars.any():
        return symbols
    wide = symbols.astype(np.uint32)
    more = bars & ~(wide // n_symbols).astype(np.uint8)
    return (wide + more.astype(np.uint32) * n_symbols).astype(np.min_scalar_type(4 * n_symbols - 1))
