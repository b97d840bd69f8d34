"""The check of a device: it launches every kernel, finds planted faults, and remembers what it has found."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.device import arrays, availability
from cer_gpu.kernels.device.jit import KernelLauncher
from cuda_arguments import CudaKernel
from cuda_device import SIMULATED, USABLE, VIRTUAL, forms_ahead, forms_launched
from cuda_registry import KERNELS
from numba import cuda

import cer_gpu as cer
from cer_gpu.cli import OTHER, status_of
from cer_gpu.engine.cuda.check import findings
from cer_gpu.engine.cuda.check.comparison import check
from cer_gpu.engine.cuda.check.families import FAMILIES, Family, families_of
from cer_gpu.engine.cuda.check.fault import CheckResult, Fault
from cer_gpu.engine.cuda.check.inputs import ComparedArray, Inputs
from cer_gpu.engine.cuda.check.speed import DeviceSpeed
from cer_gpu.engine.devices import tried_on
from cer_gpu.engine.run import device_choice, device_estimate
from cer_gpu.engine.versions import all_versions

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

HITS = [family for family in FAMILIES if family.name == "hits"]
Harm = Callable[[list[Any], list[np.ndarray]], None]
Plant = Callable[[str, Harm], None]

on_no_gpu = pytest.mark.skipif(
    not (SIMULATED or VIRTUAL), reason="what a fault does to memory would end the use of a real device"
)


def planted(test: Callable[..., None]) -> Callable[..., None]:
    """A test that plants a fault, which a virtual device may find, too."""
    return on_no_gpu(pytest.mark.virtual_device_faults(test))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def launched() -> dict[str, tuple[str, ...]]:
    """The kernels that each family launches, after its check."""
    found = {}
    for family in FAMILIES:
        checked = check(families=[family])
        assert checked.fault is None, checked.fault
        found[family.name] = checked.kernels
    return found


def test_every_kernel_is_launched_and_right(launched: dict[str, tuple[str, ...]]) -> None:
    every = {name for kernels in launched.values() for name in kernels}
    assert every == {kernel.name for kernel in KERNELS}
    assert all(isinstance(kernel.function, KernelLauncher) for kernel in KERNELS)
    assert [kernel.function.name for kernel in KERNELS] == [kernel.name for kernel in KERNELS]


def test_what_is_launched_is_compiled_ahead() -> None:
    with forms_launched() as launched:
        assert check().fault is None
    ahead = forms_ahead()
    assert {name: found - ahead[name] for name, found in launched.items() if found - ahead[name]} == {}


def test_the_inputs_reach_into_a_third_block_and_hold_large_numbers() -> None:
    inputs = Inputs()
    assert len(inputs.begin) > 2 * inputs.lane.threads
    assert len(inputs.ends.event) > inputs.stream.threads
    assert len(inputs.symbols) > 8 * inputs.stream.threads
    assert inputs.number.max() > 50
    assert 0 in inputs.lengths


# --------------------------------------------------------------------------------------- planted faults


class Faulty:
    """Stands where a compiled kernel does, and does something to its arrays after each launch."""

    def __init__(self, compiled: Any, harm: Harm) -> None:
        self._compiled, self._harm = compiled, harm

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        def launch(*arguments: Any) -> None:
            arrays = list(arrays_of(arguments))
            before = [array.copy_to_host() for array in arrays]
            self._compiled[configuration](*arguments)
            self._harm(arrays, before)

        return launch


def arrays_of(arguments: tuple[Any, ...]) -> Iterator[Any]:
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from arrays_of(argument)
        elif hasattr(argument, "copy_to_host") and argument.size:
            yield argument


def wrong(arrays: list[Any], before: list[np.ndarray]) -> None:
    """Every number that the launch has written is one bit off."""
    for array, old in zip(arrays, before):
        new = array.copy_to_host()
        written = np.flatnonzero(new != old)
        bits = new.reshape(-1).view(f"u{new.itemsize}")
        bits[written] ^= 1
        array.copy_to_device(new)


def raising(arrays: list[Any], before: list[np.ndarray]) -> None:
    raise RuntimeError("an illegal\naddress")


def out_of_memory(arrays: list[Any], before: list[np.ndarray]) -> None:
    error = RuntimeError("out of memory")
    error.code = availability.OUT_OF_MEMORY  # type: ignore[attr-defined]
    raise error


def plant_in(patch: pytest.MonkeyPatch, name: str, harm: Harm) -> None:
    """Plant a fault in a kernel, until the patch is undone."""
    made = cuda.device_array

    def full_of_odd_numbers(*arguments: Any, **named: Any) -> Any:
        array = made(*arguments, **named)
        if array.size:
            array.copy_to_device(np.full(array.shape, 77, array.dtype))
        return array

    # What a launch writes is then no number that was there before.
    patch.setattr(cuda, "device_array", full_of_odd_numbers)
    patch.setattr(arrays, "pooled", lambda: None)
    function = next(kernel.function for kernel in KERNELS if kernel.name == name)
    patch.setattr(function, "compiled", Faulty(function.compiled, harm))


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    return partial(plant_in, monkeypatch)


@planted
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_wrong_number_of_any_kernel_is_found(
    kernel: CudaKernel, plant: Plant, launched: dict[str, tuple[str, ...]]
) -> None:
    plant(kernel.name, wrong)
    concerned = [family for family in FAMILIES if kernel.name in launched[family.name]]
    found = check(families=concerned)
    assert found.fault is not None
    assert found.fault.family == concerned[0].name
    assert kernel.name in found.fault.kernels or "it raises" in found.fault.difference
    assert "\n" not in str(found.fault)


@planted
def test_a_kernel_that_raises_is_named_alone(plant: Plant) -> None:
    plant("find_hits", raising)
    found = check(families=HITS)
    assert found.fault == Fault("hits", ("find_hits",), "it raises RuntimeError: an illegal address")
    assert found.kernels[-1] == "find_hits"


@planted
def test_the_difference_is_told_and_those_that_were_right_are_not_blamed(plant: Plant) -> None:
    plant("find_hits", wrong)
    found = check(families=[FAMILIES[0], *HITS])
    assert found.fault is not None
    assert found.fault.kernels == ("find_hits",)
    assert "scan_units" in found.kernels
    assert re.fullmatch(r"first\[0\] is \d+, on the CPU \d+ \(\d+ of \d+ differ\)", found.fault.difference)
    assert str(found.fault) == f"kernel find_hits (hits): {found.fault.difference}"


def test_an_error_of_no_kernel_blames_none() -> None:
    def broken(inputs: Inputs) -> Iterator[Any]:
        raise OSError("no context")
        yield

    found = check(families=[Family("hits", broken)])
    assert found.fault == Fault("hits", (), "it raises OSError: no context")
    assert str(found.fault) == "hits: it raises OSError: no context"


def test_another_shape_is_a_difference() -> None:
    def shorter(inputs: Inputs) -> Iterator[Any]:
        yield ComparedArray("event", cuda.to_device(np.arange(3)), np.arange(4))

    found = check(families=[Family("hits", shorter)])
    assert found.fault is not None
    assert found.fault.difference == "event has the shape (3,), on the CPU (4,)"


# -------------------------------------------------------------------------------- what is made of them

asked: list[tuple[str, ...]] = []
"""The families of each check."""


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[int]]:
    """A device that is checked by its hits, as if it were real; an item for each check."""
    done: list[int] = []
    asked.clear()

    def counted(number: int, names: Sequence[str]) -> CheckResult | None:
        done.append(number)
        asked.append(tuple(names))
        return tried_on(number, lambda: check(families=HITS))

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr(findings, "check_in_process", counted)
    monkeypatch.setattr(findings, "simulated", lambda: False)
    findings.forget()
    yield done
    findings.forget()


def another_process() -> Fault | None:
    """What a process finds that has nothing but the disk."""
    findings.forget()
    return findings.fault_of(0, "automaton")


def files(folder: Path) -> list[Path]:
    return sorted((folder / "cer-gpu" / "devices").glob("*"))


EVENTS = pa.table({"type": [*"ABAB"] * 50, "ts": range(200)})
NAME = USABLE.devices[0]
DEAR = device_estimate.EventWork(1.0, 0, 0)
"""So much work for the CPU that any device takes less time."""
SPEED = DeviceSpeed(2.76e12, 53.7e9, 4e-6)
WRONG = f"cuda:0 ({NAME}) failed the comparison with the CPU"
QUERY = "SELECT * WHERE A ; B WITHIN 3 EVENTS"


@planted
def test_a_device_that_is_right_is_checked_once(
    checks: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert findings.fault_of(0, "automaton") is findings.fault_of(0, "automaton") is None
    assert capsys.readouterr().err.startswith("cer-gpu: cuda:0 is checked before its first use, ")
    assert another_process() is None
    assert len(checks) == 1
    (path,) = files(tmp_path)
    told = json.loads(path.read_text())
    assert told["fault"] is None
    assert told["right"] == sorted(family.name for family in families_of(["automaton"]))
    device_choice.refuse_wrong(device_choice.asked_devices("cuda"), "automaton")
    assert len(checks) == 1
    assert capsys.readouterr().err == ""


@planted
@pytest.mark.parametrize(("harm", "blamed"), [(wrong, " find_hits ("), (raising, " find_hits (")])
def test_a_device_that_is_wrong_is_not_used(
    harm: Harm, blamed: str, checks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = cer.compile(QUERY)
    right = query.count(EVENTS, device="cpu")
    with monkeypatch.context() as broken:
        plant_in(broken, "find_hits", harm)
        for _ in range(2):
            with pytest.raises(cer.DeviceError) as caught:
                query.count(EVENTS, device="cuda")
        assert len(checks) == 1
    told = str(caught.value)
    assert told.startswith(f"device='cuda:0' is not used: {WRONG}: kernel")
    for part in (blamed, "(hits): ", f"cer-gpu {cer.__version__}, Python 3.", "numba ", "`cer device`"):
        assert part in told
    assert "\n" not in told

    # The fault is gone, and is still remembered: a device that is wrong now and then is not to be trusted.
    assert another_process() is not None
    monkeypatch.setitem(device_estimate.ENGINES, "automaton", DEAR)
    monkeypatch.setattr(device_choice, "DEAREST", DEAR.cpu)
    monkeypatch.setattr(device_choice, "no_driver", lambda: None)
    there = availability.UsableDevices((NAME,), f"{NAME} can be used")
    monkeypatch.setattr(availability, "cuda_usable", lambda: there)
    monkeypatch.setattr(availability, "simulated", lambda: False)
    compiled = query._plan.compiled
    place = device_choice.place_of(("auto",), compiled, len(EVENTS))
    assert place.name == "cpu"
    assert place.reason.startswith(f"the CPU, because {WRONG}: kernel")
    assert blamed in place.reason
    assert query.count(EVENTS, device="auto") == right
    assert device_choice.place_of(("auto",), compiled, 3, lying=0).numbers == ()
    assert len(checks) == 1

    anew = findings.checked_anew(0)
    assert anew is not None
    assert anew.fault is None
    assert len(checks) == 2
    assert another_process() is None
    monkeypatch.setattr(findings, "speed_of", lambda number: SPEED)
    assert device_choice.place_of(("auto",), compiled, len(EVENTS)).name == "cuda:0"
    assert len(checks) == 2


@planted
def test_a_query_has_only_its_own_kernels_checked(checks: list[int], tmp_path: Path) -> None:
    assert findings.fault_of(0) is None
    assert asked == [("prefix sums", "classification")]
    assert findings.fault_of(0, "joins") is None
    assert asked[1:] == [("windows", "hits of joins", "counts of joins")]
    findings.forget()
    assert findings.fault_of(0, "joins") is None
    assert findings.fault_of(0, "row_patterns") is None
    assert asked[2:] == [("matches of row patterns",)]
    (path,) = files(tmp_path)
    names = {name for each in asked for name in each}
    assert set(json.loads(path.read_text())["right"]) == names


@planted
def test_a_finding_holds_for_its_versions(checks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert another_process() is None
    for number, name in enumerate(("cer-gpu", "driver", "numba-cuda", "CUDA libraries")):
        told = {**all_versions(), name: "0.0.1"}
        monkeypatch.setattr(findings, "all_versions", lambda told=told: told)
        assert another_process() is None
        assert len(checks) == number + 2
        assert another_process() is None
        assert len(checks) == number + 2
    monkeypatch.setattr(findings, "_digest_of_kernels", lambda: "changed")
    assert another_process() is None
    assert len(checks) == 6
    other = SimpleNamespace(name=b"another device", compute_capability=(9, 0), uuid="GPU-2")
    monkeypatch.setattr(findings, "cuda", SimpleNamespace(gpus=[other]))
    for _ in range(2):
        assert another_process() is None
        assert len(checks) == 7


@planted
def test_the_speed_of_a_device_is_kept(checks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        findings, "check_in_process", lambda number, names: CheckResult(None, ("find_hits",), SPEED)
    )
    assert not findings.is_checked(0, "automaton")
    assert findings.speed_of(0) is None
    assert another_process() is None
    findings.forget()
    assert findings.is_checked(0, "automaton")
    assert not findings.is_checked(0, "joins")
    assert findings.speed_of(0) == SPEED


def without_meaning(path: Path) -> None:
    path.write_bytes(b"\xff\x00{")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


def of_other_versions(path: Path) -> None:
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "versions": {**told["versions"], "driver": "1"}}))


def of_another_form(path: Path) -> None:
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "fault": {"family": "hits", "kernels": "none", "difference": 3}}))


def of_older_form(path: Path) -> None:
    told = json.loads(path.read_text())
    path.write_text(json.dumps({"versions": told["versions"], "fault": None}))


def of_no_speed(path: Path) -> None:
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "speed": {**SPEED.to_dict(), "bus": 0.0}}))


def a_list(path: Path) -> None:
    path.write_text("[]")


def a_deep_list(path: Path) -> None:
    path.write_text("[" * 60_000)


def written_by_anybody(path: Path) -> None:
    path.chmod(0o666)


def in_a_folder_of_anybody(path: Path) -> None:
    path.parent.chmod(0o777)


def a_link(path: Path) -> None:
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@planted
@pytest.mark.parametrize(
    "harm",
    [
        without_meaning,
        cut_short,
        of_other_versions,
        of_another_form,
        of_older_form,
        of_no_speed,
        a_list,
        a_deep_list,
        written_by_anybody,
        in_a_folder_of_anybody,
        a_link,
        a_folder,
    ],
)
def test_a_file_that_cannot_be_trusted_is_no_finding(
    harm: Callable[[Path], None], checks: list[int], tmp_path: Path
) -> None:
    assert another_process() is None
    (path,) = files(tmp_path)
    harm(path)
    assert another_process() is None
    assert len(checks) == 2


@planted
def test_nothing_is_kept_where_there_is_no_place(checks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "cache_folder", lambda: None)
    assert another_process() is None
    assert another_process() is None
    assert findings.fault_of(0) is None
    assert len(checks) == 2


@planted
def test_a_disk_without_room_is_no_error(
    checks: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert another_process() is None
    assert files(tmp_path) == []


@planted
def test_a_lack_of_memory_is_no_finding(plant: Plant, checks: list[int], tmp_path: Path) -> None:
    plant("find_hits", out_of_memory)
    assert findings.fault_of(0) is None
    assert findings.checked_anew(0) is None
    assert len(checks) == 2
    assert files(tmp_path) == []


@planted
def test_what_no_kernel_is_to_blame_for_is_not_kept(
    checks: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fault = Fault("hits", (), "it raises OSError: no context")
    monkeypatch.setattr(findings, "check_in_process", lambda number, names: CheckResult(fault, ()))
    assert findings.fault_of(0) is fault
    assert files(tmp_path) == []
    with pytest.raises(cer.DeviceError, match="no context"):
        cer.compile(QUERY).count(EVENTS, device="cuda")


@planted
def test_the_report_checks_anew(plant: Plant, checks: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    assert findings.fault_of(0) is None
    plant("find_hits", raising)
    assert findings.fault_of(0) is None
    told = cer.device_report()
    assert len(checks) == 2
    (found,) = told.devices
    assert (
        found.fault
        == findings.fault_of(0)
        == Fault("hits", ("find_hits",), "it raises RuntimeError: an illegal address")
    )
    assert (found.device, found.name) == ("cuda:0", NAME)
    assert "WRONG and not used: kernel find_hits (hits): it raises" in str(told)
    if SIMULATED:
        assert told.reason == "device='auto' uses the CPU: the simulator is for tests."
    assert status_of(["device"]) == OTHER
    assert "WRONG" in capsys.readouterr().out
