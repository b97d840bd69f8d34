"""The variants of a template: one query text with `$` parameters, and the values that they take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np

from cer_gpu.api import Query
from cer_gpu.language.parameters import check_known
from cer_gpu.patterns.statement_kind import is_statement
from cer_gpu.row_pattern_query import RowPatternQuery


class Variants:
    """A template and the values of its variants; made by `sweep`. Iterating over it gives these values.

    Attributes
    ----------
    query : Query or RowPatternQuery
        The template.
    variants : tuple of dict
        The values of the parameters of each variant, in the order of the result's rows.
    """

    def __init__(self, query: Query | RowPatternQuery, variants: Iterable[Mapping[str, Any]]) -> None:
        self.query = query
        self.variants = tuple(dict(one) for one in variants)
        names = dict.fromkeys(name for one in self.variants for name in one)
        check_known(query.parameters, names, query.text)

    def __len__(self) -> int:
        return len(self.variants)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.variants)

    def __repr__(self) -> str:
        return f"<cer_gpu.Variants of {len(self):,} variants of {' '.join(self.query.text.split())!r}>"


def sweep(
    template: str | Query | RowPatternQuery,
    variants: Iterable[Mapping[str, Any]] | None = None,
    /,
    *,
    random: int | None = None,
    seed: int = 0,
    **grid: Any,
) -> Variants:
    """Make variants of a query with `$` parameters, for `backtest`: one for each combination of values.

    Parameters
    ----------
    template : str, Query or RowPatternQuery
        A query with parameters, such as `$p`, or a SELECT with MATCH_RECOGNIZE that has some.
    variants : iterable of mapping of str to object, optional
        The values of each variant, given one by one in place of the grid: `[{"p": 1, "w": "1 h"}, ...]`.
        They may come from Optuna, or from the rows of a table.
    random : int, optional
        Draw this many different variants of the grid instead of taking all.
    seed : int, default 0
        The seed of the draw: the same seed draws the same variants.
    **grid : object
        For each parameter, by its name without `$`, a list or another iterable of values. A str, or an object
        that is not iterable, is a single value. The last parameter varies fastest.

    Returns
    -------
    Variants

    Raises
    ------
    TypeError
        When the template is neither a text nor a query, or `variants` is given together with a grid or
        `random`.
    ValueError
        When a parameter has no values, or `random` exceeds the number of variants.
    QueryError
        When the template is wrong, or does not have one of the parameters.

    Examples
    --------
    >>> cer.sweep("SELECT * FROM S WHERE A ; B AS b FILTER b[v > $p] WITHIN $w", p=[1, 2], w=["1 h", "1 d"])
    """
    query: Query | RowPatternQuery
    if isinstance(template, str) and is_statement(template):
        query = RowPatternQuery(template)
    else:
        query = template if isinstance(template, (Query, RowPatternQuery)) else Query(template)
    if variants is not None:
        if grid or random is not None:
            raise TypeError("give either the variants, or values for each parameter (and random), not both")
        return Variants(query, variants)
    values = {name: _values(name, given) for name, given in grid.items()}
    if random is None:
        return Variants(query, (dict(zip(values, chosen)) for chosen in product(*values.values())))
    count = prod(map(len, values.values()))
    if not 0 <= random <= count:
        raise ValueError(
            f"random={random:,}: give a number from 0 to {count:,}, the number of variants of the grid"
        )
    drawn = sorted(Random(seed).sample(range(count), random))
    return Variants(query, (_variant(values, number) for number in drawn))


def _values(name: str, given: Any) -> Sequence[Any]:
    """The values of a parameter of a grid."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    single = isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable)
    found = [given] if single else list(given)
    if not found:
        raise ValueError(f"the parameter `{name}` has no values: give it at least one")
    return found


def _variant(values: Mapping[str, Sequence[Any]], number: int) -> dict[str, Any]:
    """A variant of a grid by its number."""
    found = {}
    for name, own in reversed(list(values.items())):
        number, at = divmod(number, len(own))
        found[name] = own[at]
    return {name: found[name] for name in values}
