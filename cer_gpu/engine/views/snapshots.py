"""A view as bytes, and back: its rule and the rows of its relations; the rest is computed again."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from cer_gpu.errors import DataError

FORMAT = 1
"""The version of the form of a snapshot."""

HEADER = "view.json"


class HeldRows(NamedTuple):
    """The rows of a relation.

    Attributes
    ----------
    columns : tuple of str
        All columns of the relation, including those that the rule does not name.
    rows : pyarrow.Table
        The columns that it names, and last the multiplicity.
    """

    columns: tuple[str, ...]
    rows: pa.Table


class Snapshot(NamedTuple):
    """The contents of a snapshot.

    Attributes
    ----------
    rule : str
    most_kept : int
    relations : mapping of str to HeldRows
    """

    rule: str
    most_kept: int
    relations: Mapping[str, HeldRows]


def packed(snapshot: Snapshot) -> bytes:
    """A snapshot as the bytes of a zip file: a header, and an Arrow stream for each relation."""
    header = {
        "format": FORMAT,
        "rule": snapshot.rule,
        "most_kept": snapshot.most_kept,
        "relations": {name: list(held.columns) for name, held in snapshot.relations.items()},
    }
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as file:
        file.writestr(HEADER, json.dumps(header))
        for number, held in enumerate(snapshot.relations.values()):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, held.rows.schema) as writer:
                writer.write_table(held.rows)
            file.writestr(f"{number}.arrow", sink.getvalue().to_pybytes())
    return found.getvalue()


def unpacked(data: bytes, where: str) -> Snapshot:
    """Read a snapshot from bytes.

    Raises
    ------
    DataError
        If they are no snapshot, are damaged, or are from a later version of this package.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            header = json.loads(file.read(HEADER))
            if header["format"] != FORMAT:
                raise DataError(
                    f"{where} was written by a later version of cer-gpu: read it with that version"
                )
            relations = {}
            for number, (name, columns) in enumerate(header["relations"].items()):
                rows = pa.ipc.open_stream(file.read(f"{number}.arrow")).read_all()
                relations[name] = HeldRows(tuple(columns), rows)
            return Snapshot(header["rule"], header["most_kept"], relations)
    except (zipfile.BadZipFile, KeyError, ValueError, pa.ArrowInvalid) as error:
        raise DataError(f"{where} does not hold the snapshot of a view, or is damaged") from error
