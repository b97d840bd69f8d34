"""Kernels: plain Python functions over arrays that run as machine code, `jit` and `inline`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from threading import RLock
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from cer_gpu.compiling import layout
from cer_gpu.compiling.identity import digest, identity
from cer_gpu.compiling.kinds import Kind, UnfitArgumentError, canonical, classes_of, kind_of
from cer_gpu.compiling.loader import MISFIT, Entry, loaded, words
from cer_gpu.compiling.store import store

if TYPE_CHECKING:
    from cer_gpu.compiling.helper_pool import CompileTask

_LOCK = RLock()
"""Numba compiles, and LLVM loads, one thing at a time."""


def _unlock() -> None:
    global _LOCK
    _LOCK = RLock()


if hasattr(os, "register_at_fork"):
    # The thread that held the lock is not there in a forked process.
    os.register_at_fork(after_in_child=_unlock)


observers: list[Callable[[Kernel, tuple[Kind, ...]], None]] = []
"""Called when a kernel gets kinds of arguments for the first time, or for the first time since `forget`."""


class Kernel:
    """A function that runs as machine code; it is called like the plain function.

    A kernel whose last parameter is `halt` is called without it. It gets the byte that says whether the run
    of the calling thread is over (`loaded.words`), and looks at it from time to time.

    Parameters
    ----------
    body : function
        Takes arrays and numbers, changes arrays, and returns numbers. It makes no arrays and raises nothing.
    inline : bool, optional
        Whether its code is put in place of each call.
    home : str, optional
        The name of the module that has the kernel; by default the body's module.
    """

    def __init__(self, body: FunctionType, inline: bool = False, home: str | None = None) -> None:
        self.py_func = body
        self._home = home or body.__module__
        self._inline = inline
        code = body.__code__
        self.halts = code.co_varnames[: code.co_argcount][-1:] == ("halt",)
        self._entries: dict[tuple[Kind, ...], Entry] = {}
        self._known: tuple[Entry, ...] = ()
        self._identity: str | None = None
        self._dispatcher: Any = None
        update_wrapper(self, body)

    def __call__(self, *arguments: Any) -> Any:
        # Most kernels are called for one signature over and over, so the last entry is tried first.
        for entry in self._known:
            found = entry(arguments)
            if found is not MISFIT:
                return found
        return self._called(arguments)

    def _called(self, arguments: tuple[Any, ...]) -> Any:
        """Call the kernel for kinds of arguments that it was not called for before."""
        arguments = tuple(map(canonical, arguments))
        kinds = tuple(map(kind_of, arguments))
        for observer in observers:
            observer(self, kinds)
        with _LOCK:
            entry = self._entries.get(kinds)
            if entry is None:
                entry = self._entries[kinds] = self._entry(kinds)
            self._known = (entry, *(one for one in self._known if one is not entry))
        found = entry(arguments)
        if found is MISFIT:
            raise UnfitArgumentError(f"{self.name} cannot read {kinds}")
        return found

    def plainly(self, *arguments: Any, helpers: bool = False) -> Any:
        """Call the plain body, for integers of any size, which machine code cannot hold.

        Parameters
        ----------
        helpers : bool, optional
            Whether the helpers that it calls are to hold such integers too.
        """
        body = self._plain() if helpers else self.py_func
        if not self.halts:
            return body(*arguments)
        found = body(*arguments, words.halt)
        words.check()
        return found

    def _plain(self) -> FunctionType:
        """The body, with the plain bodies of its helpers in place of these."""
        body = self.py_func
        scope = dict(body.__globals__)
        for name in _names(body.__code__):
            if isinstance(scope.get(name), Kernel):
                scope[name] = scope[name]._plain()
        return FunctionType(body.__code__, scope, body.__name__, body.__defaults__, body.__closure__)

    @property
    def name(self) -> str:
        """The names of its module and of its body: `module:body`."""
        return f"{self._home}:{self.py_func.__qualname__}"

    @property
    def identity(self) -> str:
        """The digest of its source."""
        if self._identity is None:
            self._identity = identity(self.py_func, _body_of)
        return self._identity

    def kept_as(self, kinds: tuple[Kind, ...]) -> str:
        """The name under which its machine code for some kinds is kept."""
        return f"{self.py_func.__name__}-{digest([self.name, self.identity, repr(kinds)])}"

    @property
    def dispatcher(self) -> Any:
        """Numba's dispatcher of the kernel, compiled for no kinds yet."""
        if self._dispatcher is None:
            from numba import njit

            from cer_gpu.compiling.draft import DRAFT
            from cer_gpu.compiling.entry import LEAN

            options = LEAN | DRAFT if layout.holds() else LEAN
            self._dispatcher = njit(forceinline=self._inline, **options)(self._for_numba())
        return self._dispatcher

    def _for_numba(self) -> FunctionType:
        """The body, with Numba's dispatchers in place of its helpers."""
        body = self.py_func
        scope = dict(body.__globals__)
        for name in _names(body.__code__):
            if isinstance(scope.get(name), Kernel):
                scope[name] = scope[name].dispatcher
        made = FunctionType(body.__code__, scope, body.__name__, body.__defaults__, body.__closure__)
        made.__qualname__ = body.__qualname__
        return made

    def compiled(self, kinds: tuple[Kind, ...]) -> tuple[dict[str, Any], bytes]:
        """Compile it for some kinds by Numba: what `loaded` needs to know about the code, and the code."""
        from cer_gpu.compiling.entry import translated

        with _LOCK:
            made = translated(self.dispatcher, kinds, self.halts, f"cer_{self.kept_as(kinds)[-32:]}")
        return {"symbol": made.symbol, "result": made.result}, made.code

    def has(self, kinds: tuple[Kind, ...]) -> bool:
        """Whether it is already compiled for some kinds."""
        return kinds in self._entries or store().read(self.kept_as(kinds)) is not None

    def keep(self, kinds: tuple[Kind, ...], about: dict[str, Any], code: bytes) -> None:
        """Take over machine code that another process has made."""
        store().write(self.kept_as(kinds), about, code)
        self._entries[kinds] = self._loaded(kinds, about, code)

    def forget(self) -> None:
        """Forget for which kinds it was called, so that `observers` are called again."""
        self._known = ()

    def _entry(self, kinds: tuple[Kind, ...]) -> Entry:
        if not layout.holds():
            return self._called_by_numba
        found = store().read(self.kept_as(kinds))
        if found is not None:
            return self._loaded(kinds, *found)
        self._make(kinds)
        return self._entries[kinds]

    def _make(self, kinds: tuple[Kind, ...]) -> None:
        """Compile the kernel, together with all others that the run will need."""
        from cer_gpu.compiling.helper_pool import CompileTask

        kept = self.kept_as(kinds)
        with store().alone(kept, words.check):
            found = store().read(kept)  # another process may have made it meanwhile
            if found is not None:
                self._entries[kinds] = self._loaded(kinds, *found)
                return
            make([CompileTask(self, kinds), *_missing(str(words.purpose), but=(self, kinds))])
            if kinds not in self._entries:
                self.keep(kinds, *self.compiled(kinds))

    def _loaded(self, kinds: tuple[Kind, ...], about: dict[str, Any], code: bytes) -> Entry:
        classes = [one for kind in kinds for one in classes_of(kind)]
        return loaded(self.name, about["symbol"], code, classes, about["result"], self.halts)

    def _called_by_numba(self, arguments: tuple[Any, ...]) -> Any:
        """Call the kernel by Numba, where objects are not laid out as `layout` says."""
        if not self.halts:
            return self.dispatcher(*arguments)
        found = self.dispatcher(*arguments, words.halt)
        words.check()
        return found


def make(tasks: list[CompileTask]) -> None:
    """Compile kernels together; one that no helper could compile is left out."""
    # The compiling modules are imported only here, since nearly always all kernels are kept.
    from cer_gpu.compiling.helper_pool import compiled

    if len(tasks) > 1 and sys.stderr is not None:
        kept = f", kept in {store().folder}" if store().folder is not None else ""
        print(f"cer-gpu: compiling kernels, once: {len(tasks)}{kept}", file=sys.stderr)
    for task, about, code in compiled(tasks):
        if code is not None:
            task.kernel.keep(task.kinds, about, code)


def _missing(purpose: str, but: tuple[Kernel, tuple[Kind, ...]]) -> list[CompileTask]:
    """The other kernels that a purpose needs and that are not compiled yet."""
    from cer_gpu.compiling.helper_pool import CompileTask
    from cer_gpu.compiling.needs import needed

    found = []
    for name, kinds in needed(purpose):
        kernel = kernel_named(name)
        if kernel is not None and (kernel, kinds) != but and not kernel.has(kinds):
            found.append(CompileTask(kernel, kinds))
    return found


def kernel_named(name: str) -> Kernel | None:
    """The kernel that `Kernel.name` names; None where there is none."""
    try:
        module = import_module(name.partition(":")[0])
    except ImportError:
        return None
    kernels = (value for value in vars(module).values() if isinstance(value, Kernel))
    return next((kernel for kernel in kernels if kernel.name == name), None)


def jit(body: Callable[..., Any]) -> Kernel:
    """A decorator that makes a kernel of its body."""
    assert isinstance(body, FunctionType)
    return Kernel(body, home=sys._getframe(1).f_globals["__name__"])


def inline(body: Callable[..., Any]) -> Kernel:
    """A decorator that makes a helper of kernels, whose code is put in place of each call."""
    assert isinstance(body, FunctionType)
    return Kernel(body, inline=True, home=sys._getframe(1).f_globals["__name__"])


def composed(loop: Callable[..., Any], name: str, inline: bool = False, /, **pieces: Kernel) -> Kernel:
    """Close a loop over the pieces that it calls: a kernel of the module that calls this.

    The code of a piece is put in place of each call, so the kernel costs what one written by hand does.

    Parameters
    ----------
    loop : function
        Plain Python; its module does not define the names of the pieces.
    name : str
        The name of the kernel; the module keeps it in a constant.
    inline : bool, optional
        Whether it is itself a piece of other loops.
    **pieces : Kernel
        From `inline`.
    """
    assert isinstance(loop, FunctionType)
    made = FunctionType(loop.__code__, {**loop.__globals__, **pieces}, name)
    made.__qualname__ = name
    made.__doc__ = loop.__doc__
    return Kernel(made, inline, sys._getframe(1).f_globals["__name__"])


def _body_of(value: Any) -> FunctionType | None:
    return value.py_func if isinstance(value, Kernel) else None


def _names(code: CodeType) -> set[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)
