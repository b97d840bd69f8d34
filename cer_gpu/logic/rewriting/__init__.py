"""Rewrites patterns to equivalent ones that run faster, before a machine is chosen.

Each rewriting takes a pattern and returns one with the same complex events on every stream. `MIN(x.a) > 3`
compares a value of many events; it becomes two conditions on single events, which every machine takes: no
event has `a <= 3`, and some event has `a > 3`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.logic.rewriting.aggregates import extremes, single_values
from cer_gpu.logic.rewriting.comparisons import constants, implied, known
from cer_gpu.logic.rewriting.repetitions import counted, first_and_last

Rewriting: TypeAlias = Callable[[t.Pattern], t.Pattern]

REWRITINGS: tuple[Rewriting, ...] = (
    single_values,
    counted,
    first_and_last,
    extremes,
    constants,
    known,
    implied,
)
"""In the order in which they are made: each may give the next one something to do."""


def rewritten(pattern: t.Pattern) -> t.Pattern:
    """A pattern with the same complex events, after all rewritings; the same object where none applies."""
    for rewriting in REWRITINGS:
        pattern = rewriting(pattern)
    return pattern
