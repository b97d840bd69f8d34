"""What is written in one way and runs faster in another: rewritings of patterns before a machine is chosen.

Each rewriting takes a pattern, as it is written, and gives one with the same complex events on every stream.
`MIN(x.a) > 3` compares a value of many events; it becomes a predicate of single events, which any machine
takes: none has `a <= 3`, and some has `a > 3`.
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
