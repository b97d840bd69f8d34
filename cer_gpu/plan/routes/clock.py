"""Timed patterns for which one clock is enough, asked in one direction only.

`(A ; B+ ; C) WITHIN [<= 5 s] ; D` becomes a deterministic automaton with one clock, which the A resets and
the C asks. What is open stays between the pushes of a stream, and an event costs the same whatever that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal

if TYPE_CHECKING:
    from cer_gpu.plan.routes.clock_sketch import ClockSketch

NAME = "clock"


def sketch(outline: Outline) -> ClockSketch | Refusal:
    """The automaton with one clock of a timed query."""
    query, formula = outline.statement, outline.formula
    if isinstance(query, tree.Rule) or formula is None:
        return Refusal("a rule has no pattern")
    if outline.beyond:
        return Refusal(f"it has {outline.beyond}, which is no equality of two events")
    if not outline.timed:
        return Refusal("its pattern has no interval of time")
    from cer_gpu.plan.routes.clock_sketch import sketched  # a process without intervals need not load it

    try:
        return sketched(outline, query, formula)
    except QueryError as error:
        return Refusal(error.diagnostics[0].message)
    except LimitError as error:
        return Refusal(str(error).splitlines()[0])
