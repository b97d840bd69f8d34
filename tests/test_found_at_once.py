"""How many complex events are found before the first are put out: as memory and the limit allow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.answers.batches import BYTES_OF_ANSWER, GROUP, LEAST, SHARE, found_at_once
from cer_gpu.enumeration.structure import Structure

QUERY = cer.compile("SELECT * WHERE A+ ; B WITHIN 12 EVENTS")


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Some hundred complex events at each of a thousand ends."""
    rng = np.random.default_rng(7)
    return pa.table({"type": np.where(rng.random(4000) < 0.7, "A", "B")})


class Noted:
    """What structures were built for and what was found, one after another."""

    def __init__(self) -> None:
        self.hits: list[int] = []
        self.found: list[int] = []


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    made = Noted()
    build, blocks = Structure.build, Structure.blocks

    def noting_build(self: Structure, *arguments: object) -> None:
        build(self, *arguments)
        made.hits.append(len(self.hits.event))

    def noting_blocks(self: Structure, *arguments: object) -> object:
        for block in blocks(self, *arguments):
            made.found.append(len(block.hit))
            yield block

    monkeypatch.setattr(Structure, "build", noting_build)
    monkeypatch.setattr(Structure, "blocks", noting_blocks)
    return made


def test_room() -> None:
    assert found_at_once(None, None) is None
    assert found_at_once(1 << 30, None) == (1 << 30) // (SHARE * BYTES_OF_ANSWER)
    assert found_at_once(1 << 30, 100_000) == 100_000
    assert found_at_once(1 << 30, 10) == LEAST
    assert found_at_once(0, None) == LEAST


@pytest.mark.parametrize("room", [1, 3000, 50_000])
def test_memory_bounds_what_is_found_at_once(room: int, table: pa.Table, noted: Noted) -> None:
    wanted = QUERY.run(table, device="cpu").to_arrow()
    assert sum(noted.found) == len(wanted) > 2 * 50_000
    noted.found.clear()
    memory = max(room * SHARE * BYTES_OF_ANSWER, 100_000)
    matches = QUERY.run(table, device="cpu", memory=memory)
    batches = iter(matches.batches())
    parts = [next(batches)]
    room = max(LEAST, memory // (SHARE * BYTES_OF_ANSWER))
    assert sum(noted.found) <= room + min(room, GROUP)
    parts += batches
    assert max(noted.found) <= room
    assert pa.Table.from_batches(parts, matches.schema) == wanted


@pytest.mark.parametrize("limit", [0, 1, 10, 5000])
def test_few_wanted_are_all_that_is_found(limit: int, table: pa.Table, noted: Noted) -> None:
    whole = QUERY.run(table, device="cpu").to_arrow()
    noted.found.clear()
    noted.hits.clear()
    found = QUERY.run(table, device="cpu", limit=limit)
    assert found.to_arrow() == whole.slice(0, limit)
    assert found.limited
    assert sum(noted.hits) <= limit + 1
    assert sum(noted.found) <= 2 * max(LEAST, limit + 1)


def test_a_limit_that_is_not_met(table: pa.Table) -> None:
    whole = QUERY.run(table.slice(0, 500), device="cpu").to_arrow()
    for limit, limited in ((len(whole), False), (len(whole) - 1, True)):
        found = QUERY.run(table.slice(0, 500), device="cpu", limit=limit)
        assert found.to_arrow() == whole.slice(0, limit)
        assert found.limited == limited


def test_limits_of_each_end_and_of_all(table: pa.Table) -> None:
    """Ends are in the order of the stream, whatever the lanes: the first are those that are looked at."""
    rng = np.random.default_rng(8)
    keyed = table.append_column("key", pa.array(rng.integers(0, 5, len(table))))
    query = cer.compile("SELECT * WHERE A+ ; B PARTITION BY key WITHIN 11 EVENTS LIMIT 3")
    whole = query.run(keyed, device="cpu").to_arrow()
    for limit in (2, 7, 800):
        assert query.run(keyed, device="cpu", limit=limit).to_arrow() == whole.slice(0, limit)


def test_a_stream_finds_no_more_either(table: pa.Table, noted: Noted) -> None:
    with QUERY.stream(device="cpu", limit=10) as pushed:
        found = pushed.push(table)
        assert len(found.to_arrow()) == 10
    assert sum(noted.found) <= 2 * LEAST
