"""The outcomes of a backtest as tables: a summary for each query, and the values at its hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.outcomes.block_interval import block_summary
from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.backtesting.outcomes.summary import Summary, summary
from cer_gpu.backtesting.outcomes.time_blocks import BlockSums
from cer_gpu.backtesting.outcomes.values import OutcomeValues, aggregates_of, of_complex_events
from cer_gpu.backtesting.outcomes.words import with_plan
from cer_gpu.engine.answers.end_form import end_names
from cer_gpu.engine.answers.form import free_name, parameter_column
from cer_gpu.engine.answers.future_values import EventColumns
from cer_gpu.engine.read.sources.arrow_types import whole_numbers
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.language import tree
from cer_gpu.language.printer import partition_text, to_text
from cer_gpu.language.units import NANOSECONDS, timestamp_nanoseconds
from cer_gpu.language.walk import walk
from cer_gpu.printable_text import brief
from cer_gpu.row_pattern_query import BoundRowPattern

KEPT = 1 << 22
"""Values of outcomes at hits that a result keeps at most."""

QUERY = "query"

ALL, BEFORE, AFTER = "all", "before", "after"


class OutcomeQuery(NamedTuple):
    """A query of a backtest whose outcomes are asked for.

    Attributes
    ----------
    name : str
    values : mapping of str to object
        Its parameters.
    tree : SelectQuery, Rule or None
        None of SQL.
    bound : BoundQuery or BoundRowPattern
    """

    name: str
    values: Mapping[str, Any]
    tree: tree.Statement | None
    bound: BoundQuery | BoundRowPattern

    @property
    def compiled(self) -> BoundQuery:
        """The query, which is CEQL."""
        assert isinstance(self.bound, BoundQuery)
        return self.bound

    @property
    def partition(self) -> tuple[tuple[str, ...], ...]:
        """Its PARTITION BY."""
        return self.bound.partition


class QueryVariant(Protocol):
    """A query or variant by its name and its parameters."""

    @property
    def name(self) -> str: ...

    @property
    def values(self) -> Mapping[str, Any]: ...


class Outcomes:
    """Works out outcomes over one source.

    Parameters
    ----------
    outcomes : sequence of AskedOutcome
    source : Source
    unit : str or None
        The unit of a plain-number time column.
    split : object or None
        The time at which the sample `after` begins, in the type of the order column.
    bound_to : callable
        Binds a query to the source; given the query and its parameters.
    watch : callable
        Passes batches on and counts their rows.
    parameters : sequence of str
        The parameters of all queries. One that is also the name of another column gets a `_`.
    """

    def __init__(
        self,
        outcomes: Sequence[AskedOutcome],
        source: Source,
        unit: str | None,
        split: Any,
        bound_to: Callable[[Query, Mapping[str, Any]], BoundQuery],
        watch: Callable[[Iterable[Any]], Iterable[Any]],
        parameters: Sequence[str],
    ) -> None:
        self._parameters = parameters
        self._names: list[str] = []
        """The names of the columns of parameters and outcomes beside those of hits."""
        self._outcomes, self._source, self._unit = outcomes, source, unit
        self._bound_to, self._watch = bound_to, watch
        self._values: OutcomeValues | None = None
        self.split = None if split is None else split_at(split, source.arrow_schema, source.order_by)
        self._said: list[tuple[QueryVariant, dict[str, Any]]] = []
        self._hits: list[pa.Table] = []
        self._kept = True

    def columns(self, partitions: Iterable[Any]) -> None:
        """Read the columns of the outcomes and of some partitions."""
        columns = EventColumns(self._source, self.read_of(partitions), self._watch)
        self._values = OutcomeValues(columns, self._unit, self.split, self._ends_of)

    def read_of(self, partitions: Iterable[Any]) -> list[str]:
        """The columns of the outcomes and of some partitions."""
        names = [name for one in self._outcomes for name in one.columns]
        parts = list(partitions)
        names += [name for partition in parts for part in partition for name in part]
        taken = {QUERY, *(name for partition in parts for name in hit_names(partition))}
        self._names = [free_name(name, taken) for name in (*self._parameters, *self.names)]
        return list(dict.fromkeys(names))

    def _ends_of(self, partition: Any, pattern: str) -> np.ndarray:
        ended = self._bound_to(ends_query(partition, pattern, self._source.has_type_column), {}).hits()
        found: np.ndarray = ended.column("position").to_numpy()
        return found

    @property
    def names(self) -> list[str]:
        """The names of the outcomes."""
        return [one.name for one in self._outcomes]

    def summaries(self) -> pa.Table:
        """The summaries of the outcomes of all queries."""
        return summary_table(self._said, self._parameters)

    def hits(self) -> pa.Table | None:
        """The outcomes at each hit of all queries; None when there are too many to keep."""
        if not self._kept:
            return None
        return pa.concat_tables(self._hits, promote_options="permissive")

    def add(self, firing: OutcomeQuery) -> None:
        """Work out the outcomes of a query."""
        hits = firing.bound.hits()
        position = hits.column("position").to_numpy()
        values, partition = self._values, firing.partition
        assert values is not None
        read = self._of_complex_events(firing, position)
        found: dict[str, np.ndarray] = {}
        for one in self._outcomes:
            at = found[one.name] = values.at_hits(one, partition, position, read)
            for name, inside in samples_of(values.late):
                own = slice(None) if isinstance(inside, slice) else inside[position]
                sums = values.sums(one, partition, (name, inside), position[own], at[own])
                self.say(firing, one.name, name, summary(at[own]), sums)
        self.keep(firing, hits, found)

    def say(self, firing: OutcomeQuery, outcome: str, sample: str, own: Summary, sums: BlockSums) -> None:
        """Add a row to the summaries."""
        self._said.append((firing, summary_row(outcome, sample, own, sums)))

    def _of_complex_events(
        self, firing: OutcomeQuery, position: np.ndarray
    ) -> dict[tree.Aggregate, np.ndarray]:
        """What outcomes read of the match at each hit."""
        wanted = aggregates_of(self._outcomes)
        if not wanted:
            return {}
        query = values_query(firing.name, firing.tree, wanted)
        given = {name: value for name, value in firing.values.items() if name in query.parameters}
        return of_complex_events(self._bound_to(query, given).matches().to_arrow(), wanted, position)

    def keep(self, firing: OutcomeQuery, hits: pa.Table, found: Mapping[str, np.ndarray]) -> None:
        """Add the outcomes at the hits of a query, unless these are too many."""
        if not self._kept:
            return
        if len(hits) + sum(map(len, self._hits)) > KEPT:
            self._kept, self._hits = False, []
            return
        given = [parameter_column([firing.values.get(name)] * len(hits)) for name in self._parameters]
        values = [pa.array(values, from_pandas=True) for values in found.values()]
        own = hits.drop_columns(["latest_start"])
        heads = hit_names(firing.partition)[: own.num_columns]
        count = len(self._parameters)
        self._hits.append(
            pa.table(
                [pa.array([firing.name] * len(hits), pa.string()), *given, *own.columns, *values],
                [QUERY, *self._names[:count], *heads, *self._names[count:]],
            )
        )


def hit_names(partition: Any) -> list[str]:
    """The columns of single hits of a query with some PARTITION BY: the position, its keys, and the time."""
    taken = {QUERY}
    keys = [part[0] for part in partition]
    return [free_name(name, taken) for name in end_names("hits", keys)]


def ends_query(partition: Any, pattern: str, typed: bool) -> Query:
    """The query whose ends `TIME TO` looks for; `typed` says whether the events have a column of types."""
    clause = f"PARTITION BY {partition_text(partition)}" if partition else ""
    query = Query(f"SELECT * WHERE {pattern} {clause}")
    types = tuple({node.name: None for node in walk(query.tree) if isinstance(node, tree.EventType)})
    if typed or len(types) != 1 or not isinstance(query.tree, tree.SelectQuery):
        return query
    return Query(to_text(replace(query.tree, streams=types)))  # all events are of the one type


def values_query(name: str, statement: tree.Statement | None, wanted: Sequence[tree.Aggregate]) -> Query:
    """The query that returns the aggregates that outcomes read of its matches: see `with_plan`.

    Raises
    ------
    ValueError
        When the query is a rule, which has no variables, or SQL.
    """
    if not isinstance(statement, tree.SelectQuery):
        why = (
            "is SQL, whose variables outcomes do not read"
            if statement is None
            else "is a rule, which has none"
        )
        raise ValueError(
            f"an outcome reads the variable `{wanted[0].variable}`, and the query {brief(name)} {why}"
        )
    return Query(to_text(with_plan(statement, wanted)))


def summary_table(said: Sequence[tuple[QueryVariant, dict[str, Any]]], parameters: Sequence[str]) -> pa.Table:
    """The summaries of the outcomes of some queries, one row for each."""
    heads = list(said[0][1])
    taken = {QUERY, *heads}
    columns = [pa.array([fired.name for fired, _ in said], pa.string())]
    names = [QUERY]
    for name in parameters:
        names.append(free_name(name, taken))
        columns.append(parameter_column([fired.values.get(name) for fired, _ in said]))
    columns += [pa.array([row[head] for _, row in said], from_pandas=True) for head in heads]
    return pa.table(columns, [*names, *heads])


def split_at(split: Any, schema: pa.Schema, order_by: Sequence[str]) -> int | float:
    """The time of a split as the order column holds it.

    Raises
    ------
    ValueError
        When `split` is not a time of that column, or there is no order column.
    """
    if not order_by:
        raise ValueError(f"split={brief(split)} divides time: name the column of time with order_by")
    kind = schema.field(order_by[0]).type
    if isinstance(split, str) and pa.types.is_timestamp(kind):
        try:
            return timestamp_nanoseconds(split, kind.tz or "UTC") // NANOSECONDS[kind.unit]
        except ValueError as error:
            raise ValueError(f"split={brief(split)} is not a time: {error}") from None
    try:
        moment = pa.array([split]).cast(kind) if isinstance(split, str) else pa.array([split], kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise ValueError(
            f"split={brief(split)} cannot be read as {kind}, the type of `{order_by[0]}`: {error}"
        ) from None
    found: int | float = (whole_numbers(moment) if pa.types.is_temporal(kind) else moment)[0].as_py()
    return found


def samples_of(late: np.ndarray | None) -> list[tuple[str, np.ndarray | slice]]:
    """The names of the samples, and which events belong to each; `late` says which are after a split."""
    whole = (ALL, slice(None))
    return [whole] if late is None else [whole, (BEFORE, ~late), (AFTER, late)]


def summary_row(outcome: str, sample: str, own: Summary, sums: BlockSums) -> dict[str, Any]:
    """A row of a summary: of the values at the hits, compared with those at all events."""
    found = block_summary(sums)
    mean, positive = (found.figures[name] for name in ("mean", "positive"))
    return {
        "outcome": outcome,
        "sample": sample,
        **own._asdict(),
        "low": mean.low,
        "high": mean.high,
        "blocks": found.blocks,
        "base_n": found.base_n,
        "base_mean": mean.base,
        "base_positive": positive.base,
        "gain_low": mean.gain_low,
        "gain_high": mean.gain_high,
        "positive_gain_low": positive.gain_low,
        "positive_gain_high": positive.gain_high,
    }
