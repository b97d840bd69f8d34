"""The look-up table of joins on the device: hash tables side by side, one for each unit of a stream.

On the CPU a unit has a table with a place for each of its values, which first get new numbers for the unit.
Here each thread has a unit, and the tables of all are in memory at once. New numbers would take as long on
the host as the join itself takes there, and on the device they would take a sort of all values by unit. So
each table is an open-addressing hash table, with twice as many cells as its unit may store runs. A look-up
costs one more access where two keys collide; key and value are neighbours, in one sector of memory.
"""

from typing import NamedTuple

import numpy as np

from ..device.arrays import device_array
from ..device.bodies import on_device
from ..device.jit import device
from ..device.words import copied
from . import cpu_slots
from .index import HashTables, hash_tables

KEY, VALUE, WORDS = range(3)
"""Words of a cell; there is a third one, for a place, where an entry asks for the next event."""

EMPTY = cpu_slots.EMPTY
BYTES = 8
"""Bytes of a word."""

place_key = on_device(cpu_slots.place_key)


@device
def sought(keys, entry, slot):
    """The cell of a hash table that holds an entry and a slot, or a free one where they may go.

    `keys` int64 [cells] in: at least one is `EMPTY`.
    """
    cells = keys.shape[0]
    key = np.int64(entry) << 32 | np.int64(slot)
    at = (place_key(key, 0xFFFFFFFF) * cells) >> 32
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
    """The cell for an entry and a slot, which holds them from now on, and whether it did not before."""
    at = sought(keys, entry, slot)
    fresh = keys[at] == EMPTY
    keys[at] = np.int64(entry) << 32 | np.int64(slot)
    return at, fresh


@device
def clear(cells):
    """Empty the cells of a unit: int64 [cells, words]."""
    for at in range(cells.shape[0]):
        cells[at, KEY] = EMPTY


class DeviceJoin(NamedTuple):
    """A PCEA on the device.

    Attributes
    ----------
    tables : HashTables
        Of device arrays.
    n_fired, n_reads, n_stores : int
        The most transitions, look-ups and stores of one event.
    n_children : int
        The most look-ups of one transition.
    words : int
        How many words a cell has.
    """

    tables: HashTables
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
    # An array without memory cannot be passed to a kernel: it gets one element that is not read.
    own = hash_tables(tables)
    there = HashTables(*(copied(part if part.size else np.zeros(1, part.dtype)) for part in own))
    return DeviceJoin(there, tables.n_fired, tables.n_reads, tables.n_stores, most, words)


def cells_of(join, begin, stop, most):
    """How many cells each unit needs: twice as many as it may store runs, and a free one.

    Parameters
    ----------
    join : DeviceJoin
    begin, stop : ndarray, shape (units,), int64
    most : int
        How many pairs of an entry and a slot there are.

    Returns
    -------
    ndarray, shape (units,), int64
    """
    return 2 * np.minimum((stop - begin) * join.n_stores, most) + 1


def room_for(number, words):
    """`number` cells, which kernels clear: a device array, shape (number, words), int64."""
    return device_array((max(number, 1), words), np.int64)


def first_of(numbers):
    """Where each of several ranges begins, and the length of all: shape (n + 1,), int64, on the host."""
    return np.append(0, np.cumsum(numbers)).astype(np.int64)
