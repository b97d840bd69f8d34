"""The event types, attributes and types of values that a query is checked against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any

from cer_gpu.frozen_dataclass import dataclass

_SHOWN = 12
"""How many categories a message lists at most."""


class ValueType(Enum):
    """The types of values of the language (section 1)."""

    BOOL = "bool"
    INT64 = "int64"
    FLOAT64 = "float64"
    DECIMAL = "decimal"
    STRING = "string"
    TIMESTAMP = "timestamp"
    DURATION = "duration"

    @property
    def numeric(self) -> bool:
        """Whether it is a type of plain numbers, for arithmetic."""
        return self in (ValueType.INT64, ValueType.FLOAT64, ValueType.DECIMAL)


@dataclass(frozen=True, slots=True)
class CategoryOrder:
    """What is known about the order of the categories of a column of dictionary-encoded texts.

    Attributes
    ----------
    categories : tuple of str
        Ascending; empty if they have no order.
    clash : str
        Why there is no single order, though the source says that there is one; otherwise empty.
    pending : bool
        Whether the source says that there is an order, and has shown no category.
    """

    categories: tuple[str, ...] = ()
    clash: str = ""
    pending: bool = False

    def joined(self, other: CategoryOrder) -> CategoryOrder:
        """The order of values of two columns: that of the one which has all categories of the other."""
        if self.clash or other.clash:
            return self if self.clash else other
        if self.pending or other.pending:
            return other if self.pending else self
        if not self.categories or not other.categories:
            return other if self.categories else self
        fewer, more = sorted((self, other), key=lambda one: len(one.categories))
        rest = iter(more.categories)
        if all(one in rest for one in fewer.categories):
            return more
        return CategoryOrder((), f"{self} and {other}")

    def stored(self) -> list[Any]:
        """The order as plain values."""
        return [list(self.categories), self.clash, self.pending]

    @classmethod
    def restored(cls, values: Sequence[Any]) -> CategoryOrder:
        """The order that `stored` has given."""
        categories, clash, pending = values
        return cls(tuple(categories), clash, pending)

    def __str__(self) -> str:
        more = f" < ... ({len(self.categories)} categories)" if len(self.categories) > _SHOWN else ""
        return " < ".join(self.categories[:_SHOWN]) + more


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes of every event type, as far as they are known before the data is read.

    Attributes
    ----------
    attributes : mapping of str to ValueType
        Every attribute that some event may have.
    types : mapping of str to frozenset of str, or None
        The attributes of each event type. None when the types are values of a column that has not been
        read: then any type name may occur and every type has all `attributes`.
    streams : frozenset of str or None
        The streams that are known, or None.
    order : str or None
        The order attribute (`order_by`), or None where the row order is the order.
    order_unit : str or None
        Unit of a plain-number order attribute.
    """

    attributes: Mapping[str, ValueType]
    types: Mapping[str, frozenset[str]] | None = None
    streams: frozenset[str] | None = None
    order: str | None = None
    order_unit: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    """The unit of every attribute whose values are integers in it: `ns us ms s d` of a timestamp or duration;
    `e2`, one hundredth, of a decimal with two digits after the point."""

    zones: Mapping[str, str] = field(default_factory=dict)
    """The time zone of every timestamp attribute that has one: text without an offset is read in it."""

    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Columns that the data has but whose type the language cannot use: name to Arrow type."""

    returned: frozenset[str] = frozenset()
    """Columns of `unsupported` that a SELECT list may ask for all the same: lists, structs, bytes."""

    fields: tuple[str, ...] = ()
    """The fields of structs that may be attributes, `payload.price`, to suggest one for an unknown name."""

    ordered: Mapping[str | None, tuple[str, ...]] = field(default_factory=dict)
    """What the terms of an atom by position stand for (section 7): the columns of each event type in their
    order, without the type, order and stream columns; under None those of every type that is not listed.
    Columns of `unsupported` keep their places. Where nothing is listed, the order of `attributes` counts."""

    roles: Mapping[str, str] = field(default_factory=dict)
    """Columns that are no attributes since they say what an event is, to what a query writes instead."""

    categories: Mapping[str, CategoryOrder] = field(default_factory=dict)
    """The columns of dictionary-encoded texts, with the order of their categories."""

    ranks: Mapping[str, str] = field(default_factory=dict)
    """Attributes that stand for the places of categories in their order, to the columns of these."""

    common_type: str | None = None
    """The type that FROM gives all events, where no column tells their types."""

    partial: str = ""
    """Why the data may have more attributes than these; empty where it has no others."""

    def attributes_of(self, event_type: str) -> frozenset[str]:
        """The attributes that an event of this type may have."""
        if self.types is None or event_type not in self.types:
            return frozenset(self.attributes)
        return self.types[event_type]

    def attributes_in_order(self, event_type: str) -> tuple[str, ...]:
        """The attributes that the terms of an atom of this type stand for when they are not named."""
        listed = self.ordered.get(event_type, self.ordered.get(None))
        if listed is not None:
            return listed
        own = self.attributes_of(event_type)
        return tuple(name for name in self.attributes if name in own and name != self.order)
