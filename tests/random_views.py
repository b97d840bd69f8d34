"""Random rules for views, and random batches for them."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
from view_oracle import Database, Row

OPS = ["<", "<=", ">", ">=", "=", "!="]


def random_rule(rng: Random, atoms: int) -> tuple[str, dict[str, list[str]]]:
    """The text of a rule, and the kinds of the columns of its relations: `int`, `float` or `text`."""
    kinds = {"t": "text", "u": "text", "f": "float", "g": "float"}
    pool = [*"abcdefgh"[: 3 + atoms], *(["t", "f"] if rng.random() < 0.3 else [])]
    relations: dict[str, list[str]] = {}
    body, used = [], []
    for number in range(atoms):
        name = f"R{number}"
        if relations and rng.random() < 0.15:
            name = rng.choice(list(relations))
            terms = [_term(rng, pool, kinds, kind) for kind in relations[name]]
        else:
            terms = [rng.choice(pool) for _ in range(rng.randint(1, 3))]
            relations[name] = [kinds.get(term, "int") for term in terms]
            if rng.random() < 0.15:
                terms[0] = {"int": "1", "float": "1.0", "text": "'x'"}[relations[name][0]]
        used += [term for term in terms if term in pool]
        body.append(f"{name}({', '.join(terms)})")
    names = sorted(set(used))
    numbers = [name for name in names if kinds.get(name) != "text"]
    for _ in range(rng.randint(0, 3) if len(numbers) > 1 else 0):
        left, right = rng.sample(numbers, 2)
        if rng.random() < 0.25:
            left = rng.choice([f"{left} + {rng.randint(0, 2)}", f"{left} + {rng.choice(numbers)}"])
        if rng.random() < 0.1:
            right = str(rng.randint(0, 4))
        body.append(f"{left} {rng.choice(OPS)} {right}")
    head = rng.sample(names, rng.randint(0, len(names))) if rng.random() < 0.4 else names
    return f"Q({', '.join(head)}) <- {', '.join(body)}", relations


def _term(rng: Random, pool: list[str], kinds: dict[str, str], kind: str) -> str:
    found = [name for name in pool if kinds.get(name, "int") == kind]
    return rng.choice(found) if found else {"int": "2", "float": "2.0", "text": "'y'"}[kind]


def random_rows(rng: Random, kinds: list[str], count: int) -> list[Row]:
    """Rows of few different values, some of them null."""
    values: dict[str, list[Any]] = {
        "int": [*range(5), None],
        "float": [0.0, 0.5, 1.0, 2.0, 3.5, None],
        "text": ["x", "y", "z", None],
    }
    return [
        tuple(rng.choice(values[kind][:-1] if rng.random() < 0.95 else values[kind]) for kind in kinds)
        for _ in range(count)
    ]


def table(rows: list[Row], kinds: list[str]) -> pa.Table:
    """CountedRows as an Arrow table with the columns c0, c1, ..."""
    types = {"int": pa.int64(), "float": pa.float64(), "text": pa.string()}
    columns = [pa.array([row[n] for row in rows], types[kind]) for n, kind in enumerate(kinds)]
    return pa.Table.from_arrays(columns, names=[f"c{n}" for n in range(len(kinds))])


def random_deletes(rng: Random, held: Counter[Row], most: int) -> list[Row]:
    """Some rows that are there."""
    there = list(held.elements())
    return rng.sample(there, min(len(there), rng.randint(0, most)))


def apply(database: Database, name: str, rows: list[Row], sign: int) -> None:
    """Change a relation of a database."""
    for row in rows:
        database[name][row] += sign
    database[name] = +database[name]
