"""Each instruction of PTX that the virtual device translates, against the definition of the ISA."""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from ptx_definitions import BY_FORM, DEFINITIONS, Definition, _inserted, number, pattern, width

from virtual_device.driver_library import refusal

if refusal() is not None:
    pytest.skip(str(refusal()), allow_module_level=True)

from virtual_device.machine_code import HostModule, provide
from virtual_device.ptx.syntax import UnsupportedPtxError

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
SLOTS = 4
"""Arrays of 64-bit slots that a kernel gets: one for results, three for operands."""

ACCESS = ctypes.CFUNCTYPE(
    ctypes.c_long, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
)
RUN = ctypes.CFUNCTYPE(
    ctypes.c_long, *[ctypes.c_void_p] * 4, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
)


NOWHERE = ctypes.create_string_buffer(64)
"""Where an access goes whose address was lost: a wrong translation fails a test, and ends no process."""


@ACCESS
def _unchecked(address: int, size: int, kind: int, line: int, value: int) -> int:
    return address if address > 1 << 16 else ctypes.addressof(NOWHERE)


class HostKernel:
    """The kernel `k` of a PTX text, of which threads are run one by one."""

    def __init__(self, body: str) -> None:
        provide("virtual_access", _unchecked)
        parameters = ", ".join(f".param .u64 p{at}" for at in range(SLOTS))
        self._module = HostModule(f"{HEAD}.visible .entry k({parameters})\n{{\n{body}\nret;\n}}\n")
        self.layout = self._module.layouts["k"]
        self._run = RUN(self._module.address_of("k"))

    def __call__(self, arrays: Sequence[np.ndarray], threads: int) -> None:
        addresses = (ctypes.c_uint64 * SLOTS)(*(array.ctypes.data for array in arrays))
        places = (ctypes.c_void_p * SLOTS)(*(ctypes.addressof(addresses) + 8 * at for at in range(SLOTS)))
        shape = (ctypes.c_int * 10)(threads, 1, 1, 1, 1, 1, 0, 0, 0, 0)
        state = ctypes.create_string_buffer(self.layout.state * threads + 64)
        shared = ctypes.create_string_buffer(self.layout.shared + 64)
        waiting = [0] * threads
        while True:
            for thread in range(threads):
                own = ctypes.addressof(state) + self.layout.state * thread
                waiting[thread] = self._run(places, shape, shared, own, thread, 0, 0, waiting[thread])
            if not any(waiting):
                return


def run(body: str, *operands: Sequence[int]) -> np.ndarray:
    """The results of a body that reads `p1`, `p2`, `p3` and writes `p0`, one slot for each thread."""
    count = max(map(len, operands))
    arrays = [np.zeros(count, np.uint64) for _ in range(SLOTS)]
    for at, values in enumerate(operands):
        arrays[at + 1][: len(values)] = np.array(values, np.uint64)
    HostKernel(body)(arrays, count)
    return arrays[0]


PROLOGUE = """
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<19>; .reg .f64 %fd<9>;
mov.u32 %r8, %tid.x;
mul.wide.u32 %rd18, %r8, 8;
"""
"""Registers of all types; `%rd18` is the offset of the thread's slots."""

REGISTERS = {8: "%h", 16: "%h", 32: "%r", 64: "%rd"}


def register(kind: str, at: int) -> str:
    """A register for a value of a type."""
    if kind == "pred":
        return f"%p{at}"
    return f"{ {'f32': '%f', 'f64': '%fd'}.get(kind, REGISTERS[width(kind)]) }{at}"


def body_of(definition: Definition) -> str:
    """Loads of the operands, the instruction, and a store of the whole result register."""
    lines = [PROLOGUE]
    for at, kind in enumerate(definition.operands):
        lines.append(f"ld.param.u64 %rd{10 + at}, [p{at + 1}]; add.s64 %rd{10 + at}, %rd{10 + at}, %rd18;")
        if kind == "pred":
            lines.append(
                f"ld.global.u64 %rd9, [%rd{10 + at}]; setp.ne.s64 {register(kind, at + 1)}, %rd9, 0;"
            )
        else:
            lines.append(f"ld.global.{kind} {register(kind, at + 1)}, [%rd{10 + at}];")
    result = register(definition.result, 0)
    operands = ", ".join(register(kind, at + 1) for at, kind in enumerate(definition.operands))
    lines.append(f"{definition.form} {result}, {operands};")
    lines.append("ld.param.u64 %rd10, [p0]; add.s64 %rd10, %rd10, %rd18;")
    if definition.result == "pred":
        lines.append("selp.b64 %rd9, 1, 0, %p0; st.global.u64 [%rd10], %rd9;")
    else:
        lines.append(f"st.global.{definition.result} [%rd10], {result};")
    return "\n".join(lines)


FLOAT_EDGES = [0.0, 1.0, 1.5, 2.5, math.inf, 1e308, 5e-324, 2.2250738585072014e-308, 0.1, 3.0, 2.0**53]
FLOAT_EDGES += [2.0**31, 2.0**63, 2.0**64, 2.0**62 + 2.0**9, 4294967295.5, 0.9999999999999999]


def edges(kind: str) -> list[int]:
    """The patterns of a type at which instructions differ."""
    if kind == "pred":
        return [0, 1]
    if kind.startswith("f"):
        numbers = [sign * one for one in FLOAT_EDGES for sign in (1, -1)]
        if kind == "f32":
            numbers = [float(np.float32(one)) for one in numbers]
        nan = 0x7FC00000 if kind == "f32" else 0x7FF8 << 48
        return [*(pattern(one, kind) for one in numbers), nan, nan | 1 << (width(kind) - 1)]
    wide = width(kind)
    found = {0, 1, 2, 3, 7, 10, wide - 1, wide, wide + 1, 0x55, 1 << (wide - 1), (1 << (wide - 1)) - 1}
    found |= {(1 << wide) - one for one in (1, 2, 3, 7)}
    return sorted(one & ((1 << wide) - 1) for one in found)


def cases(definition: Definition, rng: random.Random) -> list[tuple[int, ...]]:
    """Every pair of edges, shifts around the width, and random patterns of random lengths."""
    found = []
    pools = [edges(kind) for kind in definition.operands]
    if definition.form.startswith("sh"):
        wide = width(definition.result)
        pools[-1] = [0, 1, wide - 1, wide, wide + 1, 2 * wide, 31, 32, 63, 64, 65, 255, 256, 0xFFFFFFFF]
    if len(pools) == 1:
        found += [(one,) for one in pools[0]]
    elif len(pools) == 2:
        found += [(one, two) for one in pools[0] for two in pools[1]]
    for _ in range(150):
        drawn = []
        for kind, pool in zip(definition.operands, pools):
            wide = width(kind)
            whole = rng.getrandbits(wide) >> (rng.randrange(wide) if kind[0] in "us" else 0)
            drawn.append(rng.choice([whole, rng.getrandbits(wide), rng.choice(pool)]))
        found.append(tuple(drawn))
    return found


def same(found: int, right: int, kind: str) -> bool:
    """One NaN is as good as another."""
    if kind.startswith("f") and number(right, kind) != number(right, kind):
        return number(found, kind) != number(found, kind)
    return found == right


@pytest.mark.parametrize("definition", DEFINITIONS, ids=list(BY_FORM))
def test_an_instruction_computes_what_the_isa_says(definition: Definition) -> None:
    drawn = cases(definition, random.Random(definition.form))
    results = run(body_of(definition), *zip(*drawn))
    compared = 0
    for operands, found in zip(drawn, results.tolist()):
        right = definition.meaning(*operands)
        if right is not None:
            told = [number(one, kind) for one, kind in zip(operands, definition.operands)]
            assert same(found, right, definition.result), (definition.form, told, hex(found), hex(right))
            compared += 1
    assert compared > 50


def test_a_field_of_bits_is_inserted() -> None:
    rng = random.Random(5)
    for at, length in ((0, 1), (0, 64), (8, 16), (32, 32), (63, 1)):
        low, whole = [rng.getrandbits(64) for _ in range(20)], [rng.getrandbits(64) for _ in range(20)]
        body = body_of(Definition("bfi.b64", ("b64", "b64"), "b64", _inserted))
        body = body.replace("%rd1, %rd2;", f"%rd1, %rd2, {at}, {length};")
        found = run(body, low, whole).tolist()
        assert found == [_inserted(*pair, at, length) for pair in zip(low, whole)]


@pytest.mark.parametrize("joined", ["and", "or", "xor"])
def test_a_comparison_is_joined_with_a_predicate_and_negated(joined: str) -> None:
    body = PROLOGUE + "".join(
        f"ld.param.u64 %rd1{at}, [p{at}]; add.s64 %rd1{at}, %rd1{at}, %rd18;" for at in range(4)
    )
    body += "ld.global.s64 %rd1, [%rd11]; ld.global.s64 %rd2, [%rd12]; ld.global.u64 %rd3, [%rd13];"
    body += f"setp.ne.s64 %p1, %rd3, 0; setp.lt.{joined}.s64 %p2|%p3, %rd1, %rd2, %p1;"
    body += "selp.b64 %rd4, 1, 0, %p2; selp.b64 %rd5, 2, 0, %p3; or.b64 %rd4, %rd4, %rd5;"
    body += "st.global.u64 [%rd10], %rd4;"
    drawn = [(one, two, three) for one in (1, 5, 2**64 - 1) for two in (1, 5, 2**64 - 1) for three in (0, 1)]
    operation = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}[joined]
    for (left, right, third), found in zip(drawn, run(body, *zip(*drawn)).tolist()):
        less = int(number(left, "s64") < number(right, "s64"))
        assert found == operation(less, third) | operation(1 - less, third) << 1


@pytest.mark.parametrize("space", ["", ".global"])
@pytest.mark.parametrize("kind", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "b64"])
def test_a_load_extends_to_the_register_and_a_store_cuts_off(kind: str, space: str) -> None:
    values = [*edges("b64"), 0x8182838485868788]
    body = PROLOGUE + "ld.param.u64 %rd11, [p1]; add.s64 %rd11, %rd11, %rd18;"
    body += "ld.param.u64 %rd10, [p0]; add.s64 %rd10, %rd10, %rd18;"
    body += f"ld{space}.{kind} %rd1, [%rd11]; st{space}.u64 [%rd10], %rd1;"
    extended = [pattern(number(one, kind), "u64") for one in values]
    assert run(body, values).tolist() == extended
    narrow = kind.replace("s", "u")
    stored = body.replace("ld" + space + f".{kind} %rd1", f"ld{space}.u64 %rd1")
    stored = stored.replace(f"st{space}.u64", f"st{space}.{narrow}")
    assert run(stored, values).tolist() == [one & ((1 << width(kind)) - 1) for one in values]


def test_vectors_and_offsets() -> None:
    body = PROLOGUE + "ld.param.u64 %rd11, [p1]; ld.param.u64 %rd10, [p0];"
    body += "ld.global.v2.u64 {%rd1, %rd2}, [%rd11+16]; st.global.v2.u64 [%rd10], {%rd2, %rd1};"
    body += (
        "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd11]; st.global.v4.u32 [%rd10+16], {%r4, %r3, %r2, %r1};"
    )
    found = run(body.replace("mov.u32 %r8, %tid.x;", "mov.u32 %r8, 0;"), [1 | 2 << 32, 3 | 4 << 32, 5, 6])
    assert found.tolist() == [6, 5, 4 | 3 << 32, 2 | 1 << 32]


def test_halves_become_a_whole_and_a_whole_halves() -> None:
    body = PROLOGUE + "ld.param.u64 %rd11, [p1]; ld.param.u64 %rd10, [p0];"
    body += "ld.global.u64 %rd1, [%rd11]; mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd2, {%r2, %r1};"
    body += "st.global.u64 [%rd10], %rd2;"
    assert run(body, [0x1122334455667788]).tolist() == [0x5566778811223344]


ATOMICS = {
    "add.u64": ("u64", lambda old, one, two: old + one),
    "add.u32": ("u32", lambda old, one, two: old + one),
    "add.f64": ("f64", None),
    "min.s64": ("s64", lambda old, one, two: min(old, one)),
    "max.s64": ("s64", lambda old, one, two: max(old, one)),
    "min.u64": ("u64", lambda old, one, two: min(old, one)),
    "max.u64": ("u64", lambda old, one, two: max(old, one)),
    "max.s32": ("s32", lambda old, one, two: max(old, one)),
    "and.b64": ("b64", lambda old, one, two: old & one),
    "or.b64": ("b64", lambda old, one, two: old | one),
    "xor.b64": ("b64", lambda old, one, two: old ^ one),
    "exch.b64": ("b64", lambda old, one, two: one),
    "cas.b64": ("b64", lambda old, one, two: two if old == one else old),
    "inc.u32": ("u32", lambda old, one, two: 0 if old >= one else old + 1),
    "dec.u32": ("u32", lambda old, one, two: one if old == 0 or old > one else old - 1),
}


@pytest.mark.parametrize("space", ["", ".global", ".shared"])
@pytest.mark.parametrize("form", [name for name, (_, meaning) in ATOMICS.items() if meaning])
def test_an_atomic_changes_memory_and_gives_the_old_value(form: str, space: str) -> None:
    kind, meaning = ATOMICS[form]
    rng = random.Random(form)
    pool = edges(kind)
    drawn = [tuple(rng.choice(pool) for _ in range(3)) for _ in range(60)]
    drawn += [(one, one, two) for one, two in zip(pool, reversed(pool))]
    old, new = register(kind, 0), [register(kind, at) for at in (1, 2)]
    body = PROLOGUE + ".shared .align 8 .b8 table[8];"
    body += "".join(f"ld.param.u64 %rd1{at}, [p{at}]; add.s64 %rd1{at}, %rd1{at}, %rd18;" for at in range(4))
    body += f"ld.global.{kind} {new[0]}, [%rd12]; ld.global.{kind} {new[1]}, [%rd13];"
    last = f", {new[1]}" if form.startswith("cas") else ""
    place = "%rd11"
    if space == ".shared":
        body += f"ld.global.{kind} %rd5, [%rd11]; mov.u64 %rd6, table; st.shared.u64 [%rd6], %rd5;"
        place = "%rd6"
    body += f"atom{space}.{form} {old}, [{place}], {new[0]}{last};"
    if space == ".shared":
        body += f"ld.shared.{kind} %rd5, [%rd6]; st.global.{kind} [%rd11], %rd5;"
    body += f"st.global.{kind} [%rd10], {old};"
    arrays = [np.zeros(len(drawn), np.uint64), *(np.array(one, np.uint64) for one in zip(*drawn))]
    HostKernel(body)(arrays, len(drawn))
    for (before, one, two), told, after in zip(drawn, arrays[0].tolist(), arrays[1].tolist()):
        assert told == before
        right = meaning(*(number(value, kind) for value in (before, one, two)))
        assert after & ((1 << width(kind)) - 1) == pattern(right, kind)


def test_a_reduction_gives_no_old_value() -> None:
    body = PROLOGUE + "ld.param.u64 %rd10, [p0]; mov.u64 %rd1, 3; red.global.add.u64 [%rd10], %rd1;"
    body += (
        "mov.f64 %fd1, 0d3FF8000000000000; add.s64 %rd10, %rd10, 8; atom.global.add.f64 %fd2, [%rd10], %fd1;"
    )
    found = run(body, [0] * 5)
    assert found[0] == 15
    assert number(int(found[1]), "f64") == 7.5


def test_threads_go_on_together_behind_a_barrier() -> None:
    """Each thread reads what its neighbour has written before the barrier, in a loop; registers live on."""
    body = (
        PROLOGUE
        + """
.shared .align 8 .b8 table[64];
.local .align 8 .b8 own[16];
.reg .b64 %SPL;
mov.u64 %SPL, own;
st.local.u64 [%SPL+8], %rd18;
ld.param.u64 %rd10, [p0];
add.s64 %rd10, %rd10, %rd18;
mov.u64 %rd1, table;
add.s64 %rd2, %rd1, %rd18;
xor.b32 %r1, %r8, 7;
mul.wide.u32 %rd3, %r1, 8;
add.s64 %rd3, %rd1, %rd3;
mov.u32 %r2, 0;
cvt.u64.u32 %rd5, %r8;
$again:
st.shared.u64 [%rd2], %rd5;
bar.sync 0;
ld.shared.u64 %rd4, [%rd3];
bar.sync 0;
add.s64 %rd5, %rd5, %rd4;
add.s32 %r2, %r2, 1;
setp.lt.s32 %p1, %r2, 3;
@%p1 bra $again;
ld.local.u64 %rd6, [%SPL+8];
mad.lo.s64 %rd5, %rd6, 1000, %rd5;
@!%p1 st.global.u64 [%rd10], %rd5;
"""
    )
    assert run(body, [0] * 8).tolist() == [8000 * at + 28 for at in range(8)]


@pytest.mark.parametrize("negated", ["", "!"])
def test_a_predicate_guards_any_instruction(negated: str) -> None:
    body = PROLOGUE + "ld.param.u64 %rd10, [p0]; add.s64 %rd10, %rd10, %rd18; setp.lt.u32 %p1, %r8, 3;"
    body += f"mov.u64 %rd1, 5; @{negated}%p1 mov.u64 %rd1, 9; st.global.u64 [%rd10], %rd1;"
    body += f"@{negated}%p1 ret; st.global.u64 [%rd10], %rd18;"
    inside = [0, 1, 2] if not negated else [3, 4]
    assert run(body, [0] * 5).tolist() == [9 if at in inside else 8 * at for at in range(5)]


def test_variables_of_a_module_hold_what_they_begin_with() -> None:
    provide("virtual_access", _unchecked)
    parameters = ", ".join(f".param .u64 p{at}" for at in range(SLOTS))
    module = HostModule(
        f"{HEAD}.global .align 8 .u64 wide[3] = {{7, 0xFFFFFFFFFFFFFFFF}};\n"
        f".const .align 4 .b8 small[4] = {{1, 2, 3, 4}};\n.visible .entry k({parameters})\n{{{PROLOGUE}"
        "ld.param.u64 %rd10, [p0]; ld.global.u64 %rd1, [wide+8]; st.global.u64 [%rd10], %rd1;"
        "mov.u64 %rd2, small; ld.const.u32 %r1, [%rd2]; st.global.u32 [%rd10+8], %r1; ret; }"
    )
    assert module.variables == {"wide": 24, "small": 4}
    array = np.zeros(2, np.uint64)
    addresses = (ctypes.c_uint64 * 1)(array.ctypes.data)
    places = (ctypes.c_void_p * SLOTS)(ctypes.addressof(addresses))
    RUN(module.address_of("k"))(places, (ctypes.c_int * 10)(1), None, None, 0, 0, 0, 0)
    assert array.tolist() == [2**64 - 1, 0x04030201]


@pytest.mark.parametrize(
    "line",
    [
        "add.sat.s32 %r1, %r2, %r3;",
        "add.cc.s32 %r1, %r2, %r3;",
        "add.rz.f64 %fd1, %fd2, %fd3;",
        "cvt.sat.u8.s32 %h1, %r1;",
        "cvt.rz.f64.s64 %fd1, %rd1;",
        "div.approx.f32 %f1, %f2, %f3;",
        "min.NaN.f32 %f1, %f2, %f3;",
        "barrier.sync 1, 64;",
        "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;",
        "vote.sync.any.pred %p1, %p2, -1;",
        "atom.acquire.gpu.global.add.u64 %rd1, [%rd2], %rd3;",
        "mov.u32 %r1, %clock;",
        "mov.u64 %rd1, nowhere;",
        "call helper, ();",
    ],
)
def test_what_is_not_translated_is_said(line: str) -> None:
    with pytest.raises(UnsupportedPtxError):
        HostKernel(PROLOGUE + line)
