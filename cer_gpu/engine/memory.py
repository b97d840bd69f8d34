"""What is said when the memory of the host runs out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cer_gpu.errors import LimitError


@contextmanager
def within_memory(doing: str) -> Iterator[None]:
    """Turn a MemoryError of any library into a LimitError.

    Parameters
    ----------
    doing : str
        What the memory was needed for: "reading trades.parquet".

    Raises
    ------
    LimitError
        With what to change.
    """
    try:
        yield
    except MemoryError as error:
        # NumPy and Arrow say how much they asked for; Python says nothing.
        asked = f" ({error})" if str(error) else ""
        raise LimitError(
            f"the memory of this machine ran out while {doing}{asked}: give less of it to one run with "
            "memory= (--memory), narrow WITHIN or the filters, or take the answers batch by batch "
            "(`batches()`, or an output file)"
        ) from error
