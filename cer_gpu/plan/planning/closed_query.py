"""A query without parameters and its plans, one for each schema that it has last met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.language import tree
from cer_gpu.language.check import check
from cer_gpu.language.schema import Schema
from cer_gpu.plan.cost import Question
from cer_gpu.plan.evaluated import never_answers
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.planning.planner import Plan
from cer_gpu.plan.planning.plans import SchemaPlans

SCHEMAS = 4
"""Plans of a query that are kept: for the schemas that it has last met, so that calls may alternate."""


class KeptPlans(NamedTuple):
    """The plans, and the notes of the checks, for all events with equal `key`."""

    key: Any
    plans: SchemaPlans
    notes: Sequence[Diagnostic]


class ClosedQuery:
    """Plans a query that has no parameters.

    Parameters
    ----------
    statement : Query or Rule
    text : str
        As it was written.
    shape : Outline
        What all plans are made of.
    """

    def __init__(self, statement: tree.Statement, text: str, shape: Outline) -> None:
        self._statement = statement
        self._text = text
        self._outline = shape
        self._kept: tuple[KeptPlans, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """None; as of a query with parameters."""
        return ()

    @property
    def given(self) -> dict[str, Any]:
        """No values; as of a query with parameters."""
        return {}

    def told(self, params: Mapping[str, Any]) -> list[str]:
        """No lines; as of a query with parameters."""
        return []

    def planned(
        self,
        key: Any,
        schema: Schema,
        params: Mapping[str, Any],
        make: Callable[[Outline, Question, Plan | None], Plan],
        question: Question,
        cuda: bool,
    ) -> tuple[Plan, Sequence[Diagnostic]]:
        """The plan for events, and the notes of the checks.

        Parameters
        ----------
        key : object
            Everything that a plan depends on; calls with equal keys share a plan.
        schema : Schema
        params : mapping of str to object
            Has to be empty.
        make : callable
            Makes a plan: of an outline, for a question, with an earlier plan for events of this schema.
        question : Question
        cuda : bool
            Whether CUDA devices run it; part of `key`.

        Raises
        ------
        QueryError
            When a value is given, or the query does not fit the schema.
        """
        if params:
            from cer_gpu.language.parameters import check_given

            check_given({}, params, self._text)
        known = self._kept  # another thread may run the query on other data
        kept = next((one for one in known if one.key == key), None)
        if kept is None:
            found = check(self._statement, schema)
            errors = [finding for finding in found if finding.severity == "error"]
            if errors:
                raise QueryError(errors, self._text)
            plan = make(self._outline, question, None)
            notes = (*found, never_answers(self._statement)) if plan.never else found
            kept = KeptPlans(key, SchemaPlans(plan, cuda), notes)
            self._kept = (kept, *known[: SCHEMAS - 1])
        return kept.plans.plan_for(question, partial(make, self._outline)), kept.notes
