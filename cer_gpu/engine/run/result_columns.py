"""The columns of the results of a run, and of the data that they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import pyarrow as pa

from cer_gpu.plan.compiled_query import CompiledQuery, Product

if TYPE_CHECKING:
    from cer_gpu.engine.answers.end_form import EndForm, EventIds
    from cer_gpu.engine.answers.form import ResultForm
    from cer_gpu.engine.read.lanes import LaneEncoder
    from cer_gpu.engine.run.options import Options


class ResultColumns(NamedTuple):
    """What gives the columns of results; a sum of counts has none.

    Attributes
    ----------
    shown : ResultForm or None
        The columns of complex events.
    ends : EndForm or None
        The columns of ends: for `hits` and `counts`.
    ids : EventIds or None
        What takes the place of positions of ends.
    payload : tuple of str
        The columns of the data that results are made of.
    """

    shown: ResultForm | None = None
    ends: EndForm | None = None
    ids: EventIds | None = None
    payload: tuple[str, ...] = ()


def result_columns(
    query: CompiledQuery,
    product: Product,
    data: pa.Schema,
    options: Options,
    encoder: LaneEncoder | None,
    on_device: bool,
    more: tuple[str, ...],
) -> ResultColumns:
    """What gives the columns of the results of a run.

    Parameters
    ----------
    query : CompiledQuery
    product : {"run", "counts", "hits"}
    data : pyarrow.Schema
        The columns of the events.
    options : Options
    encoder : LaneEncoder or None
        The encoder of the keys of PARTITION BY.
    on_device : bool
        Whether devices run the query.
    more : tuple of str
        Columns that complex events are made of, besides those of the query's own form.
    """
    from cer_gpu.engine.answers.results import result_form

    order = options.order_by[0] if options.order_by else None
    event_id = options.event_id
    form = None
    if product != "hits":  # counts of answers that measures tell apart are made of them
        form = result_form(query, data, order, encoder, event_id)
    if product == "run":
        assert form is not None
        return ResultColumns(form, payload=(*form.payload, *more))

    from cer_gpu.engine.answers.end_form import EndForm, EventIds
    from cer_gpu.engine.answers.form import id_type

    # A device has columns of its own, and events that are held back outlive their batches.
    here: Literal["batches", "events"] | None = None if on_device else "batches"
    timed = "events" if query.outlooks or query.keeps_times else here
    ends = EndForm(product, data, order, encoder, query.window, event_id, timed)
    ids = None if event_id is None else EventIds(event_id, id_type(data, event_id))
    return ResultColumns(form, ends, ids, ends.payload)
