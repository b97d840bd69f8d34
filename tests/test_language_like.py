"""Patterns of SQL's LIKE, and the regular expressions that say the same."""

from __future__ import annotations

import re
from random import Random

import pytest

from cer_gpu.language.types import looks_like_sql, regex_of


def matches_sql(pattern: str, value: str) -> bool:
    """SQL's LIKE with `%` alone: any characters."""
    if not pattern:
        return not value
    if pattern[0] == "%":
        return any(matches_sql(pattern[1:], value[place:]) for place in range(len(value) + 1))
    return bool(value) and value[0] == pattern[0] and matches_sql(pattern[1:], value[1:])


def test_the_regular_expression_finds_what_the_pattern_matches() -> None:
    rng = Random("like")
    found = 0
    for _ in range(3_000):
        pattern = "".join(rng.choice("ab.%%[") for _ in range(rng.randrange(1, 6)))
        if "%" not in pattern:
            continue
        value = "".join(rng.choice("aab.[") for _ in range(rng.randrange(5)))
        expected = matches_sql(pattern, value)
        assert bool(re.search(regex_of(pattern), value)) == expected, (pattern, value, regex_of(pattern))
        found += expected
    assert found > 300


@pytest.mark.parametrize(
    ("pattern", "is_sql"),
    [("AB%", True), ("%", True), (r"50\%", False), (r"50\\%", True), (r"a\\\%b", False), ("AB", False)],
)
def test_a_backslash_makes_it_a_per_cent_sign(pattern: str, is_sql: bool) -> None:
    assert looks_like_sql(pattern) == is_sql
