"""What NEXT and LAST leave at each hit, against the runs of random automata, listed by definition."""

from __future__ import annotations

import random

import numpy as np
import pytest
from cer_gpu.kernels.hits.contract import hits_reference
from cer_gpu.kernels.runs.contract import accepting_runs
from cer_gpu.kernels.selection import cpu as best
from cer_gpu.kernels.selection.contract import best_reference
from cer_gpu.kernels.windows import cpu as windows
from random_tables import Case, kleene, random_case

NONE = np.zeros(0, dtype=np.int64)

Answer = tuple[int, tuple[tuple[int, int], ...]]


def listed(found: best.Paths, end: np.ndarray, order: np.ndarray, shown: np.ndarray) -> list[Answer]:
    """The answers of some hits as plain rows."""
    length = best.lengths(found, order, shown)
    first, event, label = best.marks(found, end, order, shown, length)
    pairs = list(zip(event.tolist(), label.tolist()))
    starts = found.start[order].tolist()
    return [(start, tuple(pairs[low:high])) for start, low, high in zip(starts, first, first[1:])]


def hits_of(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the hits of each segment begin, the ends and their lowest starts."""
    first, event = [0], []
    for low, middle, high in zip(case.begin, case.report, case.stop):
        found = hits_reference(case.tables, case.symbols, NONE, case.keys, case.size, low, middle, high)
        event += [end for end, _ in found]
        first.append(len(event))
    ends = np.array(event, np.int64)
    lowest = windows.lowest_starts(case.keys, case.begin, np.array(first), ends, case.size)
    return np.array(first), ends, lowest


@pytest.mark.parametrize("latest", [False, True])
@pytest.mark.draws("seed", 4)
def test_the_best_marks_of_random_automata(seed: int, latest: bool) -> None:
    rng = random.Random(seed)
    alone = 0
    for _ in range(120):
        case = random_case(rng)
        first, event, lowest = hits_of(case)
        found = best.best(case.tables, case.symbols, first, event, lowest, latest)
        order = np.arange(event.size)
        answers = listed(found, event, order, np.arange(4, dtype=np.int32))
        expected: list[Answer] = []
        for g, (low, high) in enumerate(zip(case.begin, case.stop)):
            part = slice(first[g], first[g + 1])
            ends = event[part].tolist(), lowest[part].tolist()
            expected += best_reference(case.tables, case.symbols, low, high, *ends, latest)
        runs = set(accepting_runs(case.tables, case.symbols, 0, len(case.symbols)))
        for end, low, (start, marked), (_, wanted) in zip(event, lowest, answers, expected, strict=True):
            # Another run with the same marked events may be given here: the query is not always single.
            assert [at for at, _ in marked] == [at for at, _ in wanted]
            assert start >= low
            assert (start, end, marked) in runs
        alone += sum(answer == other for answer, other in zip(answers, expected))
    assert alone > 80


@pytest.mark.parametrize("latest", [False, True])
def test_long_windows_reuse_and_grow_the_arena(latest: bool) -> None:
    """`A+ ; B`: all A events of the window, though nodes of many windows have been dropped."""
    rng = random.Random(3)
    symbols = np.array([rng.choice((0, 1, 1, 2)) for _ in range(4000)], np.uint8)
    lowest = np.maximum(np.arange(4000) - 700, 0)
    ends = [j for j in np.flatnonzero(symbols == 2) if (symbols[lowest[j] : j] == 1).any()]
    event = np.array(ends, np.int64)
    found = best.best(kleene(), symbols, np.array([0, event.size]), event, lowest[event], latest)
    order = np.array([5, 0, event.size - 1, 77])
    for hit, (start, marked) in zip(order, listed(found, event, order, np.arange(3, dtype=np.int32))):
        j = int(event[hit])
        taken = [i for i in range(lowest[j], j) if symbols[i] == 1]
        assert start == taken[0]
        assert marked == (*((i, 1) for i in taken), (j, 2))
    assert len(found.arena) < 4 * len(symbols)


def test_labels_that_are_not_shown_are_dropped() -> None:
    symbols = np.array([1, 1, 2, 1, 2], np.uint8)
    event, lowest = np.array([2, 4]), np.array([0, 0])
    found = best.best(kleene(), symbols, np.array([0, 2]), event, lowest, False)
    order = np.array([1, 0])
    assert listed(found, event, order, np.array([0, 0, 7], np.int32)) == [(0, ((4, 7),)), (0, ((2, 7),))]
    shown = np.array([0, 3, 0], np.int32)
    assert listed(found, event, order, shown) == [(0, ((0, 3), (1, 3), (3, 3))), (0, ((0, 3), (1, 3)))]


def test_answers_of_several_parts_are_joined() -> None:
    symbols = np.array([1, 1, 2, 1, 2], np.uint8)
    one = best.best(kleene(), symbols, np.array([0, 1]), np.array([2]), np.array([0]), True)
    two = best.best(kleene(), symbols, np.array([0, 1]), np.array([4]), np.array([1]), True)
    whole = best.joined([one, two])
    answers = listed(whole, np.array([2, 4]), np.array([0, 1]), np.arange(3, dtype=np.int32))
    assert answers == [(0, ((0, 1), (1, 1), (2, 2))), (1, ((1, 1), (3, 1), (4, 2)))]


def test_a_hit_where_nothing_ends_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no complex event"):
        best.best(kleene(), np.array([1, 2], np.uint8), np.array([0, 1]), np.array([1]), np.array([1]), False)
