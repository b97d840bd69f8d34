"""Memory of arrays that are done, kept by the process for the next ones."""

from __future__ import annotations

import ctypes
from functools import cache

KEPT = 1 << 27
"""Up to this many bytes that are free at the end of its memory the process keeps."""

LARGEST = 1 << 25
"""Bytes of the largest block that comes from this memory: more glibc does not take from it."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers of glibc's `M_TRIM_THRESHOLD` and `M_MMAP_THRESHOLD`."""


@cache
def keep_pages() -> None:
    """Let the C library keep some memory that is freed, instead of giving it back to the system at once.

    glibc gives back what is free at the end of its memory beyond twice the largest block freed so far, and
    each array after that is made of fresh pages. With the 64 MB that it keeps at most by itself, hits over
    5 million events took 7,000 page faults and a tenth of the time. Other C libraries are left as they are.
    """
    change = getattr(_c_library(), "mallopt", None)
    if change is not None:
        change(_TRIM_THRESHOLD, KEPT)
        change(_MMAP_THRESHOLD, LARGEST)


def _c_library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows has none of this name
        return None
