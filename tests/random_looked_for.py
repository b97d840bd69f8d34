"""Random queries whose FOLLOWED BY and PRECEDED BY look for what compares events or has intervals."""

from __future__ import annotations

from random import Random

from random_besides import reach
from random_whole import Drawn, condition, drawn_pattern, well_formed

from cer_gpu.language import tree as t
from cer_gpu.language.printer import interval_text

WORDS = ("FOLLOWED BY", "NOT FOLLOWED BY", "PRECEDED BY", "NOT PRECEDED BY")


def looking_query(rng: Random) -> t.SelectQuery:
    """A short pattern that is followed or preceded by another, which is seldom regular."""
    while True:
        found = well_formed(_query(rng))
        if found is not None:
            return found


def _query(rng: Random) -> str:
    drawn = Drawn(rng, 1)
    pattern, names = drawn_pattern(drawn, rng.choice((1, 1, 1, 2)), ())
    if names and rng.random() < 0.3:
        pattern = f"({pattern}) FILTER {condition(rng, names)}"
    for _ in range(rng.choice((1, 1, 1, 2))):
        pattern = f"({pattern}) {rng.choice(WORDS)} {_reach(rng)} ({_looked_for(rng)})"
    if rng.random() < 0.2:
        pattern = f"({pattern}) ; C AS last"
    clauses = [
        rng.choice(("", "", "PARTITION BY id", "PARTITION BY [s], id")),
        rng.choice(("", "", "WITHIN 4 EVENTS", "WITHIN 2 SECONDS", "WITHIN 3 [lap]")),
        rng.choice(("", "", "", "CONSUME BY ANY", "CONSUME BY PARTITION")),
    ]
    strategy = rng.choice(("", "", "", "", "NEXT ", "MAX "))
    return f"SELECT {strategy}* WHERE {pattern} {' '.join(clauses)}"


def _looked_for(rng: Random, depth: int = 1) -> str:
    drawn = Drawn(rng, 1)
    pattern, names = drawn_pattern(drawn, rng.choice((1, 2, 2, 2, 3)), ())
    if names and rng.random() < 0.8:
        pattern = f"({pattern}) FILTER {condition(rng, names)}"
    if depth and rng.random() < 0.15:
        pattern = f"({pattern}) {rng.choice(WORDS)} {_reach(rng)} ({_looked_for(rng, depth - 1)})"
    return pattern


def _reach(rng: Random) -> str:
    interval = reach(rng)
    return "" if interval is None else interval_text(interval)
