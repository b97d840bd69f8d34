"""A virtual device that is lost at some launch or copy: the CPU goes on, and every match comes once.

`test_virtual_device` runs these tests in a process of their own.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from virtual_device import VirtualDevice, installed

if installed() is None:
    pytest.skip("test_virtual_device runs these tests", allow_module_level=True)

import cupy
from cer_gpu.spark.gpu import device_of_task
from numba import cuda
from numba.cuda.cudadrv.driver import CudaAPIError
from test_abreast import TEMPLATES
from test_abreast_masked import ITERATED
from test_backtest import ticks
from test_cuda_devices import OPTIONS, QUERIES, small, trades
from test_cuda_resident import Column, one_batch

import cer_gpu as cer
from cer_gpu.engine import device_loss
from cer_gpu.engine.cuda.check import findings
from cer_gpu.engine.cuda.machines import comparisons, general, units
from cer_gpu.engine.device_loss import forget_loss
from cer_gpu.engine.devices import tried_on
from cer_gpu.engine.run import event_run
from cer_gpu.engine.run.device_choice import place_of
from cer_gpu.engine.run.device_report import device_report

pytestmark = pytest.mark.gpu

ERRORS = {700: "ILLEGAL_ADDRESS", 719: "LAUNCH_FAILED", 214: "ECC_UNCORRECTABLE", 702: "LAUNCH_TIMEOUT"}

POINTS = 3
"""How many launches and copies of a run a loss is planted at, beside the first and the last."""


@pytest.fixture
def _loss_forgotten() -> Iterator[None]:
    yield
    forget_loss()


@pytest.fixture
def device(_loss_forgotten: None, device: VirtualDevice) -> VirtualDevice:
    """The virtual devices; a loss is forgotten once they work again."""
    return device


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little work is enough for a device, which is not checked."""
    small(monkeypatch)
    for module in (units, comparisons, general):
        monkeypatch.setattr(module, "LEAST", 1)
    monkeypatch.setattr(units, "LEAST_UNIT", 5)
    monkeypatch.setattr(event_run, "AT_ONCE", 24)
    monkeypatch.setattr(findings, "fault_of", lambda number, *engines: None)


@cache
def page_locked() -> pa.Table:
    """Events whose columns of numbers are in memory that is page-locked."""
    cuda.current_context()

    def moved(column: pa.ChunkedArray) -> pa.Array:
        array = column.combine_chunks()
        if array.null_count or pa.types.is_dictionary(array.type):
            return array
        values = array.to_numpy()
        own = np.frombuffer(cupy.cuda.alloc_pinned_memory(values.nbytes), values.dtype, len(values))
        own[:] = values
        return pa.array(own)

    table = trades(300)
    return pa.table({name: moved(table.column(name)) for name in table.column_names})


ASKED: dict[str, str] = QUERIES | {
    "bounds of time": "SELECT * WHERE A ;[<= 6 seconds] B ;[2 seconds, 9 seconds] C WITHIN 20 seconds",
    "bounds in partitions": "SELECT * WHERE A ;[<= 6 seconds] B+ PARTITION BY volume WITHIN 30 seconds",
    "compared": "SELECT * WHERE A AS a ; B AS b FILTER b.price > a.price PARTITION BY volume",
    "general": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER b.price > a.price AND c.price < a.price "
    "PARTITION BY volume WITHIN 30 seconds",
    "max": "SELECT MAX * WHERE A ; B+ ; C WITHIN 9 EVENTS",
    "consume": "SELECT * WHERE A ; B ; C WITHIN 9 EVENTS CONSUME BY ANY",
}

Ask = Callable[[str], Any]
"""One question, to a device or to the CPU."""


def questions(text: str, table: Callable[[], pa.Table], **more: Any) -> list[Ask]:
    """All that is asked of a query."""

    def asked(name: str) -> Ask:
        def ask(device: str) -> Any:
            options = {**OPTIONS, **more, "device": device}
            found = getattr(cer.compile(text), name)(table(), **options)
            return found if name == "count" else (found.to_arrow() if name == "run" else found).to_pylist()

        return ask

    return [asked(name) for name in ("run", "hits", "counts", "count")]


def pushed(name: str) -> Ask:
    """A stream, push after push."""

    def ask(device: str) -> Any:
        table = trades(200)
        with cer.compile(ASKED[name]).stream(device=device, **OPTIONS) as stream:
            return [stream.push(table.slice(at, 33)).to_arrow().to_pylist() for at in range(0, 200, 33)]

    return ask


def swept(pattern: str, within: str) -> Ask:
    """Variants abreast."""

    def ask(device: str) -> Any:
        text = f"SELECT * FROM S WHERE {pattern} PARTITION BY [k] {within}"
        sweep = cer.sweep(text, p=[3, 10, 15], q=[0.2, 0.9])
        return cer.backtest(sweep, ticks(120), order_by="ts", device=device).to_arrow().to_pylist()

    return ask


def recognised(device: str) -> Any:
    """A row pattern."""
    rng = np.random.default_rng(5)
    table = pa.table({"k": rng.integers(0, 4, 90), "i": np.arange(90), "x": rng.integers(0, 9, 90)})
    sql = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY i
        MEASURES FIRST(i) AS first, COUNT(*) AS n PATTERN (down+ up*)
        DEFINE down AS x < PREV(x), up AS x > PREV(x))"""
    return cer.match_recognize(sql, t=table, device=device).to_arrow().to_pylist()


def iterated(device: str) -> Any:
    """Matches that are taken one by one, and again from the beginning."""
    found = cer.compile(QUERIES["time"]).run(trades(300), device=device, **OPTIONS)
    return [str(one) for one in found], [str(one) for one in found]


KINDS = {
    name: questions(text, lambda name=name: trades(80 if name == "attribute" else 200))
    for name, text in ASKED.items()
}
KINDS |= {
    "floats": questions(QUERIES["time"], lambda: trades(200, times="float64")),
    "general engine": questions(ASKED["compared"], lambda: trades(120), engine="general"),
    "page-locked": questions(QUERIES["time"], page_locked),
    "page-locked, carried": questions(QUERIES["carried"], page_locked),
    "pushed": [pushed(name) for name in ("time", "carried", "partitions", "bounds in partitions")],
    "swept": [swept(TEMPLATES[0], "WITHIN 5 h"), swept(ITERATED[0], "WITHIN 5 h"), swept(TEMPLATES[0], "")],
    "row pattern": [recognised],
    "iterated": [iterated],
}


def lost_at(device: VirtualDevice, point: int, error: int = 700) -> None:
    """Let a launch or a copy that comes next end the use of the devices, and let them come back."""
    forget_loss()
    device.reset()
    device.configure(replace(device.settings, loss=point, error=error))


@pytest.mark.parametrize("where", ["cuda", "cuda:0,cuda:1"])
@pytest.mark.parametrize("name", KINDS)
def test_the_cpu_goes_on(device: VirtualDevice, name: str, where: str) -> None:
    draw, losses = Random(f"{name} {where}"), 0
    if name == "row pattern":
        where = where.rpartition(",")[2]  # one device alone matches rows
    for ask in KINDS[name]:
        wanted = ask("cpu")
        lost_at(device, 0)
        assert ask(where) == wanted
        works = device.worked()
        for point in sorted({1, works} | {draw.randint(2, works) for _ in range(POINTS)}) if works else ():
            code = draw.choice(sorted(ERRORS))
            lost_at(device, point, code)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                assert ask(where) == wanted, f"{point} of {works}"
            told = [str(one.message) for one in said if "The CPU does the rest" in str(one.message)]
            if device_loss.device_loss() is None:
                assert not told
                continue  # threads share the work otherwise each time
            losses += 1
            (text,) = told
            assert f"CUDA_ERROR_{ERRORS[code]}" in text
            with pytest.raises(cer.DeviceError, match=r"start a new process"):
                ask("cuda")
            assert ask("auto") == wanted
    assert losses > 3
    assert device.faults() == []


@pytest.mark.parametrize("name", ["time", "events", "carried"])
def test_what_lay_only_on_the_device_is_an_error(device: VirtualDevice, name: str) -> None:
    draw, told = Random(name), list[str]()
    table = trades(150)
    table = table.set_column(1, "price", table["price"].fill_null(0))

    def there() -> dict[str, object]:
        numbers = {one: Column(table[one].to_numpy()) for one in ("price", "volume", "ts")}
        return {"type": one_batch(table)["type"], **numbers}

    for kind in ("hits", "counts", "run"):

        def ask(events: object, kind: str = kind) -> Any:
            found = getattr(cer.compile(QUERIES[name]), kind)(events, **OPTIONS)
            return found.to_arrow() if kind == "run" else found

        wanted = ask(table)
        lost_at(device, 0)
        events = there()
        lost_at(device, 0)
        assert ask(events) == wanted
        works = device.worked()
        for point in sorted({1, works} | {draw.randint(2, works) for _ in range(POINTS)}):
            lost_at(device, 0)
            events = there()
            lost_at(device, point)
            with warnings.catch_warnings():
                warnings.simplefilter("error" if kind != "run" else "ignore")
                try:
                    assert ask(events) == wanted
                    assert kind == "run"  # all rows were copied to the host before
                except cer.DeviceError as error:
                    told.append(str(error))
            with pytest.raises(cer.DeviceError, match=r"is gone: start a new"):
                ask(events)
    assert len(told) > 6
    for text in told:
        assert re.search(r"CUDA_ERROR_ILLEGAL_ADDRESS .*is gone: start a new process", text)


def test_after_a_loss_no_device_is_used(device: VirtualDevice) -> None:
    lost_at(device, 1)
    query = cer.compile(QUERIES["time"])
    with pytest.warns(UserWarning, match=r"cuda:1 failed with CUDA_ERROR_ILLEGAL_ADDRESS \(.*`cer device`"):
        query.count(trades(50), device="cuda:1", **OPTIONS)
    told = "cuda:1 failed with CUDA_ERROR_ILLEGAL_ADDRESS (an access outside of its memory), after which"
    for name in ("cuda", "cuda:1", ["cuda:0", "cuda:1"]):
        with pytest.raises(cer.DeviceError) as refused:
            query.count(trades(50), device=name, **OPTIONS)
        assert f"cannot be used: {told}" in str(refused.value)
        assert str(refused.value).endswith("start a new process, or use device='cpu'")
    place = place_of(("auto",), query._plan.compiled, 1 << 27)
    assert place.name == "cpu"
    assert place.reason.startswith(f"the CPU, because {told}")
    assert str(device_report()).count(told) == 1
    context: Any = SimpleNamespace(partitionId=lambda: 0, resources=dict)
    where, reason = device_of_task("auto", context)
    assert where == "cpu"
    assert told in reason
    with pytest.raises(cer.DeviceError, match=r"spark\.cer\.gpu=required.* failed with CUDA_ERROR"):
        device_of_task("required", context)


def test_what_was_asked_before_runs_on_the_cpu(device: VirtualDevice) -> None:
    query, table = cer.compile(QUERIES["time"]), trades(120)
    first, second = (query.run(table, device="cuda", **OPTIONS) for _ in range(2))
    wanted = query.run(table, device="cpu", **OPTIONS).to_arrow()
    lost_at(device, 2)
    with pytest.warns(UserWarning, match="The CPU does the rest"):
        assert first.to_arrow() == wanted
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said
        assert second.to_arrow() == wanted
        assert first.to_arrow() == wanted


def test_errors_of_another_kind_are_raised(device: VirtualDevice) -> None:
    lost_at(device, 3, 1)  # CUDA_ERROR_INVALID_VALUE
    with pytest.raises(Exception, match="CUDA_ERROR_INVALID_VALUE"):
        cer.compile(QUERIES["time"]).count(trades(50), device="cuda", **OPTIONS)
    assert device_loss.device_loss() is None


@cuda.jit
def one(values: Any) -> None:
    values[0] = 1


def test_an_error_at_the_end_leaves_what_was_done(device: VirtualDevice) -> None:
    """Leaving a device may tell of what failed last: the answer was copied to the host before that."""
    values = cuda.device_array(1, np.int64)
    one[1, 1](values)
    device.configure(replace(device.settings, lazy=False))
    lost_at(device, 2)

    def action() -> Any:
        found = values.copy_to_host()
        one[1, 1](values)
        return found

    assert tried_on(0, action) == [1]
    assert device_loss.device_loss() is not None
    assert tried_on(0, action) is None


def test_a_loss_by_other_work_of_the_process(device: VirtualDevice) -> None:
    """A kernel of the caller fails: CUDA tells of it when the query comes."""
    lost_at(device, 1)
    with pytest.raises(CudaAPIError):
        cuda.to_device(np.arange(3))
    with pytest.warns(UserWarning, match="The CPU does the rest"):
        assert cer.compile(QUERIES["time"]).count(trades(50), device="cuda", **OPTIONS) > 0
