"""Every kernel, with the types for which it is compiled ahead of time."""

from typing import Any, NamedTuple

from numba import types

from . import classify, counts, hits, scan, windows


class Kernel(NamedTuple):
    """A kernel, and the types of its arguments: one tuple for each form that the engine launches."""

    name: str
    function: Any
    signatures: tuple[tuple[types.Type, ...], ...]


def _array(dtype, ndim=1):
    return types.Array(dtype, ndim, "C")


U8, U16, U32, U64 = (_array(dtype) for dtype in (types.uint8, types.uint16, types.uint32, types.uint64))
I32, I64, F64 = (_array(dtype) for dtype in (types.int32, types.int64, types.float64))
I64_2, I64_3 = _array(types.int64, 2), _array(types.int64, 3)
INT = types.int64

NUMBERS = tuple(
    _array(dtype)
    for dtype in (
        types.int8,
        types.int16,
        types.int32,
        types.int64,
        types.uint8,
        types.uint16,
        types.uint32,
        types.uint64,
        types.float32,
        types.float64,
    )
)
"""Columns of numbers."""

CODES = (_array(types.int8), _array(types.int16), I32, I64, U8, U16, U32)
"""Columns of dictionary codes, and of truth values."""

INDICES = (U16, U32)
SYMBOLS = (U8, U16)
KEYS = ((U64, types.uint64), (F64, types.float64))
"""Keys of windows, and their sizes."""

HITS_PROGRAM = types.Tuple((U64, U64, INT, INT))
PROGRAM = types.Tuple((I32, U32, U32, U32, INT, INT))
TABLES = types.Tuple((I32, I32, I32, I32, U8))
_SEGMENTS = (I64, I64, I64, I64_2)

KERNELS = (
    Kernel("fill", classify.fill_kernel, tuple((index, INT) for index in INDICES)),
    Kernel(
        "add_cuts",
        classify.add_cuts_kernel,
        tuple((index, values, U8, values, index) for index in INDICES for values in NUMBERS),
    ),
    Kernel(
        "add_codes",
        classify.add_codes_kernel,
        tuple((index, codes, U8, index, index.dtype) for index in INDICES for codes in CODES),
    ),
    Kernel(
        "restate",
        classify.restate_kernel,
        tuple((index, INT, I32, INT, following) for index in INDICES for following in INDICES),
    ),
    Kernel("mark", classify.mark_kernel, tuple((U64, INT, INT, table, U8, I64) for table in SYMBOLS)),
    Kernel(
        "scatter",
        classify.scatter_kernel,
        tuple((index, table, INT, U8, I64, I64, table) for index in INDICES for table in SYMBOLS),
    ),
    Kernel(
        "gather",
        classify.gather_kernel,
        tuple((values, I64, INT, F64 if "float" in str(values) else I64) for values in NUMBERS),
    ),
    Kernel("scan_tiles", scan.scan_tiles_kernel, ((I64, I64, I64),)),
    Kernel("add_totals", scan.add_totals_kernel, ((I64, I64, INT),)),
    Kernel(
        "count_hits",
        hits.count_hits_kernel,
        tuple((HITS_PROGRAM, U64, INT, I64, *window, *_SEGMENTS, I64) for window in KEYS),
    ),
    Kernel(
        "fill_hits",
        hits.fill_hits_kernel,
        tuple((HITS_PROGRAM, U64, INT, I64, *window, *_SEGMENTS, I64, I64, I64) for window in KEYS),
    ),
    Kernel(
        "lowest_starts",
        windows.lowest_starts_kernel,
        tuple((keys, I64, I64, I64, size, I64) for keys, size in KEYS),
    ),
    Kernel(
        "counts",
        counts.counts_kernel,
        tuple(
            (TABLES, PROGRAM, PROGRAM, symbols, I64, I64, I64, I64_3, I64_3, I64_2, I64, U8)
            for symbols in SYMBOLS
        ),
    ),
    Kernel(
        "forward_counts",
        counts.forward_counts_kernel,
        tuple((TABLES, PROGRAM, symbols, I64, I64, I64, I64, I64_2, I64_2, I64, U8) for symbols in SYMBOLS),
    ),
)
"""All of them, in the order of the pipeline."""
