"""Ordered look-ups: each event is compared with the marked event before it, by order or by equality.

`X AS x ; Y AS y FILTER y.price > 1.05 * x.price` becomes a deterministic automaton of steps whose entries lie
in the order of what is compared: a look-up is a range of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.evaluated import beside_correlation
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal, no_comparing_pattern

if TYPE_CHECKING:
    from cer_gpu.plan.routes.ordered_sketch import OrderedSketch

NAME = "ordered"

COSTS: dict[Question, Cost] = {
    "hits": Cost(6, note="look-ups in order"),
    "counts": Cost(6, note="look-ups in order"),
    "lists": Cost(8, 3, "look-ups in order, nodes of a structure"),
    "pushes": Cost(10, 3, "look-ups in order, nodes of a structure"),
}


def sketch(outline: Outline) -> OrderedSketch | Refusal:
    """The automaton of compared steps of a query that compares events."""
    if refusal := no_comparing_pattern(outline):
        return refusal
    query = outline.statement
    assert isinstance(query, tree.SelectQuery)
    if not outline.beyond:
        return Refusal("all its comparisons are equalities")
    if found := beside_correlation(query):
        return Refusal(found[0].message, tuple(found))
    from cer_gpu.plan.routes.ordered_sketch import sketched  # a process without comparisons need not load it

    try:
        return sketched(query)
    except LimitError as error:
        return Refusal(str(error))
    except QueryError as error:
        return Refusal(error.diagnostics[0].message, error.diagnostics)


def cost(sketch: OrderedSketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    return COSTS[question]
