"""Timed patterns of any kind: windows inside, gaps on any operator, beside UNLESS, selectors and projections.

`PROJECT(A AS a ; A ;[= 1 s] A | a)` has no deterministic timed automaton: any event may be the second one.
It is made deterministic on the concrete stream: what is open is kept with the times at which its clocks were
set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.errors import QueryError
from cer_gpu.language import tree
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal

if TYPE_CHECKING:
    from cer_gpu.plan.routes.general_sketch import GeneralSketch

NAME = "general"


def sketch(outline: Outline) -> GeneralSketch | Refusal:
    """The formula of a timed query."""
    query, formula = outline.statement, outline.formula
    if outline.unevaluated:
        return Refusal(outline.unevaluated[0].message, outline.unevaluated)
    if isinstance(query, tree.Rule) or formula is None:
        return Refusal("a rule has no pattern")
    if not outline.timed:
        return Refusal("its pattern has no interval of time")
    from cer_gpu.plan.routes.general_sketch import sketched  # a process without intervals need not load it

    try:
        return sketched(outline, query, formula)
    except QueryError as error:
        return Refusal(error.diagnostics[0].message, error.diagnostics)
