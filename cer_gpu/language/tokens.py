"""Cuts the text into tokens; a few get their type from their neighbours."""

from __future__ import annotations

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.lalr import UnexpectedCharacterError, tokens_of
from cer_gpu.language.parse_tree import Token
from cer_gpu.language.words import CONTEXTUAL, keyword

_NAMES = frozenset({"NAME", "QUOTED"}) | CONTEXTUAL
_STRATEGIES = frozenset({"ANY", "NEXT", "NXT", "LAST", "MAX", "STRICT"})
# What follows a strategy: a selection, or what begins an expression, but for the `(` of an aggregate. Else
# the word is a name, or a function: `SELECT MAX(x.v) AS highest`.
_CHOSEN_FROM = _NAMES | {"STAR", "NONE", "NUMBER", "MINUS", "PARAMETER", "STRING", "TRUE", "FALSE"}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, up to its end or to a character that begins none.

    Attributes
    ----------
    tokens : tuple of Token
        Keywords have their own names as types, and so have `SPANNING`, `STREAM` and `ARROW` (see the
        grammar).
    stopped_at : int or None
        The offset of the character that begins no token.
    rule : bool
        Whether the text begins like a rule: with a name before `(`, or before an arrow.
    """

    tokens: tuple[Token, ...]
    stopped_at: int | None
    rule: bool


def read_tokens(text: str) -> Tokens:
    """Cut a text into tokens."""
    tokens: list[Token] = []
    stopped_at = None
    try:
        for token in tokens_of(text):
            if token.type == "NAME":
                token.type = keyword(token) or "NAME"
            tokens.append(token)
    except UnexpectedCharacterError as error:
        stopped_at = error.at
    rule = _begins_rule(tokens)
    if rule:
        _join_arrow(tokens)
    brackets = 0
    for index, token in enumerate(tokens):
        following = tokens[index + 1].type if index + 1 < len(tokens) else None
        if token.type == "LSQB":
            brackets += 1
        elif token.type == "RSQB":
            brackets -= 1
        elif token.type == "WITHIN" and following == "LSQB":
            token.type = "SPANNING"
        elif token.type == "MORE" and (
            _joins_type(tokens, index) if rule else not brackets and _joins_stream(tokens, index)
        ):
            token.type = "STREAM"
        elif token.type == "COLON" and following == "LBRACE":
            token.type = "COLONTIMES"
        elif token.type in _STRATEGIES and following in _CHOSEN_FROM and _after_select(tokens, index):
            token.type = "CHOICE"
    return Tokens(tuple(tokens), stopped_at, rule)


def _begins_rule(tokens: list[Token]) -> bool:
    kinds = [token.type for token in tokens[:3]]
    if len(kinds) < 2 or kinds[0] not in _NAMES:
        return False
    return kinds[1] == "LPAR" or kinds[1:] in (["LESS", "MINUS"], ["COLON", "MINUS"])


def _join_arrow(tokens: list[Token]) -> None:
    # The `<-` after the head; in a comparison, `a <-3`, the signs stay two.
    depth = 0
    for index, token in enumerate(tokens[:-1]):
        depth += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
        if depth or token.type not in ("LESS", "COMMA", "COLON"):
            continue
        after = tokens[index + 1]
        if token.type == "LESS" and after.type == "MINUS" and token.end_pos == after.start_pos:
            tokens[index : index + 2] = [Token("ARROW", "<-", token.start_pos, after.end_pos)]
        return


def _joins_type(tokens: list[Token], index: int) -> bool:
    # `S>T(x)`, but not `a > b`, of a rule.
    if not 0 < index < len(tokens) - 2:
        return False
    before, after, then = tokens[index - 1], tokens[index + 1], tokens[index + 2]
    return before.type in _NAMES and after.type in _NAMES and then.type == "LPAR"


def _joins_stream(tokens: list[Token], index: int) -> bool:
    # `S>T[...]` and `S>T.a`, but not `x.a > y.b` nor `x.a + 5 s > y.b`; nor, in brackets, `x[a > y.b]`.
    if not 0 < index < len(tokens) - 2:
        return False
    before, after, then = tokens[index - 1], tokens[index + 1], tokens[index + 2]
    earlier = tokens[index - 2].type if index > 1 else None
    if before.type not in _NAMES or earlier in ("DOT", "NUMBER") or after.type not in _NAMES:
        return False
    if then.type == "RPAR" and earlier == "LPAR":
        # COUNT(S>T), PRIOR(S>T), BEFORE(S>T), but not a pattern in parentheses nor `(v > w)`.
        return index > 2 and tokens[index - 3].upper() in ("COUNT", "PRIOR", "BEFORE")
    return then.type in ("DOT", "LSQB")


def _after_select(tokens: list[Token], index: int) -> bool:
    return index > 0 and tokens[index - 1].type == "SELECT"
