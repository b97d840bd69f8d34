"""From complex events to Arrow list columns: for each kept variable, the events that it marks.

The offsets are int32, as Arrow's `list` has them: a block holds fewer than 2**31 marks.
"""

import numpy as np

from ..jit import jit


def list_column_body(first, event, label, has, offsets, values):
    """Write the list column of one variable; gives the number of its values.

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


def alike_body(first, label):
    """How many marks each complex event has if all have as many, with the same labels; else -1.

    A sequence without iterations and alternatives gives such complex events: no label has to be read for its
    columns.
    """
    length = first[1] - first[0]
    different = 0
    for k in range(first.shape[0] - 1):
        different += first[k + 1] - first[k] != length
    if different:
        return -1
    for m in range(length, label.shape[0]):
        different += label[m] != label[m - length]
    return -1 if different else length


def strided_body(event, at, step, out):
    """`out[k] = event[at + k * step]`: the mark at one place of complex events that are alike."""
    for k in range(out.shape[0]):
        out[k] = event[at + k * step]


def ranges_body(first, length, out):
    """Write the numbers first[g] .. first[g] + length[g] - 1 of all g, one after another.

    `first` int64 [n] in; `length` int64 [n] in; `out` int64 [sum of `length`] out.
    """
    n = 0
    for g in range(first.shape[0]):
        low = first[g]
        for k in range(length[g]):
            out[n + k] = low + k
        n += length[g]


ranges = jit(ranges_body)
_list_column = jit(list_column_body)
_alike = jit(alike_body)
_strided = jit(strided_body)


def list_columns(first, event, label, has):
    """Offsets and events of the list columns of all variables.

    Parameters
    ----------
    first, event, label
        As in `list_column_body`, from 0 on; at least one complex event. Of a `label` that is one value,
        broadcast, only this value is read.
    has : ndarray, shape (labels, variables), uint8
        Which variables each label marks.

    Yields
    ------
    offsets, events : ndarray
        For each variable int32 [complex events + 1] and int64 [values].
    """
    if label.size and label.strides == (0,):  # all marks have one label, which is written once
        for v in range(has.shape[1]):
            if has[label[0], v]:
                yield first.astype(np.int32), event
            else:
                yield np.zeros(first.size, dtype=np.int32), event[:0]
        return
    length = _alike(first, label) if first.size > 1 else -1
    for v in range(has.shape[1]):
        marks = np.ascontiguousarray(has[:, v])
        places = np.flatnonzero(marks[label[:length]]) if length > 0 else np.empty(0, np.int64)
        if places.size == 1:
            values = np.empty(first.size - 1, dtype=np.int64)
            _strided(event, int(places[0]), int(length), values)
            yield np.arange(first.size, dtype=np.int32), values
            continue
        offsets = np.empty(first.size, dtype=np.int32)
        values = np.empty(event.size + 1, dtype=np.int64)
        n = _list_column(first, event, label, marks, offsets, values)
        yield offsets, values[:n]
