"""The SELECT around MATCH_RECOGNIZE, and its subqueries, run by DuckDB: `OuterSelect`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.kinds import open_rows
from cer_gpu.errors import DataError, Diagnostic, QueryError
from cer_gpu.patterns.sql_language import language_of
from cer_gpu.patterns.tree import RowPatternStatement
from cer_gpu.plain_select import NotPlainError, PlainSelect

BATCH = 1 << 17
"""Rows of a batch that DuckDB makes."""


class OuterSelect:
    """Runs what stands around MATCH_RECOGNIZE.

    Parameters
    ----------
    statement : RowPatternStatement
    tables : mapping of str to object
        What the caller passed, by the names of the text.
    dialect : str or None
    """

    def __init__(
        self, statement: RowPatternStatement, tables: Mapping[str, Any], dialect: str | None
    ) -> None:
        self._statement = statement
        self._given = tables
        # Without a dialect it is that of DuckDB, which runs it.
        self._language = language_of(dialect or "duckdb", statement.text)
        self._made: dict[str, pa.Table] = {}

    def add(self, name: str, table: pa.Table) -> None:
        """Let the answer of a clause be a table."""
        self._made[name] = table

    def table_of(self, query: str) -> pa.Table:
        """The rows of a subquery."""
        return self._run(query).read_all()

    def batches(self, name: str, table: pa.Table) -> pa.RecordBatchReader:
        """The rows of the statement; the answer of the last clause is `table`, under a name."""
        plain = self._plain(name, table.schema)
        if plain is not None:
            return plain.run(table).to_reader()
        self.add(name, table)
        return self._run(self._statement.outer)

    def schema(self, name: str, schema: pa.Schema) -> pa.Schema:
        """The columns of the statement."""
        plain = self._plain(name, schema)
        if plain is not None:
            return plain.schema
        self.add(name, schema.empty_table())
        return self._run(self._statement.outer).schema

    def _plain(self, name: str, schema: pa.Schema) -> PlainSelect | None:
        """What runs a simple statement where DuckDB is not installed."""
        if find_spec("duckdb") is not None:
            return None
        try:
            return PlainSelect(self._statement.outer, name, self._language, schema)
        except NotPlainError:
            return None

    def _run(self, query: str) -> pa.RecordBatchReader:
        """The result of a query over all tables, by DuckDB."""
        text = self._statement.text
        try:
            import duckdb
        except ImportError:
            raise _refused(
                "this SELECT around MATCH_RECOGNIZE is run by DuckDB, which is not installed",
                text,
                "pip install 'cer-gpu[sql]'; without it SELECT takes columns, WHERE, ORDER BY and LIMIT",
            ) from None
        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'")
        for name, given in self._given.items():
            connection.register(name, _arrow(given, name))
        for name, table in self._made.items():
            connection.register(name, table)
        try:
            result = connection.sql(self._language.transpiled(query, "duckdb"))
            # DuckDB 2 has another name for it.
            reader = getattr(result, "to_arrow_reader", None) or result.fetch_arrow_reader
            return reader(BATCH)
        except duckdb.Error as error:
            first = str(error).split("\n\nLINE", 1)[0].strip()
            raise DataError(f"DuckDB, which runs the SELECT around MATCH_RECOGNIZE, says: {first}") from None


def _arrow(given: Any, name: str) -> pa.Table:
    return given if isinstance(given, pa.Table) else open_rows(given, f"the table {name}").table()


def _refused(what: str, text: str, *hints: str) -> QueryError:
    return QueryError([Diagnostic("CER096", what, None, hints=hints)], text)
