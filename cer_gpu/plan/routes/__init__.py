"""The routes from a query to a machine, in the order in which they are tried; the first that can is taken."""

from __future__ import annotations

from itertools import takewhile
from typing import cast

from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.frozen import dataclass
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

AUTO = "auto"
"""The engine that is asked for where none is: that of the first route that takes the query."""

LISTS_FOR = {clock.NAME: general.NAME}
"""Engines whose matches another one lists and counts. `(A ; B) WITHIN [<= 1000 s] ; C` over 10,000 events
without a key is counted in 67 s by a walk through the nodes of one clock, and in 0.05 s by configurations.
Hits and pushes stay with the first."""

ENGINES = (AUTO, *(route.NAME for route in ROUTES))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The route that a query takes.

    Attributes
    ----------
    engine : str
        Its name.
    sketch : Sketch
    said : tuple of (str, Refusal or None)
        Each route with its refusal; None if it takes the query.
    others : tuple of (str, Sketch)
        Later routes that take the query too, in case the machine of this one turns out to be impossible.
    """

    engine: str
    sketch: Sketch
    said: tuple[tuple[str, Refusal | None], ...]
    others: tuple[tuple[str, Sketch], ...] = ()

    @property
    def by_window(self) -> bool:
        """Whether an earlier route may take the query if the attribute of its window is the order."""
        before = takewhile(lambda one: one[1] is not None, self.said)
        return any(refusal is not None and refusal.by_window for _, refusal in before)

    def without(self, error: QueryError) -> Chosen:
        """The next route that takes the query, if the machine of this one is impossible."""
        (engine, sketch), *others = self.others
        refusal = Refusal(error.diagnostics[0].message, error.diagnostics)
        said = tuple((name, refusal if name == self.engine else one) for name, one in self.said)
        return Chosen(engine, sketch, said, tuple(others))


def choose(outline: Outline, engine: str = AUTO) -> Chosen:
    """The route that a query takes.

    Parameters
    ----------
    outline : Outline
    engine : str
        One of `ENGINES`.

    Raises
    ------
    QueryError
        When no route takes it, or `engine` does not; the error has what each route finds wrong.
    LimitError
        When its automaton would exceed its budget.
    """
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
    name = next(iter(taken)) if engine == AUTO else engine
    others = list(taken.items())[1:] if engine == AUTO else []
    return Chosen(name, taken[name], tuple(said), tuple(others))


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
