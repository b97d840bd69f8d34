"""Errors and notes about a query: as data, as text with the place in the query, and the table of codes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from cer_gpu.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters `[start, end)` in the text of a query."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a query: something that is wrong or odd.

    Attributes
    ----------
    code : str
        `CER` and three digits, such as "CER021"; a code always means the same. `CODES` lists them.
    message : str
        What is wrong, in one line, without a full stop.
    span : Span or None
        Where in the text of the query; None when the finding is about the whole query.
    severity : {"error", "note"}
        "note" is about something that is allowed, but may not be what was meant.
    hints : tuple of str
        What to do about it; each is shown as a line `= help: ...`.
    """

    code: str
    message: str
    span: Span | None = None
    severity: str = "error"
    hints: tuple[str, ...] = field(default=())


CODES: Mapping[str, str] = {
    # Syntax
    "CER001": "something else is expected here",
    "CER002": "a character without a meaning",
    "CER003": "a string, a name or a comment is not closed",
    "CER004": "a parenthesis, bracket or brace has no partner",
    "CER005": "a number does not fit",
    "CER006": "the query nests too deeply",
    "CER007": "more findings than are shown",
    "CER008": "a clause is repeated or out of order",
    "CER009": "a name that cannot be used",
    # Forms
    "CER010": "an attribute of no variable in FILTER",
    "CER011": "a variable inside the brackets of another",
    "CER012": "a test of more than one event",
    "CER013": "NOT of more than one event",
    "CER014": "not an interval",
    "CER015": "not a unit of time",
    "CER016": "a window that does not say what it measures",
    "CER017": "LIMIT is not a whole number",
    "CER018": "a set or a range without values",
    "CER019": "not a number of repetitions",
    # Names
    "CER020": "unknown event type",
    "CER021": "unknown attribute",
    "CER022": "unknown variable",
    "CER023": "unknown stream",
    "CER024": "a column whose type the language cannot use",
    "CER025": "a name is listed twice",
    "CER026": "a pattern that may match no event",
    "CER027": "PRIOR or BEFORE without an iteration around it",
    "CER028": "unknown function",
    "CER029": "a function of a value that it does not take",
    # Types
    "CER030": "arithmetic on values that are not numbers or times",
    "CER031": "values of these types cannot be compared",
    "CER032": "a comparison of attributes of different types",
    "CER033": "LIKE on a value that is not a string",
    "CER034": "not a regular expression",
    "CER035": "not a timestamp",
    "CER036": "the alternatives of a key differ in type",
    "CER037": "not what an aggregate takes",
    "CER038": "not a measure",
    "CER039": "categories that cannot be compared by their order",
    # Amounts and time
    "CER040": "an empty interval",
    "CER041": "a negative amount",
    "CER042": "an interval of mixed units",
    "CER043": "a window over a column that cannot be measured",
    "CER044": "time without a column of time",
    "CER045": "the unit of a plain-number time is not known",
    # LIKE
    "CER107": "a per cent sign in LIKE",
    # Rules
    "CER046": "a part of a rule with attributes by position and by name",
    "CER047": "not a variable or a constant",
    "CER048": "not an aggregate",
    "CER049": "a part of a rule with the wrong number of terms",
    "CER050": "one variable for values of different types",
    "CER051": "an attribute where a variable of the rule belongs",
    "CER052": "a rule without event types",
    "CER053": "a comparison without a variable",
    "CER054": "no match is possible",
    # Parameters
    "CER064": "a parameter without a value",
    "CER065": "a value for a parameter that is not there",
    "CER066": "a value that a parameter cannot have",
    # Evaluation
    "CER091": "a query that the engine asked for does not take",
    # Views
    "CER095": "something that a view cannot keep",
    "CER096": "SQL that cannot be a view",
    # MATCH_RECOGNIZE
    "CER115": "SQL that cannot be read",
    "CER116": "a navigation in a place where SQL has none",
    "CER117": "an expression that a row pattern cannot compute",
    "CER118": "options that exclude each other",
    # Notes
    "CER101": "a name on both sides of an operator",
    "CER102": "a name that marks no event",
    "CER103": "a variable that PROJECT drops",
    "CER104": "an attribute that only some event types have",
    "CER105": "an event type that lacks the partition key",
    "CER106": "an empty range",
    "CER108": "an underscore in several places",
    "CER109": "a repetition without its smaller number",
    "CER110": "a comparison of a value with itself",
    "CER111": "a clause that bounds nothing",
    "CER112": "a time that no clock showed, or that was shown twice",
    "CER113": "categories that are compared as text",
    "CER114": "an aggregate of one event",
}
"""Every code with its title. A code is never used again for something else."""

NOT_TAKEN = "CER091"
"""The code of what the engine that was asked for cannot do, and another can."""


LINE = 240
"""Characters of a line of the query that are shown at most."""

MESSAGE = 1_000
"""Characters of a message, and of a hint, that are shown at most."""

SHOWN = 20
"""Findings that are reported one by one; of the others only their number is."""


def render(diagnostic: Diagnostic, text: str) -> str:
    """A diagnostic as text, with the line of the query that it is about.

    Parameters
    ----------
    diagnostic : Diagnostic
    text : str
        The query.

    Returns
    -------
    str
        Several lines, without a line end after the last. Columns count characters from 1; characters that
        do not print are shown as a replacement character, tabs as four spaces. A long line is cut to the
        characters around the place, a long message to its beginning and end.
    """
    lines = [f"{diagnostic.severity}[{diagnostic.code}]: {_said(diagnostic.message)}"]
    margin = "  "
    if diagnostic.span is not None:
        place = _Place(diagnostic.span, text)
        number = str(place.line)
        margin = " " * (len(number) + 1)
        lines += [
            f"{' ' * len(number)}--> query:{place.line}:{place.column}",
            f"{margin}|",
            f"{number} | {place.source}".rstrip(),
            f"{margin}| {place.carets}",
        ]
    lines += [f"{margin}= help: {_said(hint)}" for hint in diagnostic.hints]
    return "\n".join(lines)


def more_than_shown(hidden: Sequence[Diagnostic]) -> Diagnostic:
    """A finding that says how many findings are not shown."""
    errors = sum(one.severity == "error" for one in hidden)
    count = f"{len(hidden):,} more {'finding is' if len(hidden) == 1 else 'findings are'} not shown"
    return Diagnostic("CER007", count, None, "error" if errors else "note")


def render_all(diagnostics: Iterable[Diagnostic], text: str) -> str:
    """Diagnostics as text, with an empty line between them: the first 20, and how many more there are."""
    given = tuple(diagnostics)
    shown = given if len(given) <= SHOWN + 1 else (*given[:SHOWN], more_than_shown(given[SHOWN:]))
    return "\n\n".join(render(diagnostic, text) for diagnostic in shown)


class _Place:
    # The first line of a span, as it is shown, and the carets under it.

    def __init__(self, span: Span, text: str) -> None:
        start = min(max(span.start, 0), len(text))
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", first)
        line = text[first : len(text) if last < 0 else last]
        end = min(max(span.end, start), first + len(line))
        self.line = text.count("\n", 0, first) + 1
        self.column = start - first + 1
        line = line.removesuffix("\r")
        # What is shown of a long line: a third of it before the place, if there is as much.
        left, right = 0, len(line)
        if right > LINE:
            left = min(max(start - first - LINE // 3, 0), right - LINE)
            right = left + LINE
        before, after = "..." if left else "", "..." if right < len(line) else ""
        self.source = before + _printable(line[left:right]) + after
        indent = len(before) + _width(line[left : start - first])
        self.carets = " " * indent + "^" * max(1, _width(line[start - first : min(end - first, right)]))


def _said(text: str) -> str:
    if len(text) > MESSAGE:
        text = f"{text[: MESSAGE // 2]} ... {text[-MESSAGE // 4 :]}"
    return _printable(text)


def _width(text: str) -> int:
    # How many columns of a terminal the text takes once it is made printable.
    columns = 0
    for character in _printable(text):
        if unicodedata.combining(character):
            continue
        columns += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
    return columns


def _printable(text: str) -> str:
    return "".join(
        "    " if character == "\t" else character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )
