"""What messages show of names and values, which may hold anything: control characters, or a million rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cache
from numbers import Number
from os import PathLike
from types import NoneType
from typing import Any

from cer_gpu.digits import shown

_OBEYED = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line end
    r"\u2028\u2029"  # separators of lines and paragraphs
    r"\u202a-\u202e\u2066-\u2069"  # turn the direction of what follows
)
_NO_TEXT = r"\ud800-\udfff\ufffe\uffff"
"""Halves of surrogate pairs, and what is no character: no encoding and no XML has them."""


@cache
def _hidden() -> re.Pattern[str]:
    """Made when a text needs it: that takes as long as importing three modules."""
    return re.compile(f"[{_OBEYED}{_NO_TEXT}]")


CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]"
"""The same for the regular expressions of Arrow, whose strings have no surrogates."""

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """A text with a replacement character for each character that a terminal would obey.

    Tabs and line ends stay. What is left can be encoded, and can stand in XML.

    >>> printable("a\\x1b[31mb")
    'a\\ufffd[31mb'
    """
    return text if text.isprintable() else _hidden().sub(REPLACEMENT, text)


def on_one_line(text: str) -> str:
    """The same with a space for each tab and line end."""
    return printable(text.replace("\r\n", " ").translate(_SPACES))


_SPACES = str.maketrans("\t\n\r", "   ")


LONGEST = 60
"""Characters that a message shows of a value."""

MEMBERS = 6
"""Members that a message shows of a list, a set or a dict."""

NAMES = 12
"""Names that a message lists."""

_PLAIN = (NoneType, bool, Number, Decimal, date, time, timedelta, PathLike)
"""Types whose values are as short as their texts are wanted."""


def brief(value: Any, longest: int = LONGEST) -> str:
    """A value that a caller gave, for a message: on one line, and never long.

    Only texts, numbers, times and lists of such are written out. Of anything else, a table for instance, its
    type is named: to write it could take as long as to read it.

    Parameters
    ----------
    value : object
    longest : int
        The most characters that are shown of it.

    >>> brief("abc"), brief([1, 2]), brief(object())
    ("'abc'", '[1, 2]', 'an object of type object')
    """
    return _cut(on_one_line(_written(value, longest, 2)), longest)


def _written(value: Any, longest: int, depth: int) -> str:
    match value:
        case str() | bytes():
            return repr(value[: longest + 1])
        case int():
            return shown(value) if abs(value) >> 64 else repr(value)
        case Mapping() if depth and type(value) is dict:
            pairs = _first(value.items())
            inside = [
                f"{_written(key, longest, 0)}: {_written(one, longest, depth - 1)}" for key, one in pairs
            ]
            return "{" + _listed(inside, len(value)) + "}"
        case Sequence() | Set() if depth and type(value) in _BRACKETS:
            begin, end = _BRACKETS[type(value)]
            inside = [_written(one, longest, depth - 1) for one in _first(value)]
            return begin + _listed(inside, len(value)) + end
    if isinstance(value, _PLAIN) or getattr(value, "shape", None) == ():  # NumPy's scalars
        return repr(value)
    name = type(value).__name__
    return f"the class {value.__name__}" if isinstance(value, type) else f"an object of type {name}"


def name_text(name: str, longest: int = LONGEST) -> str:
    """A name that a caller gave, for a message: on one line, and never long.

    >>> name_text("a" * 9, longest=6)
    'aaa...'
    """
    return _cut(on_one_line(name[: longest + 1]), longest)


def names_text(names: Iterable[Any], most: int = NAMES) -> str:
    """Names for a message: of many the first ones, each short and on one line.

    >>> names_text(["a", "b", "c"], most=2)
    '`a`, `b` and 1 more'
    """
    given = list(names)
    first = (name_text(name) if isinstance(name, str) else brief(name) for name in given[:most])
    told = ", ".join(f"`{name}`" for name in first)
    return told if len(given) <= most else f"{told} and {len(given) - most:,} more"


_BRACKETS = {list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), frozenset: ("{", "}")}


def _first(values: Any) -> list[Any]:
    return [one for one, _ in zip(values, range(MEMBERS))]


def _listed(inside: list[str], size: int) -> str:
    return ", ".join(inside) + (f", ... ({size:,} in all)" if size > len(inside) else "")


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
