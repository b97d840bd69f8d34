"""Row patterns: the text between the parentheses of PATTERN as a tree."""

from __future__ import annotations

from cer_gpu.errors import Span
from cer_gpu.patterns.sql_error import NO_COUNT, UNREADABLE, SqlError, too_deep
from cer_gpu.patterns.sql_language import SqlToken
from cer_gpu.patterns.sql_tokens import SqlTokens, TokenReader
from cer_gpu.patterns.tree import (
    Alternation,
    Anchor,
    Concatenation,
    Exclusion,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    parts_of,
)

_BEHIND = "a variable, a group or a quantifier"


def read_pattern(tokens: SqlTokens, first: int, end: int) -> RowPattern:
    """The pattern of a range of tokens.

    Parameters
    ----------
    tokens : SqlTokens
    first, end : int
        What is between the parentheses; nothing is the empty pattern.

    Raises
    ------
    SqlError
        When it is no row pattern.
    """
    cursor = TokenReader(tokens, first, end)
    if cursor.next is None:
        return Concatenation(())
    try:
        pattern = _alternation(cursor)
    except RecursionError:
        raise too_deep(tokens.span(first, end)) from None
    cursor.close(_BEHIND)
    return pattern


def exclusion_in(pattern: RowPattern) -> bool:
    """Whether a pattern excludes rows from the answer."""
    return any(isinstance(part, Exclusion) for part in parts_of(pattern))


def _alternation(cursor: TokenReader) -> RowPattern:
    options = [_concatenation(cursor)]
    while cursor.take("|"):
        options.append(_concatenation(cursor))
    return options[0] if len(options) == 1 else Alternation(tuple(options))


def _concatenation(cursor: TokenReader) -> RowPattern:
    parts: list[RowPattern] = []
    while (token := cursor.next) is not None and token.key not in ("|", ")", ",", "-"):
        parts.append(_quantified(cursor, token))
    if not parts:
        raise cursor.unexpected("a variable or a group", "the empty pattern is written `()`")
    return parts[0] if len(parts) == 1 else Concatenation(tuple(parts))


def _quantified(cursor: TokenReader, token: SqlToken) -> RowPattern:
    body = _primary(cursor, token)
    bounds = _bounds(cursor)
    if bounds is None:
        return body
    reluctant = cursor.take("?")
    again = cursor.next
    if again is not None and (again.key in ("*", "+", "?") or _is_count(cursor)):
        hint = "put what is repeated into parentheses: `(A+)*`"
        raise SqlError(UNREADABLE, "a quantifier cannot follow another one", again.span, hint)
    return Quantified(body, *bounds, reluctant)


def _primary(cursor: TokenReader, token: SqlToken) -> RowPattern:
    if cursor.take("PERMUTE", "("):
        parts = [_alternation(cursor)]
        while cursor.take(","):
            parts.append(_alternation(cursor))
        _take(cursor, ")", "`,` or `)` in PERMUTE")
        return parts[0] if len(parts) == 1 else Permutation(tuple(parts))
    if token.is_name:
        cursor.position += 1
        return Variable(token.name, token.span)
    if cursor.take("(", ")"):
        return Concatenation(())
    if cursor.take("("):
        pattern = _alternation(cursor)
        _take(cursor, ")", f"{_BEHIND} or `)`")
        return pattern
    if cursor.take("{", "-"):
        pattern = _alternation(cursor)
        if not cursor.take("-", "}"):
            raise cursor.unexpected("`-}`")
        return Exclusion(pattern)
    if cursor.take("^"):
        return Anchor("^")
    if cursor.take("$"):
        return Anchor("$")
    raise cursor.unexpected("a variable or a group")


def _take(cursor: TokenReader, key: str, expected: str) -> None:
    if not cursor.take(key):
        raise cursor.unexpected(expected)


def _is_count(cursor: TokenReader) -> bool:
    # A brace that opens a number of repetitions, not an exclusion.
    return cursor.looks_at("{") and not cursor.looks_at("{", "-")


def _bounds(cursor: TokenReader) -> tuple[int, int | None] | None:
    # How often what stands before it is repeated; None without a quantifier.
    if cursor.take("*"):
        return 0, None
    if cursor.take("+"):
        return 1, None
    if cursor.take("?"):
        return 0, 1
    if not _is_count(cursor):
        return None
    cursor.take("{")
    first = cursor.position
    least = _whole(cursor)
    most = least
    if cursor.take(","):
        most = _whole(cursor)
        if least is None and most is None:
            raise cursor.unexpected("a number of repetitions", "`{2}`, `{2,}`, `{,5}` and `{2,5}` repeat")
    elif least is None:
        raise cursor.unexpected("a number of repetitions", "`{2}`, `{2,}`, `{,5}` and `{2,5}` repeat")
    span = cursor.tokens.span(first, cursor.position)
    if not cursor.take("}"):
        raise cursor.unexpected("`}`")
    least = least or 0
    if most is not None and most < least:
        raise SqlError(
            NO_COUNT,
            f"at least {least} and at most {most} repetitions are not possible at once",
            Span(span.start, span.end),
            f"write the smaller number first: `{{{most},{least}}}`",
        )
    return least, most


def _whole(cursor: TokenReader) -> int | None:
    token = cursor.next
    if token is None or token.kind != "number":
        return None
    if not token.value.isdecimal() or len(token.value) > 9:
        raise SqlError(NO_COUNT, "a number of repetitions is a whole number below a billion", token.span)
    cursor.position += 1
    return int(token.value)
