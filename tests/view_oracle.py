"""The answers of a view by their definition, all choices of rows, and its reducts by Definition 6."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any

import numpy as np

from cer_gpu.engine.views.node_lookup import columns_of
from cer_gpu.engine.views.trees import KeptTree
from cer_gpu.language import tree as t

Row = tuple[Any, ...]
Database = dict[str, Counter[Row]]

COMPARED = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}


def answers(rule: t.Rule, database: Database) -> Counter[Row]:
    """The answers of a rule whose atoms are by position, with their multiplicities."""
    found: Counter[Row] = Counter()
    names = [variable.name for variable in rule.head]
    places = Counter(
        term.name for atom in rule.atoms for term in atom.terms if isinstance(term, t.RuleVariable)
    )
    for rows in product(*(database[atom.type.name].items() for atom in rule.atoms)):
        values: dict[str, Any] = {}
        good = True
        count = 1
        for atom, (row, times) in zip(rule.atoms, rows):
            count *= times
            for term, value in zip(atom.terms, row):
                if isinstance(term, t.RuleVariable):
                    first = values.setdefault(term.name, value)
                    good &= places[term.name] == 1 or _equal(first, value)
                else:
                    good &= _equal(term.value, value)
        if good and all(_holds(one, values) for one in rule.comparisons):
            found[tuple(values[name] for name in names)] += count
    return +found


def _equal(one: Any, other: Any) -> bool:
    return not _absent(one) and not _absent(other) and one == other


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _holds(comparison: t.Comparison, values: dict[str, Any]) -> bool:
    left, right = value_of(comparison.left, values), value_of(comparison.right, values)
    return not _absent(left) and not _absent(right) and COMPARED[comparison.op](left, right)


def value_of(expression: t.Expression, values: dict[str, Any]) -> Any:
    """The value of an expression with `+ - *` over variables."""
    match expression:
        case t.Attribute(name=name):
            return values[name]
        case t.Number(value=value) | t.Text(value=value):
            return value
        case t.Arithmetic(op=op, left=left, right=right):
            one, other = value_of(left, values), value_of(right, values)
            if one is None or other is None:
                return None
            return {"+": one + other, "-": one - other, "*": one * other}[op]
    raise NotImplementedError(expression)


def check_reducts(kept: KeptTree) -> None:
    """Check that each inner node holds what Definition 6 says, from what its children hold."""
    layout = kept.layout
    held = [store.ordered() for store in kept.stores]
    for place, store in zip(layout.places, kept.stores):
        assert store.total == store.ordered()[1].sum()
        if place.atom is not None:
            continue
        wanted: Counter[Row] = Counter()
        variables = sorted(place.variables)
        if place.joined is None:
            child = layout.places[place.child]
            columns = columns_of(child, held[place.child][0])
            for row, count in enumerate(held[place.child][1].tolist()):
                wanted[tuple(int(columns[name][row]) for name in variables)] += count
        else:
            join = place.joined
            keys, counts = held[join.guard]
            others, times = held[join.other]
            left = np.repeat(np.arange(len(counts)), len(times))
            right = np.tile(np.arange(len(times)), len(counts))
            mine = columns_of(layout.places[join.guard], keys[left])
            theirs = columns_of(layout.places[join.other], others[right])
            good = np.ones(len(left), bool)
            for name in join.shared:
                good &= mine[name] == theirs[name]
            for one in (*join.rest, *join.keys):
                good &= one.holds({**theirs, **mine}, layout.kinds, layout.codes, len(left))
            for row in np.flatnonzero(good).tolist():
                key = tuple(int(mine[name][row]) for name in variables)
                wanted[key] += int(counts[left[row]] * times[right[row]])
        columns = columns_of(place, store.ordered()[0])
        found = {
            tuple(int(columns[name][row]) for name in variables): count
            for row, count in enumerate(store.ordered()[1].tolist())
        }
        assert found == +wanted, place
