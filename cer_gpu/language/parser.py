"""Text to syntax tree: `parse`.

The text is cut into tokens, which begin as a query or as a rule does; `cer_gpu.language.lalr` makes a parse
tree of them, and `cer_gpu.language.builder` a syntax tree of that. None of it recurses on the depth of the
text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cer_gpu.errors import Diagnostic, QueryError, Span
from cer_gpu.language.functions import stands_as_condition
from cer_gpu.language.lalr import Parser, UnexpectedTokenError
from cer_gpu.language.parse_tree import Meta, Token, Tree
from cer_gpu.language.tokens import Tokens, read_tokens
from cer_gpu.language.tree import Statement

MAX_DEPTH = 150
"""How deep a query may nest: whatever walks a syntax tree may recurse on it."""


CHAINS = frozenset({"sequence", "together", "anywhere", "either", "conjunction", "condition"})
"""The rules of the grammar that are lists of operands."""


def _is_condition(parts: Sequence[Any]) -> bool:
    """Whether a value without a comparison is a condition: a call that gives a bool."""
    (value,) = parts
    while isinstance(value, Tree) and value.data == "group_of_value":
        value = next(part for part in value.children if isinstance(part, Tree))
    if not isinstance(value, Tree) or value.data != "call":
        return False
    return stands_as_condition(str(value.children[0].children[0]))


_GUARDS: Mapping[str, Callable[[Sequence[Any]], bool]] = {"truth": _is_condition}


def parse(text: str) -> Statement:
    """Parse a query or a rule.

    Parameters
    ----------
    text : str

    Returns
    -------
    SelectQuery or Rule
        With spans on all its nodes. It is not checked: `cer_gpu.language.check.check` does that.

    Raises
    ------
    QueryError
        When the text is neither: the first syntax error or, if there is none, everything else that is wrong
        with its form.
    """
    from cer_gpu.language.builder import build

    half = _half_character(text)
    if half is not None:
        raise QueryError([half], text)
    tokens = read_tokens(text)
    start = "rule" if tokens.rule else "query"
    parser = Parser(start, _GUARDS)
    fed = 0
    try:
        for token in tokens.tokens:
            parser.feed(token)
            fed += 1
        if tokens.stopped_at is not None:
            raise _syntax_error(text, tokens, fed, parser.expected())
        tree = parser.finish()
    except UnexpectedTokenError:
        expected = _expected_after(tokens.tokens[:fed], start)
        raise _syntax_error(text, tokens, fed, expected) from None
    deep = _too_deep(tree)
    if deep is not None:
        raise QueryError([deep], text)
    statement, diagnostics = build(tree, text)
    if diagnostics:
        raise QueryError(diagnostics, text)
    return statement


def _syntax_error(text: str, tokens: Tokens, fed: int, expected: frozenset[str]) -> QueryError:
    from cer_gpu.language.slips import syntax_error  # a query without one need not load the hints

    return QueryError([syntax_error(text, tokens, fed, expected)], text)


def _half_character(text: str) -> Diagnostic | None:
    """An error for the first half of a surrogate pair in a text; no data that is read can hold one."""
    found = None if text.isascii() else _HALF.search(text)
    if found is None:
        return None
    shown = f"U+{ord(found.group()):04X}"
    hint = "the text was read with a wrong encoding: read it as UTF-8"
    return Diagnostic("CER002", f"`{shown}` is half of a character", Span(*found.span()), hints=(hint,))


_HALF = re.compile("[\ud800-\udfff]")


def _expected_after(tokens: tuple[Token, ...], start: str) -> frozenset[str]:
    # The parser that failed has gone past the state that it was in when it met the token.
    parser = Parser(start, _GUARDS)
    for token in tokens:
        parser.feed(token)
    return parser.expected()


def _may_be_left_out(element: Tree) -> bool:
    if element.data == "repetition":
        numbers = [part for part in element.children if isinstance(part, Tree) and part.data == "times"]
        first = numbers[0].children[0]
        return isinstance(first, Tree) and first.data == "times_number" and not first.children[-1].strip("0")
    return element.data == "optional"


_NESTING: Mapping[str, str] = {
    "group": "parentheses",
    "group_of_value": "parentheses",
    "as_": "AS",
    "invert": "NOT",
    "other": "NOT",
    "unless": "UNLESS",
    "beside": "FOLLOWED BY and PRECEDED BY",
    "filter": "FILTER",
    "iteration": "`+`",
    "repetition": "`{n,m}`",
    "optional": "`?`",
    "sequence": "a sequence with `?`",
    "selector": "selectors",
    "project": "PROJECT",
    "timed": "WITHIN",
    "call": "functions",
    "arithmetic": "arithmetic",
    "minus": "minus signs",
}


def _too_deep(tree: Tree) -> Diagnostic | None:
    # Each node with its depth, and the nodes around it: (node, those around that one).
    waiting: list[tuple[Tree, int, Any]] = [(tree, 0, None)]
    while waiting:
        node, depth, around = waiting.pop()
        if depth >= MAX_DEPTH:
            meta = node.meta or Meta(0, 0)
            return Diagnostic(
                "CER006",
                f"the query nests more than {MAX_DEPTH} deep, most of it by {_deepest(around)}",
                Span(meta.start_pos, meta.end_pos),
                hints=(
                    "remove parentheses that are not needed, or split the query; chains of `;`, `:`, AND, "
                    "ALL and OR may have any length if they have no `?`",
                ),
            )
        inner = [part for part in node.children if isinstance(part, Tree)]
        below = 1
        if node.data in CHAINS:
            # One with an optional element leans to the left.
            leans = node.data == "sequence" and any(map(_may_be_left_out, inner))
            below = len(inner) - 1 if leans else (len(inner) - 1).bit_length()
        waiting += ((part, depth + below, (node, below, around)) for part in reversed(inner))
    return None


def _deepest(around: Any) -> str:
    """What nests most among the nodes around a place."""
    depths: Counter[str] = Counter()
    while around is not None:
        node, below, around = around
        if node.data in _NESTING:
            depths[_NESTING[node.data]] += below
    return depths.most_common(1)[0][0] if depths else "parentheses"
