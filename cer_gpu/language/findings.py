"""Collects the errors and notes about a query, so that all of them are reported at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from cer_gpu.diagnostics import SHOWN, Diagnostic, Span, more_than_shown

Hint: TypeAlias = "str | Callable[[], str | None]"
"""A hint, or a function that makes it, called only for findings that are shown; None is no hint."""


class _Finding(NamedTuple):
    # What tells findings apart: the same one may be met on several ways through a query.
    span: Span | None
    severity: str
    code: str
    message: str


class Findings:
    """Diagnostics in the order in which they are found; `sorted` gives them in the order of the text."""

    def __init__(self) -> None:
        self._found: dict[_Finding, tuple[Hint, ...]] = {}

    def error(self, code: str, message: str, span: Span | None, *hints: Hint) -> None:
        """Add an error: the query cannot run."""
        self._found.setdefault(_Finding(span, "error", code, message), hints)

    def note(self, code: str, message: str, span: Span | None, *hints: Hint) -> None:
        """Add a note: the query runs, and may not mean what was intended."""
        self._found.setdefault(_Finding(span, "note", code, message), hints)

    @property
    def errors(self) -> int:
        """How many errors there are."""
        return sum(one.severity == "error" for one in self._found)

    def forget(self, code: str, within: Span | None) -> None:
        """Drop the findings of a code whose place lies inside `within`: a better finding replaces them."""
        if within is None:
            return
        for one in [*self._found]:
            if one.code == code and one.span and within.start <= one.span.start <= one.span.end <= within.end:
                del self._found[one]

    def sorted(self) -> tuple[Diagnostic, ...]:
        """The findings in the order of the text; those about the whole query come last.

        Of more than `SHOWN` findings the first are kept, errors before notes; one more says how many are not.
        """

        def place(finding: _Finding) -> tuple[bool, Span]:
            return finding.span is None, finding.span or Span(0, 0)

        order = sorted(self._found, key=place)
        order.sort(key=lambda finding: finding.severity)  # "error" before "note", else as it was
        shown = sorted(order[:SHOWN], key=place)
        diagnostics = [
            Diagnostic(finding.code, finding.message, finding.span, finding.severity, self._hints(finding))
            for finding in shown
        ]
        hidden = [Diagnostic(one.code, one.message, one.span, one.severity) for one in order[SHOWN:]]
        return (*diagnostics, more_than_shown(hidden)) if hidden else tuple(diagnostics)

    def _hints(self, finding: _Finding) -> tuple[str, ...]:
        made = (hint if isinstance(hint, str) else hint() for hint in self._found[finding])
        return tuple(hint for hint in made if hint)
