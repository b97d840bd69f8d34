"""The reference semantics, rule by rule of the language, and the laws that its operators obey."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import generate
import pytest

from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.reference.conditions import predicate_holds
from cer_gpu.reference.events import Event, Instant
from cer_gpu.reference.semantics import Answer, evaluate, matches


def formula(text: str) -> t.Pattern:
    return parse(f"SELECT * WHERE {text}").pattern


def word(letters: str, **columns: list) -> list[Event]:
    """Events whose types are letters, with attributes given as columns; `i` is the position."""
    return [
        Event(letter, {"i": i, **{name: column[i] for name, column in columns.items()}})
        for i, letter in enumerate(letters)
    ]


def ends(query: str, events: list[Event], **order: str) -> list[tuple[int, int]]:
    return [(answer.start, answer.end) for answer in evaluate(parse(query), events, **order)]


# ---------------------------------------------------------------------------- section 4: conditions

PREDICATES = [
    # A null, a NaN or a missing attribute makes a comparison false, and NOT is the complement.
    ("n > 5", False), ("NOT n > 5", True), ("n = n", False), ("n != 3", False), ("gone = 1", False),
    ("NOT gone = 1", True), ("nan = nan", False), ("nan != 1", False), ("NOT nan != 1", True),
    ("n IN {1, 2}", False), ("n NOT IN {1, 2}", True), ("nan NOT IN {1}", True), ("gone IN {1..}", False),
    ("n IS NULL", True), ("gone IS NULL", True), ("nan IS NULL", False), ("i IS NULL", False),
    ("NOT s2 LIKE 'a'", True), ("s2 LIKE 'a'", False),
    # Arithmetic.
    ("i / 2 = 3.5", True), ("i / 0 IS NULL", True), ("i / 0 > 1", False), ("i % 0 IS NULL", True),
    ("m % 3 = -1", True), ("m % -3 = -1", True), ("i % -3 = 1", True), ("f % 1 = 0.25", True),
    ("-f % 1 = -0.25", True), ("n + 1 IS NULL", True), ("i - 2 * 3 = 1", True), ("(i - 2) * 3 = 15", True),
    ("inf > 9e99", True), ("inf % 2 = inf % 2", False), ("inf - inf = 0", False),
    # int and float compare exactly.
    ("big = 9007199254740992.0", False), ("big > 9007199254740992.0", True), ("i = 7.0", True),
    # Strings compare by code point; LIKE searches anywhere.
    ("s < 'b'", True), ("s > 'Z'", True), ("s LIKE 'p'", True), ("s LIKE '^p'", False),
    ("s IN {'beta', 'alpha'}", True), ("s >= 'alpha'", True),
    # Ranges have both ends in.
    ("i IN {7..9}", True), ("i IN {5..7}", True), ("i IN {..6}", False), ("f IN RANGE (2.25, i)", True),
    ("f IN RANGE (i, 9)", False), ("i NOT IN {1..5}", True),
    # Times.
    ("at < '1970-01-01T00:00:02'", True), ("at = '1970-01-01T00:00:01.500'", True),
    ("at + 1 s > '1970-01-01T00:00:02'", True), ("at - 0.5 s = '1970-01-01T00:00:01Z'", True),
    ("at - at = 0 s", True), ("at - at < 1 ns", True),
]  # fmt: skip

EVENT = Event(
    "A",
    {
        "i": 7, "m": -7, "f": 2.25, "n": None, "nan": math.nan, "inf": math.inf, "s": "alpha", "s2": None,
        "big": 9007199254740993, "at": Instant(1500, "ms"),
    },
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PREDICATES)
def test_predicate(text: str, expected: bool) -> None:
    filtered = formula(f"A FILTER A[{text}]")
    assert isinstance(filtered, t.Filter)
    assert isinstance(filtered.condition, t.Every)
    assert predicate_holds(filtered.condition.predicate, EVENT) is expected


def test_values_that_do_not_compare() -> None:
    with pytest.raises(TypeError, match="do not compare"):
        matches(formula("A FILTER A[s > 1]"), [EVENT])


def test_a_unary_predicate_holds_for_every_event_and_for_none() -> None:
    events = word("AAB", v=[1, 5, 0])
    assert {m.positions() for m in matches(formula("A+ FILTER A[v > 2]"), events)} == {frozenset({1})}
    assert len(matches(formula("(A OR B AS y) FILTER y[v > 2]"), events)) == 2


def test_a_correlation_holds_for_every_pair() -> None:
    events = word("AAB", v=[1, 5, 3])
    found = matches(formula("(A+ AS x ; B AS y) FILTER x.v < y.v"), events)
    assert {m.positions() for m in found} == {frozenset({0, 2})}
    negated = matches(formula("(A+ AS x ; B AS y) FILTER NOT x.v < y.v"), events)
    assert {m.positions() for m in negated} == {frozenset({1, 2}), frozenset({0, 1, 2})}


def test_names_outside_a_repetition_stand_for_the_smallest_scope_that_defines_them() -> None:
    # In each outer repetition the inner one sees that repetition's x alone.
    events = word("ABAB", v=[1, 1, 2, 2])
    nested = matches(formula("(A AS x : (B AS y FILTER y.v = x.v)+) :+"), events)
    assert {m.positions() for m in nested} == {frozenset({0, 1}), frozenset({2, 3}), frozenset({0, 1, 2, 3})}
    # Without the outer repetition's scope the whole pattern's x would be both.
    flat = matches(formula("A AS x : (B AS y FILTER y.v = x.v) : A AS x : B"), events)
    assert flat == frozenset()


def test_a_variable_read_before_it_is_defined() -> None:
    events = word("AAB", v=[1, 3, 3])
    found = matches(formula("(A AS x FILTER x.v = y.v)+ ; B AS y"), events)
    assert {m.positions() for m in found} == {frozenset({1, 2})}


def test_unless_reads_the_left_side() -> None:
    pattern = formula("A AS x ; B UNLESS (C AS y FILTER y.v > x.v)")
    assert len(matches(pattern, word("ACB", v=[1, 1, 0]))) == 1
    assert len(matches(pattern, word("ACB", v=[1, 2, 0]))) == 0


def test_project_hides_its_names() -> None:
    # The filter speaks of the A inside, not of the C that has the same name outside.
    pattern = formula("PROJECT(A AS x ; (B AS y FILTER y.v = x.v) | y) ; C AS x")
    assert len(matches(pattern, word("ABC", v=[1, 1, 9]))) == 1
    assert len(matches(pattern, word("ABC", v=[9, 1, 1]))) == 0


# ------------------------------------------------------------------------------ section 3: patterns


def test_other_event_marks_nothing() -> None:
    (found,) = matches(formula("(NOT (A) ; A) AS x"), word("BA"))
    assert found[:3] == (0, 1, frozenset({("A", 1), ("x", 1)}))
    assert len(matches(formula("NOT (A FILTER A[v > 1])"), word("AAB", v=[1, 2, 3]))) == 2


def test_streams_mark_both_names() -> None:
    events = [Event("A", {}, "S"), Event("A", {}, "R")]
    (found,) = matches(formula("S>A"), events)
    assert found[:3] == (0, 0, frozenset({("A", 0), ("S>A", 0)}))


def test_all_overlaps_and_and_agrees() -> None:
    events = word("AB")
    assert {m[:2] for m in matches(formula("(A ; B) ALL B"), events)} == {(0, 1)}
    assert len(matches(formula("(A ; B) AND (A : B)"), events)) == 1
    assert matches(formula("(A ; B) AND (A AS x : B)"), events) == frozenset()


def test_unless_looks_inside_only() -> None:
    pattern = formula("A ; B UNLESS C")
    assert len(matches(pattern, word("CABC"))) == 1
    assert len(matches(pattern, word("ACB"))) == 0


def test_a_selector_on_the_right_chooses_after_the_left_side() -> None:
    events = word("ABABC")
    chosen = matches(formula("B ; NXT(A ; C)"), events)
    assert {m.positions() for m in chosen} == {frozenset({1, 2, 4})}
    # At the top it chooses among all, and what starts at 0 is before B.
    assert matches(formula("NXT(A ; C) ALL B"), events) == matches(
        formula("(A ; C FILTER A[i = 0]) ALL B"), events
    )


def test_timed_operators() -> None:
    events = word("ABB", at=[0, 2, 5])
    timed = {"order": "at", "order_unit": "s"}
    assert {m.end for m in matches(formula("A ;[<= 2 s] B"), events, **timed)} == {1}
    assert {m.end for m in matches(formula("A ;[> 2 s] B"), events, **timed)} == {2}
    assert {m.end for m in matches(formula("A ;[2000 ms, 5 s] B"), events, **timed)} == {1, 2}
    assert {m.end for m in matches(formula("(A ; B) WITHIN [= 5 s]"), events, **timed)} == {2}
    assert len(matches(formula("B +[< 3 s]"), events, **timed)) == 2
    with pytest.raises(ValueError, match="no order attribute"):
        matches(formula("A ;[<= 2 s] B"), events)
    with pytest.raises(ValueError, match="whose unit is not known"):
        matches(formula("A ;[<= 2 s] B"), events, order="at")


def test_a_variable_that_no_pattern_defines() -> None:
    with pytest.raises(ValueError, match="no pattern defines: z"):
        evaluate(parse("SELECT * WHERE A FILTER z[i > 1]"), word("A"))


Law = Callable[[t.Pattern, t.Pattern, t.Pattern], t.Pattern]

LAWS: dict[str, tuple[Law, Law]] = {
    "; is associative": (
        lambda p, q, r: t.Sequence(t.Sequence(p, q), r),
        lambda p, q, r: t.Sequence(p, t.Sequence(q, r)),
    ),
    ": is associative": (
        lambda p, q, r: t.Sequence(t.Sequence(p, q, True), r, True),
        lambda p, q, r: t.Sequence(p, t.Sequence(q, r, True), True),
    ),
    "+ unrolls": (lambda p, q, r: t.Iteration(p), lambda p, q, r: t.Or(p, t.Sequence(p, t.Iteration(p)))),
    "+ unrolls to the left": (
        lambda p, q, r: t.Iteration(p),
        lambda p, q, r: t.Or(p, t.Sequence(t.Iteration(p), p)),
    ),
    ":+ unrolls": (
        lambda p, q, r: t.Iteration(p, True),
        lambda p, q, r: t.Or(p, t.Sequence(p, t.Iteration(p, True), True)),
    ),
    "++ is +": (lambda p, q, r: t.Iteration(t.Iteration(p)), lambda p, q, r: t.Iteration(p)),
    "; distributes over OR": (
        lambda p, q, r: t.Sequence(t.Or(p, q), r),
        lambda p, q, r: t.Or(t.Sequence(p, r), t.Sequence(q, r)),
    ),
    "ALL commutes": (lambda p, q, r: t.All(p, q), lambda p, q, r: t.All(q, p)),
    "AND is idempotent": (lambda p, q, r: t.And(p, p), lambda p, q, r: p),
    "p UNLESS p": (lambda p, q, r: t.Unless(p, p), lambda p, q, r: t.And(p, t.Filter(p, t.Truth(False)))),
    "UNLESS of OR": (
        lambda p, q, r: t.Unless(p, t.Or(q, r)),
        lambda p, q, r: t.Unless(t.Unless(p, q), r),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_law(name: str, draws: Callable[[int], range]) -> None:
    left, right = LAWS[name]
    found = 0
    seeds = draws(150)
    for seed in seeds:
        rng = Random(seed)
        parts = [generate.pattern(rng, atoms=2, filters=0.1) for _ in range(3)]
        events = generate.stream(rng, 8)
        expected = matches(right(*parts), events)
        assert matches(left(*parts), events) == expected, parts
        found += bool(expected)
    assert found > len(seeds) / 15 or name == "p UNLESS p"  # which never has a complex event


# ----------------------------------------------------------------------------- section 2: a query


def test_answers_are_a_sorted_set() -> None:
    found = evaluate(parse("SELECT x WHERE (A AS x ; B) OR (A AS x ; B AS y)"), word("AAB"))
    assert found == (Answer(0, 2, {"x": (0,)}), Answer(1, 2, {"x": (1,)}))
    assert evaluate(parse("SELECT NONE WHERE A ; B"), word("ACB")) == (Answer(0, 2, {}),)


def test_windows() -> None:
    events = word("AAB", at=[0, 3, 4], lap=[1, None, 3])
    assert ends("SELECT * WHERE A ; B WITHIN 1 EVENTS", events) == [(1, 2)]
    timed = {"order": "at", "order_unit": "s"}
    assert ends("SELECT * WHERE A ; B WITHIN 4 SECONDS", events, **timed) == [(0, 2), (1, 2)]
    assert ends("SELECT * WHERE A ; B WITHIN 3999 MILLISECONDS", events, **timed) == [(1, 2)]
    assert ends("SELECT * WHERE A ; B WITHIN 1.5 [at]", events) == [(1, 2)]
    assert ends("SELECT * WHERE A ; B WITHIN 2 [lap]", events) == [(0, 2)]


def test_a_bare_window_on_a_timestamp_is_in_its_own_unit() -> None:
    events = word("AAB", at=[Instant(0, "ms"), Instant(1000, "ms"), Instant(1002, "ms")])
    assert ends("SELECT * WHERE A ; B WITHIN 2 [at]", events) == [(1, 2)]
    assert ends("SELECT * WHERE A ; B WITHIN 1 SECONDS", events, order="at") == [(1, 2)]
    assert ends("SELECT * WHERE A ; B WITHIN 1.002 SECONDS", events, order="at") == [(0, 2), (1, 2)]


def test_partition_counts_its_own_events() -> None:
    events = word("ACBB", key=[1, 2, 1, None])
    (found,) = evaluate(parse("SELECT * WHERE A : B PARTITION BY key WITHIN 1 EVENTS"), events)
    assert found == Answer(0, 2, {"A": (0,), "B": (2,)}, (1,))


def test_partition_alternatives() -> None:
    events = [Event("A", {"a": 1}), Event("B", {"a": None, "b": 1}), Event("B", {"b": 2}), Event("B", {})]
    query = "SELECT * WHERE A ; B PARTITION BY [a, b]"
    assert [a.partition for a in evaluate(parse(query), events)] == [(1,)]


def test_one_nan_is_one_key() -> None:
    events = word("AB", key=[math.nan, -math.nan])
    assert ends("SELECT * WHERE A ; B PARTITION BY key", events) == [(0, 1)]


def test_consume_is_as_if_the_stream_began_after() -> None:
    events = word("AABAB")
    assert ends("SELECT * WHERE A ; B CONSUME BY ANY", events) == [(0, 2), (1, 2), (3, 4)]
    # NEXT prefers the A at 0, but at position 4 the stream begins at 3.
    assert ends("SELECT NEXT * WHERE A ; B CONSUME BY ANY", events) == [(0, 2), (3, 4)]
    assert ends("SELECT * WHERE A ; B CONSUME BY ANY LIMIT 0", events) == []


def test_consume_by_partition_leaves_the_others() -> None:
    events = word("AABB", key=[1, 2, 1, 2])
    query = "SELECT * WHERE A ; B PARTITION BY key CONSUME BY {}"
    assert ends(query.format("PARTITION"), events) == [(0, 2), (1, 3)]
    assert ends(query.format("ANY"), events) == [(0, 2)]


def test_limit_and_any_count_what_the_select_list_leaves() -> None:
    events = word("AAAB")
    assert ends("SELECT * WHERE A+ ; B LIMIT 2", events) == [(0, 3), (0, 3)]
    assert ends("SELECT NONE WHERE A+ ; B LIMIT 2", events) == [(0, 3), (1, 3)]
    (only,) = evaluate(parse("SELECT ANY * WHERE A+ ; B"), events)
    assert only == evaluate(parse("SELECT * WHERE A+ ; B LIMIT 1"), events)[0]


def test_a_strategy_chooses_inside_the_window() -> None:
    events = word("AAB")
    assert ends("SELECT NEXT * WHERE A ; B WITHIN 1 EVENTS", events) == [(1, 2)]
    assert ends("SELECT NEXT * WHERE A ; B", events) == [(0, 2)]
    assert ends("SELECT LAST * WHERE A ; B", events) == [(1, 2)]
    # The SELECT list drops marks only after the strategy has looked at them.
    assert ends("SELECT NEXT NONE WHERE A ; B", events) == [(0, 2)]


def test_random_queries_of_the_whole_language_have_answers_that_are_sets(
    draws: Callable[[int], range],
) -> None:
    found = 0
    seeds = draws(600)
    for seed in seeds:
        rng = Random(seed)
        query, events = generate.any_query(rng), generate.stream(rng, 9)
        answers = evaluate(query, events, order=generate.ORDER)
        seen = [(a.start, a.end, tuple(sorted(a.marks.items())), a.partition) for a in answers]
        assert len(set(seen)) == len(seen)
        assert [a.end for a in answers] == sorted(a.end for a in answers)
        for a in answers:
            assert all(a.start <= p <= a.end for positions in a.marks.values() for p in positions)
            assert all(list(positions) == sorted(set(positions)) for positions in a.marks.values())
        found += bool(answers)
    assert found > len(seeds) / 4


def test_the_generators_are_reproducible() -> None:
    for seed in range(20):
        once, again = Random(seed), Random(seed)
        assert generate.any_query(once) == generate.any_query(again)
        assert repr(generate.stream(once, 5)) == repr(generate.stream(again, 5))


def test_a_stream_is_a_table() -> None:
    events = generate.stream(Random(7), 50)
    table = generate.stream_to_table(events)
    assert table.num_rows == 50
    assert table.column("v").to_pylist() == [event.attributes.get("v") for event in events]
    assert str(table.schema.field("ts").type) == "timestamp[ms]"
    times = [Instant(count, "ms") for count in table.column("ts").cast("int64").to_pylist()]
    assert times == [event.attributes["ts"] for event in events]
