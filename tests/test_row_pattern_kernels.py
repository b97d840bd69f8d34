"""The kernels of row patterns against their contract, and the three ways to match against each other."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from cer_gpu.kernels.row_patterns import contract, cpu

from cer_gpu.engine import choice_arrays
from cer_gpu.engine.rows.search import Search
from cer_gpu.patterns.choices import automaton_of
from cer_gpu.patterns.live_states import LiveStates
from cer_gpu.patterns.tree import (
    Alternation,
    Anchor,
    Concatenation,
    Exclusion,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)

VARIABLES = "ABC"


def pattern(random: Random, depth: int) -> RowPattern:
    """A random row pattern."""
    kind = random.choice("vvvcccaqqqqpex") if depth else "v"
    if kind == "v":
        return Variable(random.choice(VARIABLES))
    if kind == "x":
        return Anchor(random.choice("^$"))
    inner = [pattern(random, depth - 1) for _ in range(random.randint(0 if kind == "c" else 2, 3))]
    if kind == "c":
        return Concatenation(tuple(inner))
    if kind == "a":
        return Alternation(tuple(inner))
    if kind == "p":
        return Permutation(tuple(inner))
    if kind == "e":
        return Exclusion(inner[0])
    least = random.choice([0, 0, 1, 2])
    return Quantified(
        inner[0], least, random.choice([None, least, least + 1, least + 2]), random.random() < 0.4
    )


def lanes_of(random: Random, count: int) -> np.ndarray:
    """The bounds of some partitions of so many rows together."""
    cuts = sorted(random.sample(range(1, count), random.randint(0, min(3, count - 1))))
    return np.array([0, *cuts, count], np.int64)


def all_matches(
    choices: contract.ChoiceLists, lanes: np.ndarray, skip: contract.SkipRule, go: object
) -> tuple[list[int], list[int], list[int]]:
    """What a kernel finds: starts, lengths, slots."""
    room = choice_arrays.room_of(200, 4_000)
    at = np.array([0, lanes[0], 0, 0, 0], np.int64)
    assert go(room, at) == contract.DONE  # type: ignore[operator]
    found, slots = int(at[contract.MATCHES]), int(at[contract.SLOTS])
    return room.starts[:found].tolist(), room.lengths[:found].tolist(), room.slots[:slots].tolist()


@pytest.mark.parametrize("seed", range(300))
def test_three_ways_find_the_same_matches(seed: int) -> None:
    random = Random(seed)
    automaton = automaton_of(Concatenation((pattern(random, 3), pattern(random, 1))))
    choices = choice_arrays.choice_lists(automaton)
    count = random.randint(1, 14)
    names = len(automaton.variables)
    masks = np.array([random.getrandbits(names) | random.getrandbits(names) for _ in range(count)], np.uint64)
    lanes = lanes_of(random, count)
    mode = random.choice([contract.PAST_LAST_ROW, contract.TO_NEXT_ROW])
    skip = contract.SkipRule(mode, np.zeros(names, np.uint8), np.zeros(0, np.uint8))

    symbols, known = choice_arrays.symbols_of(masks, names)
    live = LiveStates(automaton, known)
    states = np.empty(count, np.int32)
    at = np.array([len(lanes) - 2, count - 1, 0, 0, 0], np.int64)
    while cpu.live(symbols, lanes, live.table, states, at) == contract.MISSING:
        row = int(at[contract.ROW])
        last = row == lanes[at[contract.LANE] + 1] - 1
        live.fill(0 if last else int(states[row + 1]), int(symbols[row]))
    member = live.members()
    for first, stop in pairwise(lanes):
        expected = contract.live_reference(choices, masks[first:stop].tolist(), True)
        assert [set(np.flatnonzero(member[states[row]])) for row in range(first, stop)] == expected

    begins = np.empty((2, len(member)), np.int32)
    follows = np.empty((member.shape[1], len(member)), np.int32)
    cpu.choose(choices, member, begins, follows)
    tabled = contract.TabledChoices(choices.variable_of, begins, follows, states)
    tables = all_matches(
        choices,
        lanes,
        skip,
        lambda room, at: cpu.matches(tabled, lanes, skip, room, at),
    )
    rows = contract.PatternRows(masks, lanes, np.zeros(0, np.int64))
    ends = np.empty((count, len(choices.variable_of)), np.int64)
    bound = contract.BoundedChoices(choices.variable_of, choices, masks, rows.times, 0, ends, np.full(1, -1))
    bounded = all_matches(
        choices, lanes, skip, lambda room, at: cpu.bounded_matches(bound, lanes, skip, room, at)
    )
    assert bounded == tables

    program = contract.SearchProgram(
        np.zeros((0, 4), np.int64),
        np.zeros((names, 2), np.int64),
        np.zeros(0, np.int64),
        np.zeros((0, 6), np.int64),
        np.zeros(1, np.int64),
        int(random.random() < 0.7),
        0,
    )
    columns = contract.SearchColumns(np.zeros((0, count), np.int64), np.zeros((0, count), np.uint8))
    pruned = (states, member) if random.random() < 0.5 else (np.zeros(0, np.int32), member)
    search = Search(choices, rows, pruned, program, columns, 0, skip)
    assert all_matches(choices, lanes, skip, search.step) == tables
