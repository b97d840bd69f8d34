"""Partitions: every key of PARTITION BY becomes a lane, a small number that stays the same for the run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cer_gpu.engine.columns import is_text, single
from cer_gpu.errors import DataError

NAN = math.nan
"""All NaN are one key: this one, which a dictionary finds by its identity."""

_TEMPORAL = (pa.types.is_timestamp, pa.types.is_duration, pa.types.is_date, pa.types.is_time)


class LaneEncoder:
    """Gives every key a lane.

    Parameters
    ----------
    partition : tuple of tuple of str
        The parts of the key; of a part's alternatives the first that is not null counts.
    schema : pyarrow.Schema
        Of the data.
    """

    def __init__(self, partition: tuple[tuple[str, ...], ...], schema: pa.Schema) -> None:
        self._partition = partition
        self.types = [_key_type([schema.field(name).type for name in part], part) for part in partition]
        """The Arrow types of the parts of the key."""
        self._lanes: dict[tuple[Any, ...], int] = {}
        self._keys: list[tuple[Any, ...]] = []

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return tuple(dict.fromkeys(name for part in self._partition for name in part))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts in results: their first alternative."""
        return tuple(part[0] for part in self._partition)

    @property
    def count(self) -> int:
        """How many lanes there are by now."""
        return len(self._keys)

    def key(self, lane: int) -> tuple[Any, ...]:
        """The key of a lane."""
        return tuple(
            pa.scalar(value, pa.int64()).cast(kind).as_py() if _is_temporal(kind) else value
            for value, kind in zip(self._keys[lane], self.types, strict=True)
        )

    def key_columns(self, lanes: np.ndarray) -> list[pa.Array]:
        """For each part of the key the column of its values, for an array of lanes."""
        used, inverse = np.unique(lanes, return_inverse=True)
        found = []
        for part, kind in enumerate(self.types):
            values = [self._keys[lane][part] for lane in used.tolist()]
            if _is_temporal(kind):
                column = pa.array(values, pa.int64()).cast(_storage(kind)).cast(kind)
            else:
                column = pa.array(values, kind)
            found.append(column.take(pa.array(inverse)))
        return found

    def encode(self, batch: pa.RecordBatch, rows: np.ndarray | None) -> np.ndarray:
        """The lanes of some rows (None: of all); -1 for an event without a whole key.

        Returns
        -------
        ndarray, shape (m,), int32
        """
        taken = pa.array(rows) if rows is not None else None
        codes, texts = [], []
        for part, kind in zip(self._partition, self.types, strict=True):
            column = self._part(batch, part, kind, taken)
            encoded = single(pc.dictionary_encode(column))
            codes.append(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64))
            texts.append([NAN if value != value else value for value in encoded.dictionary.to_pylist()])
        combined = codes[0].copy()
        for code, values in zip(codes[1:], texts[1:], strict=True):
            combined = np.where((combined < 0) | (code < 0), -1, combined * len(values) + code)
        if len(codes) == 1:
            present = np.arange(len(texts[0]))
            inverse = combined
        else:
            present, inverse = np.unique(combined, return_inverse=True)
            if len(present) and present[0] == -1:
                present, inverse = present[1:], inverse - 1
        lane_of = np.empty(len(present) + 1, np.int32)
        lane_of[-1] = -1
        for index, code in enumerate(present.tolist()):
            key: list[Any] = []
            for values in reversed(texts[1:]):
                code, digit = divmod(code, len(values))
                key.append(values[digit])
            key.append(texts[0][code])
            lane_of[index] = self._lane(tuple(reversed(key)))
        return lane_of[inverse]

    def _lane(self, key: tuple[Any, ...]) -> int:
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = len(self._keys)
            self._keys.append(key)
        return lane

    @staticmethod
    def _part(
        batch: pa.RecordBatch, part: tuple[str, ...], kind: pa.DataType, taken: pa.Array | None
    ) -> pa.Array:
        alternatives = []
        for name in part:
            column = single(batch.column(name))
            if taken is not None:
                column = column.take(taken)
            if pa.types.is_null(column.type) or pa.types.is_dictionary(column.type) or column.type != kind:
                column = column.cast(kind)
            if _is_temporal(kind):
                column = column.cast(_storage(kind)).cast(pa.int64())
            elif pa.types.is_floating(kind):
                column = pc.add(column, 0.0)  # the two zeros are one key
            alternatives.append(column)
        return alternatives[0] if len(alternatives) == 1 else single(pc.coalesce(*alternatives))


def _is_temporal(kind: pa.DataType) -> bool:
    return any(test(kind) for test in _TEMPORAL)


def _storage(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if kind.bit_width == 32 else pa.int64()


def _key_type(kinds: list[pa.DataType], part: tuple[str, ...]) -> pa.DataType:
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    plain = [kind for kind in plain if not pa.types.is_null(kind)] or [pa.string()]
    if any(is_text(kind) for kind in plain):
        found = {"text" if is_text(kind) else str(kind) for kind in plain}
        common = pa.large_string()
    else:
        found = {str(kind) for kind in plain}
        common = plain[0]
        if len(found) > 1 and all(pa.types.is_integer(kind) for kind in plain):
            found, common = {"int64"}, pa.int64()
    if len(found) > 1:
        names = ", ".join(f"`{name}` ({kind})" for name, kind in zip(part, kinds, strict=True))
        raise DataError(f"the alternatives of one part of PARTITION BY have different types: {names}")
    return common
