"""What the runtime says of an address."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

memoryTypeHost = 1  # noqa: N816  CuPy's name
MEMORY_TYPE = 2
"""The number of the attribute."""


class CUDARuntimeError(RuntimeError):
    """An error of the driver, with its number as `status`."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the driver returned error {status}")
        self.status = status


def pointerGetAttributes(address: int) -> SimpleNamespace:  # noqa: N802  CuPy's name
    """`type`: 1 for page-locked memory of the host, 2 for memory of a device, 0 for any other."""
    from cupy.cuda import driver

    kind = ctypes.c_uint(0)
    code = driver.cuPointerGetAttribute(ctypes.byref(kind), MEMORY_TYPE, ctypes.c_ulonglong(address))
    return SimpleNamespace(type=0 if code else kind.value)
