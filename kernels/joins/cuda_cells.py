"""The look-up table of joins on the device: hash tables side by side, one for each unit of a stream.

On the CPU a unit has a table with a place for each of its values, which are numbered afresh for it first.
Here each thread has a unit, and all these tables lie in memory at once. Numbering on the host would take as
long as the join itself takes there, and on the device a sort of all values by unit. So a table is indexed by
what is stored: an open-addressing hash table, twice as large as what its unit may store. A look-up costs one
access more where two values meet; key and value are neighbours, in one sector of memory.
"""

from typing import NamedTuple

import numpy as np
from numba import cuda

from ..device.geometry import STREAM
from ..device.jit import device, kernel
from ..device.words import copied
from . import cpu_slots
from .contract import JoinTables

KEY, VALUE, WORDS = range(3)
"""Words of a cell; with entries that ask for the next event a third one, for a place."""

EMPTY = cpu_slots.EMPTY
BYTES = 8
"""Of a word."""

_place = device(cpu_slots._place.py_func)


@device
def sought(keys, entry, slot):
    """Where an entry and a slot are in a hash table: the cell that holds them, or a free one that may.

    `keys` int64 [cells] in: at least one is `EMPTY`.
    """
    cells = keys.shape[0]
    key = np.int64(entry) << 32 | np.int64(slot)
    at = (_place(key, 0xFFFFFFFF) * cells) >> 32
    while keys[at] != key and keys[at] != EMPTY:
        at += 1
        if at == cells:
            at = 0
    return at


@device
def found(keys, entry, slot):
    """The cell that holds an entry and a slot, -1: none does."""
    at = sought(keys, entry, slot)
    if keys[at] == EMPTY:
        at = np.int64(-1)
    return at


@device
def claimed(keys, entry, slot):
    """The cell that holds an entry and a slot from now on, and whether none did before."""
    at = sought(keys, entry, slot)
    fresh = keys[at] == EMPTY
    keys[at] = np.int64(entry) << 32 | np.int64(slot)
    return at, fresh


@kernel
def clear_kernel(cells):
    """Empty the cells: int64 [cells, words]."""
    for at in range(cuda.grid(1), cells.shape[0], cuda.gridsize(1)):
        cells[at, KEY] = EMPTY


class DeviceJoin(NamedTuple):
    """A PCEA on the device.

    Attributes
    ----------
    tables : JoinTables
        Of device arrays.
    n_fired, n_reads, n_stores : int
        Transitions, look-ups and stores of one event at most.
    n_children : int
        Look-ups of one transition at most.
    words : int
        Of a cell.
    """

    tables: JoinTables
    n_fired: int
    n_reads: int
    n_stores: int
    n_children: int
    words: int


def device_join(tables):
    """Copy the tables of a PCEA to the device.

    Parameters
    ----------
    tables : JoinTables
    """
    most = int(np.diff(tables.read_first).max(initial=0))
    words = WORDS + 1 if tables.entry_next.any() else WORDS
    # an array without memory cannot be handed to a kernel: one element that is not read
    there = JoinTables(*(copied(part if part.size else np.zeros(1, part.dtype)) for part in tables))
    return DeviceJoin(there, tables.n_fired, tables.n_reads, tables.n_stores, most, words)


def cells_of(join, begin, stop, most):
    """How many cells each unit needs: twice what it may store, and a free one.

    Parameters
    ----------
    join : DeviceJoin
    begin, stop : ndarray, shape (units,), int64
    most : int
        Entries and slots that there are in all.

    Returns
    -------
    ndarray, shape (units,), int64
    """
    return 2 * np.minimum((stop - begin) * join.n_stores, most) + 1


def cleared(number, words, geometry=STREAM):
    """So many empty cells: a device array, shape (number, words), int64."""
    cells = cuda.device_array((max(number, 1), words), np.int64)
    clear_kernel[geometry.blocks(number), geometry.threads](cells)
    return cells


def first_of(numbers):
    """Where each of several stretches begins, and the length of all: shape (n + 1,), int64, on the host."""
    return np.append(0, np.cumsum(numbers)).astype(np.int64)
