"""One run of a compiled query over one source: the four answers a user may ask for."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal

import numpy as np
import pyarrow as pa

from cer_gpu.engine.chunk import Chunk
from cer_gpu.engine.enumerate import batches_of
from cer_gpu.engine.execute import Executor
from cer_gpu.engine.intake import Intake
from cer_gpu.engine.join_execute import JoinExecutor
from cer_gpu.engine.join_keys import columns_read
from cer_gpu.engine.lanes import LaneEncoder
from cer_gpu.engine.matches import Matches, Stop
from cer_gpu.engine.options import Options
from cer_gpu.engine.progress import Progress
from cer_gpu.engine.results import ResultForm
from cer_gpu.engine.runner import Run, Runner, Step
from cer_gpu.engine.sources.source import Source
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.plan.axes import ColumnAxis
from cer_gpu.plan.compiled import CompiledQuery
from cer_gpu.plan.leaves import attributes_of

BATCH = 1 << 22
"""Rows that are read at a time at most."""

LEAST_BATCH = 1024
"""Rows that are read at a time at least, however little memory is allowed."""

BYTES_OF_EVENT = 64
"""What an event takes while it is classified, about."""

DECIMAL_DIGITS = 76
"""Digits of Arrow's widest exact number."""


class BoundQuery:
    """A query on a source.

    Parameters
    ----------
    query : CompiledQuery
    source : Source
    units : dict of str to str
        The units of the source's time columns.
    options : Options
    workers : Workers
        The threads of the query.
    """

    def __init__(
        self,
        query: CompiledQuery,
        source: Source,
        units: dict[str, str],
        options: Options,
        workers: Workers,
    ) -> None:
        self._query = query
        self._source = source
        self._units = units
        self._options = options
        self._workers = workers

    # ---------------------------------------------------------------------------------- the answers

    def count(self) -> int:
        """How many complex events there are."""
        total = 0
        for chunk, run in self._chunks():
            total += sum_exactly(self._limited(run.executor.count_hits(chunk)[1]))
            if self._options.limit is not None and total > self._options.limit:
                warn_of_limit(self._options.limit)
                return self._options.limit
        return total

    def counts(self) -> pa.Table:
        """How many complex events end at each position where some do."""
        positions, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        left = self._options.limit
        for chunk, run in self._chunks():
            event, number = run.executor.count_hits(chunk)
            number, position = self._limited(number), chunk.events.positions[event]
            order = np.argsort(position, kind="stable")
            position, number = position[order], number[order]
            total = sum_exactly(number)
            cut = left is not None and total > left
            if cut:
                position, number = capped(position, number, left or 0)
            positions.append(position)
            numbers.append(number)
            if cut:
                warn_of_limit(self._options.limit)
                break
            left = None if left is None else left - total
        return pa.table(
            {"position": np.concatenate(positions), "count": exact_column(np.concatenate(numbers))}
        )

    def hits(self) -> pa.Table:
        """The positions where complex events end, and the latest start of those at each."""
        positions, starts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        left = self._options.limit
        for chunk, run in self._chunks(answers=False):
            found = run.executor.hits(chunk, bounded=False)
            position = chunk.events.positions[found.event]
            order = np.argsort(position, kind="stable")
            cut = left is not None and len(order) > left
            order = order[:left]
            positions.append(position[order])
            starts.append(found.latest[order])
            if cut:
                warn_of_limit(self._options.limit)
                break
            left = None if left is None else left - len(order)
        return pa.table({"position": np.concatenate(positions), "latest_start": np.concatenate(starts)})

    def matches(self) -> Matches:
        """The complex events, lazily."""

        def produce(stop: Stop) -> Iterator[pa.RecordBatch]:
            steps = (
                Step(chunk, run.executor.hits(chunk), run) for chunk, run in self._chunks(enumerates=True)
            )
            return stop.cut(batch for step in steps for batch in batches_of(step))

        return self.matches_of(produce, self.begin(enumerates=True))

    def matches_of(self, produce: Callable[[Stop], Iterator[pa.RecordBatch]], run: Run) -> Matches:
        """Lazy complex events in the form of a run's results."""
        stop = Stop(self._options.limit)
        names = run.intake.encoder.names if run.intake.encoder is not None else ()
        return Matches(
            run.form.schema,
            lambda: produce(stop),
            self._query.variables,
            names,
            None if self._query.rule is None else tuple(head.name for head in self._query.rule.head),
            "cpu",
            self.device_reason,
            stop,
        )

    @property
    def device_reason(self) -> str:
        """Why the run takes place where it does."""
        if self._options.device == "cpu":
            return "device='cpu' was asked for"
        return "the kernels of this version are for the CPU"

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns of the data."""
        return self._source.arrow_schema

    # ------------------------------------------------------------------------------------- the run

    def begin(self, enumerates: bool, answers: bool = True) -> Run:
        """Set a run up, with nothing read yet.

        Parameters
        ----------
        enumerates : bool
            Whether it gives complex events.
        answers : bool
            Whether it gives or counts them; otherwise where some end.
        """
        query, options = self._query, self._options
        if answers:
            query = query.of_answers()
        carries = not enumerates and query.window is None and query.consume == "NONE" and query.joins is None
        encoder = LaneEncoder(query.partition, self.arrow_schema) if query.partition else None
        order = options.order_by[0] if options.order_by else None
        form = ResultForm(query, self.arrow_schema, order, encoder)
        workers = self._workers
        intake = Intake(
            query,
            encoder,
            self._units,
            options.order_by,
            options.stream_column,
            form.payload if enumerates else (),
            workers,
        )
        executor = (
            JoinExecutor(query, workers) if query.joins is not None else Executor(query, workers, carries)
        )
        runner = Runner(query, intake, executor, workers, carries, options.memory)
        return Run(query, workers, intake, executor, runner, form)

    def read(self, run: Run) -> Iterator[pa.RecordBatch]:
        """The batches that a run reads, with the columns that it needs."""
        memory = self._options.memory
        # A quarter of the memory is for a batch and what is made of it, event by event.
        rows = BATCH if memory is None else max(LEAST_BATCH, min(BATCH, memory // (4 * BYTES_OF_EVENT)))
        return self._source.batches(self.columns(run.intake.payload), rows)

    def _chunks(self, enumerates: bool = False, answers: bool = True) -> Iterator[tuple[Chunk, Run]]:
        """Run over the whole source, chunk by chunk."""
        run = self.begin(enumerates, answers)
        progress = Progress(self._source.rows)
        try:
            for chunk in run.runner.chunks(run.intake(progress.watch(self.read(run)))):
                yield chunk, run
        finally:
            progress.close()
        warn_of_unseen(run.intake, self._options.stream_column)

    def columns(self, payload: tuple[str, ...]) -> list[str]:
        """The columns of the data that the run reads."""
        query, options = self._query, self._options
        names = list(options.order_by)
        for axis in query.axes:
            if isinstance(axis, ColumnAxis):
                names.append(axis.column)
            else:
                operands = [getattr(axis, side, None) for side in ("operand", "left", "right")]
                for operand in operands:
                    if operand is not None:
                        names += sorted(attributes_of(operand))
        names += columns_read(query.key_columns)
        names += [name for part in query.partition for name in part]
        if query.window is not None and query.window.attribute is not None:
            names.append(query.window.attribute)
        if query.streams and options.stream_column is not None:
            names.append(options.stream_column)
        return list(dict.fromkeys([*names, *payload]))

    def _limited(self, number: np.ndarray) -> np.ndarray:
        """How many complex events are reported at each hit."""
        limit = self._query.limit
        return number if limit is None else np.minimum(number, limit)


def sum_exactly(number: np.ndarray) -> int:
    """The sum of counts as a Python integer, whatever their size."""
    if number.dtype != object and (len(number) == 0 or int(number.max()) < (1 << 62) // len(number)):
        return int(number.sum())
    return sum(number.tolist())


def capped(position: np.ndarray, number: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The counts of the first `limit` complex events, of which there are more."""
    if limit == 0:
        return position[:0], number[:0]
    running = np.cumsum(number.astype(object))
    last = int(np.searchsorted(running, limit))
    position, number = position[: last + 1], number[: last + 1].copy()
    number[last] -= running[last] - limit
    return position, number


def exact_column(number: np.ndarray) -> pa.Array:
    """Counts as an Arrow column that holds them exactly.

    Raises
    ------
    LimitError
        Where a count has more digits than Arrow's widest number.
    """
    largest = max(number.tolist(), default=0) if number.dtype == object else 0
    if largest < 1 << 63:
        return pa.array(number.astype(np.int64))
    if len(str(largest)) > DECIMAL_DIGITS:
        raise LimitError(
            f"a count has {len(str(largest)):,} digits, and a column holds {DECIMAL_DIGITS} at most: "
            "ask for `count`, which has no such limit, or narrow the query"
        )
    return pa.array([Decimal(value) for value in number.tolist()], pa.decimal256(DECIMAL_DIGITS, 0))


def warn_of_limit(limit: int | None) -> None:
    """Say that an answer was cut off."""
    warnings.warn(f"stopped at limit={limit}: there are more complex events", UserWarning, stacklevel=3)


def warn_of_unseen(intake: Intake, stream_column: str | None) -> None:
    """Say which types and streams of the query no event had: most likely a slip of the pen."""
    for column, name, seen in intake.unseen():
        near = difflib.get_close_matches(name, seen, n=1)
        meant = f": did you mean `{near[0]}`?" if near else ""
        role = "is of the stream" if column == stream_column else "has the type"
        warnings.warn(f"no event {role} `{name}`{meant}", UserWarning, stacklevel=2)
