"""Finds the place of a name inside the text of the node that it belongs to."""

from __future__ import annotations

from cer_gpu.errors import Span
from cer_gpu.language.words import written, written_variable


def leading(span: Span | None, variable: str) -> Span | None:
    """The place of a variable that a node begins with, as in `x[...]` and `x.a`."""
    if span is None:
        return None
    return Span(span.start, min(span.end, span.start + len(written_variable(variable))))


def trailing(span: Span | None, name: str) -> Span | None:
    """The place of a name that a node ends with, as in `p AS x` and `x.a`."""
    return None if span is None else Span(max(span.start, span.end - len(written(name))), span.end)
