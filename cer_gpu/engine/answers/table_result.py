"""A result that is a table, for the libraries of data frames: `TableResult`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cer_gpu.errors import CerError

if TYPE_CHECKING:
    import pandas
    import polars


def frame_library(name: str) -> Any:
    """The library of data frames of some name: pandas or polars.

    Raises
    ------
    CerError
        When it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise CerError(
            f"to_{name}() needs {name}, which is not installed: pip install {name}; to_arrow() needs no "
            "other package"
        ) from error


class TableResult(ABC):
    """A result that is a table."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table."""

    def to_pandas(self) -> pandas.DataFrame:
        """`to_arrow()` as a pandas DataFrame."""
        frame_library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """`to_arrow()` as a polars DataFrame."""
        frame: polars.DataFrame = frame_library("polars").DataFrame(self.to_arrow())
        return frame
