"""The strategies of SELECT inside windows: every way of running them agrees with the reference."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from counting import calls
from engine_oracle import check
from generate import pattern, query_around, stream, with_keys

from cer_gpu.api import Query
from cer_gpu.engine.answers import batches as enumerate
from cer_gpu.engine.machines import automaton, chunk, strategies
from cer_gpu.engine.machines.open_spans import OpenSpans
from cer_gpu.engine.read import classify
from cer_gpu.engine.run import bound_query
from cer_gpu.engine.run import chunks as runner
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.language import tree

CHOICES = (tree.Strategy.NEXT, tree.Strategy.LAST, tree.Strategy.MAX)
WAYS = ("SingleChoice", "ChosenInSpans", "ChosenInSpans where the attribute falls", "best_in_spans")
"""Ways of choosing in short lanes; `best_of_falling` takes the place of the last one in long ones."""


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each way of choosing was taken."""
    taken: Counter[str] = Counter()

    def counted(name: str, before: Any) -> Any:
        def noting(*given: Any) -> Any:
            falls = name == "ChosenInSpans" and given[2].falls
            pushed = name == "best_in_spans" and isinstance(given[1], OpenSpans)
            taken[name + " where the attribute falls" * falls + " of a push" * pushed] += 1
            return before(*given)

        return noting

    for way in (strategies.SingleChoice, strategies.ChosenInSpans):
        monkeypatch.setattr(way, "__init__", counted(way.__name__, way.__init__))
    for name in ("best_in_spans", "best_of_falling"):
        for module in (strategies, automaton):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    return taken


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, chunks, segments, groups and pieces of a few events, so that their borders are crossed."""
    monkeypatch.setattr(classify, "BLOCK", 4)
    monkeypatch.setattr(bound_query, "BATCH", 5)
    monkeypatch.setattr(runner, "CHUNK", 3)
    monkeypatch.setattr(runner, "CARRIED", 2)
    monkeypatch.setattr(chunk, "SEGMENT", 2)
    monkeypatch.setattr(enumerate, "GROUP", 3)
    monkeypatch.setattr(strategies, "SPAN_EVENTS", 4)
    monkeypatch.setattr(strategies, "MARKS", 2)


def bounded_query(rng: Random) -> tree.SelectQuery:
    """A query with a strategy, and with a window, CONSUME BY or both."""
    query = query_around(rng, pattern(rng, filters=0.12), rng.choice(CHOICES))
    if rng.random() < 0.5:
        return replace(query, window=tree.Window(rng.randrange(4), "attribute", attribute="lap"))
    if query.window is None and query.consume is tree.Consume.NONE:
        return replace(query, window=tree.Window(rng.randrange(6), "events"))
    return query


def falling_query(rng: Random) -> tree.Query:
    """A query that leaves one complex event, in a window over an attribute."""
    query = query_around(rng, pattern(rng, filters=0.12), rng.choice(CHOICES[:2]))
    window = tree.Window(rng.randrange(4), "attribute", attribute="lap")
    return replace(query, window=window, consume=tree.Consume.NONE)


def agree(seed: str, queries: int, drawn: Callable[[Random], tree.Query] = bounded_query) -> None:
    rng = Random(seed)
    answered, refused = 0, 0
    for _ in range(queries):
        query = drawn(rng)
        events = stream(rng, rng.randrange(4, 13))
        if query.window is not None and query.window.attribute == "lap" and rng.random() < 0.9:
            events = with_keys(rng, events)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                answered += check(query, events, rng) > 0
            except LimitError:
                refused += 1
    assert answered >= queries // 4
    assert refused <= queries // 10


@pytest.mark.draws("seed", 4)
def test_all_ways_agree_with_the_reference(seed: int, ways: Counter[str]) -> None:
    agree(f"selection {seed}", 60)
    assert all(ways[way] > 0 for way in WAYS)


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", 4)
def test_they_agree_in_tiny_pieces_too(seed: int, ways: Counter[str]) -> None:
    agree(f"selected pieces {seed}", 60)
    assert all(ways[way] > 0 for way in WAYS)


@pytest.mark.draws("seed", 3)
def test_they_agree_where_long_lanes_fall(
    seed: int, ways: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if all that fall were long."""
    monkeypatch.setattr(strategies, "PAYS", 0)
    agree(f"selection that falls {seed}", 70, falling_query)
    assert ways["best_of_falling"] > 5
    assert not ways["best_in_spans"]


@pytest.mark.crossed
@pytest.mark.parametrize("strategy", ["NEXT", "LAST"])
@pytest.mark.parametrize(
    "pattern", ["A ; B", "A+ ; B", "A ; B+ ; C", "A ; A ; B", "(A OR B) ; C", "A ; (B : C)+"]
)
def test_trees_of_several_leaves_leave_what_pieces_leave(
    strategy: str, pattern: str, ways: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"{strategy} {pattern}")
    for events in (15, 16, 17, 100, 200):
        table = pa.table(
            {
                "type": ["A", "B", "C", *rng.choices("ABC", k=events)],
                "lap": [rng.randrange(9) for _ in range(events + 3)],
                "key": [rng.randrange(2) for _ in range(events + 3)],
            }
        )
        for clauses in ("", "PARTITION BY key"):
            query = Query(f"SELECT {strategy} * WHERE {pattern} {clauses} WITHIN 2 [lap]")
            monkeypatch.setattr(strategies, "PAYS", math.inf)
            wanted = query.run(table).to_arrow()
            monkeypatch.setattr(strategies, "PAYS", 0)
            assert query.run(table).to_arrow() == wanted
    assert ways["best_in_spans"] == ways["best_of_falling"] >= 8


@pytest.mark.parametrize("strategy", ["NEXT", "LAST"])
def test_long_lanes_that_fall_are_not_run_again_for_each_end(strategy: str, ways: Counter[str]) -> None:
    table = pa.table({"type": list("AB") * 2000, "lap": [place % 50 // 2 for place in range(4000)]})
    found = Query(f"SELECT {strategy} * WHERE A ; B WITHIN 0 [lap]").run(table).to_arrow()
    assert len(found) == 2000
    assert ways == {"SingleChoice": 1, "best_of_falling": 1}


def rows(
    query: str, types: str, **columns: list[int | None]
) -> list[tuple[int, int, dict[str, tuple[int, ...]]]]:
    """The complex events of a query on events of the given types."""
    table = pa.table({"type": list(types), **columns})
    return [(ce.start, ce.end, dict(ce.marks.items())) for ce in Query(query).run(table)]


def marked(query: str, types: str, **columns: list[int | None]) -> list[tuple[int, int, list[int]]]:
    """Start, end and the marked positions of each."""
    found = rows(query, types, **columns)
    return [
        (start, end, sorted({p for places in marks.values() for p in places})) for start, end, marks in found
    ]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("NEXT", [[0, 1, 3]]),
        ("LAST", [[1, 2, 3]]),
        ("MAX", [[0, 1, 3], [0, 2, 3], [1, 2, 3]]),
    ],
)
def test_the_strategies_differ(strategy: str, expected: list[list[int]]) -> None:
    found = marked(f"SELECT {strategy} * WHERE A ; A ; B WITHIN 3 EVENTS", "AAAB")
    assert [places for _, _, places in found] == expected


@pytest.mark.parametrize("strategy", ["NEXT", "MAX"])
def test_the_best_one_inside_the_window_is_given(strategy: str) -> None:
    """Not the best one of all, which the window would drop."""
    found = marked(f"SELECT {strategy} * WHERE A+ ; B WITHIN 2 EVENTS", "AAAAB")
    assert found == [(2, 4, [2, 3, 4])]


def test_two_answers_with_the_same_positions_are_kept() -> None:
    query = "SELECT NEXT * WHERE (A AS x OR A AS y) ; B WITHIN 2 EVENTS"
    assert len(rows(query, "AAB")) == 2
    assert len(rows(query + " LIMIT 1", "AAB")) == 1


def test_what_is_chosen_is_named_before_the_list_drops_marks() -> None:
    """`SELECT MAX b`: two choices of A, of which one B is shown, are one answer when they start together."""
    assert rows("SELECT MAX B WHERE A ; A ; B WITHIN 3 EVENTS", "AAAB") == [
        (0, 3, {"B": (3,)}),
        (1, 3, {"B": (3,)}),
    ]


def test_consumed_events_are_not_chosen_from() -> None:
    found = marked("SELECT NEXT * WHERE A+ ; B WITHIN 9 EVENTS CONSUME BY ANY", "AABAABB")
    assert found == [(0, 2, [0, 1, 2]), (3, 5, [3, 4, 5])]


def test_a_window_that_is_no_interval_of_starts() -> None:
    """`lap` falls: the A at 1 is outside of the window of the B, those around it are inside."""
    query = "SELECT {} * WHERE A ; B WITHIN 1 [lap]"
    for strategy, start in (("NEXT", 0), ("LAST", 2)):
        assert marked(query.format(strategy), "AAAB", lap=[5, 1, 5, 5]) == [(start, 3, [start, 3])]
    assert marked(query.format("LAST"), "AAAB", lap=[5, 5, 1, 5]) == [(1, 3, [1, 3])]
    assert len(marked(query.format("MAX"), "AAAB", lap=[5, 1, 5, 5])) == 2


def test_a_choice_among_more_than_can_be_listed_where_the_attribute_falls() -> None:
    """2^60 complex events end at the B, of which the strategies leave one."""
    lap = [*range(60, 0, -1), 0]
    for strategy, left in (("NEXT", range(61)), ("LAST", range(61)), ("MAX", range(61))):
        found = marked(f"SELECT {strategy} * WHERE A+ ; B WITHIN 3 [lap]", "A" * 60 + "B", lap=lap)
        assert found == [(0, 60, list(left))]


def test_counts_do_not_need_the_answers() -> None:
    """Ten thousand events, each end with 2^(window) complex events before the choice."""
    table = pa.table({"type": ["A", "B"] * 5000})
    for strategy in ("NEXT", "LAST", "MAX"):
        query = Query(f"SELECT {strategy} * WHERE A+ ; B WITHIN 200 EVENTS")
        assert query.count(table) == 5000
        last = query.run(table).to_arrow().slice(4999).to_pylist()[0]
        assert last["start"] == 9800
        assert last["A"] == list(range(9800, 10000, 2))


@pytest.mark.parametrize("where", ["A ; B+ ; C", "(A ; A ; B) ALL (A ; C)"])
def test_nothing_is_compared_in_python_for_each_answer_of_max(where: str) -> None:
    """The calls of a run are those of its batches and pieces: their number hardly grows with the answers."""
    query = Query(f"SELECT MAX * WHERE {where} WITHIN 12 EVENTS")

    def work(events: int) -> int:
        table = pa.table({"type": list("ABBBC" * (events // 5))})
        assert query.count(table) > events // 5
        return calls(lambda: query.run(table).to_arrow())

    work(100)
    assert work(1600) < work(200) + 1600 * 2


@pytest.mark.parametrize(
    ("strategy", "x"), [("MAX", range(400)), ("MAX", [place % 7 for place in range(400)])]
)
def test_several_threads_choose(strategy: str, x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each end runs the events before it again, each end is work of its own."""
    shared = Counter[str]()
    before = Workers.map

    def noting(self: Workers, phase: str, function: Any, items: Any, events: int = 0) -> list[Any]:
        work = list(items)
        shared[phase] = max(shared[phase], len(work))
        return before(self, phase, function, work, events)

    monkeypatch.setattr(Workers, "map", noting)
    monkeypatch.setattr(strategies, "SPAN_EVENTS", 200)
    table = pa.table({"type": list("AB") * 200, "x": list(x)})
    found = Query(f"SELECT {strategy} * WHERE A+ ; B WITHIN 5 [x]").run(table).to_arrow()
    assert len(found) == 200
    assert shared["choosing"] > 3
