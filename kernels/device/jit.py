"""How kernels are compiled for the device: at their first launch, kept on disk.

No signatures stand here: a decorator with signatures asks the driver for its device when the module is
imported. Those that are compiled ahead of time are in `registry`.
"""

from contextlib import contextmanager
from contextvars import ContextVar

from numba import cuda

device = cuda.jit(device=True)
"""For what kernels call; the plain bodies of `cer_gpu.kernels` among it."""

_compiled = cuda.jit(cache=True)
_watch = ContextVar("watch", default=None)


class Launched:
    """A kernel: `kernel[blocks, threads](...)` launches it.

    Attributes
    ----------
    name : str
    py_func : function
        What it is compiled from.
    compiled : dispatcher of Numba
    """

    def __init__(self, body):
        self.name = body.__name__.removesuffix("_kernel")
        self.py_func = body
        self.compiled = _compiled(body)

    def __getitem__(self, configuration):
        launch, watch = self.compiled[configuration], _watch.get()
        return launch if watch is None else watch(self, launch)


kernel = Launched
"""For what is launched."""


@contextmanager
def watching(watch):
    """Put something in place of the launches that this thread makes meanwhile.

    Parameters
    ----------
    watch : callable
        For a `Launched` and what launches it, a function of the same arguments; `launch(*arguments)`.
    """
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
