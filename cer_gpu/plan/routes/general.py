"""Every query: intervals on any operator, comparisons between any events, and what needs neither.

`PROJECT(A AS a ; A ;[= 1 s] A | a)` has no deterministic timed automaton: any event may be the second one.
`A AS a ; B ; C AS c FILTER c.price > a.price` has none without registers. Both are made deterministic as the
stream runs: open partial matches are kept with the times at which their clocks were set and the values that
later events are compared with. So is any other query that asks for it, `A ; B WITHIN 5 EVENTS` too, and a
rule as a pattern of its atoms: this route is the last one that is asked, and refuses nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cer_gpu.language import tree
from cer_gpu.plan.cost import Cost, Question
from cer_gpu.plan.outline import Outline

if TYPE_CHECKING:
    from cer_gpu.automata.cea import Predicate
    from cer_gpu.language.schema import Schema
    from cer_gpu.plan.routes.route import Built, Refusal, Sketch
    from cer_gpu.plan.symbols import Diagram

NAME = "general"

COSTS: dict[Question, Cost] = {
    "hits": Cost(25, note="open partial matches"),
    "counts": Cost(25, note="open partial matches"),
    "lists": Cost(25, 6, "open partial matches, nodes of a structure"),
    "pushes": Cost(25, 6, "open partial matches, nodes of a structure"),
}


class Deferred:
    """The formula of a query, worked out only when it is needed: another route may take the query.

    Parameters
    ----------
    outline : Outline
    """

    __slots__ = ("_made", "_outline")

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._made: Sketch | None = None

    @property
    def _sketch(self) -> Sketch:
        if self._made is None:
            self._made = _sketched(self._outline)
        return self._made

    @property
    def tests(self) -> tuple[Predicate, ...]:
        """The distinct predicates of events that the machine asks for."""
        return self._sketch.tests

    def over(self, schema: Schema) -> Sketch:
        """The sketch with its intervals in the unit of the data."""
        return self._sketch.over(schema)

    def built(self, diagram: Diagram) -> Built:
        """The machines over the classes of events."""
        return self._sketch.built(diagram)


def _sketched(outline: Outline) -> Sketch:
    if isinstance(outline.statement, tree.Rule):
        from cer_gpu.plan.routes import general_rule

        return general_rule.sketched(outline.statement, outline.text)
    from cer_gpu.plan.routes import general_sketch

    return general_sketch.sketched(outline)


def sketch(outline: Outline) -> Sketch | Refusal:
    """The formula of any query."""
    return Deferred(outline)


def cost(sketch: Sketch, question: Question) -> Cost:
    """What it costs to answer a question."""
    return COSTS[question]
