"""Cases with long segments for the kernels of a device, and what the CPU builds for them."""

from __future__ import annotations

import random

import numpy as np
from cer_gpu.kernels.counts import cpu as counting
from cer_gpu.kernels.forest.contract import CountedHits
from cer_gpu.kernels.hits import cpu as hitting
from cer_gpu.kernels.runs.programs import backward_program, forward_program, hits_program
from random_tables import Case, random_tables

from cer_gpu.enumeration.structure import Structure

NONE = np.zeros(0, np.int64)


def long_case(rng: random.Random) -> Case:
    """Segments long enough for lists of many elements and for the unions of unions."""
    tables = random_tables(rng)
    size = rng.choice((5, 9, 12))
    stop = np.cumsum([rng.randint(0, 40) for _ in range(rng.randint(1, 4))])
    begin = np.append(0, stop[:-1])
    n = int(stop[-1])
    symbols = np.array([rng.randint(1, 3) for _ in range(n)], rng.choice((np.uint8, np.uint16)))
    keys = np.arange(n)
    lowest = np.maximum(keys - size, np.repeat(begin, stop - begin))
    return Case(tables, symbols, begin, begin, stop, keys, size, lowest)


def built(case: Case) -> Structure:
    """What the CPU builds for a case."""
    tables = case.tables
    registers = np.full((case.begin.size, tables.n_live), -1, np.int64)
    bounds = case.begin, case.report, case.stop
    program = hits_program(tables)
    event, _ = hitting.hits(program, case.symbols, NONE, case.keys, case.size, *bounds, registers)
    first = np.append(np.searchsorted(event, case.report), event.size)
    programs = forward_program(tables), backward_program(tables)
    lowest = case.lowest[event]
    count = counting.counts(tables, *programs, case.symbols, first, event, lowest)
    structure = Structure(tables)
    structure.build(case.symbols, case.begin, case.stop, CountedHits(first, event, lowest, count))
    return structure
