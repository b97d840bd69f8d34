"""Looks at the values that a run reads, and notes those whose answer may surprise: `ValueWatch`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.nan_watch import NanWatch, nan_watch
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.rounding_watch import RoundingWatch

if TYPE_CHECKING:
    from cer_gpu.plan.planning.plans import QueryPlans


class ValueWatch:
    """Notes NaN, and decimals that are subtracted, where the answer depends on them.

    Parameters
    ----------
    nan : NanWatch or None
    rounding : RoundingWatch or None
    """

    def __init__(self, nan: NanWatch | None, rounding: RoundingWatch | None) -> None:
        self._nan, self._rounding = nan, rounding

    @staticmethod
    def of(nan: NanWatch | None, rounding: RoundingWatch | None) -> ValueWatch | None:
        """One that has something to look for; None if there is nothing."""
        return None if nan is rounding is None else ValueWatch(nan, rounding)

    @staticmethod
    def of_all(watches: Iterable[ValueWatch | None]) -> ValueWatch | None:
        """One for the columns of several; None if there are none."""
        there = [one for one in watches if one is not None]
        return ValueWatch.of(
            NanWatch.of_all(one._nan for one in there),
            RoundingWatch.of_all([one._rounding for one in there if one._rounding is not None]),
        )

    def over(self, batches: Iterable[pa.RecordBatch], notes: Notes) -> Iterator[pa.RecordBatch]:
        """Pass batches on, and note what they hold."""
        for batch in batches:
            for one in (self._nan, self._rounding):
                if one is not None:
                    one.look(batch, notes)
            yield batch


def value_watch(plans: QueryPlans, asked: Options, source: Source) -> ValueWatch | None:
    """What looks at the values of a source for a query; None if its answer depends on none."""
    nan = nan_watch(plans.nan_dependence, source) if asked.nan_is_null is None else None
    given = {**plans.given, **asked.params}
    return ValueWatch.of(nan, RoundingWatch.of(plans.rounded_comparisons, given, source.arrow_schema))
