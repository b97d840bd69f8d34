"""What is worked out of the values that partial matches keep: each instruction by its definition."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from cer_gpu.kernels.configurations import contract
from cer_gpu.kernels.configurations.cpu_programs import work_out

from cer_gpu.automata.configurations.value_words import Code, bits_of

LEAST, MOST = -(2**63), 2**63 - 1

WHOLE = [LEAST, LEAST + 1, -(2**32), -3, -1, 0, 1, 2, 3, 2**31, 3037000500, 2**62, MOST - 1, MOST]

REAL = [-math.inf, -9.3e18, -2.5, -0.5, 0.0, 0.5, 1.5, 2.0, 9.2e18, math.inf, math.nan]


def worked(code: Code, *values: int) -> tuple[int, int, bool]:
    """The instruction at fault, the value that is left, and whether it is one."""
    stack = np.zeros(8, np.int64)
    known = np.zeros(8, np.uint8)
    rows = [(getattr(contract, name), argument) for name, argument in code]
    programs = contract.Programs(
        np.array([0, len(rows)], np.int32), np.array(rows, np.int64), stack, stack.view(np.float64), known,
        contract.NO_TEXTS,
    )  # fmt: skip
    at_fault = work_out(programs, 0, np.array([values], np.int64), 0, np.zeros((1, 1), np.int64), 0)
    return int(at_fault), int(stack[0]), bool(known[0])


def two(name: str) -> Code:
    return (("LOAD", 0), ("LOAD", 1), (name, 0))


def rest(one: int, other: int) -> int | None:
    return None if other == 0 else int(math.copysign(1, one)) * (abs(one) % abs(other))


@pytest.mark.parametrize("name", ["PLUS", "MINUS", "TIMES", "REST"])
def test_whole_numbers(name: str) -> None:
    compute = {"PLUS": int.__add__, "MINUS": int.__sub__, "TIMES": int.__mul__, "REST": rest}[name]
    for one, other in product(WHOLE, WHOLE):
        wanted = compute(one, other)
        at_fault, found, is_known = worked(two(name), one, other)
        assert (at_fault >= 0) == (wanted is not None and not LEAST <= wanted <= MOST), (one, other)
        if at_fault < 0:
            assert (found if is_known else None) == wanted, (one, other)


def test_sums_have_two_words() -> None:
    for one, other in product(WHOLE, WHOLE):
        _, low, _ = worked(two("SUM_LOW"), one, other)
        _, high, _ = worked((("LOAD", 0), ("CONSTANT", 0), ("LOAD", 1), ("SUM_HIGH", 0)), one, other)
        assert low + (high << 64) == one + other
        at_fault, total, _ = worked(two("FITS"), low, high)
        assert (at_fault >= 0) == (not LEAST <= one + other <= MOST)
        assert at_fault >= 0 or total == one + other


def test_whole_numbers_beside_floats() -> None:
    for one, other in product(WHOLE, [*REAL, *map(float, WHOLE)]):
        code = (("LOAD", 0), ("CONSTANT", bits_of(other)), ("BESIDE_REAL", 0))
        _, sign, is_known = worked(code, one)
        assert is_known == (other == other)
        assert sign == (one > other) - (one < other)


def test_windows_over_attributes() -> None:
    for last, first, size in product(WHOLE, WHOLE, (0, 5, MOST)):
        _, holds, _ = worked((*two("SPANS")[:2], ("CONSTANT", size), ("SPANS", 0)), last, first)
        assert holds == (last - first <= size)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("REAL_IS_LESS", lambda one, other: one < other),
        ("REAL_IS_AT_MOST", lambda one, other: one <= other),
        ("REAL_IS_SAME", lambda one, other: one == other),
        ("REAL_IS_OTHER", lambda one, other: one == one and other == other and one != other),
    ],
)
def test_floats_compare(name: str, wanted: object) -> None:
    assert callable(wanted)
    for one, other in product(REAL, REAL):
        _, holds, _ = worked(two(name), bits_of(one), bits_of(other))
        assert holds == wanted(one, other), (one, other)


def test_divisions_by_zero_and_roundings_beyond_64_bits_are_null() -> None:
    for one, other in product(REAL, REAL):
        for name in ("REAL_DIVIDED", "REAL_REST"):
            _, found, is_known = worked(two(name), bits_of(one), bits_of(other))
            assert is_known == (other != 0)
            if is_known and not math.isnan(one) and not math.isnan(other) and not math.isinf(one):
                wanted = one / other if name == "REAL_DIVIDED" else math.fmod(one, other)
                assert found == bits_of(wanted), (name, one, other)
        for name, compute in (("DOWN", math.floor), ("UP", math.ceil), ("NEAREST", round)):
            _, found, is_known = worked((("LOAD", 0), (name, 0)), bits_of(one))
            fits = math.isfinite(one) and LEAST <= compute(one) <= MOST
            assert is_known == fits
            assert not fits or found == compute(one)
    filled = (("NOTHING", 0), ("CONSTANT", 7), ("COALESCED", 0))
    assert worked(filled) == (-1, 7, True)
    assert worked((("CONSTANT", 5), ("NOTHING", 0), ("COALESCED", 0))) == (-1, 5, True)
    assert worked((("NOTHING", 0), ("LOAD", 0), ("PLUS", 0)), 3) == (-1, 0, False)
