"""Makes the syntax tree of a parse tree, and checks the forms that the grammar leaves open.

`x.a op constant` becomes `x[a op constant]`, spans of time become one amount, and what has the right
syntax but not the right form is reported, all of it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cer_gpu.errors import Diagnostic, Span
from cer_gpu.frozen import dataclass
from cer_gpu.language import leaves, rule_forms, sets
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
    window_of,
)
from cer_gpu.language.chains import balanced
from cer_gpu.language.findings import Findings
from cer_gpu.language.parse_tree import Meta, Token, Transformer, Tree
from cer_gpu.language.words import text_of, unquoted, written

_CLAUSES = ("PARTITION BY", "WITHIN", "CONSUME BY", "LIMIT")

_OPERATORS = {"==": "=", "<>": "!="}


def build(tree: Tree, text: str) -> tuple[t.Statement, tuple[Diagnostic, ...]]:
    """The statement of a parse tree and its errors; the statement is to be used only if there are none."""
    builder = _Builder(text)
    statement = builder.transform(tree)
    return statement, builder.findings.sorted()


@dataclass(frozen=True, slots=True)
class _WrittenName:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class _KeyPart:
    # One part of PARTITION BY: alternative names.
    names: tuple[_WrittenName, ...]


@dataclass(frozen=True, slots=True)
class _Clause:
    keyword: str
    value: Any
    span: Span


@dataclass(frozen=True, slots=True)
class _Sources:
    names: tuple[_WrittenName, ...]


@dataclass(frozen=True, slots=True)
class _Selection:
    items: tuple[t.SelectItem, ...] | None


@dataclass(frozen=True, slots=True)
class _Head:
    variables: tuple[t.RuleVariable, ...]
    aggregates: tuple[t.Aggregate, ...]


@dataclass(frozen=True, slots=True)
class _Argument:
    # What stands between the parentheses of an atom: a term, with its attribute where that is named.
    attribute: _WrittenName | None
    term: t.Expression | t.RuleVariable


class _Ends(NamedTuple):
    # What `lo..hi` in a set says; an open end is None.
    low: t.Number | t.Quantity | None
    high: t.Number | t.Quantity | None


def _place(meta: Meta) -> Span:
    return Span(meta.start_pos, meta.end_pos)


def _at(token: Token) -> Span:
    return Span(token.start_pos or 0, token.end_pos or 0)


def _has(children: Sequence[Any], kind: str) -> bool:
    return any(isinstance(child, Token) and child.type == kind for child in children)


def _nodes(children: Sequence[Any]) -> list[Any]:
    return [child for child in children if not isinstance(child, Token)]


class _Builder(Transformer):
    # The methods are named for the rules of the grammar and their aliases.

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self.findings = Findings()
        # Where 2^63 stands: too large, unless a minus follows up the tree.
        self._edges: set[Span] = set()

    # ------------------------------------------------------------------------------- query

    def query(self, meta: Meta, children: list[Any]) -> t.SelectQuery:
        self._check_edges()
        nodes = _nodes(children)
        clauses = [node for node in nodes if isinstance(node, _Clause)]
        values = {clause.keyword: clause.value for clause in clauses}
        self._check_order(clauses)
        streams = next((node.names for node in nodes if isinstance(node, _Sources)), ())
        parts: tuple[_KeyPart, ...] = values.get("PARTITION BY", ())
        limit: tuple[int | None, Span | None] = values.get("LIMIT", (None, None))
        pattern = next(node for node in nodes if isinstance(node, t.Pattern))
        return t.SelectQuery(
            pattern,
            next((node for node in nodes if isinstance(node, t.Strategy)), t.Strategy.ALL),
            next(node.items for node in nodes if isinstance(node, _Selection)),
            tuple(self._plain(name) for name in streams),
            tuple(tuple(name.text for name in part.names) for part in parts),
            values.get("WITHIN"),
            values.get("CONSUME BY", t.Consume.NONE),
            limit[0],
            places=t.ClausePlaces(
                tuple(name.span for name in streams),
                tuple(tuple(name.span for name in part.names) for part in parts),
                limit[1],
            ),
            span=_place(meta),
        )

    def _check_edges(self) -> None:
        for edge in self._edges:
            number_of(str(2**63), edge, self.findings)

    def _check_order(self, clauses: Sequence[_Clause]) -> None:
        latest = -1
        seen: dict[str, None] = {}
        for clause in clauses:
            place = _CLAUSES.index(clause.keyword)
            if clause.keyword in seen:
                self.findings.error("CER008", f"{clause.keyword} is given twice", clause.span)
            elif place < latest:
                after = next(word for word in seen if _CLAUSES.index(word) > place)
                self.findings.error(
                    "CER008",
                    f"{clause.keyword} comes before {after}",
                    clause.span,
                    "the order is " + ", ".join(_CLAUSES),
                )
            seen[clause.keyword] = None
            latest = max(latest, place)

    def strategy(self, meta: Meta, children: list[Any]) -> t.Strategy:
        return t.Strategy("NEXT" if children[0].type == "NXT" else children[0].type)

    def selection(self, meta: Meta, children: list[Any]) -> _Selection:
        if _has(children, "STAR"):
            return _Selection(None)
        return _Selection(tuple(_nodes(children)))

    def item(self, meta: Meta, children: list[Any]) -> t.SelectItem:
        variable, *attributes = children
        names = tuple(name.text for name in attributes)
        places = tuple(name.span for name in attributes)
        return t.SelectItem(variable.text, names, places=places, span=_place(meta))

    def sources(self, meta: Meta, children: list[Any]) -> _Sources:
        return _Sources(tuple(_nodes(children)))

    def partition(self, meta: Meta, children: list[Any]) -> _Clause:
        return _Clause("PARTITION BY", tuple(_nodes(children)), _place(meta))

    def part(self, meta: Meta, children: list[Any]) -> _KeyPart:
        return _KeyPart(tuple(children))

    def window(self, meta: Meta, children: list[Any]) -> _Clause:
        amount, *attribute = _nodes(children)
        name = attribute[0].text if attribute else None
        span = Span(amount.span.start, meta.end_pos)
        return _Clause("WITHIN", window_of(amount, name, span, self.findings), _place(meta))

    def consume(self, meta: Meta, children: list[Any]) -> _Clause:
        return _Clause("CONSUME BY", t.Consume(children[-1].type), _place(meta))

    def limit(self, meta: Meta, children: list[Any]) -> _Clause:
        number = children[-1]
        span = Span(_at(children[1]).start, _at(number).end)
        value = number_of(number, _at(number), self.findings, negative=_has(children, "MINUS"))
        if not isinstance(value, int):
            self.findings.error("CER017", "LIMIT takes a whole number", span)
            value = 0
        return _Clause("LIMIT", (value, span), _place(meta))

    # ------------------------------------------------------------------------------- rules

    def rule(self, meta: Meta, children: list[Any]) -> t.Rule:
        self._check_edges()
        name, head, body, *window = _nodes(children)
        atoms = tuple(part for part in body if isinstance(part, t.RuleAtom))
        comparisons = tuple(part for part in body if isinstance(part, t.Comparison))
        rule_forms.check_body(atoms, comparisons, _place(meta), self.findings)
        return t.Rule(
            name.text,
            head.variables,
            atoms,
            comparisons,
            head.aggregates,
            window[0].value if window else None,
            span=_place(meta),
        )

    def head(self, meta: Meta, children: list[Any]) -> _Head:
        variables, *aggregates = _nodes(children)
        return _Head(variables, tuple(aggregates))

    def variables(self, meta: Meta, children: list[Any]) -> tuple[t.RuleVariable, ...]:
        return tuple(children)

    body = variables

    def aggregate(self, meta: Meta, children: list[Any]) -> t.Aggregate:
        name, argument = children
        over = None if isinstance(argument, Token) else argument
        node = t.Aggregate(name.text.upper(), over, span=_place(meta))
        rule_forms.check_aggregate(node, name.text, name.span, self.findings)
        return node

    def rule_atom(self, meta: Meta, children: list[Any]) -> t.RuleAtom:
        names = [node for node in children if isinstance(node, _WrittenName)]
        arguments = [node for node in children if isinstance(node, _Argument)]
        plain = [self._plain(name) for name in names]
        event = t.EventType(
            plain[-1],
            plain[0] if len(plain) == 2 else None,
            span=Span(names[0].span.start, names[-1].span.end),
        )
        named = [argument.attribute for argument in arguments if argument.attribute is not None]
        by_name = len(named) == len(arguments)
        if named and not by_name:
            odd = next(argument for argument in arguments if argument.attribute is None)
            rule_forms.mixed_atom(event, odd.term, self.findings)
        terms = (rule_forms.term_of(argument.term, self.findings) for argument in arguments)
        return t.RuleAtom(
            event,
            tuple(terms),
            tuple(name.text for name in named) if by_name else None,
            places=tuple(name.span for name in named),
            span=_place(meta),
        )

    def argument(self, meta: Meta, children: list[Any]) -> _Argument:
        *attribute, term = _nodes(children)
        return _Argument(attribute[0] if attribute else None, term)

    def rule_variable(self, meta: Meta, children: list[Any]) -> t.RuleVariable:
        return t.RuleVariable(children[0].text, span=_place(meta))

    def rule_comparison(self, meta: Meta, children: list[Any]) -> t.Comparison:
        left, op, right = children
        return t.Comparison(_OPERATORS.get(op, str(op)), left, right, span=_place(meta))

    # ---------------------------------------------------------------------------- patterns

    def event(self, meta: Meta, children: list[Any]) -> t.EventType:
        names = [self._plain(name) for name in _nodes(children)]
        stream = names[0] if len(names) == 2 else None
        return t.EventType(names[-1], stream, span=_place(meta))

    def group(self, meta: Meta, children: list[Any]) -> Any:
        return children[0]

    def timed(self, meta: Meta, children: list[Any]) -> t.Timed:
        pattern, interval = _nodes(children)
        return t.Timed(pattern, interval, span=_place(meta))

    def other(self, meta: Meta, children: list[Any]) -> t.OtherEvent:
        pattern = children[-1]
        condition: t.Condition | None = None
        while isinstance(pattern, t.Filter):
            inner = pattern.condition
            condition = inner if condition is None else t.Both(inner, condition, span=inner.span)
            pattern = pattern.pattern
        if not isinstance(pattern, t.EventType):
            self.findings.error(
                "CER013",
                "NOT takes one event type, as in `NOT (T)` or `NOT (T FILTER c)`",
                pattern.span,
                "`p UNLESS q` keeps the p that have no q inside",
            )
            pattern = t.EventType("T")
        return t.OtherEvent(pattern, condition, span=_place(meta))

    def selector(self, meta: Meta, children: list[Any]) -> t.Selector:
        return t.Selector(self.strategy(meta, children), children[-1], span=_place(meta))

    def project(self, meta: Meta, children: list[Any]) -> t.Project:
        pattern, *names = _nodes(children)
        variables = tuple(name.text for name in names)
        return t.Project(pattern, variables, places=tuple(name.span for name in names), span=_place(meta))

    def as_(self, meta: Meta, children: list[Any]) -> t.As:
        return t.As(children[0], self._plain(children[-1]), span=_place(meta))

    def iteration(self, meta: Meta, children: list[Any]) -> t.Iteration:
        gap = children[-1] if isinstance(children[-1], t.Interval) else None
        return t.Iteration(children[0], _has(children, "COLONPLUS"), gap, span=_place(meta))

    def sequence(self, meta: Meta, children: list[Any]) -> t.Pattern:
        joints: list[tuple[bool, t.Interval | None]] = [(False, None)]  # what stands before each part
        for child in children:
            if isinstance(child, Token):
                joints.append((child.type == "COLON", None))
            elif isinstance(child, t.Interval):
                joints[-1] = (joints[-1][0], child)

        def join(place: int, left: t.Pattern, right: t.Pattern, span: Span) -> t.Pattern:
            return t.Sequence(left, right, *joints[place], span=span)

        return self._chain(children, join)

    def together(self, meta: Meta, children: list[Any]) -> t.Pattern:
        return self._chain(children, lambda _, left, right, span: t.And(left, right, span=span))

    def anywhere(self, meta: Meta, children: list[Any]) -> t.Pattern:
        return self._chain(children, lambda _, left, right, span: t.All(left, right, span=span))

    def either(self, meta: Meta, children: list[Any]) -> t.Pattern:
        return self._chain(children, lambda _, left, right, span: t.Or(left, right, span=span))

    def _chain(self, children: list[Any], join: Callable[[int, Any, Any, Span], Any]) -> Any:
        """The operands of a chain, joined to a balanced tree; each node's place is that of its operands."""
        operands = [
            (child, _place(node.meta))
            for child, node in zip(children, self.here.children)
            if not isinstance(child, Token | t.Interval)
        ]

        def joined(place: int, left: tuple[Any, Span], right: tuple[Any, Span]) -> tuple[Any, Span]:
            span = Span(left[1].start, right[1].end)
            return join(place, left[0], right[0], span), span

        return balanced(operands, joined)[0]

    def unless(self, meta: Meta, children: list[Any]) -> t.Unless:
        return t.Unless(children[0], children[-1], span=_place(meta))

    def filter(self, meta: Meta, children: list[Any]) -> t.Filter:
        pattern, condition = _nodes(children)
        leaves.check_filter(pattern, condition, self.findings)
        return t.Filter(pattern, condition, span=_place(meta))

    # -------------------------------------------------------------------------- conditions

    def every(self, meta: Meta, children: list[Any]) -> t.Every:
        variable, predicate = children
        leaves.check_predicate(variable.text, predicate, self.findings)
        return t.Every(variable.text, predicate, span=_place(meta))

    def comparison(self, meta: Meta, children: list[Any]) -> t.Condition:
        left, op, right = children
        node = t.Comparison(_OPERATORS.get(op, str(op)), left, right, span=_place(meta))
        return leaves.condition_of(node, self.findings)

    def like(self, meta: Meta, children: list[Any]) -> t.Condition:
        node = t.Like(children[0], text_of(children[-1]), span=_place(meta))
        return self._test(node, children)

    def in_constants(self, meta: Meta, children: list[Any]) -> t.Condition:
        operand, token = children[0], children[-1]
        members = sets.members_of(token, token.start_pos, self.findings)
        alone = sets.only_range(members)
        if alone is not None:
            return self._test(t.InRange(operand, *alone, span=_place(meta)), children)
        return self._test(t.InSet(operand, members, span=_place(meta)), children)

    def in_set(self, meta: Meta, children: list[Any]) -> t.Condition:
        operand, *found = _nodes(children)
        if not found:
            self.findings.error("CER018", "the set of IN is empty", _place(meta))
        if len(found) == 1 and isinstance(found[0], _Ends):
            return self._test(t.InRange(operand, *found[0], span=_place(meta)), children)
        brace = next(_at(child).start for child in children if _has([child], "LBRACE"))
        members = t.Members.of(
            *(one for one in found if not isinstance(one, _Ends)),
            ranges=[one for one in found if isinstance(one, _Ends)],
            written=self._text[brace : meta.end_pos],
            start=brace,
        )
        return self._test(t.InSet(operand, members, span=_place(meta)), children)

    def ends(self, meta: Meta, children: list[Any]) -> _Ends:
        literals = _nodes(children)
        if not literals:
            self.findings.error("CER018", "a range needs an end: `{1..}`, `{..5}` or `{1..5}`", _place(meta))
        other = next((end for end in literals if not isinstance(end, t.Number | t.Quantity)), None)
        if other is not None:
            hint = "use `IN RANGE (lo, hi)` for other values"
            self.findings.error("CER018", "the ends of `{lo..hi}` are numbers", other.span, hint)
            return _Ends(None, None)
        low, high = (None if isinstance(end, Token) else end for end in (children[0], children[-1]))
        return _Ends(low, high)

    def in_sums(self, meta: Meta, children: list[Any]) -> t.Condition:
        operand, low, high = _nodes(children)
        return self._test(t.InRange(operand, low, high, span=_place(meta)), children)

    def is_null(self, meta: Meta, children: list[Any]) -> t.Condition:
        return self._test(t.IsNull(children[0], span=_place(meta)), children)

    def _test(self, node: leaves.Leaf, children: Sequence[Any]) -> t.Condition:
        # `x.a NOT IN {...}` is `x[a NOT IN {...}]`, so the NOT goes inside.
        return leaves.condition_of(node, self.findings, negated=_has(children, "NOT"))

    def invert(self, meta: Meta, children: list[Any]) -> t.Not:
        return t.Not(children[-1], span=_place(meta))

    def conjunction(self, meta: Meta, children: list[Any]) -> t.Condition:
        return self._chain(children, lambda _, left, right, span: t.Both(left, right, span=span))

    def condition(self, meta: Meta, children: list[Any]) -> t.Condition:
        return self._chain(children, lambda _, left, right, span: t.Either(left, right, span=span))

    # ------------------------------------------------------------------------- expressions

    def arithmetic(self, meta: Meta, children: list[Any]) -> t.Arithmetic:
        left, op, right = children
        return t.Arithmetic(str(op), left, right, span=_place(meta))

    def minus(self, meta: Meta, children: list[Any]) -> t.Expression:
        operand = children[-1]
        if isinstance(operand, t.Number | t.Quantity):
            self._edges.discard(operand.span or Span(0, 0))
            return replace(operand, value=-operand.value, span=_place(meta))
        return t.Negation(operand, span=_place(meta))

    def attribute(self, meta: Meta, children: list[Any]) -> t.Attribute:
        return t.Attribute(children[0].text, span=_place(meta))

    def attribute_of(self, meta: Meta, children: list[Any]) -> t.Attribute:
        variable, name = children
        return t.Attribute(name.text, variable.text, span=_place(meta))

    def number(self, meta: Meta, children: list[Any]) -> t.Expression:
        written_number = children[0]
        span = _place(meta)
        largest = str(written_number).lstrip("0") == str(2**63)
        if largest:
            self._edges.add(span)
        value = 2**63 if largest else number_of(written_number, span, self.findings)
        if len(children) == 1:
            return t.Number(value, span=span)
        unit = unit_of(children[1], _at(children[1]), self.findings)
        return t.Quantity(value, unit, span=span)

    def constant(self, meta: Meta, children: list[Any]) -> t.Expression:
        token = children[0]
        if token.type == "STRING":
            return t.Text(text_of(token), span=_place(meta))
        return t.Boolean(token.type == "TRUE", span=_place(meta))

    # ---------------------------------------------------------------------- names, amounts

    def name(self, meta: Meta, children: list[Any]) -> _WrittenName:
        text = unquoted(children[0])
        if not text:
            self.findings.error("CER009", "a name is empty", _place(meta))
        return _WrittenName(text, _place(meta))

    def variable(self, meta: Meta, children: list[Any]) -> _WrittenName:
        return _WrittenName(">".join(self._plain(name) for name in _nodes(children)), _place(meta))

    mark = variable

    def _plain(self, name: _WrittenName) -> str:
        # `S>T` is a variable made of two names, so neither may hold the sign itself.
        if ">" in name.text:
            what = f"the name {written(name.text)} holds a `>`, which joins a stream and a type"
            self.findings.error("CER009", what, name.span)
        return name.text

    def span(self, meta: Meta, children: list[Any]) -> Amount:
        number, word = children
        unit = EVENTS if is_events(word) else unit_of(word, _at(word), self.findings)
        return Amount(number_of(number, _at(number), self.findings), unit, _place(meta))

    def signed(self, meta: Meta, children: list[Any]) -> Amount:
        negative = _has(children, "MINUS")
        parts = _nodes(children)
        if parts:
            return sum_of(parts, _place(meta), self.findings, negative=negative)
        number = children[-1]
        value = number_of(number, _at(number), self.findings, negative=negative)
        return Amount(value, None, _place(meta))

    def bound(self, meta: Meta, children: list[Any]) -> WrittenBound:
        comparator = _OPERATORS.get(children[0], str(children[0])) if len(children) == 2 else None
        return WrittenBound(comparator, children[-1])

    def interval(self, meta: Meta, children: list[Any]) -> t.Interval:
        return interval_of(children, _place(meta), self.findings)
