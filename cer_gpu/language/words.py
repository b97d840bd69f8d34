"""The words of the language: keywords, names, how they are quoted, and where they stand in a node's text."""

from __future__ import annotations

import re

from cer_gpu.errors import Span

RESERVED = frozenset(
    {"SELECT", "FROM", "WHERE", "PARTITION", "WITHIN", "CONSUME", "ALL", "NONE", "AND", "OR", "NOT", "UNLESS"}
    | {"FILTER", "AS", "PROJECT", "LIKE", "IN", "IS", "NULL", "TRUE", "FALSE"}
)
"""Keywords that are names only between back-ticks."""

CONTEXTUAL = frozenset(
    {"ANY", "NEXT", "NXT", "LAST", "MAX", "STRICT", "BY", "RANGE", "LIMIT"}
    | {"FOLLOWED", "PRECEDED", "PRIOR", "BEFORE", "DISTINCT", "SUPPRESS", "FOR"}
)
"""Keywords that are also names, where a name stands: `last`, `max` and `limit` are usual columns."""

PLACE = "\0PLACE("
"""What the name of an attribute begins with that stands for the places of categories in their order."""

_PLAIN = re.compile(r"[^\W\d]\w*")


def keyword(word: str) -> str | None:
    """The keyword that a word is, in capitals, or None."""
    # `str.upper` makes an S of a long s: such a word is a name.
    upper = word.upper() if word.isascii() else ""
    return upper if upper in RESERVED or upper in CONTEXTUAL else None


def written(name: str) -> str:
    """A name as it is written in a query: between back-ticks where it needs them."""
    if _PLAIN.fullmatch(name) and keyword(name) is None:
        return name
    if name.startswith(PLACE):
        return name[1:]
    return "`" + name.replace("`", "``") + "`"


def written_variable(variable: str) -> str:
    """A variable as it is written in a query; `S>T` is a stream and a type."""
    return ">".join(written(part) for part in variable.split(">", 1))


def written_owner(variable: str, earlier: str) -> str:
    """The events that are spoken of, as they are written: `x`, `PRIOR(x)` or `BEFORE(x)`."""
    return f"{earlier}({written_variable(variable)})" if earlier else written_variable(variable)


def unquoted(token: str) -> str:
    """The name that is written as `token`, with or without back-ticks."""
    # `str`, because a token of the parser is a string that knows more.
    return token[1:-1].replace("``", "`") if token.startswith("`") else str(token)


def quoted_text(value: str) -> str:
    """A string literal with this value."""
    return "'" + value.replace("'", "''") + "'"


def text_of(token: str) -> str:
    """The value of a string literal."""
    return token[1:-1].replace("''", "'")


def leading(span: Span | None, variable: str) -> Span | None:
    """The place of a variable that a node begins with, as in `x[...]` and `x.a`."""
    if span is None:
        return None
    return Span(span.start, min(span.end, span.start + len(written_variable(variable))))


def trailing(span: Span | None, name: str) -> Span | None:
    """The place of a name that a node ends with, as in `p AS x` and `x.a`."""
    return None if span is None else Span(max(span.start, span.end - len(written(name))), span.end)
