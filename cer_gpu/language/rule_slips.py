"""Messages of syntax errors in rules: what was expected, and how to write what was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cer_gpu.language.slip import Slip

_FORM = "a rule looks like `Q(x, y) <- T(x), S(x, y)`, and a query begins with SELECT"
_ARROW = "write `<-` between the head and the body of a rule"
_COMMA = "write `,` between the parts of a body"
_BESIDE = "write a condition after the event type: `T(a = x), x > 3`"

_NAMES = ("NAME", "QUOTED")
_SIGNS = ("LESS", "ATMOST", "MORE", "ATLEAST", "UNEQUAL", "PLUS", "MINUS", "SLASH", "PERCENT")

RULE_CHARACTERS: Mapping[str, str] = {
    "&": _COMMA,
    "!": "unequal is written `!=`; a rule has no negation",
    "?": "a variable is a plain name: `T(x)`",
    "∧": _COMMA,
}
"""What was probably meant by a character that begins no token, in a rule."""


def rule_expectation(slip: Slip) -> tuple[list[str], frozenset[str]]:
    """The words for what is expected at a place of a rule, where they differ from those for a query.

    Returns
    -------
    list of str
        The words.
    frozenset of str
        The terminals that these words cover, and those that messages leave out.
    """
    if _at_item(slip):
        return ["an event type such as `T(x, y)`", "a comparison"], slip.expected
    if _in_atom(slip) and {"NAME", "STRING"} <= slip.expected:
        return ["a variable or a constant"], slip.expected - {"RPAR", "COMMA"}
    return [], frozenset({"DOT"})


def _after_arrow(slip: Slip) -> bool:
    return any(token.type == "ARROW" for token in slip.tokens[: slip.index])


def _at_item(slip: Slip) -> bool:
    # Where an atom or a comparison begins.
    return _after_arrow(slip) and not slip.open and slip.before() in ("ARROW", "COMMA")


def _in_atom(slip: Slip) -> bool:
    if not slip.open or not _after_arrow(slip):
        return False
    # By identity: tokens are equal when their texts are.
    opener = next(index for index, token in enumerate(slip.tokens) if token is slip.open[0])
    return slip.tokens[opener - 1].type not in ("ARROW", "COMMA", *_SIGNS, "EQUAL", "STAR")


# -------------------------------------------------------------------------------------- slips


def _head(slip: Slip) -> str | None:
    if _after_arrow(slip):
        return None
    if slip.expected == {"ARROW"}:
        arrow = slip.kind in ("COLON", "EQUAL", "ATMOST", "LESS", "MINUS")
        return _ARROW if arrow else _FORM
    if slip.index == 1:
        return "the head lists variables of the body: `Q(x, y) <- ...`"
    if slip.kind == "STAR":
        return (
            "the head lists variables of the body, or none: `Q() <- ...`; to count matches write `Q(; "
            "COUNT(*)) <- ...`"
        )
    if slip.kind == "LPAR":
        return "write aggregates after the variables and a `;`: `Q(x; COUNT(*), SUM(v)) <- ...`"
    if slip.kind in ("NUMBER", "STRING", "EQUAL", *_SIGNS):
        return f"the head lists variables of the body; {_FORM}"
    return None


def _item(slip: Slip) -> str | None:
    if not _at_item(slip):
        return None
    if slip.kind in ("NOT", "UNLESS"):
        return "a rule has no negation; a pattern has `p UNLESS q`"
    if slip.before() == "ARROW":
        return "the body names at least one event type: `Q(x) <- T(x)`"
    return "a body does not end with `,`" if slip.kind in ("$END", "WITHIN", "DOT", "SEMICOLON") else None


def _atom(slip: Slip) -> str | None:
    if not _in_atom(slip):
        return None
    if slip.kind == "STAR":
        return "for any event of type T write `T()`"
    if slip.kind in _SIGNS:
        return f"the parentheses can hold only variables and constants; {_BESIDE}"
    if slip.kind == "NULL":
        return "a null equals nothing; for any value name only the other attributes: `T(a = x)`"
    if slip.kind == "LPAR":
        return "close the parentheses first: `T(x), S(x, y)`"
    if slip.kind == "SEMICOLON":
        return "write `,` between the terms"
    return None


def _clause(slip: Slip) -> str | None:
    if not _after_arrow(slip):
        return None
    if slip.kind == "COMMA" and any(token.type == "WITHIN" for token in slip.tokens[: slip.index]):
        return "write WITHIN after the whole body"
    return {
        "LIMIT": "a rule has no LIMIT; for the first matches pass limit= (--limit)",
        "PARTITION": "a rule has no PARTITION BY: give the attribute the same variable everywhere",
        "CONSUME": "a rule has no CONSUME BY",
        "SUPPRESS": "a rule has no SUPPRESS: a query has one, `SELECT * WHERE A AS a SUPPRESS FOR 1 h`",
        "FILTER": _BESIDE,
        "WHERE": _BESIDE,
        "AS": "a part of a rule has no name, but its values have: `T(a = x)`",
        "SPANNING": "write the window of a rule without brackets: `WITHIN 5 s`",
    }.get(slip.kind)


def _body(slip: Slip) -> str | None:
    if not _after_arrow(slip):
        return None
    if slip.kind in ("DOT", "SEMICOLON") and slip.index == len(slip.tokens) - 1:
        return f"a rule does not end with `{slip.found}`"
    if slip.kind in ("OR", "VBAR"):
        return "a rule has no OR: write a rule for each case"
    if slip.kind in ("IN", "LIKE", "IS", "NOT"):
        return "a rule can compare only with `=`, `!=`, `<`, `<=`, `>` and `>=`"
    if "COMMA" in slip.expected and not slip.open:
        if slip.kind in _SIGNS or slip.kind == "EQUAL":
            return "write one comparison after another: `1 < v, v < 5`"
        if slip.kind in ("AND", "SEMICOLON", "COLON", "LPAR", *_NAMES):
            return _COMMA
    if "LPAR" in slip.expected and slip.before() in _NAMES:
        return "an event type has parentheses in a rule: `T(x, y)`, or `T()` for any event of the type"
    return None


RULE_SLIPS: tuple[Callable[[Slip], str | None], ...] = (_head, _item, _atom, _clause, _body)
"""From the surest to the vaguest; the first that knows what was meant gives the hint."""
