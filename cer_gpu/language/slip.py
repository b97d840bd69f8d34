"""The place of a syntax error and the tokens around it, from which hints are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cer_gpu.errors import Span

if TYPE_CHECKING:
    from cer_gpu.language.parse_tree import Token

CLOSERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}


@dataclass(frozen=True)
class Slip:
    """The place of a syntax error; `expected` holds the terminals that would fit."""

    text: str
    tokens: tuple[Token, ...]
    index: int
    expected: frozenset[str]
    stopped_at: int | None
    rule: bool

    @cached_property
    def found(self) -> Token | None:
        """The token that does not fit; None at the end of the text or at a character of no token."""
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    @cached_property
    def kind(self) -> str:
        """The terminal that was found, `$END` at the end of the text."""
        return "$END" if self.found is None else str(self.found.type)

    @cached_property
    def word(self) -> str:
        """What was found, in capitals."""
        return "" if self.found is None else str(self.found).upper()

    def before(self, count: int = 1) -> str:
        """The terminal that stands `count` tokens before; empty at the beginning."""
        return str(self.tokens[self.index - count].type) if self.index >= count else ""

    def after(self) -> str:
        """The terminal that stands behind it; `$END` at the end of the text."""
        return str(self.tokens[self.index + 1].type) if self.index + 1 < len(self.tokens) else "$END"

    @cached_property
    def span(self) -> Span:
        """Where it is; the end of the text is a place behind the last token."""
        if self.found is not None:
            return Span(self.found.start_pos or 0, self.found.end_pos or 0)
        end = self.tokens[-1].end_pos or 0 if self.tokens else 0
        return Span(end, end)

    @cached_property
    def open(self) -> tuple[Token, ...]:
        """The parentheses, brackets and braces that are open before the place."""
        stack: list[Token] = []
        for token in self.tokens[: self.index]:
            if token.type in CLOSERS:
                stack.append(token)
            elif stack and token.type == CLOSERS[stack[-1].type]:
                stack.pop()
        return tuple(stack)

    @cached_property
    def arrow(self) -> str | None:
        """An arrow of another language, such as `->`, that stands here in place of an operator or of `<-`."""
        sign = self.text[self.span.start : self.span.start + 2]
        if self.expected == {"ARROW"}:
            return sign if sign in (":-", ":=", "->", "=>", "<=") else None
        return sign if self.after_pattern and sign in ("=>", "->", ">>") else None

    @cached_property
    def wants_pattern(self) -> bool:
        """Whether a pattern could begin here."""
        return {"NAME", "PROJECT"} <= self.expected

    @cached_property
    def after_pattern(self) -> bool:
        """Whether a pattern could go on here."""
        return {"SEMICOLON", "OR"} <= self.expected
