"""Checking a query: all errors and notes at once, with and without a schema (section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cer_gpu.errors import Diagnostic, Span
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.measures import MeasureChecker
from cer_gpu.language.names import NameChecker
from cer_gpu.language.patterns import PatternChecker
from cer_gpu.language.printer import window_text
from cer_gpu.language.rule_check import RuleChecker
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.language.scope import dropped, marks
from cer_gpu.language.times import TimeChecker
from cer_gpu.language.walk import is_one_event, nodes
from cer_gpu.language.words import leading, trailing, written, written_variable


def check(statement: t.Statement, schema: Schema | None = None) -> tuple[Diagnostic, ...]:
    """Everything that is wrong or suspicious about a query or a rule, in the order of the text.

    Parameters
    ----------
    statement : SelectQuery or Rule
    schema : Schema or None
        The event types and attributes of the data. Without it only names of variables, types of constants,
        regular expressions and intervals are checked.

    Returns
    -------
    tuple of Diagnostic
        Errors and notes; a statement without errors is well-formed in the sense of section 5.
    """
    findings = Findings()
    names = NameChecker(schema, findings)
    times = TimeChecker(schema, findings)
    if isinstance(statement, t.Rule):
        RuleChecker(names, findings).check(statement)
    else:
        PatternChecker(names, times, findings).check(statement.pattern)
        _check_select(statement, names, findings)
        MeasureChecker(statement, names, findings).check()
        _check_streams(statement, names)
        _check_partition(statement, names, findings)
        _check_limit(statement, findings)
        _check_reach(statement, findings)
        if statement.suppress is not None:
            times.check_suppressed(statement.suppress.length)
    if statement.window is not None:
        _check_window(statement.window, names, times)
    if schema is not None and schema.categories:
        from cer_gpu.language.categories import CategoryChecker, orders_in  # few columns have them

        CategoryChecker(orders_in(statement, schema), findings).check(statement)
    if schema is not None and schema.zones:
        from cer_gpu.language.times import note_clock_times  # few columns have a zone

        note_clock_times(statement, schema, findings)
    return findings.sorted()


def _check_limit(query: t.SelectQuery, findings: Findings) -> None:
    if query.limit is not None and query.limit < 0:
        span = query.places.limit if query.places else None
        findings.error("CER041", "LIMIT is negative", span, "LIMIT 0 reports nothing")


def _check_reach(query: t.SelectQuery, findings: Findings) -> None:
    """Note a clause that bounds no match of one event, and was probably meant for something else."""
    pattern, window = query.pattern, query.window
    if query.limit is not None and query.limit > 0 and is_one_event(pattern, t.OtherEvent):
        findings.note(
            "CER111",
            "LIMIT has no effect here: it limits the matches that end at one event, and here that is at most "
            "one",
            query.places.limit if query.places else None,
            f"for the first {query.limit} matches use head({query.limit}), or --limit {query.limit} in the "
            "shell",
        )
    while isinstance(pattern, t.Filter | t.As):
        pattern = pattern.pattern
    if window is None or window.kind == "attribute" or not isinstance(pattern, t.Beside):
        return
    if pattern.interval is None and is_one_event(pattern.left, t.OtherEvent):
        findings.note(
            "CER111",
            f"WITHIN has no effect here: each match is one event, and {pattern.words} has no bound",
            window.span,
            f"bound the time like this: `{pattern.words} [<= {window_text(window)}]`",
        )


def _check_select(query: t.SelectQuery, names: NameChecker, findings: Findings) -> None:
    known = marks(query.pattern)
    hidden = dropped(query.pattern)
    seen: set[str] = set()
    for item in query.select or ():
        shown = written_variable(item.variable)
        if item.variable in seen:
            listed = [
                name for one in query.select or () if one.variable == item.variable for name in one.attributes
            ]
            inside = ", ".join(map(written, dict.fromkeys(listed)))
            hint = f"write it once: `{shown}[{inside}]`" if inside else "name it once"
            findings.error("CER025", f"`{shown}` is selected twice", item.span, hint)
        seen.add(item.variable)
        span = leading(item.span, item.variable)
        if item.variable not in known:
            if item.variable in hidden:
                findings.note("CER103", f"PROJECT drops `{shown}`: it selects nothing", span)
            elif item.span is not None or not query.measures:  # the check of measures reports theirs
                names.unknown_variable(item.variable, known, query.pattern, span)
            continue
        counts = Counter(item.attributes)
        for attribute, place in zip(item.attributes, _places(item.places, len(item.attributes))):
            names.check_returned(attribute, item.variable, known[item.variable], place)
            if counts[attribute] > 1:
                message = f"`{written(attribute)}` is selected twice"
                findings.error("CER025", message, item.places[-1] if item.places else None)


def _places(places: Sequence[Span | None], count: int) -> Sequence[Span | None]:
    return places or [None] * count


def _check_streams(query: t.SelectQuery, names: NameChecker) -> None:
    places = query.places.streams if query.places else ()
    for stream, place in zip(query.streams, _places(places, len(query.streams))):
        names.check_stream(stream, (), place)
    for event in _events(query.pattern):
        if event.stream is not None:
            names.check_stream(event.stream, query.streams, event.span)


def _events(pattern: t.Pattern) -> Iterator[t.EventType]:
    for node in nodes(pattern):
        if isinstance(node, t.EventType | t.OtherEvent):
            yield node if isinstance(node, t.EventType) else node.type


def _check_partition(query: t.SelectQuery, names: NameChecker, findings: Findings) -> None:
    all_places = query.places.partition if query.places else ()
    types = {event for event in _events(query.pattern) if names.knows(event)}
    for index, part in enumerate(query.partition):
        places = _places(all_places[index] if all_places else (), len(part))
        kinds: dict[ValueType, str] = {}
        for attribute, place in zip(part, places):
            kind = names.check_column(attribute, place)
            if kind is not None:
                kinds.setdefault(kind, attribute)
        if len(kinds) > 1:
            what = " and ".join(f"`{written(name)}` is {kind.value}" for kind, name in kinds.items())
            findings.error(
                "CER036",
                f"the alternatives of one part of the key must have one type: {what}",
                places[-1],
                "cast one of the columns, or make them two parts of the key: `PARTITION BY a, b`",
            )
        if names.schema is None or not kinds:
            continue
        for event in sorted(types, key=lambda one: one.name):
            if not names.schema.attributes_of(event.name) & set(part):
                missing = " or ".join(f"`{written(name)}`" for name in part)
                findings.note(
                    "CER105",
                    f"`{written(event.name)}` has no {missing}: its events belong to no partition"
                    " and are skipped",
                    places[0],
                )


def _check_window(window: t.Window, names: NameChecker, times: TimeChecker) -> None:
    if window.kind == "attribute" and window.attribute is not None:
        # `n [attribute]`: the name ends before the bracket.
        span = window.span
        place = None if span is None else trailing(Span(span.start, span.end - 1), window.attribute)
        times.check_distance(window.attribute, names.check_column(window.attribute, place), place)
    times.check_window(window)
