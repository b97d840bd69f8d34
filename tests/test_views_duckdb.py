"""Random views beside DuckDB, a second oracle: answers, counts and aggregates after every batch."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import duckdb
import pytest
from random_views import apply, random_deletes, random_rows, random_rule, table
from test_views_random import listed
from view_oracle import Database, Row

import cer_gpu
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse

FOLDED = "COUNT(*), SUM({0}), MIN({0}), MAX({0}), AVG({0})"


def expression(side: t.Expression, place: dict[str, str]) -> str:
    """A side of a comparison as SQL."""
    match side:
        case t.Attribute(name=name):
            return place[name]
        case t.Number(value=value):
            return str(value)
        case t.Text(value=value):
            return f"'{value}'"
        case t.Arithmetic(op=op, left=left, right=right):
            return f"({expression(left, place)} {op} {expression(right, place)})"
    raise NotImplementedError(side)


def body_of(rule: t.Rule) -> tuple[dict[str, str], str]:
    """For each variable a column, and the FROM and WHERE of a rule whose atoms are by position."""
    place: dict[str, str] = {}
    asked = []
    for number, atom in enumerate(rule.atoms):
        for column, term in enumerate(atom.terms):
            own = f"a{number}.c{column}"
            if isinstance(term, t.RuleVariable):
                first = place.setdefault(term.name, own)
                asked += [f"{first} = {own}"] if first != own else []
            else:
                asked.append(f"{own} = {expression(term, place)}")
    asked += [
        f"{expression(one.left, place)} {one.op} {expression(one.right, place)}" for one in rule.comparisons
    ]
    atoms = ", ".join(f"{atom.type.name} AS a{number}" for number, atom in enumerate(rule.atoms))
    return place, f"FROM {atoms}" + (f" WHERE {' AND '.join(asked)}" if asked else "")


def rounded(rows: Any) -> Counter[Row]:
    return Counter(tuple(round(one, 9) if isinstance(one, float) else one for one in row) for row in rows)


@pytest.mark.draws("seed", 12)
def test_random_views_are_what_duckdb_answers(seed: int) -> None:
    rng = Random(f"duckdb {seed}")
    text, relations = random_rule(rng, rng.randint(1, 3))
    rule = parse(text)
    assert isinstance(rule, t.Rule)
    place, body = body_of(rule)
    head = [variable.name for variable in rule.head]
    numbers = [name for name in place if name != "t" and name != "u"]
    keys = rng.sample(head, min(len(head), rng.randint(0, 2)))
    folded = FOLDED.format(rng.choice(numbers)) if numbers else "COUNT(*)"
    grouped = f"Q({', '.join(keys)}; {folded}){text[text.index(')') + 1 :]}"
    views = [cer_gpu.maintain(one) for one in (text, grouped)]
    listing = f"SELECT {', '.join([*(place[name] for name in head), 'count(*)'])} {body}"
    listing += f" GROUP BY {', '.join(place[name] for name in head)}" if head else ""
    listing += " HAVING count(*) > 0"
    summing = folded
    for name in numbers:
        summing = summing.replace(f"({name})", f"({place[name]})")
    grouping = f"SELECT {', '.join([*(place[name] for name in keys), summing])} {body}"
    grouping += f" GROUP BY {', '.join(place[name] for name in keys)}" if keys else ""
    database: Database = {name: Counter() for name in relations}
    was: Counter[Row] = Counter()
    for step in range(4):
        change: dict[int, dict[str, Any]] = {1: {}, -1: {}}
        for name, kinds in relations.items():
            for sign, rows in (
                (1, random_rows(rng, kinds, rng.randint(1, 8))),
                (-1, random_deletes(rng, database[name], 4)),
            ):
                apply(database, name, rows, sign)
                change[sign][name] = table(rows, kinds)
        with duckdb.connect() as connection:
            for name, kinds in relations.items():
                connection.register(name, table(list(database[name].elements()), kinds))
            wanted = {row[:-1]: row[-1] for row in connection.sql(listing).fetchall()}
            groups = rounded(connection.sql(grouping).fetchall())
        for view in views:
            view.update(inserts=change[1], deletes=change[-1])
        assert listed(views[0].enumerate()) == wanted, text
        assert views[0].count() == sum(wanted.values())
        found = [tuple(row.values()) for row in views[1].enumerate().to_arrow().to_pylist()]
        assert all(row[-1] == 1 for row in found)
        assert rounded(row[:-1] for row in found) == groups, grouped
        moved = Counter(groups)
        moved.subtract(was)
        delta = [tuple(row.values()) for row in views[1].delta().to_arrow().to_pylist()]
        if step or keys:
            assert {(*next(iter(rounded([row[:-1]]))), row[-1]) for row in delta} == {
                (*row, n) for row, n in moved.items() if n
            }, grouped
        was = groups
