"""The order of categories: what the sources of dictionary-encoded texts say about it.

pandas' ordered Categorical and Polars' Enum set Arrow's `ordered`; DuckDB exports an ENUM without it, but the
relation tells its values. The order is that of the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa

from cer_gpu.engine.read.sources.arrow_types import is_text
from cer_gpu.errors import DataError
from cer_gpu.language.schema import CategoryOrder

Orders = Mapping[str, CategoryOrder]
"""The orders of the columns of dictionary-encoded texts; other columns are not in it."""


def is_category(kind: pa.DataType) -> bool:
    """Whether a type is of dictionary-encoded texts."""
    return bool(pa.types.is_dictionary(kind)) and is_text(kind.value_type)


def is_ordered(kind: pa.DataType) -> bool:
    """Whether a type is of dictionary-encoded texts whose dictionaries are in the order of the categories."""
    return is_category(kind) and bool(kind.ordered)


def order_in(dictionaries: Iterable[pa.Array]) -> CategoryOrder:
    """The order that the dictionaries of a column give."""
    found: CategoryOrder | None = None
    before: pa.Array | None = None
    for dictionary in dictionaries:
        if before is not None and (dictionary is before or dictionary.equals(before)):
            continue
        before = dictionary
        own = CategoryOrder(tuple(text for text in dictionary.to_pylist() if text is not None))
        if own.categories:
            found = own if found is None else found.joined(own)
    return found or CategoryOrder(pending=True)


def orders_in(
    schema: pa.Schema, dictionaries: Callable[[str], Iterable[pa.Array]]
) -> dict[str, CategoryOrder]:
    """The orders of the columns of a table.

    Parameters
    ----------
    schema : pyarrow.Schema
        As the source has it.
    dictionaries : callable
        Gives dictionaries of a column.
    """
    return {
        field.name: order_in(dictionaries(field.name)) if is_ordered(field.type) else CategoryOrder()
        for field in schema
        if pa.types.is_dictionary(field.type) and is_category(field.type)
    }


def joined_orders(parts: Iterable[tuple[Iterable[str], Orders]]) -> dict[str, CategoryOrder]:
    """The orders of columns whose values come from several sources.

    Parameters
    ----------
    parts : iterable of (names, orders)
        The columns of each source, and those of them that are dictionary-encoded.
    """
    found: dict[str, CategoryOrder] = {}
    plain: set[str] = set()
    for names, orders in parts:
        for name in names:
            if name not in orders:
                plain.add(name)
            else:
                found[name] = found[name].joined(orders[name]) if name in found else orders[name]
    # Texts that have no dictionary have no order either.
    return {name: CategoryOrder() if name in plain else order for name, order in found.items()}


def check_orders(batch: pa.RecordBatch, orders: Orders, where: str) -> pa.RecordBatch:
    """The batch, once its dictionaries are known to be in the order of those before.

    Raises
    ------
    DataError
        If the same categories come in another order.
    """
    if orders:
        for name, column in zip(batch.schema.names, batch.columns):
            order = orders.get(name)
            if order is not None and (order.categories or order.pending) and is_ordered(column.type):
                check_order(column.dictionary, order, f"column `{name}` of {where}")
    return batch


def check_order(dictionary: pa.Array, order: CategoryOrder, what: str) -> None:
    """Raise a DataError if a dictionary has the same categories in another order, or the first ones."""
    if order.pending:
        if len(dictionary):
            raise DataError(
                f"{what} has ordered categories, and the column had none in what was read first: give all of "
                "it the same ordered categories"
            )
        return
    if dictionary.equals(_array_of(order, dictionary.type)):
        return
    texts = tuple(dictionary.to_pylist())
    place = {text: number for number, text in enumerate(order.categories)}
    known = [place[text] for text in texts if text in place]
    if known != sorted(known):
        raise DataError(
            f"{what} has its categories in the order {CategoryOrder(texts)}, and before in the order "
            f"{order}: give all of it the same ordered categories"
        )


@lru_cache(maxsize=64)
def _array_of(order: CategoryOrder, kind: pa.DataType) -> pa.Array:
    """The categories as a dictionary."""
    return pa.array(order.categories, kind)


def check_alike(orders: Orders, before: Orders, what: str) -> None:
    """Raise a DataError if columns have the same categories in another order than before."""
    for name, order in orders.items():
        known = before.get(name)
        if known is not None and (known.categories or known.pending) and order.categories:
            check_order(pa.array(order.categories), known, f"column `{name}` of {what}")


def enum_orders(relation: Any) -> dict[str, CategoryOrder]:
    """The orders of the ENUM columns of a DuckDB relation; empty for anything else."""
    if type(relation).__module__.split(".")[0] not in ("duckdb", "_duckdb"):
        return {}
    kinds = zip(getattr(relation, "columns", ()), getattr(relation, "types", ()))
    return {name: CategoryOrder(tuple(kind.children[0][1])) for name, kind in kinds if kind.id == "enum"}
