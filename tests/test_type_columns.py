"""Type columns of whole numbers and of booleans: the same answers as with the types as strings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.checked import check

QUERY = "SELECT * FROM S WHERE `4624` AS a ; `4625` + AS b ; `-1` AS c FILTER b[v > 3] WITHIN 9 EVENTS"
MANY = (
    "SELECT * FROM S WHERE (`1` OR `3` OR `7` OR `12` OR `30` OR `4624`) AS a ; `4625` AS b WITHIN 3 EVENTS"
)


def table(kind: pa.DataType, values: list[Any], n: int = 400) -> pa.Table:
    rng = np.random.default_rng(3)
    chosen = [values[number] for number in rng.integers(0, len(values), n)]
    return pa.table({"event_id": pa.array(chosen, kind), "v": rng.integers(0, 9, n), "ts": np.arange(n)})


def with_strings(numbers: pa.Table) -> pa.Table:
    return numbers.set_column(0, "event_id", numbers["event_id"].cast(pa.string()))


@pytest.mark.parametrize("kind", [pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("query", [QUERY, MANY])
def test_types_that_are_whole_numbers(kind: pa.DataType, query: str) -> None:
    values = [1, 3, 12, 4624, 4625, 4625, 5000, None]
    if pa.types.is_signed_integer(kind):
        values.append(-1)
    numbers = table(kind, values)
    compiled = cer.compile(query)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = compiled.run(with_strings(numbers), type_column="event_id", order_by="ts").to_arrow()
        assert compiled.run(numbers, type_column="event_id", order_by="ts").to_arrow().equals(wanted)
        assert compiled.count(numbers, type_column="event_id") == len(wanted)
        with compiled.stream(type_column="event_id", order_by="ts") as stream:
            pushed = [stream.push(numbers.slice(start, 7)).to_arrow() for start in range(0, len(numbers), 7)]
    assert pa.concat_tables(pushed).equals(wanted)
    assert len(wanted) or not pa.types.is_signed_integer(kind)


def test_types_that_are_booleans() -> None:
    flags = table(pa.bool_(), [True, False, None])
    compiled = cer.compile("SELECT * FROM S WHERE `true` AS a : `false` AS b FILTER a[v > 5]")
    wanted = compiled.run(with_strings(flags), type_column="event_id").to_arrow()
    assert compiled.run(flags, type_column="event_id").to_arrow().equals(wanted)
    assert len(wanted)


def test_numbers_beyond_the_type_of_the_column_match_nothing() -> None:
    numbers = table(pa.int8(), [1, 127, -128])
    compiled = cer.compile("SELECT * FROM S WHERE `127` AS a : `-128` AS b")
    assert compiled.count(numbers, type_column="event_id") > 0
    beyond = cer.compile("SELECT * FROM S WHERE `128` AS a : `4624` AS b")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert beyond.count(numbers, type_column="event_id") == 0
    assert "no event has the type `4624`" in [str(one.message) for one in said]


def test_a_type_that_no_event_has_is_named_with_a_near_one() -> None:
    numbers = table(pa.int64(), [4624, 4625])
    with pytest.warns(UserWarning, match="no event has the type `4634`: did you mean `4624`?"):
        cer.compile("SELECT * FROM S WHERE `4634` AS a").count(numbers, type_column="event_id")
    assert [one.code for one in check("SELECT * WHERE `4634`", numbers, type_column="event_id")] == ["CER020"]
    assert check("SELECT * WHERE `4624`", numbers, type_column="event_id") == ()


def test_a_filter_on_the_column_of_types_says_what_to_write() -> None:
    numbers = table(pa.int64(), [4624, 4625])
    (found,) = check("SELECT * WHERE `4624` AS a FILTER a[event_id = 4624]", numbers, type_column="event_id")
    assert found.code == "CER021"
    assert found.hints[0].startswith("`event_id` is the column of event types (type_column): name the")


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (
            pa.int64(),
            "Logon",
            "`event_id` of the table holds integers, and `Logon` is not one of them: .* as in `4624`",
        ),
        (pa.int64(), "`04624`", "holds integers, and `04624` is not one of them"),
        (pa.bool_(), "TRUTH", "holds booleans, and `TRUTH` is not one of them: .* as in `true` or `false`"),
    ],
)
def test_a_type_that_the_column_cannot_hold(kind: pa.DataType, name: str, message: str) -> None:
    with pytest.raises(cer.DataError, match=message):
        cer.compile(f"SELECT * FROM S WHERE {name} AS a").run(
            table(kind, [True] if kind == pa.bool_() else [1]), type_column="event_id"
        )
