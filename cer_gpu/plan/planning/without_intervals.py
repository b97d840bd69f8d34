"""Advice to write one WITHIN in the place of intervals, where what is compared would then be looked up."""

from __future__ import annotations

from dataclasses import replace

from cer_gpu.language import tree
from cer_gpu.language.walk import rebuild
from cer_gpu.plan.lower import BY_NAME
from cer_gpu.plan.lower.lowering import Refusal
from cer_gpu.plan.outline import Outline, outline
from cer_gpu.plan.refusals import is_timed


def one_window_advised(given: Outline) -> str | None:
    """What `explain` says of a query whose intervals keep it from the engines of look-ups; None of others.

    Parameters
    ----------
    given : Outline
        Of a query with intervals of time.
    """
    query = given.statement
    if not given.beyond or isinstance(query, tree.Rule):
        return None
    if not all(isinstance(BY_NAME[engine].lower(given), Refusal) for engine in ("timed", "clock")):
        return None
    bare = outline(replace(query, pattern=_without_intervals(query.pattern)), given.text)
    for engine in ("ordered", "apart"):
        if not isinstance(BY_NAME[engine].lower(bare), Refusal):
            return (
                "with one WITHIN instead of its intervals, if that is what you mean, the engine "
                f"`{engine}`\nwould run it faster"
            )
    return None


def _without_intervals(pattern: tree.Pattern) -> tree.Pattern:
    """The pattern without the intervals of its own operators."""
    if isinstance(pattern, tree.Timed):
        return _without_intervals(pattern.pattern)
    if isinstance(pattern, tree.Sequence | tree.Iteration) and is_timed(pattern):
        pattern = replace(pattern, gap=None)
    return rebuild(pattern, _without_intervals)
