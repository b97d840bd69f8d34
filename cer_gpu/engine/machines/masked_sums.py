"""Calls the kernels of members whose runs may do anything, with their scratch."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.kernels.teams.contract import AbreastEvents, GroupSums, MaskedWork
from cer_gpu.kernels.teams.cpu_masks import beginnings, carried_kernel, masked_kernel
from cer_gpu.plan.automaton_masks import MaskedTeam

FRONT = 1 << 24
"""Numbers that are kept of the starts of a window at most; with more, members are followed one by one."""

EXACT = 62
"""A number with a bit from here on is not exact."""


def masked_sums(
    masked: MaskedTeam,
    size: Any,
    events: AbreastEvents,
    begin: np.ndarray,
    report: np.ndarray,
    stop: np.ndarray,
    sums: GroupSums,
) -> np.ndarray:
    """Add up what members with one window find in some segments; parameters as of the kernel.

    Returns
    -------
    ndarray, shape (members,), bool
        Those of which nothing is known.
    """
    begins, many = masked.ends.begins, masked.ends.masks.shape[1]
    most = int(beginnings(begins, events.cells, events.keys, size, begin, stop))
    if most * masked.nodes * many > FRONT:
        return np.ones(many, bool)
    forward, backward = masked.registers
    work = _work(forward, backward, masked.nodes, many, most + 1)
    masked_kernel(masked.forward, masked.backward, masked.ends, events, size, begin, report, stop, work, sums)
    return work.over >> EXACT != 0


def carried_sums(
    masked: MaskedTeam,
    events: AbreastEvents,
    begin: np.ndarray,
    stop: np.ndarray,
    lane: np.ndarray,
    carried: np.ndarray,
    sums: GroupSums,
) -> np.ndarray:
    """The same of members without a window; `carried` int64 [lanes, n, members] goes on."""
    many = masked.ends.masks.shape[1]
    work = _work(masked.registers[0], 0, 1, many, 0)
    carried_kernel(masked.forward, masked.ends, events, begin, stop, lane, carried, work, sums)
    return work.over >> EXACT != 0


def _work(forward: int, backward: int, width: int, many: int, snapshots: int) -> MaskedWork:
    return MaskedWork(
        np.empty((forward, width, many), np.int64),
        np.empty((backward, width, many), np.int64),
        np.empty((snapshots, max(width - 1, 0), many), np.int64),
        np.empty(snapshots, np.int64),
        np.empty(many, np.int64),
        np.zeros(many, np.int64),
    )
