"""Runs of a kernel that is composed from the loop, in a room that is large enough."""

import numpy as np

from .follow import WORDS


def scratch(tables):
    """Scratch for what an event enters: as many groups as a symbol has, int64."""
    return np.empty(int(np.diff(tables.first).max(initial=0)), np.int64)


def found_ends(kernel, tables, events, window, segments, room, out):
    """What a kernel finds in many segments.

    Parameters
    ----------
    kernel : Kernel
        Composed from `follow`.
    tables, events, window, segments, room
        As the kernel reads them.
    out : FoundEnds
        Room for as many ends as events are reported.

    Returns
    -------
    event : ndarray, shape (ends,), int64
    value : ndarray, shape (ends,), int64
        What the product notes: views of `out`, both.
    """
    n = kernel(tables, events, window, segments, room, scratch(tables), out, np.zeros(WORDS, np.int64))
    return out.event[:n], out.start[:n]
