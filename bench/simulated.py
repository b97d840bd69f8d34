"""Numba's simulator of a device with cheaper threads: tests and dry runs launch thousands of blocks.

Numba starts a Python thread for every thread of each block, checks all of them without a pause for waiting at
a barrier, and puts its own module into the globals of a device function at each call. After `install()`
threads are kept from block to block, and one of them runs at a time. It passes its turn on at barriers, and
at accesses to arrays that are drawn from a seed, so that races show up, and show up again. The globals of a
module are changed once in a launch. What a kernel may do, and what it computes, is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from random import Random
from threading import Lock, Thread, get_ident
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel, kernelapi
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, FakeWithinKernelCUDAArray
from numba.cuda.simulator.kernelapi import Dim3

TURN = 200
"""The most accesses to arrays for which a thread runs while others could."""


def install() -> None:
    """Let all launches of this process, whose Numba has to be the simulator, run as this module describes."""
    kernel.BlockManager = Block
    kernel.swapped_cuda_module = with_globals
    FakeWithinKernelCUDAArray.__getitem__ = item
    FakeWithinKernelCUDAArray.__setitem__ = set_item
    FakeCUDAArray.__getitem__ = part
    FakeCUDAArray.__setitem__ = set_part
    for name in [name for name in vars(kernelapi) if name.endswith("lock") and not name.startswith("_")]:
        setattr(kernelapi, name, _ATOMIC)  # those of `add`, `max`, `cas` ...


class KeptThread(kernel.BlockThread):
    """A thread that serves one block after another.

    Attributes
    ----------
    gate : Lock
        Held except while the thread has its turn.
    """

    def __init__(self) -> None:
        Thread.__init__(self, daemon=True)
        self.gate = Lock()
        self.gate.acquire()
        self.start()

    def begin(self, block: Block, place: tuple[int, ...], at: tuple[int, ...]) -> None:
        """Become thread `at` of a block at `place` in the grid."""
        across, down, _ = block.shape
        self._manager, self.blockIdx, self.threadIdx = block, Dim3(*place), Dim3(*at)
        self.thread_id = at[0] + across * (at[1] + down * at[2])

    def run(self) -> None:
        while True:
            self.gate.acquire()
            self._manager.run_in(self)

    def syncthreads(self) -> None:
        self._manager.wait(self)


class Block:
    """A block of a launch, in place of Numba's `BlockManager`.

    Attributes
    ----------
    shape : tuple of three int
        How many threads it has in each direction.
    block_state : ndarray of bool, of that shape
        The value that each thread has given to a barrier that counts.
    """

    _idle: list[KeptThread] = []  # noqa: RUF012  one launch runs at a time

    def __init__(
        self, body: Callable[..., None], grid: tuple[int, ...], shape: tuple[int, ...], debug: bool
    ) -> None:
        self.shape = shape
        self.block_state = np.zeros(shape, np.bool_)
        self._body = body
        self._ended = Lock()
        self._ready: list[KeptThread] = []
        self._waiting: list[KeptThread] = []
        self._error: Exception | None = None

    def run(self, place: tuple[int, ...], *arguments: Any) -> None:
        """Run the kernel in every thread.

        Raises
        ------
        Exception
            The first one of any thread; its text begins with the numbers of the thread and the block.
        """
        self._arguments = arguments
        threads = []
        for at in np.ndindex(*self.shape):
            thread = self._idle.pop() if self._idle else KeptThread()
            thread.begin(self, place, at)
            threads.append(thread)
        self._ready = threads.copy()
        self._ended.acquire()
        self._turn_of(self._drawn())
        self._ended.acquire()
        _turns.running = None
        self._idle.extend(threads)
        if self._error is not None:
            raise self._error

    def run_in(self, thread: KeptThread) -> None:
        """Run the kernel in this thread."""
        try:
            self._body(*self._arguments)
        except Exception as error:
            if self._error is None:
                place = f"tid={list(thread.threadIdx)} ctaid={list(thread.blockIdx)}"
                text = f"{place}: {error}" if str(error) else place
                self._error = type(error)(text).with_traceback(error.__traceback__)
        if self._ready or self._waiting:
            self._turn_of(self._drawn())
        else:
            self._ended.release()

    def wait(self, thread: KeptThread) -> None:
        """Wait until every thread that has not ended waits.

        Raises
        ------
        RuntimeError
            If a thread of the block has failed.
        """
        self._waiting.append(thread)
        self._pass(thread)

    def give_way(self, thread: KeptThread) -> None:
        """Let another thread run, if one can. Raises like `wait`."""
        if self._ready:
            other = self._drawn()
            self._ready.append(thread)
            self._turn_of(other)
            self._stopped(thread)

    def _pass(self, thread: KeptThread) -> None:
        other = self._drawn()
        if other is not thread:
            self._turn_of(other)
            self._stopped(thread)

    def _stopped(self, thread: KeptThread) -> None:
        thread.gate.acquire()
        if self._error is not None:
            raise RuntimeError("another thread of the block has failed")

    def _drawn(self) -> KeptThread:
        """One of the threads that can run; where there is none, those at the barrier can."""
        if not self._ready:
            self._ready, self._waiting = self._waiting, []
        return self._ready.pop(_turns.random.randrange(len(self._ready)))

    def _turn_of(self, thread: KeptThread) -> None:
        _turns.begin(self, thread)
        thread.gate.release()


class _Turns:
    """Which thread runs, and for how many accesses more.

    Attributes
    ----------
    left : int
    running : (Block, KeptThread) or None
    """

    def __init__(self) -> None:
        self.left, self.running = TURN, None
        self.random = Random("turns")

    def begin(self, block: Block, thread: KeptThread) -> None:
        self.left, self.running = self.random.randrange(1, TURN), (block, thread)

    def end(self) -> None:
        """The turn of the thread that calls is over, if it is one of a block."""
        running = self.running
        if running is not None and running[1].ident == get_ident():
            self.left = self.random.randrange(1, TURN)
            running[0].give_way(running[1])


_turns = _Turns()


def _access() -> None:
    """Called before every access to an array."""
    _turns.left -= 1
    if _turns.left < 0:
        _turns.end()


class _Atomic:
    """A turn may end before a `with` block, not in it."""

    def __enter__(self) -> None:
        _access()
        self._left, _turns.left = _turns.left, 1 << 60

    def __exit__(self, *_: object) -> None:
        _turns.left = self._left


_ATOMIC = _Atomic()


def item(array: FakeWithinKernelCUDAArray, index: Any) -> Any:
    """`array[index]` in a kernel."""
    _access()
    found = array._item._ary[index]
    if isinstance(found, (np.ndarray, np.void)):
        return FakeWithinKernelCUDAArray(FakeCUDAArray(found))
    return found


def set_item(array: FakeWithinKernelCUDAArray, index: Any, value: Any) -> None:
    """`array[index] = value` in a kernel."""
    _access()
    array._item._ary[index] = value


def part(array: FakeCUDAArray, index: Any) -> Any:
    """`array[index]` in a kernel, of an array in a tuple; or of an array of the device."""
    _access()
    found = array._ary[index]
    return FakeCUDAArray(found, array.stream) if isinstance(found, (np.ndarray, np.void)) else found


def set_part(array: FakeCUDAArray, index: Any, value: Any) -> None:
    """`array[index] = value`, as in `part`."""
    _access()
    array._ary[index] = value


_changed: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
"""Globals of the modules that the present launch has come to, and what of them was changed; by `id`."""
_AS_IT_IS = nullcontext()


class _Launch:
    """From the begin to the end of a launch."""

    def __init__(self, body: Callable[..., None], module: Any) -> None:
        self._body, self._module = body, module

    def __enter__(self) -> None:
        _change(self._body, self._module)

    def __exit__(self, *_: object) -> None:
        for names, own in _changed.values():
            names.update(own)
        _changed.clear()


def _change(body: Callable[..., None], module: Any) -> None:
    names = body.__globals__
    own = {name: value for name, value in names.items() if value is cuda}
    names.update(dict.fromkeys(own, module))
    _changed[id(names)] = names, own


def with_globals(body: Callable[..., None], module: Any) -> Any:
    """In a `with` block: `cuda` in the module of `body` is the simulator's, until the launch ends.

    The first call of a launch is for its kernel, the others are for device functions.
    """
    if id(body.__globals__) in _changed:
        return _AS_IT_IS
    if not _changed:
        return _Launch(body, module)
    _change(body, module)
    return _AS_IT_IS
