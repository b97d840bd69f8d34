"""Rules of different event types, listed over a window, against the reference and against the structure."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from engine_oracle import cuts, pieces
from generate import stream_to_table
from random_rules import random_rule, random_rule_events
from test_joins_listed import cut_small, forms, windowed  # noqa: F401

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.homomorphisms import answers

pytestmark = pytest.mark.filterwarnings("ignore")


def apart(rule: tree.Rule) -> bool:
    """Whether no two atoms of a rule are of one type, so that no event fills both."""
    names = [atom.type.name for atom in rule.atoms]
    return len(set(names)) == len(names) > 1


@pytest.mark.draws("block", 3)
def test_random_rules_are_listed_as_the_reference_does(
    block: int,
    forms: dict[str, int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = Random(f"rules {block}")
    total = 0
    for _ in range(60):
        cut_small(monkeypatch, rng)
        rule = random_rule(rng)
        while not apart(rule):
            rule = random_rule(rng)
        rule = tree.Rule(rule.name, rule.head, rule.atoms, rule.comparisons, window=windowed(rng))
        events = random_rule_events(rng, rule, rng.randrange(4, 30))
        wanted = list(answers(rule, events, order="ts"))
        table, query = stream_to_table(events), Query(to_text(rule))
        run = query.run(table, order_by="ts")
        assert [answer.positions for answer in run] == wanted
        limit = rng.randrange(1, 6)
        limited = query.run(table, order_by="ts", limit=limit)
        assert [answer.positions for answer in limited] == wanted[:limit]
        parts = pieces(table, cuts(rng, len(events)))
        reader = pa.Table.from_batches([batch for part in parts for batch in part.to_batches()], table.schema)
        again = query.run(reader.to_reader(), order_by="ts")
        assert [answer.positions for answer in again] == wanted
        total += len(wanted)
    assert total > 200
    assert forms["groups"] > 40


def streamed(seed: int, count: int, types: str, keys: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, many, count) for name, many in (("x", keys), ("y", 3), ("z", 2))}
    null = {name: pa.array(values, mask=rng.random(count) < 0.05) for name, values in columns.items()}
    return pa.table(
        {"type": pa.array(rng.choice(list(types), count)).dictionary_encode(), **null, "t": np.arange(count)}
    )


TEXTS = [
    "Q(x) <- A(x = x), B(x = x) WITHIN 40 EVENTS",
    "Q(x) <- A(x = x), B(x = x), C(x = x) WITHIN 60 EVENTS",
    "Q(x, y) <- A(x = x), B(x = x, y = y), C(x = x, y = y) WITHIN 120 EVENTS",
    "Q(x, y) <- C(x = x, y = y), A(x = x), B(x = x, y = y) WITHIN 60 [t]",
    "Q(x) <- A(x = x), B(x = x), C(x = x), D(x = x) WITHIN 60 EVENTS",
    "Q(x, y, z) <- A(x = x), B(x = x, y = y), C(x = x, y = y, z = z), D(x = x, y = y, z = z) "
    "WITHIN 200 EVENTS",
    "Q(x, y, z) <- A(x = x, y = y), B(x = x, y = y), C(x = x, z = z), D(x = x, z = z) WITHIN 150 EVENTS",
    "Q(x) <- A(x = x), B(x = x), C(x = x), D(x = x), E(x = x) WITHIN 60 EVENTS",
    "Q(x) <- A(x = x, y = 1), A(x = x, y = 2), B(x = x) WITHIN 60 EVENTS",
    "Q(x) <- A(x = x, y = x), B(x = x), C(y = x, z = x) WITHIN 200 EVENTS",
    "Q(x, y) <- A(x = x, y = y), B(x = x, y = y) WITHIN 300 EVENTS",
    "Q(x; COUNT(*)) <- A(x = x), B(x = x), C(x = x) WITHIN 60 EVENTS",
]


@pytest.mark.parametrize("text", TEXTS)
def test_groups_and_the_structure_give_the_same_answers(
    text: str,
    forms: dict[str, int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = cer.compile(text)
    options: dict[str, Any] = {"order_by": "t"} if "[t]" in text else {}
    for cores, chunk in ((1, 1 << 20), (3, 700)):
        monkeypatch.setattr("cer_gpu.engine.workers.usable_cores", lambda cores=cores: cores)
        monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", chunk)
        monkeypatch.setattr("cer_gpu.engine.run.bound_query.CARRIED_BATCH", 500)
        monkeypatch.setattr("cer_gpu.engine.machines.chunk.SEGMENT", 90)
        monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.BUCKET", 50)
        events = streamed(cores, 4000, "ABCDE", 8)
        own = query.run(events, **options).to_arrow()
        some = query.run(events, **options, limit=23).to_arrow()
        assert forms["groups"] > 0
        assert not forms["structure"]
        assert query.run(events, **options, memory=1 << 28).to_arrow() == own  # from the structure
        assert len(own) > 5
        assert some == own.slice(0, 23)


@pytest.mark.parametrize("contradiction", ["x > 1, x = 0", "x = 1, x = 2", "x < 0, x > 0"])
@pytest.mark.parametrize("atoms", ["A(y = x), B(x = x)", "A(x = x, y = 1), B(x = x), C(z = x)"])
def test_a_rule_whose_conditions_contradict_each_other_has_no_answers(atoms: str, contradiction: str) -> None:
    query = cer.compile(f"Q(x) <- {atoms}, {contradiction} WITHIN 60 EVENTS")
    events = streamed(2, 500, "ABC", 8)
    assert len(query.run(events).to_arrow()) == len(query.hits(events)) == query.count(events) == 0


def test_pairs_that_never_agree_are_left_to_the_structure() -> None:
    """No pair of B and C agrees, and each would be looked at from each."""
    query = cer.compile("Q(x, y) <- A(x = x), B(x = x, y = y), C(x = x, y = y) WITHIN 4000 EVENTS")
    for count in (10, 1500):
        types = ["A", *["B", "C"] * count, "B"]
        table = pa.table({"type": types, "x": [1] * len(types), "y": [0, *[1, 2] * count, 2]})
        found = query.run(table).to_arrow()
        assert found["positions"].to_pylist() == [[0, 2 * count + 1, 2 * n + 2] for n in range(count)]


def test_more_answers_than_are_held_at_once_come_from_the_structure(
    forms: dict[str, int],  # noqa: F811
) -> None:
    query = cer.compile("Q(x) <- A(x = x), B(x = x), C(x = x) WITHIN 4000 EVENTS")
    types = [*"A" * 40, *"B" * 40, *"C" * 40]
    found = query.run(pa.table({"type": types, "x": [1] * 120})).to_arrow()
    wanted = [[a, b, c] for c in range(80, 120) for a in range(40) for b in range(40, 80)]
    assert found["positions"].to_pylist() == wanted
    assert forms["structure"] == 1
    assert not forms["groups"]
