"""Rules: hierarchical conjunctive queries over a stream.

`Q(x, y) <- T(x), S(x, y), R(x, y)` becomes a parallelized complex event automaton, whose transitions join the
runs of the subtrees below a variable (PCEA paper, Theorem 4.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal

if TYPE_CHECKING:
    from cer_gpu.plan.routes.rule_sketch import RuleSketch

NAME = "rule"

COSTS: dict[Question, Cost] = {
    "hits": Cost(3, note="hash look-ups"),
    "counts": Cost(6, note="hash look-ups"),
    "lists": Cost(4, 3, "hash look-ups, nodes of a structure"),
    "pushes": Cost(6, 3, "hash look-ups, nodes of a structure"),
}


def sketch(outline: Outline) -> RuleSketch | Refusal:
    """The parallelized automaton of a rule."""
    if not isinstance(outline.statement, tree.Rule):
        return Refusal("it is a pattern, not a rule")
    from cer_gpu.plan.routes.rule_sketch import sketched  # a process without rules need not load it

    try:
        return sketched(outline.statement)
    except LimitError as error:
        return Refusal(str(error))


def cost(sketch: RuleSketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    return COSTS[question]
