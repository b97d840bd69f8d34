"""`device="cuda"` through the public face: pieces, memory that runs out, several devices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.device import availability
from cuda_device import TINY, USABLE, allocators

import cer_gpu as cer
from cer_gpu.engine import devices
from cer_gpu.engine.cuda import classify as cuda_classify
from cer_gpu.engine.cuda import memory as cuda_memory
from cer_gpu.engine.cuda import staging as cuda_staging
from cer_gpu.engine.cuda.check import findings
from cer_gpu.engine.cuda.check.speed import DeviceSpeed
from cer_gpu.engine.cuda.machines import automaton as cuda_devices
from cer_gpu.engine.cuda.machines import carried_query as cuda_carried
from cer_gpu.engine.cuda.machines import one_device as cuda_execute
from cer_gpu.engine.cuda.machines import resident_query
from cer_gpu.engine.cuda.machines import resident_run as cuda_run
from cer_gpu.engine.cuda.pool import bounds_of
from cer_gpu.engine.run import bound_query as bound
from cer_gpu.engine.run import chunks as runner
from cer_gpu.engine.run import device_choice, device_estimate

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

OPTIONS = {"order_by": "ts", "order_unit": "s"}

QUERIES = {
    "time": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a[price > 3] AND c[price < 2] WITHIN 12 seconds",
    "events": "SELECT * WHERE A AS a ; B+ AS b ; C AS c FILTER c[price + volume > 6] WITHIN 9 EVENTS",
    "partitions": "SELECT * WHERE A ; B+ ; C PARTITION BY volume WITHIN 6 EVENTS",
    "carried": "SELECT * WHERE A AS a ; C AS c FILTER a[price > 4]",
    "one key": "SELECT NONE WHERE A AS a ; B+ AS b FILTER a.volume = b.volume WITHIN 12 seconds",
    "rule": "Q(x) <- A(price=x), B(price=x) WITHIN 9 EVENTS",
    "strategy": "SELECT NEXT * WHERE A ; B WITHIN 9 EVENTS",
    "attribute": "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a[price > 2] WITHIN 2 [volume]",
}


def with_geometry(begin: Callable[..., None], geometry: dict[str, object]) -> Callable[..., None]:
    def begun(self: object, *arguments: object, **named: object) -> None:
        begin(self, *arguments, **{**geometry, **named})

    return begun


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny blocks, pieces of a stream and of its lanes."""
    tiny = TINY[0]
    lanes = {"lane": tiny, "stream": tiny}
    for made, geometry in (
        (cuda_classify.CudaClassifier, {"geometry": tiny}),
        (cuda_devices.DevicesAutomaton, lanes),
        (cuda_run.ResidentRun, lanes),
    ):
        monkeypatch.setattr(made, "__init__", with_geometry(made.__init__, geometry))
    for module in (cuda_execute, resident_query):
        monkeypatch.setattr(module, "lane_geometry", lambda _, chosen: chosen)
    monkeypatch.setattr(cuda_execute, "LEAST_UNIT", 5)
    monkeypatch.setattr(cuda_execute, "LIST", 5)
    monkeypatch.setattr(cuda_carried, "LEAST", 5)
    monkeypatch.setattr(resident_query, "LEAST_CUT", 5)
    monkeypatch.setattr(cuda_staging, "ALIGNED", 8)
    monkeypatch.setattr(cuda_memory, "ROWS", 64)
    monkeypatch.setattr(cuda_memory, "LEAST", 8)
    monkeypatch.setattr(runner, "CHUNK", 40)
    monkeypatch.setattr(runner, "CARRIED", 40)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)


def trades(n: int, seed: int = 3, times: str = "int64") -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 3, n), pa.int8()), list("ABC")),
            "price": pa.array(rng.integers(0, 20, n) / 4, mask=rng.random(n) < 0.1),
            "volume": rng.integers(0, 60, n) % 7,
            "ts": np.cumsum(rng.integers(0, 3, n)).astype(times),
        }
    )


def length(name: str) -> int:
    """Events enough for a query; fewer where each is compared with all after it."""
    return 80 if name == "attribute" else 150


def agree(text: str, table: pa.Table, device: object = "cuda") -> None:
    """Assert that every question has the CPU's answer."""
    query = cer.compile(text)
    for ask in (query.count, query.counts, query.hits):
        assert ask(table, device=device, **OPTIONS) == ask(table, device="cpu", **OPTIONS)
    found = query.run(table, device=device, **OPTIONS).to_arrow()
    assert len(found) > 3
    assert found == query.run(table, device="cpu", **OPTIONS).to_arrow()


@pytest.mark.parametrize("name", QUERIES)
def test_every_kind_of_query_in_pieces(name: str) -> None:
    agree(QUERIES[name], trades(length(name)))


def test_a_time_of_floats_and_pieces_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    table = trades(110, 5, "float64")
    agree(QUERIES["time"], table)
    query = cer.compile(QUERIES["time"])
    wanted = query.counts(table, device="cpu", **OPTIONS)
    for rows in (3, 40):
        # Each complex event that begins with the oldest one that the window still admits counts.
        monkeypatch.setattr(cuda_memory, "ROWS", rows)
        assert query.counts(table, device="cuda", **OPTIONS) == wanted


def test_a_stream_on_a_device() -> None:
    table = trades(120)
    query = cer.compile(QUERIES["time"])
    with query.stream(device="cuda", **OPTIONS) as pushed:
        found = [pushed.push(table.slice(at, 50)).to_arrow() for at in range(0, 120, 50)]
    assert pa.concat_tables(found) == query.run(table, **OPTIONS).to_arrow()


def test_what_is_said_of_the_place() -> None:
    table = trades(30)
    found = cer.compile(QUERIES["time"]).run(table, device="cuda", **OPTIONS)
    assert found.device == "cuda:0"
    assert found.device_reason == "device='cuda:0' was asked for; on the CPU: listing matches"
    rule = cer.compile(QUERIES["rule"]).run(table, device="cuda:0", **OPTIONS)
    assert rule.device_reason == (
        "device='cuda:0' was asked for; on the CPU: listing the matches of joins, assigning events to "
        "partitions and streams"
    )
    falls = cer.compile(QUERIES["attribute"]).run(table, device="cuda", **OPTIONS)
    assert falls.device_reason.endswith("matches, partitions in which what WITHIN measures falls")


def test_time_that_falls_is_an_error_in_a_later_piece() -> None:
    times = [*range(100), 40, *range(100, 120)]
    table = pa.table({"type": ["A"] * 121, "ts": times})
    with pytest.raises(cer.DataError, match=r"row 100 .*is out of order"):
        cer.compile("SELECT * WHERE A ; A WITHIN 5 seconds").hits(table, device="cuda", **OPTIONS)


def test_the_next_piece_is_on_its_way_before_this_one_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []
    classifier = cuda_classify.CudaClassifier
    stage, into = classifier._stage, classifier.into

    def noting_staged(self: object, batch: pa.RecordBatch) -> None:
        seen.append(("copied", len(batch)))
        stage(self, batch)

    def noting_events(self: object, batch: object, before: int, *arrays: object) -> object:
        seen.append(("looked at", batch.rows))
        return into(self, batch, before, *arrays)

    monkeypatch.setattr(classifier, "_stage", noting_staged)
    monkeypatch.setattr(classifier, "into", noting_events)
    cer.compile(QUERIES["time"]).hits(trades(150), device="cuda", **OPTIONS)
    assert seen == [
        ("copied", 64),
        ("copied", 64),
        ("looked at", 64),
        ("copied", 22),
        ("looked at", 64),
        ("looked at", 22),
    ]


# ------------------------------------------------------------------------------------- out of memory


class NoMemoryError(Exception):
    """As Numba raises it."""

    code = 2


class Memory:
    """Lets allocations fail that `fits` refuses, for their bytes and the number of those before."""

    def __init__(self) -> None:
        self.fits: Callable[[int, int], bool] = lambda size, made: True
        self.made = self.refused = 0

    def guarded(self, function: Callable[..., object]) -> Callable[..., object]:
        def allocate(first: object, *others: object, **named: object) -> object:
            shape = first.shape if isinstance(first, np.ndarray) else first
            dtype = (
                first.dtype if isinstance(first, np.ndarray) else np.dtype(others[0] if others else np.uint8)
            )
            size = int(np.prod(shape)) * dtype.itemsize
            self.made += 1
            if not self.fits(size, self.made):
                self.refused += 1
                raise NoMemoryError(f"{size} bytes")
            return function(first, *others, **named)

        return allocate


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    made = Memory()
    for where, name in allocators():
        monkeypatch.setattr(where, name, made.guarded(getattr(where, name)))
    return made


def test_what_was_staged_is_copied_once_more_after_memory_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of 40, and no memory for the kernels over 20 or more: two pieces are copied in vain."""
    monkeypatch.setattr(cuda_memory, "ROWS", 40)
    uploads: list[int] = []
    upload, into = cuda_staging.Staging.upload, cuda_classify.CudaClassifier.into

    def counting(self: object, arrays: list[np.ndarray], placed: Callable[[list[int]], None]) -> object:
        uploads.append(max(len(array) for array in arrays[:-1]))  # the last one says how columns are read
        return upload(self, arrays, placed)

    def large(self: object, batch: cuda_classify.ResidentBatch, before: int, *arrays: object) -> object:
        uploads.append(-batch.rows)
        if batch.rows >= 20:
            raise NoMemoryError("index")
        return into(self, batch, before, *arrays)

    monkeypatch.setattr(cuda_staging.Staging, "upload", counting)
    monkeypatch.setattr(cuda_classify.CudaClassifier, "into", large)
    query, table = cer.compile(QUERIES["time"]), trades(80)
    wanted = query.counts(table, device="cpu", **OPTIONS)
    assert query.counts(table, device="cuda", **OPTIONS) == wanted
    halved = [40, 40, -40, 20, -20, 10, -10, 10, -10, 20, -20, 10, -10, 10, -10]
    # The second piece is cut before it is copied again; from then on a copy is ahead of the kernels anew.
    assert uploads == [*halved, 10, 10, -10, 10, -10, 10, -10, -10]


@pytest.mark.parametrize(("name", "most"), [("time", 1000), ("partitions", 600), ("carried", 600)])
def test_pieces_that_do_not_fit_are_halved(name: str, most: int, memory: Memory) -> None:
    query, table = cer.compile(QUERIES[name]), trades(150)
    for ask in (query.hits, query.count):
        wanted = ask(table, device="cpu", **OPTIONS)
        memory.refused, memory.fits = 0, lambda size, _: size < most
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ask(table, device="cuda", **OPTIONS) == wanted
        assert memory.refused >= 1


@pytest.mark.parametrize("name", ["time", "events", "partitions", "carried", "strategy", "attribute"])
def test_at_last_the_cpu_goes_on(name: str, memory: Memory) -> None:
    """Wherever in the run it is that nothing fits any more."""
    query, table = cer.compile(QUERIES[name]), trades(length(name))
    wanted = query.counts(table, device="cpu", **OPTIONS)
    assert query.counts(table, device="cuda", **OPTIONS) == wanted
    run_out(memory, (0, 1, 3, 5, 7), lambda: query.counts(table, device="cuda", **OPTIONS) == wanted)


@pytest.mark.parametrize("name", ["time", "partitions", "strategy"])
def test_complex_events_are_listed_without_memory_too(name: str, memory: Memory) -> None:
    query, table = cer.compile(QUERIES[name]), trades(90)
    wanted = query.run(table, device="cpu", **OPTIONS).to_arrow()
    assert query.run(table, device="cuda", **OPTIONS).to_arrow() == wanted
    run_out(memory, (1, 4, 7), lambda: query.run(table, device="cuda", **OPTIONS).to_arrow() == wanted)


@pytest.mark.usefixtures("two")
def test_a_device_without_memory_leaves_its_part_to_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are counted in ranges, of which some fit: the numbers are the same, in the same order."""
    tried: list[int] = []
    whole, ones = cuda_execute.OneDevice.counts, []

    def large(self: object, there: object, lists: cuda_execute.EndLists) -> object:
        tried.append(len(lists))
        if self not in ones:
            ones.append(self)
        if ones.index(self) % 2 == 0 or len(lists) > 5:
            raise NoMemoryError("counts")
        return whole(self, there, lists)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "CHUNK", 150)
    monkeypatch.setattr(cuda_execute.OneDevice, "counts", large)
    for name in ("time", "partitions"):
        query, table = cer.compile(QUERIES[name]), trades(300)
        wanted = query.counts(table, device="cpu", **OPTIONS)
        with pytest.warns(UserWarning, match="no memory left"):
            assert query.counts(table, device="cuda:0,cuda:1", **OPTIONS) == wanted
    assert max(tried) > 5
    assert min(tried) <= 5


def run_out(memory: Memory, shares: tuple[int, ...], agrees: Callable[[], bool]) -> None:
    """Assert that a run gives the CPU's answer, with a warning, wherever it is that memory runs out."""
    whole = memory.made
    for share in shares:
        memory.made, last = 0, whole * share // 9
        memory.fits = lambda _, made, last=last: made <= last
        with pytest.warns(UserWarning, match="no memory left"):
            assert agrees()


def test_other_errors_are_not_taken_for_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("an illegal address")

    for where, name in allocators():
        if "pinned" in name:
            monkeypatch.setattr(where, name, broken)
    with pytest.raises(RuntimeError, match="an illegal address"):
        cer.compile(QUERIES["time"]).hits(trades(30), device="cuda", **OPTIONS)


# ----------------------------------------------------------------------------------- several devices


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Two devices, of which the second is the first again; those that something was launched on."""
    used: set[int] = set()

    @contextmanager
    def noting(number: int) -> Iterator[None]:
        used.add(number)
        yield

    found = availability.UsableDevices(("One", "Two"), "One can be used")
    monkeypatch.setattr(availability, "cuda_usable", lambda: found)
    monkeypatch.setattr(findings, "fault_of", lambda number, *engines: None)  # no second one is there
    for module in (devices, cuda_classify, cuda_devices, cuda_run):
        monkeypatch.setattr(module, "on", noting)
    return used


@pytest.mark.parametrize("name", ["time", "partitions", "carried"])
@pytest.mark.parametrize("device", ["cuda:0,cuda:1", ["cuda:1", "cuda:0"]])
def test_lanes_are_dealt_out_over_the_devices_named(name: str, device: object, two: set[int]) -> None:
    agree(QUERIES[name], trades(150), device)
    assert two == {0, 1}


def test_dealt_in_shares_of_about_as_much() -> None:
    assert bounds_of(np.array([5, 5, 5, 5]), 2) == [0, 1, 4] or bounds_of(np.array([5, 5, 5, 5]), 2) == [
        0,
        2,
        4,
    ]
    assert bounds_of(np.array([], np.int64), 3) == [0, 0, 0, 0]
    assert bounds_of(np.array([9]), 2)[-1] == 1
    bounds = bounds_of(np.arange(1, 101), 4)
    sums = [np.arange(1, 101)[low:high].sum() for low, high in pairwise(bounds)]
    assert max(sums) < 1.1 * min(sums)


def test_auto_takes_a_gpu_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(device_estimate.ENGINES, "automaton", device_estimate.EventWork(0.05, 0, 25))
    monkeypatch.setattr(device_choice, "DEAREST", 0.05)
    monkeypatch.setattr(findings, "is_checked", lambda number, *engines: True)
    monkeypatch.setattr(findings, "speed_of", lambda number: DeviceSpeed(2.76e12, 53.7e9, 0.05))
    monkeypatch.setattr(device_choice, "no_driver", lambda: None)
    monkeypatch.setattr(availability, "simulated", lambda: False)
    monkeypatch.setattr(
        availability, "cuda_usable", lambda: availability.UsableDevices(("H200",), "H200 can be used")
    )
    table, query = trades(150), cer.compile(QUERIES["time"])
    told = query.explain(events=table, **OPTIONS)
    assert "cuda:0: it takes about 0.4 s, and the CPU about 7.5 s" in told
    assert query.count(table, **OPTIONS) == query.count(table, device="cpu", **OPTIONS)
    found = query.run(table, **OPTIONS)
    assert found.device == "cpu"
    assert found.device_reason.endswith("any GPU about 7.5 s: the CPU lists matches anyway")
    few = query.explain(events=trades(5), **OPTIONS)
    assert (
        "cpu: the CPU, because it takes about 0.2 s, and cuda:0 about 0.4 s: its kernels are launched" in few
    )
    assert bound.place_of is device_choice.place_of
