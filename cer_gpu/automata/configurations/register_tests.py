"""Numbers the tests of registers that a step of a shape needs, and the values that are computed for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cer_gpu.automata.configurations.formulas import SteppedAutomaton
from cer_gpu.automata.configurations.registers import COUNTED, Fold
from cer_gpu.automata.configurations.slots import NOW, Slot
from cer_gpu.automata.configurations.value_words import OPERAND, Code, HeldWords, Word, bits_of
from cer_gpu.language import tree
from cer_gpu.language.leaves import aggregates
from cer_gpu.language.printer import to_text

TURNED = {">": "<", ">=": "<="}
"""Operators that are asked with their sides exchanged."""


class RegisterTests:
    """The tests of registers, numbered behind those of clocks.

    Parameters
    ----------
    automaton : Stepped
    held : Held

    Attributes
    ----------
    all : list of (str, int, int)
        Each test: "known" or one of `= != < <=`, and the columns of the values that it reads.
    turned : list of bool
        For each comparison, whether its sides are exchanged.
    programs : list of Code
        The programs, by number.
    spans : int
        The test whether a window over an attribute holds.
    joints : int
        The test of the values of expressions over several variables.
    """

    def __init__(self, automaton: SteppedAutomaton, held: HeldWords) -> None:
        self._first = len(automaton.tests.all)
        self._of_columns = 3 * len(automaton.columns)
        self._columns = len(automaton.columns)
        self._comparisons = automaton.comparisons
        self.held = held
        self.programs: list[Code] = []
        self._program: dict[Code, int] = {}
        self._measures: list[int] = []
        self._worked: dict[int, int] = {}
        self._joint: dict[int, str] = {}
        self.all: list[tuple[str, int, int]] = []
        self.turned: list[bool] = []
        for column in range(len(automaton.columns)):
            self.all += [("known", column, column), ("<", column, column), ("=", column, column)]
        for one, working in zip(automaton.comparisons, held.workings, strict=True):
            if working is not None:
                self.turned.append(False)
                self.all.append(("works", 0, 0))
            elif isinstance(one.condition, tree.Comparison) and one.is_of_two:
                ((left,), (right,)) = one.columns
                op = one.condition.op
                self.turned.append(op in TURNED)
                self.all.append((TURNED[op], right, left) if op in TURNED else (op, left, right))
            else:
                self.turned.append(False)
                self.all.append(("known", 0, 0))
        self.spans = self._first + len(self.all)
        if held.spans is not None:
            self.all.append(("works", 0, 0))
        self.joints = self._first + len(self.all)
        if held.joint:
            self.all.append(("works", 0, 0))

    def worked(self, code: Code, measure: int) -> Slot:
        """The slot of a program's value.

        Parameters
        ----------
        code : tuple of (str, int)
        measure : int
            The measure of the slot that keeps it.
        """
        number = self._program.setdefault(code, len(self.programs))
        if number == len(self.programs):
            self.programs.append(code)
            self._measures.append(measure)
        return Slot(NOW - 2 - self._columns - number)

    def _word(self, value: Slot | int) -> Code:
        """A value on the stack."""
        if not isinstance(value, Slot):
            return (("CONSTANT", value),)
        number = NOW - 2 - self._columns - value
        return self.programs[number] if number >= 0 else (("LOAD", int(value)),)

    def about(self, program: int, sums: bool) -> str:
        """The operator that a program belongs to, for messages: a sum, or a comparison."""
        if program not in self._worked:
            return f"`{self._joint[program]}`"
        condition = self._comparisons[self._worked[program]].condition
        if sums and isinstance(condition, tree.Comparison):
            found = aggregates(condition)
            return to_text(next(one for one in found if one.function in ("SUM", "AVG")))
        return f"a side of `{to_text(condition)}`"

    def measure_of(self, slot: int) -> int:
        """The measure of a value of the event that is being read: a clock, 2 + its column, or a count."""
        number = NOW - slot - 2 - self._columns
        return NOW - slot if number < 0 else self._measures[number]

    def increased(self, count: Slot | int) -> Slot:
        """A count and one more."""
        if isinstance(count, Slot):
            code: Code = (*self._word(count), ("CONSTANT", 1), ("PLUS", 0))
        else:
            code = (("CONSTANT", count + 1),)
        return self.worked(code, 2 + self._columns)

    def added(self, column: int, total: tuple[Slot | int, ...], value: Slot) -> tuple[Slot | int, ...]:
        """A sum and one more; of whole numbers it has a low and a high word."""
        whole, measure = self._word_of(column) == "whole", self._measure(column)
        if not total:
            return (value, 0) if whole else (value,)
        low = (*self._word(total[0]), *self._word(value), ("SUM_LOW" if whole else "REAL_PLUS", 0))
        if not whole:
            return (self.worked(low, measure),)
        high = (*self._word(total[0]), *self._word(total[1]), *self._word(value), ("SUM_HIGH", 0))
        return self.worked(low, measure), self.worked(high, 2 + self._columns)

    def _word_of(self, column: int) -> Word:
        """The word that holds the values of a column, or of an expression over several variables."""
        return self.held.words[column] if column > COUNTED else self.held.joint[COUNTED - 1 - column].word

    def _measure(self, column: int) -> int:
        """The measure of slots with values of a column, or of an expression over several variables."""
        return 2 + column if column > COUNTED else 2 + self._columns + COUNTED - column

    def joint(self, column: int, choice: tuple[Any, ...]) -> tuple[Slot, Slot] | None:
        """The slots of the value of an expression over several variables, and of whether it is known.

        None if it is not known, since a value is null.
        """
        program = self.held.joint[COUNTED - 1 - column]
        parts = [None if value is None else self._word(value) for row in choice for value in row]
        if None in parts and not program.fills:
            return None
        code = _filled(program.code, parts)
        same = "IS_SAME" if program.word == "whole" else "REAL_IS_SAME"
        found = self.worked(code, self._measure(column)), self.worked((*code, *code, (same, 0)), 0)
        for slot in found:
            self._joint.setdefault(NOW - 2 - self._columns - slot, program.about)
        return found

    def lesser(self, column: int, one: Slot, other: Slot) -> Slot:
        """The slot that tells whether one value of such an expression is less than another."""
        less = "IS_LESS" if self._word_of(column) == "whole" else "REAL_IS_LESS"
        return self.worked((*self._word(one), *self._word(other), (less, 0)), 0)

    def asked(self, number: int, rows: tuple[Any, ...], folded: tuple[Any, ...]) -> Slot | None:
        """The slot that tells whether a comparison holds; None if it does not, since a value is null."""
        working = self.held.workings[number]
        assert working is not None
        parts = [None if value is None else self._word(value) for row in rows for value in row]
        for fold, register in zip(self._comparisons[number].folds, folded, strict=True):
            parts.append(self._aggregated(fold, register))
        if None in parts and not working.fills:
            return None
        slot = self.worked(_filled(working.code, parts), 0)
        self._worked[NOW - 2 - self._columns - slot] = number
        return slot

    def _aggregated(self, fold: Fold, register: Any) -> Code | None:
        if fold.function == "COUNT":
            return self._word(len(register) if fold.distinct else register)
        if not register:
            return None
        if fold.function not in ("SUM", "AVG"):
            return self._word(register[0])
        total, *count = register if fold.function == "AVG" else (register,)
        code = self._word(total[0])
        if len(total) > 1 and isinstance(total[1], Slot):
            code = (*code, *self._word(total[1]), ("FITS", 0))
        if not count:
            return code
        if len(total) > 1:
            code = (*code, ("TO_REAL", 0))
        return (*code, *self._word(count[0]), ("TO_REAL", 0), ("REAL_DIVIDED", 0))

    def spanned(self, first: Slot, last: Slot) -> Slot:
        """The slot that tells whether a window over an attribute holds."""
        assert self.held.spans is not None
        column, size = self.held.spans
        values = (*self._word(last), *self._word(first))
        if self.held.words[column] == "real":
            return self.worked(
                (*values, ("REAL_MINUS", 0), ("CONSTANT", bits_of(float(size))), ("REAL_IS_AT_MOST", 0)), 0
            )
        return self.worked((*values, ("CONSTANT", int(size)), ("SPANS", 0)), 0)

    def known(self, column: int) -> int:
        """Whether the event has a value in a column."""
        return self._first + 3 * column

    def less(self, column: int) -> int:
        """Whether one value of a column is less than another."""
        return self._first + 3 * column + 1

    def same(self, column: int) -> int:
        """Whether two values of a column are the same."""
        return self._first + 3 * column + 2

    def comparison(self, number: int) -> int:
        """Whether a comparison holds for two values."""
        return self._first + self._of_columns + number


def _filled(code: Code, parts: Sequence[Code | None]) -> Code:
    """Instructions with those of its operands in them; None is a null."""
    found: list[tuple[str, int]] = []
    for instruction, argument in code:
        if instruction == OPERAND:
            found += parts[argument] or (("NOTHING", 0),)
        else:
            found.append((instruction, argument))
    return tuple(found)
