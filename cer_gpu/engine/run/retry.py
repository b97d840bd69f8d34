"""A query that is answered once more, where decimals that it compares, or sums, do not fit 64 bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa

from cer_gpu.errors import FarDecimalError, QueryError

if TYPE_CHECKING:
    from cer_gpu.engine.answers.answer_reader import ResultProducer
    from cer_gpu.engine.answers.batches import Form
    from cer_gpu.engine.answers.notes import Notes
    from cer_gpu.engine.answers.room import Room


class SourceQuery(Protocol):
    """A query on a source, such as `BoundQuery`."""

    instead: Callable[[FarDecimalError], Self] | None
    notes: Notes

    def begin(self, purpose: Literal["run"], *, more: tuple[str, ...]) -> Any:
        """Set up a run."""

    def listed(self, run: Any, lister: Any, wanted: int | None, room: Room | None) -> Iterator[Any]:
        """The complex events of a run."""


Bound = TypeVar("Bound", bound=SourceQuery)


def going_on(bound: SourceQuery, produce: ResultProducer) -> ResultProducer:
    """Complex events of a query; where it meets such a decimal, the others come from what compares it.

    Both list complex events in the same order, so those that were given are also the first ones of the other
    engine.
    """

    def produced(form: Form[Any], wanted: int | None, room: Room | None = None) -> Iterator[Any]:
        given = 0
        try:
            for found in produce(form, wanted, room):
                yield found
                given += _matches_in(found)
        except FarDecimalError as error:
            other = in_its_place(bound, error)
            run = other.begin("run", more=form.payload)
            yield from _after(other.listed(run, run.lister.of(form, room), wanted, room), given)

    return produced


def in_its_place(bound: Bound, error: FarDecimalError) -> Bound:
    """What answers in the place of a query, with its notes; raises the error where nothing does."""
    if bound.instead is None:
        raise error
    try:
        other = bound.instead(error)
    except QueryError:  # nothing takes the query
        raise error from None
    other.notes = bound.notes
    bound.notes.say(error.note, aloud=False)
    return other


def _matches_in(found: Any) -> int:
    """How many complex events a result has: a batch of them, or (their number, a batch of their events)."""
    return len(found) if isinstance(found, pa.RecordBatch) else int(found[0])


def _after(results: Iterator[Any], given: int) -> Iterator[Any]:
    """The results without their first `given` complex events."""
    for found in results:
        there = _matches_in(found)
        if given >= there:
            given -= there
        else:
            yield _without(found, given) if given else found
            given = 0


def _without(found: Any, given: int) -> Any:
    if isinstance(found, pa.RecordBatch):
        return found.slice(given)
    matches, batch = found
    number = batch.column(0).to_numpy()  # of the complex event in this batch
    first = int(np.searchsorted(number, given))
    rest = batch.slice(first)
    return matches - given, rest.set_column(0, batch.schema.field(0), pa.array(number[first:] - given))
