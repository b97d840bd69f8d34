"""A query over batches that come one after another, with what spans batches carried between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import pyarrow as pa

from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.events import joined
from cer_gpu.engine.run.bound import BoundQuery
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
        bound = self._open(batch)
        if self._first is None:
            self._first = bound
            self._run = bound.begin("run")
        elif bound.arrow_schema != self._first.arrow_schema:
            raise DataError(
                "the batch has other columns than the batches before it: "
                f"{_difference(bound.arrow_schema, self._first.arrow_schema)}"
            )
        run = self._run
        try:
            with within_memory("running a batch of the stream"):
                found = _advanced(run, bound)
        except BaseException:
            # Part of the batch has been taken in: what follows could not be exact.
            self.close()
            raise

        def produce(wanted: int | None) -> Iterator[pa.RecordBatch]:
            return iter(()) if found is None else run.lister.batches(*found, wanted)

        return self._first.matches_of(produce, run)

    def close(self) -> None:
        """End the stream and free what it holds."""
        self._closed = True
        self._run = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _advanced(run: Run, bound: BoundQuery) -> tuple[Chunk, Ends] | None:
    """Take a batch in and find its ends."""
    parts = [part for part in run.relevant(bound.read(run)) if len(part)]
    if not parts:
        return None
    chunk = run.chunker.chunk(joined(parts))
    return chunk, run.runner.ends(chunk)


def _difference(found: pa.Schema, wanted: pa.Schema) -> str:
    for field in wanted:
        if field.name not in found.names:
            return f"`{field.name}` is missing"
        if found.field(field.name).type != field.type:
            return f"`{field.name}` is {found.field(field.name).type}, and was {field.type}"
    return f"`{next(name for name in found.names if name not in wanted.names)}` is new"
