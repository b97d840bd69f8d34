"""The contract of outcomes: how far a time reaches from each event, and the greatest value on the way."""

import numpy as np


def reach_reference(times, begin, stop, size):
    """For each event the last event of its lane that is at most `size` later, by definition: a list."""
    return [
        max(j for j in range(i, stop[g]) if times[j] - times[i] <= size)
        for g in range(len(begin))
        for i in range(begin[g], stop[g])
    ]


def greatest_reference(values, reach):
    """For each event the greatest value of the events after it, up to `reach`; NaN where none has a value."""
    found = []
    for i, last in enumerate(reach):
        within = [value for value in values[i + 1 : last + 1] if not np.isnan(value)]
        found.append(max(within, default=np.nan))
    return found
