"""What runs on a device, on virtual devices in processes of their own: no GPU and no driver is needed.

What the compiler makes of every kernel is executed, each access of memory is checked, and races of threads
are found. By default every kernel runs in three orders of its threads, and the engine with streams that work
as late as they may; with `--all` every file of tests of a device runs there so, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_cuda_simulator import RUN_THERE

from virtual_device import driver_library
from virtual_device.driver_library import refusal
from virtual_device.settings import Settings

if refusal() is not None:
    pytest.skip(str(refusal()), allow_module_level=True)

from virtual_device.device import install, plain_name

pytestmark = pytest.mark.xdist_group("virtual device")
"""One process after another: each finds on disk the kernels that those before it have compiled."""

TESTS = Path(__file__).resolve().parent

SKIPPED = {"test_cuda_blocks.py": "only the simulator has threads of Python"}
"""Files of tests that say nothing about a device, and why."""

LIMIT_S = 1200
"""A kernel that waits for another thread would wait for ever: then the test fails."""


def run(settings: str, *arguments: str) -> str:
    """Run tests on virtual devices; what pytest has said."""
    command = [sys.executable, "-m", "pytest", "-p", "virtual_device.pytest_plugin", "-p", "no:cacheprovider"]
    command += ["-n", "0", "-rs", "--virtual-device", settings, *arguments]
    done = subprocess.run(
        command,
        cwd=TESTS.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS.parent), str(TESTS)))},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("settings", "file"),
    [
        ("", "test_virtual_kernels.py"),
        ("", "test_virtual_faults.py"),
        ("devices=2", "test_virtual_check.py"),
        pytest.param("races=0", "test_virtual_budgets.py", marks=pytest.mark.large),
        ("lazy,devices=2", "test_virtual_engine.py"),
        pytest.param("lazy,devices=2,races=0", "test_virtual_loss.py", marks=pytest.mark.large),
    ],
)
def test_on_virtual_devices(settings: str, file: str) -> None:
    said = run(settings, str(TESTS / file))
    assert " passed" in said
    assert re.search(r"\d skipped", said) is None, said


@pytest.mark.large
@pytest.mark.parametrize("process", RUN_THERE)
def test_every_file_of_a_device(process: str) -> None:
    """A process has many files: to start one, and to load kernels there, takes longer than most of them."""
    files = [str(TESTS / file) for file in RUN_THERE[process] if file not in SKIPPED]
    said = run("lazy,order=random,seed=1", *files)
    assert " passed" in said
    assert re.search(r"\d skipped", said) is None, said


def test_settings_are_read_from_a_text() -> None:
    read = Settings.parse("lazy,order=random,seed=7,devices=2,races=0,memory=1024")
    assert read == Settings(devices=2, memory=1024, lazy=True, order="random", seed=7, races=False)
    assert Settings.parse("") == Settings()
    for text in ("late", "order=sideways", "devices=17", "devices=many"):
        with pytest.raises(ValueError, match=r"late|sideways|17|many"):
            Settings.parse(text)
    # in the order in which `device.h` has the fields
    header = (TESTS.parent / "virtual_device" / "driver" / "device.h").read_text()
    names = re.search(r"long (devices[^;]*);", header)
    assert names is not None
    assert names[1].split(", ") == list(Settings.__slots__)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "which", lambda name: None)
        assert str(refusal()).endswith("install gcc")
    for package, extra in (("llvmlite", "numba"), ("numba_cuda", "numba-cuda[cu13]")):
        with monkeypatch.context() as patch:
            there = {"llvmlite", "numba_cuda"} - {package}
            patch.setattr(driver_library, "find_spec", lambda name, there=there: name in there or None)
            assert str(refusal()).endswith(f"install {extra}")
    with monkeypatch.context() as patch:
        patch.setattr(driver_library, "cuda_folder", lambda: None)
        assert str(refusal()).endswith("install numba-cuda[cu13] and cuda-toolkit")
        with pytest.raises(RuntimeError, match="install numba-cuda"):
            install()


def test_names_of_kernels_are_those_of_python() -> None:
    assert plain_name("_ZN6module3one10sum_kernelB2v1B40cw51E5ArrayIx") == "module.one.sum_kernel"
    assert plain_name("plain") == "plain"
