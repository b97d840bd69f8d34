"""The check in a process of its own, on virtual devices: what happens there leaves this process whole.

`test_virtual_device` runs these tests in a process of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from virtual_device import VirtualDevice, installed

if installed() is None:
    pytest.skip("test_virtual_device runs these tests", allow_module_level=True)

from numba import cuda

import cer_gpu as cer
from cer_gpu.engine.cuda.check import checker, findings
from cer_gpu.engine.cuda.check.checker import OWN, check_in_process
from cer_gpu.engine.cuda.check.families import families_of
from cer_gpu.engine.cuda.check.fault import Fault
from cer_gpu.engine.device_loss import device_loss
from virtual_device.folders import cache_folder

pytestmark = pytest.mark.gpu

CHECKING = checker.SCRIPT

TOP = str(Path(__file__).resolve().parent.parent)


def virtual(settings: str) -> str:
    """The script of a process that has virtual devices with some settings."""
    install = f"from virtual_device import Settings, install; install(Settings.parse({settings!r}))"
    return f"sys.path.insert(0, {TOP!r}); {install}; {CHECKING}"


@pytest.fixture(autouse=True)
def _checked_here() -> None:
    """Elsewhere this process checks; here another one does, which has virtual devices of its own."""


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No check of a device; the other processes find the driver and the kernels of the virtual device."""
    (tmp_path / "virtual-device").symlink_to(cache_folder("drivers").parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    findings.forget()
    yield
    findings.forget()


def whole() -> bool:
    """Whether this process can still use its devices."""
    numbers = np.arange(3)
    return device_loss() is None and cuda.to_device(numbers).copy_to_host().tolist() == numbers.tolist()


def test_a_right_device(device: VirtualDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one is found by its identity, and this process launches nothing."""
    monkeypatch.setattr(checker, "SCRIPT", virtual("devices=2"))
    found = check_in_process(1, ["prefix sums", "windows"])
    assert found is not None
    assert found.fault is None, found.fault
    assert found.kernels == ("scan_units", "add_totals", "lowest_starts")
    assert found.speed is not None
    assert 0 < found.speed.launch < found.speed.memory
    assert device.traffic() == {}


def test_a_device_that_the_other_process_does_not_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "SCRIPT", virtual("devices=1"))
    found = check_in_process(1, ["windows"])
    assert found is not None
    assert found.fault is not None
    assert found.fault.difference.endswith("is not visible")


def test_an_illegal_access_ends_the_other_process_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "SCRIPT", virtual("devices=2,races=0,loss=4"))
    table = pa.table({"type": [*"ABAB"], "ts": range(4)})
    query = cer.compile("SELECT * WHERE A ; B WITHIN 3 EVENTS")
    with pytest.raises(cer.DeviceError) as caught:
        query.count(table, device="cuda", order_by="ts")
    told = str(caught.value)
    assert told.startswith("device='cuda:0' is not used: cuda:0 (Virtual device")
    for part in ("(prefix sums): it raises", "ILLEGAL_ADDRESS", "use device='cpu'", "`cer device`"):
        assert part in told
    assert whole()
    assert query.count(table, device="auto", order_by="ts") == 3
    # A later process reads what is stored, and does not check again.
    findings.forget()
    monkeypatch.setattr(checker, "SCRIPT", "sys.exit('checked again')")
    kept = findings.fault_of(0)
    assert kept is not None
    assert kept.kernels


def test_a_lack_of_memory_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "SCRIPT", virtual("devices=2,memory=1024"))
    assert check_in_process(0, ["windows"]) is None


LAUNCHED = 'print(\'["launch", "hits", "find_hits"]\', flush=True)'
RUNS = 'print(\'["run", "hits", "find_hits"]\', flush=True)'
BLAMED = ("find_hits",)


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("sys.exit('no driver')", Fault(OWN, (), "its process ended with status 1: no driver")),
        (
            f"{LAUNCHED}; {RUNS}; import time; time.sleep(900)",
            Fault("hits", BLAMED, "it does not end within 3 s"),
        ),
        (f"{LAUNCHED}; import time; time.sleep(900)", Fault("hits", (), "it does not end within 3 s")),
        (f"{LAUNCHED}; import os; os.abort()", Fault("hits", BLAMED, "its process was ended by SIGABRT")),
        (
            f"{RUNS}; import os; os.kill(os.getpid(), 9)",
            Fault("hits", (), "its process was ended by SIGKILL"),
        ),
        (f"{RUNS}; print('[\"done', end='')", Fault("hits", BLAMED, "its process ended with status 0")),
    ],
    ids=["start", "wait", "compiling", "crash", "killed", "cut"],
)
def test_what_ends_the_other_process_is_told(
    script: str, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "SCRIPT", script)
    if "sleep" in script:
        monkeypatch.setattr(checker, "START_S", 3)
        monkeypatch.setattr(checker, "FAMILY_S", 0)
    assert findings.fault_of(0) == fault
    # What no kernel is to blame for is not stored.
    stored = list((Path(os.environ["XDG_CACHE_HOME"]) / "cer-gpu" / "devices").glob("*.json"))
    assert bool(stored) == bool(fault.kernels)
    assert whole()


def test_a_frozen_program_checks_in_its_own_process(
    device: VirtualDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its executable is no interpreter."""
    monkeypatch.setattr("sys.frozen", True, raising=False)
    found = check_in_process(0, ["windows"])
    assert found is not None
    assert found.kernels == ("lowest_starts",)
    assert device.traffic()


def test_families_of_a_query() -> None:
    names = [family.name for family in families_of(["steps"])]
    assert names == [
        "prefix sums", "classification", "windows", "hits of timed steps", "counts of timed steps"
    ]  # fmt: skip
