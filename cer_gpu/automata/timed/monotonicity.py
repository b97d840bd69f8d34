"""Recognises deterministic monotonic timed CEA with one clock, and brings them into their form (section 6).

All conditions of such an automaton are `z <= c`, or all are `z >= c`. Determinisation also makes conditions
of the other kind. For `T ;[<= 1 s] T ; H`, where the second T is not marked, it has a transition for `z <= 1
s` and one for `z > 1 s`. But the state that the second one leads to accepts nothing any more, so it may be
left out. This is found out by computing which states can still accept with which values of the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from cer_gpu.automata.cea import DeterministicCEA, Step
from cer_gpu.automata.timed.clocks import ALWAYS, ClockCondition, constants_of, elementary, satisfied
from cer_gpu.automata.timed.subsets import DeterministicTimedCEA, TimedStep
from cer_gpu.frozen_dataclass import dataclass

RESET = "\0reset"
"""What the label of a transition of `MonotonicCEA.automaton` has if it resets the clock."""

CHECK = "\0check "
"""What it begins with, before the number of a bound, if it asks for the clock."""


class ClockBound(NamedTuple):
    """`z <= constant` or `z >= constant`; `open`: `<` or `>`."""

    constant: Fraction
    open: bool


@dataclass(frozen=True, slots=True)
class MonotonicCEA:
    """A deterministic monotonic timed CEA with one clock.

    Attributes
    ----------
    automaton : DeterministicCEA
        Its labels also say what a transition asks and resets.
    bounds : tuple of ClockBound
        Those of its checks.
    upper : bool
        Whether all checks are `z <= c`; else all are `z >= c`.
    """

    automaton: DeterministicCEA
    bounds: tuple[ClockBound, ...]
    upper: bool


class NotMonotonicError(ValueError):
    """A deterministic timed CEA is not monotonic, or has several clocks."""


class _Ways(NamedTuple):
    """Conditions that a step may have: `always`, or a bound from above or below; None if it may not."""

    always: bool
    at_most: ClockBound | None
    at_least: ClockBound | None


def monotonic(found: DeterministicTimedCEA) -> MonotonicCEA:
    """The monotonic form of a deterministic timed CEA with one clock.

    Parameters
    ----------
    found : DeterministicTimedCEA
        Nothing enters its initial state.

    Raises
    ------
    NotMonotonicError
        When it has none; the message is a reason that can be shown.
    """
    if found.n_clocks != 1:
        raise NotMonotonicError(f"it needs {found.n_clocks} clocks")
    regions = _Regions(found)
    live: dict[tuple[int, int, int], list[TimedStep]] = {}
    for step in found.steps:
        if regions.live(step):
            live.setdefault((step.source, step.symbol, step.label), []).append(step)
    if any(len(steps) > 1 for steps in live.values()):
        raise NotMonotonicError("what an event leads to depends on how long ago the clock was reset")
    steps = [steps[0] for steps in live.values()]
    ways = [regions.ways(step) for step in steps]
    for upper in (True, False):
        chosen = [None if way.always else way.at_most if upper else way.at_least for way in ways]
        if all(way.always or bound is not None for way, bound in zip(ways, chosen, strict=True)):
            return _formed(found, steps, chosen, upper)
    raise NotMonotonicError("its intervals bound the clock from above and from below")


def _formed(
    found: DeterministicTimedCEA, steps: Sequence[TimedStep], chosen: Sequence[ClockBound | None], upper: bool
) -> MonotonicCEA:
    bounds = tuple(sorted({bound for bound in chosen if bound is not None}))
    number = {bound: place for place, bound in enumerate(bounds)}
    named = []
    for step, bound in zip(steps, chosen, strict=True):
        more = {RESET} if step.resets else set()
        if bound is not None:
            more.add(f"{CHECK}{number[bound]}")
        named.append((step, found.labels[step.label] | more))
    labels = tuple(sorted({frozenset[str](), *(label for _, label in named)}, key=sorted))
    place = {label: number for number, label in enumerate(labels)}
    rows = sorted((step.symbol, step.source, place[label], step.target) for step, label in named)
    moves = tuple(Step(source, symbol, label, target) for symbol, source, label, target in rows)
    return MonotonicCEA(
        DeterministicCEA(found.n_states, found.n_symbols, labels, moves, found.final), bounds, upper
    )


class _Regions:
    """What can still be accepted from a state with the clock in a region."""

    def __init__(self, found: DeterministicTimedCEA) -> None:
        self._final = found.final
        self._ranges = elementary(
            constant for step in found.steps for _, constant in constants_of(step.condition)
        )
        self._holding: dict[ClockCondition, frozenset[int]] = {}
        self._useful = [[False] * len(self._ranges) for _ in range(found.n_states)]
        changed = True
        while changed:
            changed = False
            for step in found.steps:
                reached = max(self.live(step), default=-1)
                row = self._useful[step.source]
                for region in range(reached + 1):
                    changed |= not row[region]
                    row[region] = True

    def holding(self, condition: ClockCondition) -> frozenset[int]:
        """The regions in which a condition holds."""
        if condition not in self._holding:
            self._holding[condition] = frozenset(
                place
                for place, one in enumerate(self._ranges)
                if condition == ALWAYS or satisfied(condition, {0: one.sample()})
            )
        return self._holding[condition]

    def accepts(self, step: TimedStep, region: int) -> bool:
        """Whether a run that takes a step in a region may be accepted, there or later."""
        after = 0 if step.resets else region
        return step.target in self._final or self._useful[step.target][after]

    def live(self, step: TimedStep) -> list[int]:
        """The regions in which a step leads to acceptance."""
        return [region for region in sorted(self.holding(step.condition)) if self.accepts(step, region)]

    def ways(self, step: TimedStep) -> _Ways:
        """The conditions that a step may have: where its own does not hold, taking it must lead nowhere."""
        live = self.live(step)
        count = len(self._ranges)
        wrong = [region for region in range(count) if region not in live and self.accepts(step, region)]
        if not wrong:
            return _Ways(True, None, None)
        at_most = at_least = None
        if min(wrong) > live[-1]:
            last = self._ranges[live[-1]]
            assert last.high is not None
            at_most = ClockBound(last.high, last.high_open)
        if max(wrong) < live[0]:
            first = self._ranges[live[0]]
            at_least = ClockBound(first.low, first.low_open)
        return _Ways(False, at_most, at_least)


def whole(bounds: Sequence[ClockBound], upper: bool) -> list[int]:
    """Bounds of whole numbers as closed ones: `z < 3` is `z <= 2`."""
    if upper:
        return [
            -(-one.constant.numerator // one.constant.denominator) - 1
            if one.open
            else one.constant.numerator // one.constant.denominator
            for one in bounds
        ]
    return [
        one.constant.numerator // one.constant.denominator + 1
        if one.open
        else -(-one.constant.numerator // one.constant.denominator)
        for one in bounds
    ]


def floating(
    bounds: Sequence[ClockBound], upper: bool, next_after: Callable[[float, float], float]
) -> list[float]:
    """Bounds of float64 values as closed ones: `z < 3` is `z <=` the value before 3."""
    away = -float("inf") if upper else float("inf")
    return [next_after(float(one.constant), away) if one.open else float(one.constant) for one in bounds]
