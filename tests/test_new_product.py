"""A product that the package does not have: the three latest starts of the complex events of an end.

It is written as `docs/contributing/adding.md` says. It runs over regular automata, steps with gaps and joins,
each over whole segments, and over a stream, whose events are cut anywhere and whose state is kept.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
from cer_gpu.kernels.jit import composed, inline
from cer_gpu.kernels.joins.index import StartTable, at_slots, hash_tables
from cer_gpu.kernels.loop.contract import NEIGHBOUR, LoopSegments, room_for_ends
from cer_gpu.kernels.loop.follow import WORDS, follow
from cer_gpu.kernels.loop.gaps import LATEST_IN_GAPS
from cer_gpu.kernels.loop.products import COUNT, STREAM
from cer_gpu.kernels.loop.registers import BY_SEGMENT, RegisterEvents, follow_registers
from cer_gpu.kernels.loop.run import scratch
from cer_gpu.kernels.loop.views import all_shown, begin_segment, neighbour
from cer_gpu.kernels.runs.contract import accepting_runs
from cer_gpu.kernels.runs.programs import counts_program
from cer_gpu.kernels.steps.contract import room_for, runs_reference
from cer_gpu.kernels.windows.contract import NO_WINDOW
from join_oracle import listed, random_join_case
from random_tables import random_case
from test_kernel_steps import events_of, tables_of

MASK = (1 << 60) - 1
"""A value holds three starts of 20 bits, the latest first; 0: none. A start is one more than its event."""


@inline
def three_latest(own, other):  # type: ignore[no-untyped-def]
    found = 0
    for _ in range(3):
        if own >= other:
            found = (found << 20) | (own >> 40)
            own = (own << 20) & MASK
        else:
            found = (found << 20) | (other >> 40)
            other = (other << 20) & MASK
    return found


@inline
def three_gathered(own, other):  # type: ignore[no-untyped-def]
    found = 0
    for _ in range(3):
        capped = 0
        for place in (40, 20, 0):
            capped = (capped << 20) | min(own >> 40, (other >> place) & 0xFFFFF)
        found = three_latest(found, capped)
        own = (own << 20) & MASK
    return found


@inline
def one_start(tables, room, event, stop):  # type: ignore[no-untyped-def]
    return (event + 1) << 40


@inline
def note_three(room, out, found, event, stop, own):  # type: ignore[no-untyped-def]
    out.event[found] = event
    out.start[found] = own
    return found + 1


@inline
def read_all(tables, events, room, view, event, low, own):  # type: ignore[no-untyped-def]
    if tables.view_near[view] == NEIGHBOUR:
        first = neighbour(tables, events, room, view, room.gone[view], event)
        last = first + 1 if first >= 0 else first
    else:
        first, last = all_shown(tables, events, room, view, event)
    for entry in range(first, last):
        own = three_latest(own, room.value[entry])
    return own


THREE = COUNT | {"plus": three_latest, "times": three_gathered, "start": one_start, "note": note_three}
IN_GAPS, AT_SLOTS = LATEST_IN_GAPS | {"read": read_all}, at_slots(THREE)
three_ends = composed(follow_registers, "three_ends", **THREE, **BY_SEGMENT)
three_in_gaps = composed(follow, "three_in_gaps", **THREE, **IN_GAPS)
three_at_slots = composed(follow, "three_at_slots", **THREE, **AT_SLOTS)
open_in_gaps = composed(follow, "open_in_gaps", **THREE, **IN_GAPS | STREAM)
open_at_slots = composed(follow, "open_at_slots", **THREE, **AT_SLOTS | STREAM)


def unpacked(value: int) -> list[int]:
    return [start - 1 for place in (40, 20, 0) if (start := (value >> place) & 0xFFFFF)]


def pushes(rng: Random, n: int) -> list[LoopSegments]:
    """The events of a stream, cut anywhere."""
    cuts = sorted([0, n, rng.randint(0, n), rng.randint(0, n)])
    return [LoopSegments(*np.array([[low], [low], [high]])) for low, high in pairwise(cuts)]


def test_the_three_latest_starts_of_regular_automata() -> None:
    rng = Random("three latest of runs")
    several = 0
    for _ in range(100):
        case = random_case(rng, longest=8)
        tables, program = case.tables, counts_program(case.tables)
        segments, whole = LoopSegments(case.begin, case.report, case.stop), NO_WINDOW
        none, lanes = np.empty(0, np.int64), np.empty(0, np.int32)
        registers = np.zeros((len(case.begin), program.n_registers), np.int64)
        out, events = room_for_ends(segments), RegisterEvents(case.symbols, none, lanes)
        n = three_ends(program, events, whole, segments, registers, out)
        runs = [
            (start, end)
            for low, report, high in zip(*segments, strict=True)
            for start, end, _ in accepting_runs(tables, case.symbols, low, high)
            if end >= report
        ]
        assert out.event[:n].tolist() == sorted({end for _, end in runs})
        for end, value in zip(out.event[:n].tolist(), out.start[:n].tolist(), strict=True):
            assert unpacked(value) == sorted((one for one, at in runs if at == end), reverse=True)[:3]
            several += len(unpacked(value)) > 1
        # The events of each push in arrays of their own: a start is a position in the stream.
        found, kept = {}, np.zeros((1, program.n_registers), np.int64)
        for push in pushes(rng, len(case.symbols)):
            (low,), _, (high,) = push
            part = RegisterEvents(case.symbols[low:high], np.arange(low, high), lanes)
            own = LoopSegments(*np.array([[0], [0], [high - low]]))
            out = room_for_ends(own)
            n = three_ends(program, part, whole, own, kept, out)
            found |= dict(zip((out.event[:n] + low).tolist(), map(unpacked, out.start[:n].tolist())))
        wanted: dict[int, list[int]] = {}
        for start, end, _ in accepting_runs(tables, case.symbols, 0, len(case.symbols)):
            wanted.setdefault(end, []).append(start)
        assert found == {end: sorted(own, reverse=True)[:3] for end, own in wanted.items()}
    assert several > 50


def test_the_three_latest_starts_of_joins() -> None:
    rng = Random("three latest of joins")
    several = streams = 0
    for number in range(200):
        case = random_join_case(rng, number % 2 == 0)
        size = int(case.events.offset[-1])
        place = np.empty(size if case.tables.entry_next.any() else 0, np.int64)
        held = StartTable(np.empty(size, np.int64), np.full(size, -1, np.int32), place, np.empty(1, np.int64))
        segments = LoopSegments(case.begin, case.report, case.stop)
        out, none = room_for_ends(segments), NO_WINDOW
        entered, progress = np.empty(case.tables.n_fired, np.int64), np.zeros(WORDS, np.int64)
        n = three_at_slots(
            hash_tables(case.tables), case.events, none, segments, held, entered, out, progress
        )
        wanted = listed(replace(case, keys=case.keys[:0]))
        assert out.event[:n].tolist() == wanted.event.tolist()
        starts = [sorted((row[0] for row in rows), reverse=True)[:3] for rows in wanted.rows]
        assert [unpacked(value) for value in out.start[:n].tolist()] == starts
        several += sum(len(own) > 1 for own in starts)
        if len(case.begin) == 1:
            held = held._replace(start=np.empty_like(held.start), owner=np.full_like(held.owner, -1))
            held.segment[0] = 0
            found: dict[int, int] = {}
            low, high = int(case.begin[0]), int(case.stop[0])
            for push in pushes(rng, high - low):
                part = LoopSegments(*(bound + low for bound in push))
                out = room_for_ends(part)
                progress = np.zeros(WORDS, np.int64)
                n = open_at_slots(
                    hash_tables(case.tables), case.events, none, part, held, entered, out, progress
                )
                found |= dict(zip(out.event[:n].tolist(), out.start[:n].tolist()))
            reported = {end: unpacked(value) for end, value in found.items() if end >= case.report[0]}
            assert reported == dict(zip(wanted.event.tolist(), starts))
            streams += len(reported)
    assert several > 100
    assert streams > 20


def test_the_three_latest_starts_of_steps_with_gaps() -> None:
    rng = Random("three latest of steps")
    several = 0
    for number in range(150):
        tables, n = tables_of(rng, number % 2 == 0), rng.randrange(12)
        events, segments = events_of(rng, n, number % 2 == 0), LoopSegments(*np.array([[0], [0], [n]]))
        room, out = room_for(tables, events.symbols, False), room_for_ends(segments)
        none, progress = NO_WINDOW, np.zeros(WORDS, np.int64)
        found = three_in_gaps(tables, events, none, segments, room, scratch(tables), out, progress)
        wanted = {
            end: sorted((marks[0][0] for state, marks in runs if tables.accepting[state]), reverse=True)[:3]
            for end, runs in enumerate(runs_reference(tables, events, 0, n))
        }
        wanted = {end: starts for end, starts in wanted.items() if starts}
        assert out.event[:found].tolist() == list(wanted)
        assert [unpacked(value) for value in out.start[:found].tolist()] == list(wanted.values())
        several += sum(len(own) > 1 for own in wanted.values())
        room = room_for(tables, events.symbols, False)
        begin_segment.py_func(tables, room, True)
        pushed: dict[int, list[int]] = {}
        for push in pushes(rng, n):
            out, progress = room_for_ends(push), np.zeros(WORDS, np.int64)
            found = open_in_gaps(tables, events, none, push, room, scratch(tables), out, progress)
            pushed |= dict(zip(out.event[:found].tolist(), map(unpacked, out.start[:found].tolist())))
        assert pushed == wanted
    assert several > 50
