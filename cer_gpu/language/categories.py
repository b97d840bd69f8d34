"""Comparisons of categories by order: each has an order to go by, or a note says that it is one of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from cer_gpu.language import tree as t
from cer_gpu.language.findings import Findings
from cer_gpu.language.functions import OUTERMOST
from cer_gpu.language.leaves import attributes
from cer_gpu.language.printer import to_text
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import CategoryOrder, Schema
from cer_gpu.language.walk import walk
from cer_gpu.language.words import PLACE, quoted_text, written

ORDERING = ("<", "<=", ">", ">=")
"""The operators that compare by order."""

EXTREMES = ("MIN", "MAX")
"""The aggregates that compare by order."""

CHOOSING = (*EXTREMES, "FIRST", "LAST")
"""The aggregates whose value is one of those that they are given."""

Compared: TypeAlias = tuple[t.Expression, t.Expression]
"""Two values that are compared by order."""

Comparing: TypeAlias = t.Comparison | t.InRange | t.Aggregate | t.Call
"""What compares values by order."""


def rank_of(column: str) -> str:
    """The name of the attribute that stands for the places of a column's categories in their order."""
    return f"{PLACE}{written(column)})"


def compared(node: object) -> Iterator[Compared]:
    """The pairs of values that a condition compares by order."""
    match node:
        case t.Comparison(op=op, left=left, right=right) if op in ORDERING:
            yield left, right
        case t.InRange(operand=operand, low=low, high=high):
            yield from ((operand, end) for end in (low, high) if end is not None)


def chosen(expression: t.Expression) -> Iterator[t.Expression]:
    """The attributes and constants of which a text is one: of `COALESCE(sev, 'low')` both."""
    match expression:
        case t.Previous(attribute=attribute):
            yield attribute
        case t.Aggregate(function=function, argument=argument) if function in CHOOSING and argument:
            yield from chosen(argument)
        case t.Call(function="COALESCE", arguments=arguments):
            for argument in arguments:
                yield from chosen(argument)
        case _:
            yield expression


OrderAt: TypeAlias = Callable[[str, str], CategoryOrder | None]
"""What is known about the order of an attribute of an event type; None for one without a dictionary."""


def orders_of_variables(rule: t.Rule, order_at: OrderAt) -> dict[str, list[CategoryOrder | None]]:
    """For each variable of a rule what is known about the order of the columns that it stands for.

    Parameters
    ----------
    rule : Rule
        All atoms name their attributes.
    order_at : callable
    """
    found: dict[str, list[CategoryOrder | None]] = {}
    for atom in rule.atoms:
        for name, term in zip(atom.names or (), atom.terms):
            if isinstance(term, t.RuleVariable):
                found.setdefault(term.name, []).append(order_at(atom.type.name, name))
    return found


class CategoryChecker:
    """Checks what compares columns of categories by order.

    Parameters
    ----------
    orders : mapping of str to CategoryOrder
        Of attributes; in a rule, of variables. Those without a dictionary are not in it.
    findings : Findings
    """

    def __init__(self, orders: Mapping[str, CategoryOrder], findings: Findings) -> None:
        self._orders = orders
        self._findings = findings
        self._noted: set[str] = set()

    def check(self, statement: t.Statement) -> None:
        """Report what cannot be compared by order, and note what is compared as text."""
        for node in walk(statement):
            for left, right in compared(node):
                self._check_pair(left, right, node)
            if isinstance(node, t.Aggregate) and node.function in EXTREMES and node.argument is not None:
                for part in chosen(node.argument):
                    self._check_part(part, node)
            if isinstance(node, t.Call) and node.function in OUTERMOST:
                self._check_outermost(node)

    def _check_outermost(self, call: t.Call) -> None:
        """GREATEST and LEAST choose among texts as texts."""
        for argument in call.arguments:
            for part in chosen(argument):
                order = self._order(part)
                if order is not None and order.categories:
                    message = (
                        f"`{to_text(part)}` has ordered categories, by which {call.function} cannot choose"
                    )
                    self._error(message, part, call, "compare with each: `v > a AND v > b`")
                else:
                    self._check_part(part, call)

    def _check_pair(self, left: t.Expression, right: t.Expression, node: t.Comparison | t.InRange) -> None:
        parts = [*chosen(left), *chosen(right)]
        for part in parts:
            self._check_part(part, node)
        known = [
            (part, order) for part in parts if (order := self._order(part)) is not None and order.categories
        ]
        if not known:
            return
        first, order = known[0]
        shown = to_text(first)
        for part in parts:
            if isinstance(part, t.Text):
                if part.value not in order.categories:
                    message = f"{quoted_text(part.value)} is no category of `{shown}`"
                    self._error(message, part, node, f"its categories are {order}")
                continue
            own = self._order(part)
            if own is not None and own.categories and own.categories != order.categories:
                message = (
                    f"`{shown}` and `{to_text(part)}` have different categories, and are compared by order"
                )
                hint = f"give both the same: {order} and {own}"
                self._error(message, part, node, hint)
            elif not isinstance(part, t.Parameter) and (
                own is None or not (own.categories or own.clash or own.pending)
            ):
                message = (
                    f"`{shown}` has ordered categories, and `{to_text(part)}` has none to compare by order"
                )
                hint = f"make it an ordered category with the same categories: {order}"
                self._error(message, part, node, hint)

    def _check_part(self, part: t.Expression, node: Comparing) -> None:
        """Report an attribute whose categories have no single order, and note one whose are not ordered."""
        order = self._order(part)
        if order is None or order.categories or order.pending:
            return
        names = [one.name for one in attributes(part)]
        if not self._noted.isdisjoint(names):
            return
        self._noted.update(names)
        column = written(names[0])
        if order.clash:
            message = f"the categories of `{column}` have no single order: {order.clash}"
            self._error(message, part, node, "give the whole column the same ordered categories")
            return
        message = f"`{column}` is compared as text: its source does not say that its categories have an order"
        hint = "make it an ordered category to compare by its order"
        self._findings.note("CER113", message, part.span or node.span, hint)

    def _order(self, part: t.Expression) -> CategoryOrder | None:
        return self._orders.get(part.name) if isinstance(part, t.Attribute) else None

    def _error(self, message: str, part: t.Expression, node: Comparing, hint: str) -> None:
        self._findings.error("CER039", message, part.span or node.span, hint)


def orders_in(statement: t.Statement, schema: Schema) -> Mapping[str, CategoryOrder]:
    """The orders that a statement's comparisons go by: of its attributes, or of the variables of a rule."""
    if not isinstance(statement, t.Rule):
        return schema.categories
    try:
        named = resolve(statement, schema)
    except ValueError:  # a wrong number of terms, which is reported
        return {}
    found = orders_of_variables(named, lambda _, name: schema.categories.get(name))
    orders = {name: order_of_columns(own) for name, own in found.items()}
    return {name: order for name, order in orders.items() if order is not None}


def order_of_columns(columns: list[CategoryOrder | None]) -> CategoryOrder | None:
    """The order of a variable of a rule; None if it is a text.

    Where one of its columns has an order, its values are categories of it, since they are equal.
    """
    orders = [order for order in columns if order is not None]
    ordered = [order for order in orders if order.categories or order.clash]
    if not ordered:
        return orders[0] if orders and len(orders) == len(columns) else None
    if all(order == ordered[0] for order in ordered):
        return ordered[0]
    return CategoryOrder((), " and ".join(dict.fromkeys(order.clash or str(order) for order in ordered)))
