"""A parsed outcome: an expression and what it looks up. Tasks on Spark get it so, and need no parser."""

from __future__ import annotations

from cer_gpu.engine.answers.future_values import FutureValue
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import tree
from cer_gpu.language.walk import walk


@dataclass(frozen=True, slots=True)
class AskedOutcome:
    """An outcome.

    Attributes
    ----------
    name, text : str
    expression : Expression
        An attribute `value` of a variable named as in `looks` stands for what is looked up, and an
        `Aggregate` for a value of the match.
    looks : dict of str to FutureValue
    """

    name: str
    text: str
    expression: tree.Expression
    looks: dict[str, FutureValue]

    @property
    def aggregates(self) -> tuple[tree.Aggregate, ...]:
        """The aggregates of the match that it reads, such as `LAST(s.price)`."""
        return tuple(
            node
            for node in walk(self.expression)
            if isinstance(node, tree.Aggregate) and node.variable not in self.looks
        )

    def look_of(self, node: tree.Expression) -> FutureValue | None:
        """What a node of the expression looks up; None if it looks up nothing."""
        return self.looks.get(node.variable or "") if isinstance(node, tree.Aggregate) else None

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns in its `TIME TO (...)`."""
        return tuple(look.column for look in self.looks.values() if look.kind == "time to")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        read = [look.column for look in self.looks.values() if look.kind != "time to"]
        read += [one.argument.name for one in self.aggregates if isinstance(one.argument, tree.Attribute)]
        return tuple(dict.fromkeys(read))
