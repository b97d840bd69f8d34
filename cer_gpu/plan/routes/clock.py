"""Timed patterns for which one clock is enough, with bounds in one direction only.

`(A ; B+ ; C) WITHIN [<= 5 s] ; D` becomes a deterministic automaton with one clock, which the A resets and
the C asks. Open partial matches stay between the pushes of a stream, and an event costs the same however many
there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal, no_timed_pattern

if TYPE_CHECKING:
    from cer_gpu.plan.routes.clock_sketch import ClockSketch

NAME = "clock"


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
