"""Views on a device: random ones answer as the definition says, and what is asked of rows as references."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.views import contract
from cer_gpu.kernels.views.contract import NULL, CountedRows, RowTests
from cuda_device import TINY, USABLE
from random_views import random_rule
from test_kernel_views import rows
from test_views_random import listed, run

import cer_gpu
from cer_gpu import views
from cer_gpu.engine.cuda import views as device_views
from cer_gpu.engine.cuda.views import DeviceRun, ViewDevice
from cer_gpu.engine.views import levels, runs
from cer_gpu.engine.views.levels import Levels
from cer_gpu.errors import DeviceError
from cer_gpu.views import JoinView

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = pytest.mark.gpu

Result = TypeVar("Result")
SIMULATED = USABLE.devices == ("simulator",)
OPS = [(), (0,), (3,), (4,), (5,), (0, 2), (4, 5)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[[Random], None]:
    """Runs of a row or more lie on the device, and few rows are put into the last one."""

    def chosen(rng: Random) -> None:
        monkeypatch.setattr(device_views, "STREAM", rng.choice(TINY) if SIMULATED else device_views.STREAM)
        monkeypatch.setattr(device_views, "LEAST", rng.choice((1, 4)))
        monkeypatch.setattr(levels, "ROOM", rng.choice((2, 4)))

    return chosen


def on_device(view: JoinView) -> int:
    """How many runs of a view lie on the device."""
    stores = [store for tree in view._kept.trees for store in tree.stores]
    return sum(isinstance(run, DeviceRun) for store in stores for run in store.runs)


@pytest.mark.draws("seed", 12 if SIMULATED else 200)
def test_random_views(seed: int, small: Callable[[Random], None], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"device {seed}")
    small(rng)
    used = 0
    with_memory = device_views.with_memory

    def counted(action: Callable[[], Result]) -> Result | None:
        nonlocal used
        used += 1
        return with_memory(action)

    monkeypatch.setattr(device_views, "with_memory", counted)
    for _ in range(2):
        text, relations = random_rule(rng, rng.randint(2, 4))
        view = cer_gpu.maintain(text, device="cuda")
        assert (view.device, view.device_reason) == ("cuda:0", "device='cuda:0' was asked for")
        run(view, text, relations, rng)
    assert used > 2


@pytest.mark.draws("seed", 6)
def test_where_the_device_has_no_memory_the_host_does_the_work(
    seed: int, small: Callable[[Random], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"memory {seed}")
    small(rng)
    tries = 0

    def without(action: Callable[[], Result]) -> Result | None:
        nonlocal tries
        tries += 1
        return None if rng.random() < 0.4 else action()

    said: list[str] = []
    monkeypatch.setattr(device_views, "with_memory", without)
    monkeypatch.setattr(device_views, "say_no_memory", lambda number, what: said.append(what))
    for _ in range(2):
        text, relations = random_rule(rng, rng.randint(2, 4))
        run(cer_gpu.maintain(text, device="cuda"), text, relations, rng)
    assert tries > 20
    assert set(said) == {"a view"}
    assert len(said) <= 2


def test_pairs_that_are_listed_when_memory_runs_out_come_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held = contract.CountedRows(np.arange(20).reshape(-1, 1), np.ones(20, np.int64), np.zeros(1, np.int64))
    place = ViewDevice(0, 1)
    there = place.placed(held)
    assert isinstance(there, DeviceRun)
    asking, ranges = np.array([[5], [NULL], [3]]), np.array([[0, 20]] * 3)
    tests = RowTests(np.array([5]), np.array([0]), np.array([0]))
    wanted = list(runs.pairs_of(held, asking, 0, tests, ranges, 7))
    assert sum(len(parents) for parents, _ in wanted) == 38
    monkeypatch.setattr(device_views, "say_no_memory", lambda number, what: None)
    for fails in range(1, 7):
        calls = iter(range(100))
        monkeypatch.setattr(
            device_views,
            "with_memory",
            lambda action, calls=calls, fails=fails: None if next(calls) == fails else action(),
        )
        found = list(there.pairs(asking, 0, tests, ranges, 7))
        assert np.array_equal(np.hstack(found), np.hstack(wanted))


@pytest.mark.draws("seed", 4)
def test_what_is_asked_of_a_run(seed: int, small: Callable[[Random], None]) -> None:
    small(Random(seed))
    rng = np.random.default_rng(seed)
    place = ViewDevice(0, 1)
    for width in (1, 2, 3):
        held, others = rows(rng, 30, width), rows(rng, 9, width)
        others = others._replace(counts=others.counts - 2)
        there = place.placed(held)
        assert isinstance(there, DeviceRun)
        same(there.places_of(others.keys), runs.places_of(held, others.keys))
        for shared in range(width):
            for ops in OPS:
                if shared + len(ops) <= width:
                    asked_alike(there, held, others, shared, ops)
        amounts = rng.integers(-1, 3, len(others.counts))
        missing = rng.integers(0, 2, len(amounts)).astype(np.uint8)
        here = CountedRows(*(part.copy() for part in held))
        still = missing.copy()
        assert there.put(others.keys, amounts, still) == contract.put_reference(
            here, others.keys, amounts, missing
        )
        same(still, missing)
        for part, expected in zip((there.keys, there.counts, there.sums), here):
            same(part, expected)


def asked_alike(
    there: DeviceRun, held: CountedRows, others: CountedRows, shared: int, ops: tuple[int, ...]
) -> None:
    columns = np.arange(shared, shared + len(ops))
    back = [(2, 3, 0, 1, 4, 5)[op] for op in ops]
    tests, turned = (
        RowTests(np.array(ops, np.int64), columns, columns),
        RowTests(np.array(back), columns, columns),
    )
    op = -1 if not ops or ops[0] == 5 else ops[0]
    ranges = there.ranges_asked(others.keys, shared, op)
    expected = np.zeros_like(ranges)
    contract.bounds_reference(held.keys, others.keys, shared, op, expected)
    sizes = expected[:, 1] - expected[:, 0]
    same(ranges[:, 1] - ranges[:, 0], sizes)
    same(ranges[sizes > 0], expected[sizes > 0])
    found = [np.ones(len(sizes), np.int64), np.zeros(len(sizes), np.uint8)]
    wanted = [array.copy() for array in found]
    there.add_totals(others.keys, shared, tests, *found)
    scratch = np.empty((len(ops), 2), np.int64)
    contract.totals_reference(held, others.keys, shared, tests, scratch, *wanted)
    same(found, wanted)
    pairs = list(there.pairs(others.keys, shared, tests, ranges, 4))
    assert all(len(places) <= 4 for _, places in pairs)
    same([np.concatenate(part) for part in zip(*pairs)], every_pair(held, others, shared, tests, ranges))
    beside = np.stack([np.arange(len(sizes)), others.counts])
    made = np.empty((3, int(sizes.sum())), np.int64)
    expanded = made.copy()
    if sizes.sum():
        there.expand(ranges, 0, beside, np.array([0]), True, made)
        contract.expand_reference(ranges, 0, beside, held, np.array([0]), True, expanded)
        same(made, expanded)
    if not ops or ops[0] != 5:
        reached = np.empty((len(sizes), 4), np.int64)
        found_groups = contract.reach_reference(held.keys, others.keys, shared, turned, reached)
        reached = reached[:found_groups]
        most = int((reached[:, 1] - reached[:, 0]).sum())
        keys, amounts = np.empty((most, 1), np.int64), np.empty(most, np.int64)
        size = contract.affected_reference(
            held, others, shared, tests, turned, reached, scratch, keys, amounts
        )
        pair = there.affected(others, shared, tests, turned, 1)
        assert pair is not None
        same(list(levels.collapsed(*pair)), [keys[:size], amounts[:size]])


def every_pair(
    held: CountedRows, others: CountedRows, shared: int, tests: RowTests, ranges: np.ndarray
) -> list[np.ndarray]:
    made = np.empty((2, len(others.counts) * len(held.counts)), np.int64)
    scratch = np.empty((len(tests.ops), 2), np.int64)
    arguments = (shared, tests, ranges, np.zeros(2, np.int64), scratch, *made)
    size = contract.matching_reference(held.keys, others.keys, *arguments)
    return [*made[:, :size]] if size else []


def same(one: Any, other: Any) -> None:
    assert len(one) == len(other)
    for mine, theirs in zip(one, other):
        assert np.array_equal(mine, theirs)


def test_products_that_do_not_fit_are_said() -> None:
    held = CountedRows(np.array([[1], [2]]), np.array([1, 2**61]), np.array([2**61 + 1, 2**61 + 1]))
    there = ViewDevice(0, 1).placed(held)
    assert isinstance(there, DeviceRun)
    tests = RowTests(*(np.array([one]) for one in (0, 0, 0)))
    turned = RowTests(*(np.array([one]) for one in (2, 0, 0)))
    for count, fits in ((2, True), (3, False)):
        others = levels.rows_of(np.array([[7]]), np.array([count]))
        assert (there.affected(others, 0, tests, turned, 1) is not None) is fits


def test_rows_go_and_come_back(small: Callable[[Random], None]) -> None:
    small(Random(1))
    rng = np.random.default_rng(3)
    there, here = Levels(2, device=ViewDevice(0, 1)), Levels(2)
    for _ in range(25):
        keys, counts = levels.collapsed(rng.integers(0, 6, (7, 2)), np.ones(7, np.int64))
        if rng.random() < 0.5:
            counts = -here.counts_of(keys)
        for store in (there, here):
            store.add(keys, counts)
        assert (len(there), there.total, there.whole) == (len(here), here.total, not any(there._empty))
        same(there.counts_of(keys), here.counts_of(keys))
    assert there.nbytes
    assert any(isinstance(run, DeviceRun) for run in there.runs)
    same(there.ordered(), here.ordered())


def test_a_snapshot_goes_on_on_a_device(small: Callable[[Random], None]) -> None:
    small(Random(2))
    view = cer_gpu.maintain("Q(a, c) <- R(a, b), S(b, c), a < c")
    assert (view.device, view.device_reason) == (
        "cpu",
        "a view is kept on the CPU unless device='cuda' is asked for",
    )
    view.insert("R", pa.table({"a": [1, 2, 3], "b": [1, 1, 2]}))
    view.insert("S", pa.table({"b": [1, 1, 2], "c": [2, 3, 9]}))
    again = JoinView.restore(view.snapshot(), device="cuda")
    assert on_device(again)
    assert listed(again.enumerate()) == listed(view.enumerate())


def test_one_device_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "asked_devices", lambda device: tuple(device.split(",")))
    with pytest.raises(DeviceError, match=r"device='cuda:0,cuda:1': a view can be kept on one device only"):
        cer_gpu.maintain("Q(a) <- R(a)", device="cuda:0,cuda:1")
