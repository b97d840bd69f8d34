"""The plans of a query: for each schema, for each shape that its parameters give it, and for each route.

A parameter is an axis of its own, of which only the bound varies: `price > $p` is a boolean axis beside those
of other constants on `price`. The automaton, the diagram and the tables are made once, and a call only says
where the axis is cut. Only values that change the pattern itself, such as those of a repetition, need a plan
of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.language import tree
from cer_gpu.language.check import check
from cer_gpu.language.nan_dependence import NanDependence, nan_dependence
from cer_gpu.language.rounded_comparisons import RoundedComparison, rounded_comparisons
from cer_gpu.language.schema import Schema
from cer_gpu.language.sought_values import SoughtValue, sought_values
from cer_gpu.plan.cost import Question
from cer_gpu.plan.outline import Outline, outline, with_single_repetitions
from cer_gpu.plan.planning.planner import Plan
from cer_gpu.plan.refusals import never_answers
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from cer_gpu.plan.planning.given_values import GivenValues

SCHEMAS = 4
"""Plans of a query are kept for so many schemas that it has last met, so that calls may alternate."""

PLANS = 256
"""Plans that are kept of one schema, for values that need their own."""

SINGLE = "single"
"""The name of the plan of a query whose iterations repeat once, which has the same hits."""

Make: TypeAlias = Callable[[Outline, Question, "Plan | None"], Plan]
"""Makes a plan: of an outline, for a question, with an earlier plan for events of the same schema."""


class ShapePlans(NamedTuple):
    """The plans of one outline for events of one schema.

    Attributes
    ----------
    outline : Outline
    first : Plan
        The plan of the question that came first; it has the routes that take the query.
    made : dict of str to Plan or None
        The plan of each route that some question takes; `SINGLE`: of the form of the query that hits take,
        None where they take the query as it is.
    notes : sequence of Diagnostic
        Those of the checks, with the values of the call that came first.
    values : GivenValues, optional
        What is known of the values of calls; None without parameters.
    """

    outline: Outline
    first: Plan
    made: dict[str, Plan | None]
    notes: Sequence[Diagnostic]
    values: GivenValues | None


class QueryPlans:
    """Plans a query for events, and for the values of its parameters.

    Parameters
    ----------
    statement : Query or Rule
    text : str
        As it was written.
    outline : Outline
        That of `statement`.
    given : mapping of str to object
        Values that `compile` was given, for calls that give no other.

    Raises
    ------
    QueryError
        When a value has no parameter.
    """

    def __init__(
        self, statement: tree.Statement, text: str, outline: Outline, given: Mapping[str, Any]
    ) -> None:
        self._statement = statement
        self._text = text
        self._outline = outline
        self.given = dict(given)
        self._asked: dict[str, Any] = {}
        self._shaping: frozenset[str] = frozenset()
        self._clauses: tuple[str, ...] = ()
        self._statements: dict[Hashable, tree.Statement] = {}
        self._kept: tuple[tuple[Any, dict[Any, ShapePlans]], ...] = ()
        if given or "$" in text:
            # Few queries have parameters, and what is not imported takes no time.
            from cer_gpu.language.parameters import check_given, clause_parameters, parameters, shaping

            self._asked, self._shaping = parameters(statement), shaping(statement)
            self._clauses = clause_parameters(statement)
            check_given(self._asked, {**dict.fromkeys(self._asked), **self.given}, text)

    @cached_property
    def nan_dependence(self) -> NanDependence:
        """The columns whose NaN decide the answer."""
        return nan_dependence(self._statement)

    @cached_property
    def rounded_comparisons(self) -> tuple[RoundedComparison, ...]:
        """The comparisons whose two sides floats may round apart."""
        return rounded_comparisons(self._statement)

    @cached_property
    def sought_values(self) -> tuple[SoughtValue, ...]:
        """The texts that events of matches have to have."""
        return sought_values(self._statement)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in the order of the text."""
        return tuple(self._asked)

    def planned(
        self,
        key: Any,
        schema: Schema,
        params: Mapping[str, Any],
        make: Make,
        question: Question,
        cuda: bool,
    ) -> tuple[Plan, Sequence[Diagnostic]]:
        """The plan for events and some values, and the notes of the checks.

        Parameters
        ----------
        key : object
            Everything besides the values that a plan depends on; calls with equal keys share plans.
        schema : Schema
        params : mapping of str to object
            The values of this call.
        make : callable
        question : Question
        cuda : bool
            Whether CUDA devices run it; part of `key`.

        Raises
        ------
        QueryError
            When the query does not fit the schema, or a value is missing, has no parameter, or does not fit
            its place.
        """
        given: Mapping[str, Any] = {**self.given, **params}
        statement = self._statement
        if given or self._asked:
            from cer_gpu.language.parameters import check_given

            check_given(self._asked, given, self._text)
            statement = self._with_clauses(given, schema)
        known = self._kept  # another thread may run the query on other data
        plans = next((plans for one, plans in known if one == key), {})
        own = self._shape(statement, given)
        shape = plans.get(own)
        notes: Sequence[Diagnostic] = () if shape is None else shape.notes
        values = None if shape is None else shape.values
        if shape is None or (values is not None and not values.fit(given)):
            filled = self._filled(given, schema)
            notes = check(filled, schema)
            errors = [finding for finding in notes if finding.severity == "error"]
            if errors:
                raise QueryError(errors, self._text)
            if shape is None:
                shape = self._shaped(filled, given, schema, notes, make, question)
                if not plans:
                    self._kept = ((key, plans), *known[: SCHEMAS - 1])
                elif len(plans) >= PLANS:
                    plans.clear()
                plans[own] = shape
                values = shape.values
            if values is not None and notes == shape.notes:
                values.keep(given)
        plan = _planned(shape, make, question, cuda)
        if plan.never:
            notes = (*notes, never_answers(statement))
        if values is None:
            return plan, notes
        return values.closed(plan, statement, given, schema), notes

    def _shaped(
        self,
        statement: tree.Statement,
        given: Mapping[str, Any],
        schema: Schema,
        notes: Sequence[Diagnostic],
        make: Make,
        question: Question,
    ) -> ShapePlans:
        """The plans of the shape that some values give; `statement` has all values put in."""
        if not self._asked:
            first = make(self._outline, question, None)
            return ShapePlans(self._outline, first, {first.engine: first}, notes, None)
        from cer_gpu.plan.planning.given_values import GivenValues

        opened = self._opened(statement, given, schema)
        first = make(opened, question, None)
        return ShapePlans(opened, first, {first.engine: first}, notes, GivenValues(self._statement))

    def _filled(self, given: Mapping[str, Any], schema: Schema) -> tree.Statement:
        """The statement with all values put in."""
        if not self._asked:
            return self._statement
        from cer_gpu.language.parameters import with_values

        return with_values(self._statement, given, schema, self._text)

    def _with_clauses(self, given: Mapping[str, Any], schema: Schema) -> tree.Statement:
        """The statement with the values of WITHIN and SUPPRESS put in."""
        from cer_gpu.language.parameters import clauses, remembered, told, with_values

        values = told(given, self._clauses)
        found = None if values is None else self._statements.get(values)
        if found is not None:
            return found
        try:
            filled: dict[str, Any] = {
                name: with_values(clause, given, schema, self._text)
                for name, clause in clauses(self._statement).items()
            }
        except QueryError:
            self._filled(given, schema)  # names all values that do not fit
            raise
        return remembered(self._statements, values, replace(self._statement, **filled))

    def _shape(self, statement: tree.Statement, given: Mapping[str, Any]) -> Any:
        """What distinguishes the plans of one schema: the values that need a plan of their own."""
        if not self._asked:
            return None
        window = statement.window
        measured = None if window is None else (window.kind, window.unit, window.attribute)
        return repr({name: given[name] for name in sorted(self._shaping)}), measured

    def _opened(self, statement: tree.Statement, given: Mapping[str, Any], schema: Schema) -> Outline:
        """The outline for all values that do not change the shape; `statement` has all values put in."""
        from cer_gpu.language.parameters import with_values

        shape = {name: given[name] for name in self._shaping}
        opened = with_values(self._statement, shape, schema, self._text)
        if statement.window is not None:
            opened = replace(opened, window=statement.window)
        return outline(opened, self._text)

    def told(self, params: Mapping[str, Any]) -> list[str]:
        """A line for each parameter: its value, and whether a new value needs a new plan."""
        given = {**self.given, **params}
        return [
            f"${name}{f' = {brief(given[name])}' if name in given else ''}: "
            + ("each value has a plan of its own" if name in self._shaping else "the plan serves all values")
            for name in self._asked
        ]


def _planned(shape: ShapePlans, make: Make, question: Question, cuda: bool) -> Plan:
    """The plan of a shape for a question."""
    chosen = shape.first.chosen
    if question == "hits" and not chosen.forced:
        if SINGLE not in shape.made:
            form = with_single_repetitions(shape.outline)
            shape.made[SINGLE] = None if form is None else make(form, question, None)
        if (single := shape.made[SINGLE]) is not None:
            return single
    engine = chosen.engine_for(question, cuda)
    plan = shape.made.get(engine)
    if plan is None:
        plan = shape.made[engine] = make(shape.outline, question, shape.first)
    return plan
