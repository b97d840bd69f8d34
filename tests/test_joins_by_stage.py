"""Chains of three steps listed in two stages: against plain Python, the reference and the other forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.joins.contract import ASKED, MADE, ChainSteps
from cer_gpu.kernels.windows.contract import comparable
from engine_oracle import OPTIONS, cuts, expected, found, pieces
from generate import stream, stream_to_table
from random_correlated import random_correlated
from test_joins_listed import windowed

import cer_gpu as cer
from cer_gpu.api import Query
from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.listed_joins import ListedJoinRunner
from cer_gpu.enumeration import expanded_chains, expanded_lanes
from cer_gpu.enumeration.expanded_chains import ChainPart, ChainRows
from cer_gpu.enumeration.expanded_lanes import LaneAnswers
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text

APART = np.array([[[-1, MADE, ASKED, -1]], [[-1, -1, 2 + MADE, 4 + ASKED]]], np.int32)
"""Three symbols, of which each is one step; compared by columns 0, and by 1 and 2."""
ALIKE = np.array([[[-1, 2 + ASKED, ASKED, -1], [-1, MADE, -1, -1]]] * 2, np.int32)
"""The first symbol is all three steps, the second is the second and the third step, too, of which it looks up
alone."""


def triples(
    code: np.ndarray, symbols: np.ndarray, slots: np.ndarray, times: np.ndarray, size: int
) -> dict[int, list[tuple[int, int, int]]]:
    """The answers at each end, in order, by trying all events."""

    def slot(stage: int, what: int, event: int) -> int:
        own = [each for each in code[stage, :, symbols[event]].tolist() if each >= 0 and each & 1 == what]
        return int(slots[own[0] >> 1, event]) if own else -1

    def linked(stage: int, one: int, other: int) -> bool:
        return 0 <= slot(stage, MADE, one) == slot(stage, ASKED, other)

    n = len(symbols)
    rows: dict[int, list[tuple[int, int, int]]] = {}
    for a in range(n):
        for b in range(a + 1, n):
            if not linked(0, a, b):
                continue
            for c in range(b + 1, n):
                if times[c] - times[a] <= size and linked(1, b, c):
                    rows.setdefault(c, []).append((a, b, c))
    return {end: sorted(rows[end]) for end in sorted(rows)}


@pytest.mark.crossed
@pytest.mark.parametrize("code", [APART, ALIKE], ids=["apart", "alike"])
@pytest.mark.parametrize("most", [2, 40, np.iinfo(np.int32).max])
@pytest.mark.parametrize("few", [1, 24])
def test_answers_are_all_that_are_linked(
    code: np.ndarray, most: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng((most, few, code.shape[1]))
    monkeypatch.setattr(expanded_lanes, "BUCKET", 8)
    monkeypatch.setattr(expanded_chains, "ROWS_OF_EVENT", 0)
    monkeypatch.setattr(expanded_chains, "FEW", 1 << 12)
    total = several = 0
    for n in (0, 1, 3, 60, 90):
        symbols = rng.integers(0, 4, n).astype(np.uint8)
        values = rng.integers(-1 if few == 1 else 0, most, 5 if few == 1 else 1, endpoint=True)
        slots = rng.choice(values, (3, n)).astype(np.int32)
        times = np.sort(rng.integers(0, n + 1, n))
        size, report = int(rng.integers(n // 3, n + 1)), int(rng.integers(0, n // 3 + 1))
        wanted = {
            end: rows for end, rows in triples(code, symbols, slots, times, size).items() if end >= report
        }
        steps, window = ChainSteps(code, np.array([1, 2, 3], np.int32)), comparable(times, size)

        def share(work: Callable[[Any], Any], some: list[Any]) -> list[Any]:
            return list(map(work, some))

        rows = ChainRows(steps, symbols, slots, window, report, 3, share)
        middle = int(rng.integers(report, n + 1))
        parts = rows.listed([(report, middle), (middle, n)])
        assert parts is not None
        ends, latest, lowest, answers = [], [], [], []
        for part in parts:
            ends += part.end.tolist()
            latest += part.latest.tolist()
            lowest += part.lowest.tolist()
            block = part.block(np.arange(len(part.end)), part.count, np.arange(len(part.end)))
            assert np.array_equal(block.hit, np.repeat(np.arange(len(part.end)), part.count))
            answers += list(zip(*block.column.tolist(), strict=True))
        assert ends == list(wanted)
        assert answers == [row for rows in wanted.values() for row in rows]
        assert latest == [max(row[0] for row in rows) for rows in wanted.values()]
        assert lowest == [next(j for j in range(n) if times[end] - times[j] <= size) for end in ends]
        total += len(answers)
        several += max(map(len, wanted.values()), default=0) > 24
    assert total > (500 if few == 24 else 5)
    assert several or few == 1


# ------------------------------------------------------------------------------------------------- runs


@pytest.fixture
def forms(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many chunks were listed stage by stage, and how many otherwise."""
    counted = {"stages": 0, "others": 0}
    original: Callable[..., Any] = ListedJoinRunner.answers

    def noted(self: ListedJoinRunner, chunk: Chunk, ends: Ends) -> Answers:
        answered = original(self, chunk, ends)
        staged = isinstance(answered, LaneAnswers) and isinstance(answered._parts[0], ChainPart)
        counted["stages" if staged else "others"] += 1
        return answered

    monkeypatch.setattr(ListedJoinRunner, "answers", noted)
    return counted


def cut_small(monkeypatch: pytest.MonkeyPatch, rng: Random) -> None:
    """Chunks of a few events, in parts and buckets of a few for several threads; little room at first."""
    monkeypatch.setattr(expanded_lanes, "BUCKET", rng.choice((1, 2, 4, 1 << 14)))
    monkeypatch.setattr(expanded_lanes, "MOST", rng.choice((1, 8)))
    monkeypatch.setattr(expanded_chains, "SOME", rng.choice((1, 64)))
    monkeypatch.setattr(expanded_chains, "ROWS_OF_EVENT", rng.choice((0, 2)))
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", rng.choice((3, 7, 1 << 20)))
    monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.SEGMENT", rng.choice((1, 2, 1 << 16)))
    monkeypatch.setattr("cer_gpu.engine.workers.usable_cores", lambda: rng.choice((1, 3)))


def random_chain(rng: Random) -> tree.SelectQuery:
    """Three steps of few types, each equal to the one before it."""
    steps = [tree.As(tree.EventType(rng.choice("AAB")), name) for name in "uvw"]
    made: tree.Pattern = tree.Sequence(tree.Sequence(steps[0], steps[1]), steps[2])
    for one, other in ("uv", "vw"):
        keys = rng.choice((("id", "id"), ("lap", "lap"), ("id", "lap"), ("s", "s")))
        sides = (tree.Attribute(key, name) for key, name in zip(keys, (one, other), strict=True))
        made = tree.Filter(made, tree.Comparison("=", *sides))
    return tree.SelectQuery(made)


@pytest.mark.draws("block", 3)
def test_random_chains_are_listed_as_the_reference_does(
    block: int, forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"by stage {block}")
    total = 0
    for _ in range(60):
        cut_small(monkeypatch, rng)
        query, longest = random_correlated(rng), 18
        if rng.random() < 0.7:
            query, longest = replace(random_chain(rng), limit=rng.choice((None, None, 1, 3))), 50
        query = replace(query, window=windowed(rng))
        if rng.random() < 0.5:
            query = replace(query, window=tree.Window(rng.randrange(10, 40), "events"))
        events = stream(rng, rng.randrange(6, longest), types=("A", "B", "C"))
        table = stream_to_table(events)
        before = forms["stages"]
        try:
            compiled = Query(to_text(query))
            rows = found(compiled.run(table, **OPTIONS, engine="chain"))
        except (cer.QueryError, cer.LimitError):
            continue
        assert rows == expected(query, events)
        parts = pieces(table, cuts(rng, len(events)))
        reader = pa.Table.from_batches([batch for part in parts for batch in part.to_batches()], table.schema)
        assert found(compiled.run(reader.to_reader(), **OPTIONS, engine="chain")) == rows
        total += len(rows) if forms["stages"] > before else 0
    assert total > 10
    assert forms["stages"] > 10


def streamed(seed: int, count: int, keys: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, keys, count) for name in ("x", "y")}
    null = {name: pa.array(values, mask=rng.random(count) < 0.05) for name, values in columns.items()}
    ids = [f"e{number}" for number in range(count)]
    return pa.table(
        {
            "type": pa.array(rng.choice(list("ABCD"), count)).dictionary_encode(),
            **null,
            "t": np.arange(count),
            "stream": rng.choice(["S", "T"], count),
            "id": ids,
        }
    )


TEXTS = [
    "SELECT a, b, c[x] FROM S WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y WITHIN 90 EVENTS",
    "SELECT * FROM S WHERE A AS a ; A AS b ; A AS c FILTER a.x = b.y AND b.x = c.y WITHIN 60 EVENTS",
    "SELECT * FROM S WHERE A AS a ; A AS b ; B AS c FILTER a.x = b.y AND b.x = c.y WITHIN 60 EVENTS",
    "SELECT * FROM S WHERE B AS a ; A AS b ; A AS c FILTER a.x = b.x AND b.y = c.x WITHIN 50 EVENTS LIMIT 2",
    "SELECT * FROM S WHERE A AS a ; B AS b ; A AS c FILTER a.x = b.x AND b.y = c.x WITHIN 90 EVENTS",
    "SELECT * FROM S WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y WITHIN 90 [t]",
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_form_gives_the_same_answers(
    text: str, forms: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = cer.compile(text)
    for cores, chunk in ((1, 1 << 20), (3, 700)):
        monkeypatch.setattr("cer_gpu.engine.workers.usable_cores", lambda cores=cores: cores)
        monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", chunk)
        monkeypatch.setattr("cer_gpu.engine.run.bound_query.CARRIED_BATCH", 500)
        monkeypatch.setattr("cer_gpu.engine.machines.listed_joins.SEGMENT", 90)
        monkeypatch.setattr(expanded_lanes, "BUCKET", 50)
        events = streamed(cores, 4000, 8)
        for column in (None, "stream"):
            options: dict[str, Any] = {"order_by": "t"} if "[t]" in text else {}
            options |= {} if column is None else {"stream_column": column}
            run = query.run(events, **options)
            own = [run.to_arrow(), run.events(), pa.Table.from_batches(list(run.flat_batches()))]
            some = query.run(events, **options, limit=23).to_arrow()
            named = query.run(events, **options, event_id="id").to_arrow()
            assert forms["stages"] > 0
            assert not forms["others"]
            with monkeypatch.context() as patch:
                patch.setattr(ListedJoinRunner, "_of_chain", lambda *_: None)
                again = query.run(events, **options)
                whole = [again.to_arrow(), again.events()]
                assert own == [*whole, pa.Table.from_batches(list(again.flat_batches()))]
                assert named == query.run(events, **options, event_id="id").to_arrow()
            assert forms["others"] > 0
            assert len(own[0]) > 5
            assert some == own[0].slice(0, 23)
            forms.update(stages=0, others=0)


def test_seconds_looked_at_in_vain_are_left_to_the_structure(forms: dict[str, int]) -> None:
    """All B but the last have their A before the window, and each C would look at all of them."""
    query = cer.compile(
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y WITHIN 2000 EVENTS"
    )
    for count, form in ((5, "stages"), (500, "others")):
        types = ["A", *"B" * 2000, "A", "B", *"C" * count]
        ones = [1] * len(types)
        listed = query.run(pa.table({"type": types, "x": ones, "y": ones})).to_arrow()
        assert listed["a"].to_pylist() == [[2001]] * count
        assert listed["b"].to_pylist() == [[2002]] * count
        assert listed["c"].to_pylist() == [[2003 + number] for number in range(count)]
        assert forms.pop(form) == 1
        forms.setdefault(form, 0)
        assert set(forms.values()) == {0}


def test_very_many_answers_are_left_to_the_structure(forms: dict[str, int]) -> None:
    query = cer.compile(
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y WITHIN 100 EVENTS"
    )
    types = [*"A" * 30, *"B" * 30, *"C" * 30]
    ones = [1] * len(types)
    assert len(query.run(pa.table({"type": types, "x": ones, "y": ones})).to_arrow()) == 27_000
    assert forms == {"stages": 0, "others": 1}


@pytest.mark.parametrize(
    ("pattern", "chain"),
    [
        ("A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y", True),
        ("A AS a ; A AS b ; A AS c FILTER a.x = b.y AND b.x = c.y", True),
        ("A AS a ; B AS b FILTER a.x = b.x", False),
        ("A AS a ; B AS b ; C AS c ; D AS d FILTER a.x = b.x AND b.y = c.y AND c.x = d.x", False),
        ("A AS a ; B AS b ; C AS c FILTER b.y = c.y", False),
        ("A AS a ; B AS b ; (C AS c) + FILTER a.x = b.x AND b.y = c.y", False),
    ],
)
def test_explain_names_the_form(pattern: str, chain: bool) -> None:
    told = cer.compile(f"SELECT * WHERE {pattern} WITHIN 10 EVENTS").explain(engine="chain")
    assert ("sorted by what they share with the next" in told) is chain
