"""Chains in which two steps, neighbours or not, are compared: counted without partial matches.

`A AS a ; B ; C AS c FILTER c.price > a.price` is a chain: its matches are the ways through its steps. How
many begin at the A that are cheaper than a C is a sum over ranks of prices. To list matches, and on a
stream, the machine of configurations runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.walk import nodes
from cer_gpu.plan.cost import LISTING, Cost, Question
from cer_gpu.plan.evaluated import beside_correlation, strategy_beside_chain
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes import general
from cer_gpu.plan.routes.route import Refusal, no_comparing_pattern

if TYPE_CHECKING:
    from cer_gpu.plan.routes.apart_sketch import ApartSketch

NAME = "apart"

COSTS: dict[Question, Cost] = {
    "hits": Cost(4, note="sums over ranks"),
    "counts": Cost(4, note="sums over ranks"),
    **{question: general.COSTS[question] for question in LISTING},
}
"""Matches are listed as the general machine does."""


def sketch(outline: Outline) -> ApartSketch | Refusal:
    """The chain of a query that compares two of its events."""
    if refusal := no_comparing_pattern(outline):
        return refusal
    query = outline.statement
    assert isinstance(query, tree.SelectQuery)
    if query.window is not None and query.window.kind == "attribute":
        return Refusal("its window is over an attribute", by_window=True)
    if any(isinstance(node, tree.Beside) for node in nodes(query.pattern)):
        return Refusal("it asks for what follows or precedes")
    if found := beside_correlation(query) or strategy_beside_chain(query):
        return Refusal(found[0].message, tuple(found))
    from cer_gpu.plan.routes.apart_sketch import sketched  # a process without comparisons need not load it

    try:
        return sketched(outline, query)
    except LimitError as error:
        return Refusal(str(error))
    except QueryError as error:
        return Refusal(error.diagnostics[0].message, error.diagnostics)


def cost(sketch: ApartSketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    return COSTS[question]
