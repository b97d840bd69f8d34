"""How a backtest was run, for its report; and the part of its result that charts and reports read."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple, Protocol

import pyarrow as pa

from cer_gpu.api import Query
from cer_gpu.backtesting.buckets import Buckets
from cer_gpu.backtesting.queries import AskedQuery, parameters_of
from cer_gpu.row_pattern_query import RowPatternQuery


class Provenance(NamedTuple):
    """How a backtest was run.

    Attributes
    ----------
    queries : dict of str to (Query or RowPatternQuery)
        The queries and templates by their names.
    parameters : tuple of str
        The parameters of the sweeps.
    told : str
        The events, the queries and the speed, in words.
    buckets : Buckets or None
        How time was cut.
    """

    queries: dict[str, Query | RowPatternQuery]
    parameters: tuple[str, ...]
    told: str
    buckets: Buckets | None = None


def about(asked: Sequence[AskedQuery], how: str, buckets: Buckets | None = None) -> Provenance:
    """How queries were run; `how` says in words over what, how long and where."""
    many = f"{len(asked):,} {'query' if len(asked) == 1 else 'queries'}"
    return Provenance(
        {one.name: one.query for one in asked},
        parameters_of(asked),
        f"{many} {how}; cer-gpu {version('cer-gpu')}",
        buckets,
    )


class BacktestResult(Protocol):
    """The result of a backtest, as its charts and its report read it: see `Backtest`."""

    about: Provenance
    notes: tuple[str, ...]

    @property
    def parameters(self) -> tuple[str, ...]: ...

    @property
    def has_outcomes(self) -> bool: ...

    @property
    def has_funnel(self) -> bool: ...

    @property
    def funnel(self) -> pa.Table: ...

    @property
    def keeps_hits(self) -> bool: ...

    @property
    def outcomes(self) -> pa.Table: ...

    @property
    def outcome_hits(self) -> pa.Table: ...

    def to_arrow(self) -> pa.Table: ...
