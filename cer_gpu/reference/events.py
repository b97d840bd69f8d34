"""Events of the reference semantics, and what is common to all values of time.

The reference computes with Python values: bool, int (int64), float (float64), `Fraction` (decimal), str,
`Category` (ordered category), `Instant` (timestamp), `Duration` (duration) and None (null). An attribute that
an event lacks is not in its mapping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import TypeAlias

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.units import NANOSECONDS, nanoseconds, timestamp_nanoseconds


@dataclass(frozen=True, slots=True)
class Instant:
    """A timestamp: `count` units of time since the epoch, UTC.

    The unit is that of the column, and of bounds without a unit. Comparisons use `nanoseconds`, so that
    instants of different units compare as times.
    """

    count: int
    unit: str = "ns"

    @property
    def nanoseconds(self) -> int:
        """The same instant in nanoseconds since the epoch, exact."""
        return self.count * NANOSECONDS[self.unit]


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time: `count` units, exact (a `Fraction` where `1.5 ns` was written)."""

    count: int | Fraction
    unit: str = "ns"

    @property
    def nanoseconds(self) -> int | Fraction:
        """The same duration in nanoseconds, exact."""
        return self.count * NANOSECONDS[self.unit]


class Category(str):
    """A text that compares by the order of its categories, and is equal as text."""

    categories: tuple[str, ...]

    def __new__(cls, text: str, categories: Sequence[str]) -> Category:
        """The category `text` among `categories`, ascending."""
        made = super().__new__(cls, text)
        made.categories = tuple(categories)
        return made

    def _place(self, text: str) -> int:
        return self.categories.index(str(text))

    def __lt__(self, other: str) -> bool:
        return self._place(self) < self._place(other)

    def __le__(self, other: str) -> bool:
        return self._place(self) <= self._place(other)

    def __gt__(self, other: str) -> bool:
        return self._place(self) > self._place(other)

    def __ge__(self, other: str) -> bool:
        return self._place(self) >= self._place(other)


Value: TypeAlias = bool | int | float | Fraction | str | Instant | Duration | None


@dataclass(frozen=True, slots=True)
class Event:
    """One event: a type, the attributes that it has, and the stream that it belongs to.

    Attributes
    ----------
    type : str
    attributes : mapping of str to Value
        None is a null; an attribute that is not a key is one that the event lacks. The order attribute is
        an attribute like the others.
    stream : str or None
        None where streams have no names.
    before : Event or None
        The event before it in the stream that a pattern runs on, which PREV reads.
    """

    type: str
    attributes: Mapping[str, Value] = field(default_factory=dict)
    stream: str | None = None
    before: Event | None = field(default=None, compare=False, repr=False)

    def back(self, distance: int) -> Event | None:
        """The event that lies `distance` events before it; None if there is none."""
        event: Event | None = self
        for _ in range(distance):
            event = None if event is None else event.before
        return event

    def is_a(self, name: str, stream: str | None) -> bool:
        """Whether the atom `name`, or `stream>name`, matches its type and stream."""
        return self.type == name and (stream is None or self.stream == stream)


def linked(events: Sequence[Event]) -> tuple[Event, ...]:
    """The events as a stream: each with the event before it."""
    made: list[Event] = []
    for event in events:
        made.append(replace(event, before=made[-1] if made else None))
    return tuple(made)


def duration(number: int | float, unit: str) -> Duration:
    """The literal `1.5 h` as a duration, exact."""
    span = nanoseconds(number, unit)
    return Duration(int(span) if span.denominator == 1 else span)


def instant(text: str) -> Instant:
    """An ISO 8601 literal as an instant; without a zone it is UTC.

    Raises
    ------
    ValueError
        The text is not a date or time of ISO 8601.
    """
    return Instant(timestamp_nanoseconds(text))
