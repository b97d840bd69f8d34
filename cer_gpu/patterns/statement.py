"""Reads a SELECT with MATCH_RECOGNIZE: `read_statement`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.language.parameters import unknown
from cer_gpu.patterns.clause_parser import ClauseParser
from cer_gpu.patterns.clause_source import SourceFinder
from cer_gpu.patterns.sql_error import UNREADABLE, SqlError
from cer_gpu.patterns.sql_language import language_of
from cer_gpu.patterns.sql_literals import literal_text, parameter_value
from cer_gpu.patterns.sql_tokens import SqlTokens
from cer_gpu.patterns.tree import RowPatternStatement
from cer_gpu.printable_text import brief


def read_statement(
    text: str, dialect: str | None = None, params: Mapping[str, Any] | None = None
) -> RowPatternStatement:
    """Read a SELECT over one or more MATCH_RECOGNIZE.

    Parameters
    ----------
    text : str
    dialect : str or None
        How the SQL is written: a name that sqlglot knows, such as "oracle", "snowflake", "trino" or "duckdb",
        or "flink". None is the standard.
    params : mapping of str to object, optional
        Values of the parameters, which are written `$name`.

    Returns
    -------
    RowPatternStatement
        Its columns are those of the text; `resolved` finds them among those of a table.

    Raises
    ------
    QueryError
        With all that is wrong: the text is not SQL, a rule of SQL is broken, or something is asked for that
        cannot be computed here.
    ValueError
        When there is no such dialect.
    """
    language = language_of(dialect, text)
    errors: list[Diagnostic] = []
    try:
        tokens = SqlTokens(text, language)
        _check_alone(tokens)
        parameters = _parameters(tokens, params or {}, errors)
        # Names of no SQL in place of parameters, as long as these.
        finder = SourceFinder(tokens, {place: literal_text(value) for place, value in parameters.items()})
        clauses = []
        for number in range(len(tokens)):
            if tokens.key(number) == "MATCH_RECOGNIZE" and tokens.key(number + 1) == "(":
                parser = ClauseParser(tokens, language, parameters, finder.found(number), errors)
                clauses.append(parser.clause(number + 1))
        if not clauses:
            hint = "SELECT * FROM trades MATCH_RECOGNIZE (PATTERN (a b+) DEFINE b AS price > PREV(price))"
            raise SqlError(UNREADABLE, "there is no MATCH_RECOGNIZE", None, hint)
    except SqlError as error:
        errors.append(error.diagnostic)
    if errors:
        raise QueryError(sorted(errors, key=lambda one: one.span or Span(0, 0)), text)
    return RowPatternStatement(text, tuple(clauses), finder.outer(), finder.tables)


def parameter_names(text: str, dialect: str | None = None) -> tuple[str, ...]:
    """The parameters of a statement, without `$`, in the order of the text.

    Raises
    ------
    QueryError
        When the text cannot be read.
    ValueError
        When there is no such dialect.
    """
    try:
        tokens = SqlTokens(text, language_of(dialect, text))
    except SqlError as error:
        raise QueryError([error.diagnostic], text) from None
    return tuple(dict.fromkeys(name for name, _ in _written_parameters(tokens)))


def _check_alone(tokens: SqlTokens) -> None:
    """Check that there is one statement, and that it is a SELECT.

    Raises
    ------
    SqlError
        Where another one begins.
    """
    ends = [number for number in tokens.outermost(0, len(tokens)) if tokens.key(number) == ";"]
    if ends and ends[0] + 1 < len(tokens):
        span = tokens.tokens[ends[0] + 1].span
        raise SqlError(UNREADABLE, "another statement begins here", span, "run one SELECT at a time")
    if len(tokens) and tokens.key(0) not in ("SELECT", "WITH", "(", "MATCH_RECOGNIZE"):
        span = tokens.tokens[0].span
        raise SqlError(UNREADABLE, "only a SELECT can be run", span, "give the SELECT alone")


def _parameters(tokens: SqlTokens, given: Mapping[str, Any], errors: list[Diagnostic]) -> dict[int, Any]:
    """The values of parameters by the character where each stands."""
    found: dict[int, Any] = {}
    names: dict[str, None] = {}
    for name, span in _written_parameters(tokens):
        known = name in names
        names[name] = None
        found[span.start] = None
        if name not in given:
            hint = f"pass it: params={{'{name}': ...}} (--param {name}=...)"
            if not known:
                message = f"the parameter `${name}` has no value"
                errors.append(Diagnostic("CER064", message, span, hints=(hint,)))
            continue
        value = parameter_value(given[name])
        if value is NotImplemented:
            hint = "it is a number, a text, a bool, a time, a length of time or None"
            message = f"the value of `${name}`, {brief(given[name])}, does not fit its place"
            errors.append(Diagnostic("CER066", message, span, hints=(hint,)))
            continue
        found[span.start] = value
    errors += unknown(names, given, "statement", "price > $limit")
    return found


def _written_parameters(tokens: SqlTokens) -> Iterator[tuple[str, Span]]:
    """Each place where a parameter stands, with its name."""
    for token, behind in zip(tokens.tokens, tokens.tokens[1:], strict=False):
        if token.key != "$" or behind.kind != "word" or behind.start != token.end:
            continue
        before = tokens.text[token.start - 1] if token.start else ""
        if not before.isalnum() and before not in ("_", "$"):
            yield behind.value, Span(token.start, behind.end)
