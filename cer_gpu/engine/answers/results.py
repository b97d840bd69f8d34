"""The columns of a query's result: `result_form`; and of a rule with aggregates: `GroupedResults`."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import pyarrow as pa

from cer_gpu.engine.answers.answer_reader import AnswerForms
from cer_gpu.engine.answers.form import MarkResults, ResultForm, TupleResults, free_name
from cer_gpu.engine.answers.row_origin import RowOrigin
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled_query import CompiledQuery, TupleForm

if TYPE_CHECKING:
    from cer_gpu.engine.answers.flat_form import FlatForm
    from cer_gpu.engine.answers.tidy_form import EventForm


class GroupedResults(TupleResults):
    """The columns of the groups of a rule with aggregates: start, end, times, the variables, the aggregates.

    Parameters
    ----------
    form : TupleForm
        With aggregates.
    data, order, encoder, event_id
        As for `ResultForm`.
    """

    grouped = True

    def __init__(
        self,
        form: TupleForm,
        data: pa.Schema,
        order: str | None,
        encoder: LaneEncoder | None,
        event_id: str | None = None,
    ) -> None:
        from cer_gpu.engine.answers.groups import AnswerFold  # few queries need it

        super().__init__(form, data, order, encoder, event_id)
        answers = TupleResults(form, data, order, encoder, event_id)
        taken = {"start", "end", *self.times}
        shown = [column.name for column in form.head[: form.shown]]
        self.head = (*shown, *map(to_text, form.aggregates))
        names = tuple(free_name(name, taken) for name in self.head)
        self.folding = AnswerFold(answers, form.shown, form.aggregates, names)
        self.schema = self.folding.schema
        self.plain = tuple(range(len(self.schema)))
        self.positions = ("start", "end")
        self.marking = ()

    def settled(self) -> GroupedResults:
        """As `ResultForm.settled`."""
        made = copy(self)
        made.folding = None
        return made


def result_form(
    query: CompiledQuery,
    data: pa.Schema,
    order: str | None,
    encoder: LaneEncoder | None,
    event_id: str | None = None,
) -> ResultForm:
    """The form of a query's result for data of a schema; parameters as for `ResultForm`."""
    if isinstance(query.form, TupleForm) and query.form.aggregates:
        return GroupedResults(query.form, data, order, encoder, event_id)
    if isinstance(query.form, TupleForm):
        return TupleResults(query.form, data, order, encoder, event_id)
    form = MarkResults(query.form, data, order, encoder, event_id)
    if not query.hidden:
        form.hidden = None  # no two answers have one end
    return form


def answer_forms(form: ResultForm, data: pa.Schema, origin: RowOrigin) -> AnswerForms:
    """All forms of a query's result, for data of a schema; those besides `form` are made when asked for."""

    def events(whole: bool) -> EventForm:
        from cer_gpu.engine.answers.tidy_form import EventForm

        return EventForm(form, data, origin, whole)

    def flat(whole: bool) -> FlatForm:
        from cer_gpu.engine.answers.flat_form import FlatForm

        return FlatForm(form, data, origin, whole)

    return AnswerForms(form, events, flat)
