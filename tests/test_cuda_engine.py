"""The engine with its kernels on a device: random queries agree with the reference, asked in every way."""

from __future__ import annotations

import warnings
from functools import partial
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts import cuda_ends as ends
from cer_gpu.kernels.device import arrays, scan, words
from cer_gpu.kernels.hits import cuda as hits
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.windows import cuda as windows
from cuda_device import TINY, USABLE, forms_ahead, forms_launched
from engine_oracle import check
from generate import pattern, query_around, stream, unary_query
from random_besides import with_besides
from random_repetitions import kinds, repeated

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.cuda.check import findings
from cer_gpu.engine.cuda.classify import CudaClassifier, ResidentBatch
from cer_gpu.engine.cuda.machines import comparisons as cuda_compared
from cer_gpu.engine.cuda.machines import general as cuda_general
from cer_gpu.engine.cuda.machines import one_device as cuda_execute
from cer_gpu.engine.cuda.machines import resident_query
from cer_gpu.engine.cuda.machines import units as cuda_units
from cer_gpu.engine.cuda.machines.automaton import DevicesAutomaton
from cer_gpu.engine.cuda.machines.one_device import cut_evenly, finer, patched
from cer_gpu.engine.cuda.machines.resident_query import WindowedQuery
from cer_gpu.engine.machines import automaton as on_cpu
from cer_gpu.engine.machines import ungrouped_automaton
from cer_gpu.engine.machines.automaton import AutomatonRunner
from cer_gpu.engine.machines.chunk import Segments
from cer_gpu.engine.machines.reported_ends import sum_exactly
from cer_gpu.engine.read import intake
from cer_gpu.engine.run import chunks as runner
from cer_gpu.engine.run.options import read_options
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError, DeviceError, LimitError
from cer_gpu.plan.compiled_query import CompiledQuery

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

ON_DEVICE = [
    (classify, "classify"),
    (hits, "hits"),
    (windows, "lowest_starts"),
    (counts, "counts"),
    (flows, "long_hits"),
    (ends, "counted_ends"),
]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The engine on the device, in tiny blocks and pieces; the functions of its kernels that were called."""
    names: set[str] = set()

    def noting(name: str, function: object) -> object:
        def noted(*arguments: object) -> object:
            names.add(name)
            return function(*arguments)  # type: ignore[operator]

        return noted

    for module, name in ON_DEVICE:
        monkeypatch.setattr(module, name, noting(name, getattr(module, name)))
    geometry = TINY[0]
    monkeypatch.setattr(intake, "Classifier", partial(CudaClassifier, geometry=geometry))

    def on_device(query: CompiledQuery, workers: Workers, carries: bool) -> AutomatonRunner:
        there = DevicesAutomaton(query.window, workers, (0,), geometry, geometry)
        runner = AutomatonRunner(query, workers, carries, there)
        there.load(runner)
        return runner

    for module in (on_cpu, ungrouped_automaton):
        monkeypatch.setattr(module, "runner", on_device)
    monkeypatch.setattr(cuda_execute, "lane_geometry", lambda _, chosen: chosen)
    monkeypatch.setattr(cuda_execute, "LEAST_UNIT", 2)
    monkeypatch.setattr(cuda_execute, "LIST", 2)
    monkeypatch.setattr(cuda_execute, "ROOM", 3)
    monkeypatch.setattr(flows, "GROUP", 2)
    monkeypatch.setattr(runner, "CHUNK", 3)
    monkeypatch.setattr(runner, "CARRIED", 2)
    return names


def test_run_count_hits_and_stream_agree_with_the_reference(
    called: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random("devices")
    answered = refused = 0
    for number in range(24):
        # now and then one column for each table, so that there are several stages
        monkeypatch.setattr("cer_gpu.plan.symbols.TABLE_BUDGET", 4 if number % 5 == 0 else 1 << 16)
        query = unary_query(rng)
        events = stream(rng, rng.randrange(4, 13), lap_falls=rng.random() < 0.3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            warnings.filterwarnings("ignore", "overflow encountered")
            try:
                answered += check(query, events, rng) > 0
            except LimitError:
                refused += 1
    assert answered >= 6
    assert refused <= 3
    assert called >= {name for _, name in ON_DEVICE}


def test_what_follows_and_precedes_agrees_with_the_reference(called: set[str]) -> None:
    rng = Random("beside on a device")
    answered = drawn = 0
    while answered < 6 and drawn < 40:
        drawn += 1
        query = query_around(rng, with_besides(rng, pattern(rng, atoms=2)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            answered += check(query, stream(rng, rng.randrange(4, 11)), rng) > 0
    assert answered >= 6
    assert called >= {"classify", "hits"}


def test_counts_and_optional_elements_agree_with_the_reference(called: set[str]) -> None:
    rng = Random("counts on a device")
    answered, met = 0, set()
    while len(met) < 3 or answered < 3:
        query = repeated(rng, unary_query(rng, atoms=2, clauses=False))
        if not kinds(query):
            continue
        met |= kinds(query)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            answered += check(query, stream(rng, rng.randrange(4, 9)), rng) > 0
    assert called >= {"classify", "hits"}


def test_a_query_that_looks_ahead_says_that_the_cpu_does_so() -> None:
    table = trades(200, 5, "int64")
    options = {"order_by": "ts", "order_unit": "s"}
    for text in ("A AS a NOT FOLLOWED BY [<= 2 s] (B : C)", "A ; B PRECEDED BY [1 s, 3 s] C WITHIN 9 EVENTS"):
        query = Query(f"SELECT * WHERE {text}")
        found = query.run(table, device="cuda", **options)
        assert "FOLLOWED BY and PRECEDED BY" in found.device_reason
        assert found.to_arrow() == query.run(table, device="cpu", **options).to_arrow()
        assert found.to_arrow().num_rows > 5
        assert query.hits(table, device="cuda", **options) == query.hits(table, device="cpu", **options)


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("clock", "(A AS a ; B AS b) WITHIN [<= 3 s] ; C"),
        ("general", "(A AS a ;[<= 4 s] B AS b) WITHIN [<= 3 s] UNLESS C"),
    ],
)
def test_partial_matches_with_clocks_are_followed_beside_the_device(engine: str, text: str) -> None:
    table = trades(100, 5, "int64")
    options = {"order_by": "ts", "order_unit": "s", "engine": engine}
    query = Query(f"SELECT * WHERE {text}")
    found = query.run(table, device="cuda", **options).to_arrow()
    assert found == query.run(table, device="cpu", **options).to_arrow()
    assert found.num_rows > 5
    for asked in (query.hits, query.counts):
        assert asked(table, device="cuda", **options) == asked(table, device="cpu", **options)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT NEXT * WHERE A ; B+ ; C WITHIN 8 EVENTS",
        "SELECT LAST * WHERE A ; B ; C WITHIN 20 EVENTS",
        "SELECT * WHERE A+ ; C WITHIN 8 EVENTS",
        "SELECT * WHERE A ; B ; C WITHIN 9 EVENTS LIMIT 2",
        "SELECT * WHERE A ; B WITHIN 9 EVENTS CONSUME BY ANY",
    ],
)
def test_complex_events_of_a_longer_stream(text: str, request: pytest.FixtureRequest) -> None:
    rng = np.random.default_rng(9)
    table = pa.table({"type": rng.choice(list("ABC"), 60), "ts": range(60)})
    wanted = Query(text).run(table, order_by="ts").to_arrow()
    called = request.getfixturevalue("called")
    found = Query(text).run(table, order_by="ts").to_arrow()
    assert found.equals(wanted)
    assert found.num_rows > 5
    assert "hits" in called


@pytest.mark.parametrize("within", ["", " WITHIN 200 EVENTS"])
def test_sums_too_large_for_a_kernel_are_made_by_the_host(called: set[str], within: str) -> None:
    """`A+ ; B` over 70 A events: 2^70 - 1 sets of them, in several chunks."""
    table = pa.table({"type": ["A"] * 70 + ["B", "A", "B"], "ts": range(73)})
    query = Query(f"SELECT * WHERE A+ ; B{within}")
    assert query.count(table, order_by="ts") == (2**70 - 1) + (2**71 - 1)
    counted = query.counts(table, order_by="ts").to_pydict()
    counted_at = {"position": [70, 72], "time": [70, 72]}
    assert counted == counted_at | {"count": [2**70 - 1, 2**71 - 1]}
    assert called & {"counts", "counted_ends"}


def test_a_program_with_too_many_registers_runs_on_the_host(
    called: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_execute, "lane_geometry", lambda *_: None)
    table = pa.table({"type": ["A", "B", "B"], "ts": range(3)})
    assert Query("SELECT * WHERE A ; B").hits(table, order_by="ts")["position"].to_pylist() == [1, 2]
    assert "hits" not in called


def test_segments_and_lists_are_cut() -> None:
    columns = np.array([[0, 10], [4, 10], [11, 12], [0, 5]])
    cut = cut_evenly(Segments(*columns), 3)
    assert cut.report.tolist() == [4, 7, 10, 10]
    assert cut.stop.tolist() == [7, 10, 11, 12]
    assert cut.begin.tolist() == [0, 0, 0, 10]
    assert cut.lane.tolist() == [0, 0, 0, 5]
    assert finer(np.array([0, 0, 2, 7]), 3).tolist() == [0, 0, 2, 5, 7]
    assert finer(np.array([0]), 3).tolist() == [0]


def test_counts_are_patched_list_by_list() -> None:
    number, first = np.array([1, 2, 3, 4]), np.array([0, 1, 3, 4])
    none = np.zeros(3, np.uint8)
    assert patched(number, first, none, lambda _: number) is number

    def again(piece: int) -> np.ndarray:
        assert piece == 1
        return np.array([2**70, 5], object)

    found = patched(number, first, np.array([0, 1, 0], np.uint8), again)
    assert found.tolist() == [1, 2**70, 5, 4]


def trades(n: int, seed: int, times: str) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 3, n), pa.int8()), list("ABC")),
            "price": pa.array(rng.integers(0, 20, n) / 4, mask=rng.random(n) < 0.1),
            "volume": rng.integers(0, 100, n),
            "ts": np.cumsum(rng.integers(0, 3, n)).astype(times),
        }
    )


class Resident(NamedTuple):
    """A query over events that lie on the device."""

    query: WindowedQuery
    batch: ResidentBatch

    def count(self) -> int:
        return sum_exactly(self.query.answer(self.batch, 0, "count")[1].value)


def resident(text: str, table: pa.Table) -> Resident:
    query = Query(text).bound_to(table, read_options(order_by="ts", order_unit="s"), "hits").compiled
    also = ("ts",) if query.window is not None and query.window.kind == "time" else ()
    classifier = CudaClassifier(query.reading, {}, Workers(1), TINY[0], also=also)
    found = WindowedQuery(query, classifier, TINY[0], TINY[0])
    (batch,) = table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    return Resident(found, classifier.resident(batch, 0))


RESIDENT = [
    "SELECT * WHERE A ; B ; C WITHIN 12 EVENTS",
    "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a[price > 2] AND c[price < 3] WITHIN 15 seconds",
    "SELECT * WHERE A ; B+ AS b ; C AS c FILTER b[volume + price > 40] AND c[price IS NULL] WITHIN 9 EVENTS",
    "SELECT * WHERE A AS a ; C AS c FILTER a[volume > 1000] WITHIN 9 EVENTS",
]


@pytest.mark.parametrize("times", ["int64", "float64"])
@pytest.mark.parametrize("text", RESIDENT)
def test_resident_tables(text: str, times: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident_query, "LEAST_CUT", 8)
    table = trades(150, 3, times)
    there = resident(text, table)
    options = {"order_by": "ts", "order_unit": "s"}
    wanted = Query(text).hits(table, **options).to_pydict()
    assert there.count() == Query(text).count(table, **options)
    found = there.query.found(there.batch, 0, "hits")
    assert found.position.tolist() == wanted["position"]
    assert found.value.tolist() == wanted["latest_start"]
    assert (len(wanted["position"]) > 2) == ("> 1000" not in text)
    assert resident(text, table.slice(0, 0)).count() == 0


@pytest.mark.usefixtures("called")
def test_what_is_launched_is_compiled_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """The types of all launches are in the registry, so that the tests of compilation are of what runs."""
    monkeypatch.setattr(findings, "fault_of", lambda number, *engines: None)  # a check launches others, too
    with forms_launched() as launched:
        launch_every_kernel(monkeypatch)
    ahead = forms_ahead()
    assert launched.keys() ^ ahead.keys() == set()
    assert {name: found - ahead[name] for name, found in launched.items() if found - ahead[name]} == {}


def launch_every_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask queries of all kinds, over few events: the types of arguments are what is noted."""
    for times in ("int64", "float64"):
        table = trades(90, 3, times)
        for text in RESIDENT:
            resident(text, table).count()
    # CuPy does this, where it is installed.
    scan.own_offsets_of(words.copied(np.ones(TINY[0].threads + 1, np.int64)), TINY[0])
    monkeypatch.setattr(cuda_units, "LEAST", 1)
    for times in ("int64", "float64"):
        table = trades(24, 3, times)
        for clause in ("", " WITHIN 9 EVENTS", " WITHIN 5 SECONDS", " WITHIN 2.5 [price]"):
            for steps in ("A ;[<= 5 s] C", "A ;[<= 5 s] A+[<= 4 s] ;[<= 5 s] C"):
                query = Query(f"SELECT * WHERE {steps}{clause}")
                number = query.count(table, device="cuda", order_by="ts", order_unit="s")
                assert number > 0
                assert (
                    len(query.run(table, device="cuda", order_by="ts", order_unit="s").to_arrow()) == number
                )
    for steps in ("; C AS c {} WITHIN 5 SECONDS", ": C AS c {} WITHIN 5 SECONDS", "; C AS c {}"):
        template = f"SELECT * WHERE A AS a {steps.format('FILTER a[volume > $v]')}"
        swept = cer.sweep(template, v=list(range(8)))
        for times in ("int64", "float64"):
            table, given = trades(24, 3, times), {"order_by": "ts", "order_unit": "s"}
            there = cer.backtest(swept, table, device="cuda", **given).to_arrow()
            assert there.equals(cer.backtest(swept, table, device="cpu", **given).to_arrow())
    monkeypatch.setattr(cuda_general, "LEAST", 1)
    for times in ("int64", "float64"):
        query = Query("SELECT * WHERE A AS a ; C AS c FILTER c.volume > a.volume PARTITION BY price")
        given = {"engine": "general", "order_by": "ts", "order_unit": "s"}
        table = trades(90, 3, times)
        assert query.count(table, device="cuda", **given) == query.count(table, device="cpu", **given) > 3
    monkeypatch.setattr(cuda_compared, "LEAST", 1)
    for times in ("int64", "float64"):
        table = trades(24, 3, times)
        for clause in ("", " WITHIN 9 EVENTS", " WITHIN 5 SECONDS", " WITHIN 2.5 [price]"):
            for steps, filters in (
                ("A AS a ; B AS b", "b.volume > a.volume"),
                ("A AS a ; B AS b ; C AS c", "b.volume > a.volume AND c.price < b.price"),
            ):
                query = Query(f"SELECT * WHERE {steps} FILTER {filters}{clause}")
                number = query.count(table, device="cuda", order_by="ts", order_unit="s")
                assert number == query.count(table, device="cpu", order_by="ts", order_unit="s")
                query.hits(table, device="cuda", order_by="ts", order_unit="s")
    monkeypatch.setattr("cer_gpu.plan.symbols.TABLE_BUDGET", 4)
    monkeypatch.setattr(runner, "CARRIED", 64)
    for window in ("", " WITHIN 9 seconds"):
        query = Query(f"SELECT * WHERE A AS a ; B ; C FILTER a[price < 4] AND a[volume > 3]{window}")
        query.count(table, order_by="ts", order_unit="s")
        query.hits(table, order_by="ts", order_unit="s")
    table = pa.table({"type": list("AAAAAAAB") * 3, "ts": range(24)})
    for price in ([2**40 + k % 7 for k in range(24)], [k % 7 / 2 for k in range(24)]):
        priced = table.append_column("price", pa.array(price))
        assert Query("SELECT * WHERE A ; B WITHIN 3 [price]").count(priced, order_by="ts") > 5
    keyed = pa.table({"type": list("AABAB") * 12, "key": [row % 7 for row in range(60)], "ts": range(60)})
    for text in (
        "Q(x) <- A(key=x), B(key=x) WITHIN 20 EVENTS",
        "SELECT * WHERE A ; B PARTITION BY key WITHIN 20 EVENTS CONSUME BY PARTITION",
    ):
        assert Query(text).count(keyed, device="cuda", order_by="ts") > 5
    lanes = pa.table({"type": list("AB") * 300, "key": [row // 2 for row in range(600)], "ts": range(600)})
    assert Query("SELECT * WHERE A ; B PARTITION BY key WITHIN 9 EVENTS").count(lanes, device="cuda") == 300
    sql = "SELECT * FROM t MATCH_RECOGNIZE (MEASURES COUNT(*) AS n PATTERN (a b+) DEFINE b AS x > PREV(x))"
    rows = pa.table({"x": [1, 2, 3, 1, 2, 0]})
    there, here = (cer.match_recognize(sql, t=rows, device=one).to_arrow() for one in ("cuda", "cpu"))
    assert there.equals(here)


def test_resident_counts_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where memory of the device that was not written to yet holds symbols that there are not."""

    def dirty(shape: Any, dtype: Any) -> Any:
        made = made_there(shape, dtype)
        if made.dtype == np.uint8 and made.size:
            made.copy_to_device(np.full(made.shape, 255, np.uint8))
        return made

    made_there = arrays.cuda.device_array
    monkeypatch.setattr(arrays.cuda, "device_array", dirty)
    table = pa.table({"type": ["A"] * 70 + ["B", "A", "B"], "ts": range(73)})
    there = resident("SELECT * WHERE A+ ; B WITHIN 200 EVENTS", table)
    assert there.count() == (2**70 - 1) + (2**71 - 1)


def test_queries_that_do_not_run_over_resident_tables_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    table = trades(5, 1, "int64")
    steps = " ; ".join("ABC"[number % 3] for number in range(40))
    with pytest.raises(DeviceError, match="it has no window, and its automaton has too many states"):
        resident(f"SELECT * WHERE {steps}", table)
    with pytest.raises(DeviceError, match="partitions"):
        resident("SELECT * WHERE A ; B PARTITION BY [volume] WITHIN 5 EVENTS", table)
    monkeypatch.setattr("cer_gpu.engine.cuda.machines.resident_query.lane_geometry", lambda *_: None)
    text = "SELECT * WHERE A ; B WITHIN 5 EVENTS"
    with pytest.raises(DeviceError, match="too many states"):
        resident(text, table)
    options = {"order_by": "ts", "order_unit": "s"}
    wanted = Query(text).hits(table, device="cpu", **options)
    assert Query(text).hits(table, device="cuda", **options) == wanted


def test_overflow_is_an_error_where_it_is_asked_for() -> None:
    events = pa.table({"type": ["A", "B"] * 9, "v": [2**63 - 1, 1] * 9})
    query = Query("SELECT * WHERE A AS a ; B AS b FILTER b[v + 1 > 0] WITHIN 2 EVENTS")
    assert query.count(events, device="cuda") == query.count(events, device="cpu") == 9
    query = Query("SELECT * WHERE A AS a FILTER a[v + 1 > 0]")
    for wrong, row in ((events, 0), (pa.concat_tables([events.slice(1, 1)] * 50 + [events]), 50)):
        with pytest.raises(DataError, match=rf"row {row} of .*integer overflow"):
            query.count(wrong, device="cuda")


@pytest.mark.parametrize("within", ["", " WITHIN 4 EVENTS", " WITHIN 6 [ts]"])
def test_the_time_of_ends_and_measures(within: str) -> None:
    """What comes from the columns of events, whether their ends are found on the device alone or not."""
    table = pa.table({"type": list("ABBAB"), "v": [5, 1, 2, 4, 3], "ts": [2, 3, 5, 7, 11]})
    text = f"SELECT *, LAST(b.v) - FIRST(a.v) AS gain, DURATION AS held WHERE A AS a ; B AS b{within}"
    query = Query(text)
    for ask in (query.hits, query.counts, lambda *given, **more: query.run(*given, **more).to_arrow()):
        wanted = ask(table, order_by="ts", device="cpu")
        assert ask(table, order_by="ts", device="cuda") == wanted
    assert wanted["gain"].to_pylist()[:2] == [-4, -3]
