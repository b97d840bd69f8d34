"""Joins listed from groups: the kernel against all run trees, runs against reference and structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.joins.contract import SlottedEvents
from cer_gpu.kernels.windows.contract import comparable
from engine_oracle import OPTIONS, cuts, expected, found, pieces
from generate import stream, stream_to_table
from join_oracle import JoinCase, listed, random_join_case
from random_correlated import random_correlated
from random_rules import random_rule, random_rule_events
from test_join_kernels import collected

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.joins import JoinRunner
from cer_gpu.engine.machines.listed_joins import ListedJoinRunner
from cer_gpu.enumeration import expansion as module
from cer_gpu.enumeration.expansion import (
    ExpandedAnswers,
    ExpandedSegment,
    Expansion,
    ListedSegment,
    grouped_slots,
)
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.homomorphisms import answers

# ---------------------------------------------------------------------------------------------- the kernel


def parts_of(case: JoinCase) -> list[ExpandedSegment | None]:
    """The answers of a case, segment by segment."""
    spaces = case.tables.entry_space
    counts = np.array([3, 3], np.int64)  # as many as a random case has at most
    offset, stride, groups = grouped_slots(case.tables, counts[: max(int(spaces.max(initial=-1)) + 1, 0)])
    parts = []
    for bounds in zip(case.begin.tolist(), case.report.tolist(), case.stop.tolist(), strict=True):
        low, report, stop = bounds
        events = SlottedEvents(case.events.symbols[low:stop], case.events.slots[:, low:stop], offset, stride)
        window = comparable(case.keys[low:stop], case.size)
        expansion = Expansion(case.tables, case.label_atoms, stop - low, stop - report)
        done = expansion.add(ListedSegment(events, window, (0, report - low, stop - low), groups))
        parts.append(expansion.expanded(low) if done else None)
    return parts


def without_next(rng: Random, chains: bool) -> JoinCase:
    """A random case in which no entry asks for the event right before."""
    while True:
        case = random_join_case(rng, chains)
        if not case.tables.entry_next.any():
            return case


@pytest.mark.parametrize("chains", [False, True])
@pytest.mark.parametrize("small", [False, True])
def test_answers_are_those_of_the_run_trees(
    chains: bool, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FEW", 1 << 12)
    if small:
        monkeypatch.setattr(module, "ROWS_OF_EVENT", 0)
        monkeypatch.setattr(module, "SOME", 1)
    rng = Random(f"groups {chains} {small}")
    total = several = 0
    for _ in range(200):
        case = without_next(rng, chains)
        wanted = listed(case)
        parts = parts_of(case)
        assert all(part is not None for part in parts)
        for name, given in (("event", wanted.event), ("start", wanted.latest), ("lowest", wanted.lowest)):
            told = [getattr(part, name) + part.low for part in parts]
            assert np.concatenate([*told, given[:0]]).tolist() == given.tolist()
        if not parts:
            continue
        n = len(wanted.rows)
        chosen = np.array(sorted(rng.sample(range(n), rng.choice((n, n, n // 2)))), np.int64)
        limit, size = rng.choice((None, None, 0, 1, 3)), rng.choice((None, 1, 4))
        some = ExpandedAnswers(parts, chosen, case.label_atoms.shape[1])
        assert some.count.tolist() == [len(wanted.rows[end]) for end in chosen]
        turns = np.array(rng.sample(range(len(chosen)), len(chosen)), np.int64)
        rows = [wanted.rows[end][:limit] for end in chosen]
        assert collected(some.blocks(turns, limit, size), len(chosen)) == rows
        total += sum(map(len, rows))
        several += max(map(len, wanted.rows), default=0) > 3
    assert total > 300
    assert several > 5


# ------------------------------------------------------------------------------------- rules and chains


@pytest.fixture
def forms(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many chunks were listed in each form, and how many were dealt."""
    counted = {"groups": 0, "structure": 0, "dealt": 0}
    original: Callable[..., Any] = ListedJoinRunner.answers
    dealt: Callable[..., Any] = ListedJoinRunner._of_buckets

    def dealing(self: ListedJoinRunner, chunk: Chunk) -> list[ExpandedSegment | None]:
        counted["dealt"] += 1
        return list(dealt(self, chunk))

    def noted(self: ListedJoinRunner, chunk: Chunk, ends: Ends) -> Answers:
        answered = original(self, chunk, ends)
        counted["groups" if isinstance(answered, ExpandedAnswers) else "structure"] += 1
        return answered

    monkeypatch.setattr(ListedJoinRunner, "answers", noted)
    monkeypatch.setattr(ListedJoinRunner, "_of_buckets", dealing)
    return counted


def cut_small(monkeypatch: pytest.MonkeyPatch, rng: Random) -> None:
    """Chunks of a few events, in segments or buckets of a few for several threads."""
    monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.BUCKET", rng.choice((1, 2, 4, 1 << 14)))
    monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.MOST", rng.choice((1, 8)))
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", rng.choice((3, 7, 1 << 20)))
    monkeypatch.setattr("cer_gpu.engine.machines.chunk.SEGMENT", rng.choice((1, 2, 1 << 16)))
    monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.SPARSE", rng.choice((0, 4)))
    monkeypatch.setattr("cer_gpu.engine.workers.usable_cores", lambda: rng.choice((1, 3)))


def windowed(rng: Random) -> tree.Window:
    if rng.random() < 0.6:
        return tree.Window(rng.randrange(1, 12), "events")
    return tree.Window(rng.randrange(1, 5), "time", "s")


@pytest.mark.draws("block", 2)
def test_random_rules_are_listed_as_the_reference_and_the_structure_do(
    block: int, forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"listed rules {block}")
    total = 0
    for _ in range(25):
        cut_small(monkeypatch, rng)
        rule = replace(random_rule(rng), window=windowed(rng))
        events = random_rule_events(rng, rule, rng.randrange(4, 24))
        wanted = list(answers(rule, events, order="ts"))
        table, query = stream_to_table(events), Query(to_text(rule))
        run = query.run(table, order_by="ts")
        rows = str(run.to_arrow().to_pylist())  # as text, in which one NaN is like another
        assert [answer.positions for answer in run] == wanted
        limit = rng.randrange(1, 6)
        limited = query.run(table, order_by="ts", limit=limit)
        assert [answer.positions for answer in limited] == wanted[:limit]
        parts = pieces(table, cuts(rng, len(events)))
        reader = pa.Table.from_batches([batch for part in parts for batch in part.to_batches()], table.schema)
        assert str(query.run(reader.to_reader(), order_by="ts").to_arrow().to_pylist()) == rows
        bounded = query.run(table, order_by="ts", memory=1 << 28)  # from the structure, lane by lane
        assert str(bounded.to_arrow().to_pylist()) == rows
        assert query.count(table, order_by="ts") == len(wanted)
        total += len(wanted)
    assert total > 100
    assert forms["groups"] > 25
    assert forms["dealt"] > 10


@pytest.mark.draws("block", 2)
def test_random_chains_are_listed_as_the_reference_does(
    block: int, forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"listed chains {block}")
    total = 0
    for _ in range(120):
        cut_small(monkeypatch, rng)
        query = random_correlated(rng)
        if rng.random() < 0.7:
            query = replace(query, window=windowed(rng))
        events = stream(rng, rng.randrange(6, 18), types=("A", "B", "C"))
        try:
            compiled = Query(to_text(query))
            rows = found(compiled.run(stream_to_table(events), **OPTIONS, engine="chain"))
        except (cer.QueryError, cer.LimitError):
            continue
        assert rows == expected(query, events)
        total += len(rows)
    assert total > 50
    assert forms["groups"] > 5


def streamed(rng: np.random.Generator, count: int, keys: int) -> pa.Table:
    return pa.table(
        {
            "type": pa.array(rng.choice(list("ABC"), count)).dictionary_encode(),
            "x": rng.integers(0, keys, count),
            "y": rng.integers(0, keys, count),
            "stream": rng.choice(["S", "T"], count),
            "id": [f"e{number}" for number in range(count)],
        }
    )


TEXTS = [
    "Q(x) <- A(x = x), B(x = x), C(x = x) WITHIN 40 EVENTS",
    "Q(x, y) <- A(x = x), B(x = x), C(y = y) WITHIN 15 EVENTS",
    "SELECT a, b, c[x] FROM S WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y WITHIN 60 EVENTS",
    "SELECT * FROM S WHERE A AS a ; B AS b ; (C OR A) AS c FILTER a.x = b.y AND b.x = c.x "
    "WITHIN 50 EVENTS LIMIT 2",
]


@pytest.mark.crossed
@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize(
    "text",
    [
        "Q(x) <- A(x = x), B(x = x), C(x = x) WITHIN 300 EVENTS",
        "Q(x, y) <- A(x = x), B(x = x, y = y), C(x = x, y = y) WITHIN 900 EVENTS",
        "Q(x, y) <- A(x = x, y = y), B(x = y, y = x), C(x = x, y = y) WITHIN 900 EVENTS",
        "Q(x) <- A(x = x, y = x), B(x = x), C(y = x) WITHIN 900 EVENTS",
    ],
)
def test_events_dealt_into_buckets_give_the_same_answers(
    text: str, cores: int, forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that are null, and windows that reach into the chunk before."""
    monkeypatch.setattr("cer_gpu.engine.workers.usable_cores", lambda: cores)
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", 1500)
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.CARRIED_BATCH", 700)
    events = streamed(np.random.default_rng(cores), 6000, 40)
    null = pa.array(np.random.default_rng(7).random(len(events)) < 0.05)
    events = events.set_column(1, "x", pa.compute.if_else(null, None, events["x"]))
    query = cer.compile(text)
    whole = query.run(events).to_arrow()
    assert not forms["dealt"]
    assert len(whole) > 100
    for bits in (1, 3, 8):
        monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.BUCKET", 8)
        monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.MOST", bits)
        assert query.run(events).to_arrow() == whole
        run = query.run(events, limit=99).to_arrow()
        assert run == whole.slice(0, 99)
    assert forms["dealt"] > 6
    assert not forms["structure"]
    with monkeypatch.context() as patch:
        patch.setattr(module, "FEW", 0)
        assert query.run(events).to_arrow() == whole
    assert forms["structure"]


@pytest.mark.parametrize("text", TEXTS)
def test_every_form_of_answers_is_that_of_the_structure(
    text: str, forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = streamed(np.random.default_rng(11), 3000, 6)
    query = cer.compile(text)
    for column in (None, "stream"):
        options: dict[str, Any] = {} if column is None else {"stream_column": column}
        run = query.run(events, **options)
        own = [run.to_arrow(), run.events(), pa.Table.from_batches(list(run.flat_batches()))]
        first = query.run(events, **options, limit=17).to_arrow()
        named = query.run(events, **options, event_id="id").to_arrow()
        assert forms["groups"] > 3
        assert not forms["structure"]
        with monkeypatch.context() as patch:
            patch.setattr(module, "FEW", 0)
            again = query.run(events, **options)
            assert own == [
                again.to_arrow(),
                again.events(),
                pa.Table.from_batches(list(again.flat_batches())),
            ]
            assert named == query.run(events, **options, event_id="id").to_arrow()
        assert forms["structure"] > 2
        assert first == own[0].slice(0, 17)
        assert len(own[0]) > 500
        assert query.count(events, **options) == len(own[0])
        forms.update(groups=0, structure=0)


def test_many_partial_matches_before_the_window_are_left_to_the_structure(forms: dict[str, int]) -> None:
    """All B but the last have their A before the window, and each C would look at all of them."""
    query = cer.compile(
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y WITHIN 2000 EVENTS"
    )
    for count, form in ((5, "groups"), (500, "structure")):
        types = ["A", *"B" * 2000, "A", "B", *"C" * count]
        ones = [1] * len(types)
        listed = query.run(pa.table({"type": types, "x": ones, "y": ones})).to_arrow()
        assert listed["a"].to_pylist() == [[2001]] * count
        assert listed["b"].to_pylist() == [[2002]] * count
        assert listed["c"].to_pylist() == [[2003 + number] for number in range(count)]
        assert forms.pop(form) == 1
        forms.setdefault(form, 0)
        assert set(forms.values()) == {0}


@pytest.mark.usefixtures("forms")
def test_more_keys_than_events_of_a_chunk_are_numbered_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", 64)
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.CARRIED_BATCH", 64)
    numbered: list[int] = []
    original = JoinRunner._localised

    def noted(slots: np.ndarray, columns: list[int]) -> int:
        numbered.append(original(slots, columns))
        return numbered[-1]

    monkeypatch.setattr(ListedJoinRunner, "_localised", staticmethod(noted))
    count = 4000
    events = pa.table({"type": ["A", "B"] * count, "k": [row // 2 for row in range(2 * count)]})
    run = cer.compile("Q(x) <- A(k = x), B(k = x) WITHIN 10 EVENTS").run(events)
    assert [answer.positions for answer in run] == [(2 * row, 2 * row + 1) for row in range(count)]
    assert numbered
    assert max(numbered) < 100


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Q(x) <- A(x = x), B(x = x) WITHIN 9 EVENTS", "dealt by the key that all share"),
        ("Q(x) <- A(x = x), B(x = x)", "from the persistent structure: without a window"),
        ("Q(x) <- A(x = x), B(x = x) WITHIN 9 [v]", "from the persistent structure: `v` may fall"),
        (
            "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.y WITHIN 9 EVENTS",
            "from lists of the events with equal keys",
        ),
        (
            "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.y WITHIN 9 EVENTS CONSUME BY ANY",
            "from the persistent structure: a report drops",
        ),
        (
            "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.x PARTITION BY k WITHIN 9 EVENTS",
            "from the persistent structure: each partition",
        ),
        (
            "Q(x) <- A(x = x), B(x = x), B(x = x) WITHIN 9 EVENTS",
            "dealt by the key that all share",
        ),
        (
            "SELECT * WHERE A AS a ; B AS b : C AS c FILTER a.x = b.x WITHIN 9 EVENTS",
            "from the persistent structure: `:` asks",
        ),
    ],
)
def test_explain_says_which_form_lists_and_why(text: str, said: str) -> None:
    lines = cer.compile(text).explain(verbose=True).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("listing"))
    assert said in "\n".join(lines[first : first + 2]), "\n".join(lines)
