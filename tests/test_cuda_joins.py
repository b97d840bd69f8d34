"""Joins on a device: the kernels and whole queries against those of the CPU."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.device import words
from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.kernels.joins import cpu_hits as on_cpu_hits
from cer_gpu.kernels.joins import cuda_cells as join_cells
from cer_gpu.kernels.joins import cuda_counts as join_counts
from cer_gpu.kernels.joins import cuda_hits as join_hits
from cer_gpu.kernels.joins import cuda_nodes as join_nodes
from cer_gpu.kernels.joins.contract import KeyedEvents, offsets
from cer_gpu.kernels.joins.cuda_cells import DeviceJoin, cells_of, device_join
from cer_gpu.kernels.windows.contract import comparable
from cuda_device import TINY, USABLE, cases
from generate import stream, stream_to_table
from join_oracle import (
    LABEL_ATOMS,
    JoinCase,
    Listed,
    Step,
    join_tables,
    listed,
    random_join_case,
    some_hits,
)
from numba import cuda
from random_correlated import random_correlated
from random_rules import random_rule, random_rule_events
from test_cuda_devices import small, with_geometry
from test_join_kernels import pairs_of_runs

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine import devices
from cer_gpu.engine.cuda.machines import automaton as cuda_devices
from cer_gpu.engine.cuda.machines import joins, units
from cer_gpu.engine.cuda.machines.joins import DevicesJoin
from cer_gpu.engine.run import chunks as runner
from cer_gpu.enumeration.blocks import in_parts
from cer_gpu.language.printer import to_text

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

CASES, QUERIES = cases(12, 200), cases(5, 100)


def there(case: JoinCase) -> tuple[DeviceJoin, tuple[Any, ...]]:
    """A join and what is read of its events, on the device."""
    events = case.events
    slots = events.slots if events.slots.size else np.zeros((1, 1), np.int32)
    return device_join(case.tables), (
        words.to_device(events.symbols), words.copied(slots), words.copied(events.places),
    )  # fmt: skip


def on_host(parts: tuple[Any, ...]) -> list[list[int]]:
    return [part.copy_to_host().tolist() for part in parts]


# ------------------------------------------------------------------------------------------ kernels


@pytest.mark.parametrize("chains", [False, True])
@pytest.mark.draws("seed", 2)
def test_hits_are_those_of_the_cpu(seed: int, chains: bool) -> None:
    rng = random.Random(900 + seed)
    total = 0
    for number in range(CASES):
        case, geometry = random_join_case(rng, chains), TINY[number % 3]
        events, bounds = case.events, (case.begin, case.report, case.stop)
        event, latest = on_cpu_hits.hits(case.tables, events, case.keys, case.size, *bounds)
        join, arrays = there(case)
        keys, _ = comparable(case.keys, 0)
        cells = cells_of(join, case.begin, case.stop, int(events.offset[-1]))
        if number % 2:
            cells = cells // 2 + 1  # all but full, so that no piece may touch the cells of another
        first, *found = join_hits.hits(
            join, *arrays, words.copied(keys), case.size, *bounds, cells, geometry, TINY[1]
        )
        assert on_host(tuple(found)) == [event.tolist(), latest.tolist()]
        assert first.copy_to_host()[-1] == len(event)
        total += len(event)
    assert total > CASES // 3


def counted(case: JoinCase, found: Listed, copies: int, geometry: Geometry) -> tuple[np.ndarray, np.ndarray]:
    join, arrays = there(case)
    cells = cells_of(join, case.begin, case.stop, int(case.events.offset[-1]))
    hits = np.diff(found.first)
    rooms = join_nodes.rooms_of(join, cells, case.stop - case.begin, hits, copies)
    ends = found.first, found.event, found.lowest
    parts = join_counts.counts(join, *arrays, case.begin, case.stop, *ends, rooms, geometry)
    return parts[0].copy_to_host(), parts[1].copy_to_host()


@pytest.mark.parametrize("chains", [False, True])
@pytest.mark.draws("seed", 2)
def test_counts_are_those_of_the_run_trees(seed: int, chains: bool) -> None:
    rng = random.Random(910 + seed)
    total = 0
    for number in range(CASES):
        case = random_join_case(rng, chains)
        found = listed(case)
        if number % 3 == 0:
            found = some_hits(found, [rng.random() < 0.6 for _ in found.rows])
        number_of, status = counted(case, found, 16, TINY[number % 3])
        assert not status.any()
        assert number_of.tolist() == [len(rows) for rows in found.rows]
        total += int(number_of.sum())
    assert total > CASES // 3


def shuffled_starts(rng: random.Random, segments: int, length: int) -> tuple[JoinCase, Listed]:
    """`A ; B ; C` where B joins any A: runs come in any order of their starts, so that unions copy paths."""
    steps = [Step(1, 1, False, [], [(0, 0)]), Step(2, 2, False, [(0, 0)], [(1, -1)])]
    tables = join_tables(4, [*steps, Step(3, 4, True, [(1, -1)])], [False, False])
    slots: list[int] = []
    event: list[int] = []
    lowest: list[int] = []
    for g in range(segments):
        ids = list(range(length))
        low = 3 * length * g
        slots += [*ids, *rng.sample(ids, length), *[-1] * length]
        event += range(low + 2 * length, low + 3 * length)
        lowest += range(low, low + length)
    symbols = np.array(([1] * length + [2] * length + [3] * length) * segments, np.uint8)
    places = np.empty(0, np.int64)
    space = offsets(np.array([0, -1], np.int32), np.array([length]))
    events = KeyedEvents(symbols, np.array([slots], np.int32), places, space)
    begin = np.arange(segments) * 3 * length
    case = JoinCase(tables, events, LABEL_ATOMS, begin, begin, begin + 3 * length, places, 0)
    first = np.arange(segments + 1) * length
    return case, Listed(first, np.array(event), np.array(lowest), np.array(lowest), [])


def test_unions_that_copy_paths_beside_one_another() -> None:
    case, found = shuffled_starts(random.Random(4), 8, 24)
    number, status = counted(case, found, 16, TINY[2])
    assert not status.any()
    assert number.tolist() == [*range(24, 0, -1)] * 8


def test_full_tables_beside_one_another_with_the_same_keys() -> None:
    case, found = shuffled_starts(random.Random(4), 8, 24)
    join, arrays = there(case)
    keys = words.copied(np.empty(0, np.uint64))
    cells = np.full(8, 24 + 1 + 1)
    bounds = case.begin, case.report, case.stop
    _, event, latest = join_hits.hits(join, *arrays, keys, 0, *bounds, cells, TINY[2], TINY[0])
    assert on_host((event,)) == [found.event.tolist()]
    assert on_host((latest,)) == [np.repeat(case.begin + 23, 24).tolist()]


@pytest.mark.parametrize("depth", [5, 6])
def test_a_count_too_large_is_the_status_of_its_list(depth: int) -> None:
    number, status = counted(*pairs_of_runs(depth), 2, TINY[0])
    # at the second hit the first level has three runs
    assert status.tolist() == [0 if depth == 5 else join_counts.TOO_LARGE]
    assert depth == 6 or number.tolist() == [2 ** (2**depth), 2 ** (2**depth)]


def test_too_little_room_is_a_status_and_harms_no_neighbour() -> None:
    rng = random.Random(3)
    full = 0
    for _ in range(CASES):
        case = random_join_case(rng)
        found = listed(case)
        join, arrays = there(case)
        cells = cells_of(join, case.begin, case.stop, int(case.events.offset[-1]))
        rooms = join_nodes.rooms_of(join, cells, case.stop - case.begin, np.diff(found.first), 4)
        least = join_nodes.rooms_of(join, 0, 0, 0, 0).nodes + 1
        few = rooms._replace(nodes=np.where(np.arange(len(cells)) % 2, rooms.nodes, least))
        ends = case.begin, case.stop, found.first, found.event, found.lowest
        number, status = join_counts.counts(join, *arrays, *ends, few, TINY[0])
        status = status.copy_to_host()
        counts = np.array([len(rows) for rows in found.rows], np.int64)
        left = np.repeat(status == 0, np.diff(found.first))
        assert number.copy_to_host()[left].tolist() == counts[left].tolist()
        assert not status[1::2].any()
        full += int((status == join_counts.FULL).sum())
    assert full > CASES // 4


def test_a_table_that_is_all_but_full() -> None:
    """Chains that go on at the first cell, and keys that begin at the same one."""
    rng = random.Random(5)
    pairs = [(rng.randrange(3), rng.randrange(1 << 31)) for _ in range(40)]
    claimed = join_cells.claimed

    @cuda.jit
    def store(keys: Any, entry: Any, slot: Any, where: Any, again: Any) -> None:
        for k in range(entry.shape[0]):
            where[k], fresh = claimed(keys, entry[k], slot[k])
            again[k] = 0 if fresh else 1

    entry, slot = (np.array(part, np.int32) for part in zip(*(pairs + pairs), strict=True))
    keys = np.full(len(pairs) + 1, join_cells.EMPTY, np.int64)
    where, again = cuda.device_array(len(entry), np.int64), cuda.device_array(len(entry), np.int64)
    held = cuda.to_device(keys)
    store[1, 1](held, cuda.to_device(entry), cuda.to_device(slot), where, again)
    places = where.copy_to_host()
    assert sorted(places[: len(pairs)].tolist()) == sorted(set(places.tolist()))
    assert places[: len(pairs)].tolist() == places[len(pairs) :].tolist()
    assert again.copy_to_host().tolist() == [0] * len(pairs) + [1] * len(pairs)
    assert int((held.copy_to_host() == join_cells.EMPTY).sum()) == 1


# ------------------------------------------------------------------------------------- whole queries


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Joins in tiny pieces on the device; how often it had hits and counts."""
    small(monkeypatch)
    tiny = {"lane": TINY[0], "stream": TINY[1]}
    monkeypatch.setattr(DevicesJoin, "__init__", with_geometry(DevicesJoin.__init__, tiny))
    for name, value in (("LEAST_UNIT", 5), ("LEAST", 1)):
        monkeypatch.setattr(units, name, value)
    monkeypatch.setattr("cer_gpu.engine.cuda.machines.one_device.LEAST_UNIT", 4)
    monkeypatch.setattr("cer_gpu.engine.cuda.machines.one_device.LIST", 3)
    monkeypatch.setattr(runner, "CHUNK", 10)
    tally: Counter[str] = Counter()

    def noted(name: str) -> None:
        original: Callable[..., Any] = getattr(DevicesJoin, name)

        def method(self: DevicesJoin, *arguments: Any) -> Any:
            found = original(self, *arguments)
            tally[name] += found is not None
            return found

        monkeypatch.setattr(DevicesJoin, name, method)

    noted("hits")
    noted("counts")
    return tally


def agree(query: Query, table: pa.Table, devices: object = "cuda", **options: Any) -> int:
    """Assert that every question has the CPU's answer; the number of complex events."""
    asked = {"device": devices, **options}
    for ask in (query.hits, query.counts, query.count):
        assert ask(table, **asked) == ask(table, device="cpu", **options)
    found = query.run(table, **asked).to_arrow()
    wanted = query.run(table, device="cpu", **options).to_arrow()
    assert found.schema == wanted.schema
    assert str(found.to_pydict()) == str(wanted.to_pydict())  # a NaN is as good as another
    return len(found)


def rules(rng: random.Random) -> Iterator[tuple[Query, pa.Table]]:
    for _ in range(QUERIES):
        rule = random_rule(rng)
        yield Query(to_text(rule)), stream_to_table(random_rule_events(rng, rule, rng.randrange(8, 30)))


def correlated(rng: random.Random) -> Iterator[tuple[Query, pa.Table]]:
    made = 0
    while made < 2 * QUERIES:
        try:
            query = Query(to_text(random_correlated(rng)))
        except cer.CerError:
            continue
        if query._plan.compiled.machine.engine == "joins":
            made += 1
            events = stream(rng, rng.randrange(8, 17), types=("A", "B", "C"), lap_falls=rng.random() < 0.3)
            yield query, stream_to_table(events)


@pytest.mark.parametrize("kind", [rules, correlated])
def test_random_joins_have_the_answers_of_the_cpu(
    kind: Callable[[random.Random], Iterator[tuple[Query, pa.Table]]],
    done: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(f"joins on the device {kind.__name__}")
    total = 0
    for number, (query, table) in enumerate(kind(rng)):
        monkeypatch.setattr(runner, "CHUNK", (8, 40)[number % 2])
        total += agree(query, table, order_by="ts")
    assert total > QUERIES
    assert done["hits"] > 2 * QUERIES
    assert done["counts"] > QUERIES // 2


def keyed(n: int, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    names = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 3, n), pa.int8()), list("ABC"))
    few = {name: rng.integers(0, 3, n) for name in "kmg"}
    return pa.table({"type": names, "lap": np.cumsum(rng.integers(0, 2, n)), **few})


STAR = "Q(x) <- A(k=x), B(k=x), C(k=x) WITHIN 12 EVENTS"
CHAIN = "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.m = b.m AND b.g = c.g "


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        (STAR, True),
        (STAR.replace("12 EVENTS", "4 [lap]"), True),
        (CHAIN + "PARTITION BY k WITHIN 30 EVENTS CONSUME BY PARTITION", True),
        (CHAIN + "WITHIN 20 EVENTS CONSUME BY ANY", True),
        ("SELECT * WHERE A ; B PARTITION BY k WITHIN 20 EVENTS CONSUME BY PARTITION", False),
    ],
)
def test_windows_partitions_and_consumption(text: str, joined: bool, done: Counter[str]) -> None:
    assert agree(cer.compile(text), keyed(90)) > 5
    assert (done["hits"] > 5) == joined


def test_lists_without_room_are_tried_again_and_then_left_to_the_cpu(
    done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    query, table = cer.compile(STAR), keyed(80)
    left: list[int] = []
    wanted = query.counts(table, device="cpu")
    original = DevicesJoin._by_host

    def noted(self: DevicesJoin, chunk: Any, one: Any) -> np.ndarray:
        left.append(len(one.event))
        return original(self, chunk, one)

    monkeypatch.setattr(DevicesJoin, "_by_host", noted)
    rooms = join_nodes.rooms_of

    def without(join: DeviceJoin, *arguments: Any) -> join_nodes.Rooms:
        whole = rooms(join, *arguments)
        few = np.where(np.arange(len(whole.nodes)) % 2, whole.nodes, join.n_stores)
        return whole._replace(nodes=few if arguments[-1] < 3 else whole.nodes)

    monkeypatch.setattr(join_nodes, "rooms_of", without)
    assert query.counts(table, device="cuda") == wanted
    assert not left
    monkeypatch.setattr(joins, "COPIES", (1, 2))
    assert query.counts(table, device="cuda") == wanted
    assert len(left) > 2


def test_counts_past_two_to_the_62(done: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "CHUNK", 1000)
    names = "ABCDEFGHIJKLM"
    table = pa.table({"type": [*names * 28, "Z"], "k": [1] * (28 * len(names) + 1)})
    query = cer.compile(f"Q(x) <- {', '.join(f'{name}(k=x)' for name in names)}, Z(k=x)")
    total = query.count(table, device="cuda")
    assert total == query.count(table, device="cpu")
    assert total > 1 << 62
    assert done["counts"]


def test_tables_that_find_no_memory(done: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Half as many pieces at a time, and at last the CPU, with a warning."""
    query, table = cer.compile(STAR), keyed(80)
    wanted = query.counts(table, device="cpu"), query.hits(table, device="cpu")
    room_for, tried = join_cells.room_for, []

    def fails(most: int) -> None:
        def limited(number: int, *arguments: Any) -> Any:
            tried.append(number)
            if number > most:
                raise ExhaustedError
            return room_for(number, *arguments)

        monkeypatch.setattr(join_hits, "room_for", limited)
        monkeypatch.setattr(join_nodes, "room_for", limited)

    fails(150)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert (query.counts(table, device="cuda"), query.hits(table, device="cuda")) == wanted
    assert max(tried) > 150
    fails(2)
    with pytest.warns(UserWarning, match="no memory left for the look-up tables of a join"):
        assert (query.counts(table, device="cuda"), query.hits(table, device="cuda")) == wanted


class ExhaustedError(Exception):
    """What a driver without memory raises."""

    code = 2


def test_several_devices(done: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges of pieces, each on a device of its own; the one that is there stands for both."""
    for module in (units, devices):
        monkeypatch.setattr(module, "on", lambda number: cuda_devices.on(0))
    begun = DevicesJoin.__init__
    monkeypatch.setattr(DevicesJoin, "__init__", lambda self, window, _: begun(self, window, (0, 1)))
    assert agree(cer.compile(STAR), keyed(90)) > 5
    assert done["hits"] > 5


def test_ranges_that_fit() -> None:
    size = np.array([3, 4, 9, 1, 1, 1, 7])
    assert list(in_parts(size, 7)) == [(0, 2, 7), (2, 3, 9), (3, 6, 3), (6, 7, 7)]
    assert list(in_parts(size, 100)) == [(0, 7, 26)]
    assert list(in_parts(size[:0], 7)) == []
