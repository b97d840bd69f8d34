"""Chains of three steps, each equal to the one before it, as arrays: what lists them stage by stage reads."""

from __future__ import annotations

import numpy as np

from cer_gpu.kernels.joins.contract import ASKED, MADE, ChainSteps, JoinTables

STEPS = 3


def chain_steps(tables: JoinTables) -> ChainSteps | None:
    """The steps of a chain; None where an automaton is no chain of three, or leaves a step unmarked.

    Parameters
    ----------
    tables : JoinTables
    """
    moves = _moves(tables)
    if moves is None:
        return None
    code = np.full((2, 2, tables.n_symbols), -1, np.int32)
    for symbol in range(tables.n_symbols):
        taken = tables.transition[tables.first[symbol] : tables.first[symbol + 1]].tolist()
        if len(set(taken)) < len(taken):
            return None
        for stage in range(2):
            found = []
            if moves[stage + 1] in taken:
                found.append((ASKED, tables.read_column[tables.read_first[moves[stage + 1]]]))
            if moves[stage] in taken:
                found.append((MADE, tables.store_column[tables.store_first[moves[stage]]]))
            for turn, (what, column) in enumerate(found):
                code[stage, turn, symbol] = 2 * column + what
    turns = 2 if (code[:, 1] >= 0).any() else 1
    return ChainSteps(np.ascontiguousarray(code[:, :turns]), tables.label[moves].astype(np.int32))


def _moves(tables: JoinTables) -> list[int] | None:
    """The transitions of a chain of three, in their order: each reads by a key what the one before stores."""
    reads, stores = np.diff(tables.read_first), np.diff(tables.store_first)
    if len(tables.label) != STEPS or sorted(reads.tolist()) != [0, 1, 1]:
        return None
    move = int(np.argmin(reads))
    found = [move]
    while len(found) < STEPS:
        if stores[move] != 1:
            return None
        entry, column = (one[tables.store_first[move]] for one in (tables.store_entry, tables.store_column))
        read = np.flatnonzero(tables.read_entry == entry)
        if len(read) != 1 or column < 0 or tables.read_column[read[0]] < 0:
            return None
        move = int(np.searchsorted(tables.read_first, read[0], side="right")) - 1
        if move in found:
            return None
        found.append(move)
    ends = tables.accepting[found].tolist() == [0, 0, 1] and stores[move] == 0
    return found if ends and (tables.label[found] > 0).all() and not tables.entry_next.any() else None
