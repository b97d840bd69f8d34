"""Text to syntax tree: `parse`.

The text is cut into tokens, which begin as a query or as a rule does; the LALR(1) tables of `grammar.lark`
make a parse tree of them, and
`cer_gpu.language.builder` a syntax tree of that. None of it recurses on the depth of the text.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.language.tokens import read_tokens
from cer_gpu.language.tree import Statement

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

MAX_DEPTH = 150
"""How deep a query may nest: whatever walks a syntax tree may recurse on it."""


def parse(text: str) -> Statement:
    """The query or the rule that a text says.

    Parameters
    ----------
    text : str

    Returns
    -------
    Query or Rule
        With spans on all its nodes. It is not checked: `cer_gpu.language.check.check` does that.

    Raises
    ------
    QueryError
        For any text that is neither: a syntax error (the first one), or all that is wrong with the
        forms of a text that has the right syntax.
    """
    from lark import UnexpectedToken

    from cer_gpu.language.builder import build
    from cer_gpu.language.slips import half_character, syntax_error

    half = half_character(text)
    if half is not None:
        raise QueryError([half], text)
    tokens = read_tokens(_tables().parse_interactive(text, start="query"))
    start = "rule" if tokens.rule else "query"
    interactive = _tables().parse_interactive("", start=start)
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
        expected = _expected_after(tokens.tokens[:fed], start)
        raise QueryError([syntax_error(text, tokens, fed, expected)], text) from None
    deep = _too_deep(tree)
    if deep is not None:
        raise QueryError([deep], text)
    statement, diagnostics = build(tree)
    if diagnostics:
        raise QueryError(diagnostics, text)
    return statement


def _expected_after(tokens: tuple[Token, ...], start: str) -> frozenset[str]:
    # The parser that failed has gone past the state that it was in when it met the token.
    interactive = _tables().parse_interactive("", start=start)
    for token in tokens:
        interactive.feed_token(token)
    return frozenset(interactive.accepts())


@cache
def _tables() -> Lark:
    from lark import Lark

    grammar = files("cer_gpu.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        start=["query", "rule"],
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
