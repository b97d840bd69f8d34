"""Makes timed CEA of one clock simple enough for formulas (timed CEL paper, Lemmas A.2 and A.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from cer_gpu.automata.cea import Label
from cer_gpu.automata.explore import explore
from cer_gpu.automata.timed.clocks import (
    ALWAYS,
    Check,
    ClockCondition,
    checks_of,
    conjunction,
    ranges,
    renamed,
)
from cer_gpu.automata.timed.timed_cea import TimedCEA, TimedTransition, timed_trim
from cer_gpu.frozen_dataclass import dataclass


def about(condition: ClockCondition, clock: int) -> ClockCondition:
    """A conjunction of checks without those of other clocks (Proposition 4.4)."""
    return conjunction(*(one for one in checks_of(condition) if one.clock == clock))


class UpperEnd(NamedTuple):
    """`z <= c`, or `z < c`: the smaller the tighter."""

    constant: Fraction
    included: bool


class LowerEnd(NamedTuple):
    """`z >= c`, or `z > c`: the larger the tighter."""

    constant: Fraction
    excluded: bool


class _CheckState(NamedTuple):
    """A state, and the checks since the last reset (proof of Lemma A.2).

    Attributes
    ----------
    state : int
    is_set : bool
        Whether the clock is set: before, no check holds.
    upper : UpperEnd or None
        The last upper end that was checked.
    promised : UpperEnd or None
        The tightest upper end that was skipped: a later check, before the next reset, has to imply it.
    lower : LowerEnd or None
        The last lower end that was checked.
    """

    state: int
    is_set: bool = False
    upper: UpperEnd | None = None
    promised: UpperEnd | None = None
    lower: LowerEnd | None = None


class _BoundedStep(NamedTuple):
    move: TimedTransition
    condition: ClockCondition


def check_bounded(timed: TimedCEA) -> TimedCEA:
    """An equivalent automaton that checks its clock a bounded number of times between resets (Lemma A.2).

    As time passes, `z >= 2` after `z >= 3` says nothing, and `z <= 5` before `z <= 4` neither. The former is
    skipped; the latter is skipped too, with the promise that a tighter check follows. So the lower ends that
    are checked ascend strictly, and so do the upper ends. The lemma leaves out that a check fails where the
    clock is unset; here the state says whether it is.

    Parameters
    ----------
    timed : TimedCEA
        Disjunction-free, with at most one clock.

    Raises
    ------
    ValueError
        If a condition has a disjunction, or there are more clocks.
    """
    if timed.n_clocks > 1:
        raise ValueError(f"the automaton has {timed.n_clocks} clocks")
    leaving = timed.leaving()
    found = explore(
        _CheckState(timed.initial),
        lambda at: (one for move in leaving[at.state] for one in _checks(at, move)),
        lambda at: at.state in timed.final and at.promised is None,
        None,
        "bounding checks",
    )
    moves = tuple(
        replace(edge.move, source=source, condition=edge.condition, target=target)
        for source, edge, target in found.edges
    )
    return timed_trim(
        TimedCEA(len(found.states), timed.n_clocks, 0, found.final, tuple(dict.fromkeys(moves)))
    )


def _checks(at: _CheckState, move: TimedTransition) -> Iterator[tuple[_BoundedStep, _CheckState]]:
    """The ways to take a transition: its upper end checked, or skipped with a promise."""
    checks = checks_of(move.condition)
    if checks and not at.is_set:
        return
    asked = ranges(checks)
    if asked is None:
        return
    lower, upper, kept = at.lower, None, list[ClockCondition]()
    if checks:
        found = asked[0]
        own = LowerEnd(found.low, found.low_open)
        if own > LowerEnd(Fraction(0), False) and (lower is None or own > lower):
            lower = own
            kept.append(Check(0, ">" if own.excluded else ">=", own.constant))
        upper = None if found.high is None else UpperEnd(found.high, not found.high_open)
    resets = bool(move.resets)

    def after(checked: UpperEnd | None, promised: UpperEnd | None) -> _CheckState:
        return _CheckState(move.target, True) if resets else at._replace(
            state=move.target, upper=checked, promised=promised, lower=lower
        )  # fmt: skip

    if upper is None:
        if not (resets and at.promised is not None):
            yield _BoundedStep(move, conjunction(*kept)), after(at.upper, at.promised)
        return
    if at.upper is not None and upper <= at.upper:
        return  # the check before should have been skipped
    if at.promised is None or upper <= at.promised:
        check = Check(0, "<=" if upper.included else "<", upper.constant)
        yield _BoundedStep(move, conjunction(*kept, check)), after(upper, None)
    if not resets:
        promised = upper if at.promised is None else min(upper, at.promised)
        yield _BoundedStep(move, conjunction(*kept)), after(at.upper, promised)


def check_bound(timed: TimedCEA) -> int | None:
    """The k of a k-check-bounded automaton of one clock: the most transitions with a check between resets.

    None if there is no bound.
    """
    counts = [0] * timed.n_states
    # The longest path by relaxation; without a bound some cycle goes on growing.
    for _ in range(timed.n_states + 1):
        changed = False
        for move in timed.transitions:
            own = int(move.condition != ALWAYS)
            reached = 0 if move.resets else counts[move.source] + own
            if reached > counts[move.target]:
                counts[move.target], changed = reached, True
        if not changed:
            last = [counts[move.source] + (move.condition != ALWAYS) for move in timed.transitions]
            return max([*counts, *last])
    return None


@dataclass(frozen=True, slots=True)
class MarkedTransitions:
    """An automaton in which the label of an event says which transition was taken, and how to undo it.

    Attributes
    ----------
    timed : TimedCEA
        Strongly deterministic.
    kept : tuple of str
        The variables of the automaton before: projected to them, the complex events are its own.
    """

    timed: TimedCEA
    kept: tuple[str, ...]


def strongly_deterministic(timed: TimedCEA) -> MarkedTransitions:
    """The automaton in which transitions that leave one state differ in their labels (proof of Lemma A.4).

    Those of a state that share a label get a new variable each, `step1`, `step2`, ...
    """
    kept = _variables(move.label for move in timed.transitions)
    prefix = "step"
    while any(name.startswith(prefix) for name in kept):
        prefix += "_"
    moves = []
    for leaving in timed.leaving():
        labels = [move.label for move in leaving]
        for number, move in enumerate(leaving, 1):
            alone = labels.count(move.label) == 1
            moves.append(move if alone else replace(move, label=move.label | {f"{prefix}{number}"}))
    return MarkedTransitions(replace(timed, transitions=tuple(moves)), tuple(sorted(kept)))


def _variables(labels: Iterable[Label]) -> frozenset[str]:
    return frozenset[str]().union(*labels)


def of_clock(timed: TimedCEA, clock: int) -> TimedCEA:
    """The automaton of one clock that asks and resets nothing else (proof of Proposition 4.4)."""
    moves = tuple(
        replace(
            move,
            condition=renamed(about(move.condition, clock), {clock: 0}),
            resets=frozenset({0} if clock in move.resets else ()),
        )
        for move in timed.transitions
    )
    return replace(timed, n_clocks=1, transitions=moves)


def is_reset_distinct(timed: TimedCEA) -> bool:
    """Whether no transition both asks the clock and resets it."""
    return not any(move.resets and move.condition != ALWAYS for move in timed.transitions)


def reset_distinct(timed: TimedCEA) -> tuple[TimedCEA, TimedCEA]:
    """Two reset-distinct automata whose runs in common are those of one (Lemma A.4).

    The first asks the clock after every second reset, the second after the others. So a transition that both
    asks and resets does one of the two in each of them. The lemma's second automaton resets, in phase 1, on
    the transitions that reset nothing: a slip, mended here.

    Parameters
    ----------
    timed : TimedCEA
        Strongly deterministic, with one clock.
    """
    n = timed.n_states
    parts: list[TimedCEA] = []
    for asking in (0, 1):  # the phase in which the clock is asked, and which a reset ends
        moves = []
        for move in timed.transitions:
            for phase in (0, 1):
                asks, ends = phase == asking, bool(move.resets)
                moves.append(
                    replace(
                        move,
                        source=move.source + phase * n,
                        target=move.target + (1 - phase if ends else phase) * n,
                        condition=move.condition if asks else ALWAYS,
                        resets=move.resets if ends and not asks else frozenset(),
                    )
                )
        final = timed.final | {state + n for state in timed.final}
        parts.append(TimedCEA(2 * n, timed.n_clocks, timed.initial, final, tuple(moves)))
    return timed_trim(parts[0]), timed_trim(parts[1])
