"""Makes the conditions, expressions, names and amounts of the syntax tree; patterns are made in `builder`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import functions, leaves, sets
from cer_gpu.language import tree as t
from cer_gpu.language.amounts import (
    EVENTS,
    Amount,
    WrittenBound,
    interval_of,
    is_events,
    number_of,
    sum_of,
    unit_of,
)
from cer_gpu.language.chains import balanced, leftward
from cer_gpu.language.findings import Findings
from cer_gpu.language.parse_tree import Meta, Token, Transformer
from cer_gpu.language.words import text_of, unquoted, written

OPERATORS = {"==": "=", "<>": "!="}
"""Comparators that are written in two ways."""


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A name as it stands in the text."""

    text: str
    span: Span


class _Ends(NamedTuple):
    # What `lo..hi` in a set says; an open end is None.
    low: t.RangeEnd
    high: t.RangeEnd


def place_of(meta: Meta) -> Span:
    return Span(meta.start_pos, meta.end_pos)


def place_at(token: Token) -> Span:
    return Span(token.start_pos or 0, token.end_pos or 0)


def has(children: Sequence[Any], kind: str) -> bool:
    return any(isinstance(child, Token) and child.type == kind for child in children)


def nodes_of(children: Sequence[Any]) -> list[Any]:
    return [child for child in children if not isinstance(child, Token)]


class ConditionBuilder(Transformer):
    """Makes conditions, expressions, names and amounts; a method is named for its rule of the grammar.

    Parameters
    ----------
    text : str
        The query.

    Attributes
    ----------
    findings : Findings
        Gets what the grammar allows and the language does not.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self.findings = Findings()
        # Where 2^63 stands: too large, unless a minus follows up the tree.
        self._edges: set[Span] = set()

    def _check_edges(self) -> None:
        for edge in self._edges:
            number_of(str(2**63), edge, self.findings)

    def _chain(
        self, children: list[Any], join: Callable[[int, Any, Any, Span], Any], *, leaning: bool = False
    ) -> Any:
        """The operands of a chain, joined to a balanced tree; each node's place is that of its operands.

        With `leaning` the tree leans to the left.
        """
        operands = [
            (child, place_of(node.meta))
            for child, node in zip(children, self.here.children)
            if not isinstance(child, Token | t.Interval)
        ]

        def joined(place: int, left: tuple[Any, Span], right: tuple[Any, Span]) -> tuple[Any, Span]:
            span = Span(left[1].start, right[1].end)
            return join(place, left[0], right[0], span), span

        return (leftward if leaning else balanced)(operands, joined)[0]

    # -------------------------------------------------------------------------- conditions

    def every(self, meta: Meta, children: list[Any]) -> t.Every:
        variable, predicate = children
        leaves.check_predicate(variable.text, predicate, self.findings)
        return t.Every(variable.text, predicate, span=place_of(meta))

    def every_prior(self, meta: Meta, children: list[Any]) -> t.Every:
        prior, predicate = children
        leaves.check_predicate(prior.variable, predicate, self.findings)
        return t.Every(prior.variable, predicate, prior.word, span=place_of(meta))

    def comparison(self, meta: Meta, children: list[Any]) -> t.Condition:
        left, op, right = children
        node = t.Comparison(OPERATORS.get(op, str(op)), left, right, span=place_of(meta))
        return leaves.condition_of(node, self.findings)

    def truth(self, meta: Meta, children: list[Any]) -> t.Condition:
        """`CONTAINS(s, t)`, which is `CONTAINS(s, t) = TRUE`."""
        (value,) = children
        place = place_of(meta)
        if isinstance(value, t.Call) and functions.is_predicate(value):
            return leaves.condition_of(t.Comparison("=", value, t.Boolean(True), span=place), self.findings)
        return t.Truth(True)  # what was called is no function, or its values are wrong: both are reported

    def like(self, meta: Meta, children: list[Any]) -> t.Condition:
        given = children[-1]
        if isinstance(given, t.Parameter):
            return self._test(t.Like(children[0], "", given, span=place_of(meta)), children)
        node = t.Like(children[0], text_of(given), span=place_of(meta))
        return self._test(node, children)

    def in_constants(self, meta: Meta, children: list[Any]) -> t.Condition:
        operand, token = children[0], children[-1]
        members = sets.members_of(token, token.start_pos, self.findings)
        alone = sets.only_range(members)
        if alone is not None:
            return self._test(t.InRange(operand, *alone, span=place_of(meta)), children)
        return self._test(t.InSet(operand, members, span=place_of(meta)), children)

    def in_set(self, meta: Meta, children: list[Any]) -> t.Condition:
        operand, *found = nodes_of(children)
        if not found:
            self.findings.error(
                "CER018", "the set of IN is empty", place_of(meta), "write at least one value: `{1, 2}`"
            )
        if len(found) == 1 and isinstance(found[0], _Ends):
            return self._test(t.InRange(operand, *found[0], span=place_of(meta)), children)
        brace = next(place_at(child).start for child in children if has([child], "LBRACE"))
        members = t.Members.of(
            *(one for one in found if not isinstance(one, _Ends)),
            ranges=[one for one in found if isinstance(one, _Ends)],
            written=self._text[brace : meta.end_pos],
            start=brace,
        )
        return self._test(t.InSet(operand, members, span=place_of(meta)), children)

    def ends(self, meta: Meta, children: list[Any]) -> _Ends:
        literals = nodes_of(children)
        if not literals:
            self.findings.error(
                "CER018", "a range needs an end", place_of(meta), "as in `{1..}`, `{..5}` or `{1..5}`"
            )
        other = next(
            (end for end in literals if not isinstance(end, t.Number | t.Quantity | t.Parameter)), None
        )
        if other is not None:
            hint = "use `IN RANGE (lo, hi)` for other values"
            self.findings.error("CER018", "the ends of a range in braces must be numbers", other.span, hint)
            return _Ends(None, None)
        low, high = (None if isinstance(end, Token) else end for end in (children[0], children[-1]))
        return _Ends(low, high)

    def in_sums(self, meta: Meta, children: list[Any]) -> t.Condition:
        operand, low, high = nodes_of(children)
        return self._test(t.InRange(operand, low, high, span=place_of(meta)), children)

    def is_null(self, meta: Meta, children: list[Any]) -> t.Condition:
        return self._test(t.IsNull(children[0], span=place_of(meta)), children)

    def _test(self, node: leaves.Leaf, children: Sequence[Any]) -> t.Condition:
        # `x.a NOT IN {...}` is `x[a NOT IN {...}]`, so the NOT goes inside.
        return leaves.condition_of(node, self.findings, negated=has(children, "NOT"))

    def invert(self, meta: Meta, children: list[Any]) -> t.Not:
        return t.Not(children[-1], span=place_of(meta))

    def conjunction(self, meta: Meta, children: list[Any]) -> t.Condition:
        return self._chain(children, lambda _, left, right, span: t.Both(left, right, span=span))

    def condition(self, meta: Meta, children: list[Any]) -> t.Condition:
        return self._chain(children, lambda _, left, right, span: t.Either(left, right, span=span))

    # ------------------------------------------------------------------------- expressions

    def arithmetic(self, meta: Meta, children: list[Any]) -> t.Arithmetic:
        left, op, right = children
        return t.Arithmetic(str(op), left, right, span=place_of(meta))

    def joined(self, meta: Meta, children: list[Any]) -> t.Call:
        left, _, right = children
        return t.Call(functions.JOINED, (left, right), span=place_of(meta))

    def minus(self, meta: Meta, children: list[Any]) -> t.Expression:
        operand = children[-1]
        if isinstance(operand, t.Number | t.Quantity):
            place = operand.span or Span(0, 0)
            self._edges.discard(place)
            if isinstance(operand, t.Number) and operand.whole and operand.value > 0:
                number_of(str(operand.value), place, self.findings, negative=True)
            return replace(operand, value=-operand.value, span=place_of(meta))
        return t.Negation(operand, span=place_of(meta))

    def group_of_value(self, meta: Meta, children: list[Any]) -> t.Expression:
        found: t.Expression = children[0]
        return found

    def parameter(self, meta: Meta, children: list[Any]) -> t.Parameter:
        return t.Parameter(str(children[0])[1:], span=place_of(meta))

    def attribute(self, meta: Meta, children: list[Any]) -> t.Attribute:
        return t.Attribute(children[0].text, span=place_of(meta))

    def attribute_of(self, meta: Meta, children: list[Any]) -> t.Attribute:
        variable, name = children
        return t.Attribute(name.text, variable.text, span=place_of(meta))

    def attribute_of_prior(self, meta: Meta, children: list[Any]) -> t.Attribute:
        prior, name = children
        return t.Attribute(name.text, prior.variable, prior.word, span=place_of(meta))

    def prior(self, meta: Meta, children: list[Any]) -> functions.PriorEvents:
        names = [self._plain(name) for name in nodes_of(children)]
        word: t.Earlier = "PRIOR" if has(children, "PRIOR") else "BEFORE"
        return functions.PriorEvents(">".join(names), word, place_of(meta))

    def marked(self, meta: Meta, children: list[Any]) -> functions.StreamVariable:
        names = [self._plain(name) for name in nodes_of(children)]
        return functions.StreamVariable(">".join(names), place_of(meta))

    def everything(self, meta: Meta, children: list[Any]) -> functions.Everything:
        return functions.Everything(place_of(meta))

    def distinct(self, meta: Meta, children: list[Any]) -> functions.DistinctValues:
        return functions.DistinctValues(children[-1], place_of(meta))

    def function(self, meta: Meta, children: list[Any]) -> WrittenName:
        return WrittenName(str(children[0]), place_of(meta))

    def call(self, meta: Meta, children: list[Any]) -> t.Expression:
        name, *given = children
        return functions.call_of(name.text, name.span, given, place_of(meta), self.findings)

    def number(self, meta: Meta, children: list[Any]) -> t.Expression:
        written_number = children[0]
        span = place_of(meta)
        if len(children) == 1:
            return t.Number(number_of(written_number, span, self.findings, unsigned=True), span=span)
        value = self._positive(written_number, span)
        unit = unit_of(children[1], place_at(children[1]), self.findings)
        return t.Quantity(value, unit, span=span)

    def _positive(self, written_number: str, span: Span) -> int | float:
        if str(written_number).lstrip("0") != str(2**63):
            return number_of(written_number, span, self.findings)
        self._edges.add(span)
        return 2**63

    def constant(self, meta: Meta, children: list[Any]) -> t.Expression:
        token = children[0]
        if token.type == "STRING":
            return t.Text(text_of(token), span=place_of(meta))
        return t.Boolean(token.type == "TRUE", span=place_of(meta))

    # ---------------------------------------------------------------------- names, amounts

    def name(self, meta: Meta, children: list[Any]) -> WrittenName:
        text = unquoted(children[0])
        if not text:
            self.findings.error("CER009", "a name is empty", place_of(meta))
        return WrittenName(text, place_of(meta))

    def variable(self, meta: Meta, children: list[Any]) -> WrittenName:
        return WrittenName(">".join(self._plain(name) for name in nodes_of(children)), place_of(meta))

    mark = variable

    def _plain(self, name: WrittenName) -> str:
        # `S>T` is a variable made of two names, so neither may hold the sign itself.
        if ">" in name.text:
            what = f"the name {written(name.text)} has a `>`, which stands between a stream and a type"
            hint = "rename the type in the data, or name another column of types: type_column"
            self.findings.error("CER009", what, name.span, hint)
        return name.text

    def span(self, meta: Meta, children: list[Any]) -> Amount:
        number, word = children
        unit = EVENTS if is_events(word) else unit_of(word, place_at(word), self.findings)
        if isinstance(number, t.Parameter):
            return Amount(0, unit, place_of(meta), number)
        return Amount(self._positive(number, place_at(number)), unit, place_of(meta))

    def signed(self, meta: Meta, children: list[Any]) -> Amount:
        negative = has(children, "MINUS")
        parts = nodes_of(children)
        if parts and isinstance(parts[0], t.Parameter):
            parts = [Amount(0, None, place_of(meta), parts[0])]
        if parts:
            if negative and len(parts) == 1:
                self._edges = {edge for edge in self._edges if edge.start != parts[0].span.start}
            return sum_of(parts, place_of(meta), self.findings, negative=negative)
        number = children[-1]
        value = number_of(number, place_at(number), self.findings, negative=negative)
        return Amount(value, None, place_of(meta))

    def bound(self, meta: Meta, children: list[Any]) -> WrittenBound:
        comparator = OPERATORS.get(children[0], str(children[0])) if len(children) == 2 else None
        return WrittenBound(comparator, children[-1])

    def interval(self, meta: Meta, children: list[Any]) -> t.Interval:
        return interval_of(children, place_of(meta), self.findings)
