"""An accumulator that warns on the driver of what tasks report: see `tie_reports`."""

from __future__ import annotations

import sys
from typing import Any

from cer_gpu.spark.ties import TiedRows
from pyspark.accumulators import AccumulatorParam

from cer_gpu.caller_warnings import CallerLine


class TieParameter(AccumulatorParam[Any]):
    """Keeps what was reported of each query, and warns of the first report.

    Parameters
    ----------
    line : CallerLine or None
        Where to warn; None in a task, where reports are only collected.
    each : bool
        Whether to warn of each query; otherwise all reports are of one call, which gets one warning.
    """

    def __init__(self, line: CallerLine | None, each: bool) -> None:
        self._line, self._each = line, each

    def __reduce__(self) -> tuple[Any, ...]:
        return TieParameter, (None, self._each)

    def zero(self, value: dict[str, TiedRows]) -> dict[str, TiedRows]:
        """Nothing reported."""
        return {}

    def addInPlace(  # noqa: N802 - the name that Spark calls
        self, value1: dict[str, TiedRows], value2: dict[str, TiedRows]
    ) -> dict[str, TiedRows]:
        """Both reports as one."""
        for query, tied in value2.items():
            if query in value1:
                tied = tied._replace(rows=tied.rows + value1[query].rows)
            elif self._line is not None and (self._each or not value1):
                _warn(self._line, tied.warning)
            value1[query] = tied
        return value1


def _warn(line: CallerLine, text: str) -> None:
    """Warn from the thread that gets reports, which an error would end."""
    try:
        line.warn(text)
    except UserWarning:
        sys.stderr.write(f"cer_gpu: {text}\n")
