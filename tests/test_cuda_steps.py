"""Timed steps on a device: the kernels against the definition of runs, whole queries against the CPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.device import words
from cer_gpu.kernels.loop.contract import LoopSegments
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.steps import cpu_counts, cpu_hits
from cer_gpu.kernels.steps import cuda_counts as step_counts
from cer_gpu.kernels.steps import cuda_hits as step_hits
from cer_gpu.kernels.steps.contract import StepEvents, StepTables, short_tables
from cer_gpu.kernels.steps.cuda_units import device_steps
from cer_gpu.kernels.windows.contract import comparable
from cuda_device import TINY, USABLE, cases
from generate import stream, stream_to_table
from random_steps import keyed_query, session_query, timed_query
from test_cuda_devices import small, trades, with_geometry
from test_kernel_steps import events_of, layered, tables_of

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine import devices
from cer_gpu.engine.cuda import pool
from cer_gpu.engine.cuda.machines import automaton as cuda_devices
from cer_gpu.engine.cuda.machines import one_device, units
from cer_gpu.engine.cuda.machines.steps import DevicesSteps
from cer_gpu.engine.run import chunks as runner
from cer_gpu.language.printer import to_text
from cer_gpu.language.tree import SelectQuery

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning"),
]

CASES, QUERIES = cases(25, 300), cases(7, 120)

Units = tuple[StepTables, StepEvents, LoopSegments]


def drawn(rng: Random, floating: bool) -> Units:
    """An automaton, and the events of some lanes in units, of which later ones may begin with a halo."""
    tables = tables_of(rng, floating)
    if rng.random() < 0.4:
        tables = layered(rng, tables)
    lanes, bounds = [], []
    at = 0
    for _ in range(rng.randrange(1, 7)):
        n = rng.randrange(0, 10)
        lanes.append(events_of(rng, n, floating))
        cut = rng.randrange(n + 1)
        bounds += [(at, at, at + cut), (at + max(cut - rng.randrange(5), 0), at + cut, at + n)]
        at += n
    events = StepEvents(*(np.concatenate(column) for column in zip(*lanes)))
    return tables, events, LoopSegments(*np.array(bounds, np.int64).T.copy())


def there(events: StepEvents) -> StepEvents:
    """Events on the device."""
    symbols = words.to_device(events.symbols.astype(np.uint16))
    return StepEvents(symbols, words.copied(events.times), words.copied(events.places))


def on_host(*parts: Any) -> list[list[int]]:
    return [part.copy_to_host().tolist() for part in parts]


@pytest.mark.parametrize("floating", [False, True])
def test_hits_and_counts_are_those_of_the_cpu(floating: bool) -> None:
    rng = Random(f"steps there {floating}")
    total = short = again = 0
    for number in range(CASES):
        tables, events, segments = drawn(rng, floating)
        geometry = {"geometry": TINY[number % 3], "stream": TINY[(number + 1) % 3]}
        machine, arrays = device_steps(tables), there(events)
        keys = np.arange(len(events.symbols))
        size = rng.choice((1, 2, 4, 100))
        event, latest = cpu_hits.hits(tables, events, keys, size, segments)
        wide, _ = comparable(keys.astype(np.float64) if number % 2 else keys, 0)
        first, *found = step_hits.hits(machine, arrays, words.copied(wide), size, segments, **geometry)
        assert on_host(*found) == [event.tolist(), latest.tolist()]
        firsts = np.append(0, np.cumsum(np.diff(first.copy_to_host())))
        whole = cpu_hits.early_hits(tables, events, segments)
        none = words.copied(wide[:0])
        _, *found = step_hits.hits(machine, arrays, none, 0, segments, True, **geometry)
        assert on_host(*found) == [part.tolist() for part in whole]
        begin = np.repeat(segments.begin, np.diff(firsts))
        lowest = np.maximum(event - size, begin)

        ends, every = cpu_counts.counted_ends(tables, events, segments)
        _, *found = step_counts.counts(machine, arrays, segments, **geometry)
        assert on_host(*found) == [ends.tolist(), every.tolist()]
        levels = short_tables(tables)
        if levels is not None and len(event):
            wanted = cpu_counts.counts(tables, events, segments, SegmentHits(firsts, event, lowest))
            found = step_counts.short_counts(
                machine, levels, arrays, segments, firsts, event, lowest, **geometry
            )
            assert found.copy_to_host().tolist() == wanted.tolist()
            short += 1
        total += len(event)
        again += int((lowest > begin).sum())
    assert total > CASES
    assert again > CASES // 4
    assert short > CASES // 12


# ------------------------------------------------------------------------------------- whole queries


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Steps in tiny pieces on the device; how often it had hits, counted ends, and counts."""
    small(monkeypatch)
    tiny = {"lane": TINY[0], "stream": TINY[1]}
    monkeypatch.setattr(DevicesSteps, "__init__", with_geometry(DevicesSteps.__init__, tiny))
    monkeypatch.setattr(units, "LEAST_UNIT", 5)
    monkeypatch.setattr(units, "LEAST", 1)
    monkeypatch.setattr(one_device, "LEAST_UNIT", 4)
    tally: Counter[str] = Counter()

    def noted(name: str) -> None:
        original: Callable[..., Any] = getattr(DevicesSteps, name)

        def method(self: DevicesSteps, *arguments: Any) -> Any:
            found = original(self, *arguments)
            tally[name] += found is not None
            return found

        monkeypatch.setattr(DevicesSteps, name, method)

    for name in ("hits", "counted_ends", "counts", "_short_counts", "_earliest"):
        noted(name)
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


TEXTS = {
    "gaps": "SELECT * WHERE A ;[<= 5 s] B ;[1 s, 6 s] C",
    "gaps in a window": "SELECT * WHERE A ;[<= 5 s] B ;[1 s, 6 s] C WITHIN 7 SECONDS",
    "four events in a window": "SELECT * WHERE A ;[<= 4 s] B ;[<= 5 s] C ;[<= 4 s] A WITHIN 8 SECONDS",
    "a window of events": "SELECT * WHERE A ;[<= 5 s] B+ WITHIN 6 EVENTS",
    "an attribute": "SELECT * WHERE A ;[<= 5 s] B ;[<= 5 s] C WITHIN 2 [volume]",
    "repetition": "SELECT * WHERE A ; B+[<= 2 s] ; C WITHIN 9 SECONDS",
    "neighbours": "SELECT * WHERE A :[<= 2 s] (B OR C) :[<= 3 s] C",
    "lanes": "SELECT * WHERE A AS a ;[<= 9 s] B AS b ;[<= 20 s] C AS c FILTER a.volume = b.volume AND "
    "b.volume = c.volume",
    "partitions without a window": "SELECT * WHERE A ;[>= 2 s] B PARTITION BY volume",
    "consumed": "SELECT * WHERE A ;[<= 5 s] B ;[<= 5 s] C CONSUME BY ANY",
    "consumed in partitions": "SELECT * WHERE A ;[1 s, 9 s] B PARTITION BY volume CONSUME BY PARTITION",
    "limited": "SELECT * WHERE A+[<= 4 s] ;[<= 3 s] B WITHIN 8 SECONDS LIMIT 2",
    "sessions": "SELECT MAX * WHERE A+[<= 2 s]",
    "strict sessions": "SELECT STRICT * WHERE A+[<= 2 s] PARTITION BY volume WITHIN 9 SECONDS",
}


@pytest.mark.parametrize("times", ["int64", "float64"])
@pytest.mark.parametrize("name", TEXTS)
def test_every_kind_of_query_in_pieces(name: str, times: str, done: Counter[str]) -> None:
    query = cer.compile(TEXTS[name])
    assert query._plan.compiled.machine.engine == "steps"
    table = trades(60 if name == "an attribute" else 110, 4, times)
    # By itself the planner says the intervals of neighbours by PREV.
    engine = "timed" if name == "neighbours" else "auto"
    assert agree(query, table, order_by="ts", order_unit="s", engine=engine) > 3
    if name != "an attribute":
        assert done["hits"] > 1
    if name in ("gaps", "neighbours", "lanes"):
        assert done["counted_ends"] > 1
    if name in ("gaps in a window", "consumed"):
        assert done["_short_counts"] > 1
    if name in ("four events in a window", "repetition", "a window of events"):
        assert done["_earliest"] > 1


def test_the_last_of_each_session_is_counted_once(
    done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One match ends at each event, which the CPU finds without a tail: no chunk has events of another."""
    monkeypatch.setattr(runner, "CHUNK", 8)
    query = cer.compile("SELECT LAST * WHERE A+[<= 2 s]")
    assert agree(query, trades(110), order_by="ts", order_unit="s") > 16


def test_counts_past_64_bits(done: Counter[str]) -> None:
    """The device says where a count may not fit, and the CPU counts these again."""
    n = 66
    table = pa.table({"type": ["A"] * n + ["B"], "ts": range(n + 1)})
    found = cer.compile("SELECT * WHERE A+[<= 99 s] ; B").counts(
        table, device="cuda", order_by="ts", order_unit="s"
    )
    assert found["count"].to_pylist() == [2**n - 1]
    assert done["counted_ends"] > 0


def test_numbers_are_exact_after_much_larger_ones(done: Counter[str]) -> None:
    sizes = (130, 70)
    times = [1000 * hour + second for hour, size in enumerate(sizes) for second in range(size)]
    table = pa.table({"type": ["A"] * len(times), "ts": times})
    found = cer.compile("SELECT * WHERE A+[<= 200 s]").counts(
        table, device="cuda", order_by="ts", order_unit="s"
    )
    assert found["count"].to_pylist() == [2**n for size in sizes for n in range(size)]
    assert done["counted_ends"] > 0


def test_several_devices(done: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges of units, each on a device of its own; the one that is there stands for both."""
    for module in (devices, units):
        monkeypatch.setattr(module, "on", lambda number: cuda_devices.on(0))
    begun = DevicesSteps.__init__
    monkeypatch.setattr(DevicesSteps, "__init__", lambda self, window, _: begun(self, window, (0, 1)))
    assert agree(cer.compile(TEXTS["gaps in a window"]), trades(90), order_by="ts", order_unit="s") > 3
    assert done["_short_counts"] > 1


class ExhaustedError(Exception):
    """What a driver without memory raises."""

    code = 2


@pytest.mark.parametrize("name", ["gaps", "gaps in a window", "four events in a window"])
def test_a_device_without_memory_leaves_the_chunk_to_the_cpu(
    name: str, done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: Any, **__: Any) -> None:
        raise ExhaustedError

    for kernels in (step_hits, step_counts):
        monkeypatch.setattr(kernels, "counted_room", exhausted)
    query, table = cer.compile(TEXTS[name]), trades(90)
    with pytest.warns(UserWarning, match="no memory left for the entries of timed steps"):
        agree(query, table, order_by="ts", order_unit="s")
    assert not done["hits"] + done["counts"] + done["counted_ends"]


@pytest.mark.parametrize("most", [2, 5])
def test_units_that_fit_run_beside_one_another(
    most: int, done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is room for few units at a time, they run in several launches."""
    monkeypatch.setattr(pool, "free_bytes", lambda: most << 10)
    assert agree(cer.compile(TEXTS["four events in a window"]), trades(110), order_by="ts", order_unit="s")
    assert done["_earliest"] > 1


@pytest.mark.parametrize("kind", [timed_query, keyed_query, session_query])
def test_random_timed_queries_have_the_answers_of_the_cpu(
    kind: Callable[[Random], SelectQuery], done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"timed on the device {kind.__name__}")
    total = ran = 0
    while ran < QUERIES:
        try:
            query = Query(to_text(kind(rng)))
        except cer.CerError:
            continue
        if query._plan.compiled.machine.engine == "steps":
            monkeypatch.setattr(runner, "CHUNK", (8, 40)[ran % 2])
            ran += 1
            length = rng.randrange(30, 60) if kind is keyed_query else rng.randrange(8, 24)
            events = stream(rng, length, lap_falls=rng.random() < 0.3)
            total += agree(query, stream_to_table(events), order_by="ts")
    assert total > QUERIES // 2
    assert done["hits"] > QUERIES // 2
    assert kind is session_query or done["counted_ends"] + done["counts"] > QUERIES // 3
