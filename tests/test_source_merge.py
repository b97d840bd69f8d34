"""Tables of several event types as one stream; sorting."""

import itertools
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.errors import DataError
from cer_gpu.language.schema import ValueType


def rows_of(source, columns, rows=1 << 16):
    batches = list(source.batches(columns, rows))
    assert all(0 < batch.num_rows <= rows for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


def random_tables(rng, count, ties):
    """Tables ordered by (ts, seq), with an attribute each and one in common."""
    tables = {}
    for name in "ABCD"[:count]:
        keys = sorted((rng.randrange(ties), rng.choice("xyz")) for _ in range(rng.randrange(40)))
        tables[name] = pa.table(
            {
                "ts": pa.array([ts for ts, _ in keys], pa.timestamp("ms")),
                "seq": pa.array([seq for _, seq in keys], pa.string()),
                "key": pa.array(
                    [rng.choice(["k", "l", None]) for _ in keys], pa.string()
                ).dictionary_encode(),
                f"only_{name}": pa.array([rng.random() for _ in keys], pa.float64()),
            }
        )
    return tables


def merged_by_hand(tables, order_by):
    rows = [{"type": name, **row} for name, table in tables.items() for row in table.to_pylist()]
    columns = ["type", *dict.fromkeys(itertools.chain(*(table.schema.names for table in tables.values())))]
    rows = [{column: row.get(column) for column in columns} for row in rows]
    return columns, sorted(rows, key=lambda row: tuple(row[column] for column in order_by))


@pytest.mark.draws("seed", 60)
def test_merge_is_a_stable_sort(seed):
    rng = random.Random(seed)
    tables = random_tables(rng, rng.randrange(1, 5), rng.choice([1, 3, 50]))
    order_by = rng.choice([("ts",), ("ts", "seq")])
    columns, expected = merged_by_hand(tables, order_by)
    source = open_source(tables, order_by=order_by)
    assert source.arrow_schema.names == columns
    assert rows_of(source, columns, rng.choice([1, 3, 16, 1000])) == expected
    assert source.rows == len(expected)


@pytest.mark.draws("seed", 30)
def test_sort_is_stable(seed):
    rng = random.Random(1000 + seed)
    tables = random_tables(rng, 3, 5)
    shuffled = {
        name: table.take(pa.array(rng.sample(range(table.num_rows), table.num_rows), pa.int64()))
        for name, table in tables.items()
    }
    columns, expected = merged_by_hand(shuffled, ("ts",))
    assert rows_of(open_source(shuffled, order_by=("ts",), sort=True), columns, 7) == expected
    one = shuffled["A"]
    expected = sorted(one.to_pylist(), key=lambda row: (row["ts"], row["seq"]))
    source = open_source(one, order_by=("ts", "seq"), sort=True)
    assert rows_of(source, one.schema.names, 5) == expected
    assert [row["key"] for row in rows_of(source, ["key"])] == [row["key"] for row in expected]


def test_merge_of_files_streams(tmp_path):
    n = 20_000
    for index, name in enumerate("AB"):
        table = pa.table({"ts": pa.array(2 * np.arange(n) + index), "v": pa.array(["a", "b"] * (n // 2))})
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=1000)
    source = open_source({name: tmp_path / f"{name}.parquet" for name in "AB"}, order_by=("ts",))
    batches = source.batches(["ts", "type", "v"], 500)
    assert next(batches).column(0).to_pylist()[:3] == [0, 1, 2]
    rest = [value for batch in batches for value in batch.column(0).to_pylist()]
    assert rest == list(range(2 * n - len(rest), 2 * n))
    assert len(rest) > n


def test_schema_of_a_dict():
    tables = {
        "A": pa.table({"ts": [1.5], "x": [1], "odd": ["a"]}),
        "B": pa.table({"ts": [1], "y": pa.array([True]), "odd": [1]}),
    }
    source = open_source(tables, order_by=("ts",))
    schema = source.language_schema()
    assert schema.types == {"A": {"ts", "x"}, "B": {"ts", "y"}}
    assert schema.attributes == {"ts": ValueType.FLOAT64, "x": ValueType.INT64, "y": ValueType.BOOL}
    assert schema.unsupported == {"odd": "string in `A`, int64 in `B`"}
    assert schema.order == "ts"
    assert rows_of(source, ["type", "ts"]) == [{"type": "B", "ts": 1.0}, {"type": "A", "ts": 1.5}]


def test_times_of_different_units_are_compared_as_times():
    tables = {
        "A": pa.table({"ts": pa.array([1, 3], pa.timestamp("s", "UTC"))}),
        "B": pa.table({"ts": pa.array([2_000, 2_999], pa.timestamp("ms", "Europe/Paris"))}),
    }
    source = open_source(tables, order_by=("ts",))
    assert [row["type"] for row in rows_of(source, ["type"])] == ["A", "B", "B", "A"]
    assert str(source.arrow_schema.field("ts").type) == "timestamp[ms, tz=UTC]"


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        ({}, {"order_by": ("ts",)}, "the dict of tables is empty"),
        ({"A": pa.table({"ts": [1]})}, {}, "name the time column with order_by"),
        ({3: pa.table({"ts": [1]})}, {"order_by": ("ts",)}, "keys of a dict of tables must be event types"),
        ({"A": {"B": 1}}, {"order_by": ("ts",)}, "the events of `A` are a dict again"),
        (
            {"A": pa.table({"ts": [1]}), "B": pa.table({"tss": [1]})},
            {"order_by": ("ts",)},
            r"the table of `B` has no column `ts`, which order_by names: did you mean `tss`\?",
        ),
        (
            {"A": pa.table({"ts": [1]}), "B": pa.table({"ts": [1], "type": ["x"]})},
            {"order_by": ("ts",)},
            "the table of `B` already has a column `type`",
        ),
        (
            {"A": pa.table({"ts": [1]}), "B": pa.table({"ts": pa.array([1], pa.timestamp("s"))})},
            {"order_by": ("ts",)},
            r"disagree on the order column `ts`: int64 in `A`, timestamp\[s\] in `B`",
        ),
    ],
)
def test_what_a_dict_must_be(tables, options, message):
    with pytest.raises(DataError, match=message):
        open_source(tables, **options)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1, 2, None], "row 2 of the table.* has a null in the order column `ts`"),
        ([1.0, float("nan"), 3.0], "row 1 of the table.* has a NaN in the order column `ts`"),
        ([1, 5, 6, 4], "row 3 of the table of `A`.* is out of order by `ts`.*--sort"),
    ],
)
def test_bad_times(times, message):
    tables = {"A": pa.table({"ts": times}), "B": pa.table({"ts": [1, 7]})}
    for rows in (1, 2, 100):
        with pytest.raises(DataError, match=message):
            rows_of(open_source(tables, order_by=("ts",)), ["type"], rows)
    if "out of order" not in message:
        with pytest.raises(DataError, match=message):
            rows_of(open_source(tables["A"], order_by=("ts",), sort=True), ["ts"])


def test_integers_that_a_float_cannot_hold():
    tables = {"A": pa.table({"ts": [2**53 + 1]}), "B": pa.table({"ts": [0.5]})}
    with pytest.raises(
        DataError, match="column `ts` of the table of `A` cannot be converted from int64 to double"
    ):
        rows_of(open_source(tables, order_by=("ts",)), ["ts"])
