"""`cpu` on the device: from columns to positions and symbols of the events that are kept, in one launch.

A block takes one tile of rows after another. The columns are read once, 16 bytes a thread, neighbouring
threads at neighbouring places, whatever the width of a column: so a thread adds to the index of rows that
others read the next column of, and the index lies in shared memory, as do the tables. The symbols of the tile
are looked up and scanned, the tiles before it tell where its kept rows go (`device.scan.look_back`), and
these are written from shared memory, once.

Columns are read at their addresses, so that one form of the kernel serves columns of all types.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint64

from ..device.arrays import device_array
from ..device.geometry import STREAM, Geometry
from ..device.jit import device, kernel
from ..device.memory import byte_at, words_at
from ..device.scan import (
    NOTED,
    OWN,
    SUM,
    WHOLE,
    block_scan,
    look_back,
    new_tiles,
    next_tile,
    publish,
    total_of,
)
from ..device.words import empty, padded
from .cpu import elementary_range_body

GROUP = 8
"""Rows of a thread: those of a tile whose symbols it looks up."""

CHUNK = 16
"""Bytes of a column that a thread reads at a time."""

TILES = Geometry(STREAM.threads, min(STREAM.most, 1 << 11))
"""At most about as many blocks as the largest device runs at once: each loads the tables."""

TABLES = 12 << 10
"""Bytes of tables in shared memory at most: with its tile a block takes some 30 kB, so that seven fit."""

CODES, UNSIGNED, SIGNED, FLOAT = range(4)
"""What a column holds: numbers of its shares, or numbers that are compared with bounds."""

DATA, VALID, SHIFT, KIND, BOUNDS, N_BOUNDS, SHARES, N_SHARES, ABSENT, INFINITY, FIELDS = range(11)
"""The fields of a column in `plan`."""

FIRST, LAST, STRIDE, TABLE, STAGE_FIELDS = range(5)
"""The fields of a stage in `plan`."""

LEAST = -(1 << 63)
MOST = (1 << 63) - 1
ALL_BITS = (1 << 64) - 1

elementary_range = device(elementary_range_body)


class ReadingPlan(NamedTuple):
    """How symbols are made of columns.

    ==========  ==================  =====================================================================
    `plan`      int64 [words]       the number of stages; `STAGE_FIELDS` of each stage, `FIELDS` of each
                                    column; bounds as `ordered` gives them, and shares
    `cells`     int32 [cells]       the tables of all stages, one after another
    `head`      int                 how many words come before bounds and shares
    `held`      int                 1: bounds and shares lie in shared memory; 2: cells do
    ==========  ==================  =====================================================================
    """

    plan: Any
    cells: Any
    head: int
    held: int


class ColumnShares(NamedTuple):
    """What the values of a column add to the index, from its `FIELDS`.

    ==============  =============  ======================================================================
    `kind`, `bits`  int64, uint64  what the values are, and how many bits each has
    `infinity`      int64          of floats, as `ordered` gives it
    `valid`         int64          the address of a byte for each row, 0 for nulls; 0: no row is null
    `absent`        int64          what a null adds
    `bounds`        int64 [m]      as `ordered` gives them
    `shares`        int64 [n]
    ==============  =============  ======================================================================
    """

    kind: Any
    bits: Any
    infinity: Any
    valid: Any
    absent: Any
    bounds: Any
    shares: Any


@device
def place_of(row):
    """Where the index of a row of the tile lies: threads that read rows 2, 4, 8 or 16 apart never collide."""
    return row + (row >> 5)


@device
def range_of(value, adding):
    """The elementary range of a value, as uint64, of a column that is compared; of a float NaN it is 0."""
    top = int64(value << (uint64(64) - adding.bits))
    if adding.kind == UNSIGNED:
        top ^= LEAST
    elif adding.kind == FLOAT:
        magnitude = top & MOST
        if magnitude > adding.infinity:
            return 0
        top = -magnitude if top < 0 else magnitude
    return elementary_range(top, adding.bounds)


@device
def add_word(word, each, row, adding, begin, end, index):
    """Add the shares of the `each` values in a word to the index; rows count from `begin`."""
    mask = uint64(ALL_BITS) >> (uint64(64) - adding.bits)
    for _ in range(each):
        if 0 <= row < end - begin:
            share = adding.absent
            if adding.valid == 0 or byte_at(adding.valid + begin + row) != 0:
                value = word & mask
                if adding.kind == CODES:
                    share = adding.shares[int64(value)]
                else:
                    share = adding.shares[range_of(value, adding)]
            index[place_of(row)] += share
        word >>= adding.bits
        row += 1


@device
def assembled(address, lowest, highest):
    """The 16 bytes at an address as two words; those outside of lowest .. highest - 1 are not read."""
    low = uint64(0)
    high = uint64(0)
    for k in range(8):
        shift = uint64(8 * k)
        if lowest <= address + k < highest:
            low |= byte_at(address + k) << shift
        if lowest <= address + 8 + k < highest:
            high |= byte_at(address + 8 + k) << shift
    return low, high


@device
def add_column(column, table, begin, end, index):
    """Add what a column says of the rows begin .. end - 1; all threads of the block call it.

    `column` its `FIELDS`, `table` the plan, or a copy.
    """
    shift = column[SHIFT]
    each = (CHUNK // 2) >> shift
    adding = ColumnShares(
        column[KIND],
        uint64(8) << uint64(shift),
        column[INFINITY],
        column[VALID],
        column[ABSENT],
        table[column[BOUNDS] : column[BOUNDS] + column[N_BOUNDS]],
        table[column[SHARES] : column[SHARES] + column[N_SHARES]],
    )
    lowest = column[DATA] + (begin << shift)
    highest = column[DATA] + (end << shift)
    first = lowest & -CHUNK
    for address in range(first + CHUNK * cuda.threadIdx.x, highest, CHUNK * cuda.blockDim.x):
        if address >= lowest and address + CHUNK <= highest:
            low, high = words_at(address)
        else:
            low, high = assembled(address, lowest, highest)
        row = (address - lowest) >> shift
        add_word(low, each, row, adding, begin, end, index)
        add_word(high, each, row + each, adding, begin, end, index)


@device
def copy_words(source, into):
    """Copy an array, or what of it there is room for; all threads of the block call it."""
    for i in range(cuda.threadIdx.x, into.shape[0], cuda.blockDim.x):
        into[i] = source[i]


@kernel
def classify_kernel(reading, rows, base, tiles, out_position, out_symbol):
    """The positions and symbols of the rows whose symbol is not 0, in their order.

    ==============  =========================  ==========================================================
    `reading`       ReadingPlan                in
    `rows`          int64                      in
    `base`          int64                      in: the position of the first row
    `tiles`         int64 [1 + tiles]          in/out: as `scan.new_tiles` gives it; a tile has `GROUP`
                                               rows for each thread of a block
    `out_position`  int64 [>= kept]            out
    `out_symbol`    uint8 or uint16 [>= kept]  out
    ==============  =========================  ==========================================================
    """
    words = cuda.shared.array(0, int64)
    halves = cuda.shared.array(0, int32)
    noted = cuda.shared.array(NOTED, int64)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    size = GROUP * threads
    places = place_of(size)
    # Shared memory: sums, the index of the tile, its kept rows, the head of the plan or all of it, cells.
    sums = words[:threads]
    at = threads
    index = halves[2 * at : 2 * at + places]
    at += (places + 1) // 2
    kept = halves[2 * at : 2 * at + size]
    at += size // 2
    head = words[at : at + (reading.plan.shape[0] if reading.held & 1 else reading.head)]
    at += head.shape[0]
    table = head if reading.held & 1 else reading.plan
    cells = halves[2 * at : 2 * at + reading.cells.shape[0]] if reading.held & 2 else reading.cells
    loaded = False
    while True:
        tile = next_tile(tiles, noted)
        if tile >= tiles.shape[0] - 1:
            break
        if not loaded:
            copy_words(reading.plan, head)
            if reading.held & 2:
                copy_words(reading.cells, cells)
            loaded = True
        begin = tile * size
        end = min(begin + size, rows)
        for i in range(thread, places, threads):
            index[i] = 0
        cuda.syncthreads()
        symbols = int64(0)
        for number in range(head[0]):
            stage = head[1 + STAGE_FIELDS * number : 1 + STAGE_FIELDS * (number + 1)]
            if number:
                for i in range(thread, places, threads):
                    index[i] = stage[STRIDE] * cells[symbols + index[i]]
                cuda.syncthreads()
            for column in range(stage[FIRST], stage[LAST], FIELDS):
                add_column(head[column : column + FIELDS], table, begin, end, index)
                cuda.syncthreads()
            symbols = stage[TABLE]
        mark = 0
        for k in range(GROUP):
            row = thread * GROUP + k
            if begin + row < end:
                place = place_of(row)
                symbol = cells[symbols + index[place]]
                index[place] = symbol
                if symbol != 0:
                    mark |= 1 << k
        found = int64(cuda.popc(mark))
        block_scan(found, sums)
        count = sums[threads - 1]
        if thread == 0:
            publish(tiles, tile, WHOLE if tile == 0 else OWN, count)
        to = sums[thread] - found
        for k in range(GROUP):
            if (mark >> k) & 1:
                row = thread * GROUP + k
                kept[to] = row << 16 | index[place_of(row)]
                to += 1
        before = look_back(tiles, tile, noted)
        if thread == 0 and tile > 0:
            publish(tiles, tile, WHOLE, before + count)
        cuda.syncthreads()
        for i in range(thread, count, threads):
            out_position[before + i] = base + begin + (kept[i] >> 16)
            out_symbol[before + i] = kept[i] & 0xFFFF


@kernel
def gather_kernel(values, rows, base, tiles, out):
    """`out[i] = values[rows[i] - base]`, of as many rows as there are.

    =======  =================  ====================================================================
    `rows`   int64 [m]          in
    `tiles`  int64 [1 + tiles]  in: how many rows there are, as `classified` gives it; [0]: m
    `out`    [m]                out: of a dtype that is at least as wide as that of `values`
    =======  =================  ====================================================================
    """
    words = tiles.shape[0]
    count = out.shape[0] if words == 0 else tiles[words - 1] & SUM
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        out[i] = values[rows[i] - base]


def gather(values, rows, base, out, tiles=None, geometry=STREAM):
    """`out[i] = values[rows[i] - base]` for device arrays, as `gather_kernel`; all rows without `tiles`."""
    if rows.shape[0]:
        launch = geometry.blocks(rows.shape[0]), geometry.threads
        gather_kernel[launch](values, rows, base, device_array(0, np.int64) if tiles is None else tiles, out)


def ordered(values):
    """Numbers as int64 of the same order, as `range_of` makes them of values: no NaN among them."""
    bits = 8 * values.dtype.itemsize
    unsigned = values.view(f"u{values.dtype.itemsize}").astype(np.uint64)
    top = (unsigned << np.uint64(64 - bits)).view(np.int64)
    if values.dtype.kind == "u":
        return top ^ np.int64(LEAST)
    if values.dtype.kind == "f":
        return np.where(top < 0, -(top & np.int64(MOST)), top)
    return top


def words_of_plan(stages, strides, offsets):
    """The plan of columns whose addresses are not known yet, and where these go: ndarray of int64.

    Parameters
    ----------
    stages : sequence of sequence of Adder
        What the columns of each stage add to its index, as `contract` has it: `column.data` any integers or
        floats, `bounds` of the same dtype or None where they are numbers of `shares`, `absent` what a null
        adds then.
    strides : sequence of int
        What each state of the stage before counts in the index of a stage.
    offsets : sequence of int
        Where the table of each stage begins in `ReadingPlan.cells`.

    Returns
    -------
    words : ndarray, 1-D, int64
    head : int
    """
    first = 1 + STAGE_FIELDS * len(stages)
    head = first + FIELDS * sum(map(len, stages))
    plan, tables, at = [len(stages)], [], head
    column = first
    for adding, stride, offset in zip(stages, strides, offsets):
        plan += [column, column + FIELDS * len(adding), stride, offset]
        column += FIELDS * len(adding)
    for one in (one for adding in stages for one in adding):
        dtype = one.column.data.dtype
        bounds = np.empty(0, np.int64) if one.bounds is None else ordered(one.bounds)
        kind = CODES if one.bounds is None else {"u": UNSIGNED, "i": SIGNED, "f": FLOAT}[dtype.kind]
        infinity = int(ordered(np.array([np.inf], dtype))[0]) if kind == FLOAT else 0
        absent = int(one.absent) if one.bounds is None else int(one.shares[0])
        shift = dtype.itemsize.bit_length() - 1
        places = (at, len(bounds), at + len(bounds), len(one.shares))
        plan += [0, 0, shift, kind, *places, absent, infinity]
        tables += [bounds, one.shares.astype(np.int64)]
        at += len(bounds) + len(one.shares)
    return np.concatenate([np.array(plan, np.int64), *tables]), head


def address_columns(words, addresses):
    """Write into a plan where the values of each column lie, and what says which are null.

    `addresses` pairs of int, one for each column in the order of the stages; 0 where no value is null.
    """
    first = 1 + STAGE_FIELDS * int(words[0])
    for number, (values, valid) in enumerate(addresses):
        words[first + FIELDS * number : first + FIELDS * number + 2] = values, valid


def reading_plan(words, head, cells):
    """A plan and the tables of its stages, device arrays of int64 and int32, as the kernel takes them."""
    held, room = 0, TABLES - 8 * head
    for number, size in ((1, 8 * (words.shape[0] - head)), (2, 4 * cells.shape[0])):
        if size <= room:
            held, room = held | number, room - size
    return ReadingPlan(words, cells, head, held)


def shared_bytes(reading, threads):
    """The bytes of shared memory that a block of `classify_kernel` takes."""
    size = GROUP * threads
    words = threads + (size + size // 32 + 1) // 2 + size // 2
    words += reading.plan.shape[0] if reading.held & 1 else reading.head
    return 8 * words + (4 * reading.cells.shape[0] if reading.held & 2 else 0)


def classify(reading, rows, base, dtype, geometry=TILES):
    """The rows whose symbol is not neutral.

    Parameters
    ----------
    reading : ReadingPlan
    rows : int
    base : int
        The position of the first row.
    dtype : dtype
        Of the symbols: uint8 or uint16.

    Returns
    -------
    positions : device array, shape (kept,), int64
    symbols : device array, shape (kept, padded), dtype
        Both lie in memory with room for all rows.
    kept : int
    """
    if not rows:
        return device_array(0, np.int64), empty(0, dtype), 0
    positions, symbols = device_array(rows, np.int64), empty(rows, dtype)
    kept = total_of(classified(reading, rows, base, positions, symbols, geometry))
    return positions[:kept], symbols[: padded(kept)], kept


def classified(reading, rows, base, positions, symbols, geometry=TILES):
    """As `classify`, into arrays with room for all rows, of which there are some.

    Returns
    -------
    device array, shape (1 + tiles,), int64
        The last word has the number of rows that are kept (`scan.total_of`), for which the host need not
        wait.
    """
    tiles = -(-rows // (GROUP * geometry.threads))
    numbers = new_tiles(tiles)
    launch = min(tiles, geometry.most), geometry.threads, 0, shared_bytes(reading, geometry.threads)
    classify_kernel[launch](reading, rows, base, numbers, positions, symbols)
    return numbers
