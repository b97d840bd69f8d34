"""The queries of a backtest, with their names and the values of their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from cer_gpu.api import Query
from cer_gpu.backtesting.sweep import Variants
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.errors import CerError
from cer_gpu.frozen_dataclass import replace
from cer_gpu.patterns.statement_kind import is_statement
from cer_gpu.printable_text import brief
from cer_gpu.row_pattern_query import BoundRowPattern, RowPatternQuery

OMITTED = ("limit", "event_id", "memory")
"""The keywords of `Query.run` that a backtest does not have."""


class AskedQuery(NamedTuple):
    """A query or variant of a backtest: its name, the values of its parameters, and the query."""

    name: str
    values: Mapping[str, Any]
    query: Query | RowPatternQuery

    @property
    def ceql(self) -> Query:
        """The query where only CEQL is run.

        Raises
        ------
        ValueError
            When it is SQL.
        """
        if isinstance(self.query, RowPatternQuery):
            raise ValueError(
                f"{brief(self.name)} is SQL with MATCH_RECOGNIZE, which a backtest on Spark does not count: "
                "use cer_spark.match_recognize, with GROUP BY around it"
            )
        return self.query


def asked_queries(queries: Any) -> list[AskedQuery]:
    """The queries of a call with their names, and the variants of each sweep."""
    if isinstance(queries, Mapping):
        pairs: Iterable[tuple[str, Any]] = queries.items()
    else:
        single = isinstance(queries, (Query, RowPatternQuery, Variants, str))
        listed = [queries] if single or not isinstance(queries, Iterable) else list(queries)
        pairs = ((f"q{number}", one) for number, one in enumerate(listed, 1))
    found = []
    for name, one in pairs:
        if isinstance(one, Variants):
            found += [AskedQuery(str(name), values, one.query) for values in one]
        elif isinstance(one, str):
            found.append(AskedQuery(str(name), {}, _compiled(str(name), one)))
        elif isinstance(one, (Query, RowPatternQuery)):
            found.append(AskedQuery(str(name), {}, one))
        else:
            given = type(one).__name__
            raise TypeError(
                f"the query {brief(name)} is of type {given}: give a text, a Query or the result of sweep()"
            )
    return found


def refuse_omitted(keywords: Mapping[str, Any]) -> None:
    """Refuse keywords of `Query.run` that a backtest does not have.

    Raises
    ------
    TypeError
        When there is one.
    """
    for name in OMITTED:
        if name in keywords:
            raise TypeError(f"a backtest has no keyword {brief(name)}: it counts all matches of all queries")


def parameters_of(asked: Sequence[AskedQuery]) -> tuple[str, ...]:
    """The parameters of all variants, in the order of the result's columns."""
    return tuple(dict.fromkeys(name for one in asked for name in one.values))


def refuse_unknown(params: Mapping[str, Any], asked: Sequence[AskedQuery]) -> None:
    """Refuse values in `params` that no query has a parameter for.

    Raises
    ------
    ValueError
        When there is such a value.
    """
    known = dict.fromkeys(name for one in asked for name in one.query.parameters)
    for name in params:
        if name not in known:
            there = ", ".join(f"${each}" for each in known) or "none"
            raise ValueError(f"params: no query has the parameter `${name}`; the parameters are {there}")


def _compiled(name: str, text: str) -> Query | RowPatternQuery:
    with in_query(name):
        return RowPatternQuery(text) if is_statement(text) else Query(text, bound_next=True)


def bound_query(one: AskedQuery, source: Source, options: Options) -> BoundQuery | BoundRowPattern:
    """A query of a backtest, bound to the source."""
    with in_query(one.name):
        params = values_for(one.query, options.params, one.values)
        return one.query.bound_to(source, replace(options, params=params), "counts", once=True)


def values_for(
    query: Query | RowPatternQuery, params: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of a query's parameters: its own, and those of `params` that it has a parameter for."""
    return {**{name: value for name, value in params.items() if name in query.parameters}, **own}


@contextmanager
def in_query(name: str) -> Iterator[None]:
    """A `with` block whose errors name the query."""
    try:
        yield
    except CerError as error:
        error.add_note(f"in the query {brief(name)}")
        raise
