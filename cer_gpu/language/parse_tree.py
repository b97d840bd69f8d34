"""Tokens, parse trees, and the walk that replaces a parse tree from its leaves up."""

from __future__ import annotations

from typing import Any, NamedTuple


class Meta(NamedTuple):
    """The place of a node in the text: from its first token to the end of its last."""

    start_pos: int
    end_pos: int


class Token(str):
    """A token: a piece of the text that is a terminal of the grammar.

    Attributes
    ----------
    type : str
        The name of the terminal.
    start_pos, end_pos : int
        Where it stands in the text.
    """

    __slots__ = ("end_pos", "start_pos", "type")

    def __new__(cls, type: str, text: str, start_pos: int, end_pos: int) -> Token:
        made = super().__new__(cls, text)
        made.type, made.start_pos, made.end_pos = type, start_pos, end_pos
        return made

    type: str
    start_pos: int
    end_pos: int


class Tree:
    """A node of a parse tree.

    Attributes
    ----------
    data : str
        The name of the rule, or of the alternative where that has one of its own.
    children : list of Tree and Token
    meta : Meta or None
        None for a node without tokens.
    """

    __slots__ = ("children", "data", "meta")

    def __init__(self, data: str, children: list[Any], meta: Meta | None) -> None:
        self.data = data
        self.children = children
        self.meta = meta


class Transformer:
    """Replaces every node of a tree by the result of the method of its name, given its place and children.

    The inner nodes come before the outer; nothing recurses. Tokens stay as they are.

    Attributes
    ----------
    here : Tree
        The node that is being replaced.
    """

    here: Tree

    def transform(self, tree: Tree) -> Any:
        """The result for the root of a tree; the tree itself is not changed."""
        order: list[tuple[Tree, list[Any]]] = []
        top: list[Any] = [tree]
        waiting = [top]
        while waiting:
            made = waiting.pop()
            for place, child in enumerate(made):
                if isinstance(child, Tree):
                    inner = list(child.children)
                    order.append((child, inner))
                    waiting.append(inner)
                    made[place] = _NodeNumber(len(order) - 1)
        results: list[Any] = [None] * len(order)
        for number in range(len(order) - 1, -1, -1):
            self.here, children = order[number]
            for place, child in enumerate(children):
                if isinstance(child, _NodeNumber):
                    children[place] = results[child]
            results[number] = getattr(self, self.here.data)(self.here.meta, children)
        return results[top[0]]


class _NodeNumber(int):
    """The number of a node whose result will stand here."""
