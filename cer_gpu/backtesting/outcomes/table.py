"""What a backtest says of outcomes: a summary for each query, and the values at its hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.outcomes.evaluate import evaluated
from cer_gpu.backtesting.outcomes.summary import Summary, summary
from cer_gpu.backtesting.outcomes.words import AskedOutcome, with_plan
from cer_gpu.engine.answers.around import Around, EventColumns, moments
from cer_gpu.engine.answers.form import free_name, parameter_column
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound import BoundQuery
from cer_gpu.language import tree
from cer_gpu.language.printer import partition_text, to_text
from cer_gpu.language.units import NANOSECONDS, timestamp_nanoseconds

KEPT = 1 << 22
"""Values of outcomes at hits that a result keeps at most."""

QUERY = "query"

ALL, BEFORE, AFTER = "all", "before", "after"


class Firing(NamedTuple):
    """A query of a backtest, where its outcomes are asked for.

    Attributes
    ----------
    name : str
    values : mapping of str to object
        Its parameters.
    tree : SelectQuery or Rule
    bound : BoundQuery
    """

    name: str
    values: Mapping[str, Any]
    tree: tree.Statement
    bound: BoundQuery

    @property
    def partition(self) -> tuple[tuple[str, ...], ...]:
        """Its PARTITION BY."""
        return self.tree.partition if isinstance(self.tree, tree.SelectQuery) else ()


class Outcomes:
    """Works out outcomes over one source.

    Parameters
    ----------
    outcomes : sequence of AskedOutcome
    source : Source
    unit : str or None
        Of plain numbers of time.
    split : object or None
        The time at which what is called `after` begins, in the type of the order column.
    bound_to : callable
        Binds a query to the source; given the query and its parameters.
    watch : callable
        Passes batches on and counts their rows.
    parameters : sequence of str
        Those of all queries; a column that has another meaning keeps its name, and the parameter gets a `_`.
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
        self._around: dict[Any, Around] = {}
        self._base: dict[tuple[Any, str], np.ndarray] = {}
        self._base_said: dict[tuple[Any, str, str], Summary] = {}
        self._columns: EventColumns | None = None
        self._split = None if split is None else _moment(split, source)
        self._said: list[tuple[Firing, dict[str, Any]]] = []
        self._hits: list[pa.Table] = []
        self._kept = True

    def columns(self, partitions: Iterable[Any]) -> None:
        """Read what outcomes look at, and the columns of some partitions."""
        names = [name for one in self._outcomes for name in one.columns]
        keys = [name for partition in partitions for part in partition for name in part]
        names += keys
        taken = {QUERY, "position", "time", *keys}
        self._names = [free_name(name, taken) for name in (*self._parameters, *self.names)]
        self._columns = EventColumns(self._source, list(dict.fromkeys(names)), self._watch)

    @property
    def names(self) -> list[str]:
        """The names of the outcomes."""
        return [one.name for one in self._outcomes]

    def summaries(self) -> pa.Table:
        """How outcomes are spread, of all queries."""
        heads = list(self._said[0][1])
        taken = {QUERY, *heads}
        columns = [pa.array([firing.name for firing, _ in self._said], pa.string())]
        names = [QUERY]
        for name in self._parameters:
            names.append(free_name(name, taken))
            columns.append(parameter_column([firing.values.get(name) for firing, _ in self._said]))
        columns += [pa.array([row[head] for _, row in self._said], from_pandas=True) for head in heads]
        return pa.table(columns, [*names, *heads])

    def hits(self) -> pa.Table | None:
        """The outcomes at each hit, of all queries; None where there are too many to keep."""
        if not self._kept:
            return None
        return pa.concat_tables(self._hits, promote_options="permissive")

    def add(self, firing: Firing) -> None:
        """Work out the outcomes of a query."""
        hits = firing.bound.hits()
        position = hits.column("position").to_numpy()
        partition = firing.partition
        read = self._of_complex_events(firing, position)
        found: dict[str, np.ndarray] = {}
        for one in self._outcomes:
            base = self._everywhere(one, partition)
            at = base[position]
            if one.aggregates:
                around = self._around_of(partition)

                def looked(
                    node: tree.Aggregate, one: AskedOutcome = one, around: Around = around
                ) -> np.ndarray:
                    look = one.look_of(node)
                    return read[node] if look is None else around.look(look)[position]

                at = evaluated(one, looked, len(position))
            found[one.name] = at
            for sample, inside, outside in self._samples(position):
                said = self._base_of(one, partition, sample, outside)
                self._said.append((firing, _row(one.name, sample, summary(at[inside]), said)))
        self._keep(firing, hits, found)

    def _samples(self, position: np.ndarray) -> Iterable[tuple[str, Any, Any]]:
        """Names of samples, with those hits and those events that belong to each."""
        whole = slice(None)
        yield ALL, whole, whole
        if self._split is not None:
            assert self._columns is not None
            assert self._columns.times is not None
            late = self._columns.times >= self._split
            yield BEFORE, ~late[position], ~late
            yield AFTER, late[position], late

    def _around_of(self, partition: Any) -> Around:
        assert self._columns is not None
        if partition not in self._around:

            def ends_of(pattern: str) -> np.ndarray:
                clause = f"PARTITION BY {partition_text(partition)}" if partition else ""
                query = Query(f"SELECT * WHERE {pattern} {clause}")
                found: np.ndarray = self._bound_to(query, {}).hits().column("position").to_numpy()
                return found

            self._around[partition] = Around(self._columns, partition, self._unit, ends_of)
        return self._around[partition]

    def _everywhere(self, one: AskedOutcome, partition: Any) -> np.ndarray:
        """The outcome of every event: as if a complex event of that event alone ended there."""
        key = partition, one.name
        if key not in self._base:
            around, columns = self._around_of(partition), self._columns
            assert columns is not None

            def looked(node: tree.Aggregate) -> np.ndarray:
                look = one.look_of(node)
                if look is not None:
                    return around.look(look)
                assert isinstance(node.argument, tree.Attribute)
                return columns.number(node.argument.name)

            self._base[key] = evaluated(one, looked, columns.rows)
        return self._base[key]

    def _base_of(self, one: AskedOutcome, partition: Any, sample: str, outside: Any) -> Summary:
        key = partition, one.name, sample
        if key not in self._base_said:
            self._base_said[key] = summary(self._everywhere(one, partition)[outside], confident=False)
        return self._base_said[key]

    def _of_complex_events(self, firing: Firing, position: np.ndarray) -> dict[tree.Aggregate, np.ndarray]:
        """What outcomes read of the complex event at each hit."""
        wanted = list(dict.fromkeys(node for one in self._outcomes for node in one.aggregates))
        if not wanted:
            return {}
        if not isinstance(firing.tree, tree.SelectQuery):
            variable = wanted[0].variable
            raise ValueError(f"the query {firing.name!r} is a rule, and has no variable `{variable}`")
        query = Query(to_text(with_plan(firing.tree, wanted)))
        given = {name: value for name, value in firing.values.items() if name in query.parameters}
        matches = self._bound_to(query, given).matches().to_arrow()
        ends, first = np.unique(matches.column("end").to_numpy(), return_index=True)
        at = first[np.minimum(np.searchsorted(ends, position), max(len(ends) - 1, 0))] if len(ends) else first
        found = {}
        for number, node in enumerate(wanted, 1):
            column = matches.column(f"outcome_{number}").cast(pa.float64(), safe=False)
            found[node] = column.to_numpy()[at]
        return found

    def _keep(self, firing: Firing, hits: pa.Table, found: dict[str, np.ndarray]) -> None:
        if not self._kept:
            return
        if len(hits) + sum(map(len, self._hits)) > KEPT:
            self._kept, self._hits = False, []
            return
        given = [parameter_column([firing.values.get(name)] * len(hits)) for name in self._parameters]
        values = [pa.array(values, from_pandas=True) for values in found.values()]
        own = hits.drop_columns(["latest_start"])
        count = len(self._parameters)
        self._hits.append(
            pa.table(
                [pa.array([firing.name] * len(hits), pa.string()), *given, *own.columns, *values],
                [QUERY, *self._names[:count], *own.schema.names, *self._names[count:]],
            )
        )


def _moment(split: Any, source: Source) -> int | float:
    """The time of a split as the order column holds it."""
    if not source.order_by:
        raise ValueError(f"split={split!r} cuts time: name the column of time with order_by")
    kind = source.arrow_schema.field(source.order_by[0]).type
    if isinstance(split, str) and pa.types.is_timestamp(kind):
        try:
            return timestamp_nanoseconds(split, kind.tz or "UTC") // NANOSECONDS[kind.unit]
        except ValueError as error:
            raise ValueError(f"split={split!r} is no time: {error}") from None
    try:
        moment = pa.array([split]).cast(kind) if isinstance(split, str) else pa.array([split], kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise ValueError(
            f"split={split!r} is no {kind}, the type of `{source.order_by[0]}`: {error}"
        ) from None
    found: int | float = moments(moment)[0][0].as_py()
    return found


def _row(outcome: str, sample: str, own: Summary, base: Summary) -> dict[str, Any]:
    said = {"outcome": outcome, "sample": sample, **own._asdict()}
    return said | {f"base_{name}": getattr(base, name) for name in ("n", "mean", "median", "positive")}
