"""Which values of text columns a query looks for: `sought_values`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.language.walk import parts


class SoughtValue(NamedTuple):
    """A comparison that only events with one of some texts satisfy: `symbol IN {'AAPL', 'MSFT'}`.

    Attributes
    ----------
    text : str
        As it is written.
    column : str
    values : tuple of str
    """

    text: str
    column: str
    values: tuple[str, ...]


def sought_values(statement: t.Statement) -> tuple[SoughtValue, ...]:
    """The texts that events of a query's matches have to have.

    Those of NOT, and of patterns that must not match, are left out: it is no mistake if they never occur.
    Terms of a rule are no columns.
    """
    if not isinstance(statement, t.SelectQuery):
        return ()
    return tuple(dict.fromkeys(_found(statement.pattern)))


def _found(pattern: t.Pattern) -> Iterator[SoughtValue]:
    waiting: list[Any] = [pattern]
    while waiting:
        node = waiting.pop()
        match node:
            case t.Not() | t.OtherEvent():
                continue
            case t.Unless(left=left) | t.Beside(left=left, negated=True):
                waiting.append(left)
                continue
            case t.Filter(condition=condition):
                waiting.append(condition)
            case t.Comparison(op="=", left=t.Attribute(name=name), right=t.Text(value=value)):
                yield SoughtValue(to_text(node), name, (value,))
            case t.Comparison(op="=", left=t.Text(value=value), right=t.Attribute(name=name)):
                yield SoughtValue(to_text(node), name, (value,))
            case t.InSet(operand=t.Attribute(name=name), members=t.Members(texts=texts) as members):
                if texts and not (members.numbers or members.lows or members.others):
                    yield SoughtValue(to_text(node), name, texts)
        waiting += reversed(parts(node))
