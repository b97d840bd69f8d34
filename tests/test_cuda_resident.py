"""Events that lie on a device: read there for hits and counts, copied for what else is asked."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import addressof, sizeof
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from cuda_device import SIMULATED, TINY, USABLE, allocators
from numba import cuda as numba_cuda
from test_cuda_devices import OPTIONS, QUERIES, Memory, trades, with_geometry

import cer_gpu as cer
from cer_gpu.engine.cuda import classify as cuda_classify
from cer_gpu.engine.cuda import memory as cuda_memory
from cer_gpu.engine.cuda.machines import automaton as cuda_devices
from cer_gpu.engine.cuda.machines import carried_query as cuda_carried
from cer_gpu.engine.cuda.machines import one_device as cuda_execute
from cer_gpu.engine.cuda.machines import resident_query as cuda
from cer_gpu.engine.cuda.machines import resident_run as cuda_run
from cer_gpu.engine.read.sources import device_interface, device_rows
from cer_gpu.engine.read.sources.device_interface import (
    ArrowArray,
    ArrowDeviceArray,
    ArrowDeviceArrayStream,
    device_batches,
)
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.progress import Progress

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = pytest.mark.gpu
CPU, CUDA = 1, 2


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = TINY[0]
    lanes = {"lane": tiny, "stream": tiny}
    for made, geometry in (
        (cuda_classify.CudaClassifier, {"geometry": tiny}),
        (cuda_devices.DevicesAutomaton, lanes),
        (cuda_run.ResidentRun, lanes),
    ):
        monkeypatch.setattr(made, "__init__", with_geometry(made.__init__, geometry))
    for module in (cuda_execute, cuda):
        monkeypatch.setattr(module, "lane_geometry", lambda _, chosen: chosen)
    monkeypatch.setattr(cuda_execute, "LEAST_UNIT", 5)
    monkeypatch.setattr(cuda_execute, "LIST", 5)
    monkeypatch.setattr(cuda_carried, "LEAST", 5)
    monkeypatch.setattr(cuda, "LEAST_CUT", 5)
    for module in (cuda_execute, cuda):
        monkeypatch.setattr(module, "GUESSED", 3)
    monkeypatch.setattr(cuda.WindowedQuery, "_room", 3)
    monkeypatch.setattr(cuda_memory, "LEAST", 8)


KEPT: list[object] = []
"""What is on the device for as long as the tests run: a batch may outlive the object that gave it."""


def move(array: ArrowArray, column: pa.Array) -> None:
    """Put the buffers of an exported column on the device; the memory of the simulator's is the host's."""
    for at, buffer in enumerate(column.buffers()[: array.n_buffers]):
        if buffer is not None and buffer.size and not SIMULATED:
            there = numba_cuda.to_device(np.frombuffer(buffer, np.uint8))
            array.buffers[at] = there.device_ctypes_pointer.value
            KEPT.append(there)
    if array.dictionary:
        move(array.dictionary.contents, column.dictionary)


def move_all(array: ArrowArray, batch: pa.RecordBatch) -> None:
    """Put an exported batch on the device."""
    for at, column in enumerate(batch.columns):
        move(array.children[at].contents, column)


class DeviceArray:
    """A record batch as an object of another library hands it over."""

    def __init__(self, batch: pa.RecordBatch, kind: int = CUDA) -> None:
        self._batch, self._kind = batch, kind

    def __arrow_c_device_array__(self, requested_schema: object = None) -> tuple[object, object]:
        schema, array = self._batch.__arrow_c_device_array__()
        at = device_interface.pointer_of(array, b"arrow_device_array")
        exported = ArrowDeviceArray.from_address(at)
        exported.device_type = self._kind
        if self._kind == CUDA:
            move_all(exported.array, self._batch)
        return schema, array


class DeviceStream:
    """Record batches one after another, as another library hands them over; `fails` after the last."""

    def __init__(self, table: pa.Table, rows: int, kind: int = CUDA, fails: bool = False) -> None:
        self._schema, self._batches = table.schema, iter(table.to_batches(max_chunksize=rows))
        stream = self._stream = ArrowDeviceArrayStream()
        types = dict(ArrowDeviceArrayStream._fields_)
        stream.device_type = kind

        def get_schema(_: object, out: object) -> int:
            self._schema._export_to_c(addressof(out.contents))
            return 0

        def get_next(_: object, out: object) -> int:
            batch = next(self._batches, None)
            if batch is None:
                ctypes.memset(out, 0, sizeof(ArrowDeviceArray))
                return 5 if fails else 0
            batch._export_to_c_device(addressof(out.contents))
            out.contents.device_type = kind
            if kind == CUDA:
                move_all(out.contents.array, batch)
            return 0

        self._calls = {
            "get_schema": types["get_schema"](get_schema),
            "get_next": types["get_next"](get_next),
            "get_last_error": types["get_last_error"](lambda _: b"the disk is gone"),
            "release": types["release"](lambda _: None),
        }
        for name, call in self._calls.items():
            setattr(stream, name, call)

    def __arrow_c_device_stream__(self, requested_schema: object = None) -> object:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(addressof(self._stream), b"arrow_device_array_stream", None)


class Column:
    """Numbers on a device, as CuPy and others show them."""

    def __init__(self, values: np.ndarray, **more: object) -> None:
        self._values = values
        interface = {**values.__array_interface__, "version": 3, **more}
        if not SIMULATED:
            self._there = numba_cuda.to_device(np.ascontiguousarray(values))
            interface["data"] = (self._there.device_ctypes_pointer.value, False)
        self.__cuda_array_interface__ = interface


class Frame:
    """A cuDF DataFrame, as far as it is read here: the table that it gives has no names."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch, self.columns = batch, list(batch.schema.names)

    def to_pylibcudf(self) -> tuple[object, dict[str, object]]:
        unnamed = self._batch.rename_columns([f"{number}" for number in range(len(self.columns))])
        return DeviceArray(unnamed), {}


def one_batch(table: pa.Table) -> pa.RecordBatch:
    (batch,) = table.combine_chunks().to_batches()
    return batch


def given(table: pa.Table) -> Iterator[object]:
    """The same events on a device in every way."""
    yield DeviceArray(one_batch(table))
    yield DeviceArray(one_batch(pa.concat_tables([trades(11), table])).slice(11))
    yield DeviceStream(table, 64)
    yield Frame(one_batch(table))


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The columns that are copied to the host."""
    names: list[list[str]] = []
    whole = device_rows.DeviceTable.on_host

    def noting(self: device_rows.DeviceTable, wanted: list[str]) -> pa.RecordBatch:
        if len(self) > 1:
            names.append(list(wanted))
        return whole(self, wanted)

    monkeypatch.setattr(device_rows.DeviceTable, "on_host", noting)
    return names


@pytest.mark.parametrize("name", ["time", "events", "carried"])
def test_columns_are_read_where_they_lie(name: str, copied: list[list[str]]) -> None:
    query, table = cer.compile(QUERIES[name]), trades(150)
    for ask in (query.hits, query.counts, query.count):
        wanted = ask(table, device="cpu", **OPTIONS)
        for events in given(table):
            copied.clear()
            assert ask(events, **OPTIONS) == wanted
            # The sum of two columns is the host's.
            assert {*map(tuple, copied)} == ({("price", "volume")} if name == "events" else set())


def test_types_that_are_numbers_are_read_where_they_lie(copied: list[list[str]]) -> None:
    events = trades(150)
    several = [4624, 7, 4625, 30, -1, 80_000]
    numbers = pa.array(np.array(several)[np.random.default_rng(5).integers(0, 6, 150)], pa.int32())
    events = events.append_column("event_id", numbers)
    texts = {"order_by": "ts", "type_column": "event_id"}
    for types in ("`4624`", "(`4624` OR `7` OR `30` OR `-1` OR `80000`)"):
        query = cer.compile(f"SELECT * FROM S WHERE {types} AS a ; `4625` AS b WITHIN 5 EVENTS")
        wanted = query.counts(events, device="cpu", **texts)
        assert len(wanted)
        assert query.counts(events, device="cuda", **texts) == wanted
        for there in (DeviceArray(one_batch(events)), DeviceStream(events, 64)):
            assert query.counts(there, **texts) == wanted
    assert not copied


@pytest.mark.parametrize("name", ["partitions", "rule", "strategy"])
def test_what_else_is_asked_is_answered_from_a_copy(name: str, copied: list[list[str]]) -> None:
    query, table = cer.compile(QUERIES[name]), trades(90)
    wanted = query.counts(table, device="cpu", **OPTIONS)
    for events in given(table):
        assert query.counts(events, **OPTIONS) == wanted
    assert copied
    found = query.run(DeviceArray(one_batch(table)), **OPTIONS)
    assert found.to_arrow() == query.run(table, device="cpu", **OPTIONS).to_arrow()


def test_the_place_is_where_the_events_are() -> None:
    events = DeviceArray(one_batch(trades(20)))
    found = cer.compile(QUERIES["time"]).run(events, **OPTIONS)
    assert (found.device, found.device_reason) == ("cuda:0", "the events are in the memory of that device")
    assert cer.compile(QUERIES["time"]).run(events, device="cpu", **OPTIONS).device == "cpu"


def test_arrays_by_name() -> None:
    table = trades(150)
    price = table["price"].fill_null(0).to_numpy()
    columns = {
        "type": one_batch(table)["type"],
        "price": Column(price),
        "volume": one_batch(table)["price"],
        "ts": Column(table["ts"].to_numpy()),
    }
    host = pa.table({"type": table["type"], "price": price, "volume": table["price"], "ts": table["ts"]})
    text = "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a[price > 2] AND c[volume < 3] WITHIN 15 seconds"
    query = cer.compile(text)
    wanted = query.counts(host, device="cpu", **OPTIONS)
    assert len(wanted) > 3
    assert query.counts(columns, **OPTIONS) == wanted
    assert query.run(columns, **OPTIONS).to_arrow() == query.run(host, device="cpu", **OPTIONS).to_arrow()


def test_every_type_of_column_survives_the_way_there_and_back() -> None:
    rng = np.random.default_rng(1)
    n = 37
    missing = rng.random(n) < 0.3
    numbers = [
        pa.array(rng.integers(0, 100, n), kind, mask=missing)
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32())
    ]
    others = [
        pa.array(rng.random(n), pa.float32()),
        pa.array(rng.random(n), mask=missing),
        pa.array(rng.random(n) < 0.5, mask=missing),
        pa.array(rng.integers(0, 10**12, n), pa.timestamp("ms", "UTC")),
        pa.array(rng.integers(0, 10**9, n), pa.duration("us"), mask=missing),
        pa.array(rng.integers(0, 10**4, n), pa.int32()).cast(pa.date32()),
    ]
    letters = rng.choice(["one", "two", ""], n)
    texts = [pa.array(letters, kind, mask=missing) for kind in (pa.string(), pa.large_string())]
    texts.append(pa.array(letters, mask=missing).dictionary_encode())
    arrays = [*numbers, *others, *texts]
    batch = pa.RecordBatch.from_arrays(arrays, [f"c{number}" for number in range(len(arrays))])
    for part in (batch, batch.slice(5, 20), batch.slice(0, 0)):
        source = open_source(DeviceArray(part))
        found = pa.Table.from_batches(source.batches(batch.schema.names, 10), source.arrow_schema)
        assert [column.to_pylist() for column in found.columns] == [
            column.to_pylist() for column in part.columns
        ]


def test_order_is_looked_at_on_the_device() -> None:
    query = cer.compile("SELECT * WHERE A ; A WITHIN 5 seconds")

    def lying(times: list[float]) -> DeviceArray:
        return DeviceArray(one_batch(pa.table({"type": ["A"] * len(times), "ts": times})))

    assert query.count(lying([1, 2, 9, 10]), **OPTIONS) == 2
    for times, message in (
        ([1, 2, 9, 3, 10], "row 3 .*is out of order"),
        ([1.0, 2.0, float("nan"), 3.0], "row 2 .* has no time: `ts` is NaN"),
        ([1, None, 3], "row 1 .* has no time: `ts` is null"),
    ):
        with pytest.raises(cer.DataError, match=message):
            query.count(lying(times), **OPTIONS)
    table = pa.table({"type": ["A"] * 6, "ts": [5, 6, 7, 1, 2, 3]})
    with pytest.raises(cer.DataError, match=r"row 3 .*is out of order"):
        query.count(DeviceStream(table, 3), **OPTIONS)
    with pytest.raises(cer.DataError, match=r"row 4 .*is out of order"):
        query.count(DeviceStream(pa.table({"type": ["A"] * 7, "ts": [1, 2, 3, 7, 5, 8, 9]}), 3), **OPTIONS)


@pytest.mark.parametrize("name", ["time", "carried"])
def test_progress_counts_events_that_lie_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []
    monkeypatch.setattr(Progress, "advance", lambda _, rows: shown.append(rows))
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True, write=len, flush=lambda: None))
    query = cer.compile(QUERIES[name])
    wanted = query.count(trades(150), device="cpu", **OPTIONS)
    shown.clear()
    assert query.count(DeviceStream(trades(150), 41), **OPTIONS) == wanted
    assert shown == [41, 41, 41, 27]


@pytest.mark.parametrize("name", ["time", "carried"])
def test_memory_that_runs_out_ends_on_the_cpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query, table = cer.compile(QUERIES[name]), trades(150)
    wanted = query.counts(table, device="cpu", **OPTIONS)
    source = DeviceArray(one_batch(table))
    memory = Memory()
    for where, allocate in allocators():
        monkeypatch.setattr(where, allocate, memory.guarded(getattr(where, allocate)))
    assert query.counts(source, **OPTIONS) == wanted
    whole = memory.made
    for share in (4, 6, 8):
        memory.made, last = 0, whole * share // 9
        memory.fits = lambda _, made, last=last: made <= last
        with pytest.warns(UserWarning, match="no memory left"):
            assert query.counts(source, **OPTIONS) == wanted


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_open_matches_past_a_word_are_carried_on() -> None:
    """`A+ ; B` over 40 A events in each part: 2^40 - 1 sets of them, then 2^80 - 1, then some more."""
    table = pa.table({"type": (["A"] * 40 + ["B"]) * 2 + ["C", "B"], "ts": range(84)})
    query = cer.compile("SELECT * WHERE A+ ; B")
    counted = query.counts(DeviceStream(table, 41), **OPTIONS)
    assert counted["count"].to_pylist() == [2**40 - 1, 2**80 - 1, 2**80 - 1]
    assert query.count(DeviceStream(table, 41), **OPTIONS) == 2**81 + 2**40 - 3


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("middle", ["Z", "A"])
def test_open_matches_past_a_word_wait_through_a_batch(middle: str) -> None:
    types = ["A"] + ["B"] * 70 + ["Z"] * 9 + [middle] * 80 + ["C"] + ["Z"] * 79
    table = pa.table({"type": types, "ts": list(range(len(types)))})
    query = cer.compile("SELECT * WHERE A AS a ; B AS b + ; C AS c")
    assert query.count(DeviceStream(table, 80), **OPTIONS) == 2**70 - 1
    counted = query.counts(DeviceStream(table, 80), **OPTIONS)
    assert counted == query.counts(table, device="cpu", **OPTIONS)


@pytest.mark.filterwarnings("ignore:memory leak in callback")
def test_what_cannot_be_used() -> None:
    table = one_batch(trades(10))
    for host in DeviceArray(table, CPU), DeviceStream(trades(10), 5, CPU):
        found = device_batches(host, "here")
        assert isinstance(found, pa.RecordBatchReader)
        assert found.read_all().num_rows == 10
    with pytest.raises(cer.DataError, match="the table gave no Arrow data: the disk is gone"):
        open_source(DeviceStream(trades(10), 5, fails=True))
    numbers = np.arange(6)
    for columns, message in (
        ({"a": Column(numbers), "b": Column(numbers[:3])}, "different lengths"),
        ({"a": Column(numbers[::2])}, "not a contiguous array of one dimension"),
        ({"a": Column(numbers.reshape(2, 3))}, "not a contiguous array of one dimension"),
        ({"a": Column(numbers, mask=Column(numbers))}, "has a mask"),
        ({"a": Column(numbers.astype(np.uint64))}, "is of type uint64, which cannot be used on a device"),
    ):
        with pytest.raises(cer.DataError, match=message):
            open_source(columns)
    odd = pa.RecordBatch.from_arrays([pa.array([[1]])], ["a"])
    with pytest.raises(cer.DataError, match="is of type list"):
        open_source(DeviceArray(odd))


def test_a_batch_is_released_once() -> None:
    released: list[int] = []
    table = trades(10)
    stream = DeviceStream(table, 5)
    schema, batches = device_batches(stream, "here") or (None, [])
    assert schema == table.schema
    assert [batch.array.array.length for batch in batches] == [5, 5]
    for batch in batches:
        array = batch.array.array
        kind = type(array.release)
        # A function read from a field is the field: its address makes another one.
        whole = kind(ctypes.cast(array.release, ctypes.c_void_p).value)
        noting = kind(lambda at, whole=whole: (released.append(1), whole(at))[1])
        stream._calls[f"noting {id(batch)}"] = noting
        array.release = noting
    del batch, array
    batches.clear()
    assert released == [1, 1]
