"""Clock conditions of timed complex event automata, as frozen values (timed CEL paper, section 4).

A clock counts the time since it was reset last; before that it is unset. A condition on clocks is built from
checks `z ~ c` with AND and OR; as in the paper it holds only where every clock that it names is set. The
paper's constants are rationals, and so they are here: `1 ms` and `0.001 s` are one constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Bound, Interval
from cer_gpu.language.units import NANOSECONDS, exact


@dataclass(frozen=True, slots=True)
class Check:
    """`z ~ c`: the value of clock `clock` compared with a constant; `op` is one of `< <= = >= >`."""

    clock: int
    op: str
    constant: Fraction


@dataclass(frozen=True, slots=True)
class ClockConjunction:
    """The conjunction of conditions; of none, `true`."""

    parts: tuple[ClockCondition, ...]


@dataclass(frozen=True, slots=True)
class ClockDisjunction:
    """The disjunction of conditions; of none, `false`."""

    parts: tuple[ClockCondition, ...]


ClockCondition: TypeAlias = "Check | ClockConjunction | ClockDisjunction"

ALWAYS: ClockCondition = ClockConjunction(())
NEVER: ClockCondition = ClockDisjunction(())

Conjunct: TypeAlias = tuple[Check, ...]
"""Checks that hold together."""

Terms: TypeAlias = Callable[[Bound], Fraction]
"""The constant that a bound of an interval stands for."""


def in_nanoseconds(bound: Bound) -> Fraction:
    """A bound with a unit in nanoseconds; one without, as it is written."""
    return exact(bound.value) * (1 if bound.unit is None else NANOSECONDS[bound.unit])


def conjunction(*conditions: ClockCondition) -> ClockCondition:
    """All of the conditions, flat and without repetitions; `false` if one is."""
    parts: dict[ClockCondition, None] = {}
    for condition in conditions:
        if condition == NEVER:
            return NEVER
        parts.update(
            dict.fromkeys(condition.parts if isinstance(condition, ClockConjunction) else (condition,))
        )
    return next(iter(parts)) if len(parts) == 1 else ClockConjunction(tuple(parts))


def disjunction(*conditions: ClockCondition) -> ClockCondition:
    """One of the conditions, flat and without repetitions."""
    parts: dict[ClockCondition, None] = {}
    for condition in conditions:
        parts.update(
            dict.fromkeys(condition.parts if isinstance(condition, ClockDisjunction) else (condition,))
        )
    return next(iter(parts)) if len(parts) == 1 else ClockDisjunction(tuple(parts))


def lies_in(clock: int, interval: Interval, terms: Terms = in_nanoseconds) -> ClockCondition:
    """The condition that the value of a clock lies in an interval: the paper's gamma_I."""
    low, high = interval.low, interval.high
    if low is not None and high is not None and not (low.open or high.open) and terms(low) == terms(high):
        return Check(clock, "=", terms(low))
    found: list[ClockCondition] = []
    if low is not None:
        found.append(Check(clock, ">" if low.open else ">=", terms(low)))
    if high is not None:
        found.append(Check(clock, "<" if high.open else "<=", terms(high)))
    return conjunction(*found)


def holds_zero(interval: Interval, terms: Terms = in_nanoseconds) -> bool:
    """Whether 0 lies in an interval."""
    return satisfied(lies_in(0, interval, terms), {0: 0})


def clocks_of(condition: ClockCondition) -> frozenset[int]:
    """The clocks that a condition names."""
    if isinstance(condition, Check):
        return frozenset({condition.clock})
    return frozenset[int]().union(*map(clocks_of, condition.parts))


def constants_of(condition: ClockCondition) -> frozenset[tuple[int, Fraction]]:
    """Every (clock, constant) that a condition compares."""
    if isinstance(condition, Check):
        return frozenset({(condition.clock, condition.constant)})
    return frozenset[tuple[int, Fraction]]().union(*map(constants_of, condition.parts))


def compared(value: Any, op: str, constant: Fraction) -> bool:
    """Whether `value ~ constant`."""
    match op:
        case "<":
            return bool(value < constant)
        case "<=":
            return bool(value <= constant)
        case "=":
            return bool(value == constant)
        case ">=":
            return bool(value >= constant)
    return bool(value > constant)


def satisfied(condition: ClockCondition, values: Mapping[int, Any]) -> bool:
    """Whether a clock valuation satisfies a condition; clocks that `values` lacks are unset."""
    return clocks_of(condition) <= values.keys() and _satisfied(condition, values)


def _satisfied(condition: ClockCondition, values: Mapping[int, Any]) -> bool:
    match condition:
        case Check(clock, op, constant):
            return compared(values[clock], op, constant)
        case ClockConjunction(parts):
            return all(_satisfied(part, values) for part in parts)
        case ClockDisjunction(parts):
            return any(_satisfied(part, values) for part in parts)


def renamed(condition: ClockCondition, name: Mapping[int, int]) -> ClockCondition:
    """The condition with other clocks; those that `name` lacks stay."""
    match condition:
        case Check(clock, op, constant):
            return Check(name.get(clock, clock), op, constant)
        case ClockConjunction(parts):
            return conjunction(*(renamed(part, name) for part in parts))
        case ClockDisjunction(parts):
            return disjunction(*(renamed(part, name) for part in parts))


def checks_of(condition: ClockCondition) -> Conjunct:
    """The checks of a condition without disjunctions.

    Raises
    ------
    ValueError
        If it has one.
    """
    match condition:
        case Check():
            return (condition,)
        case ClockConjunction(parts):
            return tuple(check for part in parts for check in checks_of(part))
    raise ValueError(f"{condition} has a disjunction")


def disjuncts(condition: ClockCondition) -> tuple[Conjunct, ...]:
    """The disjunctive normal form (Lemma A.1): conjunctions of checks, one of which has to hold.

    A clock of the whole condition has to be set for each of them, so a conjunction that does not name it
    gets `z >= 0`. Conjunctions that no valuation satisfies are left out.
    """
    named = clocks_of(condition)
    found: dict[Conjunct, None] = {}
    for conjunct in _disjuncts(condition):
        checks = tuple(dict.fromkeys(conjunct))
        missing = sorted(named - {check.clock for check in checks})
        checks += tuple(Check(clock, ">=", Fraction(0)) for clock in missing)
        if ranges(checks) is not None:
            found.setdefault(checks)
    return tuple(found)


def _disjuncts(condition: ClockCondition) -> tuple[Conjunct, ...]:
    match condition:
        case Check():
            return ((condition,),)
        case ClockConjunction(parts):
            return tuple(
                tuple(check for conjunct in chosen for check in conjunct)
                for chosen in product(*map(_disjuncts, parts))
            )
        case ClockDisjunction(parts):
            return tuple(conjunct for part in parts for conjunct in _disjuncts(part))


@dataclass(frozen=True, slots=True)
class ClockRange:
    """The values of one clock between two ends, each of them in or out; `high` None is unbounded."""

    low: Fraction = Fraction(0)
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False

    def meet(self, check: Check) -> ClockRange | None:
        """The values that also satisfy a check of the clock; None if there are none."""
        low, low_open, high, high_open = self.low, self.low_open, self.high, self.high_open
        constant = check.constant
        if check.op in (">", ">=", "="):
            low, low_open = max((low, low_open), (constant, check.op == ">"))
        if check.op in ("<", "<=", "=") and (
            high is None or (constant, check.op != "<") < (high, not high_open)
        ):
            high, high_open = constant, check.op == "<"
        if high is not None and (low > high or (low == high and (low_open or high_open))):
            return None
        return ClockRange(low, low_open, high, high_open)

    def condition(self, clock: int) -> ClockCondition:
        """The condition that the value of a clock lies here; `true` for all values."""
        if self.high is not None and self.low == self.high:
            return Check(clock, "=", self.low)
        found: list[ClockCondition] = []
        if self.low > 0 or self.low_open:
            found.append(Check(clock, ">" if self.low_open else ">=", self.low))
        if self.high is not None:
            found.append(Check(clock, "<" if self.high_open else "<=", self.high))
        return conjunction(*found)

    def sample(self) -> Fraction:
        """A value that lies here."""
        if not self.low_open:
            return self.low
        return self.low + 1 if self.high is None else (self.low + self.high) / 2


def ranges(checks: Iterable[Check]) -> dict[int, ClockRange] | None:
    """For each clock the values that satisfy all checks of it; None if a clock has none."""
    found: dict[int, ClockRange] = {}
    for check in checks:
        met = found.get(check.clock, ClockRange()).meet(check)
        if met is None:
            return None
        found[check.clock] = met
    return found


def satisfiable(condition: ClockCondition) -> bool:
    """Whether some valuation satisfies a condition."""
    return bool(disjuncts(condition))


def elementary(constants: Iterable[Fraction]) -> tuple[ClockRange, ...]:
    """The regions of one clock: `[0, c1)`, `{c1}`, `(c1, c2)`, ..., ascending.

    Every check against one of the constants holds for all values of a region or for none.
    """
    found: list[ClockRange] = []
    low, low_open = Fraction(0), False
    for constant in sorted(set(constants)):
        if constant > low or low_open:
            found.append(ClockRange(low, low_open, constant, True))
        found.append(ClockRange(constant, False, constant, False))
        low, low_open = constant, True
    return (*found, ClockRange(low, low_open, None, False))


def scale(constants: Iterable[Fraction]) -> int:
    """The least whole number that makes all constants whole (proof of Theorem 5.4)."""
    return math.lcm(*(constant.denominator for constant in constants))
