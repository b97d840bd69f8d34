"""What a user says of text files: delimiter, decimal point and dates of CSV, and the types of columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import pyarrow as pa

from cer_gpu.engine.read.sources.clock_times import AMBIGUOUS, ClockTimes
from cer_gpu.errors import DataError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.printable_text import brief

TEXT_BLOCK = 8 << 20
"""Bytes of a CSV or JSON lines file that are parsed at a time; the first decide the column types."""

DECISIVE = f"its first {TEXT_BLOCK >> 20} MiB"

CSV_NULLS = ["", "NA", "N/A", "NULL", "null"]
"""Cells that stand for a missing value."""

TIMES = "2024-12-31, 2024-12-31 23:59:59.123456, 2024-12-31T23:59:59Z or 2024-12-31T23:59:59+02:00"
"""The forms of times that Arrow reads in text."""

NOT_UTF8 = "bytes that are not UTF-8 text (convert the file: iconv -f WINDOWS-1252 -t UTF-8)"
"""Stands for the type of a column whose text is encoded in another way."""

_SHORT: Mapping[str, pa.DataType] = {
    "str": pa.string(),
    "text": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us"),
    "date": pa.date32(),
}
"""Names of types besides those of Arrow."""

TYPE_NAMES = (
    "string, int64, float64, bool, date, timestamp, timestamp[ms], timestamp[us, UTC], decimal(12, 2)"
)
"""The types that a message suggests for an unknown one; Arrow's other names are known too."""

# Patterns, compiled where a type is named: few runs name one.
_ZONED = r"timestamp\[\s*(s|ms|us|ns)\s*,\s*(?:tz\s*=\s*)?([^\]\s]+)\s*\]"
_DECIMAL = r"decimal(?:128)?\(\s*(\d+)\s*,\s*(\d+)\s*\)"


@dataclass(frozen=True, slots=True)
class TextForm:
    """How text files are read.

    Attributes
    ----------
    delimiter : str or None
        The character between the cells of a CSV file; None: a tab in `.tsv` files, a comma in others.
    types : tuple of (str, pyarrow.DataType)
        The types of some columns. The first lines of a file decide the types of the others.
    decimal_point : str or None
        The character before the fraction of a number in a CSV file; None: a point.
    date_formats : tuple of str
        The forms of times in a CSV file, as `strptime` reads them; empty: those of ISO 8601.
    ambiguous : {"raise", "earliest", "latest", "infer"}
        Which moment a time of a CSV file is that clocks of the column's zone showed twice.
    clocks : ClockTimes
        The times that clocks did not show, or showed twice; filled while files are read.
    """

    delimiter: str | None = None
    types: tuple[tuple[str, pa.DataType], ...] = ()
    decimal_point: str | None = None
    date_formats: tuple[str, ...] = ()
    ambiguous: str = "raise"
    clocks: ClockTimes = field(default_factory=ClockTimes, compare=False)

    @property
    def said(self) -> str | None:
        """A keyword for text files that was given; None if none was."""
        if self.delimiter is not None:
            return "delimiter"
        return "column_types" if self.types else self.said_of_csv

    @property
    def said_of_csv(self) -> str | None:
        """A keyword for CSV files only that was given; None if none was."""
        if self.decimal_point is not None:
            return "decimal_point"
        return "date_format" if self.date_formats else None

    @property
    def times(self) -> str:
        """The forms of a time that are read, for a message."""
        if not self.date_formats:
            return f"{TIMES}, and others as date_format says ('%d.%m.%Y %H:%M:%S', --date-format)"
        return f"{' or '.join(self.date_formats)}, as date_format says"

    def check_columns(self, names: Sequence[str], path: str) -> None:
        """Raise if a file has no column with a name that got a type.

        Raises
        ------
        DataError
        """
        import difflib

        for name, _ in self.types:
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                meant = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(names[:12])}"
                raise DataError(f"column_types names `{name}`, and {path} has no such column: {meant}")


def another_delimiter(path: str, form: TextForm, names: Sequence[str]) -> str:
    """The message for a header that another delimiter splits; empty if none seems to."""
    if len(names) != 1 or form.delimiter is not None:
        return ""
    split = next((sign for sign in ";\t|" if sign in names[0]), None)
    if split is None:
        return ""
    shown = "a tab" if split == "\t" else f"`{split}`"
    written = "\\t" if split == "\t" else split
    return (
        f"{path} has one column, `{names[0]}`: if its cells are separated by {shown}, pass "
        f"delimiter='{written}' (--delimiter '{written}')"
    )


PLAIN = TextForm()
"""The form if no keyword is given."""


def text_form(
    delimiter: object,
    column_types: object,
    date_format: object = None,
    decimal_point: object = None,
    ambiguous: object = "raise",
) -> TextForm:
    """Check the keywords that say how text files are read.

    Raises
    ------
    TypeError, ValueError
        For values that the keywords cannot have.
    """
    if delimiter is not None:
        if not isinstance(delimiter, str):
            raise TypeError(f"delimiter must be a str, not {brief(delimiter)}")
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise ValueError(
                f"delimiter must be one ASCII character, such as ';' or a tab, not {brief(delimiter)}"
            )
    if decimal_point not in (None, ".", ","):
        raise ValueError(f"decimal_point must be '.' or ',', not {brief(decimal_point)}")
    if decimal_point == "," and delimiter == ",":
        raise ValueError("decimal_point=',' needs another delimiter than ',', such as delimiter=';'")
    formats: list[object] = [date_format] if isinstance(date_format, str) else []
    if isinstance(date_format, (list, tuple)):
        formats = list(date_format)
    elif date_format is not None and not formats:
        formats = [date_format]
    for each in formats:
        if not isinstance(each, str):
            raise TypeError(f"date_format must be a str or a list of str, not {brief(date_format)}")
        if not re.search(r"%[DFYys]", each):
            raise ValueError(
                f"date_format says how times are written, such as '%d.%m.%Y %H:%M:%S', and {brief(each)} has "
                "no year"
            )
    if ambiguous not in AMBIGUOUS:
        raise ValueError(f"ambiguous must be one of {', '.join(AMBIGUOUS)}, not {brief(ambiguous)}")
    way = str(ambiguous)
    form = TextForm(delimiter, (), decimal_point, tuple(map(str, formats)), way, ClockTimes(way))
    if column_types is None:
        return form
    if not isinstance(column_types, Mapping):
        raise TypeError(f"column_types must be a dict, such as {{'id': 'string'}}, not {brief(column_types)}")
    return replace(form, types=tuple((_name(name), _type(name, kind)) for name, kind in column_types.items()))


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"column_types must name each column by a str, not by {brief(name)}")
    return name


def _type(name: object, kind: object) -> pa.DataType:
    if isinstance(kind, pa.DataType):
        return kind
    if not isinstance(kind, str):
        raise TypeError(f"the type of a column must be a str or a pyarrow type, not {brief(kind)}")
    if found := re.fullmatch(_ZONED, kind):
        return pa.timestamp(found[1], found[2])
    try:
        if found := re.fullmatch(_DECIMAL, kind):
            return pa.decimal128(int(found[1]), int(found[2]))
        return _SHORT.get(kind) or pa.type_for_alias(kind)
    except ValueError as error:
        raise ValueError(
            f"the type of column `{name}`, {brief(kind)}, is not known: write one such as {TYPE_NAMES}"
        ) from error


def delimiter_of(path: str, form: TextForm) -> str:
    """The character between the cells of a CSV file."""
    if form.delimiter is not None:
        return form.delimiter
    return "\t" if ".tsv" in path.lower()[-8:] else ","
