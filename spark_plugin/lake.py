"""Finds Parquet files on any filesystem that pyarrow opens, and reads their footers."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import pairwise
from operator import itemgetter
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import first_line, time_units
from cer_gpu.engine.read.sources.files import opened, parquet_rows, parquet_schema
from cer_gpu.engine.read.sources.open_file import OpenFile, stamp_of
from cer_gpu.engine.read.sources.paths import DataFile, folder_keys, path_text
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.units import NANOSECONDS

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""What a user names files with."""

SUFFIXES = (".parquet", ".pq")

_HIDDEN = (".", "_")

READERS = 16
"""Footers that are read at once: each is a short journey."""


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A file and its filesystem; picklable.

    Attributes
    ----------
    file : DataFile
    filesystem : pyarrow.fs.FileSystem or None
        None: the local one.
    """

    file: DataFile
    filesystem: Any


@dataclass(frozen=True, slots=True)
class Group:
    """A row group.

    Attributes
    ----------
    file : int
        The number of its file.
    number : int
        Its number in the file.
    first : int
        The number of its first row in its file.
    rows : int
    least, most : int, float or None
        The least and greatest time, in the unit of the column; None if the file does not say, or a time may
        be null.
    """

    file: int
    number: int
    first: int
    rows: int
    least: int | float | None
    most: int | float | None


@dataclass(frozen=True, slots=True)
class Footer:
    """The contents of a footer."""

    opened: OpenFile
    groups: tuple[Group, ...]


def places(paths: Paths) -> list[LakeFile]:
    """The Parquet files at some paths; those of a folder or a pattern sorted by name.

    Parameters
    ----------
    paths : str, path, or sequence of them
        Files, folders, patterns with `*` and `?` in the last part; local, or URIs: `s3://`, `gs://`,
        `hdfs://`, `abfss://`, `file://`.

    Raises
    ------
    DataError
        When there is nothing, or no Parquet file.
    """
    listed = listed_paths(paths)
    if not listed:
        raise DataError("the list of files is empty: name at least one file")
    return [place for path in listed for place in _expanded(path)]


def listed_paths(paths: Paths) -> list[str]:
    """One path or several, as a list of texts."""
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in listed]


def _expanded(path: str) -> list[LakeFile]:
    from pyarrow import fs

    try:
        there, inner = located(path)
        one = there.get_file_info(inner)
        found = [one] if one.type != fs.FileType.NotFound else _matching(there, inner)
        files = [file for info in sorted(found, key=lambda one: one.path) for file in _below(there, info)]
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be opened: {first_line(error)}") from error
    if not found:
        raise DataError(f"{path_text(path)}: there is no such file or directory")
    if not files:
        raise DataError(f"{path_text(path)}: there is no Parquet file ({', '.join(SUFFIXES)})")
    remote = None if isinstance(there, fs.LocalFileSystem) else there
    return [LakeFile(file, remote) for file in files]


def _matching(there: Any, pattern: str) -> list[Any]:
    """What a pattern in the last part of a path names, but for hidden files that it does not ask for."""
    from pyarrow import fs

    folder, name = posixpath.split(pattern)
    if not any(mark in name for mark in "*?["):
        return []
    found = []
    for info in there.get_file_info(fs.FileSelector(folder, allow_not_found=True)):
        own = posixpath.basename(info.path)
        hidden = own.startswith(_HIDDEN) and not name.startswith(_HIDDEN)
        if fnmatchcase(own, name) and not hidden:
            found.append(info)
    return found


def located(path: str) -> tuple[Any, str]:
    """The filesystem of a path or URI, and the path on it, absolute, since workers run elsewhere."""
    from pyarrow import fs

    if "://" in path:
        return fs.FileSystem.from_uri(path)
    return fs.LocalFileSystem(), os.path.abspath(os.path.expanduser(path))


def _below(there: Any, info: Any) -> list[DataFile]:
    """The file, or the files below a folder, hidden ones and those that begin with `_` left out."""
    from pyarrow import fs

    if info.type == fs.FileType.File:
        return [DataFile(info.path, "parquet", {})]
    found = []
    for each in there.get_file_info(fs.FileSelector(info.path, recursive=True)):
        parts = each.path[len(info.path) :].strip("/").split("/")
        data = each.type == fs.FileType.File and parts[-1].lower().endswith(SUFFIXES)
        if data and not any(part.startswith(_HIDDEN) for part in parts):
            # In the order of the local engine: of a folder the files, then what is below it.
            order = [(number < len(parts) - 1, part) for number, part in enumerate(parts)]
            found.append((order, DataFile(each.path, "parquet", folder_keys(parts[:-1]))))
    return [file for _, file in sorted(found, key=itemgetter(0))]


def footers(found: Sequence[LakeFile], time: str | None) -> list[Footer]:
    """Read the footers of files.

    Parameters
    ----------
    found : sequence of LakeFile
    time : str or None
        The column whose range in each row group is wanted.

    Raises
    ------
    DataError
        When a file is not a Parquet file.
    """
    with ThreadPoolExecutor(min(READERS, len(found))) as pool:
        return list(pool.map(lambda number: footer(number, found[number], time), range(len(found))))


def footer(number: int, place: LakeFile, time: str | None) -> Footer:
    """Read the footer of one file, whose number among the files is given."""
    import pyarrow.parquet as pq

    path = place.file.path
    try:
        stamp = stamp_of(path, place.filesystem)
        with pq.ParquetFile(path, filesystem=place.filesystem) as file:
            schema, metadata = parquet_schema(file.schema_arrow, file.metadata), file.metadata
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read as Parquet: {first_line(error)}") from error
    one = opened(place.file, schema, parquet_rows(path, metadata), stamp, place.filesystem)
    groups, first = [], 0
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        groups.append(Group(number, index, first, group.num_rows, *_range(metadata, group, schema, time)))
        first += group.num_rows
    return Footer(one, tuple(groups))


def _range(metadata: Any, group: Any, schema: pa.Schema, time: str | None) -> tuple[Any, Any]:
    """The least and the greatest time of a row group, in the unit of the column; None where unknown."""
    if time is None or time not in schema.names:
        return None, None
    at = [number for number in range(group.num_columns) if group.column(number).path_in_schema == time]
    if not at:
        return None, None
    found = group.column(at[0]).statistics
    if found is None or not found.has_min_max or found.null_count != 0:
        return None, None
    kind = schema.field(time).type
    factor = 1
    if pa.types.is_timestamp(kind):
        stored = json.loads(metadata.schema.column(at[0]).logical_type.to_json()).get("timeUnit")
        if stored not in _PER_SECOND or _PER_SECOND[stored] > _PER_SECOND[_UNITS[kind.unit]]:
            return None, None
        factor = _PER_SECOND[_UNITS[kind.unit]] // _PER_SECOND[stored]
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_date32(kind)):
        return None, None
    least, most = found.min_raw, found.max_raw
    if isinstance(least, bytes) or least != least or most != most:
        return None, None
    return least * factor, most * factor


_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_PER_SECOND = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}


def in_unit(group: Group, stored: pa.DataType, wanted: pa.DataType) -> Group:
    """The row group with its times in the unit of another type, since files may differ in their units."""
    kinds = time_units(pa.schema([("stored", stored), ("wanted", wanted)]))
    if group.least is None or group.most is None or stored == wanted or len(kinds) < 2:
        return group
    factor = NANOSECONDS[kinds["stored"]] // NANOSECONDS[kinds["wanted"]]
    return replace(group, least=group.least * factor, most=group.most * factor)


def in_order(groups: Sequence[Group]) -> bool:
    """Whether the footers show that no row group begins before the one before it ends."""
    known = [group for group in groups if group.rows]
    pairs = pairwise(known)
    if any(group.least is None or group.most is None for group in known):
        return False
    return all(before.most <= after.least for before, after in pairs)  # type: ignore[operator]


def files_of(files: Sequence[OpenFile], groups: Iterable[Group]) -> Iterator[OpenFile]:
    """The files of some row groups, in order, each with those that are to be read."""
    wanted: dict[int, list[Group]] = {}
    for group in groups:
        wanted.setdefault(group.file, []).append(group)
    for number, own in wanted.items():
        rows = sum(group.rows for group in own)
        yield replace(
            files[number], groups=tuple(group.number for group in own), rows=rows, first=own[0].first
        )
