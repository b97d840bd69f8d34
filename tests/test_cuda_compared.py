"""Ordered look-ups on a device: the kernels beside those of the CPU, whole queries beside the CPU."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.comparisons import cpu_counts, cpu_hits, cuda_counts, cuda_hits
from cer_gpu.kernels.comparisons.contract import AT, NO_VALUE, ComparedSegments, PairedEvents, shallow
from cer_gpu.kernels.comparisons.cpu_order import arrange
from cer_gpu.kernels.comparisons.cuda_units import device_pairs
from cuda_device import TINY, USABLE

import cer_gpu as cer
from cer_gpu.engine.cuda.machines import comparisons
from cer_gpu.engine.cuda.machines.comparisons import DeviceComparisons

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

PATTERNS = [
    "A AS a ; B AS b FILTER b.v > a.v",
    "A AS a ; A AS b FILTER b.v != a.v",
    "A AS a ; B AS b ; A AS c FILTER b.v != a.v AND b.k = a.k AND c.v <= b.v",
    "(A AS a FILTER a.v >= PRIOR(a).v) {2,} ; B AS b",
    "A AS a ; (A OR B) AS b : B AS c FILTER b.v < a.w AND c.v > b.v",
]


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_hits_and_counts_are_those_of_the_cpu(pattern: str, floating: bool) -> None:
    machine: Any = cer.compile(f"SELECT * WHERE {pattern}")._plan.compiled.machine
    tables, rng, n = machine.tables, np.random.default_rng(9), 60
    total = 0
    for number in range(3):
        values = 1 + max(int(tables.order_value.max()), int(tables.test_value.max(initial=-1)))
        events = PairedEvents(
            rng.integers(0, tables.n_symbols, n).astype(np.uint8),
            np.cumsum(rng.integers(1, 3, n)),
            rng.integers(-1, 2, (machine.slot_rows, n)).astype(np.int32),
            np.full((values, n), AT, np.int32),
            rng.integers(0, 6, (values, n)),
        )
        events.sides[:, rng.random(n) < 0.1] = NO_VALUE
        begin, stop = np.array([0, 15, 36]), np.array([25, 45, 60])
        base = np.append(0, np.cumsum(stop - begin))
        segments = ComparedSegments(begin, np.array([0, 25, 45]), stop, base)
        arranged = arrange(tables, events, segments)
        pairs = device_pairs(tables, events, segments, arranged)
        tiny = {"geometry": TINY[number], "stream": TINY[(number + 1) % 3]}
        none = np.empty(0, np.float64 if floating else np.int64)
        windows = [(none, 0), (np.arange(n, dtype=none.dtype), 7)]
        for keys, size in windows:
            wanted = cpu_hits.hits(tables, events, keys, size, segments, arranged)
            found = cuda_hits.hits(pairs, keys, size, **tiny)
            assert [part.copy_to_host().tolist() for part in found] == [part.tolist() for part in wanted]
            total += len(wanted[0])
        for keys, size in windows if shallow(tables) else windows[:1]:
            wanted = cpu_counts.counted_ends(tables, events, keys, size, segments, arranged)
            found = cuda_counts.counted_ends(pairs, keys, size, **tiny)
            assert [part.copy_to_host().tolist() for part in found] == [part.tolist() for part in wanted]
    assert total > 5


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Look-ups of few segments on the device; how often it has answered."""
    monkeypatch.setattr(comparisons, "LEAST", 1)
    begun, asked = DeviceComparisons.__init__, DeviceComparisons._found
    monkeypatch.setattr(DeviceComparisons, "__init__", lambda self, device: begun(self, device, *TINY[:2]))
    tally: Counter[str] = Counter()

    def noted(self: DeviceComparisons, unit: Any, ask: Any) -> Any:
        found = asked(self, unit, ask)
        tally[ask.__name__] += found is not None
        return found

    monkeypatch.setattr(DeviceComparisons, "_found", noted)
    return tally


TEXTS = {
    "pairs in a window": "SELECT * WHERE A AS a ; B AS b FILTER b.v > a.v WITHIN 9 EVENTS",
    "three by key": "SELECT * WHERE A AS a ; B AS b ; A AS c FILTER b.v > a.v AND c.v < b.v PARTITION BY k",
    "rising runs": "SELECT * WHERE (A AS x FILTER x.v > PRIOR(x).v){3,} PARTITION BY k WITHIN 20 EVENTS",
    "the longest rising runs": "SELECT MAX * WHERE (A AS x FILTER x.v > PRIOR(x).v){3,} WITHIN 9 EVENTS",
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_kind_of_query_has_the_answers_of_the_cpu(name: str, done: Counter[str]) -> None:
    rng, n = np.random.default_rng(4), 70
    table = pa.table(
        {"type": rng.choice(["A", "A", "B"], n), "v": rng.integers(0, 9, n), "k": rng.integers(0, 3, n)}
    )
    query = cer.compile(TEXTS[name])
    for ask in (query.hits, query.counts, query.count):
        assert ask(table, device="cuda", engine="ordered") == ask(table, device="cpu", engine="ordered")
    assert done["hits"] > 0
    assert (done["counted_ends"] > 0) == (name in ("pairs in a window", "three by key"))


def test_counts_past_64_bits(done: Counter[str]) -> None:
    """The device says where a count may not fit, and the CPU counts these again."""
    n = 66
    table = pa.table({"type": ["A"] * n, "v": range(n)})
    found = cer.compile("SELECT * WHERE (A AS x FILTER x.v > PRIOR(x).v)+").counts(table, device="cuda")
    assert found["count"].to_pylist() == [2**end for end in range(n)]
    assert done["counted_ends"] > 0
