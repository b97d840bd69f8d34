"""The stream of `cer watch`: takes files of a folder or lines of standard input, one step after the other."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.caller_warnings import warn
from cer_gpu.checked_query import opened
from cer_gpu.engine.read.sources.arrow_types import without_dictionary
from cer_gpu.engine.read.sources.caller_times import span_of
from cer_gpu.engine.read.sources.paths import is_text_file
from cer_gpu.engine.run.bound_query import BATCH
from cer_gpu.engine.run.options import read_options
from cer_gpu.engine.run.snapshot import from_bytes
from cer_gpu.engine.run.stream_identity import OtherStreamError
from cer_gpu.engine.run.stream_order import NOT_USED
from cer_gpu.errors import DataError, RowError
from cer_gpu.language.units import NANOSECONDS, exact
from cer_gpu.output import write_matches
from cer_gpu.watch_state import WatchState

if TYPE_CHECKING:
    from cer_gpu.api import Query
    from cer_gpu.engine.answers.matches import Matches

TEXT_FORM = ("delimiter", "column_types", "date_format", "decimal_point", "ambiguous")
"""Keywords that say how text files are read."""


class WatchedStream:
    """The stream of a query whose state is kept in a file.

    Parameters
    ----------
    query : Query
    keywords : mapping of str to object
        As for `Query.stream`.
    kept : WatchState
    initial : bytes or None
        Where nothing was kept yet: the state of a history, from `Backtest.states`.

    Raises
    ------
    DataError
        When the state is of another query, other keywords or another version.
    """

    def __init__(
        self, query: Query, keywords: Mapping[str, Any], kept: WatchState, initial: bytes | None = None
    ) -> None:
        self._query, self._keywords, self._kept = query, dict(keywords), kept
        state = kept.step.schema
        self._schema = None if state is None else pa.ipc.read_schema(pa.py_buffer(state))
        own = {name: value for name, value in keywords.items() if name not in TEXT_FORM}
        first = kept.step.snapshot is None and initial is not None
        try:
            self._stream = query.stream(initial if first else kept.step.snapshot, **own)
        except OtherStreamError as error:
            raise DataError(_other_stream(error, "--initial" if first else kept.path)) from None
        if first and initial is not None and "schema" in (begun := from_bytes(initial).state):
            self._schema = pa.schema(
                [field.with_type(without_dictionary(field.type)) for field in begun["schema"].schema]
            )

    def take(self, path: str, file: str | None = None, header: bytes | None = None, lines: int = 0) -> None:
        """Push the rows of a file, and keep and write what they decide.

        Parameters
        ----------
        path : str
        file : str, optional
            The name by which the file is remembered.
        header : bytes, optional
            The first line of standard input in CSV.
        lines : int
            How many lines of standard input it has.
        """
        rows = self._rows(path)
        read, keyless = self._stream.metrics.events, self._stream.metrics.keyless
        try:
            found = text_of(self._stream.push(rows)) if len(rows) else b""
        except RowError as error:
            raise DataError(_unused(error, None if file is None else path, read)) from None
        if skipped := self._stream.metrics.keyless - keyless:
            rows_have = "row has" if skipped == 1 else "rows have"
            warn(f"{path}: {skipped:,} {rows_have} no value in a column of PARTITION BY; skipped")
        before = self._kept.step
        step = replace(
            before, found=found, header=before.header or header, lines=before.lines + lines, **self._state()
        )
        self._kept.take(step, file)

    def advance(self) -> None:
        """Tell the stream what the clock says, and keep and write what that decides."""
        if self._schema is None:
            return
        time = self._schema.field(self._keywords["order_by"][0]).type
        late = span_of("late", self._keywords.get("late") or 0)
        behind = exact(late.value) * NANOSECONDS[late.unit or "s"] / 1000
        now = datetime.now(UTC) - timedelta(microseconds=int(-(-behind // 1)))
        found = text_of(self._stream.advance(now if getattr(time, "tz", None) else now.replace(tzinfo=None)))
        if found:
            self._kept.take(replace(self._kept.step, found=found, **self._state()))

    def end(self) -> None:
        """End the stream, and write what its end decides."""
        state = self._state()
        found = text_of(self._stream.close())
        self._kept.take(replace(self._kept.step, found=found, ended=True, **state))

    def _state(self) -> dict[str, Any]:
        schema = None if self._schema is None else self._schema.serialize().to_pybytes()
        return {"snapshot": self._stream.snapshot(), "schema": schema}

    def _rows(self, path: str) -> pa.Table:
        """The columns of a file that the query reads; in the types of the first file."""
        if self._schema is None:
            asked = read_options(**{**self._keywords, "late": None, "on_late": "error"})
            portable = self._query.portable_over(path, asked, "pushes")
            told = {asked.type_column, asked.stream_column, *self._query.names} & {*portable.schema.names}
            names = dict.fromkeys([*asked.order_by, *sorted(filter(None, told)), *portable.columns])
            rows = self._read(path, list(names), {})
            if rows is None:
                return pa.table({})
            fine = _fine if is_text_file(path) else _same
            self._schema = pa.schema([field.with_type(fine(field.type)) for field in rows.schema])
            return rows.cast(self._schema)
        types: dict[str, pa.DataType] = {}
        if is_text_file(path):  # times are read in whatever form they have
            types = {
                one.name: without_dictionary(one.type)
                for one in self._schema
                if not pa.types.is_temporal(one.type)
            }
        try:
            rows = self._read(path, self._schema.names, types)
            return pa.table({}) if rows is None else rows.cast(self._schema)
        except (DataError, pa.ArrowInvalid) as error:
            raise DataError(
                f"{error}. Columns keep the types that they have in the first file: if a type is too narrow, "
                "start again with --column-type and another --state"
            ) from error

    def _read(self, path: str, names: list[str], types: Mapping[str, pa.DataType]) -> pa.Table | None:
        """Some columns of a file; None if it has no rows."""
        given = {**self._keywords, "late": None, "on_late": "error"}
        if types:
            given["column_types"] = {**types, **(given.get("column_types") or {})}
        source = opened(self._query.names, path, read_options(**given))
        batches = list(source.batches(names, BATCH))
        return pa.Table.from_batches(batches) if batches else None


def _unused(error: RowError, path: str | None, read: int) -> str:
    """What to do about a row that cannot be read, for the rows above it are read already.

    Parameters
    ----------
    error : RowError
    path : str or None
        The file; None for standard input.
    read : int
        How many rows were read before those of the file.
    """
    row = error.position - read
    what, _, _ = error.text.partition(f"; {NOT_USED}")
    if row == 0 and path is not None:
        what = what.replace("the row above it", "the last row of the files before it")
    if path is None:
        said = what.replace("{row}", f"row {error.position} of standard input (counted from 0)")
        return (
            f"{said}. The rows that came with it were not used: put the rows in order of time, or accept "
            "late rows with --late '10 min' and another --state"
        )
    said = what.replace("{row}", f"row {row} of {path} (counted from 0)") if row >= 0 else str(error)
    return (
        f"{said}. No row of {path} was used. Files are read in the order of their names: each must have its "
        "rows in order of time, and begin after the end of the one before. Correct the file, or move it out "
        "of the folder, and call cer watch again; or accept late rows with --late '10 min' and another "
        "--state, for which all files are read from the start"
    )


def _other_stream(error: OtherStreamError, path: str) -> str:
    """What to do about a state that does not fit."""
    again = "or name another file with --state, for which all files are read from the start"
    if error.what == "query":
        return (
            f"the state in {path} belongs to another query, {error.stored}; the query is now {error.own}: a "
            f"state continues only its own query. Use that one, {again}"
        )
    if error.what == "version":
        return (
            f"the state in {path} was stored by version {error.stored} of cer-gpu, and this is version "
            f"{error.own}: continue with that version, {again}"
        )
    option = "--param" if error.what == "params" else f"--{error.what.replace('_', '-')}"
    stored, own = (
        f"without {option}" if one in (None, "[]", "''") else f"with {option} {one}"
        for one in (error.stored, error.own)
    )
    return (
        f"the state in {path} was stored {stored}, and cer watch is now called {own}: use the same options, "
        f"{again}"
    )


def text_of(matches: Matches | None) -> bytes:
    """Matches as JSON lines."""
    if matches is None:
        return b""
    sink = io.BytesIO()
    write_matches(matches, "jsonl", sink)
    return sink.getvalue()


def _same(kind: pa.DataType) -> pa.DataType:
    return kind


def _fine(kind: pa.DataType) -> pa.DataType:
    """A type that has room for later values: times that are whole seconds so far may have fractions."""
    if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        return pa.timestamp("us", kind.tz)
    return kind
