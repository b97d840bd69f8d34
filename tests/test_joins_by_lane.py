"""Rules listed from the events of each lane: kernels against plain Python, runs against the reference."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.joins import cpu_lanes as kernel
from cer_gpu.kernels.joins.contract import (
    ATOM_BITS,
    COMPARED,
    EVENT_AT,
    TAG,
    LaneAtoms,
)
from cer_gpu.kernels.windows.contract import comparable
from engine_oracle import cuts, pieces
from generate import stream_to_table
from random_rules import random_rule, random_rule_events
from test_joins_listed import windowed

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.listed_joins import ListedJoinRunner
from cer_gpu.enumeration import expanded_lanes as module
from cer_gpu.enumeration.expanded_lanes import LaneAnswers, LaneRows
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.homomorphisms import answers

pytestmark = pytest.mark.filterwarnings("ignore")

ANY_LANE = np.iinfo(np.int32).max


@pytest.mark.parametrize("most", [3, 5000, ANY_LANE])
@pytest.mark.parametrize("bucket", [4, 1 << 14])
def test_rows_lie_by_lane_in_the_order_of_the_stream(
    most: int, bucket: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUCKET", bucket)
    rng = np.random.default_rng((most, bucket))
    for n in (0, 1, 2, 50, 3000):
        symbols = rng.integers(0, 4, n).astype(np.uint8)
        lanes = rng.choice(rng.integers(0, most, 20, endpoint=True), n).astype(np.int32)
        slots = rng.integers(-1, 5, (3, n)).astype(np.int32)
        times = np.sort(rng.integers(0, n + 1, n))
        tables = LaneAtoms(
            np.array([-1, 1, 0, 1], np.int32),
            np.array([[2, 0], [1, -1]], np.int32),
            np.zeros((2, 2), np.int32),
        )
        size = max(n // 4, 1)
        made = LaneRows.of(
            tables,
            symbols,
            lanes,
            slots,
            comparable(times, size),
            2,
            lambda sort, some: list(map(sort, some)),
        )
        kept = [i for i in range(n) if symbols[i]]
        mask = min(1 << max((n // bucket).bit_length() - 1, 0), 1 << module.MOST) - 1
        wanted = sorted(kept, key=lambda i: (lanes[i] & mask, lanes[i], i))
        rows = made.rows[: len(kept)]
        assert rows[:, EVENT_AT].tolist() == wanted
        rank = dict(zip(wanted, range(len(wanted)), strict=True))
        for i in range(n):
            inside = [j for j in range(i + 1) if times[i] - times[j] <= size]
            assert made.least[i] == inside[0]
            own = [j for j in inside if symbols[j] and lanes[j] == lanes[i]]
            atom = tables.atom[symbols[i]]
            ends = atom >= 0 and {int(tables.atom[symbols[j]]) for j in own} == {0, 1}
            assert made.rank[i] == (rank[i] if ends else -1)
            if atom >= 0:
                row = rows[rank[i]]
                assert row[TAG] == atom | len(own) - 1 << ATOM_BITS
                expected = [slots[c, i] if c >= 0 else -1 for c in tables.column[atom]]
                assert row[COMPARED:].tolist() == expected


# ------------------------------------------------------------------------------------------------- runs


@pytest.fixture
def forms(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many chunks were listed lane by lane, and how many otherwise."""
    counted = {"lanes": 0, "others": 0}
    original: Callable[..., Any] = ListedJoinRunner.answers

    def noted(self: ListedJoinRunner, chunk: Chunk, ends: Ends) -> Answers:
        answered = original(self, chunk, ends)
        counted["lanes" if isinstance(answered, LaneAnswers) else "others"] += 1
        return answered

    monkeypatch.setattr(ListedJoinRunner, "answers", noted)
    return counted


def cut_small(monkeypatch: pytest.MonkeyPatch, rng: Random) -> None:
    """Chunks of a few events, in parts and buckets of a few for several threads; little room at first."""
    monkeypatch.setattr(module, "BUCKET", rng.choice((1, 2, 4, 1 << 14)))
    monkeypatch.setattr(module, "MOST", rng.choice((1, 8)))
    monkeypatch.setattr(module, "SOME", rng.choice((1, 64)))
    monkeypatch.setattr(module, "ROWS_OF_EVENT", rng.choice((0, 2)))
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", rng.choice((3, 7, 1 << 20)))
    monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.SEGMENT", rng.choice((1, 2, 1 << 16)))
    monkeypatch.setattr("cer_gpu.engine.workers.usable_cores", lambda: rng.choice((1, 3)))


def apart(rule: tree.Rule) -> bool:
    """Whether no two atoms of a rule are of one type, so that no event fills both."""
    names = [atom.type.name for atom in rule.atoms]
    return len(set(names)) == len(names) > 1


@pytest.mark.draws("block", 3)
def test_random_rules_are_listed_as_the_reference_does(
    block: int, forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"by lane {block}")
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
    assert forms["lanes"] > 40


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
def test_every_form_gives_the_same_answers(
    text: str, forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = cer.compile(text)
    options: dict[str, Any] = {"order_by": "t"} if "[t]" in text else {}
    for cores, chunk in ((1, 1 << 20), (3, 700)):
        monkeypatch.setattr("cer_gpu.engine.workers.usable_cores", lambda cores=cores: cores)
        monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", chunk)
        monkeypatch.setattr("cer_gpu.engine.run.bound_query.CARRIED_BATCH", 500)
        monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.SEGMENT", 90)
        monkeypatch.setattr(module, "BUCKET", 50)
        events = streamed(cores, 4000, "ABCDE", 8)
        run = query.run(events, **options)
        own = run.to_arrow()
        some = query.run(events, **options, limit=23).to_arrow()
        assert forms["lanes"] > 0
        assert not forms["others"]
        with monkeypatch.context() as patch:
            patch.setattr(ListedJoinRunner, "_of_lanes", lambda *_: None)
            assert query.run(events, **options).to_arrow() == own
        assert forms["others"] > 0
        assert len(own) > 5
        assert some == own.slice(0, 23)
        forms.update(lanes=0, others=0)


@pytest.mark.parametrize("contradiction", ["x > 1, x = 0", "x = 1, x = 2", "x < 0, x > 0"])
@pytest.mark.parametrize("atoms", ["A(y = x), B(x = x)", "A(x = x, y = 1), B(x = x), C(z = x)"])
def test_a_rule_whose_conditions_contradict_each_other_has_no_answers(atoms: str, contradiction: str) -> None:
    query = cer.compile(f"Q(x) <- {atoms}, {contradiction} WITHIN 60 EVENTS")
    events = streamed(2, 500, "ABC", 8)
    assert len(query.run(events).to_arrow()) == len(query.hits(events)) == query.count(events) == 0


def test_rows_looked_at_in_vain_are_left_to_the_lists_of_runs(forms: dict[str, int]) -> None:
    """No pair of B and C agrees, and each would be looked at from each."""
    query = cer.compile("Q(x, y) <- A(x = x), B(x = x, y = y), C(x = x, y = y) WITHIN 4000 EVENTS")
    for count, form in ((10, "lanes"), (1500, "others")):
        types = ["A", *["B", "C"] * count, "B"]
        table = pa.table({"type": types, "x": [1] * len(types), "y": [0, *[1, 2] * count, 2]})
        found = query.run(table).to_arrow()
        assert found["positions"].to_pylist() == [[0, 2 * count + 1, 2 * n + 2] for n in range(count)]
        assert forms == {"lanes": 0, "others": 0, form: 1}
        forms.update(lanes=0, others=0)


def test_more_answers_than_are_held_at_once_come_from_another_form(forms: dict[str, int]) -> None:
    query = cer.compile("Q(x) <- A(x = x), B(x = x), C(x = x) WITHIN 4000 EVENTS")
    types = [*"A" * 40, *"B" * 40, *"C" * 40]
    found = query.run(pa.table({"type": types, "x": [1] * 120})).to_arrow()
    wanted = [[a, b, c] for c in range(80, 120) for a in range(40) for b in range(40, 80)]
    assert found["positions"].to_pylist() == wanted
    assert forms == {"lanes": 0, "others": 1}


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("Q(x) <- A(x = x), B(x = x), C(x = x) WITHIN 9 EVENTS", True),
        ("Q(x) <- A(x = x), A(x = x), C(x = x) WITHIN 9 EVENTS", False),
        ("Q(x) <- A(x = x, y = 1), A(x = x, y = 2) WITHIN 9 EVENTS", True),
        ("Q(x, y) <- A(x = x), B(y = y) WITHIN 9 EVENTS", False),
        ("Q(x) <- A(x = x) WITHIN 9 EVENTS", False),
        ("SELECT * WHERE A AS a ; B AS b FILTER a.x = b.x WITHIN 9 EVENTS", False),
    ],
)
def test_only_rules_with_a_common_key_and_atoms_apart_are_listed_by_lane(text: str, there: bool) -> None:
    lines = cer.compile(text).explain()
    assert ("from the events of each key, sorted" in lines) == there


def test_a_window_wider_than_a_tag_can_say_is_left_to_another_form(
    forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = LaneRows.of

    def widest(*given: Any) -> LaneRows:
        made = original(*given)
        made.rows[:, TAG] |= kernel.MOST_ROWS << ATOM_BITS
        return made

    monkeypatch.setattr(LaneRows, "of", widest)
    events = streamed(5, 300, "ABC", 3)
    found = cer.compile(TEXTS[0]).run(events).to_arrow()
    assert not forms["lanes"]
    monkeypatch.setattr(LaneRows, "of", original)
    assert cer.compile(TEXTS[0]).run(events).to_arrow() == found
    assert forms["lanes"]
