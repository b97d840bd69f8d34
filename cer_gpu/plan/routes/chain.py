"""Chains: each event is compared by equality with the one before it in the complex event.

`Login AS l ; Download AS d ; Connect AS c FILTER l.user = d.user AND d.host = c.host` becomes a parallelized
complex event automaton in which every transition gathers one run (a CCEA).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.language import tree
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.evaluated import beside_correlation, strategy_beside_chain
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal

if TYPE_CHECKING:
    from cer_gpu.plan.routes.chain_sketch import ChainSketch

NAME = "chain"

COSTS: dict[Question, Cost] = {
    "hits": Cost(3, note="hash look-ups"),
    "counts": Cost(6, note="hash look-ups"),
    "lists": Cost(4, 3, "hash look-ups, nodes of a structure"),
    "pushes": Cost(6, 3, "hash look-ups, nodes of a structure"),
}


def sketch(outline: Outline) -> ChainSketch | Refusal:
    """The parallelized automaton of a query that compares events by equality."""
    query, formula, shared = outline.statement, outline.formula, outline.shared
    if isinstance(query, tree.Rule) or formula is None:
        return Refusal("a rule has no pattern")
    if outline.timed:
        return Refusal("its pattern has intervals of time")
    if outline.beyond:
        return Refusal(f"it has {outline.beyond}, which is not an equality of two events")
    if not outline.correlates:
        return Refusal("no filter compares two events")
    if found := beside_correlation(query) or strategy_beside_chain(query):
        return Refusal(found[0].message, tuple(found))
    from cer_gpu.plan.routes.chain_sketch import sketched  # a process without chains need not load it

    return sketched(query, formula, shared)


def cost(sketch: ChainSketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    return COSTS[question]
