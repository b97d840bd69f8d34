"""The relations of a view as multisets of rows: `Relation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import first_line
from cer_gpu.engine.read.sources.categories import Orders, check_alike
from cer_gpu.engine.read.sources.kinds import open_rows
from cer_gpu.engine.views.category_order import field_of, with_places
from cer_gpu.engine.views.codes import NAN, ValueCodes, ValueKind, WideValuesError, has_code, is_wide, kind_of
from cer_gpu.engine.views.levels import Levels, collapsed
from cer_gpu.engine.views.reducts import Change
from cer_gpu.errors import DataError
from cer_gpu.kernels.views.contract import NULL
from cer_gpu.language.categories import rank_of
from cer_gpu.language.schema import ValueType
from cer_gpu.printable_text import brief, names_text

SHOWN = 3
"""How many rows an error quotes."""

NO_ROWS = (list, tuple, set, bool, int, float, type(None))
"""What a list may hold that is neither a row nor rows."""

PLAIN = {ValueType.INT64: int, ValueType.FLOAT64: float, ValueType.STRING: str}
"""The types of values that Python has as well."""


class GivenTable(NamedTuple):
    """Rows that a user passes.

    Attributes
    ----------
    table : pyarrow.Table
    orders : mapping of str to CategoryOrder
        The columns that are dictionary-encoded texts, with the order of their categories.
    """

    table: pa.Table
    orders: Orders


class Relation:
    """The rows of one relation of a view: the attributes that its rule names.

    Parameters
    ----------
    name : str
    attributes : mapping of str to ValueKind
        In the order of the columns of rows.
    columns : tuple of str
        All columns of the relation, which atoms by position count.
    codes : ValueCodes
    orders : mapping of str to CategoryOrder, optional
        The attributes that are dictionary-encoded texts, with the order of their categories.
    """

    def __init__(
        self,
        name: str,
        attributes: Mapping[str, ValueKind],
        columns: tuple[str, ...],
        codes: ValueCodes,
        orders: Orders | None = None,
    ) -> None:
        self.name = name
        self.orders = {} if orders is None else orders
        self.attributes = dict(attributes)
        self.columns = columns
        self.store = Levels(len(self.attributes), summed=False)
        self._codes = codes
        self._shown = tuple(self.attributes)
        self._leaf: Levels | None = None
        self.schema = pa.schema([])
        """The columns of a table that is known to fit."""
        self._places: list[int] = []
        """Where the attributes are in such a table."""
        self._python = self._types()

    def share(self, order: tuple[str, ...], leaf: Levels) -> None:
        """Let a leaf of a tree hold the rows, except those without a value that are in no answer.

        Parameters
        ----------
        order : tuple of str
            The attributes, in the order of the leaf's columns.
        leaf : Levels
            It has all rows whose attributes have values, and no others.
        """
        keys, counts = self.store.ordered()
        places = [list(self.attributes).index(name) for name in order]
        self.attributes = {name: self.attributes[name] for name in order}
        self._python = self._types()
        self._places = [self.schema.get_field_index(name) for name in order] if len(self.schema) else []
        change = Change(*collapsed(keys[:, places], counts))
        self.store, self._leaf = Levels(len(order), summed=False), leaf
        self.take(change)

    def _types(self) -> tuple[tuple[str, type], ...]:
        """Python's type for each attribute; none where some attribute has no such type."""
        if any(rank_of(name) in self.attributes for name in self.orders):
            return ()
        types = [(name, PLAIN.get(kind.value)) for name, kind in self.attributes.items()]
        found = [(name, one) for name, one in types if one is not None]
        return tuple(found) if len(found) == len(types) else ()

    @property
    def total(self) -> int:
        """How many rows there are at most; rows without a value may be counted twice."""
        return self.store.total + (0 if self._leaf is None else self._leaf.total)

    def renumber(self, numbers: np.ndarray) -> None:
        """Give texts new numbers: `numbers` int64 [texts], by the old ones."""
        change = self.renumbered(Change(*self.store.ordered()), numbers)
        self.store = Levels(len(self.attributes), summed=False)
        self.store.add(*change)

    def renumbered(self, change: Change, numbers: np.ndarray) -> Change:
        """The same change with new numbers for texts."""
        keys = change.keys.copy()
        for number, kind in enumerate(self.attributes.values()):
            if kind.value is ValueType.STRING:
                given = keys[:, number] != NULL
                keys[given, number] = numbers[keys[given, number]]
        return Change(*collapsed(keys, change.amounts))

    def take(self, change: Change) -> None:
        """Apply a change, after the leaf that holds shared rows has it."""
        if self._leaf is not None:
            absent = self._absent(change.keys)
            change = Change(change.keys[absent], change.amounts[absent])
        self.store.add(*change)

    def all_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """All rows, in order, and their multiplicities."""
        keys, counts = self.store.ordered()
        if self._leaf is None:
            return keys, counts
        shared, amounts = self._leaf.ordered()
        return collapsed(np.concatenate([keys, shared]), np.concatenate([counts, amounts]))

    def _absent(self, keys: np.ndarray) -> np.ndarray:
        absent = np.zeros(len(keys), bool)
        for number, kind in enumerate(self.attributes.values()):
            absent |= without_value(keys[:, number], kind)
        return absent

    def change(self, table: pa.Table, amounts: np.ndarray) -> Change:
        """The rows of a table as a change of the relation.

        Parameters
        ----------
        table : pyarrow.Table
        amounts : ndarray of int64, shape (rows,)
            How often each row is inserted; below 0: deleted.

        Raises
        ------
        DataError
            As for `encoded`.
        """
        return self.ordered(self.encoded(table), amounts)

    def ordered(self, keys: np.ndarray, amounts: np.ndarray) -> Change:
        """Encoded rows as a change; threads may do this for several relations at a time."""
        return Change(*collapsed(keys, amounts))

    def with_places(self, given: GivenTable) -> pa.Table:
        """The rows of a table with the places of the categories that the rule compares by order.

        Raises
        ------
        DataError
            If it has other categories than before, or the same in another order.
        """
        check_alike(given.orders, self.orders, f"the table for {self.name}")
        return with_places(given.table, self.orders, self.attributes)

    def encoded(self, table: pa.Table) -> np.ndarray:
        """The rows of a table: int64 [rows, attributes].

        Raises
        ------
        DataError
            If a column is missing, or has another type than before.
        """
        if not self._places or not table.schema.equals(self.schema):
            table = self._fitting(table)
            self._places = [table.schema.get_field_index(name) for name in self.attributes]
            self.schema = table.schema
        keys = np.empty((len(table), len(self.attributes)), np.int64)
        for number, (name, kind) in enumerate(self.attributes.items()):
            column = table.column(self._places[number])
            if kind.value is ValueType.INT64 and is_wide(column):
                raise WideValuesError([(self.name, name)])
            keys[:, number] = self._codes.encode(column, kind, f"column `{name}` of {self.name}")
        return keys

    def listed(self, rows: Any, most: int) -> list[tuple[Any, ...]] | None:
        """The name and the values of each attribute of few rows, which `joined` encodes later.

        None where there are more than `most` rows, where a value may have no code, or where these are not
        rows like those before: then they are read as a table. To make the objects of Arrow's columns takes
        most of the time of a table with one row.
        """
        if not self._python:
            return None
        given: list[Any] = []
        if type(rows) is list:
            given = rows if len(rows) <= most else given
        elif isinstance(rows, pa.Table) and rows.num_rows <= most and rows.schema.equals(self.schema):
            batches = rows.to_batches()
            if len(batches) == 1:
                columns = [batches[0].column(place).to_pylist() for place in self._places]
                given = [dict(zip(self.attributes, values)) for values in zip(*columns)]
        found = []
        for row in given:
            if type(row) is not dict:
                return None
            values: list[Any] = [self.name]
            for name, kind in self._python:
                value = row.get(name)
                if type(value) is not kind or not has_code(value):
                    return None
                values.append(value)
            found.append(tuple(values))
        return found or None

    def joined(self, rows: Sequence[tuple[Any, ...]]) -> np.ndarray:
        """The rows that `listed` has read: int64 [rows, attributes]."""
        keys = np.empty((len(rows), len(self.attributes)), np.int64)
        _, *columns = zip(*rows)
        for number, (values, kind) in enumerate(zip(columns, self.attributes.values())):
            keys[:, number] = self._codes.encode_listed(values, kind)
        return keys

    def _fitting(self, table: pa.Table) -> pa.Table:
        """A table whose columns are known to be there and of the right types."""
        for name, kind in self.attributes.items():
            where = f"column `{name}` of {self.name}"
            if name not in table.column_names:
                raise DataError(f"{where} is missing: the table has {names_text(table.column_names)}")
            place = table.schema.get_field_index(name)
            if pa.types.is_null(table.schema.field(place).type):
                table = table.set_column(place, name, table.column(place).cast(kind.arrow))
            own = kind_of(table.schema.field(place).type, where)
            if pa.types.is_integer(kind.arrow) and own.value is ValueType.INT64:
                continue
            if not own.joins(kind):
                raise DataError(
                    f"{where} was of type {kind.arrow} before, and is of type {own.arrow} now: cast it"
                )
        return table

    def check(self, change: Change) -> None:
        """Check that a change deletes only what is there.

        Raises
        ------
        DataError
            Names the first rows of which there are not enough.
        """
        if (change.amounts >= 0).all():
            return
        there = self.store.counts_of(change.keys)
        if self._leaf is not None:
            there += self._leaf.counts_of(change.keys)
        short = np.flatnonzero(there + change.amounts < 0)
        if len(short):
            named = []
            for row in short[:SHOWN].tolist():
                asked, held = -int(change.amounts[row]), int(there[row])
                times = f" ({asked} to delete, {held} there)" if held or asked > 1 else ""
                named.append(self._named(change.keys[row]) + times)
            more = f" and {len(short) - SHOWN} more" if len(short) > SHOWN else ""
            raise DataError(
                f"cannot delete {', '.join(named)}{more} from {self.name}: it has no such rows; nothing was "
                "changed"
            )

    def rows(self) -> pa.Table:
        """All rows, with their multiplicities in a last column `multiplicity`."""
        keys, counts = self.all_rows()
        names = list(self.attributes)
        arrays = [
            self._codes.decode(np.ascontiguousarray(keys[:, names.index(name)]), self.attributes[name])
            for name in self._shown
        ]
        orders = {name: order for name, order in self.orders.items() if order.categories}
        fields = [field_of(name, one.type, orders.get(name)) for name, one in zip(self._shown, arrays)]
        schema = pa.schema([*fields, pa.field("multiplicity", pa.int64())])
        return pa.Table.from_arrays([*arrays, pa.array(counts)], schema=schema)

    def columns_of(self, change: Change) -> dict[str, np.ndarray]:
        """The attributes of the rows of a change."""
        return {name: change.keys[:, number] for number, name in enumerate(self.attributes)}

    def _named(self, row: np.ndarray) -> str:
        values = {
            name: self._codes.decode(row[number : number + 1], kind).to_pylist()[0]
            for number, (name, kind) in enumerate(self.attributes.items())
        }
        shown = [name for name in self._shown if not name.startswith("\0")]
        listed = ", ".join(f"{name} = {_literal(values[name])}" for name in shown)
        return f"({listed})"


def without_value(codes: np.ndarray, kind: ValueKind) -> np.ndarray:
    """Whether values are null or NaN: these equal nothing."""
    absent = codes == NULL
    return absent | (codes == NAN) if kind.value is ValueType.FLOAT64 else absent


def table_of(rows: Any, relation: str, known: Relation | None) -> GivenTable:
    """The rows for a relation that a user passes, as a table.

    Parameters
    ----------
    rows : object
    relation : str
        Its name, for messages.
    known : Relation or None
        The relation, if it has read rows before: it tells the columns of dicts.

    Raises
    ------
    DataError
        If these are neither Arrow data nor dicts nor paths.
    """
    if isinstance(rows, pa.Table) and known is not None and rows.schema.equals(known.schema):
        return GivenTable(rows, {})
    if isinstance(rows, Mapping):
        raise DataError(
            f"the rows for {relation} are one dict: put the dict of each row into a list, or make a table of "
            "a dict of columns with pyarrow.table(...)"
        )
    if isinstance(rows, list | tuple):
        if not rows and known is not None:
            kinds = {name: kind.arrow for name, kind in known.attributes.items()}
            return GivenTable(pa.schema(kinds.items()).empty_table(), {})
        if not rows:
            raise DataError(
                f"the rows for {relation} are an empty list, which does not tell the columns: give an empty "
                "table that has them"
            )
        others = [one for one in rows if not isinstance(one, Mapping)]
        if not others:
            return GivenTable(_table_of_dicts(rows, f"the rows for {relation}", known), {})
        if len(others) < len(rows) or isinstance(others[0], NO_ROWS):
            raise DataError(
                f"the rows for {relation} are a list that holds a {type(others[0]).__name__}: a list of rows "
                "holds a dict for each row"
            )
    opened = open_rows(rows, f"the table for {relation}")
    if isinstance(rows, pa.Table) and opened.schema.equals(rows.schema):
        return GivenTable(rows, opened.orders)
    table = opened.table()
    missing = list(opened.unread)
    if missing:
        table = table.select([name for name in table.column_names if name not in missing])
    return GivenTable(table, opened.orders)


def _table_of_dicts(rows: Sequence[Mapping[str, Any]], where: str, known: Relation | None) -> pa.Table:
    """A table of dicts; once the relation is known, of its attributes alone."""
    kinds = (
        {} if known is None else {name: kind for name, kind in known.attributes.items() if name[:1] != "\0"}
    )
    names = list(rows[0] if known is None else kinds)
    arrays = []
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"{where} have a column {brief(name)}: a column is named by a text")
        for number, row in enumerate(rows):
            if name not in row:
                raise DataError(
                    f"row {number} of {where} has no column `{name}`: it has {names_text(row)}; "
                    "give None where there is no value"
                )
        # Other types, such as times, are as fine as their values.
        kind = kinds[name].arrow if name in kinds and kinds[name].value in PLAIN else None
        try:
            arrays.append(pa.array([row[name] for row in rows], kind))
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            was = "" if kind is None else f" (the column is of type {kind})"
            raise DataError(f"column `{name}` of {where}: {first_line(error)}{was}") from None
    return pa.Table.from_arrays(arrays, names=names)


def _literal(value: object) -> str:
    if value is None:
        return "null"
    return f"'{value}'" if isinstance(value, str) else str(value)
