"""Queries that run abreast as a grid: at each step some ask for more than others, as `price > $p` does.

Of two such variants the stricter one takes a part of the events that the other takes. Then the number of the
strictest variant that takes an event, its level, says what the event is for all (`cer_gpu.kernels.teams`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.teams.contract import LevelTables, level_tables
from cer_gpu.plan.automaton_team import Ladder

SPARSE = 4
"""A grid may have so many times as many places as members."""

PLACES = 1 << 12
"""The most places of a grid: their sums are kept for each group."""


@dataclass(frozen=True, slots=True)
class LevelGrid:
    """Members as places of a grid, which has a dimension for each step.

    Attributes
    ----------
    tables : LevelTables
    members : ndarray, shape (members,), int64
        The place of each member, the set of the first step varying fastest.
    """

    tables: LevelTables
    members: np.ndarray


def grid_of(ladders: Sequence[Ladder], cells: Sequence[np.ndarray]) -> LevelGrid | None:
    """The grid of some members, or None if they make none.

    Parameters
    ----------
    ladders : sequence of Ladder
    cells : sequence of ndarray, shape (cells,)
        For each member the symbol that it reads each cell as.
    """
    steps = ladders[0].nodes
    chain = [(k, k + 1) for k in range(steps)]
    if steps < 2 or any(sorted(one.edges) != chain for one in ladders):
        return None
    widths: list[int] = []
    levels = np.empty((len(cells[0]), steps), np.int16)
    members = np.zeros(len(ladders), np.int64)
    for k, edge in enumerate(chain):
        numbers: dict[bytes, int] = {}
        taken = (ladder.edges[edge][symbols] for ladder, symbols in zip(ladders, cells, strict=True))
        own = np.array([numbers.setdefault(each.tobytes(), len(numbers)) for each in taken])
        sets = np.frombuffer(b"".join(numbers), bool).reshape(len(numbers), -1)
        order = np.argsort(-np.count_nonzero(sets, axis=1), kind="stable")
        if (sets[order[1:]] > sets[order[:-1]]).any():
            return None
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        levels[:, k] = np.count_nonzero(sets, axis=0) - 1
        members += prod(widths) * rank[own]
        widths.append(len(order))
        if prod(widths) > min(PLACES, SPARSE * len(ladders)):
            return None
    return LevelGrid(level_tables(levels, np.array(widths)), members)
