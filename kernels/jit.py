"""How kernels are compiled for the CPU: without the interpreter's lock, and kept on disk.

No kernel makes an array: all scratch is passed in. So reference counting is switched off, which would cost
two atomic operations each time an array is handed to a helper; building and enumeration take a quarter of
the time without it. A slice assignment from an array makes a copy and needs it: write a loop.
"""

from typing import Any

import numba

# Numba's type hints leave this option out.
_LEAN: dict[str, Any] = {"_nrt": False}

jit = numba.njit(nogil=True, cache=True, **_LEAN)
"""For a kernel."""

inline = numba.njit(inline="always", **_LEAN)
"""For a helper, put where it is called."""
