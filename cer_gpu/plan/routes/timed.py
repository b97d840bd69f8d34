"""Timed patterns whose intervals speak of two marked events of which one follows the other.

`A ;[<= 5 s] B ;[<= 3 s] C` and `Click+[<= 30 min]` become a deterministic automaton of steps: a partial match
is a state and the event that entered it, and the next event reads how long ago that was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.errors import QueryError
from cer_gpu.language import tree
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal, no_timed_pattern

if TYPE_CHECKING:
    from cer_gpu.plan.routes.timed_sketch import TimedSketch

NAME = "timed"

COSTS: dict[Question, Cost] = {
    "hits": Cost(3, note="queues of entries"),
    "counts": Cost(3, note="queues of entries"),
    "lists": Cost(6, 3, "queues of entries, nodes of a structure"),
    "pushes": Cost(8, 3, "queues of entries, nodes of a structure"),
}


def sketch(outline: Outline) -> TimedSketch | Refusal:
    """The automaton of steps of a timed query."""
    if refusal := no_timed_pattern(outline):
        return refusal
    query, formula = outline.statement, outline.formula
    assert isinstance(query, tree.SelectQuery)
    assert formula is not None
    from cer_gpu.plan.routes.timed_sketch import sketched  # a process without intervals need not load it

    try:
        return sketched(outline, query, formula)
    except QueryError as error:
        return Refusal(error.diagnostics[0].message, error.diagnostics)


def cost(sketch: TimedSketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    return COSTS[question]
