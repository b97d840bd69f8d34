"""Seeded random queries that compare aggregates of variables which take turns.

Each event of a match is marked by one of a few variables, in any order, so partial matches differ in how many
events each variable has by then, and in what its aggregate is: a comparison of aggregates on both sides tells
them apart. Most queries have no window, whose clock would keep the matches of different starts apart.
"""

from __future__ import annotations

from random import Random

from cer_gpu.language import tree
from cer_gpu.language.parser import parse

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
WHOLE = ("v", "id", "lap")
FUNCTIONS = ("SUM", "MIN", "MAX", "FIRST", "LAST", "AVG")


def aggregates_query(rng: Random) -> tree.SelectQuery:
    """A query."""
    names = rng.choice((("p", "q"), ("p", "q"), ("p", "q", "r")))
    types = rng.sample("ABC", len(names)) if rng.random() < 0.8 else rng.choices("ABC", k=len(names))
    turn = " OR ".join(f"{kind} AS {name}" for kind, name in zip(types, names, strict=True))
    if rng.random() < 0.5:
        steps = rng.choice((2, 2, 3, 3, 4))
        pattern = f" {rng.choice(':::;')} ".join([f"({turn})"] * steps)
    else:
        pattern = f"({turn}) {rng.choice((':+', ':+', '+', ':{2,3}', '{2}', '{1,3}'))}"
    if rng.random() < 0.15:
        pattern = f"A AS first ; {pattern}" if rng.random() < 0.5 else f"{pattern} ; C AS last"
    condition = comparison(rng, names)
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        condition = f"{condition} {rng.choice(('AND', 'AND', 'OR'))} {comparison(rng, names)}"
    if rng.random() < 0.1:
        condition = f"NOT ({condition})"
    kept = rng.choice(("*", "*", "*", "NONE", names[0]))
    strategy = rng.choice(("",) * 6 + ("NEXT", "LAST", "MAX", "STRICT", "ANY"))
    clauses = ""
    if rng.random() < 0.2:
        clauses += " PARTITION BY [id]"
    if rng.random() < 0.2:
        clauses += rng.choice((" WITHIN 3 EVENTS", " WITHIN 2 SECONDS", " WITHIN 4 [lap]"))
    if rng.random() < 0.1:
        clauses += " CONSUME BY ANY"
    query = parse(f"SELECT {strategy} {kept} WHERE ({pattern}) FILTER {condition}{clauses}")
    assert isinstance(query, tree.SelectQuery)
    return query


def comparison(rng: Random, names: tuple[str, ...]) -> str:
    """A comparison that has an aggregate on each side."""
    if rng.random() < 0.5:
        kind = rng.choice(("", "", "DISTINCT "))
        column = rng.choice(("", *WHOLE))

        def counted(name: str) -> str:
            return f"COUNT({kind}{name}.{column})" if column else f"COUNT({name})"

        left, right = (counted(name) for name in rng.sample(names, 2))
        if rng.random() < 0.3:
            right = f"{right} {rng.choice('+-*')} {counted(rng.choice(names))}"
        elif rng.random() < 0.3:
            right = f"{rng.choice((2, 3))} * {right}"
    else:
        # Comparisons of several columns, and of whole numbers with floats.
        left, right = (
            f"{rng.choice(FUNCTIONS)}({name}.{rng.choice((*WHOLE, 'p'))})" for name in rng.sample(names, 2)
        )
        if rng.random() < 0.2:
            right = f"{right} {rng.choice('+-')} COUNT({rng.choice(names)})"
        elif rng.random() < 0.1:
            name = rng.choice(names)
            left, right = f"MIN({name}.s)", f"{rng.choice(('MAX', 'FIRST'))}({names[0]}.s)"
    return f"{left} {rng.choice(OPERATORS)} {right}"
