"""A SELECT with MATCH_RECOGNIZE as a query of a backtest: `RowPatternQuery`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.sources.kinds import open_rows
from cer_gpu.engine.read.sources.rows import ROW, ROW_FIELD, Rows
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.table_parts import OrderedParts
from cer_gpu.engine.run.device_choice import asked_devices, refuse_wrong
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.outer_select import GivenTables, OuterSelect
from cer_gpu.patterns.choices import automaton_of
from cer_gpu.patterns.columns import resolved
from cer_gpu.patterns.explanation import explanation
from cer_gpu.patterns.sql_error import UNREADABLE
from cer_gpu.patterns.statement import parameter_names, read_statement
from cer_gpu.patterns.tree import (
    Field,
    Navigation,
    RowMeasure,
    RowPatternClause,
    RowPatternStatement,
    RowsPerMatch,
)
from cer_gpu.plan.machine import ROW_PATTERNS
from cer_gpu.progress import begun

FIRST, LAST, BEGAN, ENDED, KEY = "__first_row", "__last_row", "__began", "__ended", "__key_"
"""Columns of the rows of a match beside those of the statement."""


class RowPatternQuery:
    """A SELECT with one MATCH_RECOGNIZE, whose matches a backtest counts.

    `backtest` and `sweep` make one from a text; make it yourself to name a dialect. The table that the
    statement names stands for the events of the backtest, whatever its name is. Of the SELECT around
    MATCH_RECOGNIZE only WHERE matters: matches that it leaves out are not counted.

    Parameters
    ----------
    text : str
    dialect : str, optional
        As for `match_recognize`.

    Attributes
    ----------
    text : str
    dialect : str or None
    parameters : tuple of str
        Without `$`, in the order of the text.

    Raises
    ------
    QueryError
        When the statement is wrong. What depends on the values of parameters is found when it runs.
    ValueError
        When there is no such dialect.

    Examples
    --------
    >>> dips = cer.RowPatternQuery("SELECT * FROM trades MATCH_RECOGNIZE (...)", dialect="oracle")
    >>> cer.backtest({"dips": dips}, trades, order_by="ts", by="1d")
    """

    names: frozenset[str] = frozenset()
    tree = None

    def __init__(self, text: str, dialect: str | None = None) -> None:
        self.text = text
        self.dialect = dialect
        self.parameters = parameter_names(text, dialect)
        if not self.parameters:
            _checked(read_statement(text, dialect))

    def __repr__(self) -> str:
        return f"<cer_gpu.RowPatternQuery {' '.join(self.text.split())!r}>"

    def explain(self, format: str = "text") -> str:
        """How the matches are found, as far as the text tells, where parameters stand for null; or a picture.

        Parameters and errors as for `RowPatternResult.explain`.
        """
        from cer_gpu.plan.planning.explain import check_format
        from cer_gpu.row_pattern_drawing import drawn_choices

        check_format(format)
        values = dict.fromkeys(self.parameters)
        clause = read_statement(self.text, self.dialect, values).clauses[0]
        automaton = automaton_of(clause.pattern)
        if format != "text":
            return drawn_choices([automaton], format)
        return explanation(clause, automaton, self.text)

    def bound_to(
        self, source: Source, asked: Options, question: object = None, once: bool = False
    ) -> BoundRowPattern:
        """The statement on a source, with the values of its parameters."""
        statement = _checked(read_statement(self.text, self.dialect, asked.params))
        return BoundRowPattern(statement, self.dialect, source, asked)


def _checked(statement: RowPatternStatement) -> RowPatternStatement:
    """A statement whose matches can be counted."""
    clauses = statement.clauses
    if len(clauses) > 1:
        raise _refused(
            f"a backtest counts the matches of one MATCH_RECOGNIZE, and the statement has {len(clauses)}",
            statement.text,
            "give a SELECT for each",
        )
    if clauses[0].kind == "file":
        raise _refused(
            f"the statement reads the file '{clauses[0].source}', and a backtest passes the events",
            statement.text,
            "name a table, FROM trades MATCH_RECOGNIZE, and pass the file as the events",
        )
    return statement


class BoundRowPattern:
    """A statement on a source, whose matches are listed once.

    Parameters
    ----------
    statement : RowPatternStatement
    dialect : str or None
    source : Source
    asked : Options
        `order_by` says which columns are the times of matches.

    Attributes
    ----------
    partition : tuple of tuple of str
        PARTITION BY.
    ordered : OrderedParts
        What reads the rows.
    in_source : bool
        Whether the rows are those of the source, and not of a subquery.
    """

    def __init__(
        self, statement: RowPatternStatement, dialect: str | None, source: Source, asked: Options
    ) -> None:
        self.notes = Notes()
        clause = statement.clauses[0]
        self.in_source = clause.kind == "table"
        rows = source.table_rows if self.in_source else _subquery_rows(statement, dialect, source)
        clause = resolved(clause, rows.schema.names, statement.text)
        self.partition = tuple((name,) for name in dict.fromkeys(clause.partition_by))
        time = asked.order_by[0] if asked.order_by else None
        self._keys = [f"{KEY}{number}" for number in range(len(self.partition))]
        self._shown = [FIRST, LAST, *self._keys, *([] if time is None else [BEGAN, ENDED])]
        self._choice: OuterSelect | None = None
        name = statement.tables[0]
        if _chooses(statement):
            if clause.rows is not RowsPerMatch.ONE:
                raise _refused(
                    "WHERE around ALL ROWS PER MATCH chooses rows, and a backtest counts matches",
                    statement.text,
                    "write ONE ROW PER MATCH",
                )
            outer = OuterSelect(statement, GivenTables({}), dialect)
            self._choice = outer.with_columns(name, self._shown)
            kept = clause.measures
        else:
            kept = ()
        self._name = name
        self._clause = _located(clause, kept, time)
        schema = rows.schema.append(ROW_FIELD)
        self._answer = RowPatternAnswer(self._clause, schema, statement.text)
        columns = [one for one in self._answer.columns if one != ROW]
        self.ordered = OrderedParts(rows, columns, clause.partition_by, clause.order_by, None, numbered=True)
        device = asked_devices(asked.device)[0]
        refuse_wrong([device], ROW_PATTERNS)
        self._device = int(device.removeprefix("cuda:")) if device.startswith("cuda") else None

    def matches(self) -> ListedMatches:
        """All matches."""
        return ListedMatches(self._listed)

    def counts(self) -> pa.Table:
        """How many matches end at each row where one does: the row, the key, the time, and the count."""
        listed = self._listed
        ends, first, count = np.unique(listed.column("end").to_numpy(), return_index=True, return_counts=True)
        return self._at_ends(listed.take(pa.array(first)), ends, "count", count)

    def hits(self) -> pa.Table:
        """The rows at which matches end, and the latest start of those that end there."""
        listed = self._listed
        start, end = (listed.column(name).to_numpy() for name in ("start", "end"))
        order = np.lexsort([start, end])
        last = order[np.append(end[order][1:] != end[order][:-1], True)] if len(order) else order
        return self._at_ends(listed.take(pa.array(last)), end[last], "latest_start", start[last])

    def _at_ends(self, listed: pa.Table, ends: np.ndarray, name: str, values: np.ndarray) -> pa.Table:
        keys = list(range(2, 2 + len(self.partition)))
        time = listed.schema.names[-1:] if len(listed.schema) > len(keys) + 2 else []
        columns = [pa.array(ends), *(listed.column(at) for at in keys), *(listed.column(at) for at in time)]
        names = ["position", *(listed.schema.names[at] for at in keys), *time, name]
        return pa.table([*columns, pa.array(values)], names)

    @cached_property
    def _listed(self) -> pa.Table:
        """All matches: `start`, `end`, the key, and the times of both, where there is an order."""
        parts = [self._answer.schema.empty_table()]
        progress = begun(self.ordered.rows.rows)
        parts += map(pa.Table.from_batches, ([batch] for batch in progress.over(self._batches(progress))))
        found = pa.concat_tables(parts)
        if self._choice is not None:
            found = self._choice.batches(self._name, found).read_all()
        found = found.select(self._shown)
        found = found.filter(found.column(FIRST).is_valid())  # an empty match has no rows
        return found.rename_columns(["start", "end", *self._keys, *self._shown[2 + len(self._keys) :]])

    def _batches(self, progress: Any) -> Iterator[pa.RecordBatch]:
        workers = Workers()
        for rows in self.ordered.read(progress):
            yield from self._answer.over(rows, workers, self._device)


class ListedMatches:
    """The matches of a statement, as a backtest lists those of a query."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def batches(self) -> pa.RecordBatchReader:
        """The matches, batch after batch."""
        return self._table.to_reader()

    def to_arrow(self) -> pa.Table:
        """The matches as a table."""
        return self._table


@contextmanager
def kept_rows(patterns: Sequence[BoundRowPattern]) -> Iterator[None]:
    """A `with` block in which statements that read the same rows in the same order share them."""
    found: list[OrderedParts] = []
    for one in patterns:
        same = next((other for other in found if other.absorb(one.ordered)), None)
        if same is None:
            found.append(one.ordered)
        else:
            one.ordered = same
    with ExitStack() as kept:
        for ordered in found:
            kept.enter_context(ordered.kept())
        yield


def _chooses(statement: RowPatternStatement) -> bool:
    """Whether there is a WHERE, or anything else, around MATCH_RECOGNIZE that may leave matches out."""
    from cer_gpu.row_patterns import ALL_OF_IT

    return ALL_OF_IT.fullmatch(statement.outer) is None


def _located(clause: RowPatternClause, kept: tuple[RowMeasure, ...], time: str | None) -> RowPatternClause:
    """A clause that says of each match where it is, with some of its measures."""
    keys = dict.fromkeys(clause.partition_by)
    added = [_measure(FIRST, ROW, "first"), _measure(LAST, ROW, "last")]
    added += [_measure(f"{KEY}{number}", name, "last") for number, name in enumerate(keys)]
    if time is not None:
        added += [_measure(BEGAN, time, "first"), _measure(ENDED, time, "last")]
    return replace(clause, rows=RowsPerMatch.ONE, measures=(*kept, *added))


def _measure(name: str, column: str, which: Any) -> RowMeasure:
    return RowMeasure(name, Navigation(Field(column), which=which, final=True))


def _subquery_rows(statement: RowPatternStatement, dialect: str | None, source: Source) -> Rows:
    """The rows of a subquery over the events, whatever name it gives them."""
    query = statement.clauses[0].source
    events = source.table_rows.table()
    named = OuterSelect(statement, GivenTables({}), dialect).mentions(query)
    tables = GivenTables(dict.fromkeys(named, events))
    return open_rows(OuterSelect(statement, tables, dialect).table_of(query), "the subquery")


def _refused(what: str, text: str, hint: str) -> QueryError:
    return QueryError([Diagnostic(UNREADABLE, what, None, hints=(hint,))], text)
