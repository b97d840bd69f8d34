"""Modules of pyarrow that are imported when they are first used: importing them takes longer than many runs.

`pyarrow.dataset` imports pandas wherever it is installed; `pyarrow.compute` makes three hundred functions.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any


class LazyModule:
    """Stands for a module, and imports it when one of its attributes is first read.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    import pyarrow.compute as compute
    import pyarrow.dataset as dataset
else:
    compute = LazyModule("pyarrow.compute")
    dataset = LazyModule("pyarrow.dataset")


def is_dataset(value: object) -> bool:
    """Whether a value is a pyarrow Dataset; before `pyarrow.dataset` is imported none is."""
    return "pyarrow.dataset" in sys.modules and isinstance(value, dataset.Dataset)
