"""The exceptions of cer-gpu. A `QueryError` holds its findings as data (`Diagnostic`), not only as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cer_gpu.diagnostics import Diagnostic, Span, render_all
from cer_gpu.printable_text import printable

__all__ = [
    "CerError",
    "DataError",
    "DeviceError",
    "Diagnostic",
    "LimitError",
    "QueryError",
    "RowError",
    "Span",
]


class CerError(Exception):
    """Base of the exceptions of cer-gpu: about a query, data, a limit, a device or a setting.

    A wrong argument of a call is a TypeError or a ValueError instead. The text of a CerError has no control
    characters, whatever names and values it quotes.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class QueryError(CerError):
    """The query is wrong, does not fit the data, or cannot be run by the engine that was asked for.

    Attributes
    ----------
    diagnostics : tuple of Diagnostic
        All findings of severity "error", in the order of the text.
    text : str
        The text of the query.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], text: str = "") -> None:
        self.diagnostics = tuple(diagnostics)
        self.text = text
        super().__init__(self.diagnostics, text)

    def __str__(self) -> str:
        return render_all(self.diagnostics, self.text)


class ArgumentError(ValueError):
    """A keyword has a value that does not fit the events."""


class DataError(CerError):
    """The data is wrong, or cannot be read; the message names the file, column or row, and what to do."""


class FarDecimalError(DataError):
    """A decimal that events are compared by does not fit 64 bits; it is to be compared as a whole.

    Attributes
    ----------
    note : str
        What a user is told of the answer in its place.
    """

    note = "some decimals do not fit 64 bits: they are compared as numbers of any size"

    def asked(self, options: Any) -> Any:
        """The options by which the query is asked once more."""
        return options


class FarSumError(FarDecimalError):
    """A sum of whole numbers may not fit 64 bits; only the general engine tells."""

    note = "a sum may not fit 64 bits: partial matches are kept one by one"

    def asked(self, options: Any) -> Any:
        """As `FarDecimalError.asked`."""
        return replace(options, engine="general")


class RowError(DataError):
    """Something is wrong with one event.

    Parameters
    ----------
    position : int
        The position of the event in the stream, counted from 0.
    text : str
        What is wrong; `{row}` stands for the row as the user knows it, such as "row 7 of trades.csv".
    kind : type of DataError, optional
        The class of the error that `naming` returns.
    """

    def __init__(self, position: int, text: str, kind: type[DataError] = DataError) -> None:
        super().__init__(position, text)
        self.position = position
        self.text = text
        self.kind = kind

    def naming(self, row: str) -> DataError:
        """The same error with `row` in its text, such as "row 7 of trades.csv"."""
        return self.kind(self.text.replace("{row}", row))

    def __str__(self) -> str:
        return str(self.naming(f"row {self.position} (counted from 0)"))


class LimitError(CerError):
    """A limit was exceeded; the message says which one, how much was needed and what to change."""


class DeviceError(CerError):
    """The device that was asked for cannot be used; the message says why."""
