"""The keywords of every way of running a query: how events are read, and where the query runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, fields, replace
from operator import index
from typing import Any, SupportsIndex, TypedDict, TypeVar

from cer_gpu.engine.read.sources.caller_times import span_of
from cer_gpu.engine.read.sources.text_form import PLAIN, TextForm, text_form
from cer_gpu.engine.run.device_choice import asked_devices
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import brief

Function = TypeVar("Function", bound=Callable[..., Any])

_NO_FORM = (None, None, None, None, "raise")

ORDER_UNITS = ("s", "ms", "us", "ns")

ON_LATE = ("error", "drop")


@dataclass(frozen=True, slots=True)
class Options:
    """Checked keywords of `run`, `count`, `counts`, `hits` and `stream`.

    Attributes
    ----------
    order_by : tuple of str
        The time column, then the columns that break ties; empty: the events are in the order of the rows.
    order_unit : str or None
        The unit of a time column of plain numbers.
    type_column : str or None
        None: no column tells the types of events.
    stream_column : str or None
    sort, ordered : bool
    device : tuple of str
        `("auto",)`, `("cpu",)`, or CUDA devices: `("cuda:0", "cuda:1")`.
    limit, memory : int or None
    engine : str
        The name of the route that the query has to take, or "auto".
    event_id : str or None
        The column whose values take the place of positions.
    text : TextForm
        How text files are read: `delimiter`, `column_types`, `date_format`, `decimal_point` and `ambiguous`.
    params : mapping of str to object
        The values of parameters, `$name`, by their names.
    until : object
        The time up to which the events are known, as given; None: nothing comes after the last one.
    late : object
        By how much time rows may be out of order, as given; None: not at all.
    on_late : {"error", "drop"}
        What becomes of rows that are later.
    nan_is_null : bool or None
        Whether NaN is a missing value; None: as the container of the events has it.
    """

    order_by: tuple[str, ...]
    order_unit: str | None
    type_column: str | None
    stream_column: str | None
    sort: bool
    ordered: bool
    device: tuple[str, ...]
    limit: int | None
    memory: int | None
    engine: str
    event_id: str | None = None
    text: TextForm = PLAIN
    params: Mapping[str, Any] = field(default_factory=dict)
    until: Any = None
    late: Any = None
    on_late: str = "error"
    nan_is_null: bool | None = None

    def of_push(self, batch: Any) -> Options:
        """Those by which a batch of a stream is read: rows that come late wait in the stream."""
        if self.late is None:
            return self
        # Tables that are merged are put in order first, each by itself.
        merged = isinstance(batch, Mapping)
        late, on_late = (self.late, self.on_late) if merged else (None, "error")
        return replace(self, late=late, on_late=on_late, ordered=True)


class CommonKeywords(TypedDict, total=False):
    """The keywords of every function that reads events."""

    order_by: str | Sequence[str] | None
    order_unit: str | None
    type_column: str | None
    stream_column: str | None
    ordered: bool
    device: str | Sequence[str]
    engine: str
    delimiter: str | None
    column_types: Mapping[str, Any] | None
    date_format: str | Sequence[str] | None
    decimal_point: str | None
    params: Mapping[str, Any] | None
    until: Any
    late: Any
    on_late: str
    ambiguous: str
    nan_is_null: bool | None


class FunnelKeywords(CommonKeywords, total=False):
    """The keywords of a funnel, which lists nothing."""

    sort: bool


class StreamKeywords(CommonKeywords, total=False):
    """The keywords of a stream, whose batches come in order."""

    limit: int | None
    memory: int | None
    event_id: str | None


class ReadKeywords(FunnelKeywords, StreamKeywords, total=False):
    """All keywords."""


KEYWORDS = (
    *(one.name for one in fields(Options) if one.name != "text"),
    "delimiter",
    "column_types",
    "date_format",
    "decimal_point",
    "ambiguous",
)


def read_options(
    order_by: str | Sequence[str] | None = None,
    order_unit: str | None = None,
    type_column: str | None = "type",
    stream_column: str | None = None,
    sort: bool = False,
    ordered: bool = False,
    device: str | Sequence[str] = "auto",
    limit: int | None = None,
    memory: int | None = None,
    engine: str = "auto",
    event_id: str | None = None,
    delimiter: str | None = None,
    column_types: Mapping[str, Any] | None = None,
    date_format: str | Sequence[str] | None = None,
    decimal_point: str | None = None,
    params: Mapping[str, Any] | None = None,
    until: Any = None,
    late: Any = None,
    on_late: str = "error",
    ambiguous: str = "raise",
    nan_is_null: bool | None = None,
    **unknown: object,
) -> Options:
    """Check the keywords.

    Raises
    ------
    TypeError
        For a keyword that does not exist, and for a column whose name is not a str.
    ValueError
        For a value that a keyword cannot have.
    DeviceError
        For a device that does not exist or cannot be used.
    """
    for name in unknown:
        import difflib

        near = difflib.get_close_matches(name, KEYWORDS, n=1)
        meant = f"did you mean {brief(near[0])}? " if near else ""
        raise TypeError(f"there is no keyword {brief(name)}: {meant}the keywords are {', '.join(KEYWORDS)}")
    if order_unit is not None and order_unit not in ORDER_UNITS:
        raise ValueError(f"order_unit must be one of {', '.join(ORDER_UNITS)}, not {brief(order_unit)}")
    columns = () if order_by is None else _names("order_by", order_by)
    named = {"type_column": type_column, "stream_column": stream_column, "event_id": event_id}
    for keyword, column in named.items():
        if column is not None and not isinstance(column, str):
            raise TypeError(f"{keyword} must be the name of a column, a str, not {brief(column)}")
    if sort and not columns:
        raise ValueError("sort=True needs order_by, the columns to sort by")
    if ordered and not columns:
        raise ValueError("ordered=True needs order_by, the column of time")
    if until is not None and not columns:
        raise ValueError("until needs order_by, the column of time")
    if late is not None or on_late != "error":
        _check_late(late, on_late, columns, sort)
    if ambiguous == "infer" and (sort or late is not None):
        asked = "sort=True" if sort else "late"
        raise ValueError(
            "ambiguous='infer' tells by the order of the rows when the clock was set back, so they must come "
            f"in order: leave out {asked}, write the times with offsets, or pass 'earliest' or 'latest'"
        )
    if nan_is_null is not None and not isinstance(nan_is_null, bool):
        raise TypeError(
            f"nan_is_null must be True, False or None (as the container has it), not {brief(nan_is_null)}"
        )
    form = delimiter, column_types, date_format, decimal_point, ambiguous
    return Options(
        columns,
        order_unit,
        type_column,
        stream_column,
        sort,
        ordered,
        asked_devices(device),
        None if limit is None else _whole("limit", limit),
        None if memory is None else _whole("memory", memory),
        engine,
        event_id,
        PLAIN if form == _NO_FORM else text_form(*form),
        dict(params or {}),
        until,
        late,
        on_late,
        nan_is_null,
    )


def _check_late(late: Any, on_late: str, columns: tuple[str, ...], sort: bool) -> None:
    if on_late not in ON_LATE:
        raise ValueError(f"on_late must be one of {', '.join(ON_LATE)}, not {brief(on_late)}")
    if late is None:
        if on_late != "error":
            raise ValueError("on_late is about rows that are later than late: pass late too")
        return
    span_of("late", late)
    if not columns:
        raise ValueError("late needs order_by, the column of time")
    if sort:
        raise ValueError("sort=True puts all rows in order, however late they are: leave late out")


def _names(keyword: str, value: object) -> tuple[str, ...]:
    """The columns that a keyword names: one or several."""
    named = []
    for name in value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else (value,):
        if not isinstance(name, str):
            raise TypeError(f"{keyword} must be the name of a column, a str, not {brief(name)}")
        named.append(name)
    return tuple(named)


def _whole(name: str, value: object) -> int:
    """A whole number that is not negative, NumPy's too."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise ValueError(f"{name} must be a whole number, 0 or more, not {brief(value)}")
    if index(value) < 0:
        raise ValueError(f"{name} must be a whole number, 0 or more, not {brief(index(value))}")
    return index(value)


def spelled(
    source: Callable[..., Any], omit: Collection[str] = (), only: Collection[str] | None = None
) -> Callable[[Function], Function]:
    """A decorator whose function shows the keywords of another function in place of `**keywords`.

    Parameters
    ----------
    source : callable
        The function that has the keywords; its own `**unknown` is left out.
    omit : collection of str
        Keywords that the decorated function does not have.
    only : collection of str, optional
        Keywords that it has; by default all.
    """
    passed = [
        given.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, given in inspect.signature(source).parameters.items()
        if given.kind is not inspect.Parameter.VAR_KEYWORD
        and name not in omit
        and (only is None or name in only)
    ]

    def spell(function: Function) -> Function:
        own = inspect.signature(function)
        first = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        names = {one.name for one in first}
        parameters = [*first, *(one for one in passed if one.name not in names)]
        function.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return spell
