"""SQL's row pattern recognition over any data: `match_recognize`."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from cer_gpu.engine.answers.table_result import TableResult
from cer_gpu.engine.read.sources.kinds import open_rows
from cer_gpu.engine.read.sources.rows import Rows
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.leaf_types import LeafTypes
from cer_gpu.engine.rows.table_parts import OrderedParts, with_plain_texts
from cer_gpu.engine.run.device_choice import asked_devices, refuse_wrong
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError
from cer_gpu.outer_select import GivenTables, OuterSelect
from cer_gpu.patterns.columns import resolved
from cer_gpu.patterns.explanation import explanation
from cer_gpu.patterns.statement import read_statement
from cer_gpu.patterns.tree import RowPatternClause, RowPatternStatement
from cer_gpu.plan.machine import ROW_PATTERNS
from cer_gpu.printable_text import brief, name_text, names_text
from cer_gpu.progress import begun

ALL_OF_IT = re.compile(r"\s*SELECT\s+\*\s+FROM\s+(\w+)(\s+(AS\s+)?\w+)?\s*;?\s*", re.IGNORECASE)
"""A statement that gives the rows of its MATCH_RECOGNIZE as they are."""


def match_recognize(
    sql: str,
    /,
    *,
    dialect: str | None = None,
    params: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    memory: int | None = None,
    device: str | Sequence[str] = "auto",
    **tables: Any,
) -> RowPatternResult | RowPatternVariants:
    """Run a SELECT with MATCH_RECOGNIZE.

    It needs sqlglot, and DuckDB if the SELECT around it does more than return its rows: the extra `sql` has
    both.

    Parameters
    ----------
    sql : str
    dialect : str, optional
        The SQL that the text is written in: "oracle", "snowflake", "trino", "flink", "duckdb", "spark".
        By default the standard's.
    params : mapping of str to object, or sequence of them, optional
        The values of parameters, `$name`, by their names. With several mappings the statement runs with each,
        and the rows have a column for each parameter in front.
    memory : int, optional
        How many bytes of memory to use at most; if a table needs more, its partitions are written to files,
        and processed one group after the other. By default all free memory.
    device : str, default "auto"
        "cuda" finds matches on a GPU if each condition reads rows at fixed distances and matches do not
        overlap; sorting, conditions and measures stay on the CPU, so "auto" takes the CPU.
    **tables : object
        The tables that the text names: Arrow data, data frames, paths of files.

    Returns
    -------
    RowPatternResult or RowPatternVariants
        One preferred match for each start that AFTER MATCH SKIP leaves.

    Raises
    ------
    QueryError
        When the statement is wrong, or does not fit the tables.
    DataError
        When a table is missing or cannot be read, or AFTER MATCH SKIP cannot be followed.
    LimitError
        When a pattern is too large, a search takes too long, or there is too little memory.

    Examples
    --------
    >>> cer.match_recognize('''SELECT * FROM trades MATCH_RECOGNIZE (
    ...     PARTITION BY symbol ORDER BY ts
    ...     MEASURES FIRST(down.price) AS top, LAST(up.price) AS last
    ...     PATTERN (start down+ up+)
    ...     DEFINE down AS price < PREV(price), up AS price > PREV(price))''', trades=table)
    """
    if params is None or isinstance(params, Mapping):
        return result_over(GivenTables(tables), sql, dialect, params, memory, device)
    given = GivenTables(tables)
    for name in tables:
        if not isinstance(tables[name], (pa.Table, str, os.PathLike)):
            tables[name] = given.kept(name)
    shared = GivenTables(tables)
    results = [result_over(shared, sql, dialect, each, memory, device) for each in params]
    return RowPatternVariants(results, params)


def result_over(
    tables: GivenTables,
    sql: str,
    dialect: str | None = None,
    params: Mapping[str, Any] | None = None,
    memory: int | None = None,
    device: str | Sequence[str] = "auto",
) -> RowPatternResult:
    """As `match_recognize`; the tables may have any names."""
    if not isinstance(sql, str):
        raise TypeError(f"a statement must be a str, not {type(sql).__name__}")
    if dialect is not None and not isinstance(dialect, str):
        raise TypeError(f"dialect must be the name of one, a str, not {brief(dialect)}")
    if memory is not None and (not isinstance(memory, int) or isinstance(memory, bool) or memory <= 0):
        raise ValueError(f"memory must be a number of bytes, above 0, not {brief(memory)}")
    name = asked_devices(device)[0]
    refuse_wrong([name], ROW_PATTERNS)
    number = int(name.removeprefix("cuda:")) if name.startswith("cuda") else None
    return RowPatternResult(read_statement(sql, dialect, params), tables, dialect, memory, number)


class ListedRows(TableResult):
    """Rows that can be had as tables of several libraries."""

    @abstractmethod
    def batches(self) -> pa.RecordBatchReader:
        """The rows as a reader of record batches of bounded size."""

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self.batches().read_all()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows through Arrow's C stream interface, for other libraries."""
        return self.batches().__arrow_c_stream__(requested_schema)


class RowPatternResult(ListedRows):
    """The rows of a statement with MATCH_RECOGNIZE; made by `match_recognize`.

    The last MATCH_RECOGNIZE is matched each time that rows are asked for. Subqueries before one,
    and a MATCH_RECOGNIZE that is not the last, run when the result is made, and their rows are kept in
    memory; so are those of a table that can be read only once, if the statement names it more than once.
    Tables that can be read more than once give the same rows each time.
    """

    def __init__(
        self,
        statement: RowPatternStatement,
        tables: GivenTables,
        dialect: str | None = None,
        memory: int | None = None,
        device: int | None = None,
    ) -> None:
        self._statement = statement
        self._tables = tables
        self._answers: dict[str, pa.Table] = {}
        self._outer = OuterSelect(statement, self._tables, dialect)
        self._clauses: list[_BoundClause] = []
        for name, clause in zip(statement.tables, statement.clauses, strict=True):
            bound = _BoundClause(clause, self._opened(clause), statement.text, memory, device)
            self._clauses.append(bound)
            # A later clause may read it: then it has to be there as a table.
            if name != statement.tables[-1]:
                self._answers[name] = table = bound.table()
                self._outer.add(name, table)

    def batches(self) -> pa.RecordBatchReader:
        """The rows as a reader of record batches of bounded size."""
        last = self._clauses[-1]
        if self._is_whole:
            return pa.RecordBatchReader.from_batches(last.schema, last.batches())
        return self._outer.batches(self._statement.tables[-1], last.table())

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns of the rows of `batches`."""
        if self._is_whole:
            return self._clauses[-1].schema
        return self._outer.schema(self._statement.tables[-1], self._clauses[-1].schema)

    @property
    def ordered(self) -> OrderedParts:
        """What reads the rows of the last MATCH_RECOGNIZE."""
        return self._clauses[-1].ordered

    def share(self, ordered: OrderedParts) -> None:
        """Let the last MATCH_RECOGNIZE read its rows as others do."""
        self._clauses[-1].ordered = ordered

    @property
    def _is_whole(self) -> bool:
        """Whether the statement gives the rows of its MATCH_RECOGNIZE as they are."""
        found = ALL_OF_IT.fullmatch(self._statement.outer)
        return found is not None and found[1] == self._statement.tables[-1]

    def explain(self, format: str = "text") -> str:
        """How each MATCH_RECOGNIZE of the statement is evaluated, and why; or its automaton as a picture.

        Parameters
        ----------
        format : {"text", "mermaid", "svg"}, default "text"
            "mermaid" gives the text of a Mermaid flowchart, "svg" an SVG document.

        Raises
        ------
        ValueError
            When there is no such format, or several automata are to be one picture.
        LimitError
            When an automaton is too large to be drawn.
        CerError
            For "svg", when the package that draws it is not installed.
        """
        from cer_gpu.plan.planning.explain import check_format
        from cer_gpu.row_pattern_drawing import drawn_choices

        check_format(format)
        if format == "text":
            return "\n".join(bound.explain() for bound in self._clauses)
        return drawn_choices([bound.answer.automaton for bound in self._clauses], format)

    def _opened(self, clause: RowPatternClause) -> Rows:
        if clause.kind == "file":
            return self._tables.file(clause.source)
        if clause.kind == "query":
            return open_rows(self._outer.table_of(clause.source), "the subquery")
        if clause.source in self._answers:
            return open_rows(self._answers[clause.source], f"the table {clause.source}")
        name = self._tables.named(clause.source)
        if name is None:
            given = self._tables.names
            known = f"the tables are {names_text(given)}" if given else "no table is given"
            raise DataError(
                f"there is no table {name_text(clause.source)}: {known}. Pass it by its name, "
                f"match_recognize(sql, {_keyword(clause.source)}), or name a file: FROM 'trades.parquet'"
            )
        table = self._tables.given(name)
        if table is None or isinstance(table, (Mapping, int, float)):
            raise DataError(
                f"the table {name_text(clause.source)} is of type {type(table).__name__}: pass Arrow data, a "
                "data frame or the path of a file, for example pyarrow.table(...)"
            )
        rows = self._tables.rows(name)
        return rows if rows.rewindable else self._tables.rows(name, again=self._uses(name) > 1)

    def _uses(self, table: str) -> int:
        """How often the statement names a table."""
        clauses = self._statement.clauses
        named = [clause.source for clause in clauses if clause.kind == "table"]
        queries = [clause.source for clause in clauses if clause.kind == "query"]
        if not self._is_whole:
            queries.append(self._statement.outer)
        for query in queries:
            named += self._outer.mentions(query)
        alike = [name for name in named if name.lower() == table.lower()]
        return sum(self._tables.named(name) == table for name in alike)


class RowPatternVariants(ListedRows):
    """The rows of a statement with each of several values of its parameters; made by `match_recognize`.

    The columns of the parameters come first. Rows that fit into memory are read and sorted once.

    Raises
    ------
    ValueError
        When there are no values, when they do not have the same names, or when a parameter has the name of a
        column.
    """

    def __init__(self, results: Sequence[RowPatternResult], params: Sequence[Mapping[str, Any]]) -> None:
        if not results or any(each.keys() != params[0].keys() for each in params):
            raise ValueError("params must be mappings, at least one, that all have the same names")
        self._results = tuple(results)
        self._ordered = results[0].ordered
        for result in results[1:]:
            if self._ordered.absorb(result.ordered):
                result.share(self._ordered)
        self._values = pa.Table.from_pylist([dict(each) for each in params])
        alike = [name for name in self._values.schema.names if name in results[0].schema.names]
        if alike:
            raise ValueError(
                f"the parameter {name_text(alike[0])} has the name of a column of the result: rename one"
            )

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns of the rows of `batches`."""
        return pa.schema([*self._values.schema, *self._results[0].schema])

    def batches(self) -> pa.RecordBatchReader:
        """The rows as a reader of record batches of bounded size, those of the first values first."""
        return pa.RecordBatchReader.from_batches(self.schema, self._made())

    def explain(self, format: str = "text") -> str:
        """How the statement is evaluated with the first values; see `RowPatternResult.explain`."""
        return self._results[0].explain(format)

    def _made(self) -> Iterator[pa.RecordBatch]:
        with self._ordered.kept():
            for number, result in enumerate(self._results):
                for batch in result.batches():
                    own = [pa.repeat(column[number], batch.num_rows) for column in self._values.itercolumns()]
                    yield pa.RecordBatch.from_arrays([*own, *batch.columns], schema=self.schema)


class _BoundClause:
    """A clause on the rows that it reads."""

    def __init__(
        self, clause: RowPatternClause, rows: Rows, text: str, memory: int | None, device: int | None
    ) -> None:
        self._clause = resolved(clause, rows.schema.names, text)
        self._rows = rows
        self._text = text
        self._device = device
        self.answer = RowPatternAnswer(self._clause, rows.schema, text)
        keys, order = self._clause.partition_by, self._clause.order_by
        self.ordered = OrderedParts(rows, self.answer.columns, keys, order, memory)
        self.schema = self._shown_schema()

    def _shown_schema(self) -> pa.Schema:
        """The columns of the answer, whose texts are categories only where those of the source are."""
        own = self.answer.schema
        plain = with_plain_texts(self._rows, self._rows.schema)
        if plain == self._rows.schema:
            return own
        types = LeafTypes(plain, self._text)
        kinds = dict(zip(plain.names, plain.types, strict=True))
        kinds |= {one.name: types.type_of(one.expression) for one in self._clause.measures}
        return pa.schema([(name, kinds[name]) for name in own.names])

    def explain(self) -> str:
        return explanation(self._clause, self.answer.automaton, self._text, self._device)

    def table(self) -> pa.Table:
        return pa.Table.from_batches(self.batches(), self.schema)

    def batches(self) -> Iterator[pa.RecordBatch]:
        progress = begun(self._rows.rows)
        return progress.over(self._made(progress))

    def _made(self, progress: Any) -> Iterator[pa.RecordBatch]:
        workers = Workers()
        for rows in self.ordered.read(progress):
            for batch in self.answer.over(rows, workers, self._device):
                yield batch if batch.schema == self.schema else batch.cast(self.schema)


def _keyword(name: str) -> str:
    return f"{name}=table" if name.isidentifier() else f'**{{"{name}": table}}'
