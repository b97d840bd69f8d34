"""The routes from a query to a machine; of those that take a query the cheapest for what is asked runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import CerError, Diagnostic, QueryError, Span
from cer_gpu.frozen import dataclass
from cer_gpu.plan.cost import MAIN, QUESTIONS, Cost, Question, cheapest
from cer_gpu.plan.outline import Outline
from cer_gpu.plan.routes import apart, chain, clock, general, join, ordered, regular, rule, timed
from cer_gpu.plan.routes.route import Refusal, Route, Sketch
from cer_gpu.printable import brief

ROUTES: tuple[Route, ...] = (
    cast(Route, regular),
    cast(Route, chain),
    cast(Route, ordered),
    cast(Route, apart),
    cast(Route, rule),
    cast(Route, join),
    cast(Route, timed),
    cast(Route, clock),
    cast(Route, general),
)

BY_NAME = {route.NAME: route for route in ROUTES}

AUTO = "auto"
"""The engine that is asked for where none is: that of the cheapest route that takes the query."""

ENGINES = (AUTO, *(route.NAME for route in ROUTES))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The route that a query takes for a question.

    Attributes
    ----------
    engine : str
        Its name.
    said : tuple of (str, Refusal or None)
        Each route with its refusal; None if it takes the query.
    taken : mapping of str to Sketch
        The routes that take the query, in their order.
    forced : bool
        Whether the caller named the engine, which then answers every question.
    """

    engine: str
    said: tuple[tuple[str, Refusal | None], ...]
    taken: Mapping[str, Sketch]
    forced: bool = False

    @property
    def sketch(self) -> Sketch:
        """The machine before any data is known."""
        return self.taken[self.engine]

    @property
    def main(self) -> bool:
        """Whether it answers the main question."""
        return self.engine == self.engine_for(MAIN)

    @property
    def by_window(self) -> bool:
        """Whether another route may take the query if the attribute of its window is the order."""
        return any(refusal is not None and refusal.by_window for _, refusal in self.said)

    def costs(self, question: Question) -> dict[str, Cost]:
        """What a question costs by each route that takes the query."""
        return {name: BY_NAME[name].cost(sketch, question) for name, sketch in self.taken.items()}

    def engine_for(self, question: Question, cuda: bool = False) -> str:
        """The name of the route that answers a question.

        Parameters
        ----------
        question : Question
        cuda : bool
            Whether CUDA devices run it. Costs are of the CPU, so the main question then decides for all.
        """
        if self.forced:
            return self.engine
        return cheapest(self.costs(MAIN if cuda else question))

    def questions(self) -> dict[str, list[Question]]:
        """The questions that each route answers."""
        found: dict[str, list[Question]] = {}
        for question in QUESTIONS:
            found.setdefault(self.engine_for(question), []).append(question)
        return found

    def without(self, error: CerError) -> Chosen:
        """The other routes that take the query, if the machine of this one is impossible."""
        reason = error.diagnostics[0].message if isinstance(error, QueryError) else str(error).splitlines()[0]
        refusal = Refusal(reason, error.diagnostics if isinstance(error, QueryError) else ())
        said = tuple((name, refusal if name == self.engine else one) for name, one in self.said)
        taken = {name: sketch for name, sketch in self.taken.items() if name != self.engine}
        return replace(self, said=said, taken=taken)

    def asked(self, question: Question, cuda: bool = False) -> Chosen:
        """The route that answers a question."""
        name = self.engine_for(question, cuda)
        return self if name == self.engine else replace(self, engine=name)


def choose(outline: Outline, engine: str = AUTO) -> Chosen:
    """The routes that take a query; the one that answers the main question is chosen.

    Parameters
    ----------
    outline : Outline
    engine : str
        One of `ENGINES`.

    Raises
    ------
    QueryError
        When no route takes it, or `engine` does not; the error has what each route finds wrong.
    ValueError
        When there is no such engine.
    LimitError
        When its automaton would exceed its budget.
    """
    check_engine(engine)
    said: list[tuple[str, Refusal | None]] = []
    taken: dict[str, Sketch] = {}
    for route in ROUTES:
        found = route.sketch(outline)
        if isinstance(found, Refusal):
            said.append((route.NAME, found))
        else:
            said.append((route.NAME, None))
            taken[route.NAME] = found
    if not taken or (engine != AUTO and engine not in taken):
        raise QueryError(_findings(outline, engine, said, taken), outline.text)
    if engine != AUTO:
        return Chosen(engine, tuple(said), taken, forced=True)
    return Chosen(next(iter(taken)), tuple(said), taken).asked(MAIN)


def check_engine(name: str) -> None:
    """Raise a ValueError if there is no engine of this name."""
    if name not in ENGINES:
        raise ValueError(f"engine={brief(name)}: the engines are {', '.join(ENGINES)}")


def _findings(
    outline: Outline, engine: str, said: list[tuple[str, Refusal | None]], taken: dict[str, Sketch]
) -> list[Diagnostic]:
    """What the routes that were asked find wrong with a query that none of them takes."""
    refusals = [refusal for name, refusal in said if refusal is not None and engine in (AUTO, name)]
    found = dict.fromkeys(one for refusal in refusals for one in refusal.diagnostics)
    if taken:
        others = " or ".join(f"'{name}'" for name in taken)
        reason = f"engine='{engine}' does not take this query: {refusals[0].reason}"
        hint = f"leave engine out, or pass engine={others}"
        return [Diagnostic(NOT_TAKEN, reason, outline.statement.span, hints=(hint,)), *found]
    return sorted(found, key=lambda one: one.span or Span(0, 0))
