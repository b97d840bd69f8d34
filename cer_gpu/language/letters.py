"""Small and capital letters: LOWER and UPPER of the language.

Each code point becomes one code point (the simple mappings of Unicode), as in Arrow: `UPPER('ß')` is `'ẞ'`
and a text keeps its length. Python's own methods give `'SS'`, and end a Greek word with another sigma.
"""

from __future__ import annotations


def lower(text: str) -> str:
    """A text in small letters."""
    return text.lower() if text.isascii() else "".join(map(_small, text))


def upper(text: str) -> str:
    """A text in capital letters."""
    return text.upper() if text.isascii() else "".join(map(_capital, text))


def _small(letter: str) -> str:
    return letter.lower()[0]  # of a capital I with a dot the dot is left out


def _capital(letter: str) -> str:
    if letter == "ß":
        return "ẞ"
    # Greek letters with an iota below have a capital of one code point that Unicode calls a title's.
    return next((one for one in (letter.upper(), letter.title()) if len(one) == 1), letter)
