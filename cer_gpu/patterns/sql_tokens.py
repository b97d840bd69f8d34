"""The tokens of a statement with their parentheses, and a cursor over a part of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cer_gpu.errors import Span
from cer_gpu.patterns.sql_error import UNREADABLE, SqlError
from cer_gpu.patterns.sql_language import SqlLanguage, SqlToken
from cer_gpu.printable_text import name_text


class SqlTokens:
    """The tokens of a statement.

    Attributes
    ----------
    text : str
    tokens : tuple of SqlToken
    partner : dict of int to int
        For the number of each parenthesis that of its partner.
    group : list of int
        For each token the number of the parenthesis that it stands in; -1 outside of all.
    number_at : dict of int to int
        The number of the token that begins at a character.

    Raises
    ------
    SqlError
        When a text or a parenthesis is not closed.
    """

    def __init__(self, text: str, language: SqlLanguage) -> None:
        self.text = text
        self.tokens = tuple(language.tokens(text))
        self.partner: dict[int, int] = {}
        self.group: list[int] = []
        self.number_at = {token.start: number for number, token in enumerate(self.tokens)}
        waiting = [-1]
        for number, token in enumerate(self.tokens):
            if token.key == ")":
                if len(waiting) == 1:
                    raise SqlError("CER004", "this parenthesis closes nothing", token.span)
                opening = waiting.pop()
                self.partner[opening], self.partner[number] = number, opening
            self.group.append(waiting[-1])
            if token.key == "(":
                waiting.append(number)
        if len(waiting) > 1:
            raise SqlError("CER004", "this parenthesis is not closed", self.tokens[waiting[-1]].span)

    def __len__(self) -> int:
        return len(self.tokens)

    def key(self, number: int) -> str:
        """The key of a token; empty before the first and after the last one."""
        return self.tokens[number].key if 0 <= number < len(self.tokens) else ""

    def span(self, first: int, end: int) -> Span:
        """Where the tokens from `first` up to `end` stand."""
        return Span(self.tokens[first].start, self.tokens[max(first, end - 1)].end)

    def outermost(self, first: int, end: int) -> Iterator[int]:
        """The numbers of tokens in a range; what is in parentheses is passed over, parentheses are not."""
        number = first
        while number < end:
            yield number
            number = self.partner[number] if self.key(number) == "(" else number + 1

    def parts(self, first: int, end: int) -> list[tuple[int, int]]:
        """The ranges between the commas of a range; none of an empty range."""
        commas = [number for number in self.outermost(first, end) if self.key(number) == ","]
        edges = [first - 1, *commas, end]
        return [(before + 1, behind) for before, behind in pairwise(edges)] if first < end else []


class TokenReader:
    """Reads tokens of a range one after another.

    Parameters
    ----------
    tokens : SqlTokens
    first, end : int
    """

    def __init__(self, tokens: SqlTokens, first: int, end: int) -> None:
        self.tokens = tokens
        self.first, self.end = first, end
        self.position = first

    @property
    def next(self) -> SqlToken | None:
        """The token that is read next; None at the end."""
        return self.tokens.tokens[self.position] if self.position < self.end else None

    def looks_at(self, *keys: str) -> bool:
        """Whether tokens of these keys come next."""
        return self.position + len(keys) <= self.end and all(
            self.tokens.key(self.position + step) == key for step, key in enumerate(keys)
        )

    def take(self, *keys: str) -> bool:
        """Read tokens if they have these keys."""
        if not self.looks_at(*keys):
            return False
        self.position += len(keys)
        return True

    def name(self, expected: str) -> SqlToken:
        """Read a name."""
        token = self.next
        if token is None or not token.is_name:
            raise self.unexpected(expected)
        self.position += 1
        return token

    def unexpected(self, expected: str, *hints: str) -> SqlError:
        """The error that something else stands here."""
        token = self.next
        if token is not None:
            found = name_text(self.tokens.text[token.start : token.end])
            return SqlError(UNREADABLE, f"expected {expected}, found `{found}`", token.span, *hints)
        last = self.tokens.tokens[max(self.position, 1) - 1]
        place = Span(last.end, last.end + 1)
        if self.position < len(self.tokens):
            place = self.tokens.tokens[self.position].span
        return SqlError(UNREADABLE, f"expected {expected}", place, *hints)

    def close(self, expected: str) -> None:
        """Raise if a token is left."""
        if self.next is not None:
            raise self.unexpected(expected)
