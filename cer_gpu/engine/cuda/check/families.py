"""The families of kernels, in the order in which they build on one another, and which queries need them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from cer_gpu.plan.machine import ROW_PATTERNS, TEAMS

if TYPE_CHECKING:
    from cer_gpu.engine.cuda.check.inputs import Answers, Inputs


class Family(NamedTuple):
    """Kernels that compute one answer together.

    ===========  ===============================================================================
    `name`       its name in reports
    `answers`    callable: from `Inputs` to the arrays that are compared
    `engines`    the engines that launch its kernels (`Machine.engine`); empty: all
    ===========  ===============================================================================
    """

    name: str
    answers: Callable[[Inputs], Answers]
    engines: frozenset[str] = frozenset()


def _family(name: str, place: str, *engines: str) -> Family:
    """A family whose module is imported when its answers are asked for: a query needs few of them."""

    def answers(inputs: Inputs) -> Answers:
        module, _, function = place.partition(".")
        found: Answers = getattr(import_module(f"cer_gpu.engine.cuda.check.{module}"), function)(inputs)
        return found

    return Family(name, answers, frozenset(engines))


FAMILIES = (
    _family("prefix sums", "columns.scanned"),
    _family("classification", "columns.classified"),
    _family("hits", "runs.windowed_hits", "automaton"),
    _family("windows", "runs.lowest_starts", "automaton", "joins", "steps", "comparisons"),
    _family("counts", "runs.windowed_counts", "automaton"),
    _family("hits and counts in units", "runs.hits_in_units", "automaton"),
    _family("hits and counts without a window", "runs.carried_counts", "automaton"),
    _family("hits of long segments", "runs.long_hits", "automaton"),
    _family("counts of long segments", "runs.long_counts", "automaton"),
    _family("hits of joins", "joins.joined_hits", "joins"),
    _family("counts of joins", "joins.joined_counts", "joins"),
    _family("hits of timed steps", "steps.stepped_hits", "steps"),
    _family("counts of timed steps", "steps.stepped_counts", "steps"),
    _family("hits and counts of partial matches", "configurations.followed_answers", "general"),
    _family("hits of ordered look-ups", "comparisons.looked_up_hits", "comparisons"),
    _family("counts of ordered look-ups", "comparisons.looked_up_counts", "comparisons"),
    _family("sums of variants abreast", "teams.abreast_sums", TEAMS),
    _family("sums of variants with iterations", "teams.masked_sums", TEAMS),
    _family("sums of variants without a window", "teams.carried_sums", TEAMS),
    _family("matches of row patterns", "row_patterns.preferred_matches", ROW_PATTERNS),
)
"""A family comes after those whose kernels it launches too, so the first wrong family is to blame."""


def families_of(engines: Iterable[str]) -> tuple[Family, ...]:
    """The families whose kernels some engines launch."""
    asked = set(engines)
    return tuple(one for one in FAMILIES if not one.engines or one.engines & asked)


def families_named(names: Iterable[str]) -> tuple[Family, ...]:
    """The families of some names."""
    asked = set(names)
    return tuple(one for one in FAMILIES if one.name in asked)
