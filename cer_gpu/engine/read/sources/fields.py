"""Fields of structs as columns: `payload.price` is the field `price` of the column `payload`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import convert, normal_type
from cer_gpu.engine.read.sources.categories import is_category, is_ordered, order_in
from cer_gpu.engine.read.sources.rows import Rows
from cer_gpu.language.schema import CategoryOrder
from cer_gpu.lazy_modules import compute as pc


def path_to(name: str, schema: pa.Schema) -> tuple[str, ...] | None:
    """The column and the fields that a name with dots means: `("payload", "price")` for `payload.price`.

    Returns
    -------
    tuple of str or None
        None if there is no such field; one name for a column.
    """
    if name in schema.names:
        return (name,)
    for column in schema:
        found = _inside(name, column)
        if found is not None:
            return (column.name, *found)
    return None


def names_of_fields(fields: Iterable[pa.Field], before: str = "") -> Iterator[str]:
    """The names of the fields inside structs that are no structs themselves, as `payload.price`."""
    for field in fields:
        if pa.types.is_struct(field.type):
            yield from names_of_fields(field.type, f"{before}{field.name}.")
        elif before:
            yield f"{before}{field.name}"


def _inside(name: str, field: pa.Field) -> tuple[str, ...] | None:
    if not name.startswith(f"{field.name}.") or not pa.types.is_struct(field.type):
        return None
    rest = name[len(field.name) + 1 :]
    for inner in field.type:
        if inner.name == rest:
            return (rest,)
        found = _inside(rest, inner)
        if found is not None:
            return (inner.name, *found)
    return None


def field_of(column: pa.Array, path: Sequence[str]) -> pa.Array:
    """A field inside a column of structs; null where a struct around it is null."""
    return pc.struct_field(column, list(path)) if path else column


def with_fields(rows: Rows, names: Collection[str]) -> Rows:
    """Rows with further columns, for those of some names that are fields of structs."""
    paths = {name: path_to(name, rows.schema) for name in names if name not in rows.schema.names}
    found = {name: path for name, path in paths.items() if path is not None}
    return FieldRows(rows, found) if found else rows


def schema_with_fields(schema: pa.Schema, names: Collection[str]) -> pa.Schema:
    """A schema with further columns, for those of some names that are fields of structs."""
    fields = list(schema)
    for name in names:
        path = path_to(name, schema)
        if path is not None and len(path) > 1:
            fields.append(pa.field(name, normal_type(_type_at(schema, path))))
    return pa.schema(fields)


class FieldRows(Rows):
    """Rows with columns for fields of their structs, behind the others.

    Parameters
    ----------
    rows : Rows
    paths : dict of str to tuple of str
        For each new column, the names of a column and of fields in it.
    """

    def __init__(self, rows: Rows, paths: dict[str, tuple[str, ...]]) -> None:
        self._inner = rows
        self._paths = paths
        self.schema = schema_with_fields(rows.schema, paths)
        self._made_of(rows)
        self.orders = {**rows.orders, **self._orders_inside()}
        self.ordered, self.stamp = rows.ordered, rows.stamp

    def _orders_inside(self) -> dict[str, CategoryOrder]:
        """The orders of categories of the fields, by the first dictionary of each."""
        kinds = {name: _type_at(self._inner.schema, path) for name, path in self._paths.items()}
        found = {name: CategoryOrder() for name, kind in kinds.items() if is_category(kind)}
        for name in found:
            if is_ordered(kinds[name]) and self._inner.rewindable:
                first, *path = self._paths[name]
                batches = islice(self._inner.read(self._inner.subschema([first]), 1), 1)
                found[name] = order_in(field_of(batch.column(0), path).dictionary for batch in batches)
        return found

    def parts(self) -> list[Rows]:
        """See `Rows.parts`."""
        return [FieldRows(part, self._paths) for part in self._inner.parts()]

    def behind(self, files: int) -> Rows:
        """See `Rows.behind`."""
        return FieldRows(self._inner.behind(files), self._paths)

    def read(self, wanted: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """See `Rows.read`."""
        for batch in self._inner.read(self._stored(wanted.names), rows):
            arrays = [self._column(batch, name) for name in wanted.names]
            yield pa.RecordBatch.from_arrays(arrays, wanted.names)

    def place(self, row: int) -> str:
        """See `Rows.place`."""
        return self._inner.place(row)

    def _stored(self, columns: Sequence[str]) -> pa.Schema:
        """The columns that some are made of; those of which only fields are asked for, with these alone."""
        paths: dict[str, list[Sequence[str]]] = {}
        for name in columns:
            first, *path = self._paths.get(name, (name,))
            paths.setdefault(first, []).append(path)
        stored = self._inner.subschema(list(paths))
        if any("." in name for name in self._inner.schema.names):
            return stored  # a column may be called as a field of another is
        return pa.schema([(one.name, _with_alone(one.type, paths[one.name])) for one in stored])

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        if name not in self._paths:
            return batch.column(name)
        first, *path = self._paths[name]
        found = field_of(batch.column(first), path)
        return convert(found, self.schema.field(name).type, f"`{name}` of {self.where}")


def _with_alone(kind: pa.DataType, paths: Sequence[Sequence[str]]) -> pa.DataType:
    """A type of structs with the fields alone that some paths lead to."""
    if not all(paths):
        return kind
    inside: dict[str, list[Sequence[str]]] = {}
    for first, *rest in paths:
        inside.setdefault(first, []).append(rest)
    fields = [field for field in kind if field.name in inside]
    return pa.struct([(field.name, _with_alone(field.type, inside[field.name])) for field in fields])


def _type_at(schema: pa.Schema, path: Sequence[str]) -> pa.DataType:
    kind = schema.field(path[0]).type
    for name in path[1:]:
        kind = kind.field(name).type
    return kind
