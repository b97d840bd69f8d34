"""SELECT of columns with WHERE, ORDER BY and LIMIT over one table, without a database: `PlainSelect`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cer_gpu.engine.rows.expressions import evaluate, type_of
from cer_gpu.engine.rows.value_types import combined
from cer_gpu.errors import QueryError
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.patterns.operation_reader import OperationReader
from cer_gpu.patterns.sql_error import SqlError
from cer_gpu.patterns.sql_language import SqlLanguage
from cer_gpu.patterns.sql_tokens import SqlTokens
from cer_gpu.patterns.tree import Field, Scalar

PARTS = frozenset(["expressions", "from", "from_", "where", "order", "limit", "kind", "hint"])
"""Parts of a SELECT that are run here."""


class NotPlainError(Exception):
    """A statement does more than a `PlainSelect` runs."""


class PlainSelect:
    """A SELECT over one table.

    Parameters
    ----------
    text : str
    name : str
        The name of the table in it.
    language : SqlLanguage
    schema : pyarrow.Schema
        Of the table.

    Raises
    ------
    NotPlainError
        When it joins, groups, or has anything else than columns, expressions, WHERE, ORDER BY and LIMIT.
    """

    def __init__(self, text: str, name: str, language: SqlLanguage, schema: pa.Schema) -> None:
        try:
            self._reader = _ColumnReader(SqlTokens(text, language), language.name, schema)
            select = language.statement(text)
        except (QueryError, SqlError):
            raise NotPlainError from None
        used = {name for name, part in select.args.items() if part}
        source = select.args.get("from_") or select.args.get("from")
        if type(select).__name__ != "Select" or not used <= PARTS or not source or source.this.name != name:
            raise NotPlainError
        self._schema = schema
        self._columns = list(self._listed(select.args["expressions"]))
        self._where = None if select.args.get("where") is None else self._scalar(select.args["where"].this)
        order = select.args.get("order")
        self._order = [] if order is None else list(map(self._sort_key, order.args["expressions"]))
        limit = select.args.get("limit")
        if limit is not None and not str(limit.expression.this).isdecimal():
            raise NotPlainError
        self._limit = None if limit is None else int(limit.expression.this)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return pa.schema([(name, type_of(scalar, self._leaf_type)) for name, scalar in self._columns])

    def run(self, table: pa.Table) -> pa.Table:
        """The rows of the answer."""
        if self._where is not None:
            table = table.filter(self._values(self._where, table))
        if self._order:
            keys = pa.table({str(n): self._values(key, table) for n, (key, _) in enumerate(self._order)})
            ways = [(str(n), way) for n, (_, way) in enumerate(self._order)]
            table = table.take(pc.sort_indices(keys, sort_keys=ways))
        if self._limit is not None:
            table = table.slice(0, self._limit)
        arrays = [self._values(scalar, table) for _, scalar in self._columns]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _listed(self, nodes: list[Any]) -> Iterator[tuple[str, Scalar]]:
        for node in nodes:
            if node.is_star and type(node).__name__ in ("Star", "Column"):
                yield from ((name, Field(name)) for name in self._schema.names)
                continue
            scalar = self._scalar(node.this if type(node).__name__ == "Alias" else node)
            name = node.alias_or_name or (scalar.name if isinstance(scalar, Field) else "")
            if not name:
                raise NotPlainError
            yield name, scalar

    def _sort_key(self, node: Any) -> tuple[Scalar, str]:
        named = dict(self._columns)
        if node.this.name in named:
            scalar: Scalar = Field(node.this.name)
        else:
            scalar = self._scalar(node.this)
        if not isinstance(scalar, Field) or node.args.get("nulls_first"):
            raise NotPlainError
        found = named.get(scalar.name, scalar)
        return found, "descending" if node.args.get("desc") else "ascending"

    def _scalar(self, node: Any) -> Scalar:
        try:
            return self._reader.read(node)
        except SqlError:
            raise NotPlainError from None

    def _leaf_type(self, leaf: Scalar) -> pa.DataType:
        assert isinstance(leaf, Field)
        return self._schema.field(leaf.name).type

    def _values(self, scalar: Scalar, table: pa.Table) -> pa.Array:
        def leaf(node: Scalar) -> pa.Array:
            assert isinstance(node, Field)
            return combined(table[node.name])

        return evaluate(scalar, leaf, table.num_rows)


class _ColumnReader(OperationReader):
    """Reads expressions of the columns of a table."""

    def __init__(self, tokens: SqlTokens, language: str, schema: pa.Schema) -> None:
        super().__init__(tokens, language)
        self._names = {name.lower(): name for name in schema.names}

    def leaf(self, node: Any, name: str) -> Scalar:
        if name == "Column" and node.name.lower() in self._names:
            return Field(self._names[node.name.lower()], self.extent(node))
        raise NotPlainError
