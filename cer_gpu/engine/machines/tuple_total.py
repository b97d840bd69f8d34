"""All answers of a rule over the events of a chunk, counted by a join tree as views are: `total`.

The events that fit an atom become rows: the slots of its joined variables, and the ranks of what is compared.
They climb the tree of least cost at once (`cer_gpu.engine.views.reducts`); the root has their number.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cer_gpu.engine.machines.lookups import Lookups
from cer_gpu.engine.views.codes import ValueCodes, ValueKind
from cer_gpu.engine.views.layout import layout_of
from cer_gpu.engine.views.terms import compared
from cer_gpu.engine.views.trees import Input, KeptTree, statistics
from cer_gpu.errors import LimitError
from cer_gpu.joins.theta.bags import BagStage
from cer_gpu.joins.theta.cost import cheapest
from cer_gpu.joins.theta.whole import LANE, partial_answers, whole_comparisons, whole_query
from cer_gpu.language.schema import ValueType
from cer_gpu.plan.tuples import TupleMachine

LEAST = 2
"""From this many partial answers for each event on, the tree is faster."""

FEWEST = 1 << 17
"""Below this many partial answers lookups are fast enough: planning a tree takes some milliseconds."""

_WHOLE = ValueKind(ValueType.INT64, pa.int64())


def total(machine: TupleMachine, lookups: Lookups, lane: np.ndarray | None) -> int | None:
    """The number of answers among all events of a chunk.

    Parameters
    ----------
    machine : TupleMachine
    lookups : Lookups
    lane : ndarray of int64, shape (events,), or None
        The lane of each event, if an answer belongs to one lane.

    Returns
    -------
    int or None
        None if lookups are faster, or the number does not fit.
    """
    plan = machine.lookups
    query = whole_query(plan, lane is not None)
    if query is None:
        return None
    inputs = {}
    for atom in query.atoms:
        event, columns = lookups.codes(atom.id)
        if lane is not None:
            columns = {**columns, LANE: lane[event]}
        inputs[atom.id] = Input(columns, np.ones(len(event), np.int64))
    if not all(len(one.amounts) for one in inputs.values()):
        return 0
    stage = BagStage(query, tuple(range(len(query.atoms))))
    known = statistics(stage, inputs)
    expected = partial_answers(plan, known)
    if expected < max(FEWEST, LEAST * sum(one.rows for one in known)):
        return None
    kinds = dict.fromkeys(query.variables, _WHOLE)
    comparisons = {text: compared(one, kinds, text) for text, one in whole_comparisons(plan).items()}
    chosen = cheapest(query, known)
    tree = KeptTree(stage, chosen, layout_of(chosen.plan.tree, comparisons, kinds, ValueCodes()))
    try:
        root = tree.climb(inputs)[-1]
    except LimitError:
        return None  # a product is above 2^62: lookups count with numbers of any size
    return 0 if root is None else sum(root.amounts.tolist())
