"""A deterministic monotonic automaton with one clock as arrays: the machine of Theorem 6.1."""

from __future__ import annotations

import numpy as np

from cer_gpu.kernels.clocked.contract import ClockTables


def useful_checks(tables: ClockTables) -> np.ndarray:
    """`useful` of `ClockTables`, from its other columns: shape (n_live,), int32.

    Constants ascend. A run in a state may still be accepted with a clock up to the greatest constant that is
    compared on some way from the state, before a reset, where every way compares one; else whatever the
    clock.
    """
    found = np.full(tables.n_live, -1, np.int32)
    if tables.sense < 0:
        return found
    free = int(tables.check.max(initial=-1)) + 1  # stands for any clock
    reach = np.full(tables.n_live + 1, -1, np.int64)  # -1: nothing is accepted
    while True:
        before = reach.copy()
        for source, target, accepting, check, resets in zip(
            tables.source, tables.target, tables.accepting, tables.check, tables.resets, strict=True
        ):
            after = reach[target] if target >= 0 else -1
            way = free if accepting or (resets and after >= 0) else after
            reach[source] = max(reach[source], min(way, check) if check >= 0 else way)
        if (before == reach).all():
            break
    reach = reach[: tables.n_live]
    found[reach < free] = np.maximum(reach[reach < free], 0)
    return found
