"""Collecting what is wrong with a query, so that all of it is reported at once."""

from __future__ import annotations

from cer_gpu.errors import Diagnostic, Span


class Findings:
    """Diagnostics in the order in which they are found; `sorted` gives them in the order of the text."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def error(self, code: str, message: str, span: Span | None, *hints: str) -> None:
        """Something that makes the query wrong."""
        self._add(Diagnostic(code, message, span, "error", hints))

    def note(self, code: str, message: str, span: Span | None, *hints: str) -> None:
        """Something legal and suspicious."""
        self._add(Diagnostic(code, message, span, "note", hints))

    def _add(self, diagnostic: Diagnostic) -> None:
        if diagnostic not in self._found:
            self._found.append(diagnostic)

    def sorted(self) -> tuple[Diagnostic, ...]:
        """All findings in the order of the text; those about the whole query come last."""

        def place(diagnostic: Diagnostic) -> tuple[bool, Span]:
            return diagnostic.span is None, diagnostic.span or Span(0, 0)

        return tuple(sorted(self._found, key=place))
