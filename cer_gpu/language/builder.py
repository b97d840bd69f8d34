"""Makes the syntax tree from a parse tree, and checks what the grammar does not.

`x.a op constant` becomes `x[a op constant]`, spans of time become one amount. Everything that the grammar
allows and the language does not is reported, all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from cer_gpu.errors import Diagnostic, Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language import leaves, rules
from cer_gpu.language import tree as t
from cer_gpu.language.amounts import measures_time, number_of, suppressed_for, window_of
from cer_gpu.language.condition_builder import (
    OPERATORS,
    ConditionBuilder,
    WrittenName,
    has,
    nodes_of,
    place_at,
    place_of,
)
from cer_gpu.language.measures import measure_of, with_what_is_read
from cer_gpu.language.parse_tree import Meta, Token, Tree
from cer_gpu.language.repetitions import WrittenTimes, not_empty, not_optional, repeated
from cer_gpu.language.walk import rebuild, walk

_CLAUSES = ("PARTITION BY", "WITHIN", "CONSUME BY", "SUPPRESS FOR", "LIMIT")


def build(tree: Tree, text: str) -> tuple[t.Statement, tuple[Diagnostic, ...]]:
    """The statement of a parse tree and its errors; the statement is to be used only if there are none."""
    builder = _Builder(text)
    statement = builder.transform(tree)
    return statement, builder.findings.sorted()


@dataclass(frozen=True, slots=True)
class _KeyPart:
    # One part of PARTITION BY: alternative names.
    names: tuple[WrittenName, ...]


@dataclass(frozen=True, slots=True)
class _Clause:
    keyword: str
    value: Any
    span: Span


@dataclass(frozen=True, slots=True)
class _Sources:
    names: tuple[WrittenName, ...]


@dataclass(frozen=True, slots=True)
class _Selection:
    items: tuple[t.SelectItem, ...] | None
    measures: tuple[t.SelectMeasure, ...]


@dataclass(frozen=True, slots=True)
class _Head:
    variables: tuple[t.RuleVariable, ...]
    aggregates: tuple[t.Aggregate, ...]


@dataclass(frozen=True, slots=True)
class _Argument:
    # What stands between the parentheses of an atom: a term, with its attribute where that is named.
    attribute: WrittenName | None
    term: t.Expression | t.RuleVariable


class _Builder(ConditionBuilder):
    # The methods are named for the rules of the grammar and their aliases.

    # ------------------------------------------------------------------------------- query

    def query(self, meta: Meta, children: list[Any]) -> t.SelectQuery:
        self._check_edges()
        nodes = nodes_of(children)
        clauses = [node for node in nodes if isinstance(node, _Clause)]
        values = {clause.keyword: clause.value for clause in clauses}
        self._check_order(clauses)
        streams = next((node.names for node in nodes if isinstance(node, _Sources)), ())
        parts: tuple[_KeyPart, ...] = values.get("PARTITION BY", ())
        limit: tuple[int | None, Span | None] = values.get("LIMIT", (None, None))
        pattern = next(node for node in nodes if isinstance(node, t.Pattern))
        pattern = not_empty(pattern, "the pattern", self.findings)
        selection = next(node for node in nodes if isinstance(node, _Selection))
        query = t.SelectQuery(
            pattern,
            next((node for node in nodes if isinstance(node, t.Strategy)), t.Strategy.ALL),
            selection.items,
            tuple(self._plain(name) for name in streams),
            tuple(tuple(name.text for name in part.names) for part in parts),
            values.get("WITHIN"),
            values.get("CONSUME BY", t.Consume.NONE),
            limit[0],
            selection.measures,
            values.get("SUPPRESS FOR"),
            places=t.ClausePlaces(
                tuple(name.span for name in streams),
                tuple(tuple(name.span for name in part.names) for part in parts),
                limit[1],
            ),
            span=place_of(meta),
        )
        return with_stream_marks(query)

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
        word = children[0].upper()
        return t.Strategy("NEXT" if word == "NXT" else word)

    def selection(self, meta: Meta, children: list[Any]) -> _Selection:
        nodes = nodes_of(children)
        measures = tuple(node for node in nodes if isinstance(node, t.SelectMeasure))
        if has(children, "STAR"):
            return _Selection(None, measures)
        if has(children, "NONE"):
            return _Selection((), measures)
        items = (node for node in nodes if isinstance(node, t.SelectItem))
        return _Selection(with_what_is_read(items, measures), measures)

    def measure(self, meta: Meta, children: list[Any]) -> t.SelectMeasure:
        expression, name = nodes_of(children)
        return t.SelectMeasure(measure_of(expression, self.findings), name.text, span=place_of(meta))

    def item(self, meta: Meta, children: list[Any]) -> t.SelectItem:
        variable, *attributes = nodes_of(children)
        if has(children, "STAR"):
            return t.SelectItem(variable.text, whole=True, span=place_of(meta))
        names = tuple(name.text for name in attributes)
        places = tuple(name.span for name in attributes)
        return t.SelectItem(variable.text, names, places=places, span=place_of(meta))

    def sources(self, meta: Meta, children: list[Any]) -> _Sources:
        return _Sources(tuple(nodes_of(children)))

    def partition(self, meta: Meta, children: list[Any]) -> _Clause:
        return _Clause("PARTITION BY", tuple(nodes_of(children)), place_of(meta))

    def part(self, meta: Meta, children: list[Any]) -> _KeyPart:
        return _KeyPart(tuple(children))

    def window(self, meta: Meta, children: list[Any]) -> _Clause:
        amount, *attribute = nodes_of(children)
        name = attribute[0].text if attribute else None
        span = Span(amount.span.start, meta.end_pos)
        return _Clause("WITHIN", window_of(amount, name, span, self.findings), place_of(meta))

    def consume(self, meta: Meta, children: list[Any]) -> _Clause:
        return _Clause("CONSUME BY", t.Consume(children[-1].type), place_of(meta))

    def suppress(self, meta: Meta, children: list[Any]) -> _Clause:
        (amount,) = nodes_of(children)
        by = next((t.Consume(word) for word in ("ANY", "PARTITION") if has(children, word)), None)
        length = suppressed_for(amount, self.findings)
        return _Clause("SUPPRESS FOR", t.Suppress(length, by, span=place_of(meta)), place_of(meta))

    def limit(self, meta: Meta, children: list[Any]) -> _Clause:
        number = children[-1]
        span = Span(place_at(children[1]).start, place_at(number).end)
        value = number_of(number, place_at(number), self.findings, negative=has(children, "MINUS"))
        if not isinstance(value, int):
            self.findings.error("CER017", "LIMIT takes a whole number", span)
            value = 0
        return _Clause("LIMIT", (value, span), place_of(meta))

    # ------------------------------------------------------------------------------- rules

    def rule(self, meta: Meta, children: list[Any]) -> t.Rule:
        self._check_edges()
        name, head, body, *window = nodes_of(children)
        atoms = tuple(part for part in body if isinstance(part, t.RuleAtom))
        comparisons = tuple(part for part in body if isinstance(part, t.Comparison))
        rules.check_body(atoms, comparisons, place_of(meta), self.findings)
        return t.Rule(
            name.text,
            head.variables,
            atoms,
            comparisons,
            head.aggregates,
            window[0].value if window else None,
            span=place_of(meta),
        )

    def head(self, meta: Meta, children: list[Any]) -> _Head:
        variables, *aggregates = nodes_of(children)
        return _Head(variables, tuple(aggregates))

    def variables(self, meta: Meta, children: list[Any]) -> tuple[t.RuleVariable, ...]:
        return tuple(children)

    body = variables

    def aggregate(self, meta: Meta, children: list[Any]) -> t.Aggregate:
        name, argument = children
        over = None if isinstance(argument, Token) else argument
        node = t.Aggregate(name.text.upper(), over, span=place_of(meta))
        rules.check_aggregate(node, name.text, name.span, self.findings)
        return node

    def rule_atom(self, meta: Meta, children: list[Any]) -> t.RuleAtom:
        names = [node for node in children if isinstance(node, WrittenName)]
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
            rules.mixed_atom(event, odd.term, self.findings)
        terms = (rules.term_of(argument.term, self.findings) for argument in arguments)
        return t.RuleAtom(
            event,
            tuple(terms),
            tuple(name.text for name in named) if by_name else None,
            places=tuple(name.span for name in named),
            span=place_of(meta),
        )

    def argument(self, meta: Meta, children: list[Any]) -> _Argument:
        *attribute, term = nodes_of(children)
        return _Argument(attribute[0] if attribute else None, term)

    def rule_variable(self, meta: Meta, children: list[Any]) -> t.RuleVariable:
        return t.RuleVariable(children[0].text, span=place_of(meta))

    def rule_comparison(self, meta: Meta, children: list[Any]) -> t.Comparison:
        left, op, right = children
        return t.Comparison(OPERATORS.get(op, str(op)), left, right, span=place_of(meta))

    # ---------------------------------------------------------------------------- patterns

    def event(self, meta: Meta, children: list[Any]) -> t.EventType:
        names = [self._plain(name) for name in nodes_of(children)]
        stream = names[0] if len(names) == 2 else None
        return t.EventType(names[-1], stream, span=place_of(meta))

    def group(self, meta: Meta, children: list[Any]) -> Any:
        if isinstance(children[0], t.Pattern):
            return not_empty(children[0], "the pattern in the parentheses", self.findings)
        return children[0]

    def timed(self, meta: Meta, children: list[Any]) -> t.Timed:
        pattern, interval = nodes_of(children)
        pattern = not_empty(pattern, "the pattern in the parentheses", self.findings)
        return t.Timed(pattern, measures_time(interval, self.findings), span=place_of(meta))

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
                "an event that does not come has no name: leave `AS` out"
                if isinstance(pattern, t.As)
                else "`p UNLESS q` keeps the matches of p that have no match of q inside",
            )
            pattern = t.EventType("T")
        return t.OtherEvent(pattern, condition, span=place_of(meta))

    def selector(self, meta: Meta, children: list[Any]) -> t.Selector:
        pattern = not_empty(children[-1], "the pattern in the parentheses", self.findings)
        return t.Selector(self.strategy(meta, children), pattern, span=place_of(meta))

    def project(self, meta: Meta, children: list[Any]) -> t.Project:
        pattern, *names = nodes_of(children)
        pattern = not_empty(pattern, "the pattern in the parentheses", self.findings)
        variables = tuple(name.text for name in names)
        return t.Project(pattern, variables, places=tuple(name.span for name in names), span=place_of(meta))

    def as_(self, meta: Meta, children: list[Any]) -> t.As:
        pattern = not_optional(children[0], "AS", self.findings)
        return t.As(pattern, self._plain(children[-1]), span=place_of(meta))

    def iteration(self, meta: Meta, children: list[Any]) -> t.Iteration:
        contiguous = has(children, "COLONPLUS")
        pattern = not_optional(children[0], ":+" if contiguous else "+", self.findings)
        return t.Iteration(pattern, contiguous, self._gap(children), span=place_of(meta))

    def repetition(self, meta: Meta, children: list[Any]) -> t.Iteration | t.Optional:
        times = next(child for child in children if isinstance(child, WrittenTimes))
        pattern = not_optional(children[0], "{n,m}", self.findings)
        contiguous = has(children, "COLONTIMES")
        return repeated(pattern, contiguous, times, self._gap(children), place_of(meta), self.findings)

    def times(self, meta: Meta, children: list[Any]) -> WrittenTimes:
        numbers = nodes_of(children)
        if not has(children, "COMMA"):
            return WrittenTimes(numbers[0], numbers[0], place_of(meta))
        least = None if isinstance(children[0], Token) else children[0]
        most = None if isinstance(children[-1], Token) else children[-1]
        return WrittenTimes(least, most, place_of(meta))

    def times_number(self, meta: Meta, children: list[Any]) -> int:
        number = children[-1]
        value = number_of(number, place_at(number), self.findings)
        if has(children, "MINUS") or not isinstance(value, int):
            hint = "as in `A {3}`, `A {3,}`, `A {3,5}`"
            message = "the number of repetitions must be a whole number"
            self.findings.error("CER019", message, place_of(meta), hint)
            return 1
        return value

    def optional(self, meta: Meta, children: list[Any]) -> t.Optional:
        pattern = children[0]
        return t.Optional(
            pattern.pattern if isinstance(pattern, t.Optional) else pattern, span=place_of(meta)
        )

    def _gap(self, children: Sequence[Any]) -> t.Interval | None:
        gap = children[-1] if isinstance(children[-1], t.Interval) else None
        return None if gap is None else measures_time(gap, self.findings)

    def sequence(self, meta: Meta, children: list[Any]) -> t.Pattern:
        joints: list[tuple[bool, t.Interval | None]] = [(False, None)]  # what stands before each part
        for child in children:
            if isinstance(child, Token):
                joints.append((child.type == "COLON", None))
            elif isinstance(child, t.Interval):
                joints[-1] = (joints[-1][0], measures_time(child, self.findings))

        def join(place: int, left: t.Pattern, right: t.Pattern, span: Span) -> t.Pattern:
            return t.Sequence(left, right, *joints[place], span=span)

        optional = any(isinstance(child, t.Optional) for child in children)
        return self._chain(children, join, leaning=optional)

    def together(self, meta: Meta, children: list[Any]) -> t.Pattern:
        return self._operands("AND", t.And, children)

    def anywhere(self, meta: Meta, children: list[Any]) -> t.Pattern:
        return self._operands("ALL", t.All, children)

    def either(self, meta: Meta, children: list[Any]) -> t.Pattern:
        return self._operands("OR", t.Or, children)

    def _operands(self, word: str, kind: Any, children: list[Any]) -> t.Pattern:
        what = f"an operand of {word}"
        some = [
            child if isinstance(child, Token) else not_empty(child, what, self.findings) for child in children
        ]
        made: t.Pattern = self._chain(some, lambda _, left, right, span: kind(left, right, span=span))
        return made

    def unless(self, meta: Meta, children: list[Any]) -> t.Unless:
        left, right = (
            not_empty(child, "an operand of UNLESS", self.findings) for child in nodes_of(children)
        )
        return t.Unless(left, right, span=place_of(meta))

    def beside(self, meta: Meta, children: list[Any]) -> t.Beside:
        before = has(children, "PRECEDED")
        what = f"an operand of {'PRECEDED' if before else 'FOLLOWED'} BY"
        left, right = (not_empty(child, what, self.findings) for child in (children[0], children[-1]))
        interval = next((child for child in children if isinstance(child, t.Interval)), None)
        return t.Beside(left, right, before, has(children, "NOT"), interval, span=place_of(meta))

    def filter(self, meta: Meta, children: list[Any]) -> t.Filter:
        pattern, condition = nodes_of(children)
        pattern = not_empty(pattern, "the pattern before FILTER", self.findings)
        leaves.check_filter(pattern, condition, self.findings)
        return t.Filter(pattern, condition, span=place_of(meta))


def with_stream_marks(query: t.SelectQuery) -> t.SelectQuery:
    """The query with its atoms by stream, where it speaks of events of a type in one of the streams.

    >>> SELECT * FROM S1, S2 WHERE BUY ; SELL FILTER S1>BUY[price > 5]
    >>> SELECT * FROM S1, S2 WHERE (S1>BUY OR S2>BUY) ; SELL FILTER S1>BUY[price > 5]

    An event is of one stream, so both have the same complex events, and the second has the marks `S>T` too. A
    query that speaks of none keeps its atoms.
    """
    if not query.streams:
        return query
    spoken = set(_spoken_of(query))
    if not any(">" in variable for variable in spoken):
        return query
    types = {node.name for node in walk(query.pattern) if isinstance(node, t.EventType)}
    by_stream = {
        name: query.streams
        for name in types
        if not spoken.isdisjoint(f"{stream}>{name}" for stream in query.streams)
    }
    return replace(query, pattern=_by_stream(query.pattern, by_stream)) if by_stream else query


def _spoken_of(query: t.SelectQuery) -> Iterator[str]:
    """The variables of conditions, measures, the SELECT list and PROJECT."""
    for node in walk(query):
        match node:
            case t.Every(variable=str(name)) | t.Attribute(variable=str(name)):
                yield name
            case t.Aggregate(variable=str(name)) | t.SelectItem(variable=name):
                yield name
            case t.Project(variables=names):
                yield from names


def _by_stream(pattern: t.Pattern, by_stream: Mapping[str, tuple[str, ...]]) -> t.Pattern:
    match pattern:
        case t.EventType(name=name, stream=None) if name in by_stream:
            atoms: list[t.Pattern] = [replace(pattern, stream=stream) for stream in by_stream[name]]
            return reduce(lambda left, right: t.Or(left, right, span=pattern.span), atoms)
    rebuilt: t.Pattern = rebuild(pattern, lambda part: _by_stream(part, by_stream))
    return rebuilt
