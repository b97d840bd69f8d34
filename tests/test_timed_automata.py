"""Timed automata: synchronous resets decided, determinisation, few clocks, two clocks (section 5)."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from random_timed import (
    automaton,
    classes,
    formula,
    of_automaton,
    of_deterministic,
    small_formula,
    stream,
)

from cer_gpu.automata.timed.agreement import merged_clocks
from cer_gpu.automata.timed.clocks import ALWAYS, Check, satisfied
from cer_gpu.automata.timed.construction import timed_cea
from cer_gpu.automata.timed.subsets import NotSynchronousError, determinise_timed
from cer_gpu.automata.timed.synchrony import TimedWitness, asked_later, asynchronous
from cer_gpu.automata.timed.timed_cea import EventClasses, TimedCEA, TimedTransition, is_deterministic
from cer_gpu.automata.timed.timed_class import is_windowed
from cer_gpu.errors import LimitError
from cer_gpu.language.tree import Truth

DECIDED = 500
LENGTH = 7
QUARTER = 250_000_000
"""Of a second, in nanoseconds."""


def shortest(timed: TimedCEA, events: EventClasses) -> int | None:
    """After how many events two runs with the same marks reset different clocks, by trying streams.

    Events are quarters of a second apart, up to two and a quarter; the constants are 0, 1 and 2 seconds.
    """
    holding = dict(zip(timed.transitions, events.of(timed.transitions), strict=True))
    leaving = timed.leaving()
    reached: set[tuple[int, int, tuple[tuple[int, int], ...]]] = {(timed.initial, timed.initial, ())}
    for length in range(1, LENGTH + 1):
        following = set()
        for left, right, valuation in reached:
            for quarters in range(10) if length > 1 else (0,):
                now = {clock: value + QUARTER * quarters for clock, value in valuation}
                ways = [
                    [move for move in leaving[state] if satisfied(move.condition, now)]
                    for state in (left, right)
                ]
                for one in ways[0]:
                    for other in ways[1]:
                        if one.label != other.label or not holding[one] & holding[other]:
                            continue
                        if one.resets != other.resets:
                            return length
                        after = {**now, **dict.fromkeys(one.resets, 0)}
                        capped = tuple(
                            sorted((clock, min(value, 9 * QUARTER)) for clock, value in after.items())
                        )
                        following.add((one.target, other.target, capped))
        reached = following
    return None


def check_witness(timed: TimedCEA, events: EventClasses, found: TimedWitness) -> None:
    """Both are runs on the stream, with the same marks; the last transitions reset different clocks."""
    holding = dict(zip(timed.transitions, events.of(timed.transitions), strict=True))
    assert list(found.times) == sorted(found.times)
    for run in (found.one, found.other):
        state, reset = timed.initial, dict[int, Fraction]()
        for move, time, symbol in zip(run, found.times, found.symbols, strict=True):
            assert move.source == state
            assert holding[move] >> symbol & 1
            assert satisfied(move.condition, {clock: time - at for clock, at in reset.items()})
            state = move.target
            reset.update(dict.fromkeys(move.resets, time))
    assert [move.label for move in found.one] == [move.label for move in found.other]
    assert found.clock in found.one[-1].resets - found.other[-1].resets
    assert all(one.resets == other.resets for one, other in zip(found.one[:-1], found.other[:-1]))


def decided(seeds: range) -> tuple[int, int]:
    """How many random automata have synchronous resets and how many have not, each checked by brute force."""
    synchronous = 0
    for seed in seeds:
        timed = automaton(Random(seed))
        events = classes(timed)
        found = asynchronous(timed, events)
        assert (None if found is None else len(found.times)) == shortest(timed, events), seed
        if found is None:
            synchronous += 1
        else:
            check_witness(timed, events, found)
    return synchronous, len(seeds) - synchronous


def test_synchronous_resets_are_decided_right() -> None:
    """Theorem 5.4; `make test-timed` does the same for 500 others."""
    synchronous, not_so = decided(range(DECIDED))
    assert synchronous > 250
    assert not_so > 80


@pytest.mark.draws("seed", 4)
def test_determinisation_keeps_the_complex_events(seed: int) -> None:
    """Theorem 5.3, also where runs differ only in clocks that they do not ask again."""
    rng = Random(f"determinise {seed}")
    done = answers = 0
    while done < 30:
        timed = automaton(rng)
        events = classes(timed)
        if asynchronous(timed, events, asked_later(timed)) is not None:
            with pytest.raises(NotSynchronousError):
                determinise_timed(timed, events)
            continue
        made = determinise_timed(timed, events)
        for _ in range(3):
            read = stream(rng, 6)
            found = of_deterministic(made, events, read)
            assert found == of_automaton(timed, read)
            answers += len(found)
        done += 1
    assert answers > 100


@pytest.mark.draws("seed", 4)
def test_formulas_with_few_clocks_and_determinised(seed: int) -> None:
    rng = Random(f"few clocks {seed}")
    before = after = determined = 0
    for _ in range(40):
        _, timed = small_formula(rng, 80)
        merged = merged_clocks(timed)
        few, events = merged.timed, classes(merged.timed)
        read = stream(rng, 6)
        expected = of_automaton(timed, read)
        assert of_automaton(few, read) == expected
        assert few.n_clocks <= timed.n_clocks
        before, after = before + timed.n_clocks, after + few.n_clocks
        if asynchronous(few, events, asked_later(few)) is not None:
            assert not merged.follows_marks
            continue
        made = determinise_timed(few, events, checked=True)
        assert of_deterministic(made, events, read) == expected
        determined += 1
    assert after < before
    assert determined > 20


def test_the_clocks_of_windowed_formulas_follow_the_marks() -> None:
    """Theorem 5.5: two clocks are enough, and their resets are synchronous."""
    rng = Random("windowed")
    done = 0
    while done < 60:
        made = formula(rng, rng.randrange(2, 5), paper=True)
        if not is_windowed(made):
            continue
        merged = merged_clocks(timed_cea(made))
        assert merged.follows_marks
        assert merged.timed.n_clocks <= 2
        assert asynchronous(merged.timed, classes(merged.timed), asked_later(merged.timed)) is None
        done += 1


def test_a_deterministic_automaton_has_synchronous_resets() -> None:
    """Section 5: every deterministic timed CEA has them, and others too."""
    deterministic = 0
    for seed in range(300):
        timed = automaton(Random(seed), moves=5)
        events = classes(timed)
        if is_deterministic(timed, events):
            deterministic += 1
            assert asynchronous(timed, events) is None
    assert deterministic > 30


def test_a_decision_over_its_budget_is_an_error() -> None:
    timed = next(
        timed for seed in range(500) if asynchronous(timed := automaton(Random(seed)), classes(timed)) is None
        and len(timed.transitions) > 6
    )  # fmt: skip
    with pytest.raises(LimitError, match="pairs of transitions"):
        asynchronous(timed, classes(timed), budget=3)


def test_determinisation_over_its_budget_is_an_error() -> None:
    """Each of many clocks cuts the values of the others: the cells are counted before they are looked at."""
    asks = tuple(Check(clock, "<=", Fraction(clock + 1)) for clock in range(20))
    timed = TimedCEA(
        3,
        20,
        0,
        frozenset({2}),
        (
            TimedTransition(0, Truth(True), ALWAYS, frozenset(), frozenset(range(20)), 1),
            *(TimedTransition(1, Truth(True), one, frozenset(), frozenset(), 2) for one in asks),
        ),
    )
    with pytest.raises(LimitError, match="measures 20 times at once, with"):
        determinise_timed(timed, EventClasses((Truth(True),), (frozenset({0}),)))
