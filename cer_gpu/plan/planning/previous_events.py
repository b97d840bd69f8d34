"""Whether a query costs less where PREV replaces what it asks of neighbours."""

from __future__ import annotations

from cer_gpu.errors import LimitError
from cer_gpu.language.schema import Schema
from cer_gpu.plan.cost import QUESTIONS, cheapest
from cer_gpu.plan.lower import RouteChoice, choose
from cer_gpu.plan.outline import Outline, over_order, with_previous


def form_with_previous(given: Outline, schema: Schema | None, forced: bool) -> Outline | None:
    """The outline with PREV, if no question costs more then and some question less; None otherwise.

    Costs count the relevant events. PREV is read for every event, which takes about as long as one step.

    Parameters
    ----------
    given : Outline
    schema : Schema or None
        Of the events, if they are known.
    forced : bool
        Whether the caller names the engine, so that costs do not matter.
    """
    try:
        made = with_previous(given, schema)
        if made is None or forced:
            return made
        order = None if schema is None else schema.order
        before, after = (_steps(choose(over_order(one, order))) for one in (given, made))
    except LimitError:
        return None
    less = all(new <= old for new, old in zip(after, before, strict=True)) and after != before
    return made if less else None


def _steps(chosen: RouteChoice) -> list[float]:
    """What each question costs by the lowering that answers it."""
    return [chosen.costs(question)[cheapest(chosen.costs(question))].steps for question in QUESTIONS]
