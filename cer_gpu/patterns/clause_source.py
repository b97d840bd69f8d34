"""What stands around a MATCH_RECOGNIZE: the table before it, its alias, and the SELECT without them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from cer_gpu.errors import Span
from cer_gpu.patterns.sql_error import UNREADABLE, SqlError
from cer_gpu.patterns.sql_tokens import SqlTokens

_BEFORE_SOURCE = frozenset({"FROM", "JOIN", ",", "(", "LATERAL", "APPLY", "ONLY"})
"""What stands before the name of a table."""

_BEHIND_SOURCE = frozenset(
    [
        "WHERE",
        "GROUP",
        "HAVING",
        "ORDER",
        "LIMIT",
        "OFFSET",
        "FETCH",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "MINUS",
        "QUALIFY",
        "WINDOW",
        "JOIN",
        "INNER",
        "LEFT",
        "RIGHT",
        "FULL",
        "CROSS",
        "NATURAL",
        "ASOF",
        "SEMI",
        "ANTI",
        "ON",
        "USING",
        "SELECT",
        "FROM",
        "PIVOT",
        "UNPIVOT",
        "TABLESAMPLE",
        "SAMPLE",
        "LATERAL",
        "OUTER",
        "FOR",
        "SORT",
        "CLUSTER",
        "DISTRIBUTE",
        "CONNECT",
        "START",
        "MATCH_RECOGNIZE",
        "RETURNING",
        "WITH",
        "OPTION",
        "POSITIONAL",
    ]
)
"""What may stand behind a table without an alias."""

_QUERY_STARTS = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE"})


class ClauseSource(NamedTuple):
    """What a clause reads.

    Attributes
    ----------
    source : str
    kind : {"table", "file", "query"}
    alias : str or None
        Of the clause.
    names : tuple of str
        By which its columns may be named: those of the source, in upper case.
    span : Span
        From the source to the alias.
    """

    source: str
    kind: Literal["table", "file", "query"]
    alias: str | None
    names: tuple[str, ...]
    span: Span


class _CommonTable(NamedTuple):
    # A table of WITH: its name, and its tokens.
    name: str
    first: int
    end: int
    recursive: bool


class SourceFinder:
    """Finds the sources of clauses, which are asked for in the order of the text.

    Parameters
    ----------
    tokens : SqlTokens
    literals : mapping of int to str
        What stands for a parameter, by the character where it begins.

    Attributes
    ----------
    tables : tuple of str
        The names that stand for the clauses so far.
    """

    def __init__(self, tokens: SqlTokens, literals: Mapping[int, str]) -> None:
        self._tokens = tokens
        self._literals = literals
        self._clauses: list[tuple[int, int, str]] = []

    @property
    def tables(self) -> tuple[str, ...]:
        """The names that stand for the clauses."""
        return tuple(name for _, _, name in self._clauses)

    def outer(self) -> str:
        """The statement with a name for each clause and its source."""
        return self._spliced(0, len(self._tokens))

    def found(self, number: int) -> ClauseSource:
        """What the clause reads whose word MATCH_RECOGNIZE has this number.

        Raises
        ------
        SqlError
            When there is no table before it.
        """
        tokens = self._tokens
        first, end, given = self._before(number)
        source, kind = self._source(first, end)
        names = {given.upper()} if given else set()
        if kind == "table":
            names.add(source.rpartition(".")[2].upper())
        behind = tokens.partner[number + 1] + 1
        alias_end, alias = self._alias(behind)
        self._clauses.append((first, behind, f"__match_{len(self._clauses) + 1}"))
        return ClauseSource(source, kind, alias, tuple(names), tokens.span(first, alias_end))

    def _before(self, number: int) -> tuple[int, int, str | None]:
        """The tokens of the source, without its alias; the alias."""
        tokens = self._tokens
        end = number
        first = self._start_of(end)
        alias = None
        if first < end and (named := self._with_columns(first, end)):
            return self._start_of(named), end, tokens.tokens[first].value
        if first > 1 and first == end - 1 and tokens.tokens[first].is_name:
            if tokens.key(first - 1) == "AS":
                alias, end = tokens.tokens[first].value, first - 1
                first = self._start_of(end)
            elif tokens.key(first - 1) not in _BEFORE_SOURCE:
                alias, end = tokens.tokens[first].value, first
                first = self._start_of(end)
        if first >= end or tokens.key(first) in (_BEFORE_SOURCE | _BEHIND_SOURCE) - {"(", "MATCH_RECOGNIZE"}:
            hint = "FROM trades MATCH_RECOGNIZE (...)"
            span = tokens.tokens[number].span
            raise SqlError(UNREADABLE, "expected a table before MATCH_RECOGNIZE", span, hint)
        if tokens.key(first) == "MATCH_RECOGNIZE":
            hint = "FROM (SELECT * FROM t MATCH_RECOGNIZE (...)) MATCH_RECOGNIZE (...)"
            message = "write the MATCH_RECOGNIZE whose rows are read as a subquery"
            raise SqlError(UNREADABLE, message, tokens.tokens[number].span, hint)
        return first, end, alias

    def _with_columns(self, first: int, end: int) -> int | None:
        """The token behind a table whose alias, with names of its columns, is `first` to `end`."""
        tokens = self._tokens
        if tokens.key(end - 1) != ")" or not tokens.tokens[first].is_name or tokens.key(first + 1) != "(":
            return None
        if tokens.key(first) == "MATCH_RECOGNIZE":
            return None
        before = first - 1 if tokens.key(first - 1) == "AS" else first
        if before < 1 or tokens.key(before - 1) in _BEFORE_SOURCE | _BEHIND_SOURCE:
            return None
        return before

    def _start_of(self, end: int) -> int:
        # The first token of the table expression that ends before a token.
        tokens = self._tokens
        first = end - 1
        if first < 0:
            return end
        if tokens.key(first) == ")":
            first = tokens.partner[first]
            before = first - 1
            called = before >= 0 and tokens.tokens[before].is_name
            if not called or tokens.key(before) in _BEFORE_SOURCE:
                return first
            first = before
        elif not (tokens.tokens[first].is_name or tokens.tokens[first].kind == "string"):
            return end
        while first > 1 and tokens.key(first - 1) == "." and tokens.tokens[first - 2].is_name:
            first -= 2
        return first

    def _source(self, first: int, end: int) -> tuple[str, Literal["table", "file", "query"]]:
        tokens = self._tokens
        while tokens.key(first) == "(" and tokens.partner[first] == end - 1:
            first, end = first + 1, end - 1
        if first >= end:
            raise SqlError(UNREADABLE, "this subquery is empty", tokens.tokens[first - 1].span)
        if simple := self._simple(first, end):
            first, end = simple
        if tokens.tokens[first].kind == "string" and end - first == 1:
            return tokens.tokens[first].value, "file"
        named = all(
            tokens.tokens[at].is_name if step % 2 == 0 else tokens.key(at) == "."
            for step, at in enumerate(range(first, end))
        )
        if named and (end - first) % 2:
            name = ".".join(tokens.tokens[at].value for at in range(first, end, 2))
            if end - first == 1 and self._common(first, tokens.tokens[first].name):
                return self._with_common(first, f"SELECT * FROM {self._spliced(first, end)}"), "query"
            taken = [table for begin, behind, table in self._clauses if first <= begin < end]
            return (taken[0] if taken else name), "table"
        written = self._spliced(first, end)
        if len(self._clauses) and written in self.tables:
            return written, "table"
        if tokens.key(first) not in _QUERY_STARTS or (tokens.key(first), tokens.key(first + 1)) == (
            "TABLE",
            "(",
        ):
            written = f"SELECT * FROM {written}"
        return self._with_common(first, written), "query"

    def _simple(self, first: int, end: int) -> tuple[int, int] | None:
        """The tokens of the table in `SELECT * FROM table`, with or without an alias."""
        tokens = self._tokens
        keys = [tokens.key(at) for at in range(first, first + 3)]
        if keys != ["SELECT", "*", "FROM"] or first + 3 >= end:
            return None
        begin = first + 3
        for start, behind, _ in self._clauses:
            if start == begin:
                after = self._alias(behind)[0]
                return (begin, behind) if after == end else None
        behind = begin + 1
        if not (tokens.tokens[begin].is_name or tokens.tokens[begin].kind == "string"):
            return None
        while behind + 1 < end and tokens.key(behind) == "." and tokens.tokens[behind + 1].is_name:
            behind += 2
        return (begin, behind) if self._alias(behind)[0] == end else None

    def _alias(self, number: int) -> tuple[int, str | None]:
        """The token behind an alias, with its columns, that may stand at a token; the alias."""
        tokens = self._tokens
        written = tokens.key(number) == "AS"
        at = number + written
        if at >= len(tokens) or not tokens.tokens[at].is_name:
            return number, None
        if not written and tokens.key(at) in _BEHIND_SOURCE:
            return number, None
        end = at + 1
        if tokens.key(end) == "(":
            end = tokens.partner[end] + 1
        return end, tokens.tokens[at].value

    # WITH

    def _scope(self, number: int) -> Iterator[_CommonTable]:
        """The tables of WITH that can be named at a token, the inner ones last."""
        tokens = self._tokens
        openings, inner = [], tokens.group[number]
        while inner >= 0:
            openings.append(inner)
            inner = tokens.group[inner]
        for opening in (-1, *reversed(openings)):
            at = opening + 1
            if tokens.key(at) != "WITH":
                continue
            recursive = tokens.key(at + 1) == "RECURSIVE"
            at += 1 + recursive
            while at < number and tokens.tokens[at].is_name:
                name = tokens.tokens[at].name
                end = at + 1
                while end < len(tokens) and tokens.key(end) != "AS":
                    end = tokens.partner.get(end, end) + 1
                while end < len(tokens) and tokens.key(end) != "(":
                    end += 1
                end = tokens.partner.get(end, end) + 1
                if end > number:
                    break
                yield _CommonTable(name, at, end, recursive)
                at = end + 1
                if tokens.key(end) != ",":
                    break

    def _common(self, number: int, name: str) -> bool:
        return any(one.name == name for one in self._scope(number))

    def _with_common(self, number: int, query: str) -> str:
        """A query with the tables of WITH that it, or one of these, names."""
        scope = list(self._scope(number))
        needed: list[_CommonTable] = []
        written = query
        for one in reversed(scope):
            if re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", written, re.IGNORECASE):
                needed.append(one)
                written += " " + self._spliced(one.first, one.end)
        if not needed:
            return query
        tables = ", ".join(self._spliced(one.first, one.end) for one in reversed(needed))
        recursive = "RECURSIVE " if any(one.recursive for one in needed) else ""
        if query.lstrip()[:4].upper() == "WITH":
            return f"WITH {recursive}{tables} SELECT * FROM ({query})"
        return f"WITH {recursive}{tables} {query}"

    def _spliced(self, first: int, end: int) -> str:
        """The text of tokens with a name for each clause in it, and with the values of parameters."""
        tokens = self._tokens
        start = tokens.tokens[first].start if first else 0
        stop = tokens.tokens[end - 1].end if end < len(tokens) else len(tokens.text)
        edits = [
            (tokens.tokens[begin].start, tokens.tokens[behind - 1].end, name)
            for begin, behind, name in self._clauses
            if first <= begin and behind <= end
        ]
        for place, literal in self._literals.items():
            edits.append((place, tokens.tokens[tokens.number_at[place] + 1].end, literal))
        parts: list[str] = []
        at = start
        # Of clauses in one another the outermost is replaced: it begins first, and ends last.
        for begin, behind, name in sorted(edits, key=lambda one: (one[0], -one[1])):
            if begin >= at and behind <= stop:
                parts += [tokens.text[at:begin], name]
                at = behind
        return "".join([*parts, tokens.text[at:stop]])
