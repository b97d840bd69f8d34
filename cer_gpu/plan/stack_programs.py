"""Turns a comparison of several values into typed stack instructions: `StackTyping.working`.

`a.v + b.v > 2 * c.v` over whole numbers becomes

    a.v  b.v  PLUS  2  c.v  TIMES  IS_LESS (of the two sides exchanged)

and over float64 values the same with `REAL_PLUS`. Whole numbers compare with floats by value, decimals are
whole numbers of their last digit, times whole numbers of the finest unit beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from cer_gpu.automata.configurations.comparisons import JointValue, column_of, owner_of
from cer_gpu.automata.configurations.registers import COUNTED, ComparedEvents
from cer_gpu.automata.configurations.value_words import (
    OPERAND,
    TEXT,
    WITHIN_TEXTS,
    Code,
    ComparisonProgram,
    JointProgram,
    Word,
    bits_of,
)
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes
from cer_gpu.language.printer import to_text
from cer_gpu.language.schema import ValueType
from cer_gpu.language.units import NANOSECONDS, digits_of, exact
from cer_gpu.language.walk import parts
from cer_gpu.plan.constants import ConstantReader, Measure

DIGITS = 8
"""Decimals with more digits than that behind the point leave too few before it in 64 bits."""

WHOLE = range(-(2**63), 2**63)

_TURNED = {">": "<", ">=": "<="}


class BeyondWordsError(Exception):
    """No program over words of 64 bits can work out a comparison; the message says why."""


class StackKind(NamedTuple):
    """The type of a value on the stack.

    Attributes
    ----------
    name : str
        "number", "time", "span" or "text".
    real : bool
    one : Fraction
        The value of the whole number 1: for decimals one unit of the last digit, for times in nanoseconds.
    exact : bool
        Whether numbers beside it are read as written, which holds for decimals.
    """

    name: str
    real: bool = False
    one: Fraction = Fraction(1)
    exact: bool = False


class StackPart(NamedTuple):
    """A part of a comparison: instructions, or a constant.

    Attributes
    ----------
    kind : StackKind
    code : tuple of (str, int)
    constant : int, float, Fraction, str or None
        In place of instructions.
    """

    kind: StackKind
    code: Code = ()
    constant: int | float | Fraction | str | None = None


NUMBER = StackKind("number")
REAL = StackKind("number", True)


class StackTyping:
    """Works out comparisons by the types of their columns.

    Parameters
    ----------
    reader : ConstantReader
    columns : sequence of Expression
        The values of an event that comparisons read.
    """

    def __init__(self, reader: ConstantReader, columns: Sequence[tree.Expression]) -> None:
        self._reader = reader
        self._columns = list(columns)
        self.texts: list[str] = []
        self._joint: list[StackKind] = []

    def joint(self, value: JointValue) -> JointProgram:
        """An expression over several variables as instructions; called for each in their order.

        Raises
        ------
        BeyondWordsError
            When there are none.
        """
        owners = tuple(part.owner for part in value.parts)
        columns = tuple(part.columns for part in value.parts)
        read = ComparedEvents(
            tree.Comparison("=", value.expression, value.expression), owners, columns, (), ()
        )
        part = self._part(value.expression, read)
        text = to_text(value.expression)
        if part.kind.name == "text":
            raise BeyondWordsError(f"`{text}` is a text")
        self._joint.append(part.kind)
        return JointProgram(part.code, word_of(part.kind), _fills(value.expression), text)

    def kind_of(self, column: int) -> StackKind:
        """The type of the values of a column.

        Raises
        ------
        BeyondWordsError
            When the type does not fit a word of 64 bits.
        """
        try:
            measure = self._reader.type_of(self._columns[column])
        except KeyError:
            return REAL  # nothing is known of the data yet
        return kind_of_measure(measure, to_text(self._columns[column]))

    def kinds_of(self, *columns: int) -> tuple[StackKind | None, ...]:
        """As `kind_of`, for several columns; None for a type that is held by its rank only."""
        found: list[StackKind | None] = []
        for column in columns:
            try:
                found.append(self.kind_of(column))
            except BeyondWordsError:
                found.append(None)
        return tuple(found)

    def working(self, comparison: ComparedEvents) -> ComparisonProgram:
        """A comparison as instructions.

        Raises
        ------
        BeyondWordsError
            When there are none.
        """
        condition = comparison.condition
        assert isinstance(condition, tree.Comparison)
        left, right = (self._part(side, comparison) for side in (condition.left, condition.right))
        op = condition.op
        if op in _TURNED:
            left, right, op = right, left, _TURNED[op]
        return ComparisonProgram(self._compared(op, left, right), _fills(condition.left, condition.right))

    # ------------------------------------------------------------------------------------------ parts

    def _part(self, part: tree.Expression, comparison: ComparedEvents) -> StackPart:
        found = self._operand(part, comparison)
        if found is not None:
            return found
        match part:
            case tree.Number(value=value):
                return StackPart(StackKind("number", isinstance(value, float)), (), value)
            case tree.Boolean(value=value):
                return StackPart(NUMBER, (), int(value))
            case tree.Text(value=text):
                return StackPart(StackKind("text"), (), text)
            case tree.Quantity(value=size, unit=unit):
                return StackPart(StackKind("span"), (), exact(size) * NANOSECONDS[unit])
            case tree.Negation(operand=operand):
                return _negated(self._part(operand, comparison))
            case tree.Arithmetic(op=op, left=left, right=right):
                return self._arithmetic(op, self._part(left, comparison), self._part(right, comparison))
            case tree.Call(function=function, arguments=arguments):
                return self._called(function, [self._part(one, comparison) for one in arguments])
        raise BeyondWordsError(f"`{to_text(part)}`")

    def _operand(self, part: tree.Expression, comparison: ComparedEvents) -> StackPart | None:
        """The register or the value that a part is."""
        if isinstance(part, tree.Aggregate):
            for place, fold in enumerate(comparison.folds):
                if part == fold.aggregate:
                    at = sum(map(len, comparison.columns)) + place
                    return StackPart(self._kind_of_fold(part, fold.function, fold.column), ((OPERAND, at),))
                if part.variable is None or fold.parts:
                    continue
                column = -1 if part.argument is None else self._columns.index(column_of(part.argument))
                wanted = part.variable, part.prior, part.function, part.distinct, column
                if (*fold.owner, fold.function, fold.distinct, fold.column) == wanted:
                    at = sum(map(len, comparison.columns)) + place
                    return StackPart(self._kind_of_fold(part, fold.function, column), ((OPERAND, at),))
        if len({(one.variable, one.prior) for one in attributes(part)}) != 1:
            return None
        plain = column_of(part)
        if plain not in self._columns or owner_of(part) not in comparison.choices:
            return None
        choice, column = comparison.choices.index(owner_of(part)), self._columns.index(plain)
        if column not in comparison.columns[choice]:
            return None
        at = sum(map(len, comparison.columns[:choice])) + comparison.columns[choice].index(column)
        return StackPart(self.kind_of(column), ((OPERAND, at),))

    def _kind_of_fold(self, part: tree.Aggregate, function: str, column: int) -> StackKind:
        if function == "COUNT":
            return NUMBER
        kind = self.kind_of(column) if column >= 0 else self._joint[COUNTED - 1 - column]
        if function == "AVG":
            if kind.name != "number" or kind.exact:
                raise BeyondWordsError(f"`{to_text(part)}` is an average of decimals or spans of time")
            return REAL
        return kind

    def _arithmetic(self, op: str, left: StackPart, right: StackPart) -> StackPart:
        names = {left.kind.name, right.kind.name}
        if names <= {"number"}:
            return self._of_numbers(op, left, right)
        if op in "+-" and names <= {"time", "span"}:
            left, right = _alike(left, right)
            both = left.kind.name == right.kind.name
            name = "span" if both else "time"
            return StackPart(left.kind._replace(name=name), _both(left, right, _WHOLE[op]))
        raise BeyondWordsError(f"`{op}` of a {left.kind.name} and a {right.kind.name}")

    def _of_numbers(self, op: str, left: StackPart, right: StackPart) -> StackPart:
        if left.kind.exact or right.kind.exact:
            if op in "+-":
                left, right = _alike(left, right)
                return StackPart(left.kind, _both(left, right, _WHOLE[op]))
            if op == "*":
                left, right = _as_decimal(left), _as_decimal(right)
                kind = left.kind._replace(one=left.kind.one * right.kind.one)
                return StackPart(kind, _both(left, right, _WHOLE[op]))
            raise BeyondWordsError(f"`{op}` of a decimal")
        if op == "/" or left.kind.real or right.kind.real:
            return StackPart(REAL, _both(_real(left), _real(right), _REAL[op]))
        return StackPart(NUMBER, _both(left, right, _WHOLE[op]))

    def _called(self, function: str, parts: list[StackPart]) -> StackPart:
        if function in WITHIN_TEXTS and all(part.kind.name == "text" for part in parts):
            around, inside = map(self._text, parts)
            return StackPart(NUMBER, (*around, *inside, (WITHIN_TEXTS[function], 0)))
        if any(part.kind.name == "text" for part in parts):
            raise BeyondWordsError(f"{function} of a text")
        if function == "COALESCE":
            if any(part.kind.real and part.constant is None for part in parts[:-1]):
                # Of what is held a NaN is like a null, and COALESCE replaces only the latter.
                raise BeyondWordsError("COALESCE of floats of several events")
            found = parts[0]
            for other in parts[1:]:
                found, other = _alike(found, other)
                found = StackPart(found.kind, _both(found, other, "COALESCED"))
            return found
        if function not in ("ABS", *_ROUNDS):
            raise BeyondWordsError(f"{function} of values of several events")
        (part,) = parts
        if function == "ABS":
            instruction = "REAL_SIZE" if part.kind.real else "SIZE"
            return StackPart(part.kind, (*_code(part), (instruction, 0)))
        if part.kind.exact or part.kind.name != "number":
            raise BeyondWordsError(f"{function} of values of several events")
        return StackPart(NUMBER, (*_code(part), (_ROUNDS[function], 0))) if part.kind.real else part

    # ------------------------------------------------------------------------------------ comparisons

    def _compared(self, op: str, left: StackPart, right: StackPart) -> Code:
        if left.kind.name != right.kind.name:
            raise BeyondWordsError(f"a {left.kind.name} with a {right.kind.name}")
        if left.kind.name == "text":
            return (*self._text(left), *self._text(right), (_COMPARE[op], 0))
        if left.kind.real == right.kind.real:
            if left.kind.real:
                return _both(left, right, _REAL_COMPARE[op])
            return _both(*_alike(left, right), _COMPARE[op])
        if left.kind.exact or right.kind.exact:
            if left.constant is None and right.constant is None:
                raise BeyondWordsError("a decimal with a float")
            return _both(*_alike(left, right), _COMPARE[op])
        if left.kind.real:
            # What BESIDE_REAL gives is the sign of right - left.
            return (
                ("CONSTANT", 0), *_code(right), *_code(left), ("BESIDE_REAL", 0), (_COMPARE[op], 0),
            )  # fmt: skip
        return (*_code(left), *_code(right), ("BESIDE_REAL", 0), ("CONSTANT", 0), (_COMPARE[op], 0))

    def _text(self, part: StackPart) -> Code:
        if part.constant is None:
            return part.code
        assert isinstance(part.constant, str)
        if part.constant not in self.texts:
            self.texts.append(part.constant)
        return ((TEXT, self.texts.index(part.constant)),)


def word_of(kind: StackKind) -> Word:
    """The word that holds a value."""
    if kind.name == "text":
        return "rank"
    return "real" if kind.real else "whole"


def kind_of_measure(measure: Measure, about: str) -> StackKind:
    """The type on the stack of values of a type.

    Raises
    ------
    BeyondWordsError
        When the type does not fit a word of 64 bits.
    """
    match measure.type:
        case ValueType.FLOAT64:
            return REAL
        case ValueType.INT64 | ValueType.BOOL:
            return NUMBER
        case ValueType.STRING:
            return StackKind("text")
        case ValueType.TIMESTAMP:
            return StackKind("time", False, Fraction(NANOSECONDS[measure.unit or "ns"]))
        case ValueType.DURATION:
            return StackKind("span", False, Fraction(NANOSECONDS[measure.unit or "ns"]))
    digits = digits_of(measure.unit) or 0
    if digits > DIGITS:
        raise BeyondWordsError(f"decimals with {digits} digits after the point, of `{about}`")
    return StackKind("number", False, Fraction(10) ** -digits, True)


_ROUNDS = {"FLOOR": "DOWN", "CEIL": "UP", "ROUND": "NEAREST"}
_WHOLE = {"+": "PLUS", "-": "MINUS", "*": "TIMES", "%": "REST"}
_REAL = {
    "+": "REAL_PLUS", "-": "REAL_MINUS", "*": "REAL_TIMES", "/": "REAL_DIVIDED", "%": "REAL_REST",
}  # fmt: skip
_COMPARE = {"<": "IS_LESS", "<=": "IS_AT_MOST", "=": "IS_SAME", "!=": "IS_OTHER"}
_REAL_COMPARE = {
    "<": "REAL_IS_LESS", "<=": "REAL_IS_AT_MOST", "=": "REAL_IS_SAME", "!=": "REAL_IS_OTHER",
}  # fmt: skip


def _fills(*sides: tree.Expression) -> bool:
    """Whether COALESCE stands in some expressions."""
    return any(
        _fills(*parts(side)) or (isinstance(side, tree.Call) and side.function == "COALESCE")
        for side in sides
        if not isinstance(side, tree.Aggregate)
    )


def _code(part: StackPart) -> Code:
    """The instructions of a part."""
    if part.constant is None:
        return part.code
    assert not isinstance(part.constant, str)
    if part.kind.real:
        return (("CONSTANT", bits_of(float(part.constant))),)
    value = Fraction(part.constant) / (part.kind.one if part.kind.exact or part.kind.name != "number" else 1)
    if value.denominator != 1 or int(value) not in WHOLE:
        raise BeyondWordsError("a constant that is no whole number of 64 bits")
    return (("CONSTANT", int(value)),)


def _negated(part: StackPart) -> StackPart:
    if part.constant is not None and not isinstance(part.constant, str):
        return part._replace(constant=-part.constant)
    instruction = "REAL_OPPOSITE" if part.kind.real else "OPPOSITE"
    return StackPart(part.kind, (*part.code, (instruction, 0)))


def _both(left: StackPart, right: StackPart, instruction: str) -> Code:
    return (*_code(left), *_code(right), (instruction, 0))


def _real(part: StackPart) -> StackPart:
    """A number as a float."""
    if part.constant is not None:
        try:
            return StackPart(REAL, (), float(part.constant))
        except OverflowError:
            raise BeyondWordsError("a constant beyond float64") from None
    return part if part.kind.real else StackPart(REAL, (*part.code, ("TO_REAL", 0)))


def _as_decimal(part: StackPart) -> StackPart:
    """A number beside a decimal as one, exactly as it is written."""
    if part.kind.exact:
        return part
    if part.constant is None:
        if part.kind.real:
            raise BeyondWordsError("a decimal with a float")
        return part._replace(kind=part.kind._replace(exact=True))
    assert not isinstance(part.constant, str)
    value, digits = exact(part.constant) if isinstance(part.constant, (int, float)) else part.constant, 0
    while (value * 10**digits).denominator != 1:
        digits += 1
        if digits > 2 * DIGITS:
            raise BeyondWordsError("a constant of many digits with a decimal")
    return StackPart(StackKind("number", False, Fraction(10) ** -digits, True), (), value)


def _alike(left: StackPart, right: StackPart) -> tuple[StackPart, StackPart]:
    """Two parts in one unit."""
    if left.kind.exact or right.kind.exact:
        left, right = _as_decimal(left), _as_decimal(right)
    elif left.kind.real or right.kind.real:
        return _real(left), _real(right)
    elif left.kind.name == "number":
        return left, right
    elif left.constant is not None or right.constant is not None:
        # Nanoseconds that are written, in the largest unit that measures both.
        left, right = _measured(left), _measured(right)
    one = min(left.kind.one, right.kind.one)
    return _scaled(left, one), _scaled(right, one)


def _measured(part: StackPart) -> StackPart:
    """A constant of time in the largest unit of which it is a whole number."""
    if part.constant is None:
        return part
    value = part.constant
    for unit in sorted(set(NANOSECONDS.values()) & _UNITS, reverse=True):
        if (Fraction(value) / unit).denominator == 1:
            return part._replace(kind=part.kind._replace(one=Fraction(unit)))
    raise BeyondWordsError("a part of a nanosecond")


_UNITS = {NANOSECONDS[unit] for unit in ("s", "ms", "us", "ns")}
"""The units in which columns of times are."""


def _scaled(part: StackPart, one: Fraction) -> StackPart:
    """A part in a finer unit."""
    times = part.kind.one / one
    kind = part.kind._replace(one=one)
    if part.constant is not None or times == 1:
        return part._replace(kind=kind)
    if times.denominator != 1:
        raise BeyondWordsError("units of which none is a multiple of the other")
    return StackPart(kind, (*part.code, ("CONSTANT", int(times)), ("TIMES", 0)))
