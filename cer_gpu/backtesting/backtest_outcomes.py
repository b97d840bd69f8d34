"""The outcomes that a backtest is asked for, and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.backtesting.outcomes.resumption import KeptOutcomes, kept_outcomes
from cer_gpu.backtesting.outcomes.table import OutcomeQuery, Outcomes
from cer_gpu.backtesting.outcomes.words import outcome
from cer_gpu.backtesting.queries import AskedQuery, parameters_of, values_for
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.language import tree
from cer_gpu.language.scope import variables
from cer_gpu.printable_text import brief, names_text
from cer_gpu.progress import begun
from cer_gpu.row_pattern_query import BoundRowPattern


class BacktestOutcomes(NamedTuple):
    """The outcomes of a backtest.

    Attributes
    ----------
    summary : pyarrow.Table
    hits : pyarrow.Table or None
        The values at each hit; None where they are too many to keep.
    """

    summary: pa.Table
    hits: pa.Table | None


def asked_outcomes(outcomes: Mapping[str, str] | None, split: Any) -> tuple[AskedOutcome, ...]:
    """Read the outcomes of a call.

    Raises
    ------
    TypeError
        When `outcomes` is not a mapping of names to texts.
    ValueError
        When a text is not an outcome, or `split` is given without outcomes.
    """
    if outcomes is None:
        if split is not None:
            raise ValueError("split divides the summary of outcomes: pass outcomes too")
        return ()
    if not isinstance(outcomes, Mapping) or not all(isinstance(text, str) for text in outcomes.values()):
        raise TypeError(
            'outcomes must be a dict of name to text: {"later": "AFTER 5 MINUTES (price) - price"}'
        )
    return tuple(outcome(str(name), text) for name, text in outcomes.items())


def check_variables(wanted: Sequence[AskedOutcome], asked: Sequence[AskedQuery]) -> None:
    """Refuse outcomes that read a variable which a query does not have.

    Raises
    ------
    ValueError
        When there is one.
    """
    for one in asked if wanted else ():
        statement = one.query.tree
        there = variables(statement.pattern) if isinstance(statement, tree.SelectQuery) else None
        for sought in wanted:
            for node in sought.aggregates:
                if there is not None and node.variable is not None and node.variable not in there:
                    names = names_text(sorted(there))
                    raise ValueError(
                        f"the outcome {brief(sought.name)} reads the variable `{node.variable}`, which the "
                        f"query {brief(one.name)} does not have: its variables are {names}"
                    )


class SourceOutcomes:
    """The outcomes of all queries of a backtest over a source.

    Parameters
    ----------
    wanted : sequence of AskedOutcome
    split : object or None
    asked : sequence of AskedQuery
    bound : sequence of BoundQuery or BoundRowPattern
    source : Source
    options : Options
    """

    def __init__(
        self,
        wanted: Sequence[AskedOutcome],
        split: Any,
        asked: Sequence[AskedQuery],
        bound: Sequence[BoundQuery | BoundRowPattern],
        source: Source,
        options: Options,
    ) -> None:
        self._source, self._options, self._wanted = source, options, wanted
        self._progress = begun(source.rows)
        self._made = Outcomes(
            wanted,
            source,
            options.order_unit,
            split,
            self._bound_to,
            self._progress.watch,
            parameters_of(asked),
        )
        self._firing = [
            OutcomeQuery(one.name, one.values, one.query.tree, own)
            for one, own in zip(asked, bound, strict=True)
        ]

    def _bound_to(self, query: Query, values: Mapping[str, Any]) -> BoundQuery:
        params = values_for(query, self._options.params, values)
        return query.bound_to(self._source, replace(self._options, params=params), once=True)

    def tables(self) -> list[pa.Table]:
        """The summary, and the values at each hit, if they are kept."""
        made = self._made
        made.columns({one.partition for one in self._firing})
        for one in self._firing:
            made.add(one)
        hits = made.hits()
        return [made.summaries()] if hits is None else [made.summaries(), hits]

    def going_on(self) -> KeptOutcomes | None:
        """What goes on with new files; None where only all files tell: see `KeptOutcomes`."""
        return kept_outcomes(
            self._made, self._wanted, self._firing, self._bound_to, self._source, self._options
        )
