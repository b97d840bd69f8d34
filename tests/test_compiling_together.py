"""Kernels that are missing: compiled together in processes beside this one, with one word about it."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE
from types import FunctionType
from typing import Any

import cer_gpu.kernels
import compiled_bodies as bodies
import numpy as np
import pytest
from processes import started

from cer_gpu.compiling import helper_pool
from cer_gpu.compiling import kernel as kernel_module
from cer_gpu.compiling import needs as needs_module
from cer_gpu.compiling.kernel import Kernel, jit, kernel_named
from cer_gpu.compiling.loader import HaltedError, words
from cer_gpu.compiling.needs import FILE, Needs, needed, needs, text_of
from cer_gpu.compiling.store import Store
from cer_gpu.warm import recorded, warm

ROOT = Path(__file__).resolve().parent.parent

PAIR = ("compiled_bodies:Pair", "<i8:1C", "int")

NEEDS = {
    "testing": [
        ("compiled_bodies:same", ("int",)),
        ("compiled_bodies:plus", (PAIR, "int")),
        ("compiled_bodies:divided", ("int", "int")),
        ("compiled_bodies:no such kernel", ("int",)),
        ("no_such_module:kernel", ("int",)),
    ]
}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store, and kernels of which nothing is loaded."""
    helper_pool._rest.clear()  # those of other tests
    made = Store(tmp_path / "own", tmp_path / "shipped")
    monkeypatch.setattr(kernel_module, "store", lambda: made)
    monkeypatch.setattr(needs_module, "needs", lambda: Needs(NEEDS, []))
    monkeypatch.setattr(words, "purpose", "testing")
    for value in vars(bodies).values():
        if isinstance(value, Kernel):
            monkeypatch.setattr(value, "_entries", {})
            monkeypatch.setattr(value, "_known", ())
    yield made
    helper_pool._rest.clear()


def kept(store: Store) -> int:
    return len(list(Path(str(store._own)).glob("*.kernel")))


def here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that are compiled in this process from now on."""
    names: list[str] = []
    compiled = Kernel.compiled

    def noted(kernel: Kernel, kinds):
        names.append(kernel.name)
        return compiled(kernel, kinds)

    monkeypatch.setattr(Kernel, "compiled", noted)
    return names


def test_the_first_call_has_all_compiled_that_the_run_needs(
    own: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = here(monkeypatch)
    assert bodies.same(5) == 5
    assert kept(own) == 3
    assert bodies.divided(7, 2) == 3
    assert bodies.plus(bodies.Pair(np.arange(3), 2), 1) == 3
    said = capsys.readouterr().err
    assert said.count("compiling kernels, once: 3") == 1
    assert str(own.folder) in said
    assert names == []


def test_a_single_kernel_is_not_spoken_of(own: Store, capsys: pytest.CaptureFixture[str]) -> None:
    words.purpose = "something else"
    assert bodies.same(5) == 5
    assert capsys.readouterr().err == ""
    assert kept(own) == 1


def test_where_nothing_is_kept_it_serves_this_process(
    own: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_module, "store", lambda: Store(None, tmp_path / "shipped"))
    names = here(monkeypatch)
    assert bodies.same(5) == 5
    assert bodies.divided(7, 2) == 3
    assert names == []


def test_a_kernel_that_no_other_process_finds(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    words.purpose = ""
    names = here(monkeypatch)
    made = jit(FunctionType((lambda number: number + 1).__code__, {}, "made"))
    assert made(4) == 5
    assert len(names) == 1


@pytest.mark.parametrize("executable", ["", "/no/such/file", "/bin/false"])
def test_where_no_process_can_be_started(
    own: Store, executable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    names = here(monkeypatch)
    assert bodies.same(5) == 5
    assert names == ["compiled_bodies:same"]


def test_work_that_is_over_ends_what_compiles_for_it(own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Ctrl-C: the thread is told to end, and soon no process is left that compiles for it."""
    started: list[helper_pool._Helper] = []

    class Slow(helper_pool._Helper):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    monkeypatch.setattr(helper_pool, "_Helper", Slow)
    halt, failed = np.zeros(1, np.uint8), []

    def call() -> None:
        words.halt_with(halt)
        words.purpose = "testing"
        try:
            bodies.same(5)
        except HaltedError as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    while not started:
        time.sleep(0.001)
    halt[0] = 1
    thread.join()
    assert len(failed) == 1
    assert not any(helper.alive for helper in started)
    assert kept(own) == 0


# ----------------------------------------------------------------------------------- what is needed


def test_an_unknown_purpose_is_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = (("a:a", ("int",)), ("b:b", ("int",)), ("c:c", ("int",)))
    purposes = {"x count events": [one, two], "x count time": [two], "x run time": [three]}
    known = Needs(purposes, [])
    monkeypatch.setattr(needs_module, "needs", lambda: known)
    assert needed("x count time") == [two]
    assert needed("x count whole keyed") == [one, two]
    assert needed("y count") == []


def test_the_list_of_needs_is_what_queries_need() -> None:
    """Every kind of query is run; each kernel that it calls has to be on the list."""
    shipped = Path(cer_gpu.kernels.__file__).with_name(FILE).read_text(encoding="utf-8")
    assert shipped == text_of(recorded()), "make it anew: python -m cer_gpu.warm"


def test_the_list_names_kernels() -> None:
    found = {name for some in needs().purposes.values() for name, _ in some}
    assert len(found) > 20
    assert 20 < len(needs().common) <= 60, "so many kernels are compiled in advance"
    assert all(kernel_named(name) is not None for name in found)


def test_warm_compiles_what_is_missing_and_ships_it(
    own: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Needs({"testing": NEEDS["testing"][:3]}, NEEDS["testing"][:1])
    monkeypatch.setattr("cer_gpu.warm.needs", lambda: known)
    monkeypatch.setattr("cer_gpu.warm.store", lambda: own)
    assert warm() == 1
    assert warm(every=True) == 2
    assert not (tmp_path / "shipped").exists()
    assert warm(ship=True, every=True) == 0
    shipped = list((tmp_path / "shipped").rglob("*.kernel"))
    assert len(shipped) == 3
    assert all(json.loads(path.read_bytes().partition(b"\n")[0])["result"] for path in shipped)


def test_processes_that_begin_at_once_do_not_all_compile(tmp_path: Path) -> None:
    """One of them does, and the others take what it has made."""
    script = "import compiled_bodies as b; print('go', flush=True); input(); print(b.same(7))"
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
    }
    command = [sys.executable, "-c", script]
    given: dict[str, Any] = {"env": environment, "stdin": PIPE, "stdout": PIPE, "stderr": PIPE, "text": True}
    folders = set()
    with ExitStack() as running:
        made = [running.enter_context(started(command, **given)) for _ in range(3)]
        for process in made:
            assert process.stdout is not None
            assert process.stdout.readline() == "go\n"
        for process in made:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in made:
            assert process.communicate()[0] == "7\n"
            (path,) = tmp_path.rglob("*.kernel")
            folders.add((path.stat().st_ino, path.stat().st_mtime_ns))
    assert len(folders) == 1, "it was written once"
    assert not list(tmp_path.rglob("*.lock"))
