"""The plans of a query for events of one schema: one for each route that some question takes."""

from __future__ import annotations

from typing import Protocol

from cer_gpu.plan.cost import Question
from cer_gpu.plan.planning.planner import Plan


class Planner(Protocol):
    """Makes the plan of a question."""

    def __call__(self, question: Question, before: Plan | None) -> Plan:
        """The plan; `before` has the routes that take the query for events of this schema, if it is given."""
        ...


class SchemaPlans:
    """Plans of a query for events of one schema.

    Parameters
    ----------
    first : Plan
        The plan of the question that came first.
    cuda : bool
        Whether CUDA devices run it.
    """

    def __init__(self, first: Plan, cuda: bool) -> None:
        self.first = first
        self._cuda = cuda
        self._made = {first.engine: first}

    def plan_for(self, question: Question, make: Planner) -> Plan:
        """The plan of a question; it is made if no question before took its route."""
        engine = self.first.chosen.engine_for(question, self._cuda)
        plan = self._made.get(engine)
        if plan is None:
            plan = self._made[engine] = make(question, self.first)
        return plan
