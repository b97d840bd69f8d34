"""What it costs to answer a question by a lowering: each lowering states it, and `cheapest` compares.

A step is about 20 ns: the regular machine takes one to find whether a relevant event is a hit. Costs are of
the CPU, from the measurements in docs/contributing/measuring.md, which `python -m bench.routes` repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from cer_gpu.frozen_dataclass import dataclass

Question = Literal["hits", "counts", "lists", "pushes"]

QUESTIONS: tuple[Question, ...] = ("hits", "counts", "lists", "pushes")
"""What is asked of a query: `hits`; `count` and `counts`; `run`; `stream`, which lists as events arrive."""

LISTING: tuple[Question, ...] = ("lists", "pushes")
"""The questions that list matches."""

MAIN: Question = "pushes"
"""The question that `compile` plans and `explain` describes: it needs the most of a machine, which keeps
open partial matches and lists what ends."""

MATCHES = 1
"""Matches that a relevant event is assumed to end; how many it ends only a run tells."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Steps of a lowering that answers a question.

    Attributes
    ----------
    event : float
        For a relevant event.
    match : float
        For each match that it lists; 0 where none is.
    note : str
        What is done, in a few words.
    """

    event: float
    match: float = 0
    note: str = ""

    @property
    def steps(self) -> float:
        """Steps for a relevant event with the matches that it is assumed to end."""
        return self.event + MATCHES * self.match


CONFIGURATIONS: Mapping[Question, Cost] = {
    "hits": Cost(25, note="open partial matches"),
    "counts": Cost(25, note="open partial matches"),
    "lists": Cost(25, 6, "open partial matches, nodes of a structure"),
    "pushes": Cost(25, 6, "open partial matches, nodes of a structure"),
}
"""Of the machine of configurations, which takes every query."""


def cheapest(costs: Mapping[str, Cost]) -> str:
    """The lowering of the least cost; of equal ones the first."""
    return min(costs, key=lambda name: costs[name].steps)
