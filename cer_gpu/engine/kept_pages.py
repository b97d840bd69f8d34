"""Memory of arrays that are done, kept by the process for the next ones."""

from __future__ import annotations

from functools import cache

import numpy as np

LARGEST = (1 << 25) - (1 << 16)
"""Bytes of the largest block that glibc takes as a hint."""


@cache
def keep_pages() -> None:
    """Let the C library keep some memory that is freed, instead of giving it back to the system at once.

    glibc gives back what is free at the end of its memory beyond twice the largest block freed so far, and
    each array after that is made of fresh pages, which cost more than most kernels: half of the time of short
    runs. A freed block of `LARGEST` bytes makes that 64 MB, as any run with so large an array does. It is
    never written to, so that it takes no memory. Other C libraries are left as they are.
    """
    np.empty(LARGEST, np.uint8)
