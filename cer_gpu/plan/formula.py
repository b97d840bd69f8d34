"""Boolean formulas over class numbers: what the predicates of an automaton become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


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


def conjunction(left: Formula, right: Formula) -> Formula:
    """Both, simplified."""
    if Constant(False) in (left, right):
        return Constant(False)
    if left == Constant(True) or left == right:
        return right
    return left if right == Constant(True) else Conjunction(left, right)


def disjunction(left: Formula, right: Formula) -> Formula:
    """One of them, simplified."""
    if Constant(True) in (left, right):
        return Constant(True)
    if left == Constant(False) or left == right:
        return right
    return left if right == Constant(False) else Disjunction(left, right)


def complement(operand: Formula) -> Formula:
    """Not the operand, simplified."""
    return Constant(not operand.value) if isinstance(operand, Constant) else Complement(operand)


def simplified(formula: Formula) -> Formula:
    """The formula without constants inside."""
    match formula:
        case Conjunction(left, right):
            return conjunction(simplified(left), simplified(right))
        case Disjunction(left, right):
            return disjunction(simplified(left), simplified(right))
        case Complement(operand):
            return complement(simplified(operand))
    return formula


def reads(formula: Formula, axis: int) -> bool:
    """Whether a formula depends on the class on an axis."""
    match formula:
        case Test(index, _):
            return index == axis
        case Conjunction(left, right) | Disjunction(left, right):
            return reads(left, axis) or reads(right, axis)
        case Complement(operand):
            return reads(operand, axis)
    return False


def assign(formula: Formula, axis: int, number: int, memo: dict[tuple[Formula, int], Formula]) -> Formula:
    """What a formula becomes once the class on an axis is known; `memo` serves one axis."""
    key = (formula, number)
    known = memo.get(key)
    if known is None:
        known = memo[key] = _assigned(formula, axis, number, memo)
    return known


def _assigned(formula: Formula, axis: int, number: int, memo: dict[tuple[Formula, int], Formula]) -> Formula:
    match formula:
        case Test(index, classes) if index == axis:
            return Constant(number in classes)
        case Conjunction(left, right):
            return conjunction(assign(left, axis, number, memo), assign(right, axis, number, memo))
        case Disjunction(left, right):
            return disjunction(assign(left, axis, number, memo), assign(right, axis, number, memo))
        case Complement(operand):
            return complement(assign(operand, axis, number, memo))
    return formula
