"""The columns of the data that a run needs, and what it needs them for."""

from __future__ import annotations

from cer_gpu.engine.read.join_keys import columns_read
from cer_gpu.engine.run.options import Options
from cer_gpu.plan.axes import columns_of
from cer_gpu.plan.compiled import Reading


class NeededColumns:
    """The columns of the data that a query reads.

    Parameters
    ----------
    reading : Reading
    options : Options
    """

    def __init__(self, reading: Reading, options: Options) -> None:
        self._reading = reading
        self._options = options

    def all(self, payload: tuple[str, ...]) -> list[str]:
        """All columns that a run reads if its results are made of `payload`, each once."""
        names = [*self._options.order_by, *self._classified(), *self._behind(), *self._kept(payload)]
        derived = {one.name for one in self._reading.derived}
        return [name for name in dict.fromkeys(names) if name not in derived]

    def classified_alone(self, payload: tuple[str, ...]) -> set[str]:
        """The columns that only tell which class an event is of."""
        return set(self._classified()).difference(self._kept(payload), self._behind())

    def _classified(self) -> list[str]:
        """The columns that say which class an event is of."""
        return [name for axis in self._reading.axes for name in columns_of(axis)]

    def _behind(self) -> list[str]:
        """The columns from which others are derived."""
        return sorted({name for one in self._reading.derived for name in one.read})

    def _kept(self, payload: tuple[str, ...]) -> list[str]:
        """The columns that are kept of events."""
        reading, options = self._reading, self._options
        names = [*options.order_by, *columns_read(reading.keys)]
        names += [name for part in reading.partition for name in part]
        if reading.window is not None and reading.window.attribute is not None:
            names.append(reading.window.attribute)
        if reading.streams and options.stream_column is not None:
            names.append(options.stream_column)
        return [*names, *payload]
