"""Patterns of any kind: intervals on any operator, and comparisons between any events.

`PROJECT(A AS a ; A ;[= 1 s] A | a)` has no deterministic timed automaton: any event may be the second one.
`A AS a ; B ; C AS c FILTER c.price > a.price` has none without registers. Both are made deterministic as the
stream runs: open partial matches are kept with the times at which their clocks were set and the values that
later events are compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.language import tree
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes.route import Refusal

if TYPE_CHECKING:
    from cer_gpu.automata.cea import Predicate
    from cer_gpu.language.schema import Schema
    from cer_gpu.plan.routes.general_sketch import GeneralSketch
    from cer_gpu.plan.routes.route import Built
    from cer_gpu.plan.symbols import Diagram

NAME = "general"


class Deferred:
    """The formula of a query, worked out only when it is needed: another route may take the query.

    Parameters
    ----------
    outline : Outline
    """

    __slots__ = ("_made", "_outline")

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._made: GeneralSketch | None = None

    @property
    def _sketch(self) -> GeneralSketch:
        if self._made is None:
            from cer_gpu.plan.routes.general_sketch import sketched

            self._made = sketched(self._outline)
        return self._made

    @property
    def tests(self) -> tuple[Predicate, ...]:
        """The distinct predicates of events that the machine asks for."""
        return self._sketch.tests

    def over(self, schema: Schema) -> GeneralSketch:
        """The sketch with its intervals in the unit of the data."""
        return self._sketch.over(schema)

    def built(self, diagram: Diagram) -> Built:
        """The machines over the classes of events."""
        return self._sketch.built(diagram)


def sketch(outline: Outline) -> Deferred | Refusal:
    """The formula of a query with intervals or comparisons."""
    if isinstance(outline.statement, tree.Rule) or outline.formula is None:
        return Refusal("a rule has no pattern")
    if not (outline.timed or outline.correlates or outline.beyond):
        return Refusal("its pattern has no interval of time and no comparison between events")
    return Deferred(outline)
