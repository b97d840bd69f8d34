"""Snapshots between pushes change nothing, whichever engine runs, however often they are taken."""

from __future__ import annotations

import warnings
from functools import partial
from random import Random

import pyarrow as pa
import pytest
from engine_oracle import OPTIONS, expected, pieces, pushed
from fuzz import KINDS, query_of, sizes
from generate import stream, stream_to_table
from random_one_clock import one_clock_query
from random_ordered import random_ordered
from random_rules import random_join, random_rule, random_rule_events
from random_steps import keyed_query, session_query
from snapshots import stored

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.homomorphisms import answers

PATTERNS = {
    **{kind: partial(query_of, kind=kind) for kind in KINDS},
    "keyed steps": keyed_query,
    "sessions": session_query,
    "one clock": one_clock_query,
    "ordered": random_ordered,
}
RULES = {"rules": random_rule, "joins": random_join}
OFTEN = 0.4


def single_events(table: pa.Table) -> list[pa.Table]:
    return pieces(table, range(1, len(table)))


@pytest.mark.parametrize("kind", PATTERNS)
def test_patterns_after_each_event(kind: str) -> None:
    asked = 0
    for seed in range(6):
        rng = Random(f"snapshots {kind} {seed}")
        query: tree.SelectQuery = PATTERNS[kind](rng)
        events = stream(rng, rng.randrange(5, 11))
        with warnings.catch_warnings(), sizes(seed % 2 == 1):
            warnings.simplefilter("ignore")
            try:
                compiled = Query(to_text(query))
                wanted = sorted(expected(query, events))
                taken = [name for name, refusal in compiled._plan.said if refusal is None]
            except QueryError:
                continue
            for engine in taken:
                print(f"seed {kind} {seed}, {engine}: {to_text(query)}")
                try:
                    told = pushed(compiled, single_events(stream_to_table(events)), rng, engine, OFTEN)
                except LimitError:
                    continue
                assert sorted(told) == wanted
                asked += 1
    assert asked > 3


@pytest.mark.parametrize("kind", RULES)
def test_rules_after_each_event(kind: str) -> None:
    for seed in range(12):
        rng = Random(f"snapshots {kind} {seed}")
        rule = RULES[kind](rng)
        events = random_rule_events(rng, rule, rng.randrange(4, 14))
        compiled = Query(to_text(rule))
        print(f"seed {kind} {seed}: {to_text(rule)}")
        opened, rows = compiled.stream(**OPTIONS), []
        for part in single_events(stream_to_table(events)):
            rows += [one.positions for one in opened.push(part)]
            opened = stored(opened, partial(compiled.stream, **OPTIONS), rng, OFTEN)
        assert rows == list(answers(rule, events, order="ts"))


def test_snapshots_in_a_row_of_timed_steps() -> None:
    """The latest start of a run that the first snapshot drops is no event for the second one."""
    query = cer.compile("SELECT * WHERE A ; B ; A ;[<= 3] B WITHIN 7 EVENTS")
    table = pa.table({"type": list("ABCACABAACB"), "ts": range(11)})
    opened, told = query.stream(order_by="ts"), []
    for at in range(len(table)):
        told += [(one.start, one.end) for one in opened.push(table.slice(at, 1))]
        if at in (8, 9):
            opened.snapshot()
    assert told == [(one.start, one.end) for one in query.run(table, order_by="ts")]
    assert told[-4:] == [(3, 10), (3, 10), (5, 10), (5, 10)]
