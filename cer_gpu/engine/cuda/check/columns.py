"""The check of prefix sums, and of the way from columns to relevant events."""

from __future__ import annotations

import numpy as np
from numba import cuda

from cer_gpu.engine.cuda.check.inputs import Answers, ComparedArray, Inputs, mixed
from cer_gpu.kernels.classify import cpu as on_cpu
from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.device import scan
from cer_gpu.kernels.device.words import copied

BASE = 1 << 40
"""The position of the first row: it does not fit into four bytes."""


def scanned(inputs: Inputs) -> Answers:
    """Where lists begin: prefix sums over three levels of units, by our kernels and by CuPy, if installed."""
    threads = inputs.stream.threads
    numbers = mixed(threads * threads + 3, 9)
    here = np.append(0, np.cumsum(numbers))
    yield ComparedArray("offsets of our own", scan.own_offsets_of(copied(numbers), inputs.stream), here)
    yield ComparedArray("offsets", scan.offsets_of(copied(numbers), inputs.stream), here)


def classified(inputs: Inputs) -> Answers:
    """Two columns of numbers and one of codes, with nulls and NaN, read by a query of two stages."""
    stream, rows = inputs.stream, 9 * inputs.stream.threads + 5
    price = mixed(rows, 90) / 4
    price[mixed(rows, 7) == 0] = np.nan
    volume, codes = mixed(rows, 50) - 25, mixed(rows, 5).astype(np.int8)
    valid = (mixed(rows, 6) > 0).astype(np.uint8)
    cuts = [
        (price, valid, np.array([2.5, 7.25, 15.0])),
        (volume, NONE_MISSING, np.arange(-20, 21, 5)),
    ]

    index = classify.new_index(rows, np.uint16, stream)
    here = np.zeros(rows, np.uint16)
    for values, present, bounds in cuts:
        shares = np.arange(len(bounds) + 1).astype(np.uint16) * np.uint16(5)
        on_cpu.add_cuts(here, values, present, bounds, shares)
        arrays = (copied(part) for part in (values, present, bounds, shares))
        classify.add_cuts(index, *arrays, stream)
    shares = np.array([3, 0, 2, 1, 4], np.uint16)
    on_cpu.add_codes(here, codes, valid, shares, np.uint16(4))
    classify.add_codes(index, *(copied(part) for part in (codes, valid, shares)), np.uint16(4), stream)
    yield ComparedArray("index", index[:rows], here)

    states = mixed(int(here.max()) + 1, 6).astype(np.int32)
    following = classify.new_index(rows, np.uint32, stream)
    classify.restate(index, rows, copied(states), 7, following, stream)
    here = (7 * states[here]).astype(np.uint32)
    yield ComparedArray("index of the next stage", following[:rows], here)

    symbols = (mixed(int(here.max()) + 1, 5) % 4).astype(np.uint8)
    kept = np.flatnonzero(symbols[here])
    found = classify.compact(following, rows, copied(symbols), BASE, stream)
    yield ComparedArray("positions", found[0], kept + BASE)
    yield ComparedArray("symbols", found[1][: found[2]], symbols[here[kept]])
    gathered = classify.gather(copied(volume), found[0], BASE, np.int64, stream)
    yield ComparedArray("gathered values", gathered, volume[kept])
    cuda.synchronize()
