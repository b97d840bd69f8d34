"""Repetitions and optional elements: which numbers and places are allowed (section 3)."""

from __future__ import annotations

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.walk import walk


@dataclass(frozen=True, slots=True)
class WrittenTimes:
    """`{n,m}` as it is written; None where a number is left out, and `{n}` has both."""

    least: int | t.Parameter | None
    most: int | t.Parameter | None
    span: Span


def repeated(
    pattern: t.Pattern,
    contiguous: bool,
    times: WrittenTimes,
    gap: t.Interval | None,
    span: Span,
    findings: Findings,
) -> t.Iteration | t.Optional:
    """`pattern {n,m}`, which is optional where n is 0. Numbers that make no repetition are reported."""
    least = 1 if times.least is None else times.least
    most = times.most
    if most == 0 or (isinstance(least, int) and isinstance(most, int) and most < least):
        said = "these numbers allow no event at all"
        if most != 0:
            said = f"at least {least} and at most {most} repetitions are not possible at once"
        hint = (
            "leave the element out" if most == 0 else f"write the smaller number first: `{{{most},{least}}}`"
        )
        findings.error("CER019", said, times.span, hint)
        least, most = 1, None
    made = t.Times(
        1 if isinstance(least, t.Parameter) else max(1, least),
        1 if isinstance(most, t.Parameter) else most,
        least if isinstance(least, t.Parameter) else None,
        most if isinstance(most, t.Parameter) else None,
        times.least is None,
        span=times.span,
    )
    iteration = t.Iteration(pattern, contiguous, gap, made, span=span)
    return t.Optional(iteration, span=span) if least == 0 else iteration


def not_optional(pattern: t.Pattern, operator: str, findings: Findings) -> t.Pattern:
    """The operand of a postfix operator. An optional operand is reported: `?` comes last."""
    if not isinstance(pattern, t.Optional):
        return pattern
    message = f"`{operator}` cannot follow `?` or `{{0,m}}`"
    hint = "write `?` and `{0,m}` last: `A AS a ?`, `A + ?`"
    findings.error("CER026", message, pattern.span, hint)
    return pattern.pattern


def not_empty(pattern: t.Pattern, what: str, findings: Findings) -> t.Pattern:
    """A pattern that must not be empty. One that may be empty is reported."""
    if not may_be_empty(pattern):
        return pattern
    hint = "write `?` in a sequence with an event that has to come: `A ; B ? ; C`"
    findings.error("CER026", f"{what} may match no event at all", pattern.span, hint)
    while isinstance(pattern, t.Optional | t.Sequence):
        pattern = pattern.pattern if isinstance(pattern, t.Optional) else pattern.left
    return pattern


def may_be_empty(pattern: t.Pattern) -> bool:
    """Whether a pattern as it is written may be left out: an optional element, or a sequence of such."""
    while isinstance(pattern, t.Sequence):
        if not may_be_empty(pattern.right):
            return False
        pattern = pattern.left
    return isinstance(pattern, t.Optional)


def has_optional(pattern: t.Pattern) -> bool:
    """Whether an element of a sequence is optional; such a sequence leans to the left."""
    while isinstance(pattern, t.Sequence):
        if isinstance(pattern.right, t.Optional):
            return True
        pattern = pattern.left
    return isinstance(pattern, t.Optional)


def longest_repetition(pattern: t.Pattern) -> t.Iteration | None:
    """The repetition `{n,m}` of a pattern that stands for the most repetitions; None where there is none."""
    found = [node for node in walk(pattern) if isinstance(node, t.Iteration) and node.times is not None]
    return max(found, key=lambda node: node.most or node.least, default=None)
