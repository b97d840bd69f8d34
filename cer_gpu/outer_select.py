"""The SELECT around MATCH_RECOGNIZE, and its subqueries, run by DuckDB: `OuterSelect`."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import first_line
from cer_gpu.engine.read.sources.kinds import open_rows
from cer_gpu.engine.read.sources.rows import Rows, TableRows
from cer_gpu.engine.rows.table_parts import with_plain_texts
from cer_gpu.errors import DataError, Diagnostic, QueryError
from cer_gpu.extras import to_install
from cer_gpu.patterns.sql_language import language_of
from cer_gpu.patterns.tree import RowPatternStatement, RowsPerMatch
from cer_gpu.printable_text import name_text, names_text

BATCH = 1 << 17
"""Rows of a batch that DuckDB makes."""


class GivenTables:
    """The tables that a caller passed, each opened once.

    Parameters
    ----------
    given : mapping of str to object
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = dict(given)
        self._opened: dict[str, Rows] = {}
        self._files: dict[str, Rows] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which tables were passed."""
        return tuple(self._given)

    def named(self, name: str) -> str | None:
        """The name under which a table was passed: the exact one, or one in another case.

        Raises
        ------
        DataError
            When several tables have the name in another case.
        """
        if name in self._given:
            return name
        alike = [one for one in self._given if one.lower() == name.lower()]
        if len(alike) > 1:
            raise DataError(
                f"{name_text(name)} may be any of the tables {names_text(alike)}, whose names differ in case "
                "only: write one of them exactly"
            )
        return alike[0] if alike else None

    def given(self, name: str) -> Any:
        """What was passed under a name."""
        return self._given[name]

    def rows(self, name: str, again: bool = False) -> Rows:
        """The rows of a table; if they are read `again`, what can be read only once is kept in memory."""
        if name not in self._opened:
            self._opened[name] = open_rows(self._given[name], f"the table {name_text(name)}")
        rows = self._opened[name]
        if again and not rows.rewindable:
            rows = self._opened[name] = TableRows(rows.table(), rows.where)
        return rows

    def file(self, path: str) -> Rows:
        """The rows of a file that a statement names."""
        if path not in self._files:
            self._files[path] = open_rows(path, path)
        return self._files[path]

    def kept(self, name: str) -> pa.Table:
        """A table in memory, with its texts as strings where those of the source are."""
        rows = self.rows(name, again=True)
        return rows.table().cast(with_plain_texts(rows, rows.schema))

    def for_duckdb(self, name: str, connection: Any) -> Any:
        """A table as DuckDB registers it: a Parquet file is not read before DuckDB asks for its columns."""
        given = self._given[name]
        if isinstance(given, pa.Table):
            return given
        paths = [given] if isinstance(given, (str, os.PathLike)) else given
        if isinstance(paths, list) and len(paths) == 1 and isinstance(paths[0], (str, os.PathLike)):
            path = Path(paths[0])
            if path.suffix == ".parquet" and path.is_file() and not set("*?[") & set(str(path)):
                return connection.read_parquet(str(path))
        return self.kept(name)


class OuterSelect:
    """Runs what stands around MATCH_RECOGNIZE.

    Parameters
    ----------
    statement : RowPatternStatement
    tables : GivenTables
    dialect : str or None
    """

    def __init__(self, statement: RowPatternStatement, tables: GivenTables, dialect: str | None) -> None:
        self._statement = statement
        self._tables = tables
        self._dialect = dialect
        # Without a dialect it is that of DuckDB, which runs it.
        self._language = language_of(dialect or "duckdb", statement.text)
        self._made: dict[str, pa.Table] = {}

    def with_columns(self, name: str, columns: Sequence[str]) -> OuterSelect:
        """The same with other columns, if it does no more than to choose rows of a table.

        Raises
        ------
        QueryError
            When it does more.
        """
        outer = self._language.with_columns(self._statement.outer, name, columns)
        return OuterSelect(replace(self._statement, outer=outer), self._tables, self._dialect)

    def add(self, name: str, table: pa.Table) -> None:
        """Let the answer of a clause be a table."""
        self._made[name] = table

    def mentions(self, query: str) -> list[str]:
        """The names of tables in a query, each as often as it occurs."""
        return _names(self._tree(query))

    def table_of(self, query: str) -> pa.Table:
        """The rows of a subquery."""
        return self._run(query).read_all()

    def batches(self, name: str, table: pa.Table) -> pa.RecordBatchReader:
        """The rows of the statement; the answer of the last clause is `table`, under a name."""
        self.add(name, table)
        return self._run(self._statement.outer)

    def schema(self, name: str, schema: pa.Schema) -> pa.Schema:
        """The columns of the statement."""
        self.add(name, schema.empty_table())
        return self._run(self._statement.outer).schema

    def _run(self, query: str) -> pa.RecordBatchReader:
        """The result of a query over all tables, by DuckDB."""
        text = self._statement.text
        try:
            import duckdb
        except ImportError:
            raise _refused(
                "this SELECT around MATCH_RECOGNIZE is run by DuckDB, which is not installed",
                text,
                to_install("sql"),
            ) from None
        tree = self._tree(query)
        written = self._written(tree)
        try:
            # A name that is not registered is no variable of this function.
            connection = duckdb.connect(config={"python_enable_replacements": "false"})
            connection.execute("SET TimeZone = 'UTC'")
            self._register(connection, _names(tree))
            result = connection.sql(written)
            # DuckDB 2 has another name for it.
            reader = (getattr(result, "to_arrow_reader", None) or result.fetch_arrow_reader)(BATCH)
        except duckdb.Error as error:
            raise self._failed(error, query) from None

        def batches() -> Iterator[pa.RecordBatch]:
            try:
                yield from reader
            except (duckdb.Error, pa.ArrowException, OSError) as error:
                raise self._failed(error, query) from None

        return pa.RecordBatchReader.from_batches(reader.schema, batches())

    def _register(self, connection: Any, names: list[str]) -> None:
        """Let DuckDB know the tables that a query names.

        Raises
        ------
        DataError
            When two of them are one to DuckDB, which takes no heed of case.
        """
        known: dict[str, str | None] = {}
        made = {name.lower(): table for name, table in self._made.items()}
        for name in names:
            found = self._tables.named(name) if name.lower() not in made else None
            other = known.setdefault(name.lower(), found)
            if found is not None and other != found:
                raise DataError(
                    f"the tables {names_text([str(other), found])} differ in case only, and DuckDB, which "
                    "runs the SELECT around MATCH_RECOGNIZE, cannot tell them apart: rename one"
                )
        for name, found in known.items():
            if name in made:
                connection.register(name, made[name])
            elif found is not None:
                connection.register(found, self._tables.for_duckdb(found, connection))

    def _tree(self, query: str) -> Any:
        """The syntax tree of a query without its hints, which mean nothing to DuckDB."""
        from sqlglot import exp

        with _quiet():
            tree = self._language.statement(query)
        for hint in list(tree.find_all(exp.Hint, exp.WithTableHint, exp.IndexTableHint)):
            hint.pop()
        return tree

    def _written(self, tree: Any) -> str:
        """A query in the SQL of DuckDB.

        Raises
        ------
        QueryError
            When it has what DuckDB has no words for.
        """
        from sqlglot.errors import ErrorLevel, UnsupportedError

        try:
            with _quiet():
                return str(tree.sql(dialect="duckdb", unsupported_level=ErrorLevel.RAISE))
        except UnsupportedError as error:
            raise _refused(
                "this SELECT around MATCH_RECOGNIZE cannot be written for DuckDB, which runs it: "
                f"{first_line(error)}",
                self._statement.text,
                "write it with what DuckDB has, or run it elsewhere over the rows of MATCH_RECOGNIZE",
            ) from None

    def _failed(self, error: Exception, query: str) -> DataError:
        """What DuckDB says, and the columns that there are if it finds one missing."""
        told = first_line(error)
        last = self._statement.tables[-1]
        if "Referenced column" in told and query == self._statement.outer and last in self._made:
            told += f"; outside, the columns are {names_text(self._made[last].schema.names)}"
            if self._statement.clauses[-1].rows is RowsPerMatch.ONE:
                told += "; ONE ROW PER MATCH has PARTITION BY columns and measures"
        if "(INTERVAL)" in told:
            told += "; EPOCH makes seconds of an interval, such as `SUM(EPOCH(waited))`"
        return DataError(f"DuckDB, which runs the SELECT around MATCH_RECOGNIZE, says: {told}")


def _names(tree: Any) -> list[str]:
    from sqlglot import exp

    return [node.name for node in tree.find_all(exp.Table) if node.name]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep sqlglot from printing warnings, such as those about hints that it cannot read."""
    logger = logging.getLogger("sqlglot")

    def silent(record: logging.LogRecord) -> bool:
        return False

    # A filter of its own for each call: calls of several threads do not undo one another.
    logger.addFilter(silent)
    try:
        yield
    finally:
        logger.removeFilter(silent)


def _refused(what: str, text: str, *hints: str) -> QueryError:
    return QueryError([Diagnostic("CER096", what, None, hints=hints)], text)
