"""From complex events to Arrow list columns: for each kept variable, the events that it marks.

The offsets are int32, as Arrow's `list` has them: a block holds fewer than 2**31 marks.
"""

import numpy as np

from ..jit import jit


def list_column_body(first, event, label, has, offsets, values):
    """The list column of one variable; the number of its values.

    =========  ==========================  ====================================================
    `first`    int64 [complex events + 1]  in: where the marks of each complex event begin
    `event`    int64 [marks]               in: the marked events
    `label`    int32 [marks]               in: their labels
    `has`      uint8 [labels]              in: whether a label marks the variable
    `offsets`  int32 [complex events + 1]  out: where the list of each complex event begins
    `values`   int64 [marks + 1]           out: the events, one list after another
    =========  ==========================  ====================================================
    """
    n = 0
    offsets[0] = 0
    for k in range(first.shape[0] - 1):
        for m in range(first[k], first[k + 1]):
            # written always, kept sometimes: a branch on the data would be mispredicted
            values[n] = event[m]
            n += has[label[m]] != 0
        offsets[k + 1] = n
    return n


_list_column = jit(list_column_body)


def list_column(first, event, label, has):
    """Offsets and events of the list column of one variable.

    Parameters
    ----------
    first, event, label, has
        As in `list_column_body`.

    Returns
    -------
    offsets : ndarray, shape (complex events + 1,), int32
    events : ndarray, int64
        Positions and attributes are gathered by them.
    """
    offsets = np.empty(first.size, dtype=np.int32)
    values = np.empty(event.size + 1, dtype=np.int64)
    n = _list_column(first, event, label, np.ascontiguousarray(has), offsets, values)
    return offsets, values[:n]
