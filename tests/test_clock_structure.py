"""The structure with reset and check nodes (timed CEL, Theorem 6.1) against the runs by definition."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from cer_gpu.kernels.clock.contract import CHECK, LABEL, RESET
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.kernels.streams.cpu import mark_open, relink
from clocked_validator import (
    MAX_OUTPUT_DEPTH,
    check_lists,
    check_nodes,
    check_runs,
    longest_timed_walk,
)
from random_clocks import (
    ClockCase,
    Listed,
    lane_bounds,
    random_clock_case,
    stream_events,
)

from cer_gpu.engine.machines.one_clock_stream import ClockRuns
from cer_gpu.engine.machines.open_runs import CONSUMES, FollowedEvents, Renumbering
from cer_gpu.enumeration.clock_enumeration import SpanEvents
from cer_gpu.enumeration.clock_structure import MOST_COUNTED, Ending, TimedAnswers, counted, latest_starts

NONE = np.empty(0, np.int64)


def runs_of(case: ClockCase) -> ClockRuns:
    consume = next(name for name, number in CONSUMES.items() if number == case.consumes)
    return ClockRuns(case.tables, case.constants, consume, len(case.measured) > 0)


def following(case: ClockCase, read: StreamEvents, bounds: LaneBounds, first: int) -> FollowedEvents:
    """All events of a case, of which those from one on are new."""
    return FollowedEvents(read, case.size, bounds, first, len(case.symbols), NONE, case.times, NONE)


def listed(case: ClockCase, arena: np.ndarray, ending: Ending, size: int | None) -> list[Listed]:
    """What ends at each event; with a small `size` the complex events are found one by one in order."""
    events = SpanEvents(case.symbols, case.lanes, case.times, case.constants)
    answers = TimedAnswers(case.tables, arena, ending, events)
    found: list[Listed] = [[] for _ in case.symbols]
    for block in answers.blocks(size=size):
        for k, hit in enumerate(block.hit.tolist()):
            marks = slice(block.first[k], block.first[k + 1])
            events, labels = tuple(block.event[marks].tolist()), tuple(block.label[marks].tolist())
            found[ending.ends.event[hit]].append((int(block.start[k]), events, labels))
    return found


def followed(case: ClockCase) -> tuple[ClockRuns, Ending]:
    structure = runs_of(case)
    return structure, structure.follow(following(case, stream_events(case), lane_bounds(case), 0))


@pytest.mark.parametrize("sense", [1, -1])
@pytest.mark.draws("block", 4)
def test_random_automata_list_the_runs_in_order(sense: int, block: int) -> None:
    rng = Random(f"{sense} {block}")
    total = gadgets = 0
    for _ in range(250):
        case = random_clock_case(rng, sense, 16)
        n = len(case.symbols)
        structure, ending = followed(case)
        wanted = case.answers()
        for size in (None, 2):
            assert listed(case, structure.arena, ending, size) == wanted
        assert ending.ends.event.tolist() == [end for end in range(n) if wanted[end]]
        numbers = [len(answers) for answers in wanted if answers]
        assert counted(structure.arena, ending, MOST_COUNTED).tolist() == numbers
        latest = [max(one[0] for one in answers) for answers in wanted if answers]
        assert latest_starts(structure.arena, ending).tolist() == latest
        if structure.exact:
            assert ending.ends.latest.tolist() == latest
        check_nodes(structure)
        check_lists(structure)
        check_runs(structure, True)
        if not len(case.measured) and not case.consumes:
            for end in range(len(latest)):
                assert longest_timed_walk(structure.arena, ending, end) <= MAX_OUTPUT_DEPTH + 1
        total += sum(map(len, wanted))
        gadgets += int(np.isin(structure.arena[1 : structure.n_nodes, LABEL], (RESET, CHECK)).sum())
    assert total > 300
    assert gadgets > 300


@pytest.mark.parametrize("sense", [1, -1])
def test_runs_go_on_after_events_are_dropped(sense: int) -> None:
    rng = Random(f"dropped {sense}")
    total = dropped = 0
    for _ in range(400):
        case = random_clock_case(rng, sense, 16)
        found: list[Listed] = []
        structure = runs_of(case)
        kept = Kept(case, structure)
        whole = not len(case.measured) and not case.consumes
        for stop in sorted({*rng.sample(range(1, len(case.symbols) + 1), 1), len(case.symbols)}):
            found += kept.push(stop)
            check_nodes(structure)
            check_lists(structure)
            check_runs(structure, whole)
            dropped += kept.drop()
            check_nodes(structure)
            check_lists(structure)
            check_runs(structure, whole)
        assert found == case.answers()
        total += sum(map(len, found))
    assert total > 300
    assert dropped > 300


class Kept:
    """The events of a case that are kept, as a stream keeps them."""

    def __init__(self, case: ClockCase, structure: ClockRuns) -> None:
        self.case, self.structure = case, structure
        self.numbers = np.empty(0, np.int64)  # of the events that are kept, among all
        self.bounds = lane_bounds(case)
        self.seen = 0

    def push(self, stop: int) -> list[Listed]:
        first = len(self.numbers)
        self.numbers = np.append(self.numbers, np.arange(self.seen, stop))
        self.seen = stop
        self.part, self.read = self.events()
        ending = self.structure.follow(following(self.part, self.read, self.bounds, first))
        answers = listed(self.part, self.structure.arena, ending, None)
        return [
            [(int(self.numbers[s]), tuple(self.numbers[list(e)].tolist()), labels) for s, e, labels in one]
            for one in answers[first:]
        ]

    def events(self) -> tuple[ClockCase, StreamEvents]:
        case, n = self.case, self.numbers
        chosen = {
            name: getattr(case, name)[n]
            for name in ("symbols", "lanes", "times", "measured")
            if len(getattr(case, name))
        }
        part = replace(case, **chosen)
        read = stream_events(part)
        relink(read, len(n), self.bounds)
        return part, read

    def drop(self) -> int:
        """Drop what is no longer open; gives how many events that is."""
        bounds, count = self.bounds, len(self.numbers)
        self.structure.bound(self.read, bounds)
        low = self.structure.needed(self.read, bounds)
        bounds.low[:] = np.maximum(bounds.low, low)
        is_open = np.empty(count, np.uint8)
        mark_open(self.read, count, bounds, is_open)
        which = np.flatnonzero(is_open)
        lanes = self.part.lanes if len(self.part.lanes) else np.zeros(count, np.int32)
        used = np.unique(lanes[which])
        numbers = np.stack([np.arange(len(bounds.low))] * 2, axis=1)  # every lane keeps its number
        slots = np.empty((0, len(which)), np.int32)
        dropped = Renumbering(is_open, which, numbers, len(numbers), (slots, slots), lanes)
        self.structure.drop(dropped)
        place = dropped.place
        moved = np.append(place, len(which))
        bounds.least[:] = moved[bounds.least]
        bounds.all[:] = moved[bounds.all]
        bounds.low[:], bounds.last[:] = -1, -1
        self.numbers = self.numbers[which]
        assert len(used) <= len(numbers)
        return count - len(which)


def test_ends_with_many_complex_events_are_listed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted at once, found one by one, or sorted in parts."""
    rng, total = Random("many"), 0
    while total < 200:
        case = random_clock_case(rng, rng.choice((1, -1)), 16)
        structure, ending = followed(case)
        wanted = listed(case, structure.arena, ending, None)
        monkeypatch.setattr("cer_gpu.enumeration.clock_structure.MOST_SORTED", 1 << 23)
        assert listed(case, structure.arena, ending, 1) == wanted
        monkeypatch.setattr("cer_gpu.enumeration.clock_structure.MOST_SORTED", 1)
        assert listed(case, structure.arena, ending, 1) == wanted
        total += sum(map(len, wanted))
