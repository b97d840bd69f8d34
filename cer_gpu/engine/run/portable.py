"""A query bound to a form of data, apart from any data: what goes to another process."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from cer_gpu.engine.answers.form import ResultForm, result_form
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.run.options import Options
from cer_gpu.plan.compiled import CompiledQuery


@dataclass(frozen=True, slots=True)
class PortableQuery:
    """A query planned for data of a schema; picklable, free of parser and automata.

    Attributes
    ----------
    query : CompiledQuery
    schema : pyarrow.Schema
        Of the data that it was planned for.
    units : dict of str to str
        The units of its time columns.
    options : Options
    columns : tuple of str
        Those that some product of the query reads.
    """

    query: CompiledQuery
    schema: pa.Schema
    units: dict[str, str]
    options: Options
    columns: tuple[str, ...]

    @property
    def result(self) -> ResultForm:
        """The columns of its complex events."""
        partition = self.query.reading.partition
        encoder = LaneEncoder(partition, self.schema) if partition else None
        order = self.options.order_by[0] if self.options.order_by else None
        return result_form(self.query, self.schema, order, encoder)
