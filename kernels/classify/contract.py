"""The contract of classification: what an axis adds to the index of each event.

Contract of the three `add_*` kernels (one stage of `cer_gpu.plan.symbols`):

==========  =========================  ====================================================
`index`     uint16 or uint32 [n]       in/out: the sum of `stride * class` over the axes
`values`    any number [n]             in: a column
`valid`     uint8 [n] or [0]           in: 0 where the value is null; empty where none is
`bounds`    dtype of values [m]        in: ascending
`shares`    dtype of index [m + 1]     in: what each elementary range adds to the index
==========  =========================  ====================================================

A value's elementary range is the number of bounds that are <= it; a null's and a NaN's is 0.
"""

import numpy as np


def add_cuts_reference(index, values, valid, bounds, shares):
    """Add the share of every value's elementary range to its index."""
    for i in range(values.shape[0]):
        count = 0
        if valid.shape[0] == 0 or valid[i]:
            for bound in bounds:
                count += bool(values[i] >= bound)
        index[i] += shares[count]


NONE_MISSING = np.empty(0, np.uint8)
"""The `valid` of a column without nulls."""


def stretches_body(values, span, first):
    """Where stretches of neighbours begin that are in one span of a length, counted from 0.

    `values` int64 [n] and `span` int64, at least 1, in; `first` int64 [room] out: the first of each stretch.
    Returns how many there are; -1 where there is no room for all.
    """
    count = 0
    low, high = 1, 0
    for i in range(values.shape[0]):
        value = values[i]
        # Near the ends of 64 bits a bound wraps around, and each value is a stretch of its own.
        if value < low or value > high:
            if count == first.shape[0]:
                return -1
            low = value // span * span
            high = low + (span - 1)
            first[count] = i
            count += 1
    return count


def spread_body(values, first, out):
    """`out[i]` is the value of the stretch that i is in: `values` and `out` of any dtype [stretches], [n]."""
    for k in range(first.shape[0]):
        end = first[k + 1] if k + 1 < first.shape[0] else out.shape[0]
        for i in range(first[k], end):
            out[i] = values[k]
