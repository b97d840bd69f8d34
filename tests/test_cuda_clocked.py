"""Automata with one clock on a device: the kernel against the definition of runs, queries against the CPU."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.clock import cuda_ends, cuda_units
from cer_gpu.kernels.clock.cpu_stream import ARENA_FULL, DONE
from cer_gpu.kernels.clock.cuda_ends import clocked_ends
from cer_gpu.kernels.clock.cuda_units import device_clock
from cuda_device import TINY, USABLE
from generate import stream, stream_to_table
from random_clocks import ClockCase, random_clock_case
from random_one_clock import one_clock_query

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.cuda.machines import one_clock, one_device
from cer_gpu.engine.cuda.machines.one_clock import DevicesClock
from cer_gpu.engine.machines.chunk import Segments
from cer_gpu.engine.run import chunks as runner
from cer_gpu.language.printer import to_text

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

SIMULATED = USABLE.devices == ("simulator",)
CASES = 30 if SIMULATED else 1_000


def windowed_case(rng: Random, sense: int) -> ClockCase:
    """Events of one lane, or of lanes that stand behind one another, and a window that consumes nothing."""
    while True:
        case = random_clock_case(rng, sense, 14)
        if len(case.measured) and not case.consumes and not len(case.lanes):
            return case


def cut(case: ClockCase, rng: Random) -> Segments:
    """Units that each begin where the window of the first event that they report does."""
    n = len(case.symbols)
    at = sorted({0, n, *(rng.randrange(n) for _ in range(rng.randrange(4)))})
    report, stop = np.array(at[:-1]), np.array(at[1:])
    begin = [int(np.argmax(case.measured[low] - case.measured[: low + 1] <= case.size)) for low in at[:-1]]
    return Segments(np.array(begin), report, stop, np.arange(len(report)))


@pytest.mark.parametrize("sense", [1, -1])
def test_hits_and_counts_are_those_of_the_runs(sense: int) -> None:
    rng, total = Random(f"clocks there {sense}"), 0
    for number in range(CASES):
        case = windowed_case(rng, sense)
        given = case.tables, case.constants, case.symbols, case.times, case.measured
        units, wanted = cut(case, rng), case.answers()
        ends = [end for end, answers in enumerate(wanted) if answers]
        for counted in (False, True):
            status, *found = clocked_ends(
                device_clock(*given), units, case.size, counted, 8, TINY[number % 3], TINY[(number + 1) % 3]
            )
            assert status == DONE
            values = [len(wanted[end]) if counted else max(one[0] for one in wanted[end]) for end in ends]
            assert [part.copy_to_host().tolist() for part in found] == [ends, values]
        total += len(ends)
    assert total > CASES


def test_an_arena_that_is_too_small_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_ends, "nodes_of", lambda tables, events, nodes: np.full(len(events), 150))
    rng, said = Random("no room there"), set()
    for number in range(CASES):
        case = windowed_case(rng, (1, -1)[number % 2])
        given = case.tables, case.constants, case.symbols, case.times, case.measured
        said.add(clocked_ends(device_clock(*given), cut(case, rng), case.size, True, 8, *TINY[:2])[0])
    assert said == {DONE, ARENA_FULL}


# ------------------------------------------------------------------------------------- whole queries


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Automata with a clock in tiny units on the device; how often it has answered."""
    monkeypatch.setattr(one_clock, "LEAST", 1)
    monkeypatch.setattr(one_device, "LEAST_UNIT", 4)
    begun, asked = DevicesClock.__init__, DevicesClock._found
    monkeypatch.setattr(DevicesClock, "__init__", lambda self, device: begun(self, device, *TINY[:2]))
    tally: Counter[str] = Counter()

    def noted(self: DevicesClock, *given: Any, counted: bool) -> Any:
        found = asked(self, *given, counted=counted)
        tally["counts" if counted else "hits"] += found is not None
        return found

    monkeypatch.setattr(DevicesClock, "_found", noted)
    return tally


def agree(query: Query, table: pa.Table, **options: Any) -> int:
    """Assert that every question has the CPU's answer; the number of complex events."""
    for ask in (query.hits, query.counts, query.count):
        found = ask(table, device="cuda", engine="clock", **options)
        assert found == ask(table, device="cpu", engine="clock", **options)
    listed = query.run(table, device="cuda", engine="clock", **options).to_arrow()
    assert listed.equals(query.run(table, device="cpu", engine="clock", **options).to_arrow())
    return len(listed)


def trades(times: str) -> pa.Table:
    rng, n = np.random.default_rng(5), 44
    moments = np.cumsum(rng.integers(0, 3, n)).astype(times)
    return pa.table({"type": rng.choice(["A", "B", "C"], n), "ts": moments, "key": rng.integers(0, 3, n)})


TEXTS = {
    "a window of events": "(A ; B) WITHIN [<= 4 s] ; C WITHIN 12 EVENTS",
    "a window of time": "A ; (B ; C) WITHIN [<= 4 s] WITHIN 9 SECONDS",
    "a window of events of whole times": "(A ; B) WITHIN [<= 4 s] ; C WITHIN 12 EVENTS",
    "bounded from below": "(A ; B) WITHIN [>= 3 s] ; C WITHIN 9 SECONDS",
    "partitions": "(A ; B) WITHIN [<= 4 s] ; C PARTITION BY key WITHIN 30 SECONDS",
    "limited": "(A ; B+) WITHIN [<= 4 s] WITHIN 9 SECONDS LIMIT 2",
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_kind_of_query_in_units(name: str, done: Counter[str]) -> None:
    query = cer.compile(f"SELECT * WHERE {TEXTS[name]}")
    floating = name in ("a window of events", "bounded from below")
    assert agree(query, trades("float64" if floating else "int64"), order_by="ts", order_unit="s") > 5
    assert done["hits"] > 0
    assert done["counts"] > 1


@pytest.mark.parametrize(
    "text", ["(A ; B) WITHIN [<= 4 s] ; C", "(A ; B) WITHIN [<= 4 s] ; C WITHIN 9 SECONDS CONSUME BY ANY"]
)
def test_what_the_device_leaves_to_the_cpu(text: str, done: Counter[str]) -> None:
    """Without a window, and where ends consume, one thread of the CPU follows the runs; explain says so."""
    query = cer.compile(f"SELECT * WHERE {text}")
    assert agree(query, trades("int64"), order_by="ts", order_unit="s") > 5
    assert done.total() == 0
    assert "always on the CPU: listing the complex events of automata with a clock" in query.explain()


@pytest.mark.parametrize(("scratch", "size"), [("STACK", 1), ("TABLE", 2)])
def test_the_cpu_counts_what_the_scratch_of_a_thread_is_too_small_for(
    scratch: str, size: int, done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_units, scratch, size)
    query = cer.compile("SELECT * WHERE (A ; B+) WITHIN [<= 9 s] ; C WITHIN 20 EVENTS")
    assert agree(query, trades("int64"), order_by="ts", order_unit="s") > 100
    assert done["counts"] == 0


def test_the_room_for_nodes_grows(done: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_clock, "NODES_OF_EVENT", 1)
    monkeypatch.setattr(cuda_ends, "nodes_of", lambda tables, events, nodes: 40 * nodes + 60 + 0 * events)
    query = cer.compile("SELECT * WHERE (A ; B+) WITHIN [<= 4 s] ; C WITHIN 12 EVENTS")
    assert agree(query, trades("int64"), order_by="ts", order_unit="s") > 10
    assert done["hits"] > 0


def test_a_device_without_memory_leaves_the_chunk_to_the_cpu(
    done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class ExhaustedError(Exception):
        """What a driver without memory raises."""

        code = 2

    def exhausted(*_: Any, **__: Any) -> None:
        raise ExhaustedError

    monkeypatch.setattr(cuda_ends, "rooms_of", exhausted)
    query = cer.compile("SELECT * WHERE (A ; B) WITHIN [<= 4 s] ; C WITHIN 12 EVENTS")
    with pytest.warns(UserWarning, match="no memory left for the runs of automata with a clock"):
        agree(query, trades("int64"), order_by="ts", order_unit="s")
    assert done.total() == 0


def test_random_queries_have_the_answers_of_the_cpu(
    done: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, total, ran = Random("clock on the device"), 0, 0
    while ran < (6 if SIMULATED else 200):
        drawn = one_clock_query(rng)
        if drawn.window is None:
            continue
        query = Query(to_text(drawn))
        monkeypatch.setattr(runner, "CHUNK", (6, 40)[ran % 2])
        ran += 1
        table = stream_to_table(stream(rng, rng.randrange(8, 14)))
        total += agree(query, table, order_by="ts", stream_column="stream")
    assert total > ran
    assert done["hits"] > ran // 2
