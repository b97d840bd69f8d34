"""Rows of single events, listed from the events of each step: against all runs, and the reference."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.runs.contract import accepting_runs
from cer_gpu.kernels.runs.programs import sequence_steps
from cer_gpu.kernels.runs.sequences import sequence_entries, step_entries
from engine_oracle import check
from generate import stream
from random_tables import tables_of

import cer_gpu as cer
from cer_gpu.engine.machines import sequences
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.sequences import BLOCK, ChosenSequences, EdgeAnswers, SequenceAnswers
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse

Marks = tuple[tuple[int, int], ...]
"""The events of a complex event, with their labels."""


def random_sequence(rng: random.Random, n_symbols: int, steps: int) -> list[tuple[int, int, int, int, bool]]:
    """The transitions of a sequence: (source, symbol, label, target, accepting)."""
    made = []
    for state in range(steps):
        last = state == steps - 1
        if state:
            made.append((state, 0, 0, state, False))
        for symbol in range(1, n_symbols):
            if state:
                made.append((state, symbol, 0, state, False))
            if rng.random() < 0.6 or symbol == 1 + state % (n_symbols - 1):
                made.append((state, symbol, state + 1, -1 if last else state + 1, last))
    return made


def listed(answers: SequenceAnswers, order: np.ndarray, **given: Any) -> list[tuple[int, Marks]]:
    """The ends and the marks of the complex events of all blocks."""
    return [
        (hit, tuple(zip(row, block.labels.tolist(), strict=True)))
        for block in answers.blocks(order, **given)
        for hit, row in zip(block.hit.tolist(), block.column.T.tolist(), strict=True)
    ]


@pytest.mark.draws("seed", 120)
def test_all_runs_are_listed_in_order(seed: int) -> None:
    rng = random.Random(f"sequences {seed}")
    n_symbols, steps, size = rng.randint(2, 4), rng.randint(2, 4), rng.randint(4, 12)
    tables = tables_of(n_symbols, random_sequence(rng, n_symbols, steps))
    found = sequence_steps(tables)
    assert found is not None
    assert found.labels.tolist() == [*range(1, steps + 1)]
    lanes = rng.randint(1, 3)
    dtype = rng.choice([np.uint8, np.uint16])
    symbols = np.array([rng.randrange(n_symbols) for _ in range(lanes * size)], dtype)
    expected: dict[int, list[tuple[int, Marks]]] = {}
    lowest: dict[int, int] = {}
    for begin in range(0, len(symbols), size):
        low = begin
        for end in range(begin, begin + size):
            low = rng.randint(low, end) if rng.random() < 0.2 else low
            runs = [run for run in accepting_runs(tables, symbols, begin, end + 1) if run[1] == end]
            own = sorted((start, marks) for start, _, marks in runs if start >= low)
            if own:
                expected[end], lowest[end] = own, low
    if not expected:
        return
    event, least = (np.array(list(each), np.int64) for each in (expected, lowest.values()))
    each = [step_entries(symbols, may, 0, len(symbols)) for may in found.may[:-1]]
    first = np.append(0, np.cumsum([len(own) for own in each]))
    entries = sequence_entries(np.concatenate(each), first)
    number = np.array([len(own) for own in expected.values()], np.int64)
    answers = SequenceAnswers(entries, found.labels, event, least, None if steps == 2 else number)
    assert answers.count.tolist() == number.tolist()
    order = np.array(rng.sample(range(len(event)), len(event)))
    for limit in (None, *range(8), rng.randint(1, number.max())):
        wanted = [(hit, marks) for hit in order.tolist() for _, marks in expected[event[hit]][:limit]]
        for rows in (None, rng.randint(1, 4)):
            assert listed(answers, order, limit=limit, size=rows) == wanted


def test_what_is_no_sequence() -> None:
    """Each automaton differs from that of `A ; B` in one transition."""
    sequence = [(0, 1, 2, 1, False), (1, 1, 0, 1, False), (1, 2, 0, 1, False), (1, 2, 1, -1, True)]
    assert sequence_steps(tables_of(3, sequence)) is not None
    for place, wrong in [
        (1, (1, 1, 0, -1, False)),  # an event ends what is open
        (2, (1, 2, 0, 1, True)),  # an event that is not marked ends a complex event
        (3, (1, 2, 1, 1, True)),  # and another run goes on from there
    ]:
        assert sequence_steps(tables_of(3, [*sequence[:place], wrong, *sequence[place + 1 :]])) is None
    for place, other in [
        (0, (0, 1, 0, 1, False)),  # the first event is not marked
        (3, (1, 2, 0, 1, True)),  # nor is the last one
    ]:
        left = [one for at, one in enumerate(sequence) if at != place and one[:2] != other[:2]]
        found = sequence_steps(tables_of(3, sorted([*left, other])))
        assert found is not None
        assert found.labels[min(place, 1)] == 0
    for more in [(0, 2, 1, 1, False), (0, 2, 2, -1, True), (0, 2, 2, 2, False), (1, 1, 3, -1, True)]:
        assert sequence_steps(tables_of(3, sorted([*sequence, more]))) is None
    assert sequence_steps(tables_of(3, sequence[:1] + sequence[2:])) is None
    for steps, listed in ((4, True), (5, False)):
        many = random_sequence(random.Random(1), 2, steps)
        assert (sequence_steps(tables_of(2, many)) is not None) == listed
    assert sequence_steps(tables_of(3, [(0, 1, 1, -1, True)])) is None


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is listed as a sequence."""
    made: list[Any] = []

    def note(kind: Any) -> None:
        init = kind.__init__

        def noted(self: Any, *given: Any) -> None:
            made.append(self)
            init(self, *given)

        monkeypatch.setattr(kind, "__init__", noted)

    note(SequenceAnswers)
    note(ChosenSequences)
    note(EdgeAnswers)
    return made


@pytest.mark.crossed
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("clause", ["", "WITHIN 5 EVENTS", "WITHIN 6 SECONDS", "CONSUME BY ANY", "LIMIT 2"])
@pytest.mark.parametrize("stretch", [1 << 16, 3])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM S WHERE A AS x ; B AS y",
        "SELECT x, y FROM S WHERE (A OR B) AS x ; (B OR C) AS y",
        "SELECT * FROM S WHERE A AS x ; A AS y ; A AS z",
        "SELECT *, y.v - x.v AS d FROM S WHERE A AS x ; B AS y ; C AS z FILTER x[v > 2]",
        "SELECT * FROM S WHERE A ; B ; A ; C",
        "SELECT x FROM S WHERE A AS x ; B AS y",
        "SELECT y FROM S WHERE A AS x ; A AS y",
        "SELECT NONE FROM S WHERE A AS x ; (A OR B) AS y",
        "SELECT NONE, x.v AS v FROM S WHERE A AS x ; B AS y",
        "SELECT y, z.v AS v FROM S WHERE A AS x ; (A OR B) AS y ; B AS z",
        "SELECT LAST * FROM S WHERE A AS x ; B AS y",
        "SELECT NEXT * FROM S WHERE A AS x ; A AS y ; B AS z",
        "SELECT LAST * FROM S WHERE A AS x ; A AS y ; A AS z",
        "SELECT LAST NONE, x.v AS v FROM S WHERE A AS x ; B AS y",
        "SELECT NEXT y FROM S WHERE A AS x ; B AS y ; C AS z",
    ],
)
def test_they_agree_with_the_reference(
    text: str,
    clause: str,
    keyed: bool,
    stretch: int,
    made: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sequences, "SEGMENT", stretch)
    query = parse(f"{text} {clause}")
    assert isinstance(query, t.SelectQuery)
    if keyed:
        query = replace(query, partition=(("id",),))
    rng = random.Random(f"{text} {clause}")
    answers = 0
    for number in range(20):
        if number > 3 and answers:
            break
        events = [replace(one, type=rng.choice("AABC")) for one in stream(rng, 16, holes=0.03)]
        answers += check(query, [replace(one, stream="S") for one in events], rng)
    assert made
    assert answers > 0


@pytest.mark.parametrize(
    ("text", "is_sequence"),
    [
        ("SELECT * WHERE A ; B", True),
        ("SELECT x, y WHERE A AS x ; (B AS y FILTER y[v > 1])", True),
        ("SELECT x, y WHERE (A OR B) AS x ; (B OR C) AS y", True),
        ("SELECT * WHERE (A OR B) AS x ; (B OR C) AS y", False),
        ("SELECT x WHERE A AS x ; B AS y", True),
        ("SELECT NONE WHERE A AS x ; B AS y", True),
        ("SELECT x, z WHERE A AS x ; B AS y ; C AS z", False),
        ("SELECT * WHERE A AS x ; B AS y FILTER x.id = y.id", True),
        ("SELECT y, x WHERE A AS x ; B AS y FILTER x.id = y.id", True),
        ("SELECT * WHERE A", False),
        ("SELECT * WHERE A : B", False),
        ("SELECT * WHERE A ; B+", False),
        ("SELECT * WHERE (A ; B+) UNLESS C", False),
        ("SELECT LAST * WHERE A ; B", True),
        ("SELECT NEXT y WHERE A ; B AS y ; C WITHIN 9 EVENTS", True),
        ("SELECT NEXT * WHERE A ; B+ ; C", False),
        ("SELECT * WHERE A ; B WITHIN 2 [v]", False),
    ],
)
def test_the_cost_says_how_the_runner_lists(text: str, is_sequence: bool, made: list[Any]) -> None:
    query = cer.compile(text)
    assert ("rows of single events" in query.explain(verbose=True)) == is_sequence
    table = pa.table({"type": list("ABCABCAB"), "id": [1] * 8, "v": [3.0] * 8})
    assert len(query.run(table, engine="regular").to_arrow()) > 0
    assert (len(made) > 0) == is_sequence


def test_few_ends_of_many_events_are_listed_from_the_structure() -> None:
    assert sequences.pays(1000, 8)
    assert not sequences.pays(1000, 7)
    table = pa.table({"type": [*"A" * 500, "B"]})
    assert len(cer.compile("SELECT * WHERE A ; B").run(table).to_arrow()) == 500


def test_an_end_with_many_complex_events_comes_in_blocks() -> None:
    """More than are found at a time, and no more memory than a block takes."""
    count = 300_000
    table = pa.table({"type": ["A"] * count + ["B"]})
    rows = 0
    for batch in cer.compile("SELECT * WHERE A AS a ; B AS b").run(table).batches():
        assert len(batch) <= BLOCK
        assert batch["start"].to_pylist() == [*range(rows, rows + len(batch))]
        rows += len(batch)
    assert rows == count


def test_the_entries_of_stretches_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    symbols = rng.integers(0, 4, 1000).astype(np.uint8)
    steps = sequence_steps(tables_of(4, random_sequence(random.Random(5), 4, 4)))
    assert steps is not None
    whole = sequences.entries_of(symbols, steps, Workers())
    monkeypatch.setattr(sequences, "SEGMENT", 7)
    for one, other in zip(whole, sequences.entries_of(symbols, steps, Workers()), strict=True):
        assert np.array_equal(one, other)
