"""Kernels as machine code: every kind of argument, what is kept on disk, and what is not trusted there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import FunctionType

import compiled_bodies as bodies
import numpy as np
import pytest
from compiled_bodies import Nested, Pair

from cer_gpu.compiling import kernel as kernel_module
from cer_gpu.compiling import layout
from cer_gpu.compiling.kernel import Kernel, jit
from cer_gpu.compiling.kinds import UnfitArgumentError, classes_of, kind_of
from cer_gpu.compiling.loader import HaltedError, KernelError, words
from cer_gpu.compiling.store import Store

ROOT = Path(__file__).resolve().parent.parent

INTEGERS = [0, 1, -1, 2**30, -(2**30), 2**60 - 1, 2**60, -(2**61) - 5, 2**63 - 1, -(2**63)]


def fresh(kernel: Kernel) -> Kernel:
    """The same kernel with nothing loaded."""
    return Kernel(kernel.py_func)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store of this test's own, empty, for kernels that serve no query."""
    made = Store(tmp_path / "own", tmp_path / "shipped")
    monkeypatch.setattr(kernel_module, "store", lambda: made)
    # What a query before this test was for would bring its other kernels along.
    monkeypatch.setattr(words, "purpose", "")
    return made


def kept(store: Store) -> list[Path]:
    return sorted(Path(str(store._own)).glob("*"))


def test_objects_are_laid_out_as_machine_code_reads_them() -> None:
    assert layout.holds()


@pytest.mark.parametrize("values", [np.arange(12.0), np.arange(12, dtype=np.int16)], ids=["f8", "i2"])
def test_arrays_of_any_strides(values: np.ndarray) -> None:
    whole = values.reshape(3, 4)
    for array in (whole, whole[:, 1:], whole[::2], whole.T, whole[:0], whole[:, ::-1]):
        assert bodies.total(array, 2.0) == array.sum() * 2.0


def test_memory_is_prefetched(monkeypatch: pytest.MonkeyPatch) -> None:
    values, place = np.arange(5), np.array([3, 0, 4, 1, 2])
    plain, compiled, by_numba = np.zeros((3, 5, 2), np.int64)
    bodies.moved.plainly(values, place, plain)
    bodies.moved(values, place, compiled)
    monkeypatch.setattr(layout, "holds", lambda: False)
    kernel = fresh(bodies.moved)
    kernel(values, place, by_numba)
    assert (plain[place, 0] == values).all()
    assert (compiled == plain).all()
    assert (by_numba == plain).all()
    (code,) = kernel.dispatcher.inspect_llvm().values()
    assert code.count("call void @llvm.prefetch") >= 2


@pytest.mark.parametrize("number", INTEGERS)
def test_integers(number: int) -> None:
    assert bodies.same(number) == number
    assert bodies.plus(Pair(np.zeros(3, np.int64), 1), number) == number


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**90])
def test_integers_that_no_word_holds(number: int) -> None:
    with pytest.raises(UnfitArgumentError):
        bodies.same(number)


@pytest.mark.parametrize(
    "number",
    [True, False, 1.5, -0.0, np.uint8(200), np.int16(-7), np.float32(0.5), np.float64(2.5), np.True_],
)
def test_other_numbers(number: object) -> None:
    found = bodies.same(number)
    assert found == number
    assert type(found) is type(number.item() if isinstance(number, np.generic) else number)


def test_tuples_in_tuples() -> None:
    pair = Pair(np.arange(5), 3)
    assert bodies.scaled(Nested(pair, 0.5), pair) == (4.5, 3, True)
    assert bodies.scaled(Nested(pair, 0.5), pair._replace(at=2)) == (3.5, 3, False)


def test_the_same_kernel_for_kinds_in_turn() -> None:
    for _ in range(3):
        for number in (1, 1.5, True, np.int8(3)):
            assert bodies.same(number) == number


def test_arrays_in_other_clothes() -> None:
    values = np.arange(12.0).reshape(3, 4)
    longlong = np.arange(12).astype(np.longlong).reshape(3, 4)
    assert bodies.total(values.view(np.recarray), 1.0) == 66.0
    assert bodies.total(longlong, 1.0) == 66.0
    frozen = values.copy()
    frozen.flags.writeable = False
    assert bodies.total(frozen, 1.0) == 66.0


@pytest.mark.parametrize(
    "value",
    ["text", [1], np.arange(3).astype(">i8"), np.array(["a"]), np.zeros(2, "M8[s]"), object(), (1, "a")],
    ids=["text", "list", "big-endian", "strings", "times", "object", "tuple"],
)
def test_what_no_kernel_reads(value: object) -> None:
    with pytest.raises(UnfitArgumentError):
        bodies.same(value)


def test_a_class_of_tuples_that_no_other_process_finds() -> None:
    local = namedtuple("local", ["values", "at"])
    with pytest.raises(UnfitArgumentError, match="not a named tuple of a module"):
        bodies.plus(local(np.arange(3), 1), 4)


def test_kinds_are_what_classes_stand_behind_them() -> None:
    kind = kind_of((np.arange(3), Pair(np.zeros((2, 2), np.uint8)[:, :1], 4), None, np.float32(1)))
    assert kind == ("", "<i8:1C", ("compiled_bodies:Pair", "|u1:2A", "int"), "none", "!float32")
    assert classes_of(kind) == [tuple, np.ndarray, Pair, np.ndarray, int, type(None), np.float32]


def test_a_kernel_that_fails_is_an_error() -> None:
    assert bodies.divided(7, 2) == 3
    with pytest.raises(KernelError, match="divided"):
        bodies.divided(7, 0)


def test_a_kernel_that_is_told_to_end() -> None:
    told = np.ones(1, np.uint8)
    before = words.halt
    count = np.zeros(1, np.int64)
    words.halt_with(told)
    try:
        with pytest.raises(HaltedError):
            bodies.until_halted(count)
    finally:
        words.halt_with(before)
    assert count[0] == 0


# ------------------------------------------------------------------------------------- what is kept


def test_what_is_kept_is_loaded_again(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fresh(bodies.three_times)(np.arange(3)) is None
    assert len(kept(own)) == 1

    def refused(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(Kernel, "_make", refused)
    values = np.arange(3)
    fresh(bodies.three_times)(values)
    assert values.tolist() == [0, 3, 6]


def test_identity_is_that_of_all_that_is_called() -> None:
    """A changed helper, or a changed constant of a helper, changes the kernels that call it."""

    def variant(**names: object) -> Kernel:
        body = bodies.three_times.py_func
        return Kernel(FunctionType(body.__code__, {**body.__globals__, **names}, body.__name__))

    def helper(factor: int) -> Kernel:
        body = bodies.times.py_func
        return Kernel(
            FunctionType(body.__code__, {**body.__globals__, "FACTOR": factor}, body.__name__), inline=True
        )

    same = fresh(bodies.three_times).identity
    assert variant().identity == same
    assert variant(times=helper(3)).identity == same
    assert variant(times=helper(4)).identity != same
    assert variant(times=bodies.same).identity != same
    values = np.arange(3)
    variant(times=helper(4))(values)
    assert values.tolist() == [0, 4, 8]


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-7], lambda code: b"", lambda code: code + b"x", bytes.swapcase]
)
def test_what_is_not_whole_is_made_again(own: Store, damage) -> None:
    fresh(bodies.same)(1)
    (path,) = kept(own)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert fresh(bodies.same)(5) == 5
    assert path.read_bytes() == whole


def test_a_disk_that_is_full(own: Store, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    for kernel in (bodies.same, bodies.plus):
        arguments = (1,) if kernel is bodies.same else (Pair(np.arange(2), 1), 0)
        assert fresh(kernel)(*arguments) == 1
    assert kept(own) == []
    assert capsys.readouterr().err.count("No space left on device") == 1


def test_without_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    made = Store(None, tmp_path / "shipped")
    monkeypatch.setattr(kernel_module, "store", lambda: made)
    monkeypatch.setattr(words, "purpose", "")
    assert fresh(bodies.same)(1) == 1
    assert fresh(bodies.same)(2.5) == 2.5
    assert capsys.readouterr().err.count("are not kept") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")
def test_a_file_that_others_can_write_is_not_run(own: Store) -> None:
    """Machine code that somebody else has put, or may put, in the place of ours."""
    assert fresh(bodies.same)(5) == 5
    (path,) = kept(own)
    planted = fresh(bodies.divided)
    kind = ("int",)
    about, code = Kernel(FunctionType((lambda number: 666).__code__, {}, "same")).compiled(kind)
    planted_as = fresh(bodies.same).kept_as(kind)
    own.write(planted_as, about, code)
    assert fresh(bodies.same)(5) == 666
    path.chmod(0o666)
    assert fresh(bodies.same)(5) == 5
    assert planted is not None


def test_shipped_code_is_found(own: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = fresh(bodies.same)
    own.ship(kernel.kept_as(("int",)), *kernel.compiled(("int",)))
    assert fresh(bodies.same)(7) == 7
    assert kept(own) == []
    (shipped,) = (tmp_path / "shipped").rglob("*.kernel")
    assert json.loads(shipped.read_bytes().partition(b"\n")[0])["result"] == "int"
    shipped.chmod(0o666)
    assert fresh(bodies.same)(7) == 7
    assert len(kept(own)) == 1, "what others could have written is compiled anew"


def test_where_objects_are_laid_out_otherwise(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of CPython or NumPy that we do not know: Numba calls what it has compiled."""
    monkeypatch.setattr(layout, "holds", lambda: False)
    assert fresh(bodies.scaled)(Nested(Pair(np.arange(5), 3), 0.5), Pair(np.arange(5), 3)) == (4.5, 3, True)
    told = np.ones(1, np.uint8)
    before = words.halt
    words.halt_with(told)
    try:
        with pytest.raises(HaltedError):
            fresh(bodies.until_halted)(np.zeros(1, np.int64))
    finally:
        words.halt_with(before)
    assert kept(own) == []


def test_a_process_does_without_numba_and_a_second_without_compiling(tmp_path: Path) -> None:
    script = "import compiled_bodies as b, sys; print(b.same(7), 'numba' in sys.modules)"
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
    }
    made = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["7", "False"]
        (path,) = tmp_path.rglob("*.kernel")
        made.append((path.stat().st_ino, path.stat().st_mtime_ns))
    assert made[0] == made[1]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such numbers")
def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    """As in a container: what is compiled is kept where temporary files are, for this user alone."""
    (tmp_path / "home").write_text("in the way of a folder")
    (tmp_path / "temporary").mkdir()
    environment = {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "home" / "cache"),
        "TMPDIR": str(tmp_path / "temporary"),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
    }
    script = "import compiled_bodies as b; print(b.same(7))"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("7\n", "")
    (path,) = (tmp_path / "temporary").rglob("*.kernel")
    own = tmp_path / "temporary" / f"cer-gpu-{os.geteuid()}"
    assert own in path.parents
    assert own.stat().st_mode & 0o777 == 0o700


def test_helpers_can_be_called_too() -> None:
    assert bodies.times(4) == 12
    assert isinstance(jit(lambda number: number), Kernel)
