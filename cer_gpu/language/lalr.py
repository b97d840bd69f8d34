"""A parser that is driven by tables: `grammar.json`, which is made from `grammar.lark`.

`python -m cer_gpu.language.grammar` makes it, once the grammar has changed. The tables are plain data that
comes with the package: nothing is made or kept when a query is compiled, and whoever can change them can
change the code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from cer_gpu.language.parse_tree import Meta, Token, Tree

FILE = "grammar.json"

END = "$END"
"""The terminal that follows the last token."""


class UnexpectedTokenError(Exception):
    """A token that the grammar does not allow at its place."""


class UnexpectedCharacterError(Exception):
    """A character that begins no token.

    Parameters
    ----------
    at : int
        Its place in the text.
    """

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class Production(NamedTuple):
    """A production of the grammar.

    Attributes
    ----------
    origin : str
        The non-terminal.
    data : str
        The name of its nodes.
    size : int
        How many symbols it has.
    kept : list of int
        The symbols that become children; `-1 - k` for a symbol k that is replaced by its own children.
    single : bool
        Whether a node with one child is replaced by this child.
    """

    origin: str
    data: str
    size: int
    kept: list[int]
    single: bool


class Tables(NamedTuple):
    """The tables of a grammar.

    Attributes
    ----------
    terminals : list of (str, str)
        Names and regular expressions, in the order in which they are tried.
    ignored : list of str
        Terminals that separate tokens.
    rules : list of Production
    start, end : dict of str to int
        The first and the last state for each start symbol.
    actions : list of dict of str to int
        For each state and terminal: the next state, or `-1 - r` to reduce by rule r.
    following : list of dict of str to int
        For each state and non-terminal: the next state.
    """

    terminals: list[tuple[str, str]]
    ignored: list[str]
    rules: list[Production]
    start: dict[str, int]
    end: dict[str, int]
    actions: list[dict[str, int]]
    following: list[dict[str, int]]


@cache
def tables() -> Tables:
    """The tables of the language."""
    found: dict[str, Any] = json.loads(files("cer_gpu.language").joinpath(FILE).read_text(encoding="utf-8"))
    found["rules"] = [Production(*rule) for rule in found["rules"]]
    return Tables(**found)


@cache
def _lexer() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in tables().terminals))


def tokens_of(text: str) -> Iterator[Token]:
    """The tokens of a text.

    Raises
    ------
    UnexpectedCharacterError
        At a character that begins none.
    """
    match, ignored = _lexer().match, frozenset(tables().ignored)
    at = 0
    while at < len(text):
        found = match(text, at)
        if found is None or found.end() == at:
            raise UnexpectedCharacterError(at)
        kind = found.lastgroup
        assert kind is not None
        if kind not in ignored:
            yield Token(kind, found.group(), at, found.end())
        at = found.end()


class Parser:
    """A parse in progress, for one start symbol.

    Parameters
    ----------
    start : str
    guards : mapping of str to callable
        By the name of a node: whether the parts of a node may make it. What cannot be told by the next
        token alone is told here; a node that is refused is an error at the token behind it.
    """

    def __init__(self, start: str, guards: Mapping[str, Callable[[Sequence[Any]], bool]] = {}) -> None:
        self._tables = tables()
        self._guards = guards
        self._states = [self._tables.start[start]]
        self._end = self._tables.end[start]
        self._nodes: list[Any] = []

    def feed(self, token: Token) -> None:
        """Take the next token.

        Raises
        ------
        UnexpectedTokenError
            When the grammar does not allow it here.
        """
        self._nodes.append(self._reduced(token.type, token))

    def finish(self) -> Tree:
        """The tree of all tokens.

        Raises
        ------
        UnexpectedTokenError
            When more have to follow.
        """
        return self._reduced(END, None)

    def expected(self) -> frozenset[str]:
        """The terminals that may follow, `$END` among them."""
        return frozenset(kind for kind in self._tables.actions[self._states[-1]] if self._takes(kind))

    def _reduced(self, kind: str, token: Token | None) -> Any:
        """Reduce by all rules that end before a terminal, and take it: the token, or at the end the tree."""
        actions, rules = self._tables.actions, self._tables.rules
        states, nodes = self._states, self._nodes
        while True:
            action = actions[states[-1]].get(kind)
            if action is None:
                raise UnexpectedTokenError
            if action >= 0:
                states.append(action)
                return token
            rule = rules[-1 - action]
            first = len(nodes) - rule.size
            if rule.data in self._guards and not self._guards[rule.data](nodes[first:]):
                raise UnexpectedTokenError
            node = _node(rule, nodes[first:])
            del nodes[first:], states[first + 1 :]
            states.append(self._tables.following[states[-1]][rule.origin])
            if kind == END and states[-1] == self._end:
                return node
            nodes.append(node)

    def _takes(self, kind: str) -> bool:
        """Whether a terminal may follow: the reductions before it may still find that it does not."""
        states, nodes = list(self._states), list(self._nodes)
        while True:
            action = self._tables.actions[states[-1]].get(kind)
            if action is None or action >= 0:
                return action is not None
            rule = self._tables.rules[-1 - action]
            parts = nodes[len(nodes) - rule.size :]
            if rule.data in self._guards and not self._guards[rule.data](parts):
                return False
            del states[len(states) - rule.size :], nodes[len(nodes) - rule.size :]
            nodes.append(_node(rule, parts, kept=True))
            states.append(self._tables.following[states[-1]][rule.origin])
            if kind == END and states[-1] == self._end:
                return True


def _node(rule: Production, parts: list[Any], *, kept: bool = False) -> Any:
    """What a rule makes of its symbols: a node, or where there is only one child that.

    With `kept` the symbols stay as they are.
    """
    children: list[Any] = []
    for place in rule.kept:
        if place >= 0:
            children.append(parts[place])
        elif not children and not kept:
            # A list that grows part by part is the node of a rule for itself: it is handed on, not copied.
            children = parts[-1 - place].children
        else:
            children += parts[-1 - place].children
    if rule.single and len(children) == 1:
        only = children[0]
        if isinstance(only, Tree) and only.meta is None and not kept:
            only.meta = _place(parts)
        return only
    return Tree(rule.data, children, _place(parts))


def _place(parts: list[Any]) -> Meta | None:
    first = next((place for part in parts if (place := _own(part)) is not None), None)
    if first is None:
        return None
    last = next(place for part in reversed(parts) if (place := _own(part)) is not None)
    return Meta(first.start_pos, last.end_pos)


def _own(part: Any) -> Meta | Token | None:
    return part.meta if isinstance(part, Tree) else part
