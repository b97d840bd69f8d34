"""A query bound to a form of data, apart from any data: what goes to another process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.engine.lanes import LaneEncoder
from cer_gpu.engine.options import Options
from cer_gpu.engine.results import ResultForm
from cer_gpu.engine.sources.source import open_source
from cer_gpu.engine.workers import Workers
from cer_gpu.plan.compiled import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.bound import BoundQuery


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

    def bound(
        self,
        events: Any,
        workers: Workers,
        device: Sequence[str] = ("cpu",),
        sort: bool = False,
        halo: int = 0,
    ) -> BoundQuery:
        """The query on some events of that schema, of which there may be others elsewhere.

        Parameters
        ----------
        events : object
            As for `Query.run`; columns that no product reads may be missing.
        workers : Workers
        device : sequence of str
            From `cer_gpu.engine.devices.asked_devices`.
        sort : bool
            Whether to bring the events into their order.
        halo : int
            As for `BoundQuery`.

        Raises
        ------
        DataError
            When the events cannot be read.
        """
        from cer_gpu.engine.bound import BoundQuery

        options = replace(self.options, device=tuple(device), sort=sort)
        source = open_source(
            events,
            order_by=options.order_by,
            type_column=options.type_column,
            stream_column=options.stream_column,
            sort=sort,
        )
        return BoundQuery(self.query, source, self.units, options, workers, halo, part=True)

    @property
    def result(self) -> ResultForm:
        """The columns of its complex events."""
        encoder = LaneEncoder(self.query.partition, self.schema) if self.query.partition else None
        order = self.options.order_by[0] if self.options.order_by else None
        return ResultForm(self.query, self.schema, order, encoder)
