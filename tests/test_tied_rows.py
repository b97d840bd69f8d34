"""Which queries give other answers if rows whose times tie change places, and which do not."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.spark.ties import tied_in
from generate import condition, stream, stream_to_table
from spark_tasks import ROW, numbered

import cer_gpu as cer
from cer_gpu.errors import CerError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.language.scope import variables
from cer_gpu.logic.tied_rows import depends_on_ties

INDIFFERENT = [
    "SELECT * WHERE A",
    "SELECT * WHERE A AS a FILTER a[price > 3] PARTITION BY k WITHIN 5 s",
    "SELECT * WHERE A OR NOT (B)",
    "SELECT a[price] WHERE A AS a ;[> 0 s] B WITHIN 5 [x]",
    "SELECT *, SUM(a.price) AS s WHERE (A AS a)+[>= 1 s] ;[> 0 s] B",
    "SELECT * WHERE A NOT FOLLOWED BY [>= 1 s, <= 5 s] B",
    "SELECT * WHERE A PRECEDED BY [> 0 s] (B AS b OR C AS b FILTER b[price > 3])",
    "SELECT * WHERE A ;[>= 1 s] B ? ;[>= 1 s] C",
]

DEPENDENT = [
    "SELECT * WHERE A ; B",
    "SELECT * WHERE A : B",
    "SELECT * WHERE A ;[<= 5 s] B",
    "SELECT * WHERE A ;[>= 0 s] B",
    "SELECT * WHERE A ;[>= $g] B",
    "SELECT * WHERE A+",
    "SELECT * WHERE A AS a FILTER a[price > PREV(price)]",
    "SELECT * WHERE A WITHIN 5 EVENTS",
    "SELECT NEXT * WHERE A ;[> 0 s] B",
    "SELECT LAST * WHERE A ;[> 0 s] B",
    "SELECT STRICT * WHERE A ;[> 0 s] B",
    "SELECT * WHERE A ;[> 0 s] B CONSUME BY ANY",
    "SELECT * WHERE A ;[> 0 s] B LIMIT 1",
    "SELECT * WHERE A ALL B",
    "SELECT * WHERE (A ;[> 0 s] B) UNLESS C",
    "SELECT * WHERE A NOT FOLLOWED BY [<= 5 s] B",
    "SELECT * WHERE A FOLLOWED BY [>= 1 EVENTS] B",
    "SELECT * WHERE A FOLLOWED BY [> 0 s] (B ;[> 0 s] C)",  # the B may be of the time of the A
    "SELECT * WHERE A PRECEDED BY [> 0 s] (B ;[> 0 s] C)",
    "SELECT * WHERE A :[> 0 s] B",
    "Q(x) <- A(k = x), B(k = x) WITHIN 5 EVENTS",
]


@pytest.mark.parametrize("text", INDIFFERENT)
def test_a_query_whose_events_have_different_times_is_indifferent(text: str) -> None:
    assert not depends_on_ties(parse(text), ends=True)


@pytest.mark.parametrize("text", DEPENDENT)
def test_whatever_looks_at_the_order_of_rows_depends_on_ties(text: str) -> None:
    assert depends_on_ties(parse(text), ends=False)


def test_of_a_rule_only_the_latest_event_depends_on_ties() -> None:
    rule = parse("Q(x) <- A(k = x), B(k = x), A(k = y), x < y WITHIN 5 s")
    assert not depends_on_ties(rule, ends=False)
    assert depends_on_ties(rule, ends=True)


def drawn(rng: Random, atoms: int) -> t.Pattern:
    """A pattern of sequences and iterations, most of them with a positive gap."""
    if atoms == 1:
        return t.As(t.EventType(rng.choice("ABC")), rng.choice("xyz"))
    left = rng.randrange(1, atoms)
    one, other = drawn(rng, left), drawn(rng, atoms - left)
    low = t.Bound(rng.choice((0, 0, 1, 2)), "s", open=rng.random() < 0.5)
    gap = t.Interval(low, None if rng.random() < 0.5 else t.Bound(5, "s"))
    made: t.Pattern
    match rng.randrange(7):
        case 0:
            made = t.Or(one, other)
        case 1:
            made = t.And(one, other)
        case 2:
            made = t.Sequence(t.Iteration(one, gap=gap, times=t.Times(1, 3)), other, gap=gap)
        case 3:
            made = t.Beside(one, other, rng.random() < 0.5, rng.random() < 0.5, gap)
        case 4:
            made = t.Unless(one, other)
        case _:
            made = t.Sequence(one, other, gap=gap if rng.random() < 0.9 else None)
    names = sorted(variables(made) - {"A", "B", "C"})
    if names and rng.random() < 0.4:
        return t.Filter(made, condition(rng, names))
    return made


def told(query: cer.Query, table: pa.Table) -> list[str]:
    found = query.run(table, order_by="ts", event_id=ROW).to_arrow().to_pylist()
    return sorted(repr(sorted(row.items())) for row in found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.draws("seed", 8)
def test_an_indifferent_query_gives_the_same_in_any_order_of_ties(seed: int) -> None:
    rng, tried, differed = Random(seed), 0, 0
    while tried < 40:
        made = t.SelectQuery(drawn(rng, rng.randrange(2, 5)))
        try:
            query = cer.compile(to_text(made))
        except CerError:
            continue
        depends = depends_on_ties(query.tree, ends=True)
        n = rng.randrange(8, 24)
        table = numbered(stream_to_table(stream(rng, n, types="ABC", times_tie=0.5)))
        ts = table.column("ts").to_pylist()
        order = sorted(range(n), key=lambda row: (ts[row], rng.random()))
        found, moved = told(query, table), told(query, table.take(order))
        if depends:
            differed += found != moved
        else:
            tried += 1
            assert found == moved, to_text(made)
    assert differed  # the test can see that order makes a difference


@pytest.mark.draws("seed", 20)
def test_tied_rows_are_counted_as_by_comparing_all_of_them(seed: int) -> None:
    rng = Random(seed)
    n = rng.randrange(1, 25)
    rows = [
        {
            "k": rng.choice("ab"),
            "ts": rng.randrange(3),
            "tie": rng.choice((0, 1, None)),
            "v": rng.choice((1.5, float("nan"), None)),
            "s": rng.choice(("p", "q", None)),
        }
        for _ in range(n)
    ]
    rows.sort(key=repr)  # by k, ts, tie, v, s: those that are alike stand together
    batch = pa.RecordBatch.from_pylist(rows)
    same = np.array([at > 0 and all(rows[at][c] == rows[at - 1][c] for c in ("k", "ts")) for at in range(n)])
    named = rng.random() < 0.5
    order = ("ts", "tie") if named else ("ts",)
    others = ("k", "v", "s") if named else ("k", "tie", "v", "s")
    place = ("k", *order)
    wanted = [
        at
        for at, row in enumerate(rows)
        if any(all(row[c] == other[c] for c in place) and repr(row) != repr(other) for other in rows)
    ]
    assert tied_in(batch, same, order, others).tolist() == wanted
