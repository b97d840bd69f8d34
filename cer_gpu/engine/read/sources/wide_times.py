"""Times of 96 bits, which older writers of Parquet store."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from cer_gpu.lazy_modules import dataset as pads

NANOSECONDS_BY = ("parquet-cpp", "impala", "duckdb")
"""Writers that store times of 96 bits with nanoseconds; Spark, Hive and Trino store microseconds."""


def times_of_96_bits(metadata: Any) -> dict[str, str]:
    """The unit in which times of 96 bits are read: microseconds if their writer has no finer ones.

    In nanoseconds 64 bits reach only from 1677 to 2262, and a later time, such as the year 9999, which often
    stands for "never", would become another time.
    """
    writer = (metadata.created_by or "").lower()
    return {} if writer.startswith(NANOSECONDS_BY) else {"coerce_int96_timestamp_unit": "us"}


def wide_columns(metadata: Any) -> set[str]:
    """The columns of a Parquet file whose times of 96 bits are read in microseconds."""
    if not times_of_96_bits(metadata):
        return set()
    described = [metadata.schema.column(number) for number in range(metadata.num_columns)]
    return {column.path for column in described if column.physical_type == "INT96"}


def in_microseconds(dataset: pads.FileSystemDataset) -> pads.FileSystemDataset:
    """A dataset of Parquet files that reads times of 96 bits as files at a path are read.

    Parameters
    ----------
    dataset : pyarrow.dataset.FileSystemDataset

    Returns
    -------
    pyarrow.dataset.FileSystemDataset
        The dataset itself, unless its first file has such times and it would read them in nanoseconds.
    """
    fine = [field for field in dataset.schema if field.type == pa.timestamp("ns")]
    first = next(dataset.get_fragments(), None) if fine else None
    wide = set() if first is None else wide_columns(first.metadata)
    if not any(field.name in wide for field in fine):
        return dataset
    options = pads.ParquetReadOptions(
        dictionary_columns=dataset.format.read_options.dictionary_columns, coerce_int96_timestamp_unit="us"
    )
    reading = pads.ParquetFileFormat(read_options=options)
    kinds = [
        pa.field(field.name, pa.timestamp("us") if field in fine and field.name in wide else field.type)
        for field in dataset.schema
    ]
    fragments = [
        reading.make_fragment(
            fragment.path,
            fragment.filesystem,
            fragment.partition_expression,
            None
            if len(fragment.row_groups) == fragment.metadata.num_row_groups
            else [group.id for group in fragment.row_groups],
        )
        for fragment in dataset.get_fragments()
    ]
    return pads.FileSystemDataset(fragments, pa.schema(kinds), reading, dataset.filesystem)
