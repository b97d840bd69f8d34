"""Correlations that become the key of the lanes: when they do, and that the answer stays the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random

import pytest
from generate import stream
from random_correlated import random_correlated

from cer_gpu.automata.pcea import Keys
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.logic.correlations import unfolded
from cer_gpu.logic.formulas import correlates
from cer_gpu.logic.lp import to_lp
from cer_gpu.plan.partitioning import SharedKey, shared_key
from cer_gpu.reference.events import Event, Value
from cer_gpu.reference.selection import Match
from cer_gpu.reference.semantics import matches

ID = (t.Attribute("id"),)


def formula(where: str) -> t.Pattern:
    query = parse(f"SELECT * WHERE {where}")
    assert isinstance(query, t.SelectQuery)
    return to_lp(unfolded(query.pattern))


LIFTED = {
    "A AS a ; B AS b FILTER a.id = b.id": "A AS a ; B AS b",
    # connected by way of c only
    "A AS a ; B AS b ; C AS c FILTER a.id = c.id AND b.id = c.id": "A AS a ; B AS b ; C AS c",
    "A AS a ; (B AS b)+ ; C AS c FILTER a.id = c.id AND b.id = c.id": "A AS a ; (B AS b)+ ; C AS c",
    "(A AS a ; B AS b)+ ; C AS c FILTER a.id = c.id AND b.id = c.id": "(A AS a ; B AS b)+ ; C AS c",
    "(A AS a ; B AS b FILTER a.id = b.id)+ ; C AS c FILTER c.id = b.id": "(A AS a ; B AS b)+ ; C AS c",
    "(A AS a)+ ; C AS c FILTER a.id = c.id": "(A AS a)+ ; C AS c",
    "A AS a ; (B AS b FILTER b.id = a.id)+": "A AS a ; (B AS b)+",
    "(A AS x ; (B AS y FILTER y.id = x.id)+ ; A AS z) FILTER x.id = z.id": "A AS x ; (B AS y)+ ; A AS z",
    "(A AS a OR B AS a) ; C AS c FILTER a.id = c.id": "(A AS a OR B AS a) ; C AS c",
    # each alternative is connected by a filter of its own, and the other filter is vacuous there
    "(A AS a OR B AS b) ; C AS c FILTER a.id = c.id AND b.id = c.id": "(A AS a OR B AS b) ; C AS c",
    "(A AS a ; B AS b FILTER a.id = b.id) OR (B AS b ; C AS c FILTER b.id = c.id)": (
        "(A AS a ; B AS b) OR (B AS b ; C AS c)"
    ),
    # the marks of the middle are dropped, its key is not
    "PROJECT(A AS a ; B AS b ; C AS c FILTER a.id = b.id AND b.id = c.id | a, c)": (
        "PROJECT(A AS a ; B AS b ; C AS c | a, c)"
    ),
    # one event may be both variables
    "(A AS x) AS y FILTER x.id = y.id": "(A AS x) AS y",
    # what is not the key stays
    "A AS a ; B AS b ; C AS c FILTER a.id = c.id AND b.id = c.id AND b.v = c.v": (
        "A AS a ; B AS b ; C AS c FILTER b.v = c.v"
    ),
}


@pytest.mark.parametrize("where", LIFTED)
def test_what_all_events_share_is_the_key(where: str) -> None:
    found = shared_key(formula(where))
    assert found is not None
    assert found.uniform
    assert set(found.lane.values()) == {ID}
    assert found.pattern == formula(LIFTED[where])


NOT_LIFTED = {
    "no equality": "A AS a ; B AS b",
    "one event": "A AS a",
    "an event is left out": "A AS a ; B AS b ; C AS c FILTER a.id = c.id",
    "an event is left out on one path": "(A AS a OR B) ; C AS c FILTER a.id = c.id",
    "vacuous on one path": "(A AS a OR B AS b) ; C AS c FILTER a.id = c.id",
    "vacuous for all alone": "(A AS a)+ ; (B AS b OR C) FILTER a.id = b.id",
    "each repetition for itself": "(A AS a ; B AS b FILTER a.id = b.id)+",
    "a link that may be missing": (
        "A AS a ; B AS b ; (C AS c OR D AS d) FILTER a.id = c.id AND b.id = c.id AND a.id = d.id"
    ),
    "two classes that never meet": (
        "A AS a ; B AS b ; C AS c ; D AS d FILTER a.id = b.id AND c.id = d.id AND b.v = c.v"
    ),
    "two attributes of one type": "A AS x ; A AS y FILTER x.src = y.dst",
    "another attribute in the middle": "A AS a ; B AS b ; C AS c FILTER a.id = b.id AND b.host = c.host",
    "contiguity": "A AS a : B AS b FILTER a.id = b.id",
    "contiguous iteration": "(A AS a):+ ; B AS b FILTER a.id = b.id",
    "other event": "A AS a ; NOT (B) ; C AS c FILTER a.id = c.id",
    "complement": "A AS a ; B AS b FILTER NOT (a.id = b.id)",
    "alternative": "A AS a ; B AS b FILTER a.id = b.id OR b[p > 3]",
    "another comparison": "A AS a ; B AS b FILTER a.id <= b.id",
    "an event with itself": "(A AS x)+ FILTER x.id = x.id",
    "each repetition for itself, of two iterations": (
        "((A AS a ; B AS b FILTER a.id = b.id)+ OR (A AS a ; C AS y)) FILTER a.id = y.id"
    ),
    "another instance": "((A AS x ; B AS y FILTER x.id = y.id)+ ; A AS x)",
}


@pytest.mark.parametrize("why", NOT_LIFTED)
def test_what_they_need_not_share_is_no_key(why: str) -> None:
    assert shared_key(formula(NOT_LIFTED[why])) is None


@pytest.mark.parametrize(
    "where",
    [
        "A AS a UNLESS B AS b",
        "(A AS a ; B AS b) AND (A AS a ; B AS b)",
        "A AS a ALL B AS b",
        "NXT(A AS a ; B AS b)",
        "A AS a :[<= 5 s] B AS b",
    ],
)
def test_operators_that_see_other_events_are_not_lifted(where: str) -> None:
    query = parse(f"SELECT * WHERE {where}")
    assert isinstance(query, t.SelectQuery)
    equality = t.Comparison("=", t.Attribute("id", "a"), t.Attribute("id", "b"))
    assert shared_key(t.Filter(query.pattern, equality)) is None


@pytest.mark.parametrize(
    "where",
    ["(A AS a ; B AS b) WITHIN [<= 5 s]", "A AS a ;[<= 5 s] B AS b", "A AS a ; (B AS b)+[<= 5 s]"],
)
def test_gaps_and_windows_are_lifted(where: str) -> None:
    """They speak of matched events alone, and stay in the formula."""
    query = parse(f"SELECT * WHERE {where}")
    assert isinstance(query, t.SelectQuery)
    equality = t.Comparison("=", t.Attribute("id", "a"), t.Attribute("id", "b"))
    found = shared_key(t.Filter(query.pattern, equality))
    assert found is not None
    assert found.uniform
    assert found.pattern == query.pattern


def test_several_attributes_are_one_key() -> None:
    found = shared_key(formula("A AS a ; B AS b FILTER a.id = b.id AND a.host = b.host"))
    assert found is not None
    assert found.uniform
    assert {frozenset(keys) for keys in found.lane.values()} == {
        frozenset((t.Attribute("id"), t.Attribute("host")))
    }
    assert found.pattern == formula("A AS a ; B AS b")


def test_each_event_type_may_have_its_own_attribute() -> None:
    found = shared_key(formula("A AS a ; B AS b ; A AS c FILTER a.src = b.dst AND b.dst = c.src"))
    assert found is not None
    assert not found.uniform
    assert found.lane == {"A": (t.Attribute("src"),), "B": (t.Attribute("dst"),)}
    assert found.pattern == formula("A AS a ; B AS b ; A AS c")


def test_a_key_may_be_computed() -> None:
    found = shared_key(formula("A AS a ; B AS b FILTER b.n = a.n + 1"))
    assert found is not None
    assert found.lane == {
        "A": (t.Arithmetic("+", t.Attribute("n"), t.Number(1)),),
        "B": (t.Attribute("n"),),
    }


@pytest.mark.parametrize(
    "outside",
    [
        "({} ; C AS x) FILTER A.src = B.host AND x.id = B.host",
        # the same comparison, of other events
        "({} ; C AS x ; B AS y) FILTER A.src = B.host AND x.id = y.host",
    ],
)
def test_a_filter_on_another_attribute_of_a_hidden_name_stays(outside: str) -> None:
    """Inside PROJECT x is an A, outside a C: `x.id = y.host` is the key outside only."""
    inside = "PROJECT(((A AS x ; B AS y) OR (A ; B FILTER A[q = 1])) FILTER x.id = y.host | A, B)"
    pattern = formula(outside.format(inside))
    found = shared_key(pattern)
    assert found is not None
    assert found.lane == {
        "A": (t.Attribute("src"),),
        "B": (t.Attribute("host"),),
        "C": (t.Attribute("id"),),
    }
    assert correlates(found.pattern)
    values: dict[str, Value] = {"src": 5, "host": 5, "q": 0}
    for own in (5, 9):
        types = {"A": own, "B": 5, "C": 5}
        events = [Event(name, {**values, "id": types[name]}) for name in "ABCB"]
        assert by_lanes(found, events) == matches(pattern, events)
        assert bool(by_lanes(found, events)) == (own == 5)


# --------------------------------------------------------------------------------- the same answer


def key_of(event: Event, lane: Mapping[str, Keys]) -> tuple[Value, ...] | None:
    """The key of an event; None where it takes no part."""
    values = tuple(
        event.attributes.get(one.name) if isinstance(one, t.Attribute) else None
        for one in lane.get(event.type, (None,))
    )
    missing = any(value is None or (isinstance(value, float) and math.isnan(value)) for value in values)
    return None if missing else values


def by_lanes(found: SharedKey, events: Sequence[Event]) -> set[Match]:
    """The complex events of each key's events alone, at their positions in the whole stream."""
    lanes: dict[tuple[Value, ...], list[int]] = {}
    for position, event in enumerate(events):
        if (key := key_of(event, found.lane)) is not None:
            lanes.setdefault(key, []).append(position)
    return {
        Match(at[one.start], at[one.end], frozenset((name, at[position]) for name, position in one.marks))
        for at in lanes.values()
        for one in matches(found.pattern, [events[position] for position in at])
    }


class _Linked:
    """A random formula whose variables are compared with any other, by attributes that may differ."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.n_names = 0
        self.attributes = {
            name: rng.choice(("id", "id", "v", "lap") if rng.random() < 0.8 else ("p",)) for name in "ABC"
        }
        self.types: dict[str, str] = {}

    def grow(self, atoms: int) -> tuple[t.Pattern, list[str]]:
        rng = self.rng
        if atoms == 1:
            name = rng.choice(sorted(self.types)) if self.types and rng.random() < 0.1 else f"x{self.n_names}"
            self.n_names += 1
            event_type = self.types.setdefault(name, rng.choice("ABC"))
            made: t.Pattern = t.As(t.EventType(event_type), name)
            names = [name]
        else:
            split = rng.randrange(1, atoms)
            (one, first), (other, second) = self.grow(split), self.grow(atoms - split)
            names = first + second
            made = (t.Or if rng.random() < 0.15 else t.Sequence)(one, other)
        if len(names) > 1 and rng.random() < 0.4:
            made = self.linked(made, names, rng.randrange(1, len(names)))
        if rng.random() < 0.2:
            made = t.Iteration(made)
        return made, names

    def linked(self, made: t.Pattern, names: list[str], n: int) -> t.Pattern:
        for _ in range(n):
            one, other = self.rng.choice(names), self.rng.choice(sorted(self.types))
            if one != other:
                made = t.Filter(made, t.Comparison("=", self.key(one), self.key(other)))
        return made

    def key(self, name: str) -> t.Attribute:
        attribute = self.attributes[self.types[name]] if self.rng.random() < 0.9 else "id"
        return t.Attribute(attribute, name)


def random_linked(rng: Random) -> t.Pattern:
    growing = _Linked(rng)
    made, names = growing.grow(rng.choice((2, 3, 3, 4)))
    return growing.linked(made, names, len(names) + 1)


def narrow_stream(rng: Random) -> list[Event]:
    """Few values, so that attributes of different names are equal now and then; also nulls and NaN."""
    events = []
    for event in stream(rng, rng.randrange(7, 12), holes=0.08):
        values = dict(event.attributes)
        for name in ("v", "lap"):
            if values.get(name) is not None:
                values[name] = rng.randrange(3)
        price = values.get("p")
        if isinstance(price, float) and not math.isnan(price):
            values["p"] = float(rng.randrange(3))
        events.append(Event(event.type, values, event.stream))
    return events


def same_answer(pattern: t.Pattern, rng: Random) -> tuple[SharedKey | None, bool]:
    """Assert that a formula that is lifted has the same complex events on each key's events alone."""
    found = shared_key(pattern)
    answered = False
    if found is not None:
        for _ in range(2):
            events = narrow_stream(rng)
            wanted = set(matches(pattern, events))
            assert by_lanes(found, events) == wanted, to_text(pattern)
            answered |= bool(wanted)
    return found, answered


@pytest.mark.draws("seed", 6)
def test_lifted_formulas_have_the_same_answer_by_lanes(seed: int) -> None:
    rng = Random(f"linked {seed}")
    results = [same_answer(to_lp(unfolded(random_linked(rng))), rng) for _ in range(150)]
    lifted = [found for found, _ in results if found is not None]
    assert 20 < len(lifted) < 140
    assert any(not found.uniform for found in lifted)
    assert any(correlates(found.pattern) for found in lifted)
    assert sum(answered for _, answered in results) > 10


@pytest.mark.draws("seed", 3)
def test_random_queries_have_the_same_answer_by_lanes(seed: int) -> None:
    rng = Random(f"partitioning {seed}")
    results = [same_answer(to_lp(unfolded(random_correlated(rng).pattern)), rng) for _ in range(100)]
    assert sum(answered for _, answered in results) > 5


def test_null_and_nan_have_no_key() -> None:
    found = shared_key(formula("A AS a ; B AS b FILTER a.p = b.p"))
    assert found is not None
    rows: list[tuple[str, Value]] = [
        ("A", None),
        ("A", math.nan),
        ("A", 1.0),
        ("B", None),
        ("B", math.nan),
        ("B", 1.0),
    ]
    events = [Event(name, {"p": value}) for name, value in rows]
    assert {(one.start, one.end) for one in by_lanes(found, events)} == {(2, 5)}
    assert by_lanes(found, events) == matches(formula("A AS a ; B AS b FILTER a.p = b.p"), events)
