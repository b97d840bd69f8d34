"""How kernels are compiled for the device: at their first launch, kept on disk.

The decorators get no signatures: with signatures they would ask the driver for its device when the module is
imported. Those for which tests compile every kernel without a device are in `tests/cuda_registry.py`.
"""

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from threading import Lock

from numba import config, cuda

from cer_gpu.compiling.identity import identity

# Numba warns of every launch with few blocks: small inputs have few, and a user cannot give them more.
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # type: ignore[attr-defined]

device = cuda.jit(device=True)
"""Decorator: compiles a function that kernels call, as the plain bodies of `cer_gpu.kernels`."""

inlined = cuda.jit(device=True, inline="always")
"""The same, put in place of each call: only such a function can return a part of an array."""

_watch = ContextVar("watch", default=None)

_LAUNCHING = Lock()
"""One thread launches at a time. A launch only hands work to the device, but the first one of a kernel
compiles it and loads it there: Numba guards the compiling alone, and two threads that load one kernel into
the same context end in an error."""


def _compiled(body):
    """The dispatcher that compiles a kernel at its first launch, and keeps it on disk where possible.

    A full disk or a damaged file costs a compilation and is no error.
    """
    try:
        made = cuda.jit(cache=True)(body)
    except RuntimeError:  # there is no folder that can be written
        return cuda.jit(body)
    kept = getattr(made, "_cache", None)  # the simulator has none
    if kept is not None:
        # Numba has a list of disk errors to pass over, but leaves it empty.
        kept._guard_against_spurious_io_errors = partial(suppress, Exception)
    return made


def _body_of(value):
    """The body of a kernel, of a function that kernels call, or of an intrinsic; None for any other value."""
    return getattr(value, "py_func", getattr(value, "_defn", None))


def _name_by_source(made, body):
    """Let what lies on disk be valid for the source that it was made from.

    Numba looks at the file of the kernel alone, and would load an old kernel after a function in another file
    has changed.
    """
    files = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if files is not None:
        files._source_stamp = identity(body, _body_of)


class KernelLauncher:
    """A kernel: `kernel[blocks, threads](...)` launches it.

    Attributes
    ----------
    name : str
    py_func : function
        The function that it is compiled from.
    compiled : dispatcher of Numba
    """

    def __init__(self, body):
        self.name = body.__name__.removesuffix("_kernel")
        self.py_func = body
        self.compiled = _compiled(body)
        self._named = False

    def __getitem__(self, configuration):
        if not self._named:  # not earlier: the modules of the kernel may not be whole yet
            _name_by_source(self.compiled, self.py_func)
            self._named = True
        launch, watch = partial(_launched, self.compiled[configuration]), _watch.get()
        return launch if watch is None else watch(self, launch)


def _launched(launch, *arguments):
    with _LAUNCHING:
        launch(*arguments)


kernel = KernelLauncher
"""Decorator: compiles a function that is launched."""


@contextmanager
def watching(watch):
    """Replace the launches that this thread makes inside a `with` block.

    Parameters
    ----------
    watch : callable
        Called with the `KernelLauncher` and with `launch`, for which `launch(*arguments)` launches it.
        Returns the function that is called in place of `launch`.
    """
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
