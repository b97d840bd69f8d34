"""The complex events of chains of steps, listed in canonical order as they are found, against the runs."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.forest.contract import Block
from cer_gpu.kernels.loop.contract import ANY_PLACE, APART, NEIGHBOUR, LoopSegments
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.steps import cpu_counts, cpu_nodes, cpu_paths
from cer_gpu.kernels.steps.contract import StepTables, runs_reference
from cer_gpu.kernels.steps.cpu_paths import path_labels
from test_kernel_chains import events_of, tables_of

import cer_gpu as cer
from cer_gpu.engine.machines import steps as machine
from cer_gpu.enumeration import steps
from cer_gpu.enumeration.blocks import PathBlock
from cer_gpu.enumeration.steps import StepAnswers, StepEnds


def chains_of(rng: Random, floating: bool) -> StepTables:
    """One random chain or two with some first steps in common; a symbol enters several states of a chain."""
    k = rng.randrange(1, 6)
    common = k if rng.random() < 0.6 else rng.randrange(k)
    chains = [list(range(k))]
    if common < k:
        chains.append([*range(common), *range(k, 2 * k - common)])
    read = [-1] * (max(chains[-1]) + 1)
    views = []
    for chain in chains:
        for before, state in pairwise(chain):
            if read[state] < 0:
                low = rng.choice((0, 0, 1, 2))
                near = rng.choice((ANY_PLACE, ANY_PLACE, ANY_PLACE, APART, NEIGHBOUR))
                views.append((before, low, low + rng.choice((0, 3, 6, 12)), near))
                read[state] = len(views) - 1
    groups = {(rng.randrange(1, 4), state) for state in range(len(read)) for _ in range(2)}
    for end, chain in enumerate(chains):  # an event ends one of them
        groups = {one for one in groups if one[1] != chain[-1]} | {(end + 1, chain[-1])}
    tables = tables_of(sorted(groups), read, views, floating)
    tables.view_loose[:] = [rng.random() < 0.4 for _ in views]
    tables.view_timed[:] = [rng.random() < 0.85 for _ in views]
    labels = [rng.randrange(1, 4) for _ in range(k)]
    for chain in chains:
        tables.state_label[chain] = labels
    return tables


@pytest.mark.parametrize("floating", [False, True])
def test_they_are_those_of_the_runs(floating: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(f"paths {floating}")
    total = deep = cut_off = 0
    monkeypatch.setattr(steps, "ENTRIES", 2)
    for _ in range(350):
        tables = chains_of(rng, floating)
        labels = path_labels(tables)
        assert labels is not None
        n, size = rng.randrange(1, 34), rng.choice((1, 4, 9, 100))
        events = events_of(rng, n, tables.n_symbols, floating)
        cut = rng.randrange(n + 1)
        # Two segments of a lane, the second with the events of the window before it.
        segments = LoopSegments(np.array([0, max(cut - size, 0)]), np.array([0, cut]), np.array([cut, n]))
        with np.errstate(invalid="ignore"):
            runs = runs_reference(tables, events, 0, n)
        wanted = {}
        for event, here in enumerate(runs):
            marks = [run for state, run in here if tables.accepting[state] and event - run[0][0] <= size]
            if marks:
                wanted[event] = sorted(marks)
        ends = np.array(list(wanted), np.int64)
        first = np.append(np.searchsorted(ends, segments.report), len(ends))
        lowest = np.maximum(ends - size, np.repeat(segments.begin, np.diff(first)))
        hits = SegmentHits(first, ends, lowest)
        numbers = cpu_counts.counts(tables, events, segments, hits)
        keys = np.arange(n) if rng.random() < 0.5 else np.arange(0)
        nodes = cpu_nodes.joined([cpu_nodes.build(tables, events, keys, size, segments, hits)], [0])
        answers = StepAnswers(StepEnds(nodes, ends, lowest, labels), numbers)
        order = rng.sample(range(len(ends)), len(ends))
        for limit in (None, 1, 3):
            listed: dict[int, list[list[tuple[int, int]]]] = {}
            for block in answers.blocks(np.array(order, np.int64), limit, rng.choice((None, 1, 4))):
                assert isinstance(block, PathBlock)
                assert block.start.tolist() == block.event[block.first[:-1]].tolist()
                for own, begin, stop in zip(block.hit.tolist(), block.first, block.first[1:]):
                    marks = zip(block.event[begin:stop].tolist(), block.label[begin:stop].tolist())
                    listed.setdefault(int(ends[own]), []).append(list(marks))
            assert list(listed) == [int(ends[hit]) for hit in order]
            assert listed == {end: marks[:limit] for end, marks in wanted.items()}
            cut_off += limit is not None and any(len(marks) > limit for marks in wanted.values())
        total += sum(map(len, wanted.values()))
        deep += len(labels) > 3 and len(wanted) > 0
    assert total > 1500
    assert deep > 20
    assert cut_off > 60


def test_another_number_than_was_counted_is_told() -> None:
    rng = Random("mismatch")
    told = 0
    for wrong in (-1, 1):
        while told < 10 * (wrong + 2):
            tables, n = chains_of(rng, False), 20
            events = events_of(rng, n, tables.n_symbols, False)
            whole = LoopSegments(*np.array([[0], [0], [n]]))
            ends, numbers = cpu_counts.counted_ends(tables, events, whole)
            if not len(ends) or numbers[-1] + wrong == 0:
                continue
            lowest = np.zeros(len(ends), np.int64)
            hits = SegmentHits(np.array([0, len(ends)]), ends, lowest)
            nodes = cpu_nodes.build(tables, events, np.arange(0), 0, whole, hits)
            numbers[-1] += wrong
            answers = StepAnswers(StepEnds(nodes, ends, lowest, path_labels(tables)), numbers)
            with pytest.raises(RuntimeError, match=f"hold the {numbers[-1]} matches"):
                list(answers.blocks(np.arange(len(ends))))
            told += 1


def test_what_is_no_chain_is_told() -> None:
    views = [(0, 0, 5, ANY_PLACE), (1, 0, 5, ANY_PLACE)]
    groups = [(1, 0), (2, 1), (3, 2)]
    plain = tables_of(groups, [-1, 0, 1], views, False)
    plain.state_label[:] = [3, 1, 2]
    labels = path_labels(plain)
    assert labels is not None
    assert labels.tolist() == [3, 1, 2]
    begun_twice = plain._replace(group_starts=np.array([1, 1, 0], np.uint8))
    assert path_labels(begun_twice) is None  # complex events of two and of three
    shorter = plain._replace(accepting=np.array([0, 1, 1], np.uint8))
    assert path_labels(shorter) is None
    repeated = [(0, 0, 5, ANY_PLACE), (2, 0, 5, ANY_PLACE)]
    iterated = tables_of([(1, 0), (2, 1), (2, 2)], [-1, 0, 1], repeated, False)
    iterated.accepting[2] = 1
    assert path_labels(iterated) is None
    circle = [(2, 0, 5, ANY_PLACE), (1, 0, 5, ANY_PLACE)]
    cyclic = tables_of([(1, 0), (2, 1), (3, 2)], [-1, 0, 1], circle, False)
    cyclic.accepting[:] = [0, 0, 1]
    assert path_labels(cyclic) is None
    fork = tables_of([(1, 0), (2, 1), (2, 2)], [-1, 0, 1], [(0, 0, 5, ANY_PLACE)] * 2, False)
    assert path_labels(fork) is None  # an event ends two chains
    apart = tables_of([(1, 0), (2, 1), (3, 2)], [-1, 0, 1], [(0, 0, 5, ANY_PLACE)] * 2, False)
    both = path_labels(apart)
    assert both is not None
    assert both.tolist() == [1, 1]
    apart.state_label[:] = [1, 1, 2]
    assert path_labels(apart) is None


def test_many_steps_are_followed_back_and_forth() -> None:
    k, many = 7, 3
    # `many` events of each step: all combinations, in the order of their events.
    symbols = np.repeat(np.arange(1, k + 1, dtype=np.uint8), many)
    views = [(state, 0, 9, ANY_PLACE) for state in range(k - 1)]
    tables = tables_of([(state + 1, state) for state in range(k)], [*range(-1, k - 1)], views, False)
    events = cpu_counts.StepEvents(symbols, np.zeros(len(symbols), np.uint64), np.arange(len(symbols)))
    whole = LoopSegments(*np.array([[0], [0], [len(symbols)]]))
    ends, numbers = cpu_counts.counted_ends(tables, events, whole)
    assert numbers.tolist() == [many ** (k - 1)] * many
    lowest = np.zeros(many, np.int64)
    nodes = cpu_nodes.build(
        tables, events, np.arange(0), 0, whole, SegmentHits(np.array([0, many]), ends, lowest)
    )
    answers = StepAnswers(StepEnds(nodes, ends, lowest, path_labels(tables)), numbers)
    (block,) = answers.blocks(np.arange(many))
    assert isinstance(block, PathBlock)
    found = block.column.T.tolist()
    assert found[: many ** (k - 1)] == sorted(found[: many ** (k - 1)])
    assert len({tuple(row) for row in found}) == many**k
    assert cpu_paths.path_room(k, 4).first.shape == (k + 1,)


FORMS = {
    "plain": "SELECT * WHERE A AS a ;[<= 3 s] B AS b ;[<= 3 s] C AS c PARTITION BY k",
    "attributes": "SELECT a[n], b, c[n] WHERE A AS a ;[<= 3 s] B AS b ;[1 s, 4 s] C AS c WITHIN 5 SECONDS",
    "twice": "SELECT * WHERE A AS x ;[<= 3 s] B AS x ;[<= 3 s] C AS c",
    "some": "SELECT * WHERE A AS a ;[<= 3 s] B AS b ;[<= 3 s] C AS c LIMIT 2",
    "measured": "SELECT *, COUNT(b) AS n, DURATION AS d WHERE A AS a ;[<= 3 s] B AS b ;[<= 3 s] C AS c",
}


@pytest.mark.crossed
@pytest.mark.parametrize("event_id", [None, "id"])
@pytest.mark.parametrize("name", FORMS)
def test_results_are_those_of_complex_events_that_are_sorted(
    name: str, event_id: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(11)
    n = 400
    table = pa.table(
        {
            "type": rng.choice(["A", "B", "C", "D"], n),
            "ts": pa.array(np.cumsum(rng.integers(0, 700, n))).cast(pa.timestamp("ms")),
            "k": rng.integers(0, 3, n),
            "n": rng.integers(0, 9, n),
            "id": [f"e{row}" for row in range(n)],
        }
    )
    query = cer.compile(FORMS[name])
    asked = {"order_by": "ts", "event_id": event_id}

    def found() -> list[object]:
        run = query.run(table, **asked)
        return [run.to_arrow(), run.events(), run.flat_batches().read_all(), list(run)]

    made = []
    blocks = StepAnswers.blocks

    def noted(answers: StepAnswers, *given: object) -> object:
        for block in blocks(answers, *given):
            made.append(type(block))
            yield block

    monkeypatch.setattr(StepAnswers, "blocks", noted)
    as_found = found()
    assert set(made) == {PathBlock}
    made.clear()
    monkeypatch.setattr(machine, "path_labels", lambda tables: None)
    query = cer.compile(FORMS[name])
    assert found() == as_found
    assert set(made) == {Block}
    assert query.count(table, order_by="ts") > 50
