"""Patterns under several strategies and clauses, against the reference."""

from __future__ import annotations

import warnings
from random import Random

import generate
from engine_oracle import check

from cer_gpu.language import tree
from cer_gpu.language.parser import parse

CLAUSES = ("", "WITHIN 3 SECONDS", "WITHIN 6 EVENTS", "CONSUME BY ANY", "PARTITION BY id")


def check_pattern(pattern: str, length: int) -> None:
    """Assert that a pattern is answered as the reference says, on four streams, and that one has answers."""
    answered = 0
    for seed in range(4):
        rng = Random(f"{pattern} {seed}")
        clause = rng.choice(CLAUSES)
        query = parse(f"SELECT {rng.choice(('', '', 'NEXT', 'MAX', 'LAST'))} * WHERE {pattern} {clause}")
        assert isinstance(query, tree.SelectQuery)
        events = generate.stream(rng, length, holes=0.05)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answered += check(query, events, rng) > 0
    assert answered
