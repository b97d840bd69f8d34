"""MATCH_RECOGNIZE over rows that go on coming: `RowPatternStream`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.rows.answers import RowPatternAnswer
from cer_gpu.engine.rows.match_finder import MODES, span_in
from cer_gpu.engine.rows.ordered_rows import OrderedRows, times_of
from cer_gpu.engine.rows.row_matches import RowMatches
from cer_gpu.engine.rows.start_chains import StartRows, step_of
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.kernels.row_patterns import contract as k
from cer_gpu.patterns.conditions import numbers_conditions, reach
from cer_gpu.patterns.tree import Anchor, RowPatternClause, RowsPerMatch, parts_of

DONE, NUMBER = "\0done", "\0number"
"""Columns of held rows: 1 if no match may start there any more; the matches of the partition so far."""

OWN_FIELDS = (pa.field(DONE, pa.uint8()), pa.field(NUMBER, pa.int64()))


class RowPatternState(NamedTuple):
    """What a stream keeps.

    Attributes
    ----------
    rows : pyarrow.Table
        With the columns of `OWN_FIELDS` behind those of the clause.
    moment : int or None
        The time up to which all rows are there, exclusive, in the unit of the column.
    """

    rows: pa.Table
    moment: int | None


class RowPatternStream:
    """Takes rows in any order, and gives the rows of matches once time has decided them.

    A match lies within the span of WITHIN, so that what starts so long before the moment up to which all rows
    are there is decided. Rows before are kept only as far as PREV looks back.

    Parameters
    ----------
    clause : RowPatternClause
        One that `check_live` takes.
    answer : RowPatternAnswer
        Of the clause.
    in_order : callable
        Puts the rows of a table in the order of the clause, whatever their order in the table is.
    schema : pyarrow.Schema
        Of the rows.
    held : RowPatternState, optional
        What an earlier stream has kept.
    """

    def __init__(
        self,
        clause: RowPatternClause,
        answer: RowPatternAnswer,
        in_order: Callable[[pa.Table], OrderedRows],
        schema: pa.Schema,
        held: RowPatternState | None = None,
    ) -> None:
        self._answer = answer
        self._in_order = in_order
        self._time = clause.order_by[0].column
        assert clause.within is not None
        self._span = span_in(clause.within, schema.field(self._time).type)
        self._skip = clause.skip
        self._context = max(reach(clause)[0], 1)
        self._schema = pa.schema([*schema, *OWN_FIELDS])
        self.held = RowPatternState(self._schema.empty_table(), None) if held is None else held

    def push(self, rows: pa.Table) -> int:
        """Take rows; those before the moment are left out. Gives how many these are."""
        late = 0
        if self.held.moment is not None and rows.num_rows:
            times = times_of(rows.column(self._time).combine_chunks(), self._time, False)
            kept = times >= self.held.moment
            late = int(len(kept) - kept.sum())
            rows = rows.filter(pa.array(kept)) if late else rows
        own = [pa.array(np.zeros(len(rows), np.uint8)), pa.array(np.zeros(len(rows), np.int64))]
        given = pa.Table.from_arrays([*rows.columns, *own], schema=self._schema)
        self.held = self.held._replace(rows=pa.concat_tables([self.held.rows, given]))
        return late

    def advance(self, moment: int, workers: Workers) -> Iterator[pa.RecordBatch]:
        """Say that no row before a time will come any more, in the unit of the column; what this decides."""
        rows = self._in_order(self.held.rows)
        if not rows.count:
            self.held = self.held._replace(moment=moment)
            return
        times = times_of(rows.column(self._time), self._time, False)
        done = np.asarray(rows.column(DONE)) > 0
        lanes, sizes = rows.lanes[:-1], np.diff(rows.lanes)
        # The number that was noted lies on a row that was there before; new ones have 0.
        before = np.maximum.reduceat(np.asarray(rows.column(NUMBER)), lanes)
        decided = times <= moment - self._span
        chains = _LaneChains(rows.lanes, MODES[self._skip.mode], self._takes())
        starts = StartRows((decided & ~done).astype(np.uint8), before)
        yield from self._answer.over(rows, workers, None, starts, chains.see)
        # Behind the rows that are decided, and behind those that a match has taken from the next start.
        places = np.arange(rows.count)
        stop = lanes + np.add.reduceat((decided | done).astype(np.int64), lanes)
        border = np.repeat(np.maximum(stop, chains.next), sizes)
        kept = places >= border - self._context
        table = self.held.rows.take(pa.array(rows.row_numbers(places[kept])))
        own = [(places < border)[kept].astype(np.uint8), np.repeat(before + chains.matches, sizes)[kept]]
        for field, values in zip(OWN_FIELDS, own, strict=True):
            table = table.set_column(table.schema.get_field_index(field.name), field, pa.array(values))
        self.held = RowPatternState(table.combine_chunks(), moment)

    @property
    def waiting(self) -> int:
        """How many rows matches may still start at."""
        return int(len(self.held.rows) - np.asarray(self.held.rows.column(DONE)).sum())

    def _takes(self) -> np.ndarray:
        automaton = self._answer.automaton
        named = np.array([name in self._skip.variables for name in automaton.variables], bool)
        return named[np.array(automaton.variable_of, np.int64)]


class _LaneChains:
    """Where the next match may start in each partition, and how many matches there were."""

    def __init__(self, lanes: np.ndarray, mode: int, takes: np.ndarray) -> None:
        self._lanes, self._mode, self._takes = lanes, mode, takes
        self.next = np.zeros(len(lanes) - 1, np.int64)
        self.matches = np.zeros(len(lanes) - 1, np.int64)

    def see(self, matches: RowMatches) -> None:
        """Take matches, which come in the order of their partitions and starts."""
        if not len(matches.starts):
            return
        lane = np.searchsorted(self._lanes, matches.starts, side="right") - 1
        self.matches += np.bincount(lane, minlength=len(self.matches))
        last = np.flatnonzero(np.append(lane[1:] != lane[:-1], True))
        if self._mode in (k.TO_NEXT_ROW, k.PAST_LAST_ROW):
            step = np.maximum(matches.lengths[last], 1) if self._mode == k.PAST_LAST_ROW else 1
        else:
            sizes, ends = matches.lengths[last], np.cumsum(matches.lengths)[last]
            slots = [matches.slots[end - size : end] for end, size in zip(ends, sizes)]
            step = np.array([step_of(self._mode, self._takes, one) for one in slots])
        self.next[lane[last]] = matches.starts[last] + step


def check_live(clause: RowPatternClause, text: str) -> None:
    """Check that the matches of a clause are decided by time alone, so that a stream can have them.

    Raises
    ------
    QueryError
        When a match may lie any time after its start, or depends on what comes behind it.
    """
    if clause.within is None:
        raise _refused(
            "a stream needs WITHIN, which says when a match is over",
            text,
            "write it after PATTERN: PATTERN (a b+) WITHIN INTERVAL '5' MINUTE",
        )
    if clause.order_by[0].descending:
        raise _refused(
            "a stream is in ascending order of time, and this ORDER BY is descending", text, "leave DESC out"
        )
    if clause.rows is RowsPerMatch.ALL_WITH_UNMATCHED:
        raise _refused("a stream cannot return rows without a match", text, "leave WITH UNMATCHED ROWS out")
    if any(isinstance(part, Anchor) for part in parts_of(clause.pattern)):
        raise _refused(
            "`^` and `$` cannot be used in a stream, which has no last row and does not keep its first one",
            text,
            "leave them out",
        )
    if numbers_conditions(clause):
        raise _refused("in a stream, MATCH_NUMBER() can only be a measure", text, "leave it out of DEFINE")
    if reach(clause)[1]:
        raise _refused("NEXT looks at rows that have not come yet", text, "use PREV from the later row")


def _refused(what: str, text: str, hint: str) -> QueryError:
    return QueryError([Diagnostic("CER117", what, None, hints=(hint,))], text)
