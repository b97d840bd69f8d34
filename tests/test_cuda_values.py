"""PREV and functions on a device: what the CPU gives, whether columns come from the host or lie there."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
import random_values
from cuda_device import USABLE
from engine_oracle import OPTIONS, found
from generate import stream, stream_to_table

import cer_gpu as cer

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = pytest.mark.gpu


@pytest.mark.draws("seed", 4)
def test_values_on_a_device(seed: int) -> None:
    rng = Random(seed)
    query = cer.compile(random_values.query(rng))
    table = stream_to_table(stream(rng, 25))
    there = {**OPTIONS, "device": "cuda"}
    assert found(query.run(table, **there)) == found(query.run(table, device="cpu", **OPTIONS))
    wanted = query.counts(table, device="cpu", **OPTIONS)
    assert query.counts(table, **there).equals(wanted)
    assert query.counts(table.to_reader(max_chunksize=6), **there).equals(wanted)
    assert query.hits(table, **there).equals(query.hits(table, device="cpu", **OPTIONS))


def test_columns_that_lie_on_a_device() -> None:
    from test_cuda_resident import DeviceArray, one_batch

    table = pa.table({"type": list("ABAABBAB") * 6, "v": [1.0, 5, 6, 2, 3, 9, 4, 4] * 6, "ts": range(48)})
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER b[v > PREV(v) AND ABS(v) < 9] WITHIN 3 EVENTS")
    wanted = query.hits(table, device="cpu", order_by="ts")
    assert len(wanted) > 5
    assert query.hits(DeviceArray(one_batch(table)), order_by="ts").equals(wanted)


def test_decimals_on_a_device() -> None:
    from decimal import Decimal

    far = [Decimal(10**30).scaleb(-3), Decimal("1.250"), None, Decimal("-7.000")]
    table = pa.table(
        {
            "type": list("ABAB") * 8,
            "p": pa.array(
                [Decimal("1.50"), Decimal("-2.25"), None, Decimal("9.00")] * 8, pa.decimal128(10, 2)
            ),
            "wide": pa.array(far * 8, pa.decimal128(38, 3)),
        }
    )
    for condition in ("p > 1", "ABS(p) > 2", "wide > 1", "wide * wide > p", "ROUND(p) = 2"):
        query = cer.compile(f"SELECT * WHERE (A OR B) AS x FILTER x[{condition}] WITHIN 3 EVENTS")
        wanted = query.hits(table, device="cpu")
        assert 0 < len(wanted) < len(table)
        assert query.hits(table, device="cuda").equals(wanted)
