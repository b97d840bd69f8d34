"""What the checkpoint of a live query on Spark says: up to which time it has written its matches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cer_gpu.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def decided_until(spark: SparkSession, folder: str) -> int:
    """The watermark of the last micro-batch that is committed: all matches known by then are written.

    Parameters
    ----------
    spark : SparkSession
        It reads the checkpoint, wherever that is.
    folder : str
        The `checkpointLocation` of a stream.

    Returns
    -------
    int
        In milliseconds since 1970.

    Raises
    ------
    DataError
        When the folder is no checkpoint, its last micro-batch was interrupted, which may have written its
        matches all the same, or no watermark has passed an event.
    """
    from pyspark.errors import PySparkException

    folder = str(folder).rstrip("/")
    try:
        begun = _entries(spark, f"{folder}/offsets")
        last = max(begun)
        watermark = int(json.loads(begun[last].split("\n")[1])["batchWatermarkMs"])
    except (PySparkException, ValueError, LookupError) as error:
        raise DataError(
            f"after={folder}: this is not the checkpointLocation of a stream that has run ({error}): name "
            "its folder, which has the folders commits and offsets"
        ) from None
    try:
        committed = last in _entries(spark, f"{folder}/commits")
    except PySparkException:  # the folder comes with the first one that ends
        committed = False
    if not committed:
        raise DataError(
            f"after={folder}: its micro-batch {last} was interrupted: start the earlier stream once more, "
            "with trigger(availableNow=True), and wait until it ends"
        )
    if watermark <= 0:
        raise DataError(
            f"after={folder}: no watermark has passed an event there, so no match is written: pass the "
            "initial= and after= that this stream was started with, or neither"
        )
    return watermark


def _entries(spark: SparkSession, folder: str) -> dict[int, str]:
    """The texts of a log of Spark by the numbers of the micro-batches."""
    import pyspark.sql.functions as sf

    rows = spark.read.text(folder, wholetext=True).select(sf.input_file_name(), "value").collect()
    return {int(path.rpartition("/")[2]): text for path, text in rows}
