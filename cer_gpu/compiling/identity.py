"""The identity of a kernel, a digest of its source: machine code is valid for the source it was made from.

The digest is made from the bytecode of the body and from everything that its names refer to: other kernels,
constants, classes. So a comment does not change it, and a changed helper changes it for all kernels that call
the helper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

try:
    # `hashlib` loads OpenSSL, which takes as long as a small count.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

PACKAGE = "cer_gpu."
"""The prefix of modules whose constants are part of the digest; other packages have a version."""

_ABSENT = object()


def digest(parts: Iterator[str] | list[str]) -> str:
    """Texts as one name of 32 hexadecimal digits."""
    made = blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode()
        made.update(len(encoded).to_bytes(8, "little"))
        made.update(encoded)
    return made.hexdigest()


def identity(body: FunctionType, body_of: Callable[[Any], FunctionType | None]) -> str:
    """The identity of a body.

    Parameters
    ----------
    body : function
    body_of : callable
        Gives the body of a value that is a kernel; None for any other value.
    """
    return digest(_function(body, body_of, set()))


def _function(
    body: FunctionType, body_of: Callable[[Any], FunctionType | None], known: set[int]
) -> Iterator[str]:
    if id(body) in known:
        yield body.__qualname__
        return
    known.add(id(body))
    code = body.__code__
    yield from _code(code)
    yield repr(body.__defaults__)
    for name, cell in zip(code.co_freevars, body.__closure__ or (), strict=True):
        yield name
        yield from _value(cell.cell_contents, (), body_of, known)
    names = sorted(set(_names(code)))
    for name in names:
        value = body.__globals__.get(name, _ABSENT)
        if value is not _ABSENT:
            yield name
            yield from _value(value, names, body_of, known)


def _code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_argcount, code.co_varnames, code.co_names, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        elif not isinstance(constant, str):  # the docstring is one of them
            yield repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _value(
    value: Any,
    names: list[str] | tuple[str, ...],
    body_of: Callable[[Any], FunctionType | None],
    known: set[int],
) -> Iterator[str]:
    body = value if isinstance(value, FunctionType) else body_of(value)
    if body is not None:
        yield from _function(body, body_of, known)
    elif isinstance(value, ModuleType):
        yield value.__name__
        if value.__name__.startswith(PACKAGE):
            for name in names:
                if hasattr(value, name):
                    yield name
                    yield from _value(getattr(value, name), (), body_of, known)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.str}{value.shape}{value.tobytes().hex()}"
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    elif isinstance(value, (int, float, complex, str, bytes, tuple, np.generic, np.dtype, type(None))):
        yield repr(value)
    else:
        yield f"{type(value).__module__}.{type(value).__qualname__}"
