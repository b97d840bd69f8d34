"""The lowerings from a query to a machine; of those that take a query the cheapest for what is asked runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import CerError, Diagnostic, QueryError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.cost import CONFIGURATIONS, MAIN, QUESTIONS, Cost, Question, cheapest
from cer_gpu.plan.lower.lowering import (
    Candidate,
    Lowering,
    Refusal,
    chooses_nothing,
    chooses_nothing_beside_comparisons,
    compares,
    compares_beyond_equality,
    compares_by_equality_alone,
    has_intervals,
    has_no_intervals,
    has_no_operators_beside_comparisons,
    has_no_window_over_attribute,
    is_pattern,
    is_rule,
    looks_at_nothing_beside,
)
from cer_gpu.plan.outline import Outline
from cer_gpu.printable_text import brief

LOWERINGS: tuple[Lowering, ...] = (
    Lowering(
        "regular",
        (is_pattern, has_no_intervals, compares_by_equality_alone, has_no_operators_beside_comparisons),
    ),
    Lowering(
        "chain",
        (
            is_pattern,
            has_no_intervals,
            compares_by_equality_alone,
            compares,
            chooses_nothing_beside_comparisons,
        ),
    ),
    Lowering(
        "ordered",
        (
            is_pattern,
            has_no_intervals,
            compares,
            compares_beyond_equality,
            has_no_operators_beside_comparisons,
        ),
    ),
    Lowering(
        "apart",
        (
            is_pattern,
            has_no_intervals,
            compares,
            has_no_window_over_attribute,
            looks_at_nothing_beside,
            chooses_nothing_beside_comparisons,
        ),
    ),
    Lowering(
        "threshold",
        (
            is_pattern,
            has_no_intervals,
            compares,
            chooses_nothing,
            has_no_operators_beside_comparisons,
            has_no_window_over_attribute,
            looks_at_nothing_beside,
        ),
    ),
    Lowering("rule", (is_rule,)),
    Lowering("join", (is_rule,)),
    Lowering("timed", (is_pattern, compares_by_equality_alone, has_intervals)),
    Lowering(
        "clock",
        (
            is_pattern,
            compares_by_equality_alone,
            has_intervals,
            chooses_nothing,
            has_no_window_over_attribute,
            looks_at_nothing_beside,
        ),
    ),
    Lowering("general", costs=CONFIGURATIONS),
)
"""All of them, in the order in which they are asked; the last one takes every query."""

BY_NAME = {lowering.name: lowering for lowering in LOWERINGS}

AUTO = "auto"
"""The engine that is asked for where none is: that of the cheapest lowering that takes the query."""

ENGINES = (AUTO, *BY_NAME)


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """The lowering that a query takes for a question.

    Attributes
    ----------
    engine : str
        Its name.
    said : tuple of (str, Refusal or None)
        Each lowering with its refusal; None if it takes the query.
    taken : mapping of str to Candidate
        The lowerings that take the query, in their order.
    forced : bool
        Whether the caller named the engine, which then answers every question.
    """

    engine: str
    said: tuple[tuple[str, Refusal | None], ...]
    taken: Mapping[str, Candidate]
    forced: bool = False

    @property
    def candidate(self) -> Candidate:
        """The machine before any data is known."""
        return self.taken[self.engine]

    @property
    def main(self) -> bool:
        """Whether it answers the main question."""
        return self.engine == self.engine_for(MAIN)

    @property
    def by_window(self) -> bool:
        """Whether another lowering may take the query if the attribute of its window is the order."""
        return any(refusal is not None and refusal.by_window for _, refusal in self.said)

    def costs(self, question: Question) -> dict[str, Cost]:
        """What a question costs by each lowering that takes the query."""
        return {name: candidate.costs[question] for name, candidate in self.taken.items()}

    def engine_for(self, question: Question, cuda: bool = False) -> str:
        """The name of the lowering that answers a question.

        Parameters
        ----------
        question : Question
        cuda : bool
            Whether CUDA devices run it. Costs are of the CPU, so the main question then decides for all, if
            devices run the machine that answers it.
        """
        if self.forced:
            return self.engine
        main = self._cheapest[MAIN]
        return main if cuda and self.taken[main].cuda else self._cheapest[question]

    @cached_property
    def _cheapest(self) -> dict[Question, str]:
        return {question: cheapest(self.costs(question)) for question in QUESTIONS}

    def questions(self) -> dict[str, list[Question]]:
        """The questions that each lowering answers."""
        found: dict[str, list[Question]] = {}
        for question in QUESTIONS:
            found.setdefault(self.engine_for(question), []).append(question)
        return found

    def without(self, error: CerError) -> RouteChoice:
        """The other lowerings that take the query, if the machine of this one is impossible."""
        refusal = Refusal.of(error)
        said = tuple((name, refusal if name == self.engine else one) for name, one in self.said)
        taken = {name: candidate for name, candidate in self.taken.items() if name != self.engine}
        return replace(self, said=said, taken=taken)

    def asked(self, question: Question, cuda: bool = False) -> RouteChoice:
        """The lowering that answers a question."""
        name = self.engine_for(question, cuda)
        return self if name == self.engine else replace(self, engine=name)


def choose(outline: Outline, engine: str = AUTO) -> RouteChoice:
    """The lowerings that take a query; the one that answers the main question is chosen.

    Parameters
    ----------
    outline : Outline
    engine : str
        One of `ENGINES`.

    Raises
    ------
    QueryError
        When `engine` does not take it; the error has what it finds wrong.
    ValueError
        When there is no such engine.
    LimitError
        When its automaton would exceed its budget.
    """
    check_engine(engine)
    found = {lowering.name: lowering.lower(outline) for lowering in LOWERINGS}
    said = tuple((name, one if isinstance(one, Refusal) else None) for name, one in found.items())
    taken = {name: one for name, one in found.items() if not isinstance(one, Refusal)}
    if engine == AUTO:
        return RouteChoice(next(iter(taken)), said, taken).asked(MAIN)
    if isinstance(refusal := found[engine], Refusal):
        raise QueryError(_not_taken(outline, engine, refusal, taken), outline.text)
    return RouteChoice(engine, said, taken, forced=True)


def check_engine(name: str) -> None:
    """Raise a ValueError if there is no engine of this name."""
    if name not in ENGINES:
        raise ValueError(f"engine={brief(name)}: the engines are {', '.join(ENGINES)}")


def _not_taken(
    outline: Outline, engine: str, refusal: Refusal, taken: Mapping[str, Candidate]
) -> list[Diagnostic]:
    """That the engine that was asked for does not take a query, and what it finds wrong."""
    others = " or ".join(f"'{name}'" for name in taken)
    reason = f"engine='{engine}' does not take this query: {refusal.reason}"
    hint = f"leave engine out, or pass engine={others}"
    whole = Diagnostic(NOT_TAKEN, reason, outline.statement.span, hints=(hint,))
    return [whole, *dict.fromkeys(refusal.diagnostics)]
