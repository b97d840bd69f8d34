"""`engine="general"` takes every query: its answers are those of the reference and of any other machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import fuzz
import pyarrow as pa
import pytest
from engine_oracle import OPTIONS, check
from generate import stream, unary_query, with_keys
from random_besides import with_besides
from random_correlated import random_correlated, random_scopes
from random_one_clock import one_clock_query
from random_ordered import random_neighbours, random_ordered
from random_repetitions import repeated
from random_rules import random_join, random_rule, random_rule_events
from random_steps import keyed_query, session_query, timed_query
from snapshots import stored
from test_engine_rules import check as check_rule
from test_engine_selection import bounded_query, falling_query

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text

GENERAL: dict[str, Any] = {"order_by": "ts", "engine": "general"}


def looking(rng: Random) -> tree.SelectQuery:
    """A regular query that asks for what follows or precedes."""
    query = unary_query(rng, atoms=3)
    return replace(query, pattern=with_besides(rng, query.pattern), streams=())


KINDS: dict[str, Callable[[Random], tree.SelectQuery]] = {
    "plain": unary_query,
    "quantified": lambda rng: repeated(rng, unary_query(rng)),
    "operators": fuzz.operators,
    "selected": bounded_query,
    "falling": falling_query,
    "looking": looking,
    "values": fuzz.values,
    "joined": random_correlated,
    "scopes": random_scopes,
    "ordered": random_ordered,
    "neighbours": random_neighbours,
    "steps": timed_query,
    "keyed": keyed_query,
    "sessions": session_query,
    "one clock": one_clock_query,
}
"""What draws the queries that other machines take."""


@pytest.mark.crossed
@pytest.mark.parametrize("tiny", [False, True], ids=["whole", "tiny"])
@pytest.mark.parametrize("kind", KINDS)
def test_random_queries(kind: str, tiny: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listed, counted, as hits, in batches and pushed to a stream: what the reference semantics says."""
    monkeypatch.setitem(OPTIONS, "engine", "general")
    answered, elsewhere, seed = 0, 0, 0
    while seed < 6 or (answered < 3 and seed < 80):
        seed += 1
        rng = Random(f"any {kind} {tiny} {seed}")
        query = KINDS[kind](rng)
        events = stream(rng, rng.randrange(4, 12), lap_falls=rng.random() < 0.3)
        if rng.random() < 0.3:
            events = with_keys(rng, events)
        with fuzz.sizes(tiny), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compiled = Query(to_text(query))
            except LimitError:  # of an automaton: the query does not compile
                continue
            print(f"seed {seed}: {to_text(query)}")
            elsewhere += compiled._plan.engine != "general"
            answered += check(query, events, rng) > 0
    assert answered >= 3
    assert elsewhere >= 3


@pytest.mark.parametrize("tiny", [False, True], ids=["whole", "tiny"])
@pytest.mark.parametrize("draw", [random_rule, random_join])
def test_random_rules(draw: Callable[[Random], tree.Rule], tiny: bool) -> None:
    """As a pattern of their atoms: bag semantics, self-joins, comparisons, windows."""
    answers = 0
    for seed in range(20):
        rng = Random(f"any rule {draw.__name__} {tiny} {seed}")
        rule = draw(rng)
        events = random_rule_events(rng, rule, rng.randrange(2, 12))
        with fuzz.sizes(tiny), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(f"seed {seed}: {to_text(rule)}")
            answers += check_rule(rule, events, rng, "general")
    assert answers > 20


RULES = [
    "Q(x) <- A(v = x), B(v = x), C(k = y) WITHIN 12 EVENTS",
    "Q(x, z) <- A(v = x, k = z), A(v = y, k = z), B(k = z), x < y WITHIN 8 SECONDS",
    "Q(x; COUNT(*), SUM(y)) <- A(k = x, v = y), B(k = x), C(k = x, s = 'y') WITHIN 30 EVENTS",
    "Q(x) <- A(v = x), A(v = x) WITHIN 4 [v]",
    "Q(x) <- A(v = x, k = x), B(v = 3) WITHIN 20 EVENTS",
]


@pytest.mark.parametrize("text", RULES)
def test_rules_on_longer_streams(text: str) -> None:
    query, table = cer.compile(text), events(120, text)
    chosen = query._plan.engine
    assert chosen in ("rule", "join")
    wanted = query.run(table, order_by="ts")
    found = query.run(table, **GENERAL)
    assert found.to_arrow() == wanted.to_arrow()
    assert len(found.to_arrow()) > 2
    assert query.count(table, **GENERAL) == query.count(table, order_by="ts")
    assert query.counts(table, **GENERAL) == query.counts(table, order_by="ts")
    assert query.hits(table, **GENERAL) == query.hits(table, order_by="ts")
    assert query.run(table, limit=4, **GENERAL).to_arrow() == wanted.to_arrow().slice(0, 4)
    if "COUNT" not in text:
        assert found.events() == wanted.events()
        assert (
            query.run(table, **GENERAL).flat_batches().read_all()
            == query.run(table, order_by="ts").flat_batches().read_all()
        )
        given = pushed(query, table, Random(text), GENERAL)
        assert given == wanted.to_arrow().to_pylist()


TEXTS = [
    "A ; B ; C WITHIN 9 EVENTS",
    "A : B OR C : A WITHIN 9 EVENTS",
    "A AS a ; B AS b FILTER a[v > 2] AND b[s LIKE 'y'] WITHIN 4 SECONDS",
    "(A AS x : (B AS y :{1,2}))  PARTITION BY k WITHIN 6 EVENTS",
    "A AS x {2,3} ; NOT (C) ; B ? ; C PARTITION BY k WITHIN 6 SECONDS",
    "(A ; (B OR C)+ ; A) UNLESS (C ; C) PARTITION BY k WITHIN 8 EVENTS",
    "(A ; B) ALL (C ; A) PARTITION BY k WITHIN 6 EVENTS",
    "(A ; B+ ; C) AND (A ; B ; B+ ; C) WITHIN 10 EVENTS",
    "A ; NXT(B+ ; C) WITHIN 7 EVENTS",
    "A ; B WITHIN 3 [v]",
    "A ; B PARTITION BY [k], [s] CONSUME BY PARTITION",
    "A ; B+ ; C WITHIN 12 EVENTS CONSUME BY ANY",
    "A ; B ; C WITHIN 20 EVENTS LIMIT 3",
    "(A ; B FOLLOWED BY [<= 2 s] C) NOT PRECEDED BY [<= 1 s] A PARTITION BY k WITHIN 9 EVENTS",
    "A AS a ; B AS b ; C AS c FILTER a.k = b.k AND b.k = c.k WITHIN 20 EVENTS",
    "A AS a ; B AS b ; C AS c FILTER a.k = b.k AND b.s = c.s WITHIN 12 EVENTS",
]
"""Patterns whose filters speak of one event, in which some events are neighbours, or equal."""

SELECTS = ("*", "NONE", "ANY *", "NEXT *", "LAST *", "MAX *", "STRICT *")


def events(rows: int, seed: str) -> pa.Table:
    """Events of three types, more than the reference can answer."""
    rng, now = Random(seed), 0
    kinds, times = [], []
    for _ in range(rows):
        now += rng.choice((0, 100, 250, 500))
        kinds.append(rng.choice("ABC"))
        times.append(now)
    return pa.table(
        {
            "type": kinds,
            "v": [rng.randrange(6) for _ in range(rows)],
            "k": [rng.randrange(4) for _ in range(rows)],
            "s": [rng.choice(("x", "y", None)) for _ in range(rows)],
            "ts": pa.array(times, pa.timestamp("ms")),
        }
    )


@pytest.mark.parametrize("text", TEXTS)
def test_longer_streams(text: str) -> None:
    """Of a few hundred events the other machine, under every strategy, says the same of each product."""
    rng, table = Random(text), events(150, text)
    slow = any(word in text for word in ("CONSUME", "ALL", "[v]", "b.s", "UNLESS", "AND (A"))
    answers, strategies = 0, SELECTS[:1] if slow else SELECTS
    assert cer.compile(f"SELECT * WHERE {text}")._plan.engine in ("regular", "chain")
    for select in strategies:
        if select == "STRICT *" and "NOT (" in text:
            continue  # no match is possible
        query = cer.compile(f"SELECT {select} WHERE {text}")
        options = {"order_by": "ts"}
        wanted = query.run(table, **options).to_arrow()
        assert query.run(table, **GENERAL).to_arrow() == wanted
        assert query.count(table, **GENERAL) == len(wanted) == query.count(table, **options)
        assert query.counts(table, **GENERAL) == query.counts(table, **options)
        assert query.hits(table, **GENERAL) == query.hits(table, **options)
        read = query.run(table.to_reader(max_chunksize=37), **GENERAL).to_arrow()
        assert read == wanted
        given = pushed(query, table, rng, GENERAL)
        ours = pushed(query, table, rng, options)
        assert sorted(given, key=repr) == sorted(ours, key=repr) == sorted(wanted.to_pylist(), key=repr)
        answers += len(wanted)
    assert answers > 10


def pushed(query: cer.Query, table: pa.Table, rng: Random, options: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a stream that is stored and continued now and then, and of its end."""
    opened, rows, at = query.stream(**options), [], 0
    while at < len(table):
        size = rng.choice((1, 9, 60))
        rows += opened.push(table.slice(at, size)).to_arrow().to_pylist()
        at += size
        opened = stored(opened, lambda state: query.stream(state=state, **options), rng)
    last = opened.close()
    return rows if last is None else rows + last.to_arrow().to_pylist()


def test_a_backtest_runs_on_it() -> None:
    queries = {f"query {number}": f"SELECT * WHERE {text}" for number, text in enumerate(TEXTS[:6])}
    table = events(400, "backtest")
    wanted = cer.backtest(queries, table, order_by="ts").to_arrow()
    found = cer.backtest(queries, table, **GENERAL).to_arrow()
    same = ["query", "hits", "matches"]
    assert found.select(same) == wanted.select(same)
    assert sum(found["matches"].to_pylist()) > 100


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("A ; B", "regular: every filter speaks of one event"),
        ("A ; B WITHIN 5 [v]", "regular: every filter speaks of one event"),
        (
            "A AS a ; B AS b FILTER a.v = b.v WITHIN 5 SECONDS",
            "regular: every filter speaks of one event, beside the key that all events of a match share",
        ),
        ("A AS a ; B AS b ; C AS c FILTER a.v = b.v AND b.k = c.k", "compared: `"),
        ("A ;[<= 5 s] B ; C", "timed: "),
        ("Q(x) <- A(v = x), B(v = x)", "a rule, as a pattern with one event for each atom, in any order"),
    ],
)
def test_explain_says_what_it_runs(text: str, kind: str) -> None:
    text = text if "<-" in text else f"SELECT * WHERE {text}"
    told = cer.compile(text).explain(engine="general", verbose=True)
    head, routes = told.split("routes", 1)
    assert head.startswith(f"class       {kind}")
    assert "engine      configurations: partial matches" in head
    assert routes.split()[:7] == ["general:", "takes", "it,", "and", "runs", "it", "regular:"]
    assert "clocks" not in told or "[v]" in text or "SECONDS" in text or ";[" in text
    told = cer.compile(text).explain(verbose=True)
    assert "general: takes it\n" in told or told.endswith("general: takes it")
    assert told.count("takes it, and runs ") in (1, 2)


def test_a_plain_pattern_is_drawn() -> None:
    drawn = cer.compile("SELECT * WHERE A ; B").explain(format="mermaid", engine="general")
    assert "A" in drawn
    assert "B" in drawn


def test_nothing_is_made_for_it_where_another_machine_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A route that takes every query costs nothing where it is not the one that runs it."""
    made: list[object] = []
    monkeypatch.setattr("cer_gpu.plan.lower.general.formula_of", made.append)
    query = cer.compile("SELECT * WHERE A ; B WITHIN 5 EVENTS")
    assert query.count(events(30, "few"), order_by="ts") > 0
    assert not made


def test_too_many_shapes_of_a_plain_pattern_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.automata.configurations.shapes.SHAPES", 12)
    query = cer.compile(f"SELECT * WHERE {' ; '.join('ABC' * 5)}")
    with pytest.raises(LimitError, match="leave `engine` out, as another engine may need less"):
        query.count(events(200, "shapes"), **GENERAL)
    assert query.count(events(200, "shapes"), order_by="ts") > 0
