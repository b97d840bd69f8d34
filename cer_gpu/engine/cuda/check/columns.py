"""The check of prefix sums, and of the way from columns to relevant events."""

from __future__ import annotations

import numpy as np
from numba import cuda

from cer_gpu.engine.cuda.check.inputs import Answers, ComparedArray, Inputs, mixed
from cer_gpu.engine.read.adders import Adder
from cer_gpu.engine.read.sources.columns import Values
from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.device import scan
from cer_gpu.kernels.device.arrays import device_array
from cer_gpu.kernels.device.memory import address_of
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
    """Columns of each width, of numbers and of codes, with nulls and NaN, read by a query of two stages."""
    stream, rows = inputs.stream, 9 * classify.GROUP * inputs.stream.threads + 5
    price = mixed(rows, 90) / 4
    price[mixed(rows, 7) == 0] = np.nan
    volume = mixed(rows, 50) - 25
    valid = (mixed(rows, 6) > 0).astype(np.uint8)
    first = [
        _cuts(price, valid, np.array([2.5, 7.25, 15.0]), 5),
        _cuts(volume.astype(np.int16), NONE_MISSING, np.arange(-20, 21, 5).astype(np.int16), 20),
        Adder(Values(mixed(rows, 5).astype(np.int8), valid), np.array([3, 0, 2, 1, 4], np.uint16), None, 4),
    ]
    last = [_cuts((price - 9).astype(np.float32), NONE_MISSING, np.array([-3.0, -0.0], np.float32), 1)]
    states = mixed(20 * 10, 6).astype(np.int32)
    symbols = (mixed(3 * 6, 5) % 4).astype(np.uint8)

    def classified_here() -> list[np.ndarray]:
        index = np.zeros(rows, np.uint16)
        for adder in first:
            adder.add(index, 0, rows)
        index = (3 * states[index]).astype(np.uint16)
        for adder in last:
            adder.add(index, 0, rows)
        return [index]

    (here,) = inputs.cpu("classification", classified_here)
    kept = np.flatnonzero(symbols[here])

    words, head = classify.words_of_plan([first, last], [1, 3], [0, len(states)])
    arrays = []
    for adder in (*first, *last):
        assert isinstance(adder.column, Values)
        arrays.append((copied(adder.column.data), copied(adder.column.valid)))
    classify.address_columns(words, [(address_of(data), address_of(valid)) for data, valid in arrays])
    cells = np.concatenate([states, symbols.astype(np.int32)])
    plan = classify.reading_plan(copied(words), head, copied(cells))
    for held, where in ((plan.held, "shared"), (0, "global")):  # where the tables are read
        found = classify.classify(plan._replace(held=held), rows, BASE, symbols.dtype, stream)
        yield ComparedArray(f"positions by tables in {where} memory", found[0], kept + BASE)
        yield ComparedArray(f"symbols by tables in {where} memory", found[1][: found[2]], symbols[here[kept]])
    gathered = device_array(len(kept), np.int64)
    classify.gather(copied(volume), found[0], BASE, gathered, geometry=stream)
    yield ComparedArray("gathered values", gathered, volume[kept])
    cuda.synchronize()


def _cuts(values: np.ndarray, valid: np.ndarray, bounds: np.ndarray, stride: int) -> Adder:
    shares = (stride * np.arange(len(bounds) + 1)).astype(np.uint16)
    return Adder(Values(values, valid), shares, bounds, None)
