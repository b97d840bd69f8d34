"""The variants of a backtest whose outcome is best, and whether that is more than chance: `BestVariants`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.number_format import figures
from cer_gpu.backtesting.variant_label import labels_of
from cer_gpu.engine.answers.display import as_html, as_text
from cer_gpu.engine.answers.form import free_name
from cer_gpu.engine.answers.table_result import TableResult
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from cer_gpu.backtesting.provenance import BacktestResult

SURE = 0.95
"""How likely it is that all intervals of a comparison hold at once."""

SURE_TEXT = f"{100 * SURE:.0f} %"

STATISTICS = ("mean", "positive")

SHOWN = 10
"""Rows that are shown of the best variants."""


class _VariantStatistics(NamedTuple):
    # A variant with its figures: where its row is, the values, the interval of each alone and of all at once.
    row: int
    n: int
    value: float
    low: float
    high: float
    all_low: float
    all_high: float
    base: float
    base_n: int

    def beats(self, descending: bool) -> bool:
        """Whether it lies beyond the base with its whole interval."""
        return self.all_low > self.base if descending else self.all_high < self.base


class BestVariants(TableResult):
    """The variants of a backtest with the best values of an outcome; made by `Backtest.best`.

    Attributes
    ----------
    verdict : str
        Whether any variant is better than all events, beyond what looking at so many explains.
    beats_base : bool
        Whether any is.
    compared, left_out : int
        How many variants were compared, and how many had too few values.
    """

    def __init__(self, table: pa.Table, verdict: str, beats_base: bool, compared: int, left_out: int) -> None:
        self._table = table
        self.verdict = verdict
        self.beats_base = beats_base
        self.compared, self.left_out = compared, left_out

    def to_arrow(self) -> pa.Table:
        """One row for each variant, the best one in front.

        Returns
        -------
        pyarrow.Table
            `query`, the parameters of a sweep, `n` (int64: how many hits have a value), `mean` or `positive`
            (float64, the share above 0), `low` and `high` (its 95 % interval), `all_low` and `all_high` (the
            wider interval with which those of all compared variants hold at once with 95 %), `base` (the same
            figure at all events), `base_n`, `gain` (the difference to `base`), and `beats_base` (bool:
            whether the whole interval from `all_low` to `all_high` is better than `base`).
            With `split` these are figures from before it, and `after_n`, `after`, `after_low`, `after_high`
            and `after_base` those from after it.
        """
        return self._table

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"{self.verdict}\n{as_text(_short(self._table), SHOWN)}"

    def _repr_html_(self) -> str:
        return as_html(self.verdict, _short(self._table), SHOWN)


def best_variants(
    result: BacktestResult, outcome: str, min_n: int, number: int, by: str, descending: bool
) -> BestVariants:
    """The variants with the best values of an outcome; parameters as for `Backtest.best`."""
    if by not in STATISTICS:
        raise ValueError(f"by must be one of {', '.join(STATISTICS)}, not {brief(by)}")
    if min_n < 2:
        raise ValueError(f"min_n={brief(min_n)}: one value has no interval, so give 2 or more")
    if number < 1:
        raise ValueError(f"number={brief(number)}: give how many variants to show, 1 or more")
    table = result.outcomes
    there = list(dict.fromkeys(table.column("outcome").to_pylist()))
    if outcome not in there:
        raise ValueError(f"there is no outcome {brief(outcome)}; the outcomes are {', '.join(there)}")
    heads = table.schema.names.index("outcome")
    rows = [row for row in range(len(table)) if table.column(heads)[row].as_py() == outcome]
    samples = table.column("sample").to_pylist()
    chosen_on = "before" if "before" in samples else "all"
    told = table.select(range(heads, len(table.schema))).to_pylist()
    own = [row for row in rows if samples[row] == chosen_on]
    enough = [row for row in own if told[row]["n"] >= min_n]
    compared = [_compared(row, told[row], by, len(enough)) for row in enough]
    compared.sort(key=lambda one: (-one.value if descending else one.value, one.row))
    later = {}
    if chosen_on == "before":
        afters = [row for row in rows if samples[row] == "after"]
        later = {row: _compared(after, told[after], by, 1) for row, after in zip(own, afters, strict=True)}
    labels = dict(zip(rows, labels_of(result, table.take(pa.array(rows, pa.int64()))), strict=True))
    verdict = _verdict(compared, later, labels, _Comparison(outcome, by, descending, min_n, told, own))
    return BestVariants(
        _table(table, heads, compared[:number], later, by, descending),
        verdict,
        any(one.beats(descending) for one in compared),
        len(compared),
        len(own) - len(compared),
    )


class _Comparison(NamedTuple):
    # What was asked, in the words that a verdict is made of.
    outcome: str
    by: str
    descending: bool
    min_n: int
    rows: Sequence[dict[str, Any]]
    own: Sequence[int]

    @property
    def figure(self) -> str:
        return f"mean of {self.outcome}" if self.by == "mean" else f"share of {self.outcome} above 0"


def _compared(row: int, found: dict[str, Any], by: str, tried: int) -> _VariantStatistics:
    """The figures of a variant, with an interval that holds for all that are tried at once (Bonferroni)."""
    sure = NormalDist()
    wide = sure.inv_cdf(1 - (1 - SURE) / (2 * max(tried, 1))) / sure.inv_cdf(1 - (1 - SURE) / 2)
    n, nothing = found["n"], float("nan")
    base = found[f"base_{by}"]
    if by == "mean":
        value, low, high = (nothing if found[one] is None else found[one] for one in ("mean", "low", "high"))
        all_low, all_high = value - wide * (value - low), value + wide * (high - value)
    else:
        value = nothing if found["positive"] is None else found["positive"]
        low, high = _share_interval(value, n, 1.0)
        all_low, all_high = _share_interval(value, n, wide)
    base = nothing if base is None else base
    return _VariantStatistics(row, n, value, low, high, all_low, all_high, base, found["base_n"])


def _share_interval(share: float, n: int, wide: float) -> tuple[float, float]:
    """Wilson's interval of a share of `n` values; `wide` times as many standard errors as for 95 %."""
    if not n:
        return float("nan"), float("nan")
    z = wide * NormalDist().inv_cdf(1 - (1 - SURE) / 2)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return float(middle - half), float(middle + half)


def _table(
    table: pa.Table,
    heads: int,
    shown: Sequence[_VariantStatistics],
    later: dict[int, _VariantStatistics],
    by: str,
    descending: bool,
) -> pa.Table:
    """The rows of the compared variants that are shown."""
    found = table.select(range(heads)).take(pa.array([one.row for one in shown], pa.int64()))
    real = pa.float64()
    columns: dict[str, pa.Array] = {
        "n": pa.array([one.n for one in shown], pa.int64()),
        by: pa.array([one.value for one in shown], real, from_pandas=True),
    }
    for name in ("low", "high", "all_low", "all_high", "base"):
        columns[name] = pa.array([getattr(one, name) for one in shown], real, from_pandas=True)
    columns["base_n"] = pa.array([one.base_n for one in shown], pa.int64())
    columns["gain"] = pa.array([one.value - one.base for one in shown], real, from_pandas=True)
    columns["beats_base"] = pa.array([one.beats(descending) for one in shown], pa.bool_())
    if later:
        after = [later[one.row] for one in shown]
        columns["after_n"] = pa.array([one.n for one in after], pa.int64())
        for name, field in (("", "value"), ("_low", "low"), ("_high", "high"), ("_base", "base")):
            values = [getattr(one, field) for one in after]
            columns[f"after{name}"] = pa.array(values, real, from_pandas=True)
    taken = set(found.schema.names)
    for name, column in columns.items():
        found = found.append_column(free_name(name, taken), column)
    return found


def _verdict(
    compared: Sequence[_VariantStatistics],
    later: dict[int, _VariantStatistics],
    labels: dict[int, str],
    asked: _Comparison,
) -> str:
    """What to make of the comparison, in words."""
    few = len(asked.own) - len(compared)
    if not compared:
        most = max((asked.rows[row]["n"] for row in asked.own), default=0)
        return (
            f"Nothing can be compared: no query has {asked.min_n:,} hits with a value of {asked.outcome}, "
            f"the most are {most:,}. Take more data, or a smaller min_n."
        )
    best = compared[0]
    better = sum(one.beats(asked.descending) for one in compared)
    worse = sum(one.beats(not asked.descending) for one in compared)
    ways = ("above", "below") if asked.descending else ("below", "above")
    end = "greatest" if asked.descending else "least"
    tried = f"{SURE_TEXT}" if len(compared) == 1 else f"{SURE_TEXT} for {len(compared):,} queries at once"
    value, low, high, base = _alike(best.value, best.all_low, best.all_high, best.base)
    told = f"{value} over {best.n:,} hits, between {low} and {high} ({tried}); at all events it is {base}."
    if len(compared) == 1:
        it = f"The {asked.figure} is {told}"
    else:
        it = f"The {end} {asked.figure} ({labels[best.row]}) is {told}"
    if better or worse:
        number, way = (better, ways[0]) if better else (worse, ways[1])
        of = "The query" if len(compared) == 1 else f"{number:,} of {len(compared):,} queries"
        has = "is" if number == 1 else "are"
        none = "" if better or len(compared) == 1 else f"None is {ways[0]} the base, but "
        said = f"{none}{of} {has} {way} the base, by more than chance explains. {it}"
    else:
        said = f"Nothing beats the base: chance alone may explain what was found. {it}"
    if few:
        said += f" Queries with fewer than {asked.min_n:,} hits are left out ({few:,})."
    after = later.get(best.row)
    if after is not None:
        said += _after(after, asked.descending, better > 0)
    return said


def _after(after: _VariantStatistics, descending: bool, better: bool) -> str:
    """What became of the best variant after the split, and whether that holds which was better before."""
    if not after.n:
        return " After the split it has no hits."
    holds = after.low > after.base if descending else after.high < after.base
    value, low, high, base = _alike(after.value, after.low, after.high, after.base)
    told = "" if not better else ": it holds" if holds else ": it does not hold up"
    return (
        f" After the split it is {value} over {after.n:,} hits, between {low} and {high} ({SURE_TEXT}); at "
        f"all events it is {base}{told}."
    )


def _alike(*values: float) -> list[str]:
    """Numbers that are compared, with as many decimals each."""
    return [text or "unknown" for text in figures(values)]


def _short(table: pa.Table) -> pa.Table:
    """The table with its figures as texts of as many decimals, to be shown."""
    names = [name for name in table.schema.names if pa.types.is_floating(table.schema.field(name).type)]
    values = [value for name in names for value in table[name].to_pylist() if value is not None]
    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            texts = figures(table.column(place).to_pylist(), values)
            table = table.set_column(place, field.name, pa.array(texts, pa.string()))
    return table
