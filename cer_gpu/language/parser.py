"""Text to syntax tree: `parse`.

The text is cut into tokens, the LALR(1) tables of `grammar.lark` make a parse tree of them, and
`cer_gpu.language.builder` a syntax tree of that. None of it recurses on the depth of the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.language.tree import Query
from cer_gpu.language.words import CONTEXTUAL, keyword

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.parsers.lalr_interactive_parser import InteractiveParser

MAX_DEPTH = 150
"""How deep a query may nest: whatever walks a syntax tree may recurse on it."""

_NAMES = frozenset({"NAME", "QUOTED"}) | CONTEXTUAL


def parse(text: str) -> Query:
    """The query that a text says.

    Parameters
    ----------
    text : str

    Returns
    -------
    Query
        With spans on all its nodes. It is not checked: `cer_gpu.language.check.check` does that.

    Raises
    ------
    QueryError
        For any text that is not a query: a syntax error (the first one), or all that is wrong with the
        forms of a text that has the right syntax.
    """
    from lark import UnexpectedToken

    from cer_gpu.language.builder import build
    from cer_gpu.language.slips import syntax_error

    interactive = _tables().parse_interactive(text)
    tokens = read_tokens(interactive)
    fed = 0
    try:
        for token in tokens.tokens:
            interactive.feed_token(token)
            fed += 1
        if tokens.stopped_at is None:
            tree: Tree[Token] = interactive.feed_eof(tokens.tokens[-1] if tokens.tokens else None)
        else:
            raise QueryError([syntax_error(text, tokens, fed, frozenset(interactive.accepts()))], text)
    except UnexpectedToken:
        expected = _expected_after(tokens.tokens[:fed])
        raise QueryError([syntax_error(text, tokens, fed, expected)], text) from None
    deep = _too_deep(tree)
    if deep is not None:
        raise QueryError([deep], text)
    query, diagnostics = build(tree)
    if diagnostics:
        raise QueryError(diagnostics, text)
    return query


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, up to its end or to a character that begins none.

    Attributes
    ----------
    tokens : tuple of Token
        Keywords have their own names as types, and so have `SPANNING` and `STREAM` (see the grammar).
    stopped_at : int or None
        The offset of the character that begins no token.
    """

    tokens: tuple[Token, ...]
    stopped_at: int | None


def read_tokens(interactive: InteractiveParser) -> Tokens:
    """Cut the text that a parser was given into tokens."""
    from lark import UnexpectedCharacters

    tokens: list[Token] = []
    stopped_at = None
    try:
        for token in interactive.lexer_thread.lex(interactive.parser_state):
            if token.type == "NAME":
                token.type = keyword(token) or "NAME"
            tokens.append(token)
    except UnexpectedCharacters as error:
        stopped_at = error.pos_in_stream
    for index, token in enumerate(tokens):
        following = tokens[index + 1].type if index + 1 < len(tokens) else None
        if token.type == "WITHIN" and following == "LSQB":
            token.type = "SPANNING"
        elif token.type == "MORE" and _joins_stream(tokens, index):
            token.type = "STREAM"
    return Tokens(tuple(tokens), stopped_at)


def _joins_stream(tokens: list[Token], index: int) -> bool:
    # `S>T[...]` and `S>T.a`, but not `x.a > y.b` nor `x.a + 5 s > y.b`.
    if not 0 < index < len(tokens) - 2:
        return False
    before, after, then = tokens[index - 1], tokens[index + 1], tokens[index + 2]
    earlier = tokens[index - 2].type if index > 1 else None
    return (
        before.type in _NAMES
        and earlier not in ("DOT", "NUMBER")
        and after.type in _NAMES
        and then.type in ("DOT", "LSQB")
    )


def _expected_after(tokens: tuple[Token, ...]) -> frozenset[str]:
    # The parser that failed has gone past the state that it was in when it met the token.
    interactive = _tables().parse_interactive("")
    for token in tokens:
        interactive.feed_token(token)
    return frozenset(interactive.accepts())


@cache
def _tables() -> Lark:
    from lark import Lark

    grammar = files("cer_gpu.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        propagate_positions=True,
        maybe_placeholders=False,
        cache=_cache_file() or False,
    )


def _cache_file() -> str | None:
    # Building the tables takes 0.1 s, loading them a few milliseconds. The directory is the user's own,
    # since the tables are a pickle; where it cannot be written, they are built in each process.
    try:
        directory = Path.home() / ".cache" / "cer-gpu"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return str(directory / "grammar.tables")


def _too_deep(tree: Tree[Token]) -> Diagnostic | None:
    from lark import Tree as ParseTree

    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [part for node in level for part in node.children if isinstance(part, ParseTree)]
        if not level:
            return None
    meta = level[0].meta
    return Diagnostic(
        "CER006",
        f"the query nests more than {MAX_DEPTH} deep",
        Span(meta.start_pos, meta.end_pos),
        hints=("a long chain of `a = 1 OR a = 2 OR ...` is `a IN {1, 2, ...}`",),
    )
