"""Worked examples of the timed CEL paper, by number, on the reference and as timed automata.

Positions are those of the paper less one, since the paper counts from 1. Examples 2.2, 2.3 and 3.1 ask for
`temp > 40` and name an event of exactly 40 degrees; they hold with `temp >= 40`, which is used here.
"""

from __future__ import annotations

from random import Random

from random_timed import holds

from cer_gpu.automata.cea import Predicate, TypeTest
from cer_gpu.automata.timed.agreement import merged_clocks
from cer_gpu.automata.timed.clocks import ALWAYS, Check, ClockCondition, checks_of
from cer_gpu.automata.timed.construction import timed_cea
from cer_gpu.automata.timed.monotonicity import monotonic
from cer_gpu.automata.timed.subsets import determinise_timed
from cer_gpu.automata.timed.synchrony import asked_later, asynchronous
from cer_gpu.automata.timed.timed_cea import (
    EventClasses,
    TimedCEA,
    TimedTransition,
    is_deterministic,
    timed_predicates,
)
from cer_gpu.automata.timed.timed_class import is_windowed, swg_query
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import Answer, evaluate
from cer_gpu.reference.simulate import Marks
from cer_gpu.reference.timed_runs import ReadEvents, timed_runs

FIGURE_1 = tuple(
    Event(kind, {"temp" if kind == "T" else "hum": value, "time": time})
    for kind, value, time in (
        ("H", 25, 1.2),
        ("T", 45, 1.33),
        ("H", 20, 2.5),
        ("H", 25, 3.7),
        ("T", 40, 4.5),
        ("T", 42, 5.3),
        ("T", 25, 5.9),
        ("H", 70, 6.1),
        ("H", 18, 7.2),
    )
)
"""The timed stream of Figure 1, in seconds."""

C1 = Answer(4, 8, {"X": (4,), "Y": (8,)})
C2 = Answer(1, 8, {"X": (1,), "Y": (8,)})

PHI_1 = "PROJECT((T AS X ; T ; H AS Y) FILTER T[temp {op} 40] AND H[hum < 25] | X, Y)"
PHI_1_TIMED = (
    "PROJECT(((T AS X ;[<= 1 s] T ; H AS Y) WITHIN [<= 5 s]) FILTER T[temp {op} 40] AND H[hum < 25] | X, Y)"
)
PHI_2 = (
    "PROJECT((H AS X :[<= 1 s] (T :+[<= 1 s]) :[<= 1 s] H AS Y) FILTER X[hum < 30] AND Y[hum > 30] | X, Y, T)"
)
PHI_3 = (
    "PROJECT(((T AS X ; T AS X ; H AS Y) WITHIN [<= 5 s] ; H AS Y "
    "AND T AS X ; (T AS X ; H AS Y ; H AS Y) WITHIN [<= 5 s]) "
    "FILTER X[temp >= 40] AND Y[hum < 25] | X, Y)"
)
"""The formula of Example 4.2, in section 4."""

PHI_NON_DET = "PROJECT(A ; A ;[= 1 s] A | )"
"""Section 5: no deterministic timed CEA defines it."""

PADRES = "((B FILTER B[y = 10]) ;[>= 5 s] (C FILTER C[z < 5])) WITHIN [<= 15 s]"
SASE = "SELECT NEXT * WHERE (Shelf AS a ; Exit AS c) UNLESS Register AS b PARTITION BY tag_id WITHIN 12 HOURS"


def pattern_of(text: str) -> t.Pattern:
    query = parse(f"SELECT * WHERE {text}")
    assert isinstance(query, t.SelectQuery)
    return query.pattern


def answers(pattern: str, events: tuple[Event, ...] = FIGURE_1) -> tuple[Answer, ...]:
    return evaluate(parse(f"SELECT * WHERE {pattern}"), events, order="time", order_unit="s")


def by_runs(timed: TimedCEA, events: tuple[Event, ...] = FIGURE_1) -> set[tuple[int, int, Marks]]:
    """The complex events of a timed CEA; times are decimals of seconds, and meant as they are written."""
    predicates = timed_predicates(timed)
    times = [exact(event.attributes["time"]) * NANOSECONDS["s"] for event in events]  # type: ignore[arg-type]
    return timed_runs(
        timed,
        ReadEvents(
            len(events),
            lambda i, position: holds(predicates[i], events[position]),
            lambda early, late: times[late] - times[early],
        ),
    )


def as_runs(found: tuple[Answer, ...]) -> set[tuple[int, int, Marks]]:
    """Answers in the form of complex events of automata."""
    made = set()
    for one in found:
        labels: dict[int, set[str]] = {}
        for variable, positions in one.marks.items():
            for position in positions:
                labels.setdefault(position, set()).add(variable)
        made.add((one.start, one.end, frozenset((at, frozenset(label)) for at, label in labels.items())))
    return made


# ---------------------------------------------------------------------------- automata of section 4


def asks(kind: str, attribute: str, op: str, constant: int) -> Predicate:
    return t.Both(TypeTest(kind), t.Comparison(op, t.Attribute(attribute), t.Number(constant)))  # type: ignore[arg-type]


HOT = asks("T", "temp", ">=", 40)
DRY = asks("H", "hum", "<", 25)
X, Y, NONE = frozenset({"X"}), frozenset({"Y"}), frozenset[str]()


def at_most(clock: int, seconds: int) -> Check:
    return Check(clock, "<=", exact(seconds) * NANOSECONDS["s"])


def move(
    source: int,
    predicate: Predicate,
    condition: ClockCondition,
    label: frozenset[str],
    reset: int | None,
    target: int,
) -> TimedTransition:
    resets = frozenset[int]() if reset is None else frozenset({reset})
    return TimedTransition(source, predicate, condition, label, resets, target)


def waits(state: int) -> TimedTransition:
    return move(state, t.Truth(True), ALWAYS, NONE, None, state)


T1 = TimedCEA(
    4,
    1,
    0,
    frozenset({3}),
    (
        move(0, HOT, ALWAYS, X, 0, 1),
        waits(1),
        move(1, HOT, at_most(0, 1), NONE, None, 2),
        waits(2),
        move(2, DRY, at_most(0, 5), Y, None, 3),
    ),
)
"""Example 4.1."""

T2 = TimedCEA(
    5,
    2,
    0,
    frozenset({4}),
    (
        move(0, HOT, ALWAYS, X, 0, 1),
        waits(1),
        move(1, HOT, ALWAYS, X, 1, 2),
        waits(2),
        move(2, DRY, at_most(0, 5), Y, None, 3),
        waits(3),
        move(3, DRY, at_most(1, 5), Y, None, 4),
    ),
)
"""Example 4.2."""

FIRES = tuple(
    Event(kind, {"temp" if kind == "T" else "hum": value, "time": time})
    for kind, value, time in (
        ("T", 41, 0.0),
        ("T", 39, 0.5),
        ("T", 50, 1.0),
        ("H", 24, 4.0),
        ("H", 20, 5.0),
        ("H", 10, 6.0),
        ("H", 10, 6.5),
    )
)
"""A stream on which Example 4.2 has answers: the paper's own has one dry event after two hot ones."""


def classes(timed: TimedCEA) -> EventClasses:
    """The classes of events over temperatures and humidities."""
    predicates = timed_predicates(timed)
    events = [Event("T", {"temp": value}) for value in (20, 60)]
    events += [Event("H", {"hum": value}) for value in (20, 28, 60)]
    events += [Event(kind, {}) for kind in "AB"]
    found = (frozenset(i for i, one in enumerate(predicates) if holds(one, event)) for event in events)
    return EventClasses(predicates, tuple(dict.fromkeys(found)))


def sensor_stream(rng: Random, n: int) -> tuple[Event, ...]:
    now, events = 0.0, []
    for _ in range(n):
        now += rng.choice((0.0, 0.5, 0.5, 1.0, 1.5))
        kind = rng.choice("TH")
        value = rng.choice((39, 40, 45) if kind == "T" else (20, 24, 25, 40))
        events.append(Event(kind, {"temp" if kind == "T" else "hum": value, "time": now}))
    return tuple(events)


def test_example_2_2() -> None:
    found = answers("PROJECT(T AS X ; H AS Y | X, Y)")
    assert C1 in found
    assert C2 in found


def test_example_2_3() -> None:
    found = answers(PHI_1.format(op=">="))
    assert C1 in found
    assert C2 in found
    assert found == (C2, C1)


def test_example_2_3_as_printed_misses_c1() -> None:
    assert answers(PHI_1.format(op=">")) == (C2,)


def test_example_3_1() -> None:
    found = answers(PHI_1_TIMED.format(op=">="))
    assert C1 in found
    assert C2 not in found
    assert found == (C1,)


def test_example_3_2() -> None:
    assert answers(PHI_2) == (Answer(3, 7, {"T": (4, 5, 6), "X": (3,), "Y": (7,)}),)


def test_example_4_1() -> None:
    """T1 defines the query of Example 3.1, and so does the automaton of its formula, with one clock too."""
    pattern = PHI_1_TIMED.format(op=">=")
    made = timed_cea(pattern_of(pattern))
    few = merged_clocks(made)
    assert made.n_clocks == 2
    assert few.timed.n_clocks == 1
    assert few.since_start == 0
    assert by_runs(T1) == by_runs(made) == by_runs(few.timed) == as_runs((C1,))
    rng, found = Random("4.1"), 0
    for _ in range(40):
        events = sensor_stream(rng, 8)
        expected = as_runs(answers(pattern, events))
        assert by_runs(T1, events) == by_runs(few.timed, events) == expected
        found += len(expected)
    assert found > 20


def test_example_4_2() -> None:
    """T2 defines the query of the formula with overlapping windows."""
    assert by_runs(T2) == as_runs(answers(PHI_3)) == set()
    wide = by_runs(timed_cea(pattern_of(PHI_3.replace("5 s", "9 s"))), FIRES)
    found = by_runs(T2, FIRES)
    assert found == as_runs(answers(PHI_3, FIRES))
    assert found == {
        (0, end, frozenset({(0, X), (2, X), (first, Y), (end, Y)})) for first, end in ((3, 4), (3, 5), (4, 5))
    }
    assert len(wide) == 6, "with the last event, at 6.5 s, too"
    made = timed_cea(pattern_of(PHI_3))
    rng = Random("4.2")
    for _ in range(15):
        events = sensor_stream(rng, 8)
        assert by_runs(T2, events) == by_runs(made, events) == as_runs(answers(PHI_3, events))


def test_example_5_1() -> None:
    assert is_deterministic(T2, classes(T2))
    assert not is_deterministic(T1, classes(T1))


def test_example_5_2() -> None:
    assert asynchronous(T1, classes(T1)) is None
    assert asynchronous(T2, classes(T2)) is None


def test_section_5_not_determinizable() -> None:
    few = merged_clocks(timed_cea(pattern_of(PHI_NON_DET))).timed
    witness = asynchronous(few, classes(few), asked_later(few))
    assert witness is not None
    assert witness.times == tuple(second * NANOSECONDS["s"] for second in (0, 1, 2))
    assert not any(taken.label for taken in witness.one)


def comparisons(timed: TimedCEA) -> set[str]:
    """How clocks are compared by the conditions of an automaton, which are conjunctions."""
    return {check.op for move in timed.transitions for check in checks_of(move.condition)}


def test_example_6_2() -> None:
    """T1 is monotonic; determinised it and the automaton of Example 3.2 are so, with one clock."""
    assert comparisons(T1) == {"<="}
    assert monotonic(determinise_timed(T1, classes(T1))).upper
    few = merged_clocks(timed_cea(pattern_of(PHI_2))).timed
    assert few.n_clocks == 1
    assert comparisons(few) == {"<="}
    assert monotonic(determinise_timed(few, classes(few))).upper


TRADES = tuple(
    Event(kind, values | {"time": time})
    for kind, values, time in (
        ("B", {"y": 10}, 0.0),
        ("C", {"z": 4}, 4.0),
        ("C", {"z": 1}, 5.0),
        ("B", {"y": 9}, 6.0),
        ("C", {"z": 5}, 7.0),
        ("B", {"y": 10}, 8.0),
        ("C", {"z": 2}, 15.0),
        ("C", {"z": 2}, 15.5),
    )
)


def test_section_3_padres() -> None:
    """The timespan is at least 5 s, and the whole at most 15 s; Figure 1 has no event of its types."""
    pattern = pattern_of(PADRES)
    assert answers(PADRES) == ()
    found = answers(PADRES, TRADES)
    assert [(one.start, one.end) for one in found] == [(0, 2), (0, 6), (5, 6), (5, 7)]
    assert swg_query(pattern) is not None
    assert is_windowed(pattern)
    few = merged_clocks(timed_cea(pattern))
    assert few.timed.n_clocks == 1
    assert by_runs(few.timed, TRADES) == as_runs(found)


HOUR = 3600.0
SHELVES = tuple(
    Event(kind, {"tag_id": tag, "time": time})
    for kind, tag, time in (
        ("Shelf", 1, 0.0),
        ("Shelf", 2, 1.0),
        ("Register", 2, 2.0),
        ("Exit", 1, 3.0),
        ("Exit", 2, 4.0),
        ("Shelf", 3, 5.0),
        ("Exit", 1, 6.0),
        ("Exit", 3, 12 * HOUR + 5.5),
    )
)


def test_section_3_sase() -> None:
    """What leaves the shop past no register within 12 hours; Figure 1 has no event of its types."""
    query = parse(SASE)
    assert isinstance(query, t.SelectQuery)
    assert evaluate(query, FIGURE_1, order="time", order_unit="s") == ()
    found = evaluate(query, SHELVES, order="time", order_unit="s")
    assert [(one.start, one.end, one.partition) for one in found] == [(0, 3, (1,)), (0, 6, (1,))]
