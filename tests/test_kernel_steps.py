"""Kernels of steps against the definition of runs, on random automata and random times with ties."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from cer_gpu.kernels.loop.contract import ANY_PLACE, APART, NEIGHBOUR, LoopSegments
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.steps import cpu_counts, cpu_hits, cpu_nodes, cpu_sessions
from cer_gpu.kernels.steps.contract import (
    NEVER,
    NeighbourLanes,
    StepEvents,
    StepTables,
    lone_ends,
    lone_group,
    neighbour_lanes,
    of_neighbours,
    runs_reference,
    short_tables,
)
from cer_gpu.kernels.steps.cpu_neighbours import neighbour_ends, neighbour_sum

from cer_gpu.enumeration.steps import StepAnswers, StepEnds

STATES, SYMBOLS = 3, 3
PLACES = (ANY_PLACE, ANY_PLACE, NEIGHBOUR, APART)


def tables_of(rng: Random, floating: bool) -> StepTables:
    """A random automaton; nothing is known of how the latest starts of its entries rise."""
    n_views = rng.randrange(1, 5)
    groups = [
        (symbol, state) for symbol in range(1, SYMBOLS) for state in range(STATES) if rng.random() < 0.6
    ]
    reads = [[rng.randrange(n_views) for _ in range(rng.randrange(3))] for _ in groups]
    low = np.array([rng.choice((0, 0, 1, 2)) for _ in range(n_views)])
    high = low + np.array([rng.choice((0, 2, 5, 2**40)) for _ in range(n_views)])
    bound = np.float64 if floating else np.uint64
    timed = np.array([rng.random() < 0.8 for _ in range(n_views)], np.uint8)
    return StepTables(
        first=np.searchsorted([symbol for symbol, _ in groups], np.arange(SYMBOLS + 1)).astype(np.int32),
        group_state=np.array([state for _, state in groups], np.int32),
        group_starts=np.array([rng.random() < 0.6 for _ in groups], np.uint8),
        read_first=np.append(0, np.cumsum([len(one) for one in reads])).astype(np.int32),
        read_view=np.array([view for one in reads for view in one], np.int32),
        accepting=np.array([rng.random() < 0.5 for _ in range(STATES)], np.uint8),
        state_label=np.array([rng.randrange(1, 4) for _ in range(STATES)], np.int32),
        view_state=np.array([rng.randrange(STATES) for _ in range(n_views)], np.int32),
        view_low=low.astype(bound),
        view_high=high.astype(bound),
        view_near=np.array(
            [rng.choice((ANY_PLACE, ANY_PLACE, NEIGHBOUR, APART)) for _ in range(n_views)], np.uint8
        ),
        view_timed=timed,
        view_loose=np.array([rng.random() < 0.5 for _ in range(n_views)], np.uint8),
        view_rises=np.zeros(n_views, np.uint8),
    )


def layered(rng: Random, tables: StepTables) -> StepTables:
    """An automaton like another one, of complex events of up to three events."""
    groups = [(1, 0), (1, 1), (2, 1), (2, 2)]
    second = rng.sample((0, 1), rng.randrange(1, 3))
    reads = [[], second, second, rng.sample(range(4), rng.randrange(1, 4))]
    n_views = 4
    views = {
        name: np.resize(column, n_views)
        for name, column in tables._asdict().items()
        if name.startswith("view_")
    }
    return tables._replace(
        **views
        | {
            "first": np.searchsorted([symbol for symbol, _ in groups], np.arange(4)).astype(np.int32),
            "group_state": np.array([state for _, state in groups], np.int32),
            "group_starts": np.array([1, *(rng.random() < 0.4 for _ in groups[1:])], np.uint8),
            "read_first": np.append(0, np.cumsum([len(one) for one in reads])).astype(np.int32),
            "read_view": np.array([view for one in reads for view in one], np.int32),
            "view_state": np.array([0, 0, 1, 1], np.int32),
            "view_near": np.array([rng.choice((ANY_PLACE, APART)) for _ in range(n_views)], np.uint8),
        }
    )


def events_of(rng: Random, n: int, floating: bool) -> StepEvents:
    """Events of a lane, of which some are missing between two now and then."""
    times = np.cumsum([rng.choice((0, 1, 1, 3)) for _ in range(n)])
    places = np.cumsum([rng.choice((1, 1, 2)) for _ in range(n)])
    moments = times.astype(np.float64) if floating else times.astype(np.int64).view(np.uint64)
    if floating and rng.random() < 0.3:
        moments[-rng.randrange(1, 4) :] = np.inf
        moments[: rng.randrange(3)] = -np.inf
    symbols = np.array([rng.randrange(SYMBOLS) for _ in range(n)], np.uint8)
    return StepEvents(symbols, moments, places.astype(np.int64))


@pytest.mark.parametrize("floating", [False, True])
def test_hits_counts_and_lists_are_those_of_the_runs(floating: bool) -> None:
    rng = Random(f"steps {floating}")
    found = short = lone = 0
    for _ in range(150):
        tables, n = tables_of(rng, floating), rng.randrange(1, 10)
        if rng.random() < 0.4:
            tables = layered(rng, tables)
        events = events_of(rng, n, floating)
        cut = rng.randrange(n + 1)
        size = rng.choice((1, 2, 4, 100))
        keys = np.arange(n)
        # Two segments of a lane, the second with the events of the window before it.
        segments = LoopSegments(np.array([0, max(cut - size, 0)]), np.array([0, cut]), np.array([cut, n]))
        with np.errstate(invalid="ignore"):
            runs = runs_reference(tables, events, 0, n)
        wanted = {}
        for event, here in enumerate(runs):
            marks = [run for state, run in here if tables.accepting[state] and event - run[0][0] <= size]
            if marks:
                wanted[event] = sorted(marks)
        event, latest = cpu_hits.hits(tables, events, keys, size, segments)
        assert event.tolist() == list(wanted)
        assert latest.tolist() == [max(run[0][0] for run in marks) for marks in wanted.values()]
        if (alone := lone_ends(tables)) is not None:
            assert cpu_sessions.lone(alone, events.symbols, segments).tolist() == event.tolist()
            lone += len(event)
        first = np.append(np.searchsorted(event, segments.report), len(event))
        lowest = np.maximum(event - size, np.repeat(segments.begin, np.diff(first)))
        hits = SegmentHits(first, event, lowest)
        numbers = cpu_counts.counts(tables, events, segments, hits)
        assert numbers.tolist() == [len(marks) for marks in wanted.values()]
        exact = [
            cpu_counts.count_exactly(tables, events, int(low), np.array([end]))
            for low, end in zip(lowest, event)
        ]
        assert exact == [[len(marks)] for marks in wanted.values()]
        whole = LoopSegments(np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([n]))
        ends, every = cpu_counts.counted_ends(tables, events, whole)
        accepted = {
            end: count
            for end, here in enumerate(runs)
            if (count := sum(bool(tables.accepting[state]) for state, _ in here))
        }
        assert dict(zip(ends.tolist(), every.tolist())) == accepted
        nodes = cpu_nodes.build(tables, events, keys, size, segments, hits)
        assert cpu_counts.counts(tables, events, segments, hits, nodes).tolist() == numbers.tolist()
        answers = StepAnswers(StepEnds(cpu_nodes.joined([nodes], [0]), event, lowest), numbers)
        limit = rng.choice((None, None, 1, 3))
        listed: list[list[list[tuple[int, int]]]] = [[] for _ in range(len(event))]
        for block in answers.blocks(np.arange(len(event)), limit, rng.choice((None, 1, 4))):
            for row, hit in enumerate(block.hit):
                marks = slice(block.first[row], block.first[row + 1])
                listed[hit].append(list(zip(block.event[marks].tolist(), block.label[marks].tolist())))
                assert block.start[row] == listed[hit][-1][0][0]
        in_order = [
            sorted(marks, key=lambda run: ([e for e, _ in run], [label for _, label in run]))[:limit]
            for marks in wanted.values()
        ]
        assert listed == in_order
        found += len(wanted)
        short += bool(wanted) and short_tables(tables) is not None
    assert found > 100
    assert short > 10
    assert lone > 10


def neighbours_of(rng: Random, floating: bool) -> StepTables:
    """A random automaton whose steps lead from neighbour to neighbour, of one label for a symbol."""
    tables = tables_of(rng, floating)
    while not len(tables.group_state):
        tables = tables_of(rng, floating)
    tables = tables._replace(
        view_near=np.full(len(tables.view_near), NEIGHBOUR, np.uint8),
        state_label=np.full(STATES, rng.randrange(1, 4), np.int32),
    )
    if rng.random() < 0.5:  # a symbol has one group
        kept = np.unique(np.repeat(np.arange(SYMBOLS), np.diff(tables.first)), return_index=True)
        sizes = np.diff(tables.read_first)[kept[1]]
        reads = [
            tables.read_view[tables.read_first[group] : tables.read_first[group + 1]] for group in kept[1]
        ]
        tables = tables._replace(
            first=np.searchsorted(kept[0], np.arange(SYMBOLS + 1)).astype(np.int32),
            group_state=tables.group_state[kept[1]],
            group_starts=tables.group_starts[kept[1]],
            read_first=np.append(0, np.cumsum(sizes)).astype(np.int32),
            read_view=np.concatenate(reads).astype(np.int32),
        )
        if rng.random() < 0.5:  # one symbol has one
            own = rng.randrange(len(tables.group_state))
            views = reads[own][: rng.randrange(2)]
            tables = tables._replace(
                first=(np.arange(SYMBOLS + 1) > kept[0][own]).astype(np.int32),
                group_state=tables.group_state[own : own + 1],
                group_starts=np.array([rng.random() < 0.8], np.uint8),
                read_first=np.array([0, len(views)], np.int32),
                read_view=views.astype(np.int32),
                view_state=np.where(rng.random() < 0.8, tables.group_state[own], tables.view_state),
            )
    return tables


@pytest.mark.parametrize("floating", [False, True])
def test_steps_between_neighbours_are_carried_over_lanes_and_calls(floating: bool) -> None:
    rng = Random(f"neighbours {floating}")
    found, lone = 0, 0
    for _ in range(200):
        tables = neighbours_of(rng, floating)
        assert of_neighbours(tables)
        lanes = [events_of(rng, rng.randrange(1, 9), floating) for _ in range(rng.randrange(1, 4))]
        laned = len(lanes) > 1
        turns = [lane for lane, own in enumerate(lanes) for _ in range(len(own.symbols))]
        rng.shuffle(turns)
        order = [0] * len(lanes)
        rows: list[tuple[int, int]] = []
        for lane in turns:
            rows.append((lane, order[lane]))
            order[lane] += 1
        stream = StepEvents(
            *(
                np.array(
                    [getattr(lanes[lane], name)[at] for lane, at in rows],
                    lanes[0].times.dtype if name == "times" else getattr(lanes[0], name).dtype,
                )
                for name in StepEvents._fields
            )
        )
        positions = np.cumsum([rng.choice((1, 2)) for _ in rows])
        with np.errstate(invalid="ignore"):
            runs = [runs_reference(tables, own, 0, len(own.symbols)) for own in lanes]
        place = dict(zip(rows, positions.tolist()))
        numbers, latest = {}, {}
        for event, (lane, at) in enumerate(rows):
            marks = [run for state, run in runs[lane][at] if tables.accepting[state]]
            if marks:
                numbers[event] = len(marks)
                latest[event] = max(place[lane, run[0][0]] for run in marks)
        for counted, wanted in ((True, numbers), (False, latest), (None, numbers)):
            empty = neighbour_lanes(tables)
            room = len(lanes)
            known = NeighbourLanes(
                np.full(room, NEVER),
                np.zeros(room, empty.time.dtype),
                np.zeros((room, empty.runs.shape[1]), np.int64),
            )
            given: dict[int, int] = {}
            total = 0
            cut = rng.randrange(len(rows) + 1)
            for low, high in ((0, cut), (cut, len(rows))):
                part = StepEvents(*(values[low:high] for values in stream))
                own = np.array([lane for lane, _ in rows[low:high]] if laned else [], np.int32)
                if counted is None:
                    far = positions[low:high] + (1 << 62)  # then their sum might not fit
                    assert neighbour_sum(tables, part, far, own, known) is None
                    number = neighbour_sum(tables, part, positions[low:high], own, known)
                    assert (number is None) == (not lone_group(tables) or low == high)
                    if number is None:
                        _, value = neighbour_ends(tables, part, positions[low:high], own, known, True)
                        number = int(value.sum())
                    total += number
                    continue
                event, value = neighbour_ends(tables, part, positions[low:high], own, known, counted)
                given |= dict(zip((event + low).tolist(), value.tolist()))
            assert total == sum(wanted.values()) if counted is None else given == wanted
        found += len(numbers)
        lone += len(numbers) > 1 and lone_group(tables)
    assert found > 200
    assert lone > 10
