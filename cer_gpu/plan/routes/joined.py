"""Shared by the routes of joins: makes the machine of an unambiguous parallelized automaton."""

from __future__ import annotations

import numpy as np

from cer_gpu.kernels.joins.contract import LaneAtoms
from cer_gpu.plan.chain_steps import chain_steps
from cer_gpu.plan.compiled import AnswerForm, KeyPlan
from cer_gpu.plan.join_arrays import JoinArrays
from cer_gpu.plan.join_tables import JoinMachine
from cer_gpu.plan.routes.route import Built, Explanation


def built(
    found: JoinArrays,
    form: AnswerForm,
    label_atoms: np.ndarray,
    explanation: Explanation,
    by_lane: LaneAtoms | None = None,
) -> Built:
    """The machine of a join.

    Parameters
    ----------
    found : JoinArrays
    form : AnswerForm
    label_atoms : ndarray, shape (labels, atoms), uint8
        As in `JoinMachine`.
    explanation : Explanation
    by_lane : LaneAtoms, optional
        As in `JoinMachine`.
    """
    spaces = tuple(
        tuple(number for number, column in enumerate(found.columns) if column.space == space)
        for space in range(1 + max((column.space for column in found.columns), default=-1))
    )
    chain = None if label_atoms.size else chain_steps(found.tables)
    machine = JoinMachine(found.tables, spaces, label_atoms, by_lane, chain)
    return Built(
        machine=machine,
        hits_machine=machine,
        form=form,
        symbol_of=found.symbol_of,
        n_symbols=found.tables.n_symbols,
        keys=KeyPlan(found.columns, found.lane_column, _asked(found)),
        never=False,
        explanation=explanation,
    )


def _asked(found: JoinArrays) -> np.ndarray:
    """By which columns an event with each symbol is compared, shape (symbols, columns), bool."""
    tables = found.tables
    asked = np.zeros((tables.n_symbols, len(found.columns)), bool)
    for symbol in range(tables.n_symbols):
        for transition in tables.transition[tables.first[symbol] : tables.first[symbol + 1]]:
            for first, column in (
                (tables.read_first, tables.read_column),
                (tables.store_first, tables.store_column),
            ):
                used = column[first[transition] : first[transition + 1]]
                asked[symbol, used[used >= 0]] = True
    if len(found.lane_column):
        asked[np.arange(tables.n_symbols), found.lane_column] = True
    return asked
