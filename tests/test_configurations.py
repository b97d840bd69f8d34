"""Automata of formulas with windows and gaps, stepped lazily: the reference semantics, on random streams."""

from __future__ import annotations

import json
from random import Random

import generate
import pytest
from random_timed import holds
from random_windows import formula

from cer_gpu.automata.configurations.formulas import SteppedAutomaton, predicates_of, stepped
from cer_gpu.automata.configurations.serialization import shape_of, written
from cer_gpu.automata.configurations.shapes import TICK, Shapes
from cer_gpu.automata.configurations.value_words import HeldWords
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.logic.lp import to_lp
from cer_gpu.reference.events import Duration, Event, Instant
from cer_gpu.reference.selection import Match
from cer_gpu.reference.semantics import matches
from cer_gpu.reference.time import inside


class At:
    """What the tests say of the slots of a configuration at an event."""

    def __init__(self, automaton: SteppedAutomaton, symbol: int, slots: tuple[int, ...], now: int) -> None:
        self.symbol = symbol
        self._tests = automaton.tests.all
        self._slots = slots
        self._now = now

    def says(self, slot: int, other: int, test: int) -> bool:
        gap, interval = self._now - self._slots[slot], self._tests[test].interval
        return gap == 0 if interval is None else inside(Duration(gap, "ms"), interval, None)


def automaton_of(pattern: t.Pattern, events: list[Event]) -> tuple[Shapes, SteppedAutomaton, list[int]]:
    """The automaton of a formula over the symbols of some events, and the symbol of each."""
    predicates = predicates_of(pattern)
    numbers: dict[frozenset[int], int] = {}
    symbols = [
        numbers.setdefault(
            frozenset(n for n, predicate in enumerate(predicates) if holds(predicate, event)), len(numbers)
        )
        for event in events
    ]
    automaton = stepped(pattern, list(numbers), predicates)
    return Shapes(automaton, HeldWords((), ())), automaton, symbols


def runs(pattern: t.Pattern, events: list[Event]) -> list[Match]:
    """The complex events of the configurations of a formula, one for each way to come to it."""
    shapes, automaton, symbols = automaton_of(pattern, events)
    times = [event.attributes["ts"].count for event in events]  # type: ignore[union-attr]
    none = [(0, frozenset[tuple[str, int]]())]
    open_ = {(0, ()): none}
    found: list[Match] = []
    for place, (symbol, now) in enumerate(zip(symbols, times)):
        following: dict[tuple[int, tuple[int, ...]], list[tuple[int, frozenset[tuple[str, int]]]]] = {}
        for (number, slots), payload in open_.items():
            _, ticked = shapes.step(number, TICK, At(automaton, TICK, slots, now))
            assert len(ticked) < 2
            assert not any(outcome.accepts or outcome.starts for outcome in ticked)
            _, outcomes = shapes.step(number, symbol, At(automaton, symbol, slots, now))
            if shapes.stays(number, symbol):
                assert [(one.label, one.accepts, one.starts) for one in outcomes] in ([], [(0, False, False)])
            for outcome in outcomes:
                marks = {(x, place) for x in shapes.labels[outcome.label]}
                before = [(place, frozenset())] if outcome.starts else payload
                own = [(start, marked | marks) for start, marked in before]
                if outcome.accepts:
                    found += [Match(start, place, marked) for start, marked in own]
                if outcome.target >= 0:
                    key = outcome.target, tuple(slots[one] if one >= 0 else now for one in outcome.slots)
                    following.setdefault(key, []).extend(own)
        open_ = following
    return found


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_configurations_find_what_the_reference_finds_and_nothing_twice(depth: int) -> None:
    answered = 0
    for seed in range(200):
        rng = Random(f"configurations {depth} {seed}")
        pattern = formula(rng, depth)
        events = generate.stream(rng, rng.randrange(4, 10))
        try:
            found = runs(to_lp(pattern, 2_000), events)
        except LimitError:
            continue
        assert len(found) == len(set(found)), seed
        assert set(found) == matches(pattern, events, order="ts"), seed
        answered += bool(found)
    assert answered > 40


def timed_events(*rows: tuple[str, int]) -> list[Event]:
    return [Event(kind, {"ts": Instant(time, "ms")}) for kind, time in rows]


def pattern_of(text: str) -> t.Pattern:
    query = parse(f"SELECT * WHERE {text}")
    assert isinstance(query, t.SelectQuery)
    return query.pattern


def test_a_pattern_without_a_deterministic_timed_automaton() -> None:
    # Any A may be the second one, and none of them is marked: one configuration holds all of them.
    pattern = pattern_of("PROJECT(A AS x ; A ;[= 1 s] A | x)")
    events = timed_events(("A", 0), ("A", 200), ("A", 300), ("A", 1200), ("A", 1300), ("A", 2200))
    found = runs(pattern, events)
    assert {(one.start, one.end) for one in found} == {(0, 3), (0, 4), (1, 4), (0, 5), (1, 5), (2, 5)}
    assert len(found) == len(set(found))


def test_younger_clocks_stand_for_older_ones_with_an_upper_bound_alone() -> None:
    pattern = pattern_of("A UNLESS (B ;[<= 5 s] C) ;[<= 9 s] A")
    events = timed_events(("A", 0), *(("B", time) for time in range(100, 2000, 100)), ("D", 3000))
    shapes, automaton, symbols = automaton_of(pattern, events)
    assert len(shapes.all) == 1
    runs(pattern, events)
    for symbol in set(symbols):
        shapes.step(0, symbol, At(automaton, symbol, (), 0))
    assert max(len(shape.measures) for shape in shapes.all) <= 2


def test_a_clock_without_an_upper_bound_is_dropped_above_the_lower_one() -> None:
    pattern = pattern_of("A ;[>= 2 s] B")
    events = timed_events(("A", 0), ("A", 500), ("A", 4000), ("B", 4100))
    shapes, automaton, symbols = automaton_of(pattern, events)
    _, outcomes = shapes.step(0, symbols[0], At(automaton, symbols[0], (), 0))
    (waiting,) = [outcome.target for outcome in outcomes if outcome.starts]
    assert len(shapes.all[waiting].measures) == 1
    _, (ticked,) = shapes.step(waiting, TICK, At(automaton, TICK, (0,), 2000))
    assert shapes.all[ticked.target].measures == ()


def test_shapes_are_the_same_once_they_were_stored() -> None:
    rng = Random("written shapes")
    for _ in range(20):
        pattern = to_lp(formula(rng, 1), 2_000)
        events = generate.stream(rng, 8)
        shapes, automaton, symbols = automaton_of(pattern, events)
        for number, symbol in enumerate(symbols[:4]):
            if number < len(shapes.all):
                slots = tuple(range(len(shapes.all[number].measures)))
                shapes.step(number, symbol, At(automaton, symbol, slots, 900))
        for shape in shapes.all:
            assert shape_of(json.loads(json.dumps(written(shape)))) == shape
