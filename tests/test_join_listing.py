"""Listing the answers of joins: the order of hits, small blocks, and the values of the head."""

import datetime
import random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.joins.cpu_slots import EMPTY, localise, localise_near

import cer_gpu as cer
from cer_gpu.engine.answers import batches as engine_enumerate
from cer_gpu.engine.read.events import EventArrays, grouped
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration import products


def test_numbers_that_lie_close_together_are_localised_alike() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        columns, n, least = rng.integers(1, 4), rng.integers(0, 30), int(rng.integers(0, 1000))
        slots = rng.integers(least, least + 40, (columns, n)).astype(np.int32)
        slots[rng.random(slots.shape) < 0.2] = -1
        by_hash, by_table = slots.copy(), slots.copy()
        room = 512
        count = localise(by_hash, np.full(room, EMPTY, np.int64), np.empty(room, np.int32))
        assert localise_near(by_table, least, np.full(40, -1, np.int32)) == count
        assert by_table.tolist() == by_hash.tolist()


def streamed(count: int, seed: int) -> pa.Table:
    """Events of three relations with values of many types; `n` and `x` have nulls."""
    rng = random.Random(seed)
    day = datetime.datetime(2020, 1, 1)
    return pa.table(
        {
            "type": pa.array([rng.choice("ABC") for _ in range(count)]).dictionary_encode(),
            "x": pa.array([rng.choice((None, 0, 1, 2, 3)) for _ in range(count)], pa.int64()),
            "y": pa.array([rng.randint(0, 2) for _ in range(count)], pa.int16()),
            "text": pa.array([f"t{k}" for k in range(count)]),
            "code": pa.array([rng.choice("pqr") for _ in range(count)]).dictionary_encode(),
            "n": pa.array([rng.choice((None, k)) for k in range(count)], pa.int32()),
            "f": pa.array([k / 7 for k in range(count)]),
            "flag": pa.array([rng.random() < 0.5 for _ in range(count)]),
            "at": pa.array([day + datetime.timedelta(seconds=k) for k in range(count)], pa.timestamp("ms")),
        }
    )


RULE = (
    "Q(x, t, c, n, f, g, w) <- A(x = x, text = t, code = c), B(x = x, n = n, f = f), "
    "C(x = x, flag = g, at = w) WITHIN 30 EVENTS"
)
CHAIN = (
    "SELECT a[text], b[n, at], c[code, flag] FROM S WHERE A AS a ; B AS b ; C+ AS c "
    "FILTER a.x = b.x AND b.y = c.y WITHIN 24 EVENTS"
)


def by_definition(events: pa.Table) -> list[tuple]:
    """(start, end, positions, values of the head) of the answers of RULE, by three nested loops."""
    rows = events.to_pylist()
    found = []
    for a, one in enumerate(rows):
        for b, two in enumerate(rows):
            for c, three in enumerate(rows):
                kinds = one["type"] + two["type"] + three["type"]
                same = one["x"] is not None and one["x"] == two["x"] == three["x"]
                if kinds == "ABC" and same and max(a, b, c) - min(a, b, c) <= 30:
                    head = (
                        one["x"], one["text"], one["code"], two["n"], two["f"], three["flag"], three["at"]
                    )  # fmt: skip
                    found.append((min(a, b, c), max(a, b, c), [a, b, c], *head))
    return sorted(found, key=lambda row: (row[1], row[0], row[2]))


def listed(events: pa.Table, text: str) -> list[dict]:
    return [row for batch in cer.compile(text).run(events).batches() for row in batch.to_pylist()]


def test_heads_of_every_type_are_those_of_the_events() -> None:
    events = streamed(150, 3)
    rows = listed(events, RULE)
    names = ("start", "end", "positions", "x", "t", "c", "n", "f", "g", "w")
    assert [tuple(row[name] for name in names) for row in rows] == by_definition(events)
    assert len(rows) > 100


@pytest.mark.parametrize("text", [RULE, CHAIN, CHAIN + " LIMIT 2"])
def test_blocks_and_batches_of_any_size_give_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events = streamed(400, 4)
    whole = listed(events, text)
    assert len(whole) > 50
    for rows, group, few in ((1, 1, 0), (7, 3, 1), (50, 1000, 100), (1000, 1000, 0)):
        monkeypatch.setattr(products, "BULK_ROWS", rows)
        monkeypatch.setattr(products, "FEW", few)
        monkeypatch.setattr(engine_enumerate, "GROUP", group)
        assert listed(events, text) == whole


def test_payload_is_grouped_by_lane() -> None:
    rng = np.random.default_rng(8)
    count, lanes = 60, np.sort(rng.integers(0, 5, 60)).astype(np.int32)
    place = rng.permutation(count).astype(np.int32)
    flat = np.arange(count)
    interval = pa.array([pa.MonthDayNano([k, 0, 0]) for k in range(count)])
    table = streamed(count, 9).append_column("interval", interval)
    events = EventArrays(
        flat.astype(np.uint8), flat, lanes, flat[:0], flat[:0].astype(np.uint8), flat[:0],
        np.empty((0, 0), np.int32), pa.concat_tables([table[:20], table[20:]]),
    )  # fmt: skip
    halves = [events.take(np.arange(25)), events.take(np.arange(25, count))]
    assert halves[1].payload is not None
    found = grouped(halves, place, lanes, Workers(2)).payload
    assert found is not None
    order = np.argsort(place)
    assert found.schema == table.schema
    assert found.to_pylist() == table.take(pa.array(order)).to_pylist()
