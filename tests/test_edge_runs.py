"""Complex events that their first and last events tell, listed in the order of the stream."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.runs.contract import TransitionTables, accepting_runs
from cer_gpu.kernels.runs.edge_runs import follow_edges, undropped
from cer_gpu.kernels.runs.programs import edge_runs, edge_steps, runs_alone
from engine_oracle import check
from generate import stream
from random_tables import tables_of

import cer_gpu as cer
from cer_gpu.engine.machines import automaton
from cer_gpu.engine.machines.sequences import entries_of
from cer_gpu.engine.machines.single_runs import SingleRunRunner
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.sequences import EdgeAnswers, SequenceAnswers
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse


def _two_steps(rng: random.Random) -> TransitionTables:
    """Tables over the symbols 1 to 4, with runs of one state between their edges."""
    first, last = rng.randrange(2), rng.randrange(2)
    steps = [(0, 1, first, 1, False), (1, 2, last, -1, True)]
    for symbol in range(1, 5):
        if symbol > 1 and rng.random() < 0.4:
            steps.append((0, symbol, first, 1, False))
        ends, stays = rng.random() < 0.4, rng.random() < 0.6
        if symbol != 2 and ends and (last or not stays):
            steps.append((1, symbol, last, -1, True))
        if stays and (symbol != 2 or last):
            steps.append((1, symbol, 0, 1, symbol != 2 and ends and not last))
    return tables_of(5, steps)


@pytest.mark.draws("seed", 6)
def test_edge_runs_are_those_of_random_automata(seed: int) -> None:
    """In chunks, of which each begins with the events at which the runs that are open have begun."""
    rng = random.Random(seed)
    listed = 0
    for _ in range(200):
        tables = _two_steps(rng)
        runs = edge_runs(tables)
        if runs is None or not runs_alone(tables):
            continue
        symbols = np.array([rng.randint(1, 4) for _ in range(30)], np.uint8)
        lanes = np.array([rng.randrange(3) for _ in symbols], np.int32)
        wanted = []
        for lane in range(3):
            own = np.flatnonzero(lanes == lane)
            for start, end, marks in accepting_runs(tables, symbols[own], 0, len(own)):
                marked = tuple((int(own[event]), int(mark)) for event, mark in marks)
                wanted.append((int(own[end]), int(own[start]), marked))
        found, kept = [], np.empty(0, np.int64)
        for low, high in pairwise(sorted({0, 30, rng.randrange(31), rng.randrange(31)})):
            events = np.append(kept, np.arange(low, high))
            event, start, opened = follow_edges(runs, symbols[events], lanes[events], 3, len(kept))
            for block in EdgeAnswers(runs.labels, events[event], events[start]).blocks(np.arange(len(event))):
                for row, hit in enumerate(block.hit.tolist()):
                    own = slice(block.first[row], block.first[row + 1])
                    marked = tuple(zip(block.event[own].tolist(), block.label[own].tolist(), strict=True))
                    found.append((int(events[event[hit]]), int(block.start[row]), marked))
            kept = events[opened]
        assert found == sorted(wanted)
        listed += len(found)
    assert listed > 100


@pytest.mark.draws("seed", 6)
def test_the_runs_of_an_end_begin_after_the_last_event_that_drops_runs(seed: int) -> None:
    rng = random.Random(seed)
    listed = 0
    for _ in range(60):
        tables = _two_steps(rng)
        found = edge_steps(tables)
        assert found is not None
        steps, drops = found
        symbols = np.array([rng.randint(1, 4) for _ in range(30)], np.uint8)
        wanted: dict[int, list[tuple[int, tuple[tuple[int, int], ...]]]] = {}
        lowest: dict[int, int] = {}
        for begin in (0, 10, 20):  # three lanes
            low = begin
            for end in range(begin, begin + 10):
                low = rng.randint(low, end) if rng.random() < 0.2 else low
                runs = accepting_runs(tables, symbols, begin, end + 1)
                own = sorted((start, marks) for start, at, marks in runs if at == end and start >= low)
                if own:
                    wanted[end], lowest[end] = own, low
        event, least = (np.array(list(each), np.int64) for each in (wanted, lowest.values()))
        entries = entries_of(symbols, steps, Workers())
        answers = SequenceAnswers(entries, steps.labels, event, undropped(drops, symbols, event, least))
        assert answers.count.tolist() == [len(own) for own in wanted.values()]
        for block in answers.blocks(np.arange(len(event))):
            for row, hit in enumerate(block.hit.tolist()):
                marked = slice(block.first[row], block.first[row + 1])
                marks = zip(block.event[marked].tolist(), block.label[marked].tolist(), strict=True)
                assert wanted[event[hit]].pop(0) == (block.start[row], tuple(marks))
                listed += 1
        assert not any(wanted.values())
    assert listed > 100


def test_what_has_other_marks_or_several_at_an_end_has_no_edge_runs() -> None:
    first, last = (0, 1, 1, 1, False), (1, 2, 1, -1, True)
    plain = edge_runs(tables_of(4, [first, last]))
    assert plain is not None
    assert plain.labels.tolist() == [1, 1]
    single = edge_runs(tables_of(4, [(0, 1, 1, -1, True)]))
    assert single is not None
    assert single.labels.tolist() == [1]
    for more in (
        (1, 3, 1, 1, False),  # an event between is marked
        (0, 2, 1, -1, True),  # single events too
        (0, 3, 2, 1, False),  # the first event has one of two marks
        (1, 3, 2, -1, True),  # so has the last
    ):
        assert edge_runs(tables_of(4, [first, last, more])) is None, more


TEXTS = (
    "SELECT LAST * WHERE A AS x ; B AS y",
    "SELECT LAST NONE, x.v AS was, y.v - x.v AS rise WHERE A AS x ; (B OR C) AS y",
    "SELECT LAST y WHERE A AS x ; B AS y LIMIT 1",
    "SELECT * WHERE A AS x : B AS y",
    "SELECT NONE WHERE A : (A AS x FILTER x.v > PREV(x.v))",
    "SELECT NONE, x.v AS v WHERE (A AS x FILTER x.v > 2)",
    "SELECT * WHERE (A AS x ; B AS y) UNLESS (A ; A)",
    "SELECT * WHERE A AS x : B AS y SUPPRESS FOR 3 SECONDS",
    "SELECT * WHERE A AS x NOT FOLLOWED BY B",
)


@pytest.mark.crossed
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("key", [(("id",),), (("p",),), (("id",), ("s",))])
@pytest.mark.parametrize("text", TEXTS)
def test_edge_runs_agree_with_the_reference(
    text: str, key: tuple[tuple[str, ...], ...], few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where chunks have a few events, and so begin with some that are kept."""
    if few:
        monkeypatch.setattr("cer_gpu.engine.run.bound_query.CARRIED_BATCH", 3)
        monkeypatch.setattr("cer_gpu.engine.run.chunks.CARRIED", 2)
    used: list[SingleRunRunner] = []
    init = SingleRunRunner.__init__

    def noted(self: SingleRunRunner, *given: object) -> None:
        used.append(self)
        init(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(SingleRunRunner, "__init__", noted)
    query = parse(text)
    assert isinstance(query, t.SelectQuery)
    query = replace(query, partition=key)
    rng = random.Random(f"{text} {key}")
    answers = 0
    for _ in range(6):
        events = [replace(one, type=rng.choice("AAABBC")) for one in stream(rng, 20, holes=0.05)]
        answers += check(query, events, rng)
    assert answers > 1
    assert used


@pytest.mark.crossed
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT NONE WHERE A : (NOT (B)) :{0,} : B WITHIN 6 SECONDS",
        "SELECT * WHERE (A AS x ; B AS y) UNLESS C",
        "SELECT x WHERE (A AS x ; B AS y) UNLESS (B ; B) WITHIN 8 EVENTS",
        "SELECT NONE WHERE (A ; (B OR C)) UNLESS C CONSUME BY ANY",
        "SELECT y WHERE (A AS x ; B AS y) UNLESS C LIMIT 2",
    ],
)
def test_runs_that_are_dropped_together_agree_with_the_reference(
    text: str, keyed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[int] = []
    monkeypatch.setattr(automaton, "undropped", lambda *given: _noting_of(used, undropped(*given)))
    query = parse(text)
    assert isinstance(query, t.SelectQuery)
    query = replace(query, partition=(("id",),)) if keyed else query
    rng = random.Random(text)
    answers = 0
    for _ in range(8):
        events = [replace(one, type=rng.choice("AAABBC")) for one in stream(rng, 20, holes=0.05)]
        answers += check(query, events, rng)
    assert answers > 3
    assert used


def test_of_earlier_chunks_the_events_of_open_runs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.CARRIED_BATCH", 100)
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CARRIED", 100)
    kept: list[int] = []
    needed = SingleRunRunner.needed
    monkeypatch.setattr(SingleRunRunner, "needed", lambda self, chunk: _noting_of(kept, needed(self, chunk)))
    rng = np.random.default_rng(1)
    types, keys = rng.integers(0, 2, 2000), rng.integers(0, 7, 2000)
    events = pa.table({"type": np.array(["A", "B"])[types], "key": keys, "n": np.arange(2000)})
    rows = (
        cer.compile("SELECT LAST NONE, x.n AS was WHERE A AS x ; B PARTITION BY key").run(events).to_arrow()
    )
    last: dict[int, int] = {}
    wanted = []
    for place, (kind, key) in enumerate(zip(types.tolist(), keys.tolist(), strict=True)):
        if kind == 0:
            last[key] = place
        elif key in last:
            wanted.append((place, last[key]))
    assert list(zip(rows["end"].to_pylist(), rows["was"].to_pylist(), strict=True)) == wanted
    assert len(kept) > 10
    assert max(kept) <= 7


def _noting_of(kept: list[int], found: np.ndarray) -> np.ndarray:
    kept.append(len(found))
    return found
