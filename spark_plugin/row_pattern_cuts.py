"""On the driver: cuts the rows of a MATCH_RECOGNIZE without PARTITION BY by time, where it has a WITHIN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from cer_gpu.spark import cuts
from cer_gpu.spark.expressions import column, in_tasks, literal, number_of_segment, rank
from cer_gpu.spark.routes import Size, measured
from cer_gpu.spark.row_pattern_worker import EXITS, ExitWorker, RowPatternSegment, RowPatternTask
from cer_gpu.spark.segments import SEGMENT, numbers_apart

from cer_gpu.engine.rows.match_finder import span_in
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.conditions import numbers_conditions, reach
from cer_gpu.patterns.tree import RowPatternClause, RowsPerMatch, SkipMode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class CutRows:
    """Rows, each once for each segment that needs it.

    Attributes
    ----------
    frame : DataFrame
        With a column `SEGMENT`; a segment lies in one partition.
    segments : mapping of int to RowPatternSegment
    """

    frame: DataFrame
    segments: Mapping[int, RowPatternSegment]


def uncut_reason(clause: RowPatternClause) -> str:
    """Why the rows of a clause cannot be cut by time; empty if they can."""
    if clause.within is None:
        return "has neither PARTITION BY nor WITHIN"
    if clause.order_by[0].descending:
        return "has no PARTITION BY, and a time that descends"
    if numbers_conditions(clause):
        return "has no PARTITION BY, and MATCH_NUMBER() in a condition"
    if clause.rows is RowsPerMatch.ALL_WITH_UNMATCHED and clause.skip.mode is SkipMode.TO_NEXT_ROW:
        return "has no PARTITION BY, and rows that no match has, where matches overlap"
    return ""


def cut_rows(rows: DataFrame, clause: RowPatternClause, task: RowPatternTask, size: Size) -> CutRows | None:
    """Cut rows into segments of about equal size; None if it is not worth it.

    A segment has the matches that start in it. It also gets the rows that these may reach: those of one
    span of WITHIN behind it, and as many on both sides as PREV and NEXT go. One job measures how the times
    are spread, another counts rows between times; where matches do not start at every row a third follows
    them, to find where each segment is entered.

    Parameters
    ----------
    rows : DataFrame
    clause : RowPatternClause
        One without an `uncut_reason`.
    task : RowPatternTask
    size : Size
    """
    import pyspark.sql.functions as sf

    time = clause.order_by[0].column
    kind = task.read.field(time).type
    assert clause.within is not None
    span = span_in(clause.within, kind)
    marked = rows.withColumn(cuts.STREAM, sf.lit(0).cast("int"))
    # A row without a time is an error where it is matched.
    times = marked.where(column(time).isNotNull()).select(cuts.STREAM, column(time))
    parts = measured(times, cuts.TimeSketch(time)).get(0)
    if parts is None:
        return None
    spread = cuts.distribution(parts)
    wanted = max(-(-spread.rows // size.rows_per_task), size.partitions)
    edges = spread.bounds(wanted)
    edges = cuts.worth_cutting(edges, cuts.earlier(edges, span), spread)
    if not len(edges):
        return None
    lasting = cuts.later(edges, span)
    cells = np.union1d(np.union1d(edges, lasting), spread.bounds(cuts.FINE * (len(edges) + 1)))
    counts = np.sum([one for _, one in measured(times, cuts.Histogram(time, {0: cells}))[0]], axis=0)
    # At least one row, so that a segment does not begin or end where the rows do.
    before, behind = (max(rows_away, 1) for rows_away in reach(clause))
    halos = cuts.by_count(cells, counts, edges, before)
    ends = cuts.by_count_behind(cells, counts, lasting, behind)
    numbers = numbers_apart(len(edges) + 1, len(edges) + 1)
    first = rank(column(time), [literal(end.item(), kind) for end in ends])
    last = rank(column(time), [literal(halo.item(), kind) for halo in halos])
    which = number_of_segment(numbers, first, last)
    frame = marked.withColumn(SEGMENT, sf.explode(which)).drop(cuts.STREAM)
    frame = frame.repartition(len(numbers), column(SEGMENT))
    bounds: list[int | None] = [None, *edges.tolist(), None]
    segments = {
        number: RowPatternSegment(begin, end) for number, begin, end in zip(numbers, bounds, bounds[1:])
    }
    if clause.skip.mode is not SkipMode.TO_NEXT_ROW or task.numbers_matches:
        segments = _entered(frame, task, segments, span)
    return CutRows(frame, segments)


def _entered(
    frame: DataFrame, task: RowPatternTask, segments: dict[int, RowPatternSegment], span: int
) -> dict[int, RowPatternSegment]:
    """The segments with the row at which each is entered, and the matches before it: a job."""
    found: dict[int, tuple[Any, ...]] = {}
    for number, rows, exits, matches in in_tasks(frame, ExitWorker(task, segments, span), EXITS).collect():
        found[number] = rows, exits, matches
    entry, before = 0, 0
    made = {}
    for number, segment in segments.items():
        made[number] = segment._replace(entry=entry, before=before)
        rows, exits, matches = found.get(number, (0, (), ()))
        if entry < len(exits):
            entry, before = exits[entry], before + matches[entry]
        else:  # no match starts here
            entry = max(entry - rows, 0)
    return made
