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
