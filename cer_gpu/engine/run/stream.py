"""A query over batches that come one after another, with what spans batches carried between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import pyarrow as pa

from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.machines.open_runs import Pushed
from cer_gpu.engine.machines.stream_state import StreamState
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.events import Relevant, joined
from cer_gpu.engine.read.sources.arrow_types import convert
from cer_gpu.engine.run.bound import BATCH, BoundQuery
from cer_gpu.engine.run.chunks import Run
from cer_gpu.errors import DataError


class Stream:
    """Batches in, the complex events that end in each out; made by `Query.stream`.

    Usable in a `with` block, which closes it.

    Parameters
    ----------
    bind : callable
        Checks and plans the query for a batch.
    """

    def __init__(self, bind: Callable[[Any], BoundQuery]) -> None:
        self._open = bind
        self._first: BoundQuery | None = None
        self._run: Any = None
        self._state: Any = None
        self._alike: _Alike | None = None
        self._closed = False

    def push(self, batch: Any) -> Matches:
        """The next events.

        Parameters
        ----------
        batch : object
            Anything that `Query.run` takes, with the columns and types of the batches before.

        Returns
        -------
        Matches
            Those that end in this batch. Positions count from the first event of the first batch. The
            stream has moved on when `push` returns; enumerating may wait.

        Raises
        ------
        DataError
            When the events break the order of time, which closes the stream, or have other columns than
            those before.
        """
        if self._closed:
            raise DataError("the stream is closed: start another with stream()")
        batches = self._batches(batch)
        run, state = self._run, self._state
        try:
            with within_memory("running a batch of the stream"):
                new = [part for part in run.relevant(batches) if len(part)]
                if new and run.query.limit != 0:
                    found = state.push(joined(new))
                else:
                    found = None
                    state.relieve()
        except BaseException:
            # Part of the batch has been taken in: what follows could not be exact.
            self.close()
            raise

        def produce(wanted: int | None) -> Iterator[pa.RecordBatch]:
            if found is not None:
                yield from run.lister.listed(found.events, found.ends, found.answers, wanted)

        assert self._first is not None
        return self._first.matches_of(produce, run)

    def _batches(self, given: Any) -> Iterator[pa.RecordBatch]:
        """What was given as record batches, with the columns that the run reads."""
        if self._alike is not None and self._alike.holds(given):
            return self._alike.batches(given)
        bound = self._open(given)
        if self._first is None:
            self._first = bound
            self._run = bound.begin("run", pushed=True)
            self._state = _state_of(self._run)
        elif bound.arrow_schema != self._first.arrow_schema:
            raise DataError(
                "the batch has other columns than the batches before it: "
                f"{_difference(bound.arrow_schema, self._first.arrow_schema)}"
            )
        if isinstance(given, (pa.RecordBatch, pa.Table)):
            self._alike = _Alike(given.schema, bound, self._run)
        return bound.read(self._run)

    def close(self) -> None:
        """End the stream and free what it holds."""
        self._closed = True
        self._run = self._state = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Alike:
    """Reads Arrow data of the schema of a batch before: nothing has to be checked and planned anew.

    Parameters
    ----------
    schema : pyarrow.Schema
        As the user gave it.
    bound : BoundQuery
        On data of that schema.
    run : Run
    """

    def __init__(self, schema: pa.Schema, bound: BoundQuery, run: Run) -> None:
        self._schema = schema
        self._names = bound.columns(run.intake.payload)
        self._places = [schema.get_field_index(name) for name in self._names]
        self._target = pa.schema([bound.arrow_schema.field(name) for name in self._names])

    def holds(self, given: Any) -> bool:
        """Whether it can read what was given."""
        return isinstance(given, (pa.RecordBatch, pa.Table)) and given.schema.equals(self._schema)

    def batches(self, given: pa.RecordBatch | pa.Table) -> Iterator[pa.RecordBatch]:
        """What was given, as `BoundQuery.read` gives it."""
        parts = [given] if isinstance(given, pa.RecordBatch) else given.to_batches(max_chunksize=BATCH)
        for part in parts:
            arrays = [
                convert(part.column(place), field.type, f"column `{field.name}` of the table")
                for place, field in zip(self._places, self._target, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._target)


class WindowAgain:
    """A machine that runs the open window again with each push.

    Parameters
    ----------
    run : Run
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def push(self, new: Relevant) -> Pushed | None:
        """Take further events in, at least one; as `StreamState.push`."""
        runner = self._run.runner
        chunk = self._run.chunker.chunk(new)
        return Pushed(chunk.events, runner.ends(chunk), lambda some: runner.answers(chunk, some))

    def relieve(self) -> None:
        """Forget what is not needed any more; as `StreamState.relieve`."""
        self._run.chunker.relieve([])


def _state_of(run: Run) -> StreamState | WindowAgain:
    """What the stream of a run keeps between pushes."""
    runs = run.runner.open_runs()
    return WindowAgain(run) if runs is None else StreamState(run.query, run.intake, runs, run.memory)


def _difference(found: pa.Schema, wanted: pa.Schema) -> str:
    for field in wanted:
        if field.name not in found.names:
            return f"`{field.name}` is missing"
        if found.field(field.name).type != field.type:
            return f"`{field.name}` is {found.field(field.name).type}, and was {field.type}"
    return f"`{next(name for name in found.names if name not in wanted.names)}` is new"
