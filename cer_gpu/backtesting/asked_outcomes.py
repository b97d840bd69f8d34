"""The outcomes that a backtest is asked for, and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.asked import AskedQuery, parameters_of, values_for
from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.backtesting.outcomes.table import Firing, Outcomes
from cer_gpu.backtesting.outcomes.words import outcome
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.progress import begun


class Told(NamedTuple):
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
            raise ValueError("split divides the hits for the sums of their outcomes: give outcomes, too")
        return ()
    if not isinstance(outcomes, Mapping) or not all(isinstance(text, str) for text in outcomes.values()):
        raise TypeError('outcomes are texts by their names: {"later": "AFTER 5 MINUTES (price) - price"}')
    return tuple(outcome(str(name), text) for name, text in outcomes.items())


def outcomes_of(
    wanted: Sequence[AskedOutcome],
    split: Any,
    asked: Sequence[AskedQuery],
    bound: Sequence[BoundQuery],
    source: Source,
    options: Options,
) -> Told:
    """Work out the outcomes of all queries of a backtest."""

    def bound_to(query: Query, values: Mapping[str, Any]) -> BoundQuery:
        return query.bound_to(
            source, replace(options, params=values_for(query, options.params, values)), once=True
        )

    progress = begun(source.rows)
    made = Outcomes(wanted, source, options.order_unit, split, bound_to, progress.watch, parameters_of(asked))
    firing = [
        Firing(one.name, one.values, one.query.tree, own) for one, own in zip(asked, bound, strict=True)
    ]
    made.columns({one.partition for one in firing})
    for one in firing:
        made.add(one)
    return Told(made.summaries(), made.hits())
