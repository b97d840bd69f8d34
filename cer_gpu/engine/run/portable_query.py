"""A query planned for data of a schema, without the data: it can be sent to another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from cer_gpu.engine.answers.form import ResultForm
from cer_gpu.engine.answers.results import result_form
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.run.options import Options
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.compiled_query import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.answers.end_form import EndForm


@dataclass(frozen=True, slots=True)
class PortableQuery:
    """A query planned for data of a schema. It can be pickled, and needs no parser and no automata.

    Attributes
    ----------
    query : CompiledQuery
    schema : pyarrow.Schema
        The schema of the data that it was planned for.
    units : dict of str to str
        The units of its time columns.
    options : Options
    columns : tuple of str
        The columns that `run`, `count`, `counts` or `hits` reads.
    """

    query: CompiledQuery
    schema: pa.Schema
    units: dict[str, str]
    options: Options
    columns: tuple[str, ...]

    @property
    def result(self) -> ResultForm:
        """The columns of its complex events."""
        return result_form(self.query, self.schema, self._order, self._encoder)

    def ends(self, product: str) -> EndForm:
        """The columns of its `hits` or `counts`."""
        from cer_gpu.engine.answers.end_form import EndForm

        return EndForm(product, self.schema, self._order, self._encoder, self.query.window, None)

    @property
    def _encoder(self) -> LaneEncoder | None:
        partition = self.query.reading.partition
        return LaneEncoder(partition, self.schema) if partition else None

    @property
    def _order(self) -> str | None:
        return self.options.order_by[0] if self.options.order_by else None
