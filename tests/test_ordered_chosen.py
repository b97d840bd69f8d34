"""NEXT, LAST and MAX of compared steps: streams beside a loop, numbers of many digits, what others take."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pyarrow as pa
import pytest
from cer_gpu.kernels.comparisons import cpu_climb_counts

import cer_gpu as cer

RUNS = "(T AS x FILTER x.v > PRIOR(x).v)"


def table_of(values: list[int]) -> pa.Table:
    """Events of type T, in order."""
    return pa.table({"type": ["T"] * len(values), "v": values})


def chains(values: list[int], low: int, end: int, least: int) -> set[tuple[int, ...]]:
    """The maximal rising runs with gaps from `low` on that end at an event, by their definition."""
    found: list[tuple[int, ...]] = [(end,)]
    for i in range(end - 1, low - 1, -1):
        found += [(i, *chain) for chain in found if values[i] < values[chain[0]]]
    sets = [frozenset(chain) for chain in found if len(chain) >= least]
    return {tuple(sorted(one)) for one in sets if not any(one < other for other in sets)}


@pytest.mark.parametrize(("least", "listed"), [(1, True), (3, True), (3, False)])
def test_max_of_rising_runs_is_what_no_event_can_be_put_into(
    least: int, listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not listed:
        monkeypatch.setattr(cpu_climb_counts, "MOST_COVERS", 0)
    rng = Random(least)
    values = [rng.randrange(30) for _ in range(90)]
    query = cer.compile(f"SELECT MAX * WHERE {RUNS}{{{least},}} WITHIN 12 EVENTS")
    wanted = [chains(values, max(end - 12, 0), end, least) for end in range(len(values))]
    found: list[set[tuple[int, ...]]] = [set() for _ in values]
    for match in query.run(table_of(values), engine="ordered"):
        found[match.end].add(match.marks["x"])
    assert found == wanted
    numbers = dict(zip(*query.counts(table_of(values)).select(["position", "count"]).to_pydict().values()))
    assert numbers == {end: len(some) for end, some in enumerate(wanted) if some}


def test_max_of_rising_runs_is_counted_past_64_bits() -> None:
    # Pairs of which either event may be in a run, one after another: 2 to the number of pairs.
    pairs = 80
    values = [value for pair in range(pairs) for value in (2 * pair + 1, 2 * pair)]
    counts = cer.compile(f"SELECT MAX * WHERE {RUNS}{{6,}}").counts(table_of(values), engine="ordered")
    assert counts["count"].to_pylist()[-2:] == [2 ** (pairs - 1)] * 2
    within = cer.compile(f"SELECT MAX * WHERE {RUNS}{{6,}} WITHIN 149 EVENTS")
    assert within.count(table_of(values), engine="ordered") > 2**64
    assert within.counts(table_of(values))["count"].to_pylist()[-1] == 2**74


@pytest.mark.parametrize(("strategy", "chosen"), [("NEXT", "first"), ("LAST", "last")])
def test_next_and_last_of_pairs_are_the_first_and_the_last(strategy: str, chosen: str) -> None:
    rng = Random(7)
    values = [rng.randrange(40) for _ in range(400)]
    query = cer.compile(f"SELECT {strategy} * WHERE T AS x ; T AS y FILTER y.v > x.v + 3 WITHIN 30 EVENTS")
    wanted = {}
    for end, value in enumerate(values):
        low = max(end - 30, 0)
        less = [start for start in range(low, end) if value > values[start] + 3]
        if less:
            wanted[end] = less[0] if chosen == "first" else less[-1]
    found = {match.end: match.start for match in query.run(table_of(values), engine="ordered")}
    assert found == wanted


def test_max_of_matches_of_one_length_leaves_all() -> None:
    rng = Random(8)
    values = [rng.randrange(9) for _ in range(40)]
    text = "WHERE T AS x ; T AS y ; T AS z FILTER y.v > x.v AND z.v != y.v WITHIN 7 EVENTS"
    every = cer.compile(f"SELECT * {text}").count(table_of(values))
    assert cer.compile(f"SELECT MAX * {text}").count(table_of(values), engine="ordered") == every
    wanted = sum(
        values[a] < values[b] != values[c] for a, b, c in combinations(range(len(values)), 3) if c - a <= 7
    )
    assert every == wanted


@pytest.mark.parametrize(
    "pattern",
    [
        "(T AS x FILTER x.v > 2 * PRIOR(x).v){2,}",
        "(T AS x FILTER x.v != PRIOR(x).v){2,}",
        "(T AS x FILTER x.v > PRIOR(x).v){1,3}",
        f"{RUNS}{{2,}} ; T AS y",
    ],
)
def test_max_of_what_two_events_do_not_decide_is_left_to_the_general_machine(pattern: str) -> None:
    query = cer.compile(f"SELECT MAX * WHERE {pattern} WITHIN 6 EVENTS")
    values = [3, 1, 4, 1, 5, 9, 2, 6]
    with pytest.raises(cer.QueryError, match="more than two events"):
        query.count(table_of(values), engine="ordered")
    assert query.count(table_of(values)) > 0
