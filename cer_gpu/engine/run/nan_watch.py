"""Notes NaN in columns where the answer depends on what a NaN means: `nan_watch`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.sources.nan_rows import has_nan
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.language.nan_dependence import NanDependence
from cer_gpu.printable_text import name_text


class NanWatch:
    """Notes the first NaN of columns whose NaN decides an answer.

    Parameters
    ----------
    missing : mapping of str to str
        For each column what takes a NaN otherwise than a missing value, in words.
    compared : mapping of str to str
        For each column the form of a comparison whose outcome with a NaN may surprise, in words.
    """

    def __init__(self, missing: Mapping[str, str], compared: Mapping[str, str]) -> None:
        self._missing, self._compared = missing, compared
        self._left = {*missing, *compared}

    @staticmethod
    def of_all(watches: Iterable[NanWatch | None]) -> NanWatch | None:
        """One for the columns of several; None if there are none."""
        missing: dict[str, str] = {}
        compared: dict[str, str] = {}
        for one in watches:
            if one is not None:
                missing |= one._missing
                compared |= one._compared
        return NanWatch(missing, compared) if missing or compared else None

    def look(self, batch: pa.RecordBatch, notes: Notes) -> None:
        """Note the columns of a batch that have a NaN."""
        for name in [one for one in batch.schema.names if one in self._left]:
            if has_nan(batch.column(name)):
                self._left.discard(name)
                notes.say(self._said(name))

    def _said(self, name: str) -> str:
        shown = name_text(name)
        if name in self._missing:
            return (
                f"the column `{shown}` has NaN values, which are numbers and not missing values, and the "
                f"result depends on that ({self._missing[name]}): nan_is_null=True (--nan-is-null) reads NaN "
                "as a missing value, nan_is_null=False (--nan-is-number) as a number, without this note"
            )
        return (
            f"the column `{shown}` has NaN values, and every comparison with NaN is false: != does not hold "
            f"there, and NOT (...) does ({self._compared[name]}); pass nan_is_null=False (--nan-is-number) "
            "if that is meant"
        )


def nan_watch(dependence: NanDependence, source: Source) -> NanWatch | None:
    """What notes NaN where the answer over a source depends on it; None where it does not."""
    missing, compared = (
        {name: what for name, what in found.items() if _is_float(source.arrow_schema, name)}
        for found in dependence
    )
    return NanWatch(missing, compared) if missing or compared else None


def _is_float(schema: pa.Schema, name: str) -> bool:
    place = schema.get_field_index(name)
    return place >= 0 and pa.types.is_floating(schema.field(place).type)
