"""Replaces the control characters that a terminal obeys in texts: names and values in data may hold any."""

from __future__ import annotations

import re
from functools import cache

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
