"""Texts as codes of a dictionary: against Arrow's own."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from cer_gpu.kernels.keys.cpu import SHORT, number_short_texts

import cer_gpu as cer
from cer_gpu.engine.read.sources import text_codes

LETTERS = "ab\x00é日"


def random_text(rng: random.Random, most: int) -> str:
    """Of at most so many bytes; some end in NUL, as the padding of a word does."""
    text = ""
    while rng.random() < 0.9:
        longer = text + rng.choice(LETTERS)
        if len(longer.encode()) > most:
            break
        text = longer
    return text


@pytest.mark.draws("seed", 60)
def test_codes_are_those_of_the_texts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"codes {seed}")
    monkeypatch.setattr(text_codes, "STRETCH", rng.choice([1 << 18, 7]))
    few = [random_text(rng, rng.choice([SHORT, SHORT + 2])) for _ in range(rng.choice([1, 3, 40]))]
    chosen = [rng.choice(few) for _ in range(rng.randint(1, 60))]
    if rng.random() < 0.2:
        chosen[rng.randrange(len(chosen))] = None  # type: ignore[call-overload]
    kind = rng.choice([pa.string(), pa.string(), pa.large_string()])
    array = pa.array([*few[:2], *chosen], kind)[rng.choice([0, 2]) :]
    found = text_codes.encoded(array)
    assert found.cast(kind).equals(array)
    values = found.dictionary.to_pylist()
    assert len({*values}) == len(values)
    assert {*values} == {*array.drop_null().to_pylist()}


@pytest.mark.parametrize("differ", [512, 513])
def test_more_texts_than_there_is_room_for_are_left_to_arrow(differ: int) -> None:
    array = pa.array([*["first"] * text_codes.MANY, *map(str, range(differ - 1))])
    assert text_codes.encoded(array).cast(pa.string()).equals(array)


@pytest.mark.parametrize(
    ("texts", "count"), [(["a"] * 3, 1), (["ab", "abc", "ab\x00"], 3), (["x" * 15], 1), (["x" * 16], -1)]
)
def test_what_the_kernel_numbers(texts: list[str], count: int) -> None:
    array = pa.array(texts)
    _, bounds, data = array.buffers()
    ends = np.frombuffer(bounds, np.int32, len(array) + 1)
    for more in (0, 64):  # what lies behind the texts is no part of them
        held = np.frombuffer(bytes(data)[: ends[-1]] + b"y" * more, np.uint8)
        words, numbers = np.empty((8, 2), np.uint64), np.full(8, -1, np.int32)
        first, codes = np.empty(4, np.int64), np.empty(len(texts), np.int32)
        assert number_short_texts(held, ends, words, numbers, first, codes) == count
        if count > 0:
            assert [texts[first[code]] for code in codes] == texts


def test_types_that_are_texts_are_counted_as_those_of_a_dictionary() -> None:
    rng = random.Random(2)
    types = [rng.choice(["view", "add_to_cart", "buy"]) for _ in range(1 << 13)]
    query = cer.compile("SELECT * WHERE view ; add_to_cart ; buy WITHIN 9 EVENTS")
    plain = pa.table({"type": pa.array(types)})
    coded = pa.table({"type": pa.array(types).dictionary_encode()})
    assert query.count(plain) == query.count(coded) > 1000
