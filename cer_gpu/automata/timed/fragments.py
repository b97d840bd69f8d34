"""Fragments of timed CEL, recognised in formulas: standard, simple, windowed, swg-queries."""

from __future__ import annotations

from collections.abc import Iterable

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.walk import is_one_event, nodes


def is_timed(formula: tree.Pattern) -> bool:
    """Whether a formula has a time operator: an interval on a sequence or an iteration, or WITHIN."""
    return any(_interval(node) is not None for node in nodes(formula))


def _interval(node: tree.Pattern) -> tree.Interval | None:
    match node:
        case tree.Sequence(gap=gap) | tree.Iteration(gap=gap):
            return gap
        case tree.Timed(interval=interval):
            return interval
    return None


def intervals(formula: tree.Pattern) -> Iterable[tree.Interval]:
    """The intervals of all time operators of a formula."""
    return (found for node in nodes(formula) if (found := _interval(node)) is not None)


def is_standard(formula: tree.Pattern) -> bool:
    """Whether a formula is one of CEL: no time operators."""
    return not is_timed(formula)


SIMPLE = (
    tree.EventType,
    tree.As,
    tree.Filter,
    tree.Or,
    tree.And,
    tree.Sequence,
    tree.Iteration,
    tree.Optional,
)


def is_simple(formula: tree.Pattern) -> bool:
    """Whether a formula uses neither projection nor a time window (section 5).

    `NOT (T)` matches an event without a mark, which the paper's operators do not, and so counts as a
    projection; ALL, STRICT, UNLESS and FOLLOWED BY are no operators of the paper.
    """
    return all(isinstance(node, SIMPLE) for node in nodes(formula))


def is_windowed(formula: tree.Pattern) -> bool:
    """Whether a formula is windowed (section 5).

    At the bottom there are standard formulas and simple ones; above them AS, FILTER, OR, AND and windows.
    """
    if is_simple(formula) or is_standard(formula):
        return True
    match formula:
        case tree.As(inner) | tree.Filter(inner) | tree.Timed(inner):
            return is_windowed(inner)
        case tree.Or(left, right) | tree.And(left, right):
            return is_windowed(left) and is_windowed(right)
    return False


@dataclass(frozen=True, slots=True)
class SwgQuery:
    """A subsequence-query with wildcards and gap-size constraints: `(s, w, c)` (section 3).

    Attributes
    ----------
    steps : tuple of Pattern
        Each a pattern of one event: the predicates s.
    gaps : tuple of Interval or None
        One less than steps: the constraints c; None is any time.
    windows : tuple of Interval
        The intervals for the duration of the whole: w, and lower bounds if they are written; empty if
        unbounded.
    """

    steps: tuple[tree.Pattern, ...]
    gaps: tuple[tree.Interval | None, ...]
    windows: tuple[tree.Interval, ...]


def swg_query(formula: tree.Pattern) -> SwgQuery | None:
    """The swg-query that a formula is, or None: `(P1 ;[I1] ... ;[Ik] Pk) WITHIN [<= w]` (form (*)).

    A step is an event type or alternatives of event types, named and filtered as one likes: the paper's
    `(R1 OR ... OR Rm) AS X FILTER X[P]`.
    """
    windows: list[tree.Interval] = []
    while isinstance(formula, tree.Timed):
        windows.append(formula.interval)
        formula = formula.pattern
    steps: list[tree.Pattern] = []
    gaps: list[tree.Interval | None] = []
    if not _chain(formula, steps, gaps):
        return None
    return SwgQuery(tuple(steps), tuple(gaps), tuple(windows))


def _chain(formula: tree.Pattern, steps: list[tree.Pattern], gaps: list[tree.Interval | None]) -> bool:
    if not isinstance(formula, tree.Sequence):
        steps.append(formula)
        return is_one_event(formula)
    if formula.contiguous or not _chain(formula.left, steps, gaps):
        return False
    gaps.append(formula.gap)
    return _chain(formula.right, steps, gaps)
