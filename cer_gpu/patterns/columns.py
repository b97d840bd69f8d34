"""The columns of a clause among those of a table: `resolved`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.patterns.sql_error import LISTED_TWICE, UNKNOWN_COLUMN, choice_hint
from cer_gpu.patterns.tree import (
    Field,
    Navigation,
    Operation,
    RowAggregate,
    RowPatternClause,
    RowsPerMatch,
    Scalar,
)
from cer_gpu.printable_text import name_text


def resolved(clause: RowPatternClause, names: Sequence[str], text: str = "") -> RowPatternClause:
    """A clause whose columns have the names of a table.

    Parameters
    ----------
    clause : RowPatternClause
    names : sequence of str
        The columns of what it reads. A column is the one of exactly this name, otherwise the one whose name
        differs in the case of letters alone.
    text : str
        The statement, for the places of errors.

    Raises
    ------
    QueryError
        When there is no such column, or several differ in case alone.
    """
    finder = _ColumnFinder(names)
    partition_by = tuple(finder.name(one, _partition_place(clause, one, text)) for one in clause.partition_by)
    order_by = tuple(replace(key, column=finder.name(key.column, key.at)) for key in clause.order_by)
    measures = tuple(replace(one, expression=renamed(one.expression, finder.name)) for one in clause.measures)
    definitions = tuple(
        replace(one, condition=renamed(one.condition, finder.name)) for one in clause.definitions
    )
    if clause.rows is not RowsPerMatch.ONE:
        known = {name.casefold(): name for name in names}
        for one in clause.measures:
            if one.name.casefold() in known:
                finder.errors.append(
                    Diagnostic(
                        LISTED_TWICE,
                        f"two columns are named `{name_text(one.name)}`: ALL ROWS PER MATCH has the table's",
                        one.at,
                        hints=("give the measure another name",),
                    )
                )
    if finder.errors:
        raise QueryError(sorted(finder.errors, key=lambda one: one.span or Span(0, 0)), text)
    return replace(
        clause, partition_by=partition_by, order_by=order_by, measures=measures, definitions=definitions
    )


def renamed(scalar: Scalar, name: Callable[[str, Span | None], str]) -> Any:
    """An expression whose columns have other names.

    Parameters
    ----------
    scalar : Scalar
    name : callable
        Gives the new name of a column, and is told where it stands.
    """
    match scalar:
        case Field():
            return replace(scalar, name=name(scalar.name, scalar.at))
        case Operation():
            return replace(scalar, operands=tuple(renamed(one, name) for one in scalar.operands))
        case Navigation():
            return replace(scalar, expression=renamed(scalar.expression, name))
        case RowAggregate(expression=expression) if expression is not None:
            return replace(scalar, expression=renamed(expression, name))
        case _:
            return scalar


class _ColumnFinder:
    # Finds columns by their names, and keeps what is wrong.

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._exact = set(names)
        self._alike: dict[str, list[str]] = {}
        for name in dict.fromkeys(names):
            self._alike.setdefault(name.casefold(), []).append(name)
        self.errors: list[Diagnostic] = []
        self._told: set[tuple[str, Span | None]] = set()

    def name(self, name: str, at: Span | None) -> str:
        if name in self._exact:
            return name
        alike = self._alike.get(name.casefold(), [])
        if len(alike) == 1:
            return alike[0]
        if (name, at) not in self._told:
            self._told.add((name, at))
            self.errors.append(self._unknown(name, at, alike))
        return name

    def _unknown(self, name: str, at: Span | None, alike: list[str]) -> Diagnostic:
        shown = name_text(name)
        if alike:
            several = " and ".join(f'"{one}"' for one in alike[:3])
            return Diagnostic(
                UNKNOWN_COLUMN, f"`{shown}` may be {several}", at, hints=("write the name in its exact case",)
            )
        hint = choice_hint(name, self._names, "the columns are")
        return Diagnostic(UNKNOWN_COLUMN, f"there is no column `{shown}`", at, hints=(hint,) if hint else ())


def _partition_place(clause: RowPatternClause, name: str, text: str) -> Span | None:
    # A clause has no places of these columns: the first word of this name behind PARTITION.
    if clause.span is None:
        return None
    part = re.compile("PARTITION", re.IGNORECASE).search(text, clause.span.start, clause.span.end)
    if part is None:
        return None
    found = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(text, part.end(), clause.span.end)
    return None if found is None else Span(found.start(), found.end())
