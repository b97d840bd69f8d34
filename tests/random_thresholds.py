"""Seeded random iterations whose filters are thresholds: on counts, and on one sum, mean or extreme."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from cer_gpu.language import tree
from cer_gpu.language.parser import parse

COLUMNS = ("id", "v", "p", "s")

ENDLESS = ("+", "+", ":+", ":+")


def thresholds_query(rng: Random) -> tree.SelectQuery:
    """A query; some ask for more than a threshold, which the machine of windows that slide does not take."""
    pattern, name = iteration(rng, (*ENDLESS, "{2,}", ":{2,}"))
    conditions = [threshold(rng, name) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    return asked(rng, pattern, name, conditions)


def aggregate_thresholds_query(rng: Random) -> tree.SelectQuery:
    """A query whose only condition compares an aggregate with a constant."""
    pattern, name = iteration(rng, ENDLESS)
    return asked(rng, pattern, name, [aggregate_threshold(rng, name)])


def iteration(rng: Random, counts: Sequence[str]) -> tuple[str, str]:
    """An iteration of single events, and a variable that they have."""
    kind = rng.choice("ABC")
    inside = rng.choice((kind, kind, f"{kind} AS x", f"({kind} OR A) AS x"))
    name = "x" if " AS x" in inside else kind
    if rng.random() < 0.3:
        inside = f"{inside} FILTER {name}[v > {rng.randrange(1, 5)}]"
    pattern = f"({inside}) {rng.choice(counts)}"
    if name != "x" and rng.random() < 0.3:
        pattern, name = f"({pattern}) AS y", rng.choice(("y", name))
    return pattern, name


def asked(rng: Random, pattern: str, name: str, conditions: Sequence[str]) -> tree.SelectQuery:
    """An iteration with conditions as a query, in a window, by a key, consuming, or not."""
    clauses = ""
    if rng.random() < 0.5:
        clauses += " PARTITION BY [id]"
    if rng.random() < 0.6:
        clauses += rng.choice(
            (" WITHIN 3 EVENTS", " WITHIN 6 EVENTS", " WITHIN 2 SECONDS", " WITHIN 5 SECONDS")
        )
    if rng.random() < 0.3:
        clauses += rng.choice((" CONSUME BY ANY", " CONSUME BY PARTITION", " CONSUME BY PARTITION LIMIT 1"))
    kept = rng.choice(("*", "NONE", name))
    query = parse(f"SELECT {kept} WHERE ({pattern}) FILTER {' AND '.join(conditions)}{clauses}")
    assert isinstance(query, tree.SelectQuery)
    return query


def threshold(rng: Random, name: str) -> str:
    """A condition on how many there are."""
    column = rng.choice(COLUMNS)
    counted = rng.choice(
        (f"COUNT(DISTINCT {name}.{column})",) * 3 + (f"COUNT({name}.{column})", f"COUNT({name})")
    )
    least = rng.choice((0, 1, 2, 2, 3, 3, 4, "2.5", "1e300" if rng.random() < 0.1 else 2))
    if rng.random() < 0.3:
        return f"{least} {rng.choice(('<', '<='))} {counted}"
    return f"{counted} {rng.choice(('>', '>=', '>=', '>=', '='))} {least}"


def aggregate_threshold(rng: Random, name: str) -> str:
    """A comparison of a sum, a mean, a spread or an extreme with a constant."""
    value = rng.choice(
        (f"{name}.v", f"{name}.v", f"{name}.p", f"{name}.v - 4", f"{name}.p - 5", f"{name}.p * {name}.v",
         f"0.1 * {name}.v - 0.3", f"ABS({name}.v - 5)", f"{name}.ts - {name}.ts + {name}.v * 1 s")
    )  # fmt: skip
    spans = " s" if "1 s" in value else ""
    functions = ("SUM", "SUM", "SUM", "MAX", "MIN", "SPREAD") + (() if spans else ("AVG", "AVG"))
    function = rng.choice(functions)
    counted = f"MAX({value}) - MIN({value})" if function == "SPREAD" else f"{function}({value})"
    bound = rng.choice((0, 1, 2, 3, 5, 8, 12, 20)) if spans else rng.choice(BOUNDS)
    op = rng.choice((">", ">=", "<", "<="))
    if rng.random() < 0.2:
        return f"{bound}{spans} {op} {counted}"
    return f"{counted} {op} {bound}{spans}"


BOUNDS = (-2, -1, 0, 0, 1, 2, 3, 4, 5, 8, 12, 20, "2.5", "0.3", "0.6", "-0.3", "4.1", "1e300")
"""Some sums are as great as these, and some sums of floats are only nearly so."""
