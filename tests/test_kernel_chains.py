"""Counts of chains of steps in a window, against the definition of runs and the other way to count."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.loop import views as views_of_entries
from cer_gpu.kernels.loop.contract import ANY_PLACE, APART, NEIGHBOUR, LoopSegments
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.steps import cpu_chain as chain_kernel
from cer_gpu.kernels.steps import cpu_counts
from cer_gpu.kernels.steps.contract import MOST_STEPS, StepEvents, StepTables, chain_tables, runs_reference
from engine_oracle import OPTIONS, check, expected
from generate import interval, predicate, stream, stream_to_table

from cer_gpu import compile
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse


def tables_of(
    groups: list[tuple[int, int]], read: list[int], views: list[tuple[int, int, int, int]], floating: bool
) -> StepTables:
    """An automaton: groups (symbol, state), the view of each state or -1, views (state, low, high, near)."""
    groups = sorted(groups)
    bound = np.float64 if floating else np.uint64
    taken = [[read[state]] if read[state] >= 0 else [] for _, state in groups]
    symbols = max(symbol for symbol, _ in groups) + 1
    inner = {state for state, _, _, _ in views}
    return StepTables(
        first=np.searchsorted([symbol for symbol, _ in groups], np.arange(symbols + 1)).astype(np.int32),
        group_state=np.array([state for _, state in groups], np.int32),
        group_starts=np.array([read[state] < 0 for _, state in groups], np.uint8),
        read_first=np.append(0, np.cumsum([len(one) for one in taken])).astype(np.int32),
        read_view=np.array([view for one in taken for view in one], np.int32),
        accepting=np.array([state not in inner for state in range(len(read))], np.uint8),
        state_label=np.ones(len(read), np.int32),
        view_state=np.array([state for state, _, _, _ in views], np.int32),
        view_low=np.array([low for _, low, _, _ in views], bound),
        view_high=np.array([high for _, _, high, _ in views], bound),
        view_near=np.array([near for _, _, _, near in views], np.uint8),
        view_timed=np.ones(len(views), np.uint8),
        view_loose=np.zeros(len(views), np.uint8),
        view_rises=np.zeros(len(views), np.uint8),
    )


def chain(k: int, gap: int) -> StepTables:
    """Steps of one symbol each, symbol 0 being none of them, and one greatest gap."""
    groups = [(step + 1, step) for step in range(k)]
    views = [(step, 0, gap, ANY_PLACE) for step in range(k - 1)]
    return tables_of(groups, [step - 1 for step in range(k)], views, False)


def tree_of(rng: Random, floating: bool) -> StepTables:
    """Random chains with first steps in common; a state has several symbols, a symbol several states."""
    k = rng.randrange(1, MOST_STEPS + 1)
    read, views, tips = [-1], [], [0]
    for _ in range(k - 1):
        grown = []
        for _ in range(1 if rng.random() < 0.7 else 2):
            low = rng.choice((0, 0, 1, 2))
            near = rng.choice((ANY_PLACE, ANY_PLACE, APART))
            views.append((rng.choice(tips), low, low + rng.choice((0, 3, 6, 12)), near))
            read.append(len(views) - 1)
            grown.append(len(read) - 1)
        tips = grown
    symbols = 1 + len(read) if rng.random() < 0.5 else rng.randrange(2, 4)
    groups = {(rng.randrange(1, symbols), state) for state in range(len(read)) for _ in range(2)}
    tables = tables_of(sorted(groups), read, views, floating)
    tables.view_loose[:] = [rng.random() < 0.4 for _ in views]
    tables.view_timed[:] = [rng.random() < 0.85 for _ in views]
    tables.accepting[:] |= np.array([rng.random() < 0.2 for _ in read])
    return tables


def events_of(rng: Random, n: int, symbols: int, floating: bool) -> StepEvents:
    """Events of a lane with ties, of which some are missing between two now and then."""
    times = np.cumsum([rng.choice((0, 1, 1, 3)) for _ in range(n)])
    moments = times.astype(np.float64) if floating else times.view(np.uint64)
    if floating and rng.random() < 0.3:
        moments[-rng.randrange(1, 4) :] = np.inf
        moments[: rng.randrange(3)] = -np.inf
    places = np.cumsum([rng.choice((1, 1, 2)) for _ in range(n)])
    return StepEvents(np.array([rng.randrange(symbols) for _ in range(n)], np.uint8), moments, places)


@pytest.mark.parametrize("floating", [False, True])
def test_numbers_in_a_window_are_those_of_the_runs(floating: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"chains {floating}")
    total = deep = 0
    large = chain_kernel.PRIMES
    for case in range(300):
        tables = tree_of(rng, floating)
        chained = chain_tables(tables)
        assert chained is not None
        n, size = rng.randrange(1, 26), rng.choice((0, 2, 4, 9, 100))
        events = events_of(rng, n, tables.n_symbols, floating)
        cut = rng.randrange(n + 1)
        # Two segments of a lane, the second with the events of the window before it.
        segments = LoopSegments(np.array([0, max(cut - size, 0)]), np.array([0, cut]), np.array([cut, n]))
        with np.errstate(invalid="ignore"):
            runs = runs_reference(tables, events, 0, n)
            wanted = [
                sum(bool(tables.accepting[state]) and end - run[0][0] <= size for state, run in here)
                for end, here in enumerate(runs)
            ]
        event = np.array([end for end in range(n) if rng.random() < 0.8], np.int64)
        first = np.array([0, np.searchsorted(event, cut), len(event)])
        hits = SegmentHits(first, event, np.maximum(event - size, np.repeat(segments.begin, np.diff(first))))
        numbers = chain_kernel.chain_counts(tables, chained, events, segments, *hits)
        assert numbers.tolist() == [wanted[end] for end in event]
        # Numbers that need one prime, or several.
        primes = large if case % 2 else (23, 29, 31, 37, 41, 43, 47, 53)
        monkeypatch.setattr(chain_kernel, "PRIMES", primes)
        exact = chain_kernel.exact_chain_counts(tables, chained, events, segments, *hits)
        assert exact == [wanted[end] for end in event]
        ends = np.array([end for end in range(n) if wanted[end]], np.int64)
        first = np.array([0, np.searchsorted(ends, cut), len(ends)])
        hits = SegmentHits(first, ends, np.maximum(ends - size, np.repeat(segments.begin, np.diff(first))))
        for again in (0, 10**9):
            monkeypatch.setattr(cpu_counts, "AGAIN", again)
            assert cpu_counts.counts(tables, events, segments, hits).tolist() == [wanted[e] for e in ends]
        total += sum(wanted)
        deep += chained.level.max() > 3 and bool(sum(wanted))
    assert total > 1500
    assert deep > 30


def test_what_is_no_chain_is_told() -> None:
    views = [(0, 0, 5, ANY_PLACE), (1, 0, 5, ANY_PLACE)]
    groups = [(1, 0), (2, 1), (3, 2)]
    found = chain_tables(tables_of(groups, [-1, 0, 1], views, False))
    assert found is not None
    assert (found.level.tolist(), found.read.tolist(), found.before.tolist()) == (
        [1, 2, 3],
        [-1, 0, 1],
        [-1, 0, 1],
    )
    assert (found.of_event, found.of_hit) == (8, 16)
    near = [views[0], (1, 0, 5, NEIGHBOUR)]
    assert chain_tables(tables_of(groups, [-1, 0, 1], near, False)) is None
    repeated = [(0, 0, 5, ANY_PLACE), (2, 0, 5, ANY_PLACE)]
    assert chain_tables(tables_of([(1, 0), (2, 1), (2, 2)], [-1, 0, 1], repeated, False)) is None
    assert chain_tables(chain(MOST_STEPS, 5)) is not None
    assert chain_tables(chain(MOST_STEPS + 1, 5)) is None
    begun_twice = tables_of(groups, [-1, 0, 1], views, False)
    begun_twice.group_starts[1] = 1
    assert chain_tables(begun_twice) is None


def test_numbers_past_64_bits_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    many, k = 6000, 6
    # All events of a step, then all of the next one, and three that end it.
    symbols = np.append(np.repeat(np.arange(1, k, dtype=np.uint8), many), [np.uint8(k)] * 3)
    events = StepEvents(symbols, np.zeros(len(symbols), np.uint64), np.arange(len(symbols)))
    whole = LoopSegments(*np.array([[0], [0], [len(symbols)]]))
    tables = chain(k, 0)
    ends = np.arange(len(symbols) - 3, len(symbols))
    lowest = np.array([1, many - 2, many - 1])
    hits = SegmentHits(np.array([0, 3]), ends, lowest)
    numbers = chain_kernel.chain_counts(tables, chain_tables(tables), events, whole, *hits)
    assert numbers.tolist() == [-1, 2 * many**4, many**4]
    assert (many - 1) * many**4 > 2**62
    monkeypatch.setattr(cpu_counts, "AGAIN", 10**9)
    exact = cpu_counts.counts(tables, events, whole, hits)
    assert exact.tolist() == [(many - 1) * many**4, 2 * many**4, many**4]


def test_large_numbers_of_many_windows_take_a_pass_for_each_prime(monkeypatch: pytest.MonkeyPatch) -> None:
    many, k, ends = 60_000, 5, 200
    symbols = np.append(np.repeat(np.arange(1, k, dtype=np.uint8), many), [np.uint8(k)] * ends)
    events = StepEvents(symbols, np.zeros(len(symbols), np.uint64), np.arange(len(symbols)))
    whole = LoopSegments(*np.array([[0], [0], [len(symbols)]]))
    last = np.arange(len(symbols) - ends, len(symbols))
    lowest = np.arange(1, ends + 1)
    hits = SegmentHits(np.array([0, ends]), last, lowest)
    passes = []
    body = chain_kernel.chain_body

    def noted_pass(*arguments: Any) -> None:
        passes.append(arguments[-2])
        body(*arguments)

    def one_by_one(*arguments: Any) -> Any:
        raise AssertionError("each window is counted by itself")

    monkeypatch.setattr(chain_kernel, "chain_body", noted_pass)
    monkeypatch.setattr(cpu_counts, "count_exactly", one_by_one)
    exact = cpu_counts.counts(chain(k, 0), events, whole, hits)
    assert exact.tolist() == [(many - low) * many**3 for low in lowest.tolist()]
    assert passes == [0, *chain_kernel.PRIMES[: len(passes) - 1]]
    assert len(passes) == 4


class Read(np.ndarray):
    """An array that counts how often an element is looked at."""

    count = 0

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        Read.count += 1
        return super().__getitem__(at)


def work_of(k: int, n: int, window: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How often the pass over a chain looks at what it keeps, and how many hits it has."""
    tables = chain(k, window // 2)
    symbols = np.random.default_rng(3).integers(1, k + 1, n).astype(np.uint8)
    events = StepEvents(symbols, np.arange(n, dtype=np.uint64), np.arange(n))
    ends = np.flatnonzero(symbols == k)
    whole = LoopSegments(*np.array([[0], [0], [n]]))
    hits = SegmentHits(np.array([0, len(ends)]), ends, np.maximum(ends - window, 0))
    plain = {
        name: getattr(chain_kernel, name).py_func for name in ("cut_pieces", "runs_before", "chain_body")
    }
    inner = {name: getattr(views_of_entries, name).py_func for name in ("comes", "goes")}
    views = {name: getattr(views_of_entries, name).py_func for name in ("all_shown", "begin_segment")}

    def counted(tables, chained, events, segments, first, event, lowest, room, sums, *rest):  # type: ignore[no-untyped-def]
        room, sums = (type(one)(*(part.view(Read) for part in one)) for one in (room, sums))
        plain["chain_body"](
            tables, chained, events, segments, first, event, lowest, room, sums, *rest, np.zeros(1, np.uint8)
        )

    with monkeypatch.context() as patched:
        for name, body in (plain | views).items():
            patched.setattr(chain_kernel, name, body)
        for name, body in inner.items():
            patched.setattr(views_of_entries, name, body)
        patched.setattr(chain_kernel, "chain_body", counted)
        Read.count = 0
        numbers = chain_kernel.chain_counts(tables, chain_tables(tables), events, whole, *hits)
    compiled = chain_kernel.chain_counts(tables, chain_tables(tables), events, whole, *hits)
    assert numbers.tolist() == compiled.tolist()
    assert numbers.sum() > 0
    return Read.count, len(ends)


def test_the_work_is_near_linear_whatever_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    for k in (4, 5):
        base, hits = work_of(k, 600, 60, monkeypatch)
        assert base < 16 * (600 * 2**k + hits * 4 ** (k - 1))
        twice, _ = work_of(k, 1200, 60, monkeypatch)
        assert twice < 2.3 * base
        wide, _ = work_of(k, 1200, 480, monkeypatch)
        assert wide < 1.2 * twice


class Noted:
    """The pass over chains, in the place of the other way to count, and what it has counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found = 0
        self.counts = chain_kernel.chain_counts
        monkeypatch.setattr(cpu_counts, "AGAIN", 10**9)
        monkeypatch.setattr(cpu_counts, "chain_counts", self)

    def __call__(self, *arguments: Any) -> Any:
        numbers = self.counts(*arguments)
        self.found += int(numbers.sum())
        return numbers


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    return Noted(monkeypatch)


def chain_query(rng: Random) -> t.SelectQuery:
    """Four or five event types in a row with intervals, and filters and keys now and then, in a window."""

    def element() -> t.Pattern:
        made: t.Pattern = t.EventType(rng.choice("AB"))
        return t.Filter(made, t.Every(made.name, predicate(rng))) if rng.random() < 0.1 else made

    made = element()
    for _ in range(rng.randrange(3, 5)):
        made = t.Sequence(made, element(), False, interval(rng) if rng.random() < 0.9 else None)
    window = rng.choice(
        (t.Window(rng.randrange(5, 12), "events"), t.Window(rng.choice((4, 5.5, 8)), "time", unit="s"))
    )
    keys = (("s",),) if rng.random() < 0.2 else ()
    return t.SelectQuery(made, partition=keys, window=window)


@pytest.mark.draws("seed", 3)
def test_queries_of_chains_agree_with_the_reference(seed: int, noted: Noted) -> None:
    rng = Random(f"chain queries {seed}")
    answered = 0
    for _ in range(12):
        events = stream(rng, rng.randrange(18, 26), types="AB", holes=0.02)
        answered += check(chain_query(rng), events, rng) > 0
    assert answered > 2
    assert noted.found > 10


def test_times_of_every_unit_and_floats_agree_with_the_reference(noted: Noted) -> None:
    rng = Random("chains in units")
    text = "SELECT * WHERE A ;[<= 2 s] B ;[500 ms, 3 s] A ;[<= 2 s] C WITHIN 4 SECONDS"
    asked = parse(text)
    assert isinstance(asked, t.SelectQuery)
    for _ in range(10):
        events = stream(rng, 60, types=("A", "B", "C"), holes=0.0)
        wanted: dict[int, int] = {}
        for _, end, _, _ in expected(asked, events):
            wanted[end] = wanted.get(end, 0) + 1
        table = stream_to_table(events)
        times = table["ts"].cast(pa.int64())
        told = [(times.cast(pa.timestamp("ms")).cast(pa.timestamp(unit)), {}) for unit in ("ms", "us", "ns")]
        told += [(times.cast(kind), {"order_unit": "ms"}) for kind in (pa.int64(), pa.float64())]
        told.append((times.cast(pa.duration("ms")), {}))
        for column, options in told:
            place = table.schema.get_field_index("ts")
            found = (
                compile(text).counts(table.set_column(place, "ts", column), **OPTIONS, **options).to_pydict()
            )
            assert dict(zip(found["position"], found["count"], strict=True)) == wanted
    assert noted.found > 40


def test_explain_says_what_counts_cost() -> None:
    def said(text: str) -> str:
        return compile(f"SELECT * WHERE {text}").explain(verbose=True).replace("\n", " ")

    four = "A ;[<= 9 s] B ;[<= 9 s] C ;[<= 9 s] D"
    assert "leaves out some of the matches costs at most 64 sums" in said(f"{four} WITHIN 20 SECONDS")
    assert "relevant event 16, however long" in said(f"{four} WITHIN 20 SECONDS").replace("  ", "")
    assert "leaves out some" not in said(four)
    assert "leaves out some" not in said(f"{four} WITHIN 27 SECONDS")
    repeated = "A ;[<= 9 s] B+ ;[<= 9 s] C ;[<= 9 s] D WITHIN 20 SECONDS"
    assert "runs the events of its window again" in said(repeated)
