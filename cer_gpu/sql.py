"""Translates SQL to the rule of a view: `rule_of_sql`. It needs sqlglot (the extra `sql`).

`SELECT R.a, COUNT(*) AS n FROM R, S WHERE R.b = S.b AND S.c < R.a GROUP BY R.a` is the rule
`Q(a; COUNT(*)) <- R(a = a, b = y), S(b = z, c = w), y = z, w < a`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cer_gpu.errors import Diagnostic, QueryError
from cer_gpu.extras import to_install
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.language.units import unit_named

COMPARISONS = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%"}
FOLDS = {"Count": "COUNT", "Sum": "SUM", "Min": "MIN", "Max": "MAX", "Avg": "AVG"}


class SqlRule(NamedTuple):
    """A rule, and the names that SQL gives to its aggregates.

    Attributes
    ----------
    rule : Rule
    named : mapping of str to str
        The name of the column of each aggregate, by the text of the aggregate: `{"COUNT(*)": "n"}`.
    """

    rule: t.Rule
    named: Mapping[str, str]


def rule_of_sql(text: str) -> SqlRule:
    """Translate a SELECT over several tables to a rule.

    Parameters
    ----------
    text : str
        `SELECT columns, aggregates FROM tables [JOIN ... ON ...] WHERE comparisons [GROUP BY columns]`, with
        AND between the comparisons. An answer has the columns first, then the aggregates.

    Returns
    -------
    SqlRule

    Raises
    ------
    QueryError
        When the text is not SQL, or asks for something that a view cannot keep.
    """
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ImportError:
        raise _refused("SQL is read by sqlglot, which is not installed", text, to_install("sql")) from None
    try:
        select = sqlglot.parse_one(text)
    except SqlglotError as error:
        first = str(error).splitlines()[0]
        raise _refused(f"the SQL cannot be read: {first}", text) from None
    return _Reader(text, select).read()


def _refused(what: str, text: str, *hints: str) -> QueryError:
    return QueryError([Diagnostic("CER096", what, None, hints=hints)], text)


class _Reader:
    """Reads one SELECT."""

    def __init__(self, text: str, select: Any) -> None:
        self._text = text
        self._select = select
        self._tables: dict[str, str] = {}
        self._columns: dict[str, dict[str, str]] = {}
        """For each table of FROM its columns, with the variable of each."""

    def read(self) -> SqlRule:
        select = self._select
        if type(select).__name__ != "Select":
            raise self._no("the SQL of a view must be one SELECT")
        known = {"expressions", "from", "from_", "joins", "where", "group"}
        for part, value in select.args.items():
            if value and part not in known:
                raise self._no(f"a view cannot have {part.rstrip('_').upper()}")
        source = select.args.get("from_") or select.args.get("from")
        if source is None:
            raise self._no("there is no FROM: a view joins tables", "SELECT R.a FROM R, S WHERE R.b = S.b")
        self._add_table(source.this)
        conditions = []
        for join in select.args.get("joins") or ():
            if join.args.get("side") or join.args.get("method") or join.args.get("using"):
                raise self._no(
                    "a view takes only inner joins with ON", "write the equality: JOIN S ON R.b = S.b"
                )
            self._add_table(join.this)
            if join.args.get("on") is not None:
                conditions.append(join.args["on"])
        if select.args.get("where") is not None:
            conditions.append(select.args["where"].this)
        head, aggregates, named = self._answers()
        comparisons = tuple(one for condition in conditions for one in self._comparisons(condition))
        self._check_groups(head, bool(aggregates))
        atoms = tuple(
            t.RuleAtom(t.EventType(table), tuple(map(t.RuleVariable, found.values())), tuple(found))
            for table, found in ((self._tables[alias], self._columns[alias]) for alias in self._tables)
        )
        rule = t.Rule("Q", tuple(map(t.RuleVariable, head)), atoms, comparisons, tuple(aggregates))
        return SqlRule(rule, named)

    def _add_table(self, table: Any) -> None:
        if type(table).__name__ != "Table" or table.args.get("db"):
            raise self._no(
                f"`{table.sql()}` is not the name of a relation: FROM names the relations of the view"
            )
        alias = table.alias or table.name
        if alias in self._tables:
            raise self._no(
                f"two tables are called `{alias}`", f"give one of them another name: {table.name} AS other"
            )
        self._tables[alias] = table.name
        self._columns[alias] = {}

    def _answers(self) -> tuple[list[str], list[t.Aggregate], dict[str, str]]:
        """The variables of the columns that are selected, which get their names; the aggregates."""
        head: list[str] = []
        folds = []
        for one in self._select.expressions:
            inner = one.this if type(one).__name__ == "Alias" else one
            name = one.alias or ""
            if type(inner).__name__ == "Column" and type(inner.this).__name__ != "Star":
                alias, column = self._place(inner)
                name = name or column
                if column in self._columns[alias]:
                    raise self._no(f"`{inner.sql()}` is selected twice", "leave one of them out")
                if name in head:
                    raise self._alike(inner, name)
                self._columns[alias][column] = name
                head.append(name)
            elif type(inner).__name__ in FOLDS:
                folds.append((inner, name))
            else:
                raise self._no(
                    f"`{inner.sql()}` is neither a column nor an aggregate", "select columns: R.a, S.c AS x"
                )
        aggregates: list[t.Aggregate] = []
        named: dict[str, str] = {}
        for inner, name in folds:
            aggregates.append(self._fold(inner))
            shown = to_text(aggregates[-1])
            if shown in named:
                raise self._no(f"`{inner.sql()}` is selected twice", "leave one of them out")
            if (name or shown) in (*head, *named.values()):
                raise self._alike(inner, name or shown)
            named[shown] = name or inner.sql()
        return head, aggregates, named

    def _alike(self, inner: Any, name: str) -> QueryError:
        return self._no(f"two columns are called `{name}`", f"rename one: {inner.sql()} AS other")

    def _fold(self, inner: Any) -> t.Aggregate:
        function = FOLDS[type(inner).__name__]
        star = type(inner.this).__name__ == "Star"
        if star != (function == "COUNT"):
            raise self._no(
                f"a view cannot keep `{inner.sql()}`: its aggregates are COUNT(*), SUM, MIN, MAX and AVG"
            )
        return t.Aggregate(function, None if star else self._expression(inner.this))

    def _check_groups(self, head: list[str], folded: bool) -> None:
        group = self._select.args.get("group")
        if group is None:
            if folded and head:
                raise self._no(
                    "columns are selected together with aggregates, without GROUP BY",
                    f"GROUP BY {', '.join(head)}",
                )
            return
        keys = set()
        for one in group.expressions:
            alone = type(one).__name__ == "Column" and not one.table and one.name in head
            keys.add(one.name if alone else self._variable(one))
        rest = [part for part, value in group.args.items() if value and part != "expressions"]
        if not folded:
            raise self._no("GROUP BY without an aggregate", "leave GROUP BY out, or select COUNT(*)")
        if rest or keys != set(head):
            hint = f"GROUP BY {', '.join(head)}" if head else "leave GROUP BY out"
            raise self._no("GROUP BY must name exactly the columns that are selected", hint)

    def _comparisons(self, condition: Any) -> Iterator[t.Comparison]:
        kind = type(condition).__name__
        if kind == "Paren":
            yield from self._comparisons(condition.this)
        elif kind == "And":
            yield from self._comparisons(condition.left)
            yield from self._comparisons(condition.right)
        elif kind in COMPARISONS:
            left, right = self._expression(condition.left), self._expression(condition.right)
            yield t.Comparison(COMPARISONS[kind], left, right)
        elif kind == "Between" and not condition.args.get("symmetric"):
            operand = self._expression(condition.this)
            yield t.Comparison(">=", operand, self._expression(condition.args["low"]))
            yield t.Comparison("<=", operand, self._expression(condition.args["high"]))
        else:
            hint = "write comparisons by < <= > >= = != and BETWEEN, with AND between them"
            raise self._no(f"a view cannot keep the condition `{condition.sql()}`", hint)

    def _expression(self, node: Any) -> t.Expression:
        kind = type(node).__name__
        if kind == "Paren":
            return self._expression(node.this)
        if kind == "Column":
            return t.Attribute(self._variable(node))
        if kind == "Literal":
            return t.Text(node.this) if node.is_string else t.Number(_number(node.this))
        if kind == "Boolean":
            return t.Boolean(bool(node.this))
        if kind == "Neg":
            operand = self._expression(node.this)
            return t.Number(-operand.value) if isinstance(operand, t.Number) else t.Negation(operand)
        if kind in ARITHMETIC:
            return t.Arithmetic(ARITHMETIC[kind], self._expression(node.left), self._expression(node.right))
        if kind == "Interval" and type(node.this).__name__ == "Literal" and node.args.get("unit") is not None:
            unit = unit_named(node.args["unit"].name)
            if unit is not None:
                return t.Quantity(_number(node.this.this), unit)
        raise self._no(
            f"a view cannot compute `{node.sql()}`",
            "it can compute with columns, numbers, + - * / % and INTERVAL",
        )

    def _variable(self, node: Any) -> str:
        if type(node).__name__ != "Column":
            raise self._no(f"`{node.sql()}` is not a column")
        alias, column = self._place(node)
        return self._columns[alias].setdefault(column, f"{column} of {alias}")

    def _place(self, node: Any) -> tuple[str, str]:
        if node.table:
            if node.table not in self._tables:
                raise self._no(f"`{node.sql()}` names a table that is not in FROM: {', '.join(self._tables)}")
            return node.table, node.name
        if len(self._tables) > 1:
            raise self._no(
                f"`{node.sql()}` may belong to several tables",
                f"name the table: {next(iter(self._tables))}.{node.name}",
            )
        return next(iter(self._tables)), node.name

    def _no(self, what: str, *hints: str) -> QueryError:
        return _refused(what, self._text, *hints)


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdecimal() else float(text)
