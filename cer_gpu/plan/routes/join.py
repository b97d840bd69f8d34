"""Rules of any form: with comparisons between atoms, not hierarchical, cyclic, or disconnected.

`Q(x) <- Buy(symbol = x, price = p), Sell(symbol = x, price = q), q > 1.05 * p` is answered by lookups: from
the latest event of an answer to one atom after another, through indexes by equal values and by order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.language import tree
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal

if TYPE_CHECKING:
    from cer_gpu.plan.routes.join_sketch import LookupSketch

NAME = "join"

COSTS: dict[Question, Cost] = {
    "hits": Cost(10, 1, "look-ups of one atom after another"),
    "counts": Cost(10, 1, "look-ups of one atom after another"),
    "lists": Cost(10, 3, "look-ups of one atom after another"),
    "pushes": Cost(10, 3, "look-ups of one atom after another"),
}


def sketch(outline: Outline) -> LookupSketch | Refusal:
    """How the atoms of a rule are looked up."""
    if not isinstance(outline.statement, tree.Rule):
        return Refusal("it is a pattern, not a rule")
    from cer_gpu.plan.routes.join_sketch import sketched  # a process without rules need not load it

    return sketched(outline.statement)


def cost(sketch: LookupSketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    return COSTS[question]
