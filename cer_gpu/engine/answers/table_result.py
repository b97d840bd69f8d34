"""A result that is a table, for the libraries of data frames: `TableResult`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    import pandas
    import polars


class TableResult(ABC):
    """A result that is a table."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table."""

    def to_pandas(self) -> pandas.DataFrame:
        """`to_arrow()` as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """`to_arrow()` as a polars DataFrame."""
        import polars

        return polars.DataFrame(self.to_arrow())
