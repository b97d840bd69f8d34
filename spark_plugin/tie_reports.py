"""On the driver: where the tasks of a call report rows that tie.

The counts get here by an accumulator, and the driver warns at the line of the program that asked. Spark
Connect has no accumulators: there the warning comes before anything has run, without a count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cer_gpu.spark.jvm import is_connect
from cer_gpu.spark.task import WARN, Task
from cer_gpu.spark.ties import TiedRows

from cer_gpu.caller_warnings import caller_line

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator
    from pyspark.sql import SparkSession


class TieReports:
    """What the tasks of one call report ties to; the driver warns of the first report.

    Parameters
    ----------
    spark : SparkSession
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._begun = False
        self._accumulator: Accumulator[Any] | None = None

    def of(self, task: Task) -> Accumulator[Any] | None:
        """Where the tasks report; None where they do not.

        Under Spark Connect, which has no accumulators, this warns at once.
        """
        if task.tie_rule != WARN:
            return None
        if not self._begun:
            self._begun = True
            if is_connect(self._spark):
                caller_line().warn(TiedRows.of(task, 0).warning)
            else:
                self._accumulator = accumulated(self._spark)
        return self._accumulator


def accumulated(spark: SparkSession, each: bool = False) -> Accumulator[Any]:
    """An accumulator of `TiedRows`, which warns at the present line: once, or once of each query."""
    from cer_gpu.spark.tie_accumulator import TieParameter

    return spark.sparkContext.accumulator({}, TieParameter(caller_line(), each))
