"""The check of hits and counts of ordered look-ups."""

from __future__ import annotations

from typing import Any

import numpy as np

from cer_gpu.engine.cuda.check.inputs import NONE, WITHIN, A, Answers, B, C, ComparedArray, Inputs, mixed
from cer_gpu.kernels.comparisons import cpu_counts, cpu_hits, cuda_counts, cuda_hits
from cer_gpu.kernels.comparisons.contract import (
    ANY_PLACE,
    AT,
    AT_LEAST,
    DIFFERENT,
    LESS,
    NO_VALUE,
    ArrangedEntries,
    ComparedSegments,
    ComparedTables,
    PairedEvents,
)
from cer_gpu.kernels.comparisons.cpu_order import arrange
from cer_gpu.kernels.comparisons.cuda_units import device_pairs

RISING = [(LESS, 0), (LESS, 1), (AT_LEAST, 1)]
"""The tests of `A ; B+ ; C`: each B is greater than the event before it, and C is not."""

UNLIKE = [(DIFFERENT, 0)]
"""The test of `A ; B`."""


def looked_up_hits(inputs: Inputs) -> Answers:
    """The ends of rising runs within a window, with the latest start of each."""
    given = _given(inputs, "rising", RISING)
    for keys in (inputs.keys, inputs.keys.astype(np.float64)):
        arrays = *given[:2], keys, WITHIN, *given[2:]
        event, latest = inputs.cpu(f"hits of ordered look-ups, {keys.dtype}", cpu_hits.hits, *arrays)
        found = cuda_hits.hits(device_pairs(*given), keys, WITHIN, inputs.lane, inputs.stream)
        yield ComparedArray("event", found[0], event)
        yield ComparedArray("latest start", found[1], latest)


def looked_up_counts(inputs: Inputs) -> Answers:
    """How many rising runs end at each event; how many pairs within a window."""
    floats = inputs.keys.astype(np.float64)
    cases = ("rising", RISING, NONE), ("unlike", UNLIKE, inputs.keys), ("unlike", UNLIKE, floats)
    for name, tests, keys in cases:
        given, size = _given(inputs, name, tests), WITHIN if len(keys) else 0
        arrays = *given[:2], keys, size, *given[2:]
        case = f"counts of ordered look-ups, {name}, {keys.dtype}"
        event, number = inputs.cpu(case, cpu_counts.counted_ends, *arrays)
        found = cuda_counts.counted_ends(device_pairs(*given), keys, size, inputs.lane, inputs.stream)
        yield ComparedArray("event", found[0], event)
        yield ComparedArray("count", found[1], number)


def _given(inputs: Inputs, name: str, tests: list[tuple[int, int]]) -> tuple[Any, ...]:
    """An automaton, the events, their segments and orders."""
    tables, count = _tables(tests), len(inputs.symbols)
    sides = np.where(mixed(count, 11) == 0, NO_VALUE, AT).astype(np.int32)
    words = mixed(count, 17).astype(np.int64)
    slots = np.zeros((1, count), np.int32)
    events = PairedEvents(inputs.symbols, NONE, slots, sides[None], words[None])
    base = np.append(0, np.cumsum(inputs.stop - inputs.begin))
    segments = ComparedSegments(inputs.begin, inputs.report, inputs.stop, base)
    arranged = inputs.cpu(f"order of {name} events", _arranged, tables, events, segments)
    return tables, events, segments, ArrangedEntries(*arranged)


def _arranged(tables: ComparedTables, events: PairedEvents, segments: ComparedSegments) -> ArrangedEntries:
    """`arrange`, with equal words in the order of their events: NumPy's order depends on the processor."""
    found = arrange(tables, events, segments)
    for slot, word, rank in zip(*found[1:], strict=True):
        rows = np.flatnonzero(rank >= 0)
        first = segments.base[np.searchsorted(segments.base, rows, side="right") - 1]
        place = first + rank[rows]
        rank[rows[np.lexsort((word[place], slot[place], first))]] = np.sort(place) - first
    return found


def _tables(tests: list[tuple[int, int]]) -> ComparedTables:
    """The automaton: states 0 and 1 are entered by an A and a B, state 2 by a C."""
    reads: list[list[int]] = [[], [0]] if tests == UNLIKE else [[], [0, 1], [2]]
    symbols, states = (A, B, C)[: len(reads)], range(len(reads))
    int32, last, orders = np.int32, len(states) - 1, len(states) - 1
    return ComparedTables(
        first=np.searchsorted(symbols, np.arange(5)).astype(int32),
        group_state=np.array(states, int32),
        group_starts=np.array([state == 0 for state in states], np.uint8),
        read_first=np.append(0, np.cumsum([len(own) for own in reads])).astype(int32),
        read_view=np.array([view for own in reads for view in own], int32),
        accepting=np.array([state == last for state in states], np.uint8),
        state_label=np.arange(1, len(states) + 1, dtype=int32),
        order_first=np.minimum(np.arange(len(states) + 1), orders).astype(int32),
        order_state=np.arange(orders, dtype=int32),
        order_slot=np.full(orders, -1, int32),
        order_value=np.zeros(orders, int32),
        view_order=np.array([order for _, order in tests], int32),
        view_near=np.full(len(tests), ANY_PLACE, np.uint8),
        view_slot=np.full(len(tests), -1, int32),
        test_first=np.arange(len(tests) + 1, dtype=int32),
        test_op=np.array([op for op, _ in tests], np.uint8),
        test_value=np.zeros(len(tests), int32),
    )
