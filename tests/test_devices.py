"""Which device a run takes place on, and what is said of it: no device is needed for these tests."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from cer_gpu.kernels.device import availability
from cer_gpu.kernels.device.availability import UsableDevices

import cer_gpu as cer
from cer_gpu.engine import devices
from cer_gpu.engine.cuda.check import findings
from cer_gpu.engine.cuda.check.fault import Fault
from cer_gpu.engine.cuda.check.speed import DeviceSpeed
from cer_gpu.engine.run import device_choice
from cer_gpu.engine.run.device_choice import Place, asked_devices, place_of
from cer_gpu.plan.compiled_query import CompiledQuery

ABSENT = UsableDevices((), "no CUDA device was found")
TWO = UsableDevices(("First", "Second"), "First can be used")


def compiled(text: str) -> CompiledQuery:
    return cer.compile(text)._plan.compiled


H100 = DeviceSpeed(2.76e12, 53.7e9, 4e-6)
"""As one was measured."""

WINDOWED = compiled("SELECT * WHERE A ; B WITHIN 5 EVENTS")


def there(
    monkeypatch: pytest.MonkeyPatch,
    found: UsableDevices,
    driver: str | None = None,
    fault: Fault | None = None,
    speed: DeviceSpeed = H100,
) -> None:
    monkeypatch.setattr(availability, "cuda_usable", lambda: found)
    monkeypatch.setattr(device_choice, "no_driver", lambda: driver)
    monkeypatch.setattr(availability, "simulated", lambda: False)
    monkeypatch.setattr(findings, "fault_of", lambda number, *engines: fault)
    monkeypatch.setattr(findings, "is_checked", lambda number, *engines: True)
    monkeypatch.setattr(findings, "speed_of", lambda number: speed)
    for name in ("numba.cuda", "cer_gpu.engine.cuda.machines"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("auto", ("auto",)),
        ("cpu", ("cpu",)),
        (["cpu"], ("cpu",)),
        ("cuda", ("cuda:0",)),
        ("cuda:1", ("cuda:1",)),
        ("cuda:1, cuda:0", ("cuda:1", "cuda:0")),
        (["cuda", "cuda:1"], ("cuda:0", "cuda:1")),
    ],
)
def test_names_of_devices(given: object, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    there(monkeypatch, TWO)
    assert asked_devices(given) == names  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["gpu", "", "cuda:", "cuda:-1", "cuda0", "CPU", [], [0], [None], 5, None])
def test_other_names(given: object) -> None:
    with pytest.raises(cer.DeviceError):
        asked_devices(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["cuda,cuda:0", ["cuda:1", "cuda:1"], "cpu,cuda", ["auto", "cuda:1"]])
def test_names_that_do_not_go_together(given: object, monkeypatch: pytest.MonkeyPatch) -> None:
    there(monkeypatch, TWO)
    with pytest.raises(cer.DeviceError, match="several CUDA devices, none of them twice"):
        asked_devices(given)  # type: ignore[arg-type]


def test_a_device_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    there(monkeypatch, ABSENT)
    with pytest.raises(cer.DeviceError) as caught:
        cer.compile("SELECT * WHERE A ; B").count(pa.table({"type": ["A"]}), device="cuda")
    assert str(caught.value) == (
        "device='cuda:0' cannot be used: no CUDA device was found; "
        "device='auto' uses the CPU where there is no GPU"
    )
    there(monkeypatch, TWO)
    with pytest.raises(cer.DeviceError) as caught:
        asked_devices("cuda:2")
    assert str(caught.value) == (
        "device='cuda:2' does not exist: this machine has cuda:0 (First), cuda:1 (Second)"
    )


def test_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    auto, many = ("auto",), 10**9
    there(monkeypatch, TWO)
    assert place_of(auto, WINDOWED, many) == Place((0,), "it takes about 3.7 s, and the CPU about 7.0 s")
    assert place_of(auto, WINDOWED, None).name == "cpu"
    assert "is not known before the run" in place_of(auto, WINDOWED, None).reason
    assert place_of(auto, WINDOWED, None, 1).name == "cuda:1"
    assert place_of(("cuda:1",), WINDOWED, None, 1).name == "cuda:1"
    with pytest.raises(cer.DeviceError, match="the events are in the memory of cuda:1"):
        place_of(("cuda:0",), WINDOWED, None, 1)
    assert place_of(auto, WINDOWED, 1, lying=0) == Place((0,), "the events are in the memory of that device")
    there(monkeypatch, ABSENT)
    assert place_of(auto, WINDOWED, many) == Place((), "the CPU, because no CUDA device was found")
    there(monkeypatch, TWO, "no NVIDIA driver is installed")
    assert place_of(auto, WINDOWED, many) == Place((), "the CPU, because no NVIDIA driver is installed")
    there(monkeypatch, TWO)
    monkeypatch.setattr(availability, "simulated", lambda: True)
    assert (
        place_of(auto, WINDOWED, many).reason == "the CPU, because Numba's CUDA simulator is only for tests"
    )


SLOW_BUS = DeviceSpeed(H100.memory, 2e9, H100.launch)
SLOW_MEMORY = DeviceSpeed(1e9, H100.bus, H100.launch)
SLOW_LAUNCHES = DeviceSpeed(H100.memory, H100.bus, 0.1)

JOIN = "Q(x) <- A(k=x), B(k=x) WITHIN 9 EVENTS"
GAPS = "SELECT * WHERE A ;[<= 5 s] B ;[<= 5 s] C"


@pytest.mark.parametrize(
    ("text", "rows", "speed", "told"),
    [
        (
            "SELECT * WHERE A ; B",
            10**7,
            H100,
            "about 70 ms, and any GPU about 0.5 s: its libraries and kernels",
        ),
        (
            "SELECT * WHERE A ; B",
            10**9,
            SLOW_BUS,
            "about 7.0 s, and cuda:0 about 7.5 s: the events cross the bus",
        ),
        ("SELECT * WHERE A ; B", 10**9, SLOW_MEMORY, "cuda:0 about 28.7 s: the events cross its memory"),
        ("SELECT * WHERE A ; B", 10**9, SLOW_LAUNCHES, "cuda:0 about 194.9 s: its kernels are launched"),
        (
            GAPS,
            2 * 10**7,
            H100,
            "about 0.5 s, and any GPU about 0.7 s: its libraries and kernels are loaded first",
        ),
        (GAPS, 10**9, H100, None),
        (
            JOIN,
            5 * 10**6,
            H100,
            "any GPU about 0.7 s: its libraries",
        ),
        (JOIN, 10**8, H100, None),
        ("SELECT * WHERE A ; B PARTITION BY k", 10**8, H100, "any GPU about 2.8 s: the CPU reads the events"),
    ],
)
def test_auto_takes_the_place_that_takes_less_time(
    text: str, rows: int, speed: DeviceSpeed, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    there(monkeypatch, TWO, speed=speed)
    place = place_of(("auto",), compiled(text), rows)
    assert place.numbers == ((0,) if told is None else ())
    assert told is None or told in place.reason


def test_what_is_loaded_is_not_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    there(monkeypatch, TWO)
    assert place_of(("auto",), WINDOWED, 10**6).reason == device_choice.SOON
    for name in ("numba.cuda", "cer_gpu.engine.cuda.machines"):
        monkeypatch.setitem(sys.modules, name, devices)
    assert place_of(("auto",), WINDOWED, 10**6).numbers == (0,)
    monkeypatch.setattr(findings, "is_checked", lambda number, *engines: False)
    assert place_of(("auto",), WINDOWED, 10**6).reason == (
        "the CPU, because cuda:0 is not checked yet, which takes longer than the run"
    )
    assert place_of(("auto",), WINDOWED, 10**8).numbers == (0,)  # the check is soon worth it
    monkeypatch.setattr(findings, "speed_of", lambda number: None)
    assert place_of(("auto",), WINDOWED, 10**8).reason == (
        "the CPU, because cuda:0 has no memory left for its check"
    )


def test_many_variants_are_worth_a_device_where_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    there(monkeypatch, TWO)
    assert place_of(("auto",), WINDOWED, 10**6, members=1000).numbers == (0,)
    assert place_of(("auto",), WINDOWED, 10**6).numbers == ()
    assert place_of(("auto",), WINDOWED, 10**6, members=10).numbers == ()


def test_what_lists_matches_stays_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    there(monkeypatch, TWO)
    place = place_of(("auto",), WINDOWED, 10**9, lists=True)
    assert place == Place(
        (), "the CPU, because it takes about 7.0 s, and any GPU about 10.5 s: the CPU lists matches anyway"
    )


@pytest.mark.parametrize(
    ("text", "part", "reason"),
    [
        (
            "Q(x) <- A(k=x), B(k=x) WITHIN 9 EVENTS",
            "listing the matches of joins, assigning events to partitions and streams",
            None,
        ),
        ("SELECT MAX * WHERE A+ ; B WITHIN 5 EVENTS", "the strategy of SELECT", None),
        (
            "SELECT * WHERE A ; B PARTITION BY k WITHIN 5 EVENTS",
            "listing matches, assigning events to partitions and streams",
            None,
        ),
        (
            "SELECT * WHERE A ; B WITHIN 5 EVENTS CONSUME BY ANY",
            "listing matches, CONSUME BY ANY",
            None,
        ),
    ],
)
def test_what_has_no_form_for_a_device(
    text: str, part: str, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    there(monkeypatch, TWO)
    query = compiled(text)
    asked = place_of(("cuda:1",), query, 10)
    assert asked == Place((1,), f"device='cuda:1' was asked for; on the CPU: {part}")
    auto = place_of(("auto",), query, 10**10)
    assert auto.numbers == (() if reason else (0,))
    assert reason is None or auto.reason.startswith(reason)


def test_the_cpu_as_asked_for() -> None:
    events = pa.table({"type": ["A", "B"]})
    query = cer.compile("SELECT * WHERE A ; B")
    assert query.run(events, device="cpu").device_reason == "device='cpu' was asked for"
    assert query.run(events).device_reason.startswith("the CPU, because so few events are done")
    assert "device      cpu: the CPU, because so few events are done" in query.explain(events=events)
    assert "device      cpu: device='cpu' was asked for" in query.explain(events=events, device="cpu")
    assert "device  " not in query.explain()


def test_a_driver_is_looked_for_without_a_library() -> None:
    """The import of `cer_gpu`, and a run with `device="auto"` of few events, load nothing of CUDA."""
    code = (
        "import sys, pyarrow as pa, cer_gpu as cer\n"
        "cer.compile('SELECT * WHERE A ; B').count(pa.table({'type': ['A', 'B']}))\n"
        "bad = [name for name in sys.modules if name.startswith(('numba.cuda', 'cupy', 'numba_cuda.'))]\n"
        "assert not bad, bad\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    found = devices.no_driver()
    assert found is None or "\n" not in found
    if found is not None:
        assert not availability.cuda_usable() or availability.simulated()


class Once:
    """Events on the host that can be asked for once, by either protocol."""

    def __init__(self, events: pa.RecordBatch) -> None:
        self._events: pa.RecordBatch | None = events

    def _given(self) -> pa.RecordBatch:
        given, self._events = self._events, None
        if given is None:
            raise RuntimeError("already consumed")
        return given

    def __arrow_c_device_array__(self, requested_schema: object = None, **_: object) -> object:
        return self._given().__arrow_c_device_array__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.Table.from_batches([self._given()]).__arrow_c_stream__()


class DeviceOnly:
    def __init__(self, events: pa.RecordBatch) -> None:
        self._events = events

    def __arrow_c_device_array__(self, requested_schema: object = None, **_: object) -> object:
        return self._events.__arrow_c_device_array__()


@pytest.mark.parametrize("kind", [Once, DeviceOnly])
def test_data_of_the_host_in_the_form_for_devices_is_read_once(kind: type) -> None:
    events = pa.record_batch({"type": ["A", "B", "B"]})
    assert cer.compile("SELECT * WHERE A ; B").count(kind(events)) == 2


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("A ;[<= 5 s] B ; C", "with device='auto' where it takes less time"),
        ("(A ; B+) WITHIN [<= 5 s] ; C", "one thread for a partition"),
        (
            "(A ;[= 1 s] B) ALL C",
            "the CPU follows partial matches with clocks",
        ),
    ],
)
def test_explain_says_when_a_timed_pattern_takes_a_gpu(pattern: str, words: str) -> None:
    said = cer.compile(f"SELECT * WHERE {pattern}").explain(verbose=True)
    assert words in said[said.index("\ndevice ") :]
