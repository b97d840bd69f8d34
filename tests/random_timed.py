"""Random formulas of timed CEL, random timed automata, and what their runs say of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

from cer_gpu.automata.cea import Predicate, TypeTest
from cer_gpu.automata.timed.clocks import ALWAYS, Check, ClockCondition, conjunction, disjunction
from cer_gpu.automata.timed.construction import timed_cea
from cer_gpu.automata.timed.subsets import DeterministicTimedCEA
from cer_gpu.automata.timed.timed_cea import EventClasses, TimedCEA, TimedTransition, timed_predicates
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.scope import variables
from cer_gpu.reference.conditions import condition_holds
from cer_gpu.reference.events import Duration, Event, Instant
from cer_gpu.reference.semantics import matches
from cer_gpu.reference.simulate import Marks
from cer_gpu.reference.time import difference
from cer_gpu.reference.timed_runs import ReadEvents, deterministic_runs, timed_runs

KINDS = ("A", "B")
Found = set[tuple[int, int, Marks]]


# ------------------------------------------------------------------------------------- streams


def stream(rng: Random, n: int, *, tie: float = 0.25) -> list[Event]:
    """Events a second or some tenths apart, some at one moment; `v` is 0, 1 or null."""
    now, events = 0, []
    for _ in range(n):
        if rng.random() >= tie:
            now += rng.choice((300, 500, 1000, 1000, 1500, 2000))
        v = rng.choice((0, 1, 1, None))
        events.append(Event(rng.choice(KINDS), {"v": v, "ts": Instant(now, "ms")}))
    return events


def elapsed(events: Sequence[Event], early: int, late: int) -> Any:
    """The time between two events, in nanoseconds."""
    gap = difference(events[late].attributes.get("ts"), events[early].attributes.get("ts"))
    return gap.nanoseconds if isinstance(gap, Duration) else gap


def holds(predicate: Predicate, event: Event) -> bool:
    match predicate:
        case TypeTest(name, stream):
            return event.is_a(name, stream)
        case t.Truth(value):
            return value
        case t.Both(left, right):
            return holds(left, event) and holds(right, event)
        case t.Either(left, right):
            return holds(left, event) or holds(right, event)
        case t.Not(operand):
            return not holds(operand, event)
    return condition_holds(t.Every("e", predicate), lambda name, prior: [event])


def of_automaton(timed: TimedCEA, events: Sequence[Event]) -> Found:
    """The complex events of a timed CEA whose constants are nanoseconds."""
    predicates = timed_predicates(timed)
    truths = [[holds(predicate, event) for event in events] for predicate in predicates]
    return timed_runs(
        timed,
        ReadEvents(
            len(events),
            lambda i, position: truths[i][position],
            lambda early, late: elapsed(events, early, late),
        ),
    )


def of_deterministic(timed: DeterministicTimedCEA, classes: EventClasses, events: Sequence[Event]) -> Found:
    """The complex events of a deterministic timed CEA, of which no two runs give one."""
    found = list(
        deterministic_runs(timed, symbols(classes, events), lambda early, late: elapsed(events, early, late))
    )
    assert len(found) == len(set(found)), "one run for each complex event"
    return set(found)


def symbols(classes: EventClasses, events: Sequence[Event]) -> list[int]:
    """The class of each event."""
    number = {holding: place for place, holding in enumerate(classes.symbols)}
    return [
        number[frozenset(i for i, predicate in enumerate(classes.predicates) if holds(predicate, event))]
        for event in events
    ]


def of_formula(formula: t.Pattern, events: Sequence[Event]) -> Found:
    """The complex events of a formula, by the reference."""
    answers = set()
    for one in matches(formula, events, order="ts"):
        labels: dict[int, set[str]] = {}
        for variable, position in one.marks:
            labels.setdefault(position, set()).add(variable)
        answers.add((one.start, one.end, frozenset((at, frozenset(label)) for at, label in labels.items())))
    return answers


def classes(timed: TimedCEA, *values: int | None) -> EventClasses:
    """The classes of events of the two types, with the values of `v` that are given."""
    predicates = timed_predicates(timed)
    kinds = [Event(kind, {"v": value}) for kind in KINDS for value in values or (0, 1, None)]
    found = (
        frozenset(i for i, predicate in enumerate(predicates) if holds(predicate, event)) for event in kinds
    )
    return EventClasses(predicates, tuple(dict.fromkeys(found)))


# ------------------------------------------------------------------------------------ formulas


def interval(rng: Random) -> t.Interval:
    low = t.Bound(rng.choice((0, 300, 500, 1000)), "ms", open=rng.random() < 0.3)
    high = t.Bound(rng.choice((1, 1.5, 2, 3)), "s", open=rng.random() < 0.3)
    if rng.random() < 0.15:
        point = t.Bound(rng.choice((500, 1000, 2000)), "ms")
        return t.Interval(point, point)
    return rng.choice((t.Interval(low, None), t.Interval(None, high), t.Interval(low, high)))


def small_formula(rng: Random, most: int = 150) -> tuple[t.Pattern, TimedCEA]:
    """A formula of up to four event types whose automaton is small, and the automaton."""
    while True:
        made = formula(rng, rng.randrange(1, 5))
        try:
            timed = timed_cea(made)
        except LimitError:
            continue
        if timed.size <= most:
            return made, timed


def formula(rng: Random, atoms: int, *, paper: bool = False) -> t.Pattern:
    """A formula with time operators.

    Parameters
    ----------
    rng : Random
    atoms : int
        Of so many event types.
    paper : bool
        Of the operators of the paper alone, without counts, optional elements, NOT, ALL and STRICT.
    """
    made = _named(rng, _formula(rng, atoms, paper))
    names = sorted(variables(made))
    if names and rng.random() < 0.3:
        made = t.Filter(made, _condition(rng, names, paper))
    return made


def _formula(rng: Random, atoms: int, paper: bool) -> t.Pattern:
    pick = rng.random()
    if atoms == 1:
        kind = t.EventType(rng.choice(KINDS))
        if not paper and pick < 0.12:
            return t.OtherEvent(kind)
        return _repeated(rng, kind, paper) if pick < 0.4 else kind
    if pick < 0.12:
        return t.Timed(formula(rng, atoms, paper=paper), interval(rng))
    if pick < 0.2:
        return _repeated(rng, formula(rng, atoms, paper=paper), paper)
    if pick < 0.24 and not paper:
        return t.Selector(t.Strategy.STRICT, formula(rng, atoms, paper=paper))
    split = rng.randrange(1, atoms)
    left, right = formula(rng, split, paper=paper), formula(rng, atoms - split, paper=paper)
    if pick < 0.32:
        return t.Or(left, right)
    if pick < 0.4:
        return t.And(t.Or(left, right), t.Or(right, formula(rng, split, paper=paper)))
    if pick < 0.46 and not paper:
        return t.All(left, right)
    if pick < 0.54 and not paper:
        right = t.Optional(right)
    gap = interval(rng) if rng.random() < 0.6 else None
    return t.Sequence(left, right, rng.random() < 0.3, gap)


def _repeated(rng: Random, body: t.Pattern, paper: bool) -> t.Pattern:
    gap = interval(rng) if rng.random() < 0.6 else None
    times = None
    if not paper and rng.random() < 0.3:
        least = rng.randrange(1, 3)
        times = t.Times(least, rng.choice((None, least, least + 1)))
    return t.Iteration(body, rng.random() < 0.3, gap, times)


def _named(rng: Random, made: t.Pattern) -> t.Pattern:
    if rng.random() < 0.3:
        made = t.As(made, rng.choice("xy"))
    if rng.random() < 0.15:
        made = t.Project(made, tuple(sorted(x for x in variables(made) if rng.random() < 0.5)))
    return made


def _condition(rng: Random, names: Sequence[str], paper: bool, depth: int = 1) -> t.Condition:
    test = t.Comparison(rng.choice(("=", ">")), t.Attribute("v"), t.Number(rng.choice((0, 1))))
    one: t.Condition = t.Every(rng.choice(names), test)
    pick = rng.random()
    if pick < 0.2 and not paper:
        return t.Not(one)
    if pick < 0.5 and depth:
        kind = t.Both if paper or rng.random() < 0.5 else t.Either
        return kind(one, _condition(rng, names, paper, depth - 1))
    return one


# ------------------------------------------------------------------------------------ automata


def automaton(rng: Random, *, states: int = 3, clocks: int = 2, moves: int = 9) -> TimedCEA:
    """A timed CEA over events of two types, with constants of some seconds."""
    n, k = rng.randrange(2, states + 1), rng.randrange(1, clocks + 1)
    made = tuple(_transition(rng, n, k) for _ in range(rng.randrange(n, moves + 1)))
    return TimedCEA(n, k, 0, frozenset({n - 1}), made)


def _transition(rng: Random, n: int, k: int) -> TimedTransition:
    kind = rng.choice((*KINDS, None))
    label = frozenset({"x"}) if rng.random() < 0.4 else frozenset[str]()
    return TimedTransition(
        rng.randrange(n),
        t.Truth(True) if kind is None else TypeTest(kind),
        clock_condition(rng, k) if rng.random() < 0.6 else ALWAYS,
        label,
        _resets(rng, k, bool(label)),
        rng.randrange(n),
    )


def _resets(rng: Random, clocks: int, marks: bool) -> frozenset[int]:
    """Mostly what a label resets, the first clock of a mark; now and then any clocks."""
    usual = frozenset({0}) if marks else frozenset[int]()
    return usual if rng.random() < 0.65 else frozenset(clock for clock in range(clocks) if rng.random() < 0.5)


def clock_condition(rng: Random, clocks: int) -> ClockCondition:
    def check() -> Check:
        return Check(rng.randrange(clocks), rng.choice(("<", "<=", "=", ">=", ">")), second(rng.randrange(3)))

    pick = rng.random()
    if pick < 0.2:
        return conjunction(check(), check())
    return disjunction(check(), check()) if pick < 0.3 else check()


def second(n: int) -> Fraction:
    return Fraction(n * 1_000_000_000)
