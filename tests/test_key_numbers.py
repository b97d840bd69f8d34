"""Numbers of keys: the kernels against their reference, keys of every type, and what is kept of them."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.kernels.keys import cpu
from cer_gpu.kernels.keys.contract import numbers_reference
from counting import calls

from cer_gpu.engine.read import numbers as module
from cer_gpu.engine.read.keys import Keys, Part, kept
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.read.numbers import TextNumbers, WordNumbers


@pytest.mark.crossed
@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("most", [3, 50, 2**40])
@pytest.mark.parametrize("masked", [False, True])
def test_words_are_numbered_and_counted_as_the_reference_says(parts: int, most: int, masked: bool) -> None:
    rng = np.random.default_rng(parts * most + masked)
    numbers = WordNumbers(parts)
    known: list[Any] = []
    rows: list[Any] = []
    for size in (0, 40, 700, 5):
        words = rng.integers(-most, most, (parts, size))
        valid = (rng.random(size) < 0.8).astype(np.uint8) if masked else NONE_MISSING
        keys = [tuple(key) for key in words.T.tolist()]
        rows += [None if masked and not valid[row] else key for row, key in enumerate(keys)]
        expected = numbers_reference(rows, known)
        found, ordinals = numbers.counted(words[0] if parts == 1 else words, valid)
        assert found.tolist() == expected[0][len(rows) - size :]
        assert ordinals.tolist() == expected[1][len(rows) - size :]
        assert numbers.count == len(known)
    assert numbers.words.reshape(-1, parts).tolist() == [list(key) for key in known]


@pytest.mark.draws("seed", 12)
def test_whole_numbers_that_lie_close_together(seed: int) -> None:
    """Those in the range of the table, below it, above it, and far from it."""
    rng = np.random.default_rng(seed)
    low = int(rng.choice([-(2**63), -900, 0, 7, 2**63 - 4000]))
    numbers, known = WordNumbers(1), {}
    for _ in range(8):
        words = low + rng.integers(0, 3000, int(rng.integers(1, 1500)))
        far = rng.random(len(words)) < rng.choice([0, 0.02])
        words = np.where(far, rng.integers(-(2**62), 2**62, len(words)), words).astype(np.int64)
        found = numbers.encode(words, NONE_MISSING)
        assert found.tolist() == [known.setdefault(word, len(known)) for word in words.tolist()]
    assert numbers.words.tolist() == list(known)


def test_close_numbers_have_a_table_of_their_own_and_far_ones_have_none() -> None:
    close, far = WordNumbers(1), WordNumbers(1)
    for numbers, step in ((close, 1), (far, 1 << 20)):
        numbers.encode(step * np.arange(5000), NONE_MISSING)
    assert len(close._table.near) > 2000
    assert len(far._table.near) == 0
    assert close.nbytes < 1.5 * far.nbytes


@pytest.mark.draws("seed", 12)
def test_keys_of_several_words_that_lie_close_together(seed: int) -> None:
    """Those in the box of the table, beside it in one word or in all, and far from it."""
    rng = np.random.default_rng(seed)
    parts = int(rng.integers(2, 4))
    low = np.array(rng.choice([-(2**63), -900, 0, 7, 2**63 - 4000], parts))[:, None]
    numbers, known = WordNumbers(parts), {}
    for _ in range(8):
        sides = np.array(rng.choice([1, 3, 20, 60], parts))[:, None]
        words = low + rng.integers(0, sides, (parts, int(rng.integers(1, 1500))))
        far = rng.random(words.shape) < rng.choice([0, 0.02])
        words = np.where(far, rng.integers(-(2**62), 2**62, words.shape), words).astype(np.int64)
        found = numbers.encode(words, NONE_MISSING)
        assert found.tolist() == [known.setdefault(key, len(known)) for key in map(tuple, words.T.tolist())]
    assert numbers.words.tolist() == [list(key) for key in known]


def test_close_keys_of_several_words_have_a_table_of_their_own_and_far_ones_have_none() -> None:
    close, far = WordNumbers(2), WordNumbers(2)
    for numbers, step in ((close, 1), (far, 1 << 20)):
        keys = np.stack([step * np.arange(5000), np.arange(5000) % 4])
        numbers.encode(keys, NONE_MISSING)
    assert len(close._table.near) > 5000
    assert len(far._table.near) == 0


def test_keys_directly_beside_the_box_of_a_table_are_not_taken_for_keys_in_it() -> None:
    numbers = WordNumbers(2)
    keys = np.stack([np.arange(5000), np.arange(5000) % 4])
    numbers.encode(keys, NONE_MISSING)
    least, span = (getattr(numbers._table, name).tolist() for name in ("least", "span"))
    known = {key: number for number, key in enumerate(map(tuple, keys.T.tolist()))}
    low, high = least[1], least[1] + span[1]
    # Where the key directly after the last one of a row lies in the box, there is a key: it comes first.
    beside = [(first, high) for first in range(3, 300, 4)]
    beside += [(first, last) for first in range(300) for last in (low - 1, low, high - 1, high)]
    beside += [(first, last) for first in (least[0] - 1, least[0] + span[0]) for last in range(low, high)]
    expected = [known.setdefault(key, len(known)) for key in beside]
    assert numbers.encode(np.array(beside).T.copy(), NONE_MISSING).tolist() == expected


def mixed(word: int) -> int:
    """The hash of a word, as `kernels/keys/cpu.py` makes it."""
    for factor in (cpu._FIRST, cpu._SECOND):
        word = (word ^ word >> 33) * int(factor) % 2**64
    return word ^ word >> 33


def test_keys_with_one_fingerprint_are_told_apart() -> None:
    """The second word makes up for the first one; the third words are equal."""
    firsts = [2**40 * at for at in range(1, 50)]
    keys = np.array([[first, mixed(first) ^ 2**50, 7] for first in firsts], np.uint64).view(np.int64).T.copy()
    numbers = WordNumbers(3)
    for _ in range(2):
        assert numbers.encode(keys, NONE_MISSING).tolist() == list(range(len(firsts)))


def test_words_whose_bits_agree_where_a_table_looks_are_told_apart() -> None:
    for words in (np.arange(3000) << 52, np.arange(3000) << 32, np.arange(3000).astype(float).view(np.int64)):
        numbers = WordNumbers(1)
        assert numbers.encode(words, NONE_MISSING).tolist() == list(range(3000))
        assert numbers.encode(words[::-1], NONE_MISSING).tolist() == list(range(3000))[::-1]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts_are_numbered_as_the_reference_says(kind: pa.DataType) -> None:
    rng = np.random.default_rng(5)
    alphabet = np.array(list("ab\0é€𝄞"))
    numbers, known = TextNumbers(), []
    for size in (0, 1, 300, 900):
        lengths = rng.integers(0, rng.choice([3, 20]), size)
        texts = ["".join(rng.choice(alphabet, length)) for length in lengths]
        rows = [None if rng.random() < 0.1 else text for text in texts]
        column = pa.array([*rows, "before"], kind).slice(0, size)
        assert numbers.encode(column).tolist() == numbers_reference(rows, known)[0]
        some = np.sort(rng.permutation(size)[: size // 2])
        assert numbers.encode(column, some).tolist() == numbers_reference([rows[k] for k in some], known)[0]
    assert numbers.texts(np.arange(numbers.count)).to_pylist() == known
    used = np.arange(3, numbers.count, 2)
    fewer = numbers.kept(used)
    assert fewer.texts(np.arange(len(used))).to_pylist() == known[3::2]
    assert fewer.encode(pa.array([known[5], "new", known[3]], kind)).tolist() == [1, len(used), 0]


def test_the_values_of_a_dictionary_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = []
    number_texts = cpu.number_texts

    def noted(table: Any, data: Any, begins: Any, *others: Any) -> int:
        looked_up.append(len(begins))
        return int(number_texts(table, data, begins, *others))

    monkeypatch.setattr(module.kernels, "number_texts", noted)
    numbers = TextNumbers()
    few = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1] * 100), ["x", "y"])
    for start in range(0, 400, 4):
        assert numbers.encode(few.slice(start, 4)).tolist() == [1, -1, 0, 1]
    assert sum(looked_up) == 2
    many = pa.DictionaryArray.from_arrays(pa.array([7, 9, 7]), [f"v{k}" for k in range(5000)])
    assert numbers.encode(many).tolist() == [2, 3, 2]
    assert numbers.encode(many.slice(1)).tolist() == [3, 2]
    assert sum(looked_up) == 4


@pytest.mark.parametrize(
    "names", [("number",), ("text",), ("coded",), ("number", "text"), ("coded", "number")]
)
def test_one_kernel_numbers_keys_and_counts_their_rows(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is done in Python for each key, and keys of several parts are not sorted."""

    def batch(keys: int) -> pa.RecordBatch:
        numbers = np.random.default_rng(keys).integers(0, keys, 9000)
        texts = pa.array(numbers.astype(str))
        return pa.record_batch({"number": numbers, "text": texts, "coded": texts.dictionary_encode()})

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("sorted")

    def counted(some: pa.RecordBatch) -> int:
        encoder = LaneEncoder(tuple((name,) for name in names), some.schema)
        found: list[Any] = []
        made = calls(lambda: found.extend(encoder.counted(some)))
        seen: dict[int, int] = {}
        for number, ordinal in zip(some["number"].to_pylist(), found[1].tolist(), strict=True):
            assert ordinal == seen.get(number, 0)
            seen[number] = ordinal + 1
        assert len(seen) == encoder.count
        return made

    few, many = batch(10), batch(5000)
    for each in (few, many):  # which loads what is loaded once
        counted(each)
    monkeypatch.setattr(np, "unique", refused)
    monkeypatch.setattr(np, "lexsort", refused)
    assert counted(many) < counted(few) + 600


MOMENTS = pa.timestamp("ms", "UTC")
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "small": (pa.int8(), [5, None, -3, 5, 0]),
    "large": (pa.int64(), [2**62, -(2**62), 2**62, None, 0]),
    "truth": (pa.bool_(), [True, False, None, True, True]),
    "single": (pa.float32(), [0.0, -0.0, 1.5, math.nan, None]),
    "double": (pa.float64(), [math.nan, math.inf, -math.nan, 1e300, 0.1]),
    "text": (pa.string(), ["x", "", None, "é", "x"]),
    "coded": (pa.dictionary(pa.int32(), pa.string()), ["x", None, "y", "x", "z"]),
    "moment": (MOMENTS, [0, 1, None, 0, -5]),
    "day": (pa.date32(), [date(2020, 1, 1), None, date(2020, 1, 1), date(1969, 1, 1), date(1970, 1, 1)]),
    "clock": (pa.time32("s"), [0, 5, 5, None, 86399]),
    "span": (pa.duration("us"), [3, 3, None, -3, 0]),
    "nothing": (pa.null(), [None] * 5),
}
BATCH = pa.RecordBatch.from_arrays(
    [pa.array(values, kind) for kind, values in COLUMNS.values()], names=list(COLUMNS)
)


def plain(value: Any) -> Any:
    """A value of a key as it is told apart: all NaN are one, and so are the two zeros."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


@pytest.mark.parametrize(
    "names",
    [*((name,) for name in COLUMNS), ("small", "text"), ("coded", "moment", "double"), ("text", "day")],
)
def test_keys_of_every_type(names: tuple[str, ...]) -> None:
    encoder = LaneEncoder(tuple((name,) for name in names), BATCH.schema)
    rows = [tuple(plain(value) for value in row.values()) for row in BATCH.select(names).to_pylist()]
    whole = [None if None in row else row for row in rows]
    known: list[Any] = []
    for some in (None, np.array([4, 2]), np.array([], np.int64), np.arange(5)):
        picked = whole if some is None else [whole[row] for row in some]
        assert encoder.encode(BATCH, some).tolist() == numbers_reference(picked, known)[0]
    columns = encoder.keys.columns(np.arange(len(known)))
    assert [column.type for column in columns] == list(encoder.types)
    assert [tuple(map(plain, row)) for row in zip(*(column.to_pylist() for column in columns))] == known
    assert encoder.counted(BATCH)[1].tolist() == numbers_reference(whole, known)[1]
    inside = np.array([True, True, False, True, False])
    left = [row if there else None for row, there in zip(whole, inside, strict=True)]
    assert encoder.encode(BATCH, None, inside).tolist() == numbers_reference(left, known)[0]


@pytest.mark.parametrize(
    "names", [("text", "coded"), ("small", "large"), ("single", "double"), ("moment", "day")]
)
def test_of_alternatives_the_first_that_is_there(names: tuple[str, ...]) -> None:
    encoder = LaneEncoder((names,), BATCH.schema)
    kind = encoder.types[0]
    rows = [
        next((plain(value) for value in row if value is not None), None)
        for row in zip(*(BATCH.column(name).cast(kind).to_pylist() for name in names))
    ]
    lanes = encoder.encode(BATCH)
    there = np.array([value is not None for value in rows])
    assert ((lanes >= 0) == there).all()
    assert [plain(value) for value in encoder.keys.columns(lanes[there])[0].to_pylist()] == [
        value for value in rows if value is not None
    ]
    assert len(set(lanes[there].tolist())) == len(set(rows) - {None})


@pytest.mark.parametrize("names", [("text",), ("large",), ("coded", "small")])
def test_lanes_are_forgotten_and_those_kept_count_on(names: tuple[str, ...]) -> None:
    encoder = LaneEncoder(tuple((name,) for name in names), BATCH.schema)
    lanes, _ = encoder.counted(BATCH)
    used = np.unique(lanes[lanes >= 0])[1:]
    before, keys = encoder.keys, [encoder.key(int(lane)) for lane in used]
    numbers = encoder.forget(used)
    assert [encoder.key(int(lane)) for lane in numbers] == keys
    assert encoder.count == len(used)
    assert [tuple(row) for row in zip(*(c.to_pylist() for c in before.columns(used)))] == keys
    again, ordinals = encoder.counted(BATCH)
    of_old = dict(zip(used.tolist(), numbers.tolist(), strict=True))
    for row, lane in enumerate(lanes.tolist()):
        if lane in of_old:
            assert again[row] == of_old[lane]
            assert ordinals[row] == list(lanes).count(lane) + list(lanes[:row]).count(lane)
        elif lane >= 0:
            assert again[row] == len(used)
            assert ordinals[row] == list(lanes[:row]).count(lane)


def test_spaces_that_share_a_part_are_kept_together() -> None:
    schema = BATCH.schema
    text, whole = Part(("text",), schema), Part(("large",), schema)
    alone, both = Keys([text]), Keys([text, whole])
    words = [text.words(BATCH, None), whole.words(BATCH, None)]
    lanes = alone.encode(words[:1]), both.encode(words)
    used = [np.array([1]), np.array([0, 2])]
    (fewer, first), (pairs, second) = kept([alone, both], used)
    assert fewer.parts[0].texts is pairs.parts[0].texts
    for old, new, numbers, renamed in ((alone, fewer, *x) for x in [(used[0], first)]):
        assert [c.to_pylist() for c in new.columns(renamed)] == [c.to_pylist() for c in old.columns(numbers)]
    assert [c.to_pylist() for c in pairs.columns(second)] == [c.to_pylist() for c in both.columns(used[1])]
    assert lanes[1].tolist() == [0, 1, -1, -1, 2]
    again = [part.words(BATCH, None) for part in pairs.parts]
    assert pairs.encode(again).tolist() == [0, 2, -1, -1, 1]
