"""What the routes of joins share: from an unambiguous parallelized automaton to what runs."""

from __future__ import annotations

import numpy as np

from cer_gpu.plan.compiled import AnswerForm, KeyPlan
from cer_gpu.plan.join_arrays import JoinArrays
from cer_gpu.plan.join_tables import JoinMachine
from cer_gpu.plan.routes.route import Built, Explanation


def built(found: JoinArrays, form: AnswerForm, label_atoms: np.ndarray, explanation: Explanation) -> Built:
    """The machine of a join.

    Parameters
    ----------
    found : JoinArrays
    form : AnswerForm
    label_atoms : ndarray, shape (labels, atoms), uint8
        As in `JoinMachine`.
    explanation : Explanation
    """
    spaces = tuple(
        tuple(number for number, column in enumerate(found.columns) if column.space == space)
        for space in range(found.tables.n_spaces)
    )
    machine = JoinMachine(found.tables, spaces, label_atoms)
    return Built(
        machine=machine,
        hits_machine=machine,
        form=form,
        symbol_of=found.symbol_of,
        n_symbols=found.tables.n_symbols,
        keys=KeyPlan(found.columns, found.lane_column),
        never=False,
        explanation=explanation,
    )
