"""Timed patterns for which one clock is enough, with bounds in one direction only.

`(A ; B+ ; C) WITHIN [<= 5 s] ; D` becomes a deterministic automaton with one clock, which the A resets and
the C asks. Open partial matches stay between the pushes of a stream, and an event costs the same however many
there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal, no_timed_pattern

if TYPE_CHECKING:
    from cer_gpu.plan.routes.clock_sketch import ClockSketch

NAME = "clock"

COSTS: dict[Question, Cost] = {
    "hits": Cost(12, note="nodes with resets and checks"),
    "counts": Cost(12, 20, "each match by a walk through the nodes"),
    "lists": Cost(15, 5, "nodes with resets and checks"),
    "pushes": Cost(15, 5, "nodes with resets and checks"),
}
"""Without WITHIN, matches are listed as they are counted: most nodes of a walk lead to none."""


def sketch(outline: Outline) -> ClockSketch | Refusal:
    """The automaton with one clock of a timed query."""
    if refusal := no_timed_pattern(outline):
        return refusal
    query, formula = outline.statement, outline.formula
    assert isinstance(query, tree.SelectQuery)
    assert formula is not None
    from cer_gpu.plan.routes.clock_sketch import sketched  # a process without intervals need not load it

    try:
        return sketched(outline, query, formula)
    except QueryError as error:
        return Refusal(error.diagnostics[0].message)
    except LimitError as error:
        return Refusal(str(error).splitlines()[0])


def cost(sketch: ClockSketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    endless = question == "lists" and sketch.statement.window is None
    return COSTS["counts" if endless else question]
