"""The machine of configurations looks partial matches up in the order of a value that they keep."""

from __future__ import annotations

import math
import warnings
from random import Random

import generate
import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.configurations import contract as words
from cer_gpu.kernels.configurations import cpu_groups, cpu_search_trees
from cer_gpu.kernels.configurations.contract import TESTED, Groups, Programs
from cer_gpu.kernels.configurations.cpu_programs import work_out
from engine_oracle import OPTIONS, check

import cer_gpu as cer
from cer_gpu.automata.configurations.value_words import bits_of
from cer_gpu.engine.machines import configurations
from cer_gpu.engine.machines.configuration_arrays import room_for, room_for_groups
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.engine.machines.monotonicity import lower_side
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text

PATTERNS = (
    "A AS a ; B AS b ; C AS c FILTER b.p > a.p + 0.5 AND c.v != a.v",
    "A AS a ; B AS b ; C AS c FILTER b.p - a.p >= 1.25 AND c.p < a.p",
    "A AS a ; B AS b ; C AS c FILTER 2 * a.v - 3 < b.v AND c.v <= b.v",
    "A AS a ; B AS b ; C AS c FILTER b.p < a.v AND c.v > a.p",
    "A AS a ; B AS b ; C AS c FILTER -1 * a.p <= 1 - b.p AND c.s > a.s",
    "A AS a ; B AS b ; C AS c FILTER NOT b.p > a.p + 0.5 AND c.p > a.p",
    "(A AS a)+ ; B AS b ; C AS c FILTER b.v > a.v + 1 AND c.p > a.p",
    "A AS a ; (B AS b)+ ; C AS c FILTER b.v < a.v AND c.v >= a.v",
    "(A AS a ; B AS b FILTER b.v + 1 > a.v) UNLESS (C AS c FILTER c.v < a.v)",
    "A AS a ;[<= 2 s] B AS b ; C AS c FILTER b.p * 2 > a.p AND c.v < b.v",
    "PROJECT((A AS a ; B AS b ; A AS c FILTER c.p > a.p / 2 AND b.v < c.v) | a, b)",
)


@pytest.mark.crossed
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("tiny", [False, True])
def test_random_streams(pattern: str, tiny: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Infinite values and NaN too, which have no place in the order."""
    monkeypatch.setitem(OPTIONS, "engine", "general")
    if tiny:
        for name in ("ROOM", "LEAST"):
            monkeypatch.setattr(configurations, name, 2)
    ranked, answered = [], 0
    begin = ConfigurationRuns._learn

    def learned(runs: ConfigurationRuns, row: int, symbol: int) -> None:
        begin(runs, row, symbol)
        assert runs._steps is not None
        ranked.append(int(runs._steps.tables.indexed[:, 1].max()) >= words.RANKED)

    monkeypatch.setattr(ConfigurationRuns, "_learn", learned)
    for seed in range(5):
        rng = Random(f"order {pattern} {seed}")
        clause = rng.choice(
            ("", "", "WITHIN 3 SECONDS", "WITHIN 6 EVENTS", "CONSUME BY ANY", "PARTITION BY lap")
        )
        query = parse(f"SELECT {rng.choice(('', '', 'MAX', 'NEXT'))} * WHERE {pattern} {clause}")
        assert isinstance(query, t.SelectQuery)
        events = generate.stream(rng, 18, holes=0.03)
        if seed % 2:
            events = generate.with_keys(rng, events)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(f"seed {seed}: {to_text(query)}")
            answered += check(query, events, rng) > 0
    assert answered
    assert any(ranked)


@pytest.mark.crossed
@pytest.mark.parametrize("asked", ["count", "hits", "run"])
@pytest.mark.parametrize("text", ["b.q > a.q + 0.9", "b.q - a.q > 0.9", "NOT b.q <= a.q + 0.9", "b.m > a.m"])
def test_an_event_is_tested_with_those_that_fit(
    text: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event of 1,000 fits a few of those that are open: the others are not looked at."""
    tested = []
    follow = ConfigurationRuns._follow

    def followed(runs: ConfigurationRuns, stop: int, ends: object) -> object:
        before = int(runs._progress[TESTED])
        found = follow(runs, stop, ends)  # type: ignore[arg-type]
        tested.append(int(runs._progress[TESTED]) - before)
        return found

    monkeypatch.setattr(ConfigurationRuns, "_follow", followed)
    rng, count = Random(1), 1000
    b = 100
    q = [rng.random() for _ in range(count)] + [0.9 + 0.002 * rng.random() for _ in range(b)] + [2.0] * 3
    table = pa.table(
        {
            "type": ["A"] * count + ["B"] * b + ["C"] * 3,
            "q": q,
            "m": [1000 + one for one in range(count)] + [1002] * b + [0] * 3,
            "p": [rng.random() for _ in range(count + b)] + [2.0] * 3,
        }
    )
    query = cer.compile(
        f"SELECT * WHERE A AS a ; B AS b ; C AS c FILTER {text} AND c.p > a.p WITHIN 5000 EVENTS"
    )
    found = getattr(query, asked)(table, engine="general")
    known = table.to_pylist()
    kept = [one for one in known if one["type"] == "A"]
    fits = {
        "b.m > a.m": lambda x, y: y["m"] > x["m"],
        "b.q - a.q > 0.9": lambda x, y: y["q"] - x["q"] > 0.9,
    }.get(text, lambda x, y: y["q"] > x["q"] + 0.9)
    pairs = sum(fits(x, y) for x in kept for y in known if y["type"] == "B")
    assert 40 < pairs < 2000
    if asked == "hits":
        assert len(found) == 3
    else:
        assert (found if asked == "count" else len(list(found))) == 3 * pairs
    # Each B meets those that fit, the first that does not, and one at the other end; each C and A the rest.
    assert sum(tested) < 4 * count + 5 * pairs + 4 * b
    assert sum(tested) < b * count / 4


@pytest.mark.parametrize("kind", [words.RANKED, words.RANKED + 1])
def test_the_tree_of_a_group_is_in_order(kind: int) -> None:
    """Rows that come and go, many with equal values, are found in order from both ends."""
    rng = Random(f"tree {kind}")
    rows = 400
    kept = room_for(rows, np.dtype(np.uint64), 1, False, 0, indexed=True)
    groups = Groups(np.full((1, 3), -1, np.int64), np.zeros((1, 2)), room_for_groups(4))
    groups.group[0] = 0, -1, -1, -1
    inside: set[int] = set()
    deepest = 0
    for turn in range(3000):
        row = rng.randrange(rows)
        if row in inside:
            cpu_search_trees.rank_out(kept, groups, 0, row)
            inside.remove(row)
        else:
            value: float = turn // 7 if rng.random() < 0.5 else rng.randrange(-30, 30)
            if kind > words.RANKED:
                value = rng.choice((value / 3, math.inf, -math.inf, -0.0, 0.0, math.nan))
                kept.reals[row, 0] = value
            else:
                kept.bits[row, 0] = value
            cpu_search_trees.rank_in(kept, groups, 0, row, 0, kind)
            inside.add(row)
        if turn % 20:
            continue
        for down in (False, True):
            walked, at = [], int(cpu_search_trees.outermost(kept, groups.group[0, words.ROOT], down))
            while at >= 0:
                walked.append(at)
                at = int(cpu_search_trees.next_ranked(kept, at, down))
            assert sorted(walked) == sorted(inside)
            own = kept.reals if kind > words.RANKED else kept.bits
            found = [own[one, 0] for one in walked if own[one, 0] == own[one, 0]]
            assert found == sorted(found, reverse=down)
        deepest = max(deepest, *(_depth(kept, row) for row in inside), 0) if inside else deepest
    assert 8 < deepest < 40
    assert cpu_groups.limbs_of.py_func(kept) == 0


def _depth(kept: object, row: int) -> int:
    depth = 0
    while kept.above[row] >= 0:  # type: ignore[attr-defined]
        row, depth = int(kept.above[row]), depth + 1  # type: ignore[attr-defined]
    return depth


def test_what_is_told_of_programs_holds() -> None:
    """For the values of a slot in order, the answers of a program change once, on the side that is told."""
    rng = Random("programs")
    values = [-math.inf, -1e308, -3.5, -1.0, -0.0, 0.0, 1e-300, 0.5, 2.0, 7.25, 1e308, math.inf]
    told = changed = 0
    for _ in range(4000):
        code = _random_code(rng)
        found = lower_side(tuple(code))
        if found is None:
            continue
        told += 1
        assert found[0] == 0
        rows = np.array([[value] for value in values if math.isfinite(value)])
        answers = _answers(code, rows.view(np.int64), rng)
        changes = [one != other for one, other in zip(answers[1:], answers, strict=False)]
        assert sum(changes) <= 1, code
        if any(changes):
            changed += 1
            assert bool(answers[0]) == found[1], code
    assert told > 500 < 5 * changed


def _answers(code: list[tuple[str, int]], bits: np.ndarray, rng: Random) -> list[int]:
    rows = [(getattr(words, name), argument) for name, argument in code]
    stack = np.zeros(16, np.int64)
    programs = Programs(
        np.array([0, len(rows)], np.int32), np.array(rows, np.int64).reshape(-1, 2), stack,
        stack.view(np.float64), np.zeros(16, np.uint8), words.NO_TEXTS,
    )  # fmt: skip
    event = rng.choice((0.0, 1.0, -2.5, 1e308, math.inf, -math.inf))
    read = np.array([[event], [rng.choice((3.0, -math.inf, 0.25))]]).view(np.int64)
    answers = []
    for row in range(len(bits)):
        assert work_out(programs, 0, bits, row, read, 0) == -1
        answers.append(int(stack[0]))
    return answers


def _random_code(rng: Random) -> list[tuple[str, int]]:
    """A comparison of floats, of slot 0 and of values of an event (-3 and -4)."""

    def part(depth: int) -> list[tuple[str, int]]:
        if depth == 0 or rng.random() < 0.3:
            if rng.random() < 0.5:
                return [("LOAD", rng.choice((0, 0, -3, -4)))]
            return [("CONSTANT", bits_of(rng.choice((0.0, 0.5, -2.0, 3.0, 1e300, math.inf))))]
        if rng.random() < 0.2:
            return [*part(depth - 1), (rng.choice(("REAL_OPPOSITE", "REAL_SIZE")), 0)]
        op = rng.choice(("REAL_PLUS", "REAL_MINUS", "REAL_TIMES", "REAL_DIVIDED", "REAL_REST"))
        return [*part(depth - 1), *part(depth - 1), (op, 0)]

    return [*part(2), *part(2), (rng.choice(("REAL_IS_LESS", "REAL_IS_AT_MOST")), 0)]
