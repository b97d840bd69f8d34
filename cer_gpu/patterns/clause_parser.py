"""One MATCH_RECOGNIZE: its subclauses cut out of the tokens, and each of them read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeAlias

from cer_gpu.errors import Diagnostic, Span
from cer_gpu.patterns.choices import variables_of
from cer_gpu.patterns.clause_source import ClauseSource
from cer_gpu.patterns.pattern_parser import exclusion_in, read_pattern
from cer_gpu.patterns.scalar_reader import ScalarReader
from cer_gpu.patterns.sql_error import (
    INCOMPATIBLE,
    LISTED_TWICE,
    NO_EXPRESSION,
    OUT_OF_PLACE,
    UNKNOWN_VARIABLE,
    UNREADABLE,
    SqlError,
    choice_hint,
)
from cer_gpu.patterns.sql_language import SqlLanguage, SqlToken
from cer_gpu.patterns.sql_tokens import SqlTokens, TokenReader
from cer_gpu.patterns.tree import (
    Definition,
    RowMeasure,
    RowPattern,
    RowPatternClause,
    RowsPerMatch,
    Skip,
    SkipMode,
    SortKey,
)

_HEADS: Mapping[str, tuple[str, ...]] = {
    "PARTITION BY": ("PARTITION", "BY"),
    "ORDER BY": ("ORDER", "BY"),
    "MEASURES": ("MEASURES",),
    "ROWS PER MATCH": ("ONE", "ROW"),
    "AFTER MATCH": ("AFTER", "MATCH"),
    "PATTERN": ("PATTERN",),
    "WITHIN": ("WITHIN",),
    "SUBSET": ("SUBSET",),
    "DEFINE": ("DEFINE",),
}
"""The subclauses in the order of the standard, with the keys of the tokens that begin them."""

_ORDER = f"the order is {', '.join(_HEADS)}"

_ROWS: Mapping[tuple[str, ...], RowsPerMatch] = {
    ("ONE", "ROW", "PER", "MATCH"): RowsPerMatch.ONE,
    ("ALL", "ROWS", "PER", "MATCH", "SHOW", "EMPTY", "MATCHES"): RowsPerMatch.ALL_SHOW_EMPTY,
    ("ALL", "ROWS", "PER", "MATCH", "OMIT", "EMPTY", "MATCHES"): RowsPerMatch.ALL_OMIT_EMPTY,
    ("ALL", "ROWS", "PER", "MATCH", "WITH", "UNMATCHED", "ROWS"): RowsPerMatch.ALL_WITH_UNMATCHED,
    ("ALL", "ROWS", "PER", "MATCH"): RowsPerMatch.ALL_SHOW_EMPTY,
}

_MEASURE_ENDS = frozenset(
    {"END", "NULL", "TRUE", "FALSE", "AND", "OR", "NOT", "IS", "IN", "LIKE", "BETWEEN", "THEN"}
)
"""Words that end an expression, or stand inside it: they are no name of a measure."""


_Ranges: TypeAlias = "Mapping[str, tuple[int, int]]"


class ClauseParser:
    """Reads the subclauses of one MATCH_RECOGNIZE.

    Parameters
    ----------
    tokens : SqlTokens
    language : SqlLanguage
    parameters : mapping of int to object
        Values of parameters by the character where they stand.
    source : ClauseSource
        What the clause reads.
    errors : list of Diagnostic
        What is found is added.
    """

    def __init__(
        self,
        tokens: SqlTokens,
        language: SqlLanguage,
        parameters: Mapping[int, Any],
        source: ClauseSource,
        errors: list[Diagnostic],
    ) -> None:
        self._tokens = tokens
        self._language = language
        self._parameters = parameters
        self._source = source
        self._errors = errors
        self._primaries: dict[str, Span | None] = {}
        self._unions: dict[str, frozenset[str]] = {}

    def clause(self, opening: int) -> RowPatternClause:
        """Read what stands in a parenthesis.

        Parameters
        ----------
        opening : int
            The number of its token.

        Raises
        ------
        SqlError
            When the structure of the clause or its pattern cannot be read. What is wrong with a single
            measure, a definition and the like is added to the errors.
        """
        found = self._cut(opening + 1, self._tokens.partner[opening])
        pattern = self._pattern(found.get("PATTERN"), opening)
        for variable in variables_of(pattern):
            self._primaries.setdefault(variable.name, variable.at)
        self._each(found, "SUBSET", self._subset)
        variables = {name: frozenset({name}) for name in self._primaries} | self._unions
        reader = ScalarReader(self._tokens, self._language, variables, self._parameters, self._source.names)
        partition_by = self._each(found, "PARTITION BY", self._column)
        order_by = self._each(found, "ORDER BY", self._sort_key)
        measures = self._each(found, "MEASURES", lambda first, end: self._measure(reader, first, end))
        rows, skip, within = RowsPerMatch.ONE, Skip(SkipMode.PAST_LAST_ROW), None
        with self._noted():
            rows = self._rows(found.get("ROWS PER MATCH"))
        with self._noted():
            skip = self._skip(found.get("AFTER MATCH"), variables)
        definitions = self._each(found, "DEFINE", lambda first, end: self._definition(reader, first, end))
        if (part := found.get("WITHIN")) is not None:
            with self._noted():
                within = self._length(reader, part)
        self._check_names([(token.value, token.span) for token in partition_by], measures)
        self._check_twice([(one.variable, one.at) for one in definitions], "`{}` is defined twice")
        if rows is RowsPerMatch.ALL_WITH_UNMATCHED:
            self._check_unmatched(pattern, skip, found)
        return RowPatternClause(
            self._source.source,
            self._source.kind,
            tuple(token.value for token in partition_by),
            tuple(order_by),
            tuple(measures),
            rows,
            skip,
            pattern,
            self._unions,
            tuple(definitions),
            within,
            self._source.alias,
            self._source.span,
        )

    # The structure

    def _cut(self, first: int, end: int) -> dict[str, tuple[int, int]]:
        """The range of tokens of each subclause, without the words that begin it."""
        heads = [
            (number, name) for number in self._tokens.outermost(first, end) if (name := self._head(number))
        ]
        if not heads or heads[0][0] != first:
            cursor = TokenReader(self._tokens, first, end)
            raise cursor.unexpected("PARTITION BY, ORDER BY, MEASURES or PATTERN", _ORDER)
        found: dict[str, tuple[int, int]] = {}
        names = list(_HEADS)
        latest = ""
        for (number, name), (behind, _) in zip(heads, [*heads[1:], (end, "")], strict=True):
            begin = number + len(_HEADS[name])
            span = self._tokens.span(number, min(begin, behind))
            if name in found:
                self._add(SqlError(OUT_OF_PLACE, f"{name} is written twice", span, _ORDER))
                continue
            if latest and names.index(name) < names.index(latest):
                self._add(SqlError(OUT_OF_PLACE, f"{name} comes before {latest}", span, _ORDER))
            else:
                latest = name
            found[name] = (begin, behind)
        return found

    def _head(self, number: int) -> str | None:
        # The subclause that begins at a token. Its first word may be the name of a column or a measure.
        if self._tokens.key(number - 1) in (".", "AS"):
            return None
        key = self._tokens.key
        for name, keys in _HEADS.items():
            if all(key(number + step) == one for step, one in enumerate(keys)):
                behind = key(number + len(keys))
                return None if len(keys) == 1 and behind in (",", ".", "AS", "=", "<", ">") else name
        return "ROWS PER MATCH" if key(number) == "ALL" and key(number + 1) == "ROWS" else None

    def _each(self, found: _Ranges, name: str, read: Callable[[int, int], Any]) -> list[Any]:
        """What is between the commas of a subclause; what is wrong with one is added to the errors."""
        values: list[Any] = []
        if name not in found:
            return values
        first, end = found[name]
        if first >= end:
            begin = first - len(_HEADS[name])
            self._add(SqlError(UNREADABLE, f"{name} is empty", self._tokens.span(begin, first)))
        for begin, behind in self._tokens.parts(first, end):
            with self._noted():
                values.append(read(begin, behind))
        return values

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except SqlError as error:
            self._add(error)

    def _add(self, error: SqlError) -> None:
        self._errors.append(error.diagnostic)

    # The subclauses

    def _pattern(self, part: tuple[int, int] | None, opening: int) -> RowPattern:
        if part is None:
            span = self._tokens.tokens[opening - 1].span
            raise SqlError(
                UNREADABLE, "there is no PATTERN", span, "PATTERN (a b+) DEFINE b AS price > PREV(price)"
            )
        first, end = part
        cursor = TokenReader(self._tokens, first, end)
        if not cursor.take("("):
            raise cursor.unexpected("`(`", "PATTERN (a b+)")
        close = cursor.position = self._tokens.partner[first]
        cursor.take(")")
        cursor.close("WITHIN, SUBSET, DEFINE or `)`")
        return read_pattern(self._tokens, first + 1, close)

    def _subset(self, first: int, end: int) -> None:
        cursor = TokenReader(self._tokens, first, end)
        token = cursor.name("the name of a union variable")
        hint = "SUBSET u = (a, b)"
        if not cursor.take("=", "("):
            raise cursor.unexpected("`= (`", hint)
        members = set()
        while True:
            members.add(self._primary(cursor.name("a variable of the pattern")))
            if not cursor.take(","):
                break
        if not cursor.take(")"):
            raise cursor.unexpected("`,` or `)`", hint)
        cursor.close("`,` or DEFINE")
        if token.name in self._primaries or token.name in self._unions:
            message = f"there is a variable `{token.value}` already"
            raise SqlError(LISTED_TWICE, message, token.span, "give the union another name")
        self._unions[token.name] = frozenset(members)

    def _primary(self, token: SqlToken) -> str:
        if token.name in self._primaries:
            return token.name
        hint = choice_hint(token.name, self._primaries, "its variables are")
        message = f"the pattern has no variable `{token.value}`"
        raise SqlError(UNKNOWN_VARIABLE, message, token.span, hint)

    def _column(self, first: int, end: int) -> SqlToken:
        cursor = TokenReader(self._tokens, first, end)
        token = self._column_token(cursor, "PARTITION BY")
        if cursor.next is not None:
            raise self._no_column("PARTITION BY", first, end)
        return token

    def _column_token(self, cursor: TokenReader, clause: str) -> SqlToken:
        first = cursor.position
        token = cursor.name("a column")
        while cursor.take("."):
            token = cursor.name("a column")
        if cursor.looks_at("("):
            raise self._no_column(clause, first, cursor.end)
        if (
            cursor.position > first + 1
            and self._tokens.tokens[cursor.position - 3].name.upper() not in self._source.names
        ):
            span = self._tokens.span(first, cursor.position)
            raise SqlError(UNREADABLE, f"{clause} names columns, without a prefix", span)
        return token

    def _no_column(self, clause: str, first: int, end: int) -> SqlError:
        hint = "make it a column before: FROM (SELECT *, ... AS x FROM t) MATCH_RECOGNIZE (...)"
        span = self._tokens.span(first, end)
        return SqlError(NO_EXPRESSION, f"{clause} takes columns, no expressions", span, hint)

    def _sort_key(self, first: int, end: int) -> SortKey:
        cursor = TokenReader(self._tokens, first, end)
        token = self._column_token(cursor, "ORDER BY")
        descending = cursor.take("DESC")
        if not descending:
            cursor.take("ASC")
        nulls_first = cursor.take("NULLS", "FIRST")
        if not nulls_first and not cursor.take("NULLS", "LAST"):
            nulls_first = self._language.nulls_first(descending)
        if cursor.next is not None and cursor.next.is_name:
            raise cursor.unexpected("`,`, ASC, DESC, NULLS FIRST or NULLS LAST")
        if cursor.next is not None:
            raise self._no_column("ORDER BY", first, end)
        return SortKey(token.value, descending, nulls_first, token.span)

    def _measure(self, reader: ScalarReader, first: int, end: int) -> RowMeasure:
        last = self._tokens.tokens[end - 1] if end > first else None
        named = last is not None and last.is_name and last.key not in _MEASURE_ENDS and end - first > 1
        written = named and self._tokens.key(end - 2) == "AS"
        if not written and named:
            before = self._tokens.tokens[end - 2]
            named = before.kind != "symbol" or before.key == ")"
            named = named and not (before.kind == "word" and before.key in _MEASURE_ENDS - {"END", "NULL"})
        if last is None or not named:
            span = self._tokens.span(first, end) if end > first else self._tokens.tokens[first - 1].span
            hint = "name the column: LAST(a.price) AS price"
            raise SqlError(UNREADABLE, "a measure needs a name", span, hint)
        behind = end - 2 if written else end - 1
        span = self._tokens.span(first, behind)
        return RowMeasure(last.value, reader.scalar(first, behind), span)

    def _rows(self, part: tuple[int, int] | None) -> RowsPerMatch:
        if part is None:
            return RowsPerMatch.ONE
        cursor = TokenReader(self._tokens, part[0] - 2, part[1])
        for keys, rows in _ROWS.items():
            if cursor.take(*keys):
                expected = "AFTER MATCH or PATTERN"
                if keys[0] == "ALL" and len(keys) == 4:
                    expected = f"SHOW EMPTY MATCHES, OMIT EMPTY MATCHES, WITH UNMATCHED ROWS, {expected}"
                cursor.close(expected)
                return rows
        cursor.position = part[0]
        raise cursor.unexpected("PER MATCH", "ONE ROW PER MATCH, or ALL ROWS PER MATCH")

    def _skip(self, part: tuple[int, int] | None, variables: Mapping[str, frozenset[str]]) -> Skip:
        if part is None:
            return Skip(SkipMode.PAST_LAST_ROW)
        cursor = TokenReader(self._tokens, part[0], part[1])
        hint = "write SKIP PAST LAST ROW, SKIP TO NEXT ROW, SKIP TO FIRST a or SKIP TO LAST a"
        found = None
        if cursor.take("SKIP", "PAST", "LAST", "ROW"):
            found = Skip(SkipMode.PAST_LAST_ROW)
        elif cursor.take("SKIP", "TO", "NEXT", "ROW"):
            found = Skip(SkipMode.TO_NEXT_ROW)
        elif cursor.take("SKIP", "TO"):
            first = cursor.looks_at("FIRST") and cursor.position + 1 < cursor.end
            if first or (cursor.looks_at("LAST") and cursor.position + 1 < cursor.end):
                cursor.position += 1
            token = cursor.name("a variable of the pattern")
            if token.name not in variables:
                known = choice_hint(token.name, variables, "its variables are")
                message = f"the pattern has no variable `{token.value}`"
                raise SqlError(UNKNOWN_VARIABLE, message, token.span, known)
            mode = SkipMode.TO_FIRST if first else SkipMode.TO_LAST
            found = Skip(mode, variables[token.name], token.value, token.span)
        if found is None:
            raise cursor.unexpected("SKIP PAST LAST ROW or SKIP TO", hint)
        cursor.close("PATTERN")
        return found

    def _definition(self, reader: ScalarReader, first: int, end: int) -> Definition:
        cursor = TokenReader(self._tokens, first, end)
        token = cursor.name("a variable of the pattern")
        if not cursor.take("AS"):
            raise cursor.unexpected("AS", "DEFINE a AS price > 10")
        if token.name in self._unions:
            message = f"`{token.value}` is a union of variables, which are defined one by one"
            raise SqlError(UNKNOWN_VARIABLE, message, token.span)
        name = self._primary(token)
        return Definition(name, reader.scalar(cursor.position, end, in_define=True), token.span)

    def _length(self, reader: ScalarReader, part: tuple[int, int]) -> timedelta:
        found = reader.length(*part)
        if found.months or found.rest <= timedelta(0):
            span = self._tokens.span(*part)
            raise SqlError(UNREADABLE, "WITHIN takes a length of time above 0, without months", span)
        return found.rest

    # Rules

    def _check_names(self, partition_by: list[tuple[str, Span]], measures: list[RowMeasure]) -> None:
        self._check_twice(partition_by, "`{}` is listed twice")
        named = [(one.name, self._name_place(one)) for one in measures]
        self._check_twice(named, "two columns are named `{}`", partition_by)

    def _name_place(self, measure: RowMeasure) -> Span | None:
        # The name is the next token behind the expression, or the one after AS.
        if measure.at is None:
            return None
        behind = [token for token in self._tokens.tokens if token.start >= measure.at.end][:2]
        return behind[-1].span if behind and behind[0].key == "AS" else behind[0].span if behind else None

    def _check_twice(
        self,
        named: Sequence[tuple[str, Span | None]],
        message: str,
        known: Sequence[tuple[str, Span | None]] = (),
    ) -> None:
        seen = {name.casefold() for name, _ in known}
        for name, span in named:
            if name.casefold() in seen:
                self._add(SqlError(LISTED_TWICE, message.format(name), span))
            seen.add(name.casefold())

    def _check_unmatched(self, pattern: RowPattern, skip: Skip, found: _Ranges) -> None:
        rows = self._tokens.span(found["ROWS PER MATCH"][0] - 2, found["ROWS PER MATCH"][1])
        if exclusion_in(pattern):
            hint = "write ALL ROWS PER MATCH, or leave out `{-` and `-}`"
            message = "rows that a pattern excludes cannot be told from rows of no match"
            self._add(SqlError(INCOMPATIBLE, message, rows, hint))
        if skip.mode in (SkipMode.TO_FIRST, SkipMode.TO_LAST):
            hint = "write AFTER MATCH SKIP PAST LAST ROW"
            message = f"WITH UNMATCHED ROWS does not go together with {skip.mode.value}"
            self._add(SqlError(INCOMPATIBLE, message, rows, hint))
