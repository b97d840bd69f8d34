"""What the instructions of PTX compute, by the definition of its ISA, in Python's numbers.

A value is the pattern of bits of a register, as a whole number that is not negative. Nothing here is shared
with the translator that is tested with it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple


class Definition(NamedTuple):
    """An instruction on registers.

    ============  ==============================================================================
    `form`        with its modifiers: `setp.lt.s32`
    `operands`    the type of each operand: "s32", or "pred"
    `result`      the type of the result
    `meaning`     callable: from the bits of the operands to the bits of the result; None where
                  the ISA leaves it open
    ============  ==============================================================================
    """

    form: str
    operands: tuple[str, ...]
    result: str
    meaning: Callable[..., int | None]


def width(kind: str) -> int:
    """The bits of a type."""
    return 1 if kind == "pred" else int(kind[1:])


def number(bits: int, kind: str) -> int | float:
    """The number that a pattern of bits stands for."""
    wide = width(kind)
    bits &= (1 << wide) - 1
    if kind == "f64":
        return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
    if kind == "f32":
        return float(struct.unpack("<f", struct.pack("<I", bits))[0])
    return bits - (1 << wide) if kind.startswith("s") and bits >> (wide - 1) else bits


def pattern(value: float, kind: str) -> int:
    """The bits of a number, cut off at the width of the type."""
    if kind == "f64":
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if kind == "f32":
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    return int(value) & ((1 << width(kind)) - 1)


def _numeric(kind: str, compute: Callable[..., float | None], result: str = "") -> Callable[..., int | None]:
    """A meaning by numbers of a type."""

    def meaning(*operands: int) -> int | None:
        found = compute(*(number(one, kind) for one in operands))
        return None if found is None else pattern(found, result or kind)

    return meaning


def rounded(value: Fraction) -> float:
    """The nearest double, ties to even."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _exact(operation: str, left: float, right: float) -> float:
    """A sum, difference, product or quotient of doubles, rounded once."""
    special = [one for one in (left, right) if not math.isfinite(one)]
    if any(map(math.isnan, special)):
        return math.nan
    if operation == "sub":
        return _exact("add", left, -right)
    sign = math.copysign(1, left) * math.copysign(1, right)
    if operation == "add":
        if special:
            return special[0] if len({*special}) == 1 else math.nan
        if left == right == 0:
            return -0.0 if sign > 0 and math.copysign(1, left) < 0 else 0.0
        return rounded(Fraction(left) + Fraction(right))
    if operation == "mul":
        if special:
            return math.nan if 0 in (left, right) else math.copysign(math.inf, sign)
        return math.copysign(rounded(Fraction(left) * Fraction(right)), sign)
    if len(special) == 2 or left == right == 0:
        return math.nan
    if special:
        return math.copysign(math.inf if math.isinf(left) else 0.0, sign)
    if right == 0:
        return math.copysign(math.inf, sign)
    return math.copysign(rounded(Fraction(left) / Fraction(right)), sign)


def _divided(left: int, right: int) -> int | None:
    """A quotient, cut off towards zero; what a division by zero gives is not specified."""
    if right == 0:
        return None
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


def _remainder(left: int, right: int) -> int | None:
    found = _divided(left, right)
    return None if found is None else left - found * right


def _extreme(least: bool, left: float, right: float) -> float:
    """The other number where one is NaN; -0.0 is less than +0.0."""
    if math.isnan(left) or math.isnan(right):
        return right if math.isnan(left) else left
    pair = sorted((left, right), key=lambda one: (one, math.copysign(1, one)))
    return pair[0] if least else pair[1]


COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a < b or a > b,  # false for NaN
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _compared(order: str, left: float, right: float) -> bool:
    nan = left != left or right != right
    if order in ("num", "nan"):
        return nan == (order == "nan")
    if order in COMPARISONS:
        return COMPARISONS[order](left, right)
    return nan or COMPARISONS[order[:2]](left, right)  # `ltu`: or unordered


def _shifted(name: str, kind: str, value: int, by: int) -> int:
    """More than the width is as much as the width."""
    by = min(by, width(kind))
    return value << by if name == "shl" else value >> by


def _to_integer(value: float, source: str, kind: str) -> int:
    """Towards zero, and to the nearest number that there is."""
    low = -(1 << (width(kind) - 1)) if kind.startswith("s") else 0
    high = low + (1 << width(kind)) - 1
    if math.isnan(value):
        wide = source == "f64" or width(kind) == 64
        return 1 << (width(kind) - 1) if wide else 0
    if math.isinf(value):
        return low if value < 0 else high
    return min(max(math.trunc(value), low), high)


def _as_single(value: float) -> float:
    """The nearest single, ties to even."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _funnel(name: str, low: int, high: int, by: int) -> int:
    """64 bits, shifted by at most 31: the upper half to the left, the lower half to the right."""
    both = high << 32 | low
    return both << (by & 31) >> 32 if name == "l" else both >> (by & 31)


def _inserted(inserted: int, whole: int, at: int, length: int) -> int:
    mask = (1 << length) - 1 << at
    return whole & ~mask | inserted << at & mask


SIGNED, UNSIGNED, UNTYPED = ("s16", "s32", "s64"), ("u16", "u32", "u64"), ("b16", "b32", "b64")
FLOATING = ("f32", "f64")


def _integers() -> list[Definition]:
    found = []
    for kind in SIGNED + UNSIGNED:
        for name, compute in (
            ("add", lambda a, b: a + b),
            ("sub", lambda a, b: a - b),
            ("mul.lo", lambda a, b: a * b),
            ("div", _divided),
            ("rem", _remainder),
            ("min", min),
            ("max", max),
        ):
            found.append(Definition(f"{name}.{kind}", (kind, kind), kind, _numeric(kind, compute)))
        wide = width(kind)
        high = _numeric(kind, lambda a, b, wide=wide: a * b >> wide)
        found.append(Definition(f"mul.hi.{kind}", (kind, kind), kind, high))
        found.append(
            Definition(f"mad.lo.{kind}", (kind,) * 3, kind, _numeric(kind, lambda a, b, c: a * b + c))
        )
        if width(kind) < 64:
            double = f"{kind[0]}{2 * width(kind)}"
            product = _numeric(kind, lambda a, b: a * b, double)
            found.append(Definition(f"mul.wide.{kind}", (kind, kind), double, product))
    for kind in SIGNED:
        found.append(Definition(f"neg.{kind}", (kind,), kind, _numeric(kind, lambda a: -a)))
        found.append(Definition(f"abs.{kind}", (kind,), kind, _numeric(kind, abs)))
    return found


def _bits() -> list[Definition]:
    found = []
    for kind in (*UNTYPED, "pred"):
        for name, compute in (
            ("and", lambda a, b: a & b),
            ("or", lambda a, b: a | b),
            ("xor", lambda a, b: a ^ b),
        ):
            found.append(Definition(f"{name}.{kind}", (kind, kind), kind, compute))
        ones = (1 << width(kind)) - 1
        found.append(Definition(f"not.{kind}", (kind,), kind, lambda a, ones=ones: a ^ ones))
    for name, kinds in (("shl", UNTYPED), ("shr", UNTYPED + SIGNED + UNSIGNED)):
        for kind in kinds:

            def meaning(value: int, by: int, name: str = name, kind: str = kind) -> int:
                return pattern(_shifted(name, kind, int(number(value, kind)), by), kind)

            found.append(Definition(f"{name}.{kind}", (kind, "u32"), kind, meaning))
    for kind in ("b32", "b64"):
        wide = width(kind)
        found.append(Definition(f"popc.{kind}", (kind,), "u32", lambda a: bin(a).count("1")))
        found.append(Definition(f"clz.{kind}", (kind,), "u32", lambda a, wide=wide: wide - a.bit_length()))
        reverse = lambda a, wide=wide: int(f"{a:0{wide}b}"[::-1], 2)  # noqa: E731
        found.append(Definition(f"brev.{kind}", (kind,), kind, reverse))
    for name in "lr":
        meaning = lambda low, high, by, name=name: _funnel(name, low, high, by) & 0xFFFFFFFF  # noqa: E731
        found.append(Definition(f"shf.{name}.wrap.b32", ("b32", "b32", "u32"), "b32", meaning))
    return found


def _floats() -> list[Definition]:
    found = []
    for name in ("add", "sub", "mul", "div"):
        for form in (f"{name}.f64", f"{name}.rn.f64")[name == "div" :]:
            compute = lambda a, b, name=name: _exact(name, a, b)  # noqa: E731
            found.append(Definition(form, ("f64", "f64"), "f64", _numeric("f64", compute)))
        # a double holds twice the digits of a single and two more: to round twice is to round once
        compute = lambda a, b, name=name: _as_single(_exact(name, a, b))  # noqa: E731
        found.append(Definition(f"{name}.rn.f32", ("f32", "f32"), "f32", _numeric("f32", compute)))
    for kind in FLOATING:
        for name in ("min", "max"):
            compute = lambda a, b, name=name: _extreme(name == "min", a, b)  # noqa: E731
            found.append(Definition(f"{name}.{kind}", (kind, kind), kind, _numeric(kind, compute)))
        top = 1 << (width(kind) - 1)
        found.append(Definition(f"neg.{kind}", (kind,), kind, lambda a, top=top: a ^ top))
        found.append(Definition(f"abs.{kind}", (kind,), kind, lambda a, top=top: a & ~top))
        found.append(
            Definition(f"copysign.{kind}", (kind, kind), kind, lambda a, b, top=top: a & top | b & ~top)
        )
    return found


def _comparisons() -> list[Definition]:
    found = []
    for kind in SIGNED + UNSIGNED + UNTYPED + FLOATING:
        orders = ["eq", "ne"] if kind.startswith("b") else list(COMPARISONS)
        if kind.startswith("f"):
            orders += ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
        for order in orders:

            def meaning(left: int, right: int, order: str = order, kind: str = kind) -> int:
                return int(_compared(order, number(left, kind), number(right, kind)))

            found.append(Definition(f"setp.{order}.{kind}", (kind, kind), "pred", meaning))
    for kind in SIGNED + UNSIGNED + UNTYPED + FLOATING:
        chosen = lambda a, b, p: a if p else b  # noqa: E731
        found.append(Definition(f"selp.{kind}", (kind, kind, "pred"), kind, chosen))
        found.append(Definition(f"mov.{kind}", (kind,), kind, lambda a: a))
    found.append(Definition("mov.pred", ("pred",), "pred", lambda a: a))
    return found


def _conversions() -> list[Definition]:
    whole = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")
    found = []
    for source in whole:
        for kind in whole:
            if source != kind:
                compute = _numeric(source, lambda a: a, kind)
                found.append(Definition(f"cvt.{kind}.{source}", (source,), kind, compute))
        exact = _numeric(source, lambda a: rounded(Fraction(a)), "f64")
        found.append(Definition(f"cvt.rn.f64.{source}", (source,), "f64", exact))
    for source in FLOATING:
        for kind in ("s32", "s64", "u32", "u64"):
            compute = lambda a, source=source, kind=kind: _to_integer(a, source, kind)  # noqa: E731
            form = f"cvt.rzi.{kind}.{source}"
            found.append(Definition(form, (source,), kind, _numeric(source, compute, kind)))
    found.append(Definition("cvt.f64.f32", ("f32",), "f64", _numeric("f32", lambda a: a, "f64")))
    found.append(Definition("cvt.rn.f32.f64", ("f64",), "f32", _numeric("f64", _as_single, "f32")))
    return found


DEFINITIONS = (*_integers(), *_bits(), *_floats(), *_comparisons(), *_conversions())
"""Every instruction on registers alone that is tested."""

BY_FORM = {one.form: one for one in DEFINITIONS}
