"""The variants of a backtest whose outcome is best, and whether that is more than chance: `BestVariants`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from cer_gpu.backtesting.number_format import figures
from cer_gpu.backtesting.outcomes.block_interval import LEAST_BLOCKS, SURE, student_quantile
from cer_gpu.backtesting.variant_label import labels_of
from cer_gpu.engine.answers.display import as_html, as_text
from cer_gpu.engine.answers.form import free_name
from cer_gpu.engine.answers.table_result import TableResult
from cer_gpu.printable_text import brief

if TYPE_CHECKING:
    from cer_gpu.backtesting.provenance import BacktestResult

SURE_TEXT = f"{100 * SURE:.0f} %"

STATISTICS = ("mean", "positive")

_COUNTS = ("base_n", "blocks")

_ONCE = "hits that overlap, or occur together, do not count twice"

SHOWN = 10
"""Rows that are shown of the best variants."""


class _VariantStatistics(NamedTuple):
    # A variant with its figures: where its row is, the values, and the interval of what it gains over its
    # base, alone and for all variants at once.
    row: int
    n: int
    value: float
    base: float
    base_n: int
    blocks: int
    gain: float
    gain_low: float
    gain_high: float
    all_low: float
    all_high: float

    @property
    def tells(self) -> bool:
        """Whether its hits lie in enough independent blocks of time for a claim."""
        return self.blocks >= LEAST_BLOCKS

    def beats(self, descending: bool) -> bool:
        """Whether it lies beyond the base with its whole interval."""
        return self.tells and (self.all_low > 0 if descending else self.all_high < 0)


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
            (float64, the share above 0), `base` (the same figure at all events, with the same weights of
            keys), `base_n`, `blocks` (int64: in how many independent blocks of time the hits lie), `gain`
            (the difference to `base`), `gain_low` and `gain_high` (its 95 % interval), `all_low` and
            `all_high` (the wider interval with which those of all compared variants hold at once with 95 %),
            and `beats_base` (bool: whether the whole interval from `all_low` to `all_high` is better than 0,
            and there are at least 10 blocks).
            With `split` these are figures from before it, and `after_n`, `after`, `after_base`,
            `after_blocks`, `after_gain_low` and `after_gain_high` those from after it.
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
    claims = sum(told[row]["blocks"] >= LEAST_BLOCKS for row in enough)
    compared = [_compared(row, told[row], by, claims) for row in enough]
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
    told = {name: float("nan") if value is None else value for name, value in found.items()}
    value, base = told[by], told[f"base_{by}"]
    ahead = "" if by == "mean" else f"{by}_"
    gain, low, high = value - base, told[f"{ahead}gain_low"], told[f"{ahead}gain_high"]
    blocks, wide = found["blocks"], 1.0
    if blocks > 1 and tried > 1:
        one, all_at_once = (student_quantile(1 - (1 - SURE) / (2 * many), blocks - 1) for many in (1, tried))
        wide = all_at_once / one
    all_low, all_high = gain - wide * (gain - low), gain + wide * (high - gain)
    base_n = found["base_n"]
    return _VariantStatistics(
        row, found["n"], value, base, base_n, blocks, gain, low, high, all_low, all_high
    )


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
    for name in _VariantStatistics._fields[3:]:
        values = [getattr(one, name) for one in shown]
        columns[name] = pa.array(values, pa.int64() if name in _COUNTS else real, from_pandas=True)
    columns["beats_base"] = pa.array([one.beats(descending) for one in shown], pa.bool_())
    if later:
        after = [later[one.row] for one in shown]
        columns["after_n"] = pa.array([one.n for one in after], pa.int64())
        for name in ("value", "base", "blocks", "gain_low", "gain_high"):
            values = [getattr(one, name) for one in after]
            kind = pa.int64() if name in _COUNTS else real
            columns["after" if name == "value" else f"after_{name}"] = pa.array(
                values, kind, from_pandas=True
            )
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
    claims = [one for one in compared if one.tells]
    best = claims[0] if claims else compared[0]
    better = sum(one.beats(asked.descending) for one in compared)
    worse = sum(one.beats(not asked.descending) for one in compared)
    ways = ("above", "below") if asked.descending else ("below", "above")
    end = "greatest" if asked.descending else "least"
    tried = f"{SURE_TEXT}" if len(claims) <= 1 else f"{SURE_TEXT} for {len(claims):,} queries at once"
    value, base, gain, low, high = _alike(best.value, best.base, best.gain, best.all_low, best.all_high)
    told = f"{value} over {best.n:,} hits; that of the base is {base}."
    if len(compared) == 1:
        it = f"The {asked.figure} is {told}"
    else:
        it = f"The {end} {asked.figure} ({labels[best.row]}) is {told}"
    if not claims:
        most = max(one.blocks for one in compared)
        said = (
            f"There is too little independent history for a claim: the hits of a query lie in at most "
            f"{most:,} independent blocks of time, and {LEAST_BLOCKS} are needed ({_ONCE}). {it}"
        )
    elif better or worse:
        number, way = (better, ways[0]) if better else (worse, ways[1])
        of = "The query" if len(compared) == 1 else f"{number:,} of {len(compared):,} queries"
        has = "is" if number == 1 else "are"
        none = "" if better or len(compared) == 1 else f"None is {ways[0]} the base, but "
        said = f"{none}{of} {has} {way} the base, by more than chance explains. {it}"
    else:
        said = f"Nothing beats the base: chance alone may explain what was found. {it}"
    if claims:
        said += (
            f" The difference is {gain}, between {low} and {high} ({tried}, from {best.blocks:,} blocks of "
            f"time: {_ONCE})."
        )
    if few:
        said += f" Queries with fewer than {asked.min_n:,} values are left out ({few:,})."
    if claims and len(claims) < len(compared):
        short = len(compared) - len(claims)
        of = "1 query has" if short == 1 else f"{short:,} queries have"
        said += f" {of} hits in fewer than {LEAST_BLOCKS} blocks, too little for a claim."
    after = later.get(best.row)
    if after is not None:
        said += _after(after, asked.descending, better > 0)
    return said


def _after(after: _VariantStatistics, descending: bool, better: bool) -> str:
    """What became of the best variant after the split, and whether that holds which was better before."""
    if not after.n:
        return " After the split it has no hits."
    value, base, low, high = _alike(after.value, after.base, after.gain_low, after.gain_high)
    told = f" After the split it is {value} over {after.n:,} hits; that of the base is {base}"
    if not after.tells:
        return f"{told}. Its hits lie in {after.blocks:,} blocks of time, too little to say whether it holds."
    holds = "" if not better else ": it holds" if after.beats(descending) else ": it does not hold up"
    return f"{told}, and the difference between {low} and {high} ({SURE_TEXT}){holds}."


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
