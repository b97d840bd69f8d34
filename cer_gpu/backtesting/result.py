"""The result of a backtest: a table, notes, outcomes and funnels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.backtesting.listed_values import QUANTILES, STARTS
from cer_gpu.backtesting.outcomes.summary import LEAST_N
from cer_gpu.backtesting.table import FOUND
from cer_gpu.engine.answers.display import as_html, as_text
from cer_gpu.engine.answers.form import free_name
from cer_gpu.engine.answers.table_result import TableResult

if TYPE_CHECKING:
    from cer_gpu.backtesting.backtest_outcomes import BacktestOutcomes
    from cer_gpu.backtesting.best_variants import BestVariants
    from cer_gpu.backtesting.plots import Plots
    from cer_gpu.backtesting.provenance import Provenance


SHOWN = 20
"""Rows that a result shows of itself."""


class Backtest(TableResult):
    """How often each of many queries fires on some events; made by `backtest`.

    Attributes
    ----------
    about : About
        The queries, the parameters of the sweeps, and in words what was run, how long and where.
    notes : tuple of str
        Notes of the run, such as an event type that did not occur.
    together : int
        How many queries were run together, in groups; the others were run one by one. All of them share one
        reading of the events, except queries that run alone on a GPU, and those whose matches differ only in
        measures.
    passes : int
        The number of these groups.
    states : dict of str to bytes
        With `state=True`, by the name of each query what is open at the end of the events: give it to
        `Query.stream` as `state`, with `late`.
    """

    def __init__(
        self,
        table: pa.Table,
        notes: tuple[str, ...],
        read: tuple[int, int],
        about: Provenance,
        told: BacktestOutcomes | None = None,
        funnel: pa.Table | None = None,
        states: Mapping[str, bytes] | None = None,
    ) -> None:
        self._table = table
        self.notes = notes
        self.together, self.passes = read
        self.about = about
        self._told = told
        self._funnel = funnel
        self.states = dict(states or {})

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the sweeps, in the order of the columns."""
        return self.about.parameters

    @property
    def has_outcomes(self) -> bool:
        """Whether outcomes were asked for."""
        return self._told is not None

    @property
    def keeps_hits(self) -> bool:
        """Whether the result has the outcomes at each hit, `outcome_hits`; not if there are too many hits."""
        return self._told is not None and self._told.hits is not None

    @property
    def plot(self) -> Plots:
        """Charts: `plot.hits()`, and `sweep`, `outcomes`, `distribution`, `funnel` and `episodes`."""
        from cer_gpu.backtesting.plots import Plots

        return Plots(self)

    def report(self, path: str | os.PathLike[str], title: str = "Backtest") -> None:
        """Write the result as one HTML page that needs no network: sortable tables, charts, the queries.

        Parameters
        ----------
        path : str or path
            The file. It is written whole or not at all.
        title : str, default "Backtest"
            The heading of the page.

        Raises
        ------
        CerError
            When the packages that draw the charts, those of the extra `report`, are not installed.
        OSError
            When the page cannot be written.
        """
        from cer_gpu.backtesting.report import page_of
        from cer_gpu.output import output_file

        page = page_of(self, title).encode()
        with output_file(os.fspath(path)) as sink:
            sink.write(page)

    @property
    def outcomes(self) -> pa.Table:
        """Statistics of the outcomes: one row for each query or variant, outcome and sample.

        Returns
        -------
        pyarrow.Table
            `query`, the parameters of a sweep, `outcome`, `sample` ("all"; with `split` also "before" and
            "after"), then figures of the outcome's values at the hits: `n` (int64: how many there are) and,
            as float64, `mean`, the quantiles `p05`, `p25`, `median`, `p75`, `p95`, `positive` (the share
            above 0), `low` and `high` (the 95 % confidence interval of the mean), and `blocks` (int64: in how
            many independent blocks of time the hits lie). The base is the same outcome at all events of the
            sample that have a key at which the query has hits, weighted so that each key counts as much as
            among the hits: `base_n` (int64: how many events), `base_mean` and `base_positive`. `gain_low` and
            `gain_high` are the interval of the difference between `mean` and `base_mean`,
            `positive_gain_low` and `positive_gain_high` that between `positive` and `base_positive`.
            Hits that overlap, or occur together in several keys, make no interval narrower; intervals are
            null for hits in one block.

        Raises
        ------
        ValueError
            If no outcome was asked for.
        """
        return self._asked_for().summary

    def best(
        self,
        outcome: str,
        min_n: int = LEAST_N,
        number: int = SHOWN,
        by: str = "mean",
        descending: bool = True,
    ) -> BestVariants:
        """The queries or variants with the best values of an outcome, and whether they beat all events.

        The best of many variants is often the best by chance. So each is compared with its *base*, the same
        figure at all events, weighted by the keys of its hits. The interval of the difference is widened for
        the number of variants that are compared (Bonferroni's correction). `verdict` says whether the whole
        interval of any variant lies on one side of 0. With `split`, variants are chosen before it, and the
        verdict says how the best one did after it.

        Hits whose outcomes overlap, and hits of several keys at the same time, are not independent. So time
        is cut into blocks, at least twice as long as the outcome looks ahead, and all hits of a block count
        as one. With hits in fewer than 10 independent blocks, the verdict says that there is too little
        independent history.

        Parameters
        ----------
        outcome : str
            The name of an outcome.
        min_n : int, default 30
            Variants with fewer values are left out.
        number : int, default 20
            How many variants are shown.
        by : {"mean", "positive"}, default "mean"
            What is compared: the mean, or the share of values above 0.
        descending : bool, default True
            Whether greater values are better; otherwise less is, as for a time to failure.

        Returns
        -------
        BestVariants
            `print` shows the verdict and the first rows; `to_pandas()` and `to_arrow()` give all of them.

        Raises
        ------
        ValueError
            When there is no such outcome, none was asked for, or an argument has a value that it cannot have.

        Examples
        --------
        >>> found.best("later", min_n=30)
        """
        from cer_gpu.backtesting.best_variants import best_variants

        self._asked_for()
        return best_variants(self, outcome, min_n, number, by, descending)

    @property
    def has_funnel(self) -> bool:
        """Whether funnels were asked for."""
        return self._funnel is not None

    @property
    def funnel(self) -> pa.Table:
        """How many matches reach each step of each pattern, and how many each condition stops.

        Returns
        -------
        pyarrow.Table
            `query`, the parameters of a sweep, and the columns of `Query.funnel`.

        Raises
        ------
        ValueError
            If no funnel was asked for.
        """
        if self._funnel is None:
            raise ValueError("no funnel was asked for: backtest(..., funnel=True)")
        return self._funnel

    @property
    def outcome_hits(self) -> pa.Table:
        """The outcomes at each hit.

        Returns
        -------
        pyarrow.Table
            One row for each hit: `query`, the parameters of a sweep, `position`, the columns of PARTITION BY,
            `time` if `order_by` was given, and a float64 column for each outcome, null where it has no value.

        Raises
        ------
        ValueError
            If no outcome was asked for.
        LimitError
            If there are more than 4,194,304 hits, too many to keep their values.
        """
        from cer_gpu.backtesting.outcomes.table import KEPT
        from cer_gpu.errors import LimitError

        told = self._asked_for()
        if told.hits is None:
            many = f"there are more than {KEPT:,} hits: backtest fewer queries at a time"
            raise LimitError(many)
        return told.hits

    def _asked_for(self) -> BacktestOutcomes:
        if self._told is None:
            raise ValueError('no outcome was asked for: outcomes={"later": "AFTER 5 MINUTES (price)"}')
        return self._told

    def to_arrow(self) -> pa.Table:
        """One row for each query or variant; with `by`, one for each bucket and key in which it has hits.

        Returns
        -------
        pyarrow.Table
            `query` (string) and the parameters of a sweep. With `by`: `bucket` (the time at which the bucket
            begins, in the type of `order_by`) and the columns of PARTITION BY in `by`. Then `hits` (int64:
            events at which a match ends), `matches` (int64, or decimal256 if a number exceeds 64 bits),
            `first` and `last` (the times of the first and the last hit; positions without `order_by`). With
            `starts=True`: `starts` (int64: events at which a match begins). With `durations=True`:
            `duration_median` and `duration_p95` of the times from the first to the last event of the matches:
            durations, float64 if `order_by` holds plain numbers, or numbers of events without `order_by`.
            `starts` and durations are null for a query with more than 67,108,864 matches.
        """
        return self._table

    def diff(self, new: Backtest) -> pa.Table:
        """Compare with another result: which rows have new hits, and which have none any more.

        A row of one result is compared with the row of the other that has the same query name, the same
        parameters and, with `by`, the same bucket and key.

        Parameters
        ----------
        new : Backtest
            The other result, with the same parameters and the same `by`.

        Returns
        -------
        pyarrow.Table
            One row for each difference: the query, its parameters, bucket and key, then `change`, `hits` and
            `matches` of this result, `new_hits` and `new_matches` of the other one. `change` is "new" (hits
            only in the other result), "gone" (hits only in this one), "more", "fewer", or "other" (as many
            hits, but other matches or times).

        Raises
        ------
        TypeError
            When `new` is not the result of a backtest.
        ValueError
            When the two results have different parameters or another `by`.

        Examples
        --------
        >>> old.diff(new).to_pandas()
        """
        if not isinstance(new, Backtest):
            raise TypeError(f"diff compares with the result of another backtest, not {type(new).__name__}")
        return difference(self.to_arrow(), new.to_arrow())

    def __len__(self) -> int:
        return len(self._table)

    @property
    def _rows_told(self) -> str:
        return "1 row" if len(self) == 1 else f"{len(self):,} rows"

    def __repr__(self) -> str:
        heading = f"<cer_gpu.Backtest of {self._rows_told}>"
        return f"{heading}\n{as_text(self._table, SHOWN)}"

    def _repr_html_(self) -> str:
        return as_html(self._rows_told, self._table, SHOWN)


_NUMBERS = ("hits", "matches")


def difference(old: pa.Table, new: pa.Table) -> pa.Table:
    """See `Backtest.diff`."""
    keys = _keys(old)
    if keys != _keys(new):
        told, other = ", ".join(keys), ", ".join(_keys(new))
        raise ValueError(
            f"the two results have different columns to match rows by ({told}; {other}): run both with the "
            "same `by` and the same parameters"
        )
    before, after = _rows(old, keys), _rows(new, keys)
    found: dict[Any, tuple[str, tuple[Any, ...], tuple[Any, ...]]] = {}
    for key in {**before, **after}:
        was, now = (one.get(key, _NOTHING) for one in (before, after))
        if was != now:
            found[key] = _change(was, now), was, now
    taken = {*keys}
    columns = []
    for place, name in enumerate(keys):
        values = [key[place] for key in found]
        kind = old.schema.field(name).type
        columns.append(_column(values, kind if kind == new.schema.field(name).type else None))
    columns.append(pa.array([change for change, _, _ in found.values()], pa.string()))
    heads = ["change"]
    for side, prefix in enumerate(("", "new_")):
        for place, name in enumerate(_NUMBERS):
            heads.append(f"{prefix}{name}")
            kind = (old, new)[side].schema.field(name).type
            columns.append(pa.array([each[1 + side][place] for each in found.values()], kind))
    return pa.table(columns, [*keys, *(free_name(head, taken) for head in heads)])


_NOTHING: tuple[Any, ...] = (0, 0, None, None)
"""Stands for a row that one of the results lacks: no hits, no matches, no first and last one."""


def _keys(table: pa.Table) -> list[str]:
    """The columns that tell rows apart: those before what was found."""
    names = list(table.schema.names)
    for more in (list(QUANTILES), [STARTS]):
        if names[-len(more) :] == more:
            del names[-len(more) :]
    return names[: -len(FOUND)]


def _rows(table: pa.Table, keys: list[str]) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What was found, by what tells rows apart."""
    count = len(keys)
    columns = [column.to_pylist() for column in table.columns[: count + len(FOUND)]]
    rows: Iterator[tuple[Any, ...]] = zip(*columns)
    return {row[:count]: (int(row[count]), int(row[count + 1]), *row[count + 2 :]) for row in rows}


def _change(was: tuple[Any, ...], now: tuple[Any, ...]) -> str:
    if not was[0] or not now[0]:
        return "gone" if was[0] else "new"
    return "more" if now[0] > was[0] else "fewer" if now[0] < was[0] else "other"


def _column(values: list[Any], kind: pa.DataType | None) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a parameter that is a number here and a text there
        return pa.array([None if value is None else str(value) for value in values], pa.string())
