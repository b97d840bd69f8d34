"""The stand-in for CUDA's driver: built from C at its first use, and kept in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from virtual_device.folders import cache_folder, cuda_folder

SOURCES = Path(__file__).parent / "driver"
SONAME = "libcuda.so.1"
"""The name by which CUDA's libraries ask for the driver: one of this name that is loaded already is taken."""

FLAGS = ("-O2", "-g1", "-shared", "-fPIC", "-fvisibility=hidden", f"-Wl,-soname,{SONAME}")


def refusal() -> str | None:
    """Why the virtual device cannot be built here, and what to install; None where it can."""
    if os.name != "posix" or not hasattr(os, "geteuid"):
        return "the virtual device is built on Linux alone"
    if shutil.which("gcc") is None:
        return "gcc builds the virtual device: install gcc"
    for package, extra in (("llvmlite", "numba"), ("numba_cuda", "numba-cuda[cu13]")):
        if find_spec(package) is None:
            return f"the virtual device needs {package}: install {extra}"
    if cuda_folder() is None:
        return (
            "the virtual device needs CUDA's headers and nvJitLink: install numba-cuda[cu13] and cuda-toolkit"
        )
    return None


def build() -> Path:
    """The library, built where it is not yet.

    Raises
    ------
    subprocess.CalledProcessError
        Where gcc finds an error.
    """
    folder = cuda_folder()
    assert folder is not None, refusal()
    digest = sha256(repr((FLAGS, str(folder))).encode())
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.read_bytes())
    library = cache_folder("drivers") / digest.hexdigest()[:16] / SONAME
    if not library.exists():
        library.parent.mkdir(exist_ok=True)
        made = library.with_name(f"{SONAME}.{os.getpid()}")
        sources = sorted(str(path) for path in SOURCES.glob("*.c"))
        command = ["gcc", *FLAGS, f"-I{folder / 'include'}", "-o", str(made), *sources, "-lpthread", "-ldl"]
        subprocess.run(command, check=True)
        made.replace(library)
    return library
