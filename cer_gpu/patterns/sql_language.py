"""SQL as its dialects write it: the tokens of a statement, and expressions parsed by sqlglot.

The tokens here tell apart only what a clause is cut by: names, texts, numbers, parentheses. Row patterns have
tokens that no dialect of sqlglot knows, such as `??`, `{-` and `$`; here each character is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.extras import to_install
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.sql_error import UNREADABLE, SqlError
from cer_gpu.printable_text import brief

# Flink and Calcite write names as SQLite does, in back-ticks too, and texts as the standard does.
_READ_AS: Mapping[str, str] = {"flink": "sqlite", "db2": "oracle", "calcite": "sqlite", "athena": "trino"}

_KEPT_PARSERS = ("CAST", "TRY_CAST", "SAFE_CAST", "EXTRACT", "TRIM", "SUBSTRING", "POSITION", "CEIL", "FLOOR")
"""Functions whose arguments have a syntax of their own. All others are read as they stand, in any dialect."""


@dataclass(frozen=True, slots=True)
class SqlToken:
    """A name, a text, a number or a single character.

    Attributes
    ----------
    kind : {"word", "quoted", "string", "number", "symbol"}
        "quoted" is a name in quotes.
    value : str
        Without quotes; of words as the text has it.
    key : str
        What is compared: words in upper case, symbols; of others empty.
    start, end : int
    """

    kind: Literal["word", "quoted", "string", "number", "symbol"]
    value: str
    key: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.start, self.end)

    @property
    def is_name(self) -> bool:
        """Whether it may be a name."""
        return self.kind in ("word", "quoted")

    @property
    def name(self) -> str:
        """A name as SQL compares it: in upper case unless it is in quotes."""
        return self.value.upper() if self.kind == "word" else self.value


class SqlLanguage:
    """A dialect of SQL.

    Parameters
    ----------
    dialect : str or None
        A name that sqlglot knows, or "flink"; None is the standard.

    Attributes
    ----------
    name : str
        In small letters; empty for the standard.
    """

    def __init__(self, dialect: str | None) -> None:
        from sqlglot.dialects.dialect import Dialect

        self.name = (dialect or "").strip().lower()
        self._dialect = Dialect.get_or_raise(_READ_AS.get(self.name, self.name) or None)
        base: Any = self._dialect.parser_class
        kept = {name: read for name, read in base.FUNCTION_PARSERS.items() if name in _KEPT_PARSERS}
        # NEXT VALUE FOR is no expression of a row pattern, and NEXT(x) is one.
        bare = {name: read for name, read in base.NO_PAREN_FUNCTION_PARSERS.items() if name.upper() != "NEXT"}
        unknown = {
            "FUNCTIONS": {},
            "FUNCTION_PARSERS": kept,
            "NO_PAREN_FUNCTIONS": {},
            "NO_PAREN_FUNCTION_PARSERS": bare,
        }
        self._parser = type("RowPatternParser", (base,), unknown)
        self._lexer = _lexer(self._dialect.tokenizer_class)

    def nulls_first(self, descending: bool) -> bool:
        """Where ORDER BY puts nulls if it does not say; last in the standard."""
        ordering = "" if not self.name else self._dialect.NULL_ORDERING
        if ordering == "nulls_are_small":
            return not descending
        return descending and ordering == "nulls_are_large"

    def tokens(self, text: str) -> Iterator[SqlToken]:
        """The tokens of a text, without comments.

        Raises
        ------
        SqlError
            When a text, a name or a comment is not closed.
        """
        position = 0
        while position < len(text):
            found = self._lexer.match(text, position)
            if found is None:
                raise SqlError("CER003", "this is not closed", Span(position, len(text)))
            kind, raw = found.lastgroup, found[0]
            if kind == "word":
                yield SqlToken("word", raw, raw.upper(), position, found.end())
            elif kind in ("quoted", "string"):
                close = raw[-1]
                value = raw[1:-1].replace(close * 2, close)
                yield SqlToken("quoted" if kind == "quoted" else "string", value, "", position, found.end())
            elif kind == "dollars":
                yield SqlToken("string", raw[2:-2], "", position, found.end())
            elif kind == "number":
                yield SqlToken("number", raw, "", position, found.end())
            elif kind == "symbol":
                yield SqlToken("symbol", raw, raw, position, found.end())
            position = found.end()

    def parsed(self, text: str, start: int) -> Any:
        """The syntax tree of sqlglot for an expression.

        Parameters
        ----------
        text : str
            The expression alone.
        start : int
            Where it stands in the statement.

        Raises
        ------
        SqlError
            When it cannot be read.
        """
        from sqlglot import exp
        from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

        try:
            tokens = self._dialect.tokenize(text)
            parser = self._parser(
                error_level=ErrorLevel.IMMEDIATE, error_message_context=len(text) + 1, dialect=self._dialect
            )
            found = parser.parse_into(exp.Condition, tokens, text)
        except ParseError as error:
            # With so much context, what stands before the place is all of the text before it.
            first = error.errors[0] if error.errors else {}
            place = start + len(first.get("start_context") or "")
            length = len(first.get("highlight") or "") or 1
            raise self._unreadable(text, start, Span(place, place + length)) from None
        except RecursionError:
            raise
        except SqlglotError:
            raise self._unreadable(text, start, Span(start, start + len(text))) from None
        if len(found) != 1 or found[0] is None:
            raise self._unreadable(text, start, Span(start, start + len(text)))
        return found[0]

    def statement(self, text: str) -> Any:
        """The syntax tree of sqlglot for a SELECT around MATCH_RECOGNIZE, or for one that it reads.

        Raises
        ------
        QueryError
            When it cannot be read.
        """
        from sqlglot import parse_one
        from sqlglot.errors import ParseError, SqlglotError

        try:
            return parse_one(text, read=self._dialect)
        except SqlglotError as error:
            first = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
            place = f" at {brief(first['highlight'])}" if first.get("highlight") else ""
            message = f"the SELECT around MATCH_RECOGNIZE cannot be read{place}"
            failed = SqlError(UNREADABLE, message, None, self._dialect_hint)
            raise QueryError([failed.diagnostic], text) from None

    def with_columns(self, text: str, table: str, names: Sequence[str]) -> str:
        """A SELECT with other columns, unless it does more than to choose rows of a table by WHERE.

        Raises
        ------
        QueryError
            When it does.
        """
        from sqlglot import exp

        select = self.statement(text)
        used = {name for name, part in select.args.items() if part}
        source = select.args.get("from_") or select.args.get("from")
        if (
            not isinstance(select, exp.Select)
            or source is None
            or source.this.name != table
            or used - CHOOSING
        ):
            what = "a backtest counts matches, and this SELECT around MATCH_RECOGNIZE does more"
            hint = "leave out joins, GROUP BY, DISTINCT and LIMIT: SELECT * FROM ... WHERE ... is counted"
            raise QueryError([Diagnostic(UNREADABLE, what, None, hints=(hint,))], text)
        select.set("expressions", [exp.column(name, quoted=True) for name in names])
        select.set("order", None)
        return str(select.sql(dialect=self._dialect))

    @property
    def _dialect_hint(self) -> str:
        return "" if self.name else "if this is no standard SQL, name its dialect: dialect='snowflake'"

    def _unreadable(self, text: str, start: int, span: Span) -> SqlError:
        shown = text[span.start - start : span.end - start].strip()
        if not shown:
            return SqlError(UNREADABLE, "the expression ends too early", Span(start, start + len(text)))
        message = f"the expression cannot be read at {brief(shown)}"
        return SqlError(UNREADABLE, message, span, self._dialect_hint)


CHOOSING = frozenset(["expressions", "from", "from_", "where", "order", "hint"])
"""Parts of a SELECT that chooses rows of one table."""


@cache
def _language(dialect: str | None) -> SqlLanguage:
    return SqlLanguage(dialect)


def language_of(dialect: str | None, text: str) -> SqlLanguage:
    """A dialect of SQL by its name.

    Parameters
    ----------
    dialect : str or None
    text : str
        The statement, for the error that sqlglot is not installed.

    Raises
    ------
    QueryError
        When sqlglot is not installed.
    ValueError
        When there is no such dialect.
    """
    try:
        return _language(dialect)
    except ImportError:
        hint = to_install("sql")
        message = "SQL is read by sqlglot, which is not installed"
        raise QueryError([Diagnostic(UNREADABLE, message, None, hints=(hint,))], text) from None
    except ValueError:
        names = "oracle, snowflake, trino, flink, duckdb, spark, databricks, bigquery, postgres"
        raise ValueError(f"there is no dialect {brief(dialect)}; some are {names}") from None


def _lexer(tokenizer: Any) -> re.Pattern[str]:
    """Tokens of a dialect as a regular expression: its quotes, comments and escapes are those of sqlglot."""
    names = [_ends(one) for one in tokenizer.IDENTIFIERS]
    opening = {begin for begin, _ in names}
    escaped = "\\" in tokenizer.STRING_ESCAPES
    texts = [ends for ends in map(_ends, tokenizer.QUOTES) if ends[0] not in opening and len(ends[0]) == 1]
    doubled = set(tokenizer.STRING_ESCAPES) - {"\\"}
    alternatives = [
        r"(?P<blank>\s+)",
        *(
            f"{re.escape(begin)}[^\n]*" if begin == end else rf"{re.escape(begin)}[\s\S]*?{re.escape(end)}"
            for begin, end in map(_ends, tokenizer.COMMENTS)
        ),
        f"(?P<quoted>{'|'.join(_enclosed(begin, end, True, False) for begin, end in names)})",
        f"(?P<string>{'|'.join(_enclosed(b, e, e in doubled, escaped) for b, e in texts)})",
    ]
    if tokenizer.HEREDOC_STRINGS or "$$" in tokenizer.RAW_STRINGS:
        alternatives.append(r"(?P<dollars>\$\$[\s\S]*?\$\$)")
    begins = "".join(sorted({re.escape(one[0]) for one in (*opening, *(begin for begin, _ in texts))}))
    alternatives += [
        r"(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)",
        r"(?P<word>[^\W\d]\w*)",
        rf"(?P<symbol>(?!/\*)[^\s{begins}])",
    ]
    return re.compile("|".join(alternatives))


def _ends(quotes: Any) -> tuple[str, str]:
    return (quotes, quotes) if isinstance(quotes, str) else (quotes[0], quotes[1])


def _enclosed(begin: str, end: str, doubled: bool, escaped: bool) -> str:
    close = re.escape(end)
    inside = [rf"[^{close}\\]", r"\\[\s\S]"] if escaped else [f"[^{close}]"]
    if doubled:
        inside.append(close * 2)
    return f"{re.escape(begin)}(?:{'|'.join(inside)})*{close}"
