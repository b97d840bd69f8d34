"""Tokens, parse trees, and the walk that replaces a parse tree from its leaves up."""

from __future__ import annotations

from typing import Any, NamedTuple


class Meta(NamedTuple):
    """Where a node stands in the text: from the first of its tokens to the end of the last."""

    start_pos: int
    end_pos: int


class Token(str):
    """A part of the text that the grammar has a name for.

    Attributes
    ----------
    type : str
        That name.
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
    """Replaces every node of a tree by what the method named for it makes of the node's place and children.

    The inner nodes come before the outer; nothing recurses. Tokens stay as they are.

    Attributes
    ----------
    here : Tree
        The node at hand, as it was.
    """

    here: Tree

    def transform(self, tree: Tree) -> Any:
        """What becomes of a tree, which itself is left as it is."""
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
                    made[place] = _Awaited(len(order) - 1)
        results: list[Any] = [None] * len(order)
        for number in range(len(order) - 1, -1, -1):
            self.here, children = order[number]
            for place, child in enumerate(children):
                if isinstance(child, _Awaited):
                    children[place] = results[child]
            results[number] = getattr(self, self.here.data)(self.here.meta, children)
        return results[top[0]]


class _Awaited(int):
    """The number of a node whose result comes here."""
