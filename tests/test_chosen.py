"""NEXT, LAST and MAX in a persistent structure, and of queries whose partial matches keep values."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.forest.contract import BOTTOM, UNION, Roots
from cer_gpu.kernels.forest_selection.contract import complex_events, left_reference, shown_reference
from cer_gpu.kernels.forest_selection.cpu import shown_nodes
from engine_oracle import check
from generate import stream

import cer_gpu as cer
from cer_gpu.enumeration import selection
from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.plan import configuration_machine

END = 100
"""The event of every hit."""

SHOWN = [(0, 1, 2), (0, 1, 1), (0, 0, 1), (0, 0, 0)]


def structure(rng: Random) -> tuple[np.ndarray, list[int]]:
    """Some nodes without two equal complex events, and the last event of each."""
    rows: list[tuple[int, int, int, int]] = []
    last: list[int] = []
    for _ in range(rng.randrange(2, 14)):
        kind = rng.random()
        if kind < 0.3 or not rows:
            start = rng.randrange(4)
            row, end = (BOTTOM, -1, start, start), start - 1
        elif kind < 0.7:
            child = rng.randrange(len(rows))
            end = last[child] + 1 + rng.randrange(2)
            row = rng.randrange(1, 3), child, end, rows[child][3]
        else:
            left, right = rng.randrange(len(rows)), rng.randrange(len(rows))
            row, end = (UNION, left, right, max(rows[left][3], rows[right][3])), max(last[left], last[right])
        every = complex_events(np.array([*rows, row]), len(rows))
        if len(every) == len(set(every)) and len(every) < 200:
            rows.append(row)
            last.append(end)
    return np.array(rows, np.int64), last


def roots_of(rng: Random, arena: np.ndarray) -> Roots:
    """Some hits, no complex event of which is given twice."""
    first, labels, nodes = [0], [], []
    for _ in range(rng.randrange(1, 4)):
        used: set[tuple[int, object]] = set()
        for _ in range(rng.randrange(1, 5)):
            label, node = rng.randrange(3), rng.randrange(len(arena))
            own = {(label, one) for one in complex_events(arena, node)}
            if not own & used:
                used |= own
                labels.append(label)
                nodes.append(node)
        first.append(len(nodes))
    return Roots(np.array(first, np.int64), np.array(labels, np.int32), np.array(nodes, np.int64))


def events(seed: int, count: int) -> pa.Table:
    """Events of three types with a number."""
    rng = np.random.default_rng(seed)
    return pa.table({"type": rng.choice(list("ABC"), count), "v": rng.integers(0, 10, count)})


@pytest.mark.parametrize("strategy", selection.HOW)
@pytest.mark.parametrize("room", [1, 256])
def test_what_is_left_is_what_the_definition_says(
    strategy: str, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "ROOM", room)
    dropped = 0
    for seed in range(150):
        rng = Random(seed)
        arena, _ = structure(rng)
        roots = roots_of(rng, arena)
        event = np.full(len(roots.first) - 1, END)
        wanted = left_reference(arena, roots, event, selection.HOW[strategy])
        dropped += sum(len(complex_events(arena, node)) for node in roots.node) - sum(map(len, wanted))
        for shown in SHOWN:
            nodes, own = selection.left_of(arena, roots, strategy, np.array(shown, np.int32))
            for hit, left in enumerate(wanted):
                found = []
                for root in range(own.first[hit], own.first[hit + 1]):
                    ((start, marks),) = complex_events(nodes, own.node[root])
                    label = int(own.label[root])
                    found.append((start, marks + (((END, label),) if label else ())))
                assert len(found) == len(set(found))
                assert set(found) == {
                    (start, tuple((at, shown[label]) for at, label in marks if shown[label]))
                    for start, marks in left
                }
    assert dropped > 0


@pytest.mark.parametrize("shown", SHOWN)
def test_paths_that_agree_in_what_is_shown_are_one_node(shown: tuple[int, ...]) -> None:
    for seed in range(50):
        rng = Random(seed)
        arena, _ = structure(rng)
        path = arena[arena[:, 0] != UNION]
        place = np.cumsum(arena[:, 0] != UNION) - 1
        inside = (path[:, 0] == BOTTOM) | (arena[path[:, 1], 0] != UNION)
        path = path.copy()
        path[:, 1] = np.where(path[:, 0] == BOTTOM, -1, place[path[:, 1]])
        below = np.zeros(len(path), np.uint8)
        for one in range(len(path)):  # with all before it
            before = path[one, 1]
            below[one] = inside[one] and (before < 0 or below[before])
        labels = np.array(shown, np.int32)
        made = [np.zeros_like(path) for _ in range(2)]
        number = [np.zeros(len(path), np.int64) for _ in range(2)]
        count = shown_nodes(path, below, labels, np.full(64, -1, np.int64), made[0], number[0])
        assert count == shown_reference(path, below, labels, made[1], number[1])
        assert (made[0][:count] == made[1][:count]).all()
        assert (number[0][below == 1] == number[1][below == 1]).all()


QUERIES = [
    "SELECT {} a, b, c WHERE A AS a ; B AS b ; C AS c FILTER c.v > a.v AND b.v != c.v WITHIN 9 EVENTS",
    "SELECT {} a, c WHERE A AS a ; (B AS b)+ ; C AS c FILTER c.v > a.v AND MAX(b.v) < c.v WITHIN 9 EVENTS",
    "SELECT {} * WHERE ((A OR B AS b) AS t)+ FILTER COUNT(t) >= 3 AND SUM(t.v) > 9 WITHIN 3 SECONDS",
    "SELECT {} NONE WHERE A AS a ; (B AS b)+ ; C AS c FILTER c.v >= AVG(b.v) PARTITION BY id",
    "SELECT {} b WHERE ((A AS a ; B AS b) OR (B AS b ; C AS c FILTER b.v < c.v)) WITHIN 6 EVENTS LIMIT 1",
    "SELECT {} * WHERE A AS a ; (B AS b)+ ; C AS c FILTER a.v < c.v WITHIN 9 EVENTS CONSUME BY ANY",
    "SELECT {} * WHERE A AS a ; (B AS b)+ ; C AS c FILTER a.v < c.v PARTITION BY id CONSUME BY PARTITION",
    "SELECT {} c WHERE (A AS a ;[<= 2 SECONDS] (B AS b)+ ; C AS c) WITHIN [> 1 SECONDS] WITHIN 4 SECONDS",
    "SELECT {} *, COUNT(b) AS n WHERE A AS a ; (B AS b)+ ; C AS c FILTER SUM(b.p) > a.v WITHIN 8 EVENTS",
]


@pytest.mark.parametrize("text", QUERIES)
def test_strategies_beside_comparisons(text: str) -> None:
    rng, found = Random(text), 0
    for strategy in selection.HOW:
        query = parse(text.format(strategy))
        assert isinstance(query, tree.SelectQuery)
        found += sum(check(query, stream(rng, 17), rng) for _ in range(2))
    assert found > 0


def test_strategies_beside_values_that_no_words_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration_machine, "held_of", lambda *_: "what this test says")
    rng, found = Random(5), 0
    for strategy in selection.HOW:
        query = parse(QUERIES[0].format(strategy))
        assert isinstance(query, tree.SelectQuery)
        assert "one by one in Python" in cer.compile(to_text(query)).explain(verbose=True)
        found += sum(check(query, stream(rng, 15), rng) for _ in range(3))
    assert found > 0


def test_what_a_strategy_leaves_of_many_is_found_at_once() -> None:
    table = events(3, 400)
    text = (
        "SELECT {} FROM S WHERE A AS a ; (B AS b)+ ; C AS c FILTER c.v > a.v AND b.v < c.v WITHIN 60 EVENTS"
    )
    every = cer.compile(text.format("*"))
    assert every.count(table) > 10**6
    ends = every.hits(table).num_rows
    for strategy in ("NEXT", "LAST"):
        assert cer.compile(text.format(f"{strategy} *")).run(table).to_arrow().num_rows == ends
    most = cer.compile(text.format("MAX *"))
    assert ends < most.run(table).to_arrow().num_rows == most.count(table) < 10**4


def test_too_many_to_choose_from_are_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "PATHS", 1 << 9)
    text = "SELECT MAX * FROM S WHERE A AS a ; B AS b ; C AS c FILTER c.v > a.v AND b.v != c.v"
    with pytest.raises(LimitError, match=r"MAX has more than 512 partial matches to choose from.*hits"):
        cer.compile(text).run(events(1, 200)).to_arrow()
