"""Streams that compare texts, or decimals of any size, by their order keep what is open between pushes."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from test_stream_state import check

import cer_gpu as cer
from cer_gpu.engine.labels import FixedLabels, NoRoomError, OrderedLabels
from cer_gpu.engine.machines.compared_stream import ComparedRuns
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.engine.words import number_text, texts_of_halves, texts_of_numbers

LETTERS = ("", "a", "b", "ab", "é", "\U00010400", "zz")

WIDE = pa.decimal128(38, 3)


def texts(rng: Random, n: int) -> pa.Array:
    """Texts of which many share their first letters, and some are one."""
    return pa.array(
        ["".join(rng.choices(LETTERS, k=rng.randrange(4))) if rng.random() < 0.9 else None for _ in range(n)]
    )


def decimals(rng: Random, n: int) -> pa.Array:
    """Decimals of which most do not fit 64 bits."""
    far = [10**5, 10**22, 10**30]
    numbers = [rng.choice((1, -1)) * (rng.choice(far) + rng.randrange(-400, 400)) for _ in range(n)]
    return pa.array([None if rng.random() < 0.1 else Decimal(one).scaleb(-3) for one in numbers], WIDE)


KINDS: dict[str, Callable[[Random, int], pa.Array]] = {"texts": texts, "decimals": decimals}

QUERIES = [
    "SELECT * WHERE A AS x ; B AS y FILTER x.v < y.v WITHIN 9 EVENTS",
    "SELECT * WHERE A AS x ; B AS y FILTER x.v != y.v AND x.key = y.key WITHIN 12 [ts]",
    "SELECT * WHERE A AS x ; B AS y FILTER x.v <= y.v PARTITION BY key WITHIN 5 EVENTS CONSUME BY PARTITION",
    "SELECT * WHERE (A AS x FILTER x.v > PRIOR(x).v)+ WITHIN 6 EVENTS",
    "SELECT MAX * WHERE (B AS x FILTER x.v > PRIOR(x).v)+ WITHIN 7 EVENTS",
    "SELECT NEXT * WHERE A AS x ; B AS y ; A AS z FILTER y.v > x.v AND z.v >= y.v WITHIN 8 EVENTS",
    "SELECT * WHERE A AS x ; B AS y FILTER x.v >= y.v",
    "SELECT * WHERE A AS x ; B AS y FILTER x.v < y.w WITHIN 7 EVENTS CONSUME BY ANY",
    "SELECT * WHERE A AS x ; B AS y FILTER x.v < y.v WITHIN 5 [price]",
]


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Labels with little room between them, and few events that are kept; how often runs began anew."""
    monkeypatch.setattr("cer_gpu.engine.labels.ENDS", (-200, 200))
    monkeypatch.setattr("cer_gpu.engine.labels.APART", 3)
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LEAST", 8)
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LOOK", 4)
    monkeypatch.setattr("cer_gpu.engine.read.eviction.REMEMBERED", 8)
    begun: list[int] = []
    once = ComparedRuns._begin_again

    def again(self: ComparedRuns, bounds: Any) -> None:
        begun.append(1)
        once(self, bounds)

    monkeypatch.setattr(ComparedRuns, "_begin_again", again)
    return begun


MADE = [
    "SELECT * WHERE A AS x ; B AS y FILTER UPPER(x.v) < UPPER(y.v) WITHIN 9 EVENTS",
    "SELECT * WHERE A AS x ; B AS y FILTER PREV(x.v) < PREV(y.v) PARTITION BY key WITHIN 12 [ts]",
    "SELECT * WHERE A AS x ; B AS y FILTER x.v >= LOWER(y.w) WITHIN 7 EVENTS",
    "SELECT * WHERE A AS x ; B AS y FILTER LOWER(x.v) <= y.v SUPPRESS FOR 3",
    "SELECT * WHERE (A AS x FILTER LOWER(x.v) > LOWER(PRIOR(x).v))+ WITHIN 6 EVENTS",
]
"""Queries that order texts which PREV and functions make."""


def compared(rng: Random, n: int, kind: str) -> pa.Table:
    """Events whose columns `v` and `w` are of a kind."""
    return pa.table(
        {
            "type": rng.choices("AB", k=n),
            "ts": sorted(rng.choices(range(2 * n), k=n)),
            "key": [rng.choice(["x", "y", None]) for _ in range(n)],
            "price": [rng.random() * 20 for _ in range(n)],
            "v": KINDS[kind](rng, n),
            "w": KINDS[kind](rng, n),
        }
    )


@pytest.mark.crossed
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", QUERIES)
def test_pushes_give_what_a_run_gives_however_labels_move(text: str, kind: str, narrow: list[int]) -> None:
    rng = Random(f"{kind} {text}")
    assert sum(check(text, compared(rng, 150, kind), rng, {"order_by": "ts"}) for _ in range(2)) > 10
    assert narrow


@pytest.mark.parametrize("text", MADE)
def test_pushes_order_texts_that_are_made(text: str, narrow: list[int]) -> None:
    rng = Random(text)
    assert sum(check(text, compared(rng, 150, "texts"), rng, {"order_by": "ts"}) for _ in range(2)) > 10


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_is_open_is_run_again_but_where_labels_move(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, begun = Random(kind), []
    monkeypatch.setattr(ComparedRuns, "_begin_again", lambda self, bounds: begun.append(1))
    n = 2000
    events = pa.table({"type": rng.choices("AB", k=n), "v": KINDS[kind](rng, n)})
    query = cer.compile("SELECT * WHERE A AS x ; B AS y FILTER x.v < y.v WITHIN 50 EVENTS")
    wanted = query.count(events)
    with query.stream() as stream:
        found = sum(len(stream.push(events.slice(at, 5)).to_arrow()) for at in range(0, n, 5))
        assert isinstance(stream._state, StreamState)
    assert found == wanted > 100
    assert not begun


def test_texts_of_numbers_are_in_their_order() -> None:
    rng = Random(8)
    numbers: list[Any] = [0.5, -0.5, 2.0**-1074, float("inf"), -float("inf"), 2.0**1000, -(2.0**1000) - 0.0]
    for far in (0, 3, 62, 63, 64, 126, 127, 128, 129, 400):
        for near in (-2, -1, 0, 1, 2):
            numbers += [2**far + near, -(2**far) + near, Fraction(2**far * 4 + near, 4)]
    numbers += [rng.uniform(-9, 9) for _ in range(50)]
    rng.shuffle(numbers)
    for one, other in zip(numbers, numbers[1:] + numbers[:1], strict=True):
        assert (one < other, one == other) == (
            number_text(one) < number_text(other), number_text(one) == number_text(other),
        )  # fmt: skip
    assert sorted(numbers) == sorted(numbers, key=number_text)


@pytest.mark.parametrize("times", [1, 10**3, 10**25])
def test_texts_of_arrays_are_those_of_each_number(times: int) -> None:
    rng = Random(times)
    whole = [rng.randrange(-(2**far), 2**far) for far in (3, 40, 63) for _ in range(9)]
    wide = [rng.randrange(-(2**far), 2**far) for far in (64, 127, 300) for _ in range(9)]
    cases = [
        np.array(whole, np.int64), np.array(whole, object), np.array([*whole, *wide], object),
        np.array([2**64 - 1, 3], np.uint64), np.array([0.25, -7.5, np.inf]), np.empty(0, np.int64),
    ]  # fmt: skip
    for numbers in cases:
        exact = [one if one == np.inf else Fraction(one) * times for one in numbers.tolist()]
        found = texts_of_numbers(numbers, times).cast(pa.large_binary()).to_pylist()
        assert found == list(map(number_text, exact))
    few = np.array(whole, np.int64)
    assert texts_of_halves(few >> 63, few).cast(pa.large_binary()).to_pylist() == list(
        map(number_text, whole)
    )


@pytest.mark.parametrize("room", [200, 10**4, 1 << 62])
@pytest.mark.draws("seed", 20)
def test_labels_keep_their_order_whether_few_or_many_values_come(
    seed: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has changed is among those that are given back, all of them ascending."""
    monkeypatch.setattr("cer_gpu.engine.labels.ENDS", (-room, room))
    monkeypatch.setattr("cer_gpu.engine.labels.APART", min(room // 60, 1 << 32))
    rng, labels = Random(f"{seed} {room}"), OrderedLabels()
    known: dict[int, int] = {}
    for _ in range(20):
        some = [rng.randrange(1000) for _ in range(rng.choice((1, 2, 8)))]
        moved = labels.take(some)
        if moved is not None:
            now = dict(zip(*(each.tolist() for each in moved), strict=True))
            known = {value: now[label] for value, label in known.items()}
        for value in some:
            known.setdefault(value, labels.of[value])
        assert labels.of == known
        ordered = [labels.of[value] for value in sorted(known)]
        assert all(one < other for one, other in pairwise(ordered))
        assert -room < min(ordered) <= max(ordered) < room
        if rng.random() < 0.3:
            kept = rng.sample(sorted(known), len(known) // 2)
            known = {value: known[value] for value in kept}
            labels.keep(np.array(list(known.values()), np.int64))


@pytest.mark.draws("seed", 20)
def test_fixed_labels_stay_until_there_is_no_room(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.labels.APART", 64)
    rng, labels = Random(seed), FixedLabels()
    known: dict[int, int] = {}
    for _ in range(200):
        some = [rng.randrange(1000) for _ in range(rng.choice((1, 2, 8)))]
        try:
            known |= zip(some, labels.labels(some), strict=True)
        except NoRoomError:
            assert labels.of == known
            break
        assert labels.of == known
        assert [labels.value(label) for label in known.values()] == list(known)
        assert sorted(known, key=known.__getitem__) == sorted(known) == labels.values
    else:
        raise AssertionError("there is room for ever")
