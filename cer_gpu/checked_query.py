"""A query checked against events: its findings, their schema, and the source that is opened for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.run.options import Options, read_options, spelled
from cer_gpu.errors import Diagnostic, LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.check import check as check_query
from cer_gpu.language.names import unknown_type
from cer_gpu.language.parser import parse
from cer_gpu.language.schema import Schema
from cer_gpu.language.walk import names_in, streams_of, walk
from cer_gpu.plan.assumed_types import with_empty_columns
from cer_gpu.plan.leaves import RoleColumns
from cer_gpu.plan.lower import check_engine
from cer_gpu.plan.outline import outline
from cer_gpu.plan.planning.planner import plan
from cer_gpu.plan.refusals import never_answers
from cer_gpu.progress import shown_together

if TYPE_CHECKING:
    from cer_gpu.engine.answers.notes import Notes
    from cer_gpu.engine.read.sources.source import Source
    from cer_gpu.engine.run.options import ReadKeywords

COMMON = ("CER101",)
"""Notes on what many queries mean to do, so that no warning is given of it: a name on both sides of `;`."""


@spelled(read_options)
def check(text: str, events: Any = None, **keywords: Unpack[ReadKeywords]) -> tuple[Diagnostic, ...]:
    """List everything that is wrong or odd about a query; keywords as in `Query.run`.

    Unlike `compile(text).check(...)`, it also checks a wrong query against the data.

    Parameters
    ----------
    text : str
        The query or rule.
    events : object, optional
        As in `Query.check`.

    Returns
    -------
    tuple of Diagnostic
        Errors and notes; empty when there are none.

    Raises
    ------
    QueryError
        When the text cannot be parsed as a query.
    DataError
        When the events cannot be read, or lack the column of types or streams that the query needs.
    """
    return checked(parse(text), text, events, keywords)


def checked(query: tree.Statement, text: str, events: Any, keywords: ReadKeywords) -> tuple[Diagnostic, ...]:
    """All findings about a query, also those that only its events show; keywords as in `Query.run`."""
    asked = read_options(**keywords)
    check_engine(asked.engine)
    if events is None:
        query = _with_values(query, asked.params, None, text)
        return _with_planned(query, check_query(query, None), asked.engine)
    with shown_together():
        return _checked_on(query, text, events, asked)


def _with_values(
    query: tree.Statement, given: Mapping[str, Any] | None, schema: Schema | None, text: str
) -> tree.Statement:
    """A query with the values of its parameters, where some are given."""
    if not given:
        return query
    from cer_gpu.language.parameters import check_given, parameters, with_values

    check_given(parameters(query), given, text)
    return with_values(query, given, schema, text)


def _checked_on(query: tree.Statement, text: str, events: Any, asked: Options) -> tuple[Diagnostic, ...]:
    source = opened(names_in(query), events, asked)
    schema = schema_of(query, source, asked)
    query = _with_values(query, asked.params, schema, text)
    if schema.types is None:
        occurring = source.scan_event_types()
        if occurring is not None:
            attributes = frozenset(schema.attributes)
            schema = replace(schema, types=dict.fromkeys(sorted(occurring), attributes))
    found = [_with_attribute_hint(one, query, source) for one in check_query(query, schema)]
    findings = _with_planned(query, tuple(found), asked.engine)
    if all(finding.severity != "error" for finding in findings):
        check_roles(query, source)
    return findings


def _with_attribute_hint(finding: Diagnostic, query: tree.Statement, source: Source) -> Diagnostic:
    """A finding about an unknown type that FROM names, with a hint that the column of types may be none."""
    streams = streams_of(query)
    if finding.code != "CER020" or len(streams) != 1 or source.source_column or not source.has_type_column:
        return finding
    if finding.message != unknown_type(streams[0]):
        return finding
    # A query that is only checked opens no source.
    from cer_gpu.engine.read.sources.source import no_such_type

    return replace(finding, hints=(*finding.hints, no_such_type(source.type_column, streams[0])))


def _with_planned(
    query: tree.Statement, findings: tuple[Diagnostic, ...], engine: str
) -> tuple[Diagnostic, ...]:
    """The findings and, for a query without errors, what its plan on an engine says."""
    if any(finding.severity == "error" for finding in findings):
        return findings
    try:
        if plan(outline(query, ""), None, RoleColumns(stream="stream"), engine).never:
            findings += (never_answers(query),)
    except QueryError as error:
        findings += tuple(error.diagnostics)
    except LimitError:
        pass  # nothing is wrong with the query; compiling it says what to change
    return findings


def check_roles(query: tree.Statement, source: Source) -> None:
    """Refuse events without the column of types or streams that the query needs."""
    atoms = [node for node in walk(query) if isinstance(node, tree.EventType)]
    source.check_types(frozenset(atom.name for atom in atoms), streams_of(query))
    streams = frozenset(atom.stream for atom in atoms if atom.stream is not None)
    source.check_streams(streams and streams.union(streams_of(query)))


def schema_of(query: tree.Statement, source: Source, asked: Options) -> Schema:
    """The event types, attributes and time column of some events, which a query is checked against."""
    schema = with_empty_columns(source.language_schema(asked.order_unit), query)
    streams = streams_of(query)
    if source.has_type_column or len(streams) != 1:
        return schema
    # Events without a type are all of the type that FROM names (language section 1).
    return replace(schema, types={streams[0]: frozenset(schema.attributes)}, common_type=streams[0])


def opened(names: frozenset[str], events: Any, asked: Options) -> Source:
    """Open events as a source, for queries in which these names occur."""
    from cer_gpu.engine.read.sources.open_source import open_source

    with within_memory("opening the events"):
        return open_source(
            events,
            order_by=asked.order_by,
            type_column=asked.type_column,
            stream_column=asked.stream_column,
            sort=asked.sort,
            names=names,
            text=asked.text,
            late=asked.late,
            on_late=asked.on_late,
            order_unit=asked.order_unit,
            nan_is_null=asked.nan_is_null,
        )


def raise_errors(found: Sequence[Diagnostic], text: str) -> None:
    """Raise a QueryError with all errors among some findings, if there are any."""
    errors = [finding for finding in found if finding.severity == "error"]
    if errors:
        raise QueryError(errors, text)


def say_findings(found: Sequence[Diagnostic], notes: Notes) -> None:
    """Say each finding about a query as a note of its run, with its first hint."""
    for finding in found:
        hint = f"; {finding.hints[0]}" if finding.hints else ""
        notes.say(f"{finding.message}{hint}", finding.code not in COMMON)
