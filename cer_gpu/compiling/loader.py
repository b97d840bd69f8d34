"""Machine code in this process: loaded by LLVM, called through `ctypes`, without Numba.

Every thread has some **words** of memory (int64) that its calls read and write:

==========  ======================================================================================
`RETURNED`  what the entry itself returns: nothing
`TROUBLE`   what Numba says of an exception that the kernel raised
`FITS`      1 once the arguments have turned out to be of the right kinds
`HALT`      the address of the byte that tells the thread's kernels to end at once, where it is not 0
`RESULT`    the first number that the kernel gives; the others follow
==========  ======================================================================================
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import local
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

RETURNED, TROUBLE, FITS, HALT, RESULT = range(5)
WORDS = 16

MISFIT = object()
"""An entry returns this for arguments of other kinds than its own."""

Entry = Callable[[tuple[Any, ...]], Any]

_PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_int32, *[ctypes.c_void_p] * 2, ctypes.py_object, *[ctypes.c_void_p] * 2
)


class KernelError(Exception):
    """A kernel has raised an exception, which it must not do."""


class HaltedError(BaseException):
    """A kernel was told to end, so what it has written is incomplete.

    It passes from the thread that was told to the one that told it; handlers of errors are not to catch it.
    """


class ThreadWords(local):
    """The words of a thread."""

    purpose: object = ""
    """What tells, as text, the purpose of the thread's run, for `needs`."""

    def __init__(self) -> None:
        self.numbers = (ctypes.c_int64 * WORDS)()
        self.floats = (ctypes.c_double * WORDS).from_buffer(self.numbers)
        self.address = ctypes.addressof(self.numbers)
        self.trouble = self.address + 8 * TROUBLE
        self.halt_with(GOES_ON)

    def halt_with(self, halt: np.ndarray) -> None:
        """Let the kernels of this thread end at once when a byte is not 0.

        Parameters
        ----------
        halt : ndarray, shape (1,), uint8
        """
        self.halt = halt
        self.numbers[HALT] = halt.ctypes.data

    def check(self) -> None:
        """Raise `HaltedError` when the byte is not 0."""
        if self.halt[0]:
            raise HaltedError


GOES_ON = np.zeros(1, np.uint8)
"""The byte of a thread that nobody halts."""

words = ThreadWords()


@cache
def target_machine() -> Any:
    """LLVM's code generator for this machine, as Numba sets it up."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=_features(),
        opt=3,
        reloc="static" if target.name.startswith("x86") else "default",
        codemodel="jitdefault",
    )


@cache
def made_for() -> str:
    """The versions and the processor that machine code depends on besides its source, as text."""
    numba = find_spec("numba")
    version = "none"
    if numba is not None and numba.origin is not None:
        # Numba is not imported for its version, and the file that states it is small.
        version = Path(numba.origin).with_name("_version.py").read_text(encoding="utf-8")
    return "\n".join(
        (
            sys.implementation.cache_tag,
            platform.machine(),
            sys.platform,
            np.__version__.partition(".")[0],
            llvmlite.__version__,
            version,
            llvm.get_host_cpu_name(),
            _features(),
        )
    )


@cache
def _features() -> str:
    return llvm.get_host_cpu_features().flatten()


@cache
def _engine() -> Any:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
    engine.finalize_object()
    return engine


def loaded(
    name: str, symbol: str, code: bytes, classes: list[type], result: str | list[str], halts: bool
) -> Entry:
    """Load an object and make its entry callable with the tuple of arguments.

    Parameters
    ----------
    name : str
        The name of the kernel, for errors.
    symbol : str
        The name of the entry.
    code : bytes
    classes : list of type
        The classes of the objects that the arguments are made of, in order.
    result : str or list of str
    halts : bool
        Whether the kernel reads the byte that tells it to end.

    Raises
    ------
    RuntimeError
        When LLVM cannot read the object.
    """
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    if not address:
        raise RuntimeError(f"no {symbol} in the machine code of {name}")
    function = _PROTOTYPE(address)
    expected = (ctypes.c_void_p * max(len(classes), 1))(*map(id, classes))
    at = ctypes.addressof(expected)
    give = _giver(result)

    def entry(arguments: tuple[Any, ...]) -> Any:
        own = words
        numbers = own.numbers
        numbers[FITS] = 0
        address = own.address
        if function(address, own.trouble, arguments, at, address) > 0:
            raise KernelError(f"the kernel {name} has failed: please report it")
        if not numbers[FITS]:
            return MISFIT
        if halts and own.halt[0]:
            raise HaltedError
        return give(own) if give is not None else None

    entry.keeps = function, expected, classes  # type: ignore[attr-defined]
    return entry


def _giver(result: str | list[str]) -> Callable[[ThreadWords], Any] | None:
    """A function that makes Python values of the words of a result; None for no result."""
    if isinstance(result, list):
        single = [_number(kind, RESULT + k) for k, kind in enumerate(result)]
        return lambda own: tuple([number(own) for number in single])
    return None if result == "none" else _number(result, RESULT)


def _number(kind: str, at: int) -> Callable[[ThreadWords], Any]:
    if kind == "float":
        return lambda own: own.floats[at]
    if kind == "bool":
        return lambda own: own.numbers[at] != 0
    return lambda own: own.numbers[at]
