"""Expressions of MEASURES and DEFINE: columns, navigations, aggregates, and the rules of SQL for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from cer_gpu.errors import Span
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.patterns.operation_reader import OperationReader
from cer_gpu.patterns.sql_error import (
    NAVIGATION,
    NO_EXPRESSION,
    NOT_TAKEN,
    UNKNOWN_VARIABLE,
    UNREADABLE,
    SqlError,
    choice_hint,
    too_deep,
    unknown_function,
)
from cer_gpu.patterns.sql_functions import called
from cer_gpu.patterns.sql_language import SqlLanguage, SqlToken
from cer_gpu.patterns.sql_literals import SqlInterval
from cer_gpu.patterns.sql_tokens import SqlTokens
from cer_gpu.patterns.tree import (
    Field,
    MatchedVariable,
    MatchNumber,
    Navigation,
    Operation,
    RowAggregate,
    Scalar,
    ScalarConstant,
)

_NAVIGATIONS = ("FIRST", "LAST", "PREV", "NEXT")
_COUNTED = ("COUNT_IF", "COUNTIF")
_BETWEEN = {"GROUP_CONCAT": ","}
_EXTENT_WORDS = ("FINAL", "RUNNING")
_OPERATORS = frozenset(
    {"AND", "OR", "NOT", "IS", "IN", "LIKE", "ILIKE", "BETWEEN", "THEN", "ELSE", "WHEN", "END"}
)

_CLOCKS = frozenset({"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "SYSDATE"})
"""Functions without parentheses, which are no columns."""

NESTING = "only FIRST and LAST can stand inside PREV and NEXT: PREV(LAST(a.price), 2)"


class _VariableName(NamedTuple):
    # A variable as an expression names it: None where it names none.
    name: str | None
    variables: frozenset[str] | None
    at: Span | None


class ScalarReader(OperationReader):
    """Reads the expressions of one clause.

    Parameters
    ----------
    tokens : SqlTokens
    language : SqlLanguage
    variables : mapping of str to frozenset of str
        The variables of the pattern, and those of SUBSET, with their primary variables.
    parameters : mapping of int to object
        Values of parameters by the character where they stand.
    sources : collection of str
        Names of what the clause reads, in upper case: they are no prefix of a column.
    """

    def __init__(
        self,
        tokens: SqlTokens,
        language: SqlLanguage,
        variables: Mapping[str, frozenset[str]],
        parameters: Mapping[int, Any],
        sources: Sequence[str] = (),
    ) -> None:
        super().__init__(tokens, language.name)
        self._language = language
        self._variables = variables
        self._parameters = parameters
        self._sources = sources
        self._extents: dict[int, str] = {}
        self._named: list[_VariableName] | None = None
        self._around = ""
        self._in_define = False

    def scalar(self, first: int, end: int, in_define: bool = False) -> Scalar:
        """The scalar of a range of tokens.

        Parameters
        ----------
        first, end : int
        in_define : bool
            Whether it is a condition of DEFINE, which knows the rows up to the current one.

        Raises
        ------
        SqlError
            When it cannot be read, or breaks a rule.
        """
        self._named, self._around, self._in_define = None, "", in_define
        try:
            return self.read(self._parsed(first, end))
        except RecursionError:
            raise too_deep(self.tokens.span(first, end)) from None
        except SqlError as error:
            # Before version 30 literals of sqlglot have no place.
            raise error.placed(self.tokens.span(first, end)) from None

    def length(self, first: int, end: int) -> SqlInterval:
        """The length of time that a range of tokens writes."""
        node = self._parsed(first, end) if self.tokens.key(first) == "INTERVAL" else None
        if type(node).__name__ != "Interval":
            number = min(first, len(self.tokens) - 1)
            span, hint = self.tokens.span(number, max(end, number + 1)), "WITHIN INTERVAL '5' MINUTE"
            raise SqlError(UNREADABLE, "expected an interval", span, hint)
        return self.interval(node)

    def _parsed(self, first: int, end: int) -> Any:
        if first >= end:
            number = min(first, len(self.tokens) - 1)
            raise SqlError(UNREADABLE, "expected an expression", self.tokens.tokens[number].span)
        self.offset = self.tokens.tokens[first].start
        return self._language.parsed(self._plain(first, end), self.offset)

    def _plain(self, first: int, end: int) -> str:
        # The text as sqlglot takes it, character by character in the same place: without FINAL and RUNNING,
        # with neutral names for parameters and for names beside a point, which may be keywords elsewhere.
        tokens = self.tokens.tokens
        span = self.tokens.span(first, end)
        text = list(self.tokens.text[span.start : span.end])
        for number in range(first, end):
            token = tokens[number]
            if token.key == "SELECT" and self.tokens.key(number - 1) == "(":
                hint = "join what it finds before: FROM (SELECT ... FROM t JOIN ...) MATCH_RECOGNIZE (...)"
                raise SqlError(NO_EXPRESSION, "a row pattern cannot have a subquery here", token.span, hint)
            if token.start in self._parameters:
                text[token.start - span.start] = "_"
            elif token.kind == "word" and "." in (self.tokens.key(number - 1), self.tokens.key(number + 1)):
                text[token.start - span.start : token.end - span.start] = "_" * (token.end - token.start)
            elif token.key in _EXTENT_WORDS and number + 1 < end and tokens[number + 1].is_name:
                if self.tokens.key(number + 2) == "(" and number + 2 < end:
                    self._extents[tokens[number + 1].start] = token.key
                    text[token.start - span.start : token.end - span.start] = " " * (token.end - token.start)
                elif tokens[number + 1].key not in _OPERATORS:
                    raise self._misplaced_extent(token.key, token.span)
        return "".join(text)

    def leaf(self, node: Any, name: str) -> Scalar:
        """A column or a call."""
        if name == "Column":
            return self._column(node)
        if name == "Anonymous":
            return self._call(node)
        raise self.refused(node, name)

    # Columns

    def _column(self, node: Any) -> Scalar:
        place = self.place(node.this)
        if place is not None and place.start in self._parameters:
            return ScalarConstant(self._parameters[place.start], place)
        if type(node.this).__name__ == "Star":
            raise self.refused(node, "Star")
        name = self._token(node.this)
        span = self.extent(node)
        if name.key in _CLOCKS and node.args.get("table") is None:
            raise unknown_function(name.key, span, ())
        if self._is_bare_classifier(node):
            return self._navigated(MatchedVariable(span), _VariableName(None, None, span))
        return self._navigated(Field(name.value, span), self._variable(node.args.get("table"), span))

    def _is_bare_classifier(self, node: Any) -> bool:
        # Snowflake takes CLASSIFIER without parentheses.
        return (
            self.language == "snowflake"
            and node.args.get("table") is None
            and node.name.upper() == "CLASSIFIER"
        )

    def _token(self, node: Any) -> SqlToken:
        place = self.place(node)
        number = None if place is None else self.tokens.number_at.get(place.start)
        if number is None:
            return SqlToken(
                "quoted" if node.args.get("quoted") else "word", node.name, node.name.upper(), 0, 0
            )
        return self.tokens.tokens[number]

    def _variable(self, node: Any, span: Span | None) -> _VariableName:
        if node is None:
            return _VariableName(None, None, span)
        token = self._token(node)
        if token.name in self._variables:
            return _VariableName(token.name, self._variables[token.name], span)
        hint = choice_hint(token.name, self._variables, "the variables are")
        if token.name.upper() in self._sources:
            hint = f"inside the clause a prefix is a variable of the pattern: leave `{token.value}.` out"
        message = f"`{token.value}` is not a variable of the pattern"
        raise SqlError(UNKNOWN_VARIABLE, message, self.place(node), hint)

    def _navigated(self, expression: Scalar, named: _VariableName) -> Scalar:
        """A column where it stands: inside a navigation it is itself, elsewhere LAST goes to its row."""
        if self._named is None:
            return Navigation(expression, named.variables, at=named.at)
        self._named.append(named)
        return expression

    # Calls

    def _call(self, node: Any) -> Scalar:
        span = self.place(node)
        name = (node.this if isinstance(node.this, str) else node.this.name).upper()
        if self.language == "snowflake":
            name = {"LAG": "PREV", "LEAD": "NEXT"}.get(name, name)
        extent = self._extents.get(span.start) if span is not None else None
        if extent is not None and name not in ("FIRST", "LAST", *AGGREGATE_CALLS):
            raise self._misplaced_extent(extent, span)
        if extent == "FINAL" and self._in_define:
            hint = "leave FINAL out: a condition knows the rows up to the current one"
            raise SqlError(NAVIGATION, "FINAL cannot be in DEFINE", span, hint)
        final = extent == "FINAL"
        if name in _NAVIGATIONS:
            return self._navigation(name, node.expressions, final, span)
        if name in AGGREGATE_CALLS:
            return self._aggregate(name, node.expressions, final, span)
        if name == "CLASSIFIER":
            return self._classifier(node.expressions, span)
        if name == "MATCH_NUMBER":
            self._refuse_inside(name, span)
            return MatchNumber(span)
        if name == "MATCH_SEQUENCE_NUMBER":  # of Snowflake: the number of the row in its match
            self._refuse_inside(name, span)
            return RowAggregate("count", None, at=span)
        return called(name, self, node.expressions, span)

    def _misplaced_extent(self, word: str, span: Span | None) -> SqlError:
        hint = f"the value of the last row is {word} LAST(a.price)"
        return SqlError(NAVIGATION, f"{word} belongs before FIRST, LAST or an aggregate", span, hint)

    def _refuse_inside(self, name: str, span: Span | None) -> None:
        if self._named is not None:
            raise SqlError(NAVIGATION, f"{name} cannot be inside {self._around}", span, NESTING)

    def _classifier(self, nodes: Sequence[Any], span: Span | None) -> Scalar:
        if not nodes:
            return self._navigated(MatchedVariable(span), _VariableName(None, None, span))
        if len(nodes) > 1 or type(nodes[0]).__name__ != "Column" or nodes[0].args.get("table") is not None:
            raise SqlError(NOT_TAKEN, "CLASSIFIER takes a variable of the pattern, or nothing", span)
        variable = self._variable(nodes[0].this, span)
        return self._navigated(MatchedVariable(span), variable)

    def _navigation(self, name: str, nodes: Sequence[Any], final: bool, span: Span | None) -> Scalar:
        self._refuse_inside(name, span)
        if not 1 <= len(nodes) <= 2:
            raise SqlError(NOT_TAKEN, f"{name} takes an expression and a number of rows", span)
        beside = name in ("PREV", "NEXT")
        steps = self._steps(name, nodes[1]) if len(nodes) == 2 else int(beside)
        if not beside:
            which: Literal["first", "last"] = "first" if name == "FIRST" else "last"
            expression, variables = self._inside(name, nodes[:1], span)
            return Navigation(expression, variables, which, steps, 0, final, span)
        offset = -steps if name == "PREV" else steps
        inner = _without_parentheses(nodes[0])
        if type(inner).__name__ == "Anonymous" and str(inner.this).upper() in ("FIRST", "LAST"):
            found = self._call(inner)
            assert isinstance(found, Navigation)
            return Navigation(
                found.expression, found.variables, found.which, found.skip, offset, found.final, span
            )
        expression, variables = self._inside(name, nodes[:1], span)
        return Navigation(expression, variables, "last", 0, offset, False, span)

    def _steps(self, name: str, node: Any) -> int:
        place = self.extent(node)
        try:
            value = self.read(node)
        except SqlError:
            value = None
        steps = value.value if isinstance(value, ScalarConstant) else None
        if not isinstance(steps, int) or isinstance(steps, bool) or not 0 <= steps < 1 << 31:
            message = f"the number of rows of {name} must be a constant whole number, 0 or more"
            raise SqlError(NAVIGATION, message, place)
        return steps

    def _aggregate(self, name: str, nodes: Sequence[Any], final: bool, span: Span | None) -> Scalar:
        self._refuse_inside(name, span)
        call = AGGREGATE_CALLS[name]
        function = call.function
        if self._in_define and function not in IN_CONDITIONS:
            hint = "a condition may have COUNT, SUM, MIN, MAX and AVG"
            raise SqlError(NOT_TAKEN, f"{name} can be a measure, and not in DEFINE", span, hint)
        distinct = len(nodes) == 1 and type(nodes[0]).__name__ == "Distinct"
        if distinct:
            nodes = nodes[0].expressions
        if function == "count" and name == "COUNT" and not distinct and self._counts_rows(nodes):
            table = nodes[0].args.get("table") if nodes and type(nodes[0]).__name__ == "Column" else None
            variables = self._variable(table, span).variables
            return RowAggregate("count", None, variables, False, final, span)
        if not call.least <= len(nodes) <= call.most:
            takes = "one expression" if call.most == 1 else f"{'one or ' * (call.least == 1)}two expressions"
            raise SqlError(NOT_TAKEN, f"{name} takes {takes}, not {len(nodes)}", span)
        expression, variables = self._inside(name, nodes, span, aggregate=True)
        if name in _COUNTED:
            expression = self.made("case", (expression, ScalarConstant(1), ScalarConstant(None)))
        if function == "array" and self.language in NO_NULLS:
            function = "values"
        if function == "avg" and self.language in WHOLE_AVERAGES:
            function = "whole avg"
        if function == "text":
            expression = self._with_text_between(expression, name, span)
        found = RowAggregate(function, expression, variables, distinct, final, span)
        if name in ("STDDEV", "VARIANCE") and self.language == "oracle":  # of one value it is 0
            count = RowAggregate("count", expression, variables, distinct, final)
            one = self.made("=", (count, ScalarConstant(1)))
            return self.made("case", (one, ScalarConstant(0.0), found), span)
        return found

    def _with_text_between(self, expression: Scalar, name: str, span: Span | None) -> Scalar:
        """The pair of a text and of the constant between the texts of a match."""
        text: Scalar = expression
        between: Scalar = ScalarConstant(_BETWEEN.get(name, ""))
        if isinstance(expression, Operation) and expression.name == "pair":
            text, between = expression.operands
        if not isinstance(between, ScalarConstant) or not isinstance(between.value, str):
            raise SqlError(NOT_TAKEN, f"the separator of {name} must be a constant text", span)
        return Operation("pair", (text, between), at=expression.at)

    def _counts_rows(self, nodes: Sequence[Any]) -> bool:
        if not nodes:
            return True
        star = nodes[0].this if type(nodes[0]).__name__ == "Column" else nodes[0]
        return len(nodes) == 1 and type(star).__name__ == "Star"

    def _inside(
        self, name: str, nodes: Sequence[Any], span: Span | None, aggregate: bool = False
    ) -> tuple[Scalar, frozenset[str] | None]:
        """Arguments with the variables whose rows they are about: all of their columns are of one."""
        with self._within(name) as named:
            read = [self.read(node) for node in nodes]
        expression = read[0] if len(read) == 1 else Operation("pair", tuple(read), at=span)
        if not named and not aggregate:
            hint = f"{name}(a.price) is about rows of a, {name}(price) about all rows of the match"
            raise SqlError(NAVIGATION, f"{name} needs a column", span, hint)
        for other in named:
            if other.name != named[0].name:
                told = " and ".join(f"`{one.name}`" if one.name else "all rows" for one in (named[0], other))
                hint = f"write a call for each: {name}(a.x) - {name}(b.x)"
                message = f"all columns in {name} must be of one variable, and here they are of {told}"
                raise SqlError(NAVIGATION, message, other.at, hint)
        return expression, named[0].variables if named else None

    @contextmanager
    def _within(self, name: str) -> Iterator[list[_VariableName]]:
        named: list[_VariableName] = []
        self._named, self._around = named, name
        try:
            yield named
        finally:
            self._named, self._around = None, ""


def _without_parentheses(node: Any) -> Any:
    while type(node).__name__ == "Paren":
        node = node.this
    return node


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """What an aggregate of SQL is.

    Attributes
    ----------
    function : str
        One of `tree.AGGREGATES`.
    least, most : int
        How many expressions it takes.
    """

    function: str
    least: int = 1
    most: int = 1


AGGREGATE_CALLS: Mapping[str, AggregateCall] = {
    "COUNT": AggregateCall("count"),
    "COUNT_IF": AggregateCall("count"),
    "COUNTIF": AggregateCall("count"),
    "SUM": AggregateCall("sum"),
    "MIN": AggregateCall("min"),
    "MAX": AggregateCall("max"),
    "AVG": AggregateCall("avg"),
    **dict.fromkeys(("BOOL_AND", "LOGICAL_AND", "EVERY"), AggregateCall("min")),
    **dict.fromkeys(("BOOL_OR", "LOGICAL_OR"), AggregateCall("max")),
    **dict.fromkeys(("ARRAY_AGG", "COLLECT_LIST", "LIST"), AggregateCall("array")),
    **dict.fromkeys(("LISTAGG", "STRING_AGG", "GROUP_CONCAT"), AggregateCall("text", 1, 2)),
    **dict.fromkeys(("ANY_VALUE", "ARBITRARY"), AggregateCall("any")),
    **dict.fromkeys(("STDDEV", "STDDEV_SAMP"), AggregateCall("sample deviation")),
    "STDDEV_POP": AggregateCall("deviation"),
    **dict.fromkeys(("VARIANCE", "VAR_SAMP"), AggregateCall("sample variance")),
    "VAR_POP": AggregateCall("variance"),
    **dict.fromkeys(("MIN_BY", "ARG_MIN", "ARGMIN"), AggregateCall("min by", 2, 2)),
    **dict.fromkeys(("MAX_BY", "ARG_MAX", "ARGMAX"), AggregateCall("max by", 2, 2)),
}
"""The aggregates by their names in SQL."""

IN_CONDITIONS = frozenset(["count", "sum", "min", "max", "avg", "whole avg"])
"""Aggregates that DEFINE may have, too."""

NO_NULLS = frozenset({"snowflake", "spark", "databricks", "hive"})
"""Dialects whose ARRAY_AGG leaves nulls out."""

WHOLE_AVERAGES = frozenset({"flink", "calcite", "tsql"})
"""Dialects whose AVG of integers is an integer."""
