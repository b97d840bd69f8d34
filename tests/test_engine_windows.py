"""Windows, partitions, consumption and limits at sizes where pieces, tails and halos matter."""

from __future__ import annotations

import warnings
from collections import Counter
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.machines import chunk
from cer_gpu.engine.read import classify
from cer_gpu.engine.run import bound_query
from cer_gpu.engine.run import chunks as runner


def events(seed: int, n: int, kinds: str = "ABCD", keys: int = 5) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(
                pa.array(rng.integers(0, len(kinds), n), pa.int32()), list(kinds)
            ),
            "price": rng.integers(0, 20, n) / 4,
            "key": rng.integers(0, keys, n),
            "ts": np.cumsum(rng.integers(0, 3, n)),
            "lap": rng.integers(0, 30, n),
        }
    )


def sequences(table: pa.Table, window, same_key: bool = False) -> Counter[int]:  # type: ignore[no-untyped-def]
    """How many `A ; B ; C` end at each position: three nested loops over the columns."""
    kinds, keys = table["type"].to_pylist(), table["key"].to_pylist()
    found: Counter[int] = Counter()
    at = {kind: [i for i, found_kind in enumerate(kinds) if found_kind == kind] for kind in "ABC"}
    for end in at["C"]:
        for start in at["A"]:
            if start >= end:
                break
            if not window(start, end) or (same_key and keys[start] != keys[end]):
                continue
            found[end] += sum(
                start < middle < end and (not same_key or keys[middle] == keys[end]) for middle in at["B"]
            )
    return +found


def counted(query: cer.Query, table: pa.Table, **options: object) -> Counter[int]:
    found = query.counts(table, **options).to_pydict()
    return Counter(dict(zip(found["position"], found["count"], strict=True)))


def agree(query: cer.Query, table: pa.Table, wanted: Counter[int], **options: object) -> None:
    assert counted(query, table, **options) == wanted
    assert query.count(table, **options) == sum(wanted.values())
    assert query.hits(table, **options)["position"].to_pylist() == sorted(wanted)
    rows = query.run(table, **options).to_arrow()
    assert Counter(rows["end"].to_pylist()) == wanted
    order = list(zip(rows["end"].to_pylist(), rows["start"].to_pylist(), strict=True))
    assert order == sorted(order)


@pytest.fixture(params=["whole", "pieces"])
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "pieces":
        monkeypatch.setattr(bound_query, "BATCH", 37)
        monkeypatch.setattr(classify, "BLOCK", 11)
        monkeypatch.setattr(runner, "CHUNK", 50)
        monkeypatch.setattr(chunk, "SEGMENT", 8)


pytestmark = pytest.mark.usefixtures("_size")
SEQUENCE = "SELECT A, B, C WHERE A ; B ; C"


@pytest.mark.parametrize("size", [0, 1, 10, 60, 1000])
def test_event_windows(size: int) -> None:
    table = events(1, 300)
    wanted = sequences(table, lambda start, end: end - start <= size)
    agree(cer.compile(f"{SEQUENCE} WITHIN {size} EVENTS"), table, wanted)


@pytest.mark.parametrize("size", [0, 7, 40])
def test_time_windows_with_ties(size: int) -> None:
    table = events(2, 300)
    ts = table["ts"].to_pylist()
    wanted = sequences(table, lambda start, end: ts[end] - ts[start] <= size)
    agree(cer.compile(f"{SEQUENCE} WITHIN {size} [ts]"), table, wanted, order_by="ts")
    agree(
        cer.compile(f"{SEQUENCE} WITHIN {size} MILLISECONDS"), table, wanted, order_by="ts", order_unit="ms"
    )


def test_windows_over_an_attribute_that_goes_up_and_down() -> None:
    table = events(3, 160)
    lap = [None if i % 17 == 0 else value for i, value in enumerate(table["lap"].to_pylist())]
    table = table.set_column(table.schema.get_field_index("lap"), "lap", pa.array(lap, pa.int64()))

    def inside(start: int, end: int) -> bool:
        return lap[start] is not None and lap[end] is not None and lap[end] - lap[start] <= 3

    agree(cer.compile(f"{SEQUENCE} WITHIN 3 [lap]"), table, sequences(table, inside))


def test_an_attribute_that_ascends_at_first_and_then_falls() -> None:
    table = events(9, 160)
    lap = [*range(120), *range(30, 70)]
    table = table.set_column(table.schema.get_field_index("lap"), "lap", pa.array(lap, pa.int64()))
    wanted = sequences(table, lambda start, end: lap[end] - lap[start] <= 5)
    agree(cer.compile(f"{SEQUENCE} WITHIN 5 [lap]"), table, wanted)
    keyed = sequences(table, lambda start, end: lap[end] - lap[start] <= 5, same_key=True)
    agree(cer.compile(f"{SEQUENCE} PARTITION BY key WITHIN 5 [lap]"), table, keyed)


def test_partitions_count_their_own_events() -> None:
    table = events(4, 400)
    keys = table["key"].to_pylist()
    seen: Counter[int] = Counter()
    ordinal = []
    for key in keys:
        ordinal.append(seen[key])
        seen[key] += 1
    wanted = sequences(table, lambda start, end: ordinal[end] - ordinal[start] <= 12, same_key=True)
    agree(cer.compile(f"{SEQUENCE} PARTITION BY key WITHIN 12 EVENTS"), table, wanted)


@pytest.mark.parametrize("size", [250, 500])
def test_few_of_many_partitions_come_again(size: int) -> None:
    """Of the partitions whose last events are kept, each chunk has events of a few."""
    table = events(6, 900, keys=60)
    wanted = sequences(table, lambda start, end: end - start <= size, same_key=True)
    assert sum(wanted.values()) > 20
    ts = pa.array(range(len(table)))
    query = cer.compile(f"{SEQUENCE} PARTITION BY key WITHIN {size} [place]")
    agree(query, table.append_column("place", ts), wanted, order_by="place")


def test_partitions_by_time_whatever_the_type_of_the_key() -> None:
    table = events(5, 400)
    ts = table["ts"].to_pylist()
    wanted = sequences(table, lambda start, end: ts[end] - ts[start] <= 30, same_key=True)
    query = cer.compile(f"{SEQUENCE} PARTITION BY key WITHIN 30 [ts]")
    index = table.schema.get_field_index("key")
    for kind in (pa.int64(), pa.int8(), pa.float64(), pa.string(), pa.dictionary(pa.int32(), pa.string())):
        if pa.types.is_dictionary(kind):
            keys = table["key"].cast(pa.string()).dictionary_encode()
        else:
            keys = table["key"].cast(kind)
        agree(query, table.set_column(index, "key", keys), wanted, order_by="ts")


def test_no_window_on_many_chunks() -> None:
    table = events(6, 250)
    agree(cer.compile(SEQUENCE), table, sequences(table, lambda start, end: True))
    agree(
        cer.compile(f"{SEQUENCE} PARTITION BY key"),
        table,
        sequences(table, lambda start, end: True, same_key=True),
    )


@pytest.mark.parametrize("consume", ["ANY", "PARTITION"])
def test_consumption_against_a_replay(consume: str) -> None:
    table = events(7, 400)
    keys = table["key"].to_pylist()
    wanted: Counter[int] = Counter()
    floor: dict[object, int] = {}

    def group(position: int) -> object:
        return keys[position] if consume == "PARTITION" else "all"

    full = sequences(table, lambda start, end: end - start <= 400, same_key=True)
    for end in sorted(full):
        after = floor.get(group(end), -1)
        single = sequences(
            table.slice(0, end + 1),
            lambda start, at, end=end, after=after: at == end and start > after,
            same_key=True,
        )
        if single[end]:
            wanted[end] = single[end]
            floor[group(end)] = end
    agree(cer.compile(f"{SEQUENCE} PARTITION BY key CONSUME BY {consume}"), table, wanted)


def test_limit_for_each_end_and_for_all() -> None:
    table = events(8, 300)
    full = sequences(table, lambda start, end: end - start <= 80)
    query = cer.compile(f"{SEQUENCE} WITHIN 80 EVENTS LIMIT 3")
    agree(query, table, Counter({end: min(3, n) for end, n in full.items()}))
    everything = cer.compile(f"{SEQUENCE} WITHIN 80 EVENTS").run(table).to_arrow()
    firsts = query.run(table).to_arrow()
    rows = Random(0).sample(range(len(firsts)), 20)
    for row in rows:
        assert firsts.slice(row, 1).to_pylist()[0] in everything.to_pylist()
    assert cer.compile(f"{SEQUENCE} LIMIT 0").count(table) == 0
    capped = cer.compile(f"{SEQUENCE} WITHIN 80 EVENTS").run(table, limit=100)
    assert capped.to_arrow().equals(everything.slice(0, 100))
    assert capped.limited
    whole = cer.compile(f"{SEQUENCE} WITHIN 80 EVENTS").run(table, limit=len(everything))
    assert whole.to_arrow().equals(everything)
    assert not whole.limited
    total, ends = sum(full.values()), len(full)
    every = cer.compile(f"{SEQUENCE} WITHIN 80 EVENTS")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert every.count(table, limit=total) == total
        assert sum(every.counts(table, limit=total)["count"].to_pylist()) == total
        assert len(every.hits(table, limit=ends)) == ends
    for limit in (0, 1, 100, total - 1):
        with pytest.warns(UserWarning, match=f"stopped at limit={limit}: there are more"):
            assert every.count(table, limit=limit) == limit
        with pytest.warns(UserWarning, match="there are more"):
            counts = every.counts(table, limit=limit)["count"].to_pylist()
        assert sum(counts) == limit
        assert 0 not in counts
    with pytest.warns(UserWarning, match="there are more"):
        assert len(every.hits(table, limit=ends - 1)) == ends - 1
