"""Boolean formulas over class numbers, to which the predicates of an automaton are translated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Constant:
    """A formula that always, or never, holds."""

    value: bool


@dataclass(frozen=True, slots=True)
class Test:
    """The class on an axis is one of these."""

    axis: int
    classes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Both hold."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Disjunction:
    """One of them holds."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Complement:
    """It does not hold."""

    operand: Formula


Formula: TypeAlias = Constant | Test | Conjunction | Disjunction | Complement

FALSE, TRUE = 0, 1
"""The numbers of the constants among `Formulas`."""

Cases: TypeAlias = tuple[int, dict[int, int]]
"""A formula once the class on an axis is known: for most classes, and for each class where it differs."""


class Formulas:
    """Numbers formulas: formulas of the same structure get the same number.

    So formulas are compared by their numbers, and each is evaluated once.

    Parameters
    ----------
    sizes : sequence of int
        The number of classes of each axis.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._number: dict[tuple[object, ...], int] = {("constant", False): FALSE, ("constant", True): TRUE}
        self._made: list[tuple[object, ...]] = list(self._number)
        self._reads = [0, 0]

    def number(self, formula: Formula) -> int:
        """The number of a formula after constants are simplified away."""
        match formula:
            case Constant(value):
                return TRUE if value else FALSE
            case Test(axis, classes):
                return self._of(("test", axis, classes), 1 << axis)
            case Conjunction(left, right):
                return self._join("both", self.number(left), self.number(right))
            case Disjunction(left, right):
                return self._join("either", self.number(left), self.number(right))
            case Complement(operand):
                return self._complement(self.number(operand))

    def reads(self, number: int, axis: int) -> bool:
        """Whether a formula depends on the class on an axis."""
        return bool(self._reads[number] >> axis & 1)

    def cases(self, number: int, axis: int, known: dict[int, Cases]) -> Cases:
        """A formula for each class on an axis; `known` keeps results for one axis."""
        if not self.reads(number, axis):
            return number, {}
        found = known.get(number)
        if found is None:
            found = known[number] = self._cases(number, axis, known)
        return found

    def _cases(self, number: int, axis: int, known: dict[int, Cases]) -> Cases:
        match self._made[number]:
            case ("test", _, frozenset() as classes):
                size = self._sizes[axis]
                if 2 * len(classes) <= size:
                    return FALSE, dict.fromkeys(classes, TRUE)
                return TRUE, {one: FALSE for one in range(size) if one not in classes}
            case ("complement", int() as operand):
                most, others = self.cases(operand, axis, known)
                return self._complement(most), {one: self._complement(to) for one, to in others.items()}
            case (kind, int() as left, int() as right):
                join = partial(self._join, str(kind))
                (a, at_a), (b, at_b) = self.cases(left, axis, known), self.cases(right, axis, known)
                most = join(a, b)
                joined = {one: join(at_a.get(one, a), at_b.get(one, b)) for one in {**at_a, **at_b}}
                return most, {one: to for one, to in joined.items() if to != most}
        raise TypeError(f"formula {number} reads nothing")

    def _of(self, made: tuple[object, ...], reads: int) -> int:
        number = self._number.setdefault(made, len(self._made))
        if number == len(self._made):
            self._made.append(made)
            self._reads.append(reads)
        return number

    def _join(self, kind: str, left: int, right: int) -> int:
        """The conjunction (`both`) or disjunction (`either`) of two formulas."""
        wins, loses = (FALSE, TRUE) if kind == "both" else (TRUE, FALSE)
        if wins in (left, right):
            return wins
        if left in (loses, right):
            return right
        return (
            left if right == loses else self._of((kind, left, right), self._reads[left] | self._reads[right])
        )

    def _complement(self, operand: int) -> int:
        return (
            1 - operand
            if operand in (FALSE, TRUE)
            else self._of(("complement", operand), self._reads[operand])
        )
