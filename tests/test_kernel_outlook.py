"""The kernels of outlooks against their definition, over random automata, lanes, reaches and cuts."""

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.outlook.contract import outlook_reference
from cer_gpu.kernels.runs.contract import TransitionTables, accepting_runs
from random_tables import tables_of

from cer_gpu import compile
from cer_gpu.engine.machines import past_outlook
from cer_gpu.engine.machines.future_outlook import FutureOutlook
from cer_gpu.engine.machines.next_event_outlook import NextEventOutlook
from cer_gpu.engine.machines.past_outlook import PastOutlook
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.outlook import Outlook, Reach

NONE = np.empty(0, np.int64)
LABELS = 3
"""Symbols are LABELS * what q reads + (0: not kept, 1: kept, 2: asked)."""

NOT_KEPT, KEPT, TRUE, FALSE = 0, 1, 2, 3
"""What symbols become."""


def random_q(rng: random.Random) -> TransitionTables:
    """An automaton without labels."""
    n_states, steps = rng.randint(1, 4), []
    for symbol in range(1, 4):
        for source in range(n_states):
            if rng.random() < 0.6:
                target = rng.randint(0, n_states - 1) or -1
                final = rng.random() < 0.4
                if target > 0 or final:
                    steps.append((source, symbol, 0, target, final))
    while True:
        sources = {step[0] for step in steps}
        trimmed = [(p, s, label, q if q in sources else -1, final) for p, s, label, q, final in steps]
        trimmed = [step for step in trimmed if step[3] > 0 or step[4]]
        if trimmed == steps:
            return tables_of(4, steps)
        steps = trimmed


def outlook_of(tables: TransitionTables, before: bool, reach: Reach) -> Outlook:
    symbols = np.arange(4 * LABELS)
    becomes = np.zeros((4 * LABELS, 2), np.uint8)
    becomes[symbols % LABELS == 1] = KEPT
    becomes[symbols % LABELS == 2] = FALSE, TRUE
    return Outlook("q", before, reach, tables, None, (symbols // LABELS).astype(np.uint16), becomes)


def events_of(symbols: np.ndarray, lanes: np.ndarray, times: np.ndarray, part: slice) -> EventArrays:
    positions = np.arange(part.start, part.stop)
    lanes = lanes[part] if lanes.any() else lanes[:0]
    byte, slots = np.empty(0, np.uint8), np.empty((0, 0), np.int32)
    return EventArrays(symbols[part], positions, lanes, NONE, byte, NONE, slots, None, None, times[part])


def wanted(tables, symbols, lanes, times, reach, before):
    """For each kept event what it becomes, by the definition."""
    found = []
    for lane in set(lanes.tolist()):
        own = np.flatnonzero((lanes == lane) & (symbols >= LABELS))  # symbol 0 of q is neutral
        runs = accepting_runs(tables, symbols[own] // LABELS, 0, len(own))
        found += [(int(own[start]), int(own[end])) for start, end, _ in runs]
    high = reach.high if reach.high is not None else float("inf")
    bits = outlook_reference(found, lanes, times.tolist(), (reach.low, high), before)
    kept = {NOT_KEPT: None, KEPT: KEPT}
    all_of = [kept.get(s % LABELS, TRUE if bit else FALSE) for s, bit in zip(symbols.tolist(), bits)]
    return {position: one for position, one in enumerate(all_of) if one is not None}


@pytest.fixture
def tiny_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads share few events, too."""
    monkeypatch.setattr(past_outlook, "LEAST_SHARE", 3)
    monkeypatch.setattr(past_outlook, "LANES_ALIKE", 0)


@pytest.mark.usefixtures("tiny_shares")
@pytest.mark.draws("seed", 120)
@pytest.mark.parametrize("before", [False, True], ids=["ahead", "behind"])
def test_bits_are_those_of_the_definition(seed, before):
    rng = random.Random(seed)
    n, n_lanes = rng.choice((5, 30, 60)), rng.choice((1, 1, 3, 9))
    dtype = rng.choice((np.int64, np.float64))
    symbols = np.array([rng.randrange(4 * LABELS) for _ in range(n)], np.uint8)
    lanes = np.array([rng.randrange(n_lanes) for _ in range(n)], np.int32)
    times = np.cumsum([rng.choice((0, 0, 1, 2, 5)) for _ in range(n)]).astype(dtype) - 20
    low = rng.choice((0, 0, 1, 3))
    reach = Reach("time", low, rng.choice((None, low, low + 2, low + 6)))
    tables = random_q(rng)
    in_order = rng.random() < 0.5
    outlook = outlook_of(tables, before, reach)
    laned = bool(lanes.any())
    workers = Workers(rng.choice((1, 2, 4)))
    stage: PastOutlook | FutureOutlook = PastOutlook(outlook, laned, workers)
    if not before:
        stage = FutureOutlook(outlook, laned, in_order, False, workers)
    got: list[tuple[int, int]] = []
    edges = sorted({0, n, *(rng.randrange(n) for _ in range(rng.randrange(8)))})

    def note(found: EventArrays | None) -> None:
        if found is not None:
            got.extend(zip(found.positions.tolist(), found.symbols.tolist()))

    for start, stop in pairwise(edges):
        note(stage(events_of(symbols, lanes, times, slice(start, stop)), n_lanes))
    if not before:
        note(stage.rest())
    assert len(got) == len(dict(got))
    assert dict(got) == wanted(tables, symbols, lanes, times, reach, before)
    for lane in range(n_lanes):
        own = [position for position, _ in got if lanes[position] == lane]
        assert own == sorted(own)
    if in_order:
        assert got == sorted(got)


@pytest.mark.draws("seed", 80)
def test_bits_that_the_next_event_decides_are_those_of_the_definition(seed):
    rng = random.Random(f"next {seed}")
    for kind in (
        Reach("time", 0, rng.choice((0, 1, 2, 6))),
        Reach("time", 0, 2),
        Reach("time", 0),
        Reach(None),
        Reach("time", rng.choice((1, 2, 6)), rng.choice((6, 9, None))),
        Reach("time", 2, 2),
    ):
        for _ in range(5):
            check_bits_by_next(rng, kind)


def check_bits_by_next(rng: random.Random, reach: Reach) -> None:
    """Assert what is found of random events in random batches, with lanes that are renumbered."""
    n, n_lanes = rng.choice((5, 30, 60)), rng.choice((1, 3, 9))
    symbols = np.array([rng.randrange(4 * LABELS) for _ in range(n)], np.uint8)
    lanes = np.array([rng.randrange(n_lanes) for _ in range(n)], np.int32)
    times = np.cumsum([rng.choice((0, 0, 1, 2, 5)) for _ in range(n)]) - 20
    tables = TransitionTables(
        first=np.array([0, 0, 1, 2, 3], np.int32),
        source=np.zeros(3, np.int32),
        label=np.zeros(3, np.int32),
        target=np.full(3, -1, np.int32),
        accepting=np.ones(3, np.uint8),
    )
    outlook = outlook_of(tables, False, reach)
    assert outlook.by_next
    laned, alone = bool(lanes.any()), rng.random() < 0.5
    stage = NextEventOutlook(outlook, laned, Workers(1), alone)
    got: list[tuple[int, int]] = []
    edges = sorted({0, n, *(rng.randrange(n) for _ in range(rng.randrange(8)))})
    timed, late = rng.random() < 0.7, 0
    numbers = np.arange(n_lanes, dtype=np.int32)
    """The present number of each lane."""
    for start, stop in pairwise(edges):
        # Where partitions are in order by themselves, what comes may be earlier than the events.
        now = int(times[stop - 1]) - rng.choice((0, 0, 1, 30)) if timed else None
        events = events_of(symbols, numbers[lanes] if laned else lanes, times, slice(start, stop))
        for found in stage.decided(events, 2 * n_lanes, now):
            got.extend(zip(found.positions.tolist(), found.symbols.tolist()))
        late += stage.waits
        if laned and rng.random() < 0.5:
            # Lanes that nothing waits in are forgotten, and come back as new ones.
            busy = stage.busy()
            stage.keep(busy, np.arange(len(busy)), len(busy))
            before, numbers = numbers, np.arange(n_lanes, dtype=np.int32) + len(busy)
            for number, lane in enumerate(busy.tolist()):
                numbers[before == lane] = number
            assert stage.busy().tolist() == list(range(len(busy)))
    for found in stage.rest(2 * n_lanes):
        got.extend(zip(found.positions.tolist(), found.symbols.tolist()))
    assert alone or got == sorted(got)
    assert dict(got) == wanted(tables, symbols, lanes, times, reach, False)
    assert len(got) == len(dict(got))
    assert not stage.waits


@pytest.mark.parametrize(
    ("reach", "before"),
    [
        (Reach("events", 0, 4), False),
        (Reach("time", 0, 4), True),
        (Reach(None), True),
    ],
)
def test_the_next_event_decides_no_other_reach(reach, before):
    tables = random_q(random.Random(1))._replace(
        first=np.array([0, 0, 1, 1, 1], np.int32), source=np.zeros(1, np.int32), label=np.zeros(1, np.int32),
        target=np.full(1, -1, np.int32), accepting=np.ones(1, np.uint8),
    )  # fmt: skip
    assert not outlook_of(tables, before, reach).by_next


def test_explain_says_that_the_next_event_decides():
    told = "the next event of the lane that is looked for decides"
    assert told in compile("SELECT * WHERE A NOT FOLLOWED BY [<= 5 s] B").explain(verbose=True)
    text = compile("SELECT * WHERE A NOT FOLLOWED BY [1 s, 5 s] B").explain(verbose=True)
    assert told not in text
    assert "the first event in the interval of the lane that is looked for decides" in text
    assert "decides: no queues" not in compile("SELECT * WHERE A FOLLOWED BY (B ; C)").explain(verbose=True)


@pytest.mark.parametrize("laned", [False, True])
@pytest.mark.parametrize(("far", "found"), [(0, True), (5, True), (6, False)])
def test_a_single_event_as_far_back_as_the_reach_precedes_another(laned: bool, far: int, found: bool) -> None:
    """What the last such event decides: no later one of the lane is farther."""
    clause = " PARTITION BY k" if laned else ""
    table = pa.table(
        {"type": ["B", "B", "C", "A"], "t": [1, 10, 10, 10 + far], "k": [7, 7, 8, 7]},
    )
    for negated in ("", "NOT "):
        query = compile(f"SELECT * WHERE A {negated}PRECEDED BY [<= 5] B{clause}")
        assert query.count(table, order_by="t") == (found is (not negated))
