"""Seeded random iterations whose filters ask for at least so many events, values or distinct values."""

from __future__ import annotations

from random import Random

from cer_gpu.language import tree
from cer_gpu.language.parser import parse

COLUMNS = ("id", "v", "p", "s")


def thresholds_query(rng: Random) -> tree.SelectQuery:
    """A query; some ask for more than a threshold, which the machine of windows that slide does not take."""
    kind = rng.choice("ABC")
    inside = rng.choice((kind, kind, f"{kind} AS x", f"({kind} OR A) AS x"))
    name = "x" if " AS x" in inside else kind
    if rng.random() < 0.3:
        inside = f"{inside} FILTER {name}[v > {rng.randrange(1, 5)}]"
    pattern = f"({inside}) {rng.choice(('+', '+', ':+', ':+', '{2,}', ':{2,}'))}"
    if name != "x" and rng.random() < 0.3:
        pattern, name = f"({pattern}) AS y", rng.choice(("y", name))
    conditions = [threshold(rng, name) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
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
