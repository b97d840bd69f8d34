"""A picture of a few events and of what a query finds among them, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pyarrow as pa

from cer_gpu.checked_query import opened
from cer_gpu.engine.run.options import read_options
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.notebook import SVG, RenderedText
from cer_gpu.printable_text import on_one_line

if TYPE_CHECKING:
    from cer_gpu.api import Query
    from cer_gpu.engine.answers.values import ComplexEvent

MOST_EVENTS = 40
"""Events that a picture has room for."""

SHOWN = 12
"""Answers that are drawn unless more are asked for."""

ROW, TOP, TEXT, CHARACTER = 30, 22, 16, 6.8
"""Heights of an answer, of the first line and of the others, and the width of a character, in pixels."""

STYLE = """text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1d2533;text-anchor:middle}
.type{font-weight:700}.faint{fill:#5b6678}.left{text-anchor:start}
.line{stroke:#c3cad6;stroke-width:1}.bar{stroke:#3f51b5;stroke-width:3;stroke-linecap:round}
.dot{fill:#3f51b5;stroke:none}.event{fill:#5b6678}.page{fill:#ffffff}
@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.faint{fill:#a5aec0}.line{stroke:#454d5c}
.bar{stroke:#9fa8ff}.dot{fill:#9fa8ff}.event{fill:#a5aec0}.page{fill:#1d2533}}"""


@dataclass(frozen=True, slots=True)
class _Bar:
    # An answer: its first and last event, what stands above which event, and what is said beside it.
    start: int
    end: int
    marks: dict[int, str]
    beside: str


def timeline(
    query: Query,
    events: Any,
    order_by: str | None = None,
    type_column: str | None = "type",
    shown: int = SHOWN,
) -> str:
    """Draw a few events side by side, and under them a line for each match from its start to its end.

    A dot on the line is an event that the match marks, with the name of the variable. The distance
    between two events says nothing about the time between them.

    Parameters
    ----------
    query : Query
        A pattern or a rule, from `cer_gpu.compile`.
    events : pyarrow.Table, DataFrame, path, ...
        As for `Query.run`, in the order of time; at most 40 events.
    order_by : str, optional
        The column of time.
    type_column : str or None, default "type"
        The column of the event type; the table may lack it. None: no column tells the type.
    shown : int, default 12
        How many matches are drawn at most; a line of text says how many there are in all.

    Returns
    -------
    str
        An SVG document, the same on every run, for light and dark pages. A notebook shows the picture.

    Raises
    ------
    DataError
        When there are more than 40 events.
    CerError
        As for `Query.run`.

    Examples
    --------
    >>> query = cer_gpu.compile("SELECT * WHERE Buy AS b ; Sell AS s")
    >>> events = pyarrow.table({"type": ["Buy", "News", "Sell"]})
    >>> pathlib.Path("found.svg").write_text(cer_gpu.timeline(query, events))
    """
    events = _few(query, events, order_by, type_column)
    columns = _columns(events, order_by, type_column)
    wide = max((len(text) for column in columns for text in column), default=1)
    step = max(56.0, (wide + 2) * CHARACTER)
    places = [step * (number + 0.5) for number in range(events.num_rows)]
    matches = query.run(events, order_by=order_by, type_column=type_column)
    found = list(islice(matches, shown))
    bars = [_bar(one) for one in found]
    number = query.count(events, order_by=order_by, type_column=type_column)
    said = _said(number, len(found))

    lines, height = _events(columns, places)
    for bar in bars:
        height += ROW
        lines += _drawn(bar, places, height)
    height += TEXT
    lines.append(f'<text class="faint left" x="8" y="{height + 6}">{escape(said)}</text>')
    beside = max((len(bar.beside) for bar in bars), default=0)
    width = max(step * events.num_rows + (beside + 2) * CHARACTER * (beside > 0), (len(said) + 3) * CHARACTER)
    size = f'width="{width:.0f}" height="{height + 18}" viewBox="0 0 {width:.0f} {height + 18}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{escape(said)}</title>'
    page = '<rect class="page" width="100%" height="100%" rx="6"/>'
    return RenderedText.of("\n".join([head, f"<style>{STYLE}</style>", page, *lines, "</svg>", ""]), SVG)


def _few(query: Query, events: Any, order_by: str | None, type_column: str | None) -> pa.Table:
    """The events as a table.

    Raises
    ------
    DataError
        When there are more than a picture has room for.
    """
    there = "more"
    if not isinstance(events, pa.Table):
        source = opened(query.names, events, read_options(order_by=order_by, type_column=type_column))
        read: list[pa.RecordBatch] = []
        for batch in source.batches(source.arrow_schema.names, MOST_EVENTS + 1):
            read.append(batch)
            if sum(map(len, read)) > MOST_EVENTS:
                break
        else:
            return pa.Table.from_batches(read, source.arrow_schema)
    elif events.num_rows <= MOST_EVENTS:
        return events
    else:
        there = f"{events.num_rows:,}"
    raise DataError(f"a timeline has room for {MOST_EVENTS} events, and there are {there}: pass fewer")


def _said(number: int, drawn: int) -> str:
    if number == 0:
        return "no match"
    said = f"{number:,} match{'es' * (number > 1)}"
    return said if drawn == number else f"{said}, of which the first {drawn} are drawn"


def _columns(events: pa.Table, order_by: str | None, type_column: str | None) -> list[list[str]]:
    # The lines of text about each event: its type, its attributes, its time.
    names = [name for name in events.column_names if name not in (type_column, order_by)]
    first = [type_column] if type_column in events.column_names else []
    return [
        [_shown(value) for value in events[name].to_pylist()]
        for name in [*first, *names, *([order_by] if order_by in events.column_names else [])]
    ]


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.time().isoformat() if value.time().second else f"{value:%H:%M}"
    if isinstance(value, float):
        return f"{value:g}"
    return value.isoformat() if isinstance(value, date) else on_one_line(str(value))


def _events(columns: Sequence[Sequence[str]], places: Sequence[float]) -> tuple[list[str], int]:
    lines = []
    for line, column in enumerate(columns):
        kind = "type" if line == 0 else "faint"
        lines += [
            f'<text class="{kind}" x="{x:.1f}" y="{TOP + line * TEXT}">{escape(text)}</text>'
            for x, text in zip(places, column)
        ]
    height = TOP + len(columns) * TEXT
    if places:
        lines.append(
            f'<line class="line" x1="{places[0]:.1f}" x2="{places[-1]:.1f}" y1="{height}" y2="{height}"/>'
        )
    lines += [f'<circle class="event" cx="{x:.1f}" cy="{height}" r="4"/>' for x in places]
    height += TEXT + 2
    lines += [
        f'<text class="faint" x="{x:.1f}" y="{height}">{number}</text>' for number, x in enumerate(places)
    ]
    return lines, height


def _bar(found: ComplexEvent) -> _Bar:
    marks: dict[int, list[str]] = {}
    for variable, positions in found.marks.items():
        for position in positions:
            marks.setdefault(position, []).append(variable)
    for atom, position in enumerate(found.positions or ()):
        marks.setdefault(position, []).append(f"part {atom + 1}")
    said = [*(found.partition or ())]
    said += [f"{name}={_shown(value)}" for name, value in {**(found.values or {}), **found.measures}.items()]
    return _Bar(
        found.start,
        found.end,
        {position: ", ".join(_telling(names)) for position, names in marks.items()},
        ", ".join(map(str, said)),
    )


def _telling(names: Sequence[str]) -> Sequence[str]:
    # An event that a variable marks has the mark of its type, too, which stands above it anyway.
    given = [name for name in names if name[:1].islower()]
    return given or names


def _drawn(bar: _Bar, places: Sequence[float], y: int) -> list[str]:
    start, end = places[bar.start], places[bar.end]
    lines = [f'<line class="bar" x1="{start:.1f}" x2="{end:.1f}" y1="{y}" y2="{y}"/>']
    for position, names in sorted(bar.marks.items()):
        x = places[position]
        lines.append(f'<circle class="dot" cx="{x:.1f}" cy="{y}" r="5"/>')
        lines.append(f'<text x="{x:.1f}" y="{y - 8}">{escape(names)}</text>')
    if bar.beside:
        beside = places[-1] + (places[0])
        lines.append(f'<text class="faint left" x="{beside:.1f}" y="{y + 4}">{escape(bar.beside)}</text>')
    return lines
