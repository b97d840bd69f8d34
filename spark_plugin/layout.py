"""Writes Parquet files in the layout that is read fastest: all events of a key in one file, in order."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import brief, names_text

if TYPE_CHECKING:
    from cer_gpu.spark.lake import Paths
    from cer_gpu.spark.task import Task
    from pyspark.sql import DataFrame, SparkSession

NAME = "_cer_layout"
"""The folder beside the files that says how they were written: readers skip names that begin with `_`."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How files were written.

    Attributes
    ----------
    keys : tuple of str
        The key: events with equal values in these columns are in the files of one task, key after key.
    order_by : tuple of str
        The order of the events of a key.
    """

    keys: tuple[str, ...]
    order_by: tuple[str, ...]

    def serves(self, task: Task) -> bool:
        """Whether the files hold each partition of a task's query whole, and in its order."""
        parts = {part[0] for part in task.query.query.reading.partition if len(part) == 1}
        order = task.query.options.order_by
        return set(self.keys) <= parts and self.order_by[: len(order)] == order


def prepare(
    df: DataFrame,
    path: str,
    keys: str | Sequence[str],
    order_by: str | Sequence[str],
    *,
    partitions: int | None = None,
    mode: str = "error",
) -> None:
    """Write events as Parquet files in which all events of a key are in one file, in the order of time.

    `run_files` then needs no shuffle for queries that are partitioned by these keys.

    Parameters
    ----------
    df : DataFrame
        The events.
    path : str
        A folder on any filesystem that Spark can write to.
    keys : str or sequence of str
        The columns of PARTITION BY.
    order_by : str or sequence of str
        The time column, then the columns that break ties. Ties that are left are broken by all columns: the
        files keep that order, and not the one that the rows had in `df`.
    partitions : int, optional
        How many tasks write; by default the number of rows divided by `spark.cer.rowsPerTask`.
    mode : {"error", "overwrite", "ignore"}, default "error"
        What to do if the folder has data already, as in Spark's `DataFrameWriter.mode`.

    Raises
    ------
    DataError
        When a column is missing.

    Examples
    --------
    >>> cer_spark.prepare(df, "s3://lake/trades/", keys="symbol", order_by="ts")
    """
    import pyspark.sql.functions as sf
    from cer_gpu.spark.expressions import column
    from cer_gpu.spark.operators import size_of
    from pyspark.errors import AnalysisException

    keys = (keys,) if isinstance(keys, str) else tuple(keys)
    order_by = (order_by,) if isinstance(order_by, str) else tuple(order_by)
    missing = [name for name in (*keys, *order_by) if name not in df.columns]
    if missing or not keys or not order_by:
        told = f"there is no column `{missing[0]}`" if missing else "name the columns with keys and order_by"
        raise DataError(f"{told} (there are {names_text(df.columns)})")
    if mode not in ("error", "overwrite", "ignore"):
        raise ValueError(f"mode must be error, overwrite or ignore, not {brief(mode)}")
    count = partitions or size_of(df, None).partitions
    rest = [name for name in df.columns if name not in (*keys, *order_by) and _sorts(df, name)]
    ordered = df.repartition(count, *map(column, keys)).sortWithinPartitions(
        *(column(name).asc_nulls_last() for name in (*keys, *order_by, *rest))
    )
    try:
        with _exact_times(df.sparkSession):
            ordered.write.mode("error" if mode == "ignore" else mode).parquet(path)
    except AnalysisException as error:
        # What is there may be of another layout: nothing is said of it.
        if mode == "ignore" and error.getCondition() == "PATH_ALREADY_EXISTS":
            return
        raise
    told = json.dumps(asdict(Layout(keys, order_by)))
    said = df.sparkSession.range(1).select(sf.lit(told).alias("value")).coalesce(1)
    said.write.mode("overwrite").text(posixpath.join(path, NAME))


@contextmanager
def _exact_times(spark: SparkSession) -> Iterator[None]:
    """Times in microseconds, with their range in the footer: Spark's default is 96 bits without either."""
    before = spark.conf.get(_TIMES, None)
    spark.conf.set(_TIMES, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_TIMES)
        else:
            spark.conf.set(_TIMES, before)


_TIMES = "spark.sql.parquet.outputTimestampType"


def _sorts(df: DataFrame, name: str) -> bool:
    kind = df.schema[name].dataType.typeName()
    return kind not in ("map", "variant", "array", "struct", "interval", "calendarinterval")


def read_layout(paths: Paths) -> Layout | None:
    """The layout of the files at a path; None if `prepare` did not write them, or there are several paths."""
    from cer_gpu.spark.lake import listed_paths, located
    from pyarrow import fs

    listed = listed_paths(paths)
    if len(listed) != 1:
        return None
    there, inner = located(listed[0])
    selector = fs.FileSelector(posixpath.join(inner, NAME), allow_not_found=True)
    if there.get_file_info(inner).type != fs.FileType.Directory:
        return None
    for info in there.get_file_info(selector):
        if info.type == fs.FileType.File and posixpath.basename(info.path).startswith("part-"):
            with there.open_input_stream(info.path) as file:
                found: dict[str, Any] = json.loads(file.read())
            return Layout(tuple(found["keys"]), tuple(found["order_by"]))
    return None


def written_once(files: Sequence[str]) -> bool:
    """Whether all files come from one write, by the UUID in their names.

    A key that is whole in each of several writes is not whole in all of them.
    """
    found = (_UUID.search(posixpath.basename(path)) for path in files)
    return len({match.group() for match in found if match}) <= 1


_UUID = re.compile("-".join(f"[0-9a-f]{{{digits}}}" for digits in (8, 4, 4, 4, 12)))


def writer_of(path: str) -> str:
    """The task that wrote a file: a key may continue in the task's next file."""
    found = re.match(r"part-\d+", posixpath.basename(path))
    return posixpath.join(posixpath.dirname(path), found.group() if found else posixpath.basename(path))
