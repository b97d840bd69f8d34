"""The virtual devices of this process: installed once, configured and asked as often as wanted."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

from virtual_device.driver_library import build, refusal
from virtual_device.folders import cache_folder, cuda_folder, linker
from virtual_device.machine_code import HostModule, provide
from virtual_device.settings import Settings

STAND_IN = Path(__file__).parent / "stand_in"
"""The folder of the package `cupy` that takes the place of the real one."""


class KernelTraffic(NamedTuple):
    """What the launches of a kernel have done in global memory.

    =================  ==================================================
    `launches`
    `threads`          of all launches
    `reads`            accesses that read, atomics not among them
    `bytes_read`
    `writes`           accesses that write, atomics among them
    `bytes_written`
    `atomics`
    =================  ==================================================
    """

    launches: int
    threads: int
    reads: int
    bytes_read: int
    writes: int
    bytes_written: int
    atomics: int

    def __add__(self, other: KernelTraffic) -> KernelTraffic:  # type: ignore[override]
        return KernelTraffic(*(one + more for one, more in zip(self, other)))


class VirtualDevice:
    """The driver that takes the place of CUDA's.

    Attributes
    ----------
    settings : Settings
    forms : set of str
        The opcodes with their modifiers of all modules that were loaded.
    """

    def __init__(self, settings: Settings) -> None:
        self._library = ctypes.CDLL(str(build()), mode=ctypes.RTLD_GLOBAL)
        folder = cuda_folder()
        assert folder is not None
        self._library.virtual_linker(os.fsencode(linker(folder)))
        self._library.virtual_fault.restype = ctypes.c_long
        self._library.virtual_worked.restype = ctypes.c_long
        self._library.virtual_kernel.argtypes = [
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ]
        self._library.virtual_variable.argtypes = [
            *[ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
        ]
        for name in ("virtual_access", "virtual_trap"):
            provide(name, getattr(self._library, name))
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        self._translator = kind(self._load)
        self._library.virtual_translator(self._translator)
        self._modules: list[HostModule] = []
        self.forms: set[str] = set()
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        """Change the settings, once all work is done."""
        self.settings, numbers = settings, settings.numbers()
        self._library.virtual_configure((ctypes.c_long * len(numbers))(*numbers))

    def reset(self) -> None:
        """Forget the faults, the counts, and that a device was lost."""
        self._library.virtual_reset()

    def faults(self) -> list[str]:
        """What was wrong since the last reset: accesses out of bounds, races, threads that miss a barrier.

        A launch tells its first fault. Of more than 64 the last ones are only counted.
        """
        text, found = ctypes.create_string_buffer(1 << 14), []
        count = self._library.virtual_fault(-1, text, len(text))
        for at in range(min(count, 64)):
            self._library.virtual_fault(ctypes.c_long(at), text, len(text))
            told = text.value.decode(errors="replace")
            found.append(re.sub(r"^_Z\w+", lambda mangled: plain_name(mangled[0]), told))
        return found if count <= 64 else [*found, f"and {count - 64} more"]

    def worked(self) -> int:
        """How many launches and copies have begun since the last reset or change of the settings."""
        return int(self._library.virtual_worked())

    def traffic(self) -> dict[str, KernelTraffic]:
        """What each kernel has done in all its forms since the last reset, by its name and its module's."""
        name, numbers, found = ctypes.create_string_buffer(8192), (ctypes.c_long * 7)(), {}
        at = 0
        while self._library.virtual_traffic(at, name, len(name), numbers):
            own = KernelTraffic(*numbers)
            if own.launches:
                key = plain_name(name.value.decode())
                found[key] = found[key] + own if key in found else own
            at += 1
        return found

    def calls(self) -> dict[str, int]:
        """How often each function of the driver was called since the last reset."""
        name, calls, found = ctypes.create_string_buffer(128), ctypes.c_long(), {}
        at = 0
        while self._library.virtual_calls(at, name, len(name), ctypes.byref(calls)):
            if calls.value:
                found[name.value.decode()] = calls.value
            at += 1
        return found

    def _load(self, address: int, size: int, library: int) -> int:
        """Called by the driver when a module is loaded; not 0 where it cannot be translated."""
        try:
            module = HostModule(ctypes.string_at(address, size).decode())
        except Exception:
            traceback.print_exc()
            return 1
        self._modules.append(module)
        self.forms |= module.forms
        for name, layout in module.layouts.items():
            numbers = [len(layout.parameters), layout.shared, layout.state, layout.local, len(layout.ranges)]
            numbers += [*layout.parameters, *(number for one in layout.ranges for number in one)]
            packed = (ctypes.c_int * len(numbers))(*numbers)
            self._library.virtual_kernel(library, name.encode(), module.address_of(name), packed)
        for name, bytes_of in module.variables.items():
            self._library.virtual_variable(library, name.encode(), module.variable_address(name), bytes_of)
        return 0


def plain_name(mangled: str) -> str:
    """The name in Python of a kernel: `module.kernel` for `_ZN6module6kernelB2v1E5ArrayI...`."""
    names, rest = [], mangled.removeprefix("_ZN")
    while rest != mangled and (length := re.match(r"\d+", rest)):
        end = length.end() + int(length[0])
        names.append(rest[length.end() : end])
        rest = rest[end:]
    return ".".join(names) or mangled


_installed: list[VirtualDevice] = []


def installed() -> VirtualDevice | None:
    """The virtual device of this process; None where none was installed."""
    return _installed[0] if _installed else None


def install(settings: Settings | None = None) -> VirtualDevice:
    """Let CUDA run on virtual devices in this process, before anything asks for a driver.

    `cupy` is a stand-in with the few names that are needed here: the real one asks the driver for tables that
    are not documented.

    Parameters
    ----------
    settings : Settings, optional

    Raises
    ------
    RuntimeError
        Where it cannot be built, or comes too late.
    """
    if _installed:
        _installed[0].configure(settings or Settings())
        return _installed[0]
    told = refusal()
    if told is not None:
        raise RuntimeError(told)
    if "cupy" in sys.modules:
        raise RuntimeError("cupy is imported already: install the virtual device before")
    sys.path.insert(0, str(STAND_IN))
    _keep_apart()
    _installed.append(VirtualDevice(settings or Settings()))
    return _installed[0]


def _keep_apart() -> None:
    """Let Numba keep what it compiles in a folder of its own: a GPU is not to load it."""
    folder = str(cache_folder("numba"))
    os.environ["NUMBA_CACHE_DIR"] = folder
    for name in ("numba.core.config", "numba.cuda.core.config"):
        if name in sys.modules:
            sys.modules[name].CACHE_DIR = folder  # type: ignore[attr-defined]
