"""A query with parameters and its plans; one plan serves all values that do not change its shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.language import tree
from cer_gpu.language.check import check
from cer_gpu.language.parameters import check_given, parameters, shaping, with_values
from cer_gpu.language.schema import Schema
from cer_gpu.plan.cost import Question
from cer_gpu.plan.evaluated import never_answers
from cer_gpu.plan.outline import Outline, outline
from cer_gpu.plan.planning.given import with_given
from cer_gpu.plan.planning.planner import Plan
from cer_gpu.plan.planning.plans import SchemaPlans
from cer_gpu.printable import brief

PLANS = 256
"""Plans that are kept of one schema, for values that need their own."""


class OpenQuery:
    """Plans a query for the values of its parameters.

    Parameters
    ----------
    statement : Query or Rule
    text : str
        As it was written.
    given : mapping of str to object
        Values that `compile` was given, for calls that give no other.

    Raises
    ------
    QueryError
        When a value has no parameter.
    """

    def __init__(self, statement: tree.Statement, text: str, given: Mapping[str, Any]) -> None:
        self._statement = statement
        self._text = text
        self.given = dict(given)
        self._shaping = shaping(statement)
        self._kept: tuple[Any, dict[Any, tuple[Outline, SchemaPlans]]] | None = None
        self._asked = parameters(statement)
        check_given(self._asked, {**dict.fromkeys(self._asked), **self.given}, text)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their names, in the order of the text."""
        return tuple(self._asked)

    def planned(
        self,
        key: Any,
        schema: Schema,
        params: Mapping[str, Any],
        make: Callable[[Outline, Question, Plan | None], Plan],
        question: Question,
        cuda: bool,
    ) -> tuple[Plan, tuple[Diagnostic, ...]]:
        """The plan for some values, and the notes of the checks.

        Parameters
        ----------
        key : object
            Everything besides the values that a plan depends on; calls with equal keys share plans.
        schema : Schema
        params : mapping of str to object
            The values of this call.
        make : callable
            Makes a plan: of an outline, for a question, with an earlier plan for events of this schema.
        question : Question
        cuda : bool
            Whether CUDA devices run it; part of `key`.

        Raises
        ------
        QueryError
            When a value is missing, has no parameter, or does not fit its place.
        """
        given = {**self.given, **params}
        check_given(self._asked, given, self._text)
        statement = with_values(self._statement, given, schema, self._text)
        found = check(statement, schema)
        errors = [finding for finding in found if finding.severity == "error"]
        if errors:
            raise QueryError(errors, self._text)

        def first(outline: Outline) -> SchemaPlans:
            return SchemaPlans(make(outline, question, None), cuda)

        shape, plans = self._plans(key, statement, given, schema, first)
        plan = plans.plan_for(question, partial(make, shape))
        notes = (*found, never_answers(statement)) if plan.never else found
        return with_given(plan, statement, given, schema), tuple(notes)

    def _plans(
        self,
        key: Any,
        statement: tree.Statement,
        given: Mapping[str, Any],
        schema: Schema,
        first: Callable[[Outline], SchemaPlans],
    ) -> tuple[Outline, SchemaPlans]:
        """The outline and the plans that all values share which do not change its shape."""
        kept = self._kept  # another thread may run the query on other data
        if kept is None or kept[0] != key:
            kept = self._kept = key, {}
        plans = kept[1]
        shape = {name: given[name] for name in sorted(self._shaping)}
        window = statement.window
        measured = None if window is None else (window.kind, window.unit, window.attribute)
        own = (repr(shape), measured)
        found = plans.get(own)
        if found is None:
            open_ = with_values(self._statement, shape, schema, self._text)
            if window is not None:
                open_ = replace(open_, window=window)
            if len(plans) >= PLANS:
                plans.clear()
            made = outline(open_, self._text)
            found = plans[own] = made, first(made)
        return found

    def told(self, params: Mapping[str, Any]) -> list[str]:
        """A line for each parameter: its value, and whether a new value needs a new plan."""
        given = {**self.given, **params}
        return [
            f"${name}{f' = {brief(given[name])}' if name in given else ''}: "
            + ("each value has a plan of its own" if name in self._shaping else "the plan serves all values")
            for name in self._asked
        ]
