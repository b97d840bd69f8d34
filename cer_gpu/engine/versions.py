"""The versions that an answer depends on: packages, driver, CUDA runtime."""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

CUPY = ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "cupy-cuda14x")
"""CuPy has a package name for each version of CUDA."""

PACKAGES = ("numpy", "pyarrow", "numba", "numba-cuda", *CUPY)
"""Packages whose versions are reported, if they are installed."""


def all_versions() -> dict[str, str]:
    """The versions of packages, driver and CUDA libraries."""
    return {**package_versions(), **driver_versions(), "CUDA libraries": runtime_version() or "missing"}


@cache
def own_version() -> str:
    """The version of this project; "unknown" in a checkout that is not installed."""
    return _version("cer-gpu") or "unknown"


def package_versions() -> dict[str, str]:
    """The versions of the project, of Python and of the packages that are installed, by their names."""
    found = {"cer-gpu": own_version(), "Python": platform.python_version()}
    for name in PACKAGES:
        told = _version(name)
        if told is not None:
            found[name] = told
    return found


def driver_versions() -> dict[str, str]:
    """The version of NVIDIA's driver, and the newest version of CUDA that it supports, if known."""
    found = {}
    told = _driver_version()
    if told is not None:
        found["driver"] = told
    number = ctypes.c_int(0)
    try:
        code = ctypes.CDLL(driver_library()).cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return found
    if not code:
        found["CUDA of the driver"] = f"{number.value // 1000}.{number.value % 1000 // 10}"
    return found


def runtime_version() -> str | None:
    """The version of the CUDA libraries that kernels are compiled with; None if there are none."""
    try:
        from numba.cuda.cudadrv.runtime import runtime

        found = runtime.get_version()
    except Exception:  # whatever a broken installation throws
        return None
    return None if found[0] < 0 else ".".join(map(str, found))


def driver_library() -> str:
    """The file name of the library that talks to the driver."""
    return "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _driver_version() -> str | None:
    """As NVIDIA's management library tells it."""
    text = ctypes.create_string_buffer(80)
    try:
        library = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
        if library.nvmlInit_v2():
            return None
        try:
            code = library.nvmlSystemGetDriverVersion(text, len(text))
        finally:
            library.nvmlShutdown()
    except (OSError, AttributeError):
        return None
    return None if code else text.value.decode(errors="replace")
